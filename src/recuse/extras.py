"""Optional packages: the extra that brings each, and one sentence where one is missing."""

from __future__ import annotations

from importlib import import_module
from typing import Any

# Package as it is imported -> extra of this library that installs it.
EXTRAS = {
    "catboost": "boosters",
    "charset_normalizer": "cli",
    "dask": "dask",
    "distributed": "dask",
    "duckdb": "tables",
    "jinja2": "report",
    "lightgbm": "boosters",
    "matplotlib": "plot",
    "onnx": "onnx",
    "openpyxl": "tables",
    "pandas": "cli",
    "pyarrow": "cli",
    "rich": "cli",
    "skrub": "cli",
    "typer": "cli",
    "vl_convert": "report",
    "xgboost": "boosters",
}


def require(package: str, needed_by: str) -> Any:
    """Import an optional package; the error names the extra that installs it.

    Parameters
    ----------
    package : str
        A key of `EXTRAS`, or a module of such a package.
    needed_by : str
        Who needs it: the beginning of the sentence.
    """
    try:
        return import_module(package)
    except ModuleNotFoundError as error:
        if error.name is None or error.name.partition(".")[0] != package.partition(".")[0]:
            raise  # the package is there and lacks something of its own
        raise ModuleNotFoundError(missing(package, needed_by), name=error.name) from None


def missing(package: str, needed_by: str) -> str:
    """Return the sentence for a package that is not installed."""
    name = package.partition(".")[0]
    return f"{needed_by} needs {name}, which is not installed: pip install 'recuse[{EXTRAS[name]}]'."
