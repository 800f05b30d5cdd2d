"""A fitted model in a form that runs elsewhere: SQL, Python, JavaScript or ONNX."""

from .features import CannotExportError
from .writing import Exported, export

__all__ = ["CannotExportError", "Exported", "export"]
