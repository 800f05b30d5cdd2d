"""Models on disk: written whole or not at all, read back without running what a stranger put in the file.

A model is a skops file (a zip of a schema and arrays) with one more member that holds the versions it was made
with. On load every type and function the file names must be trusted. By default these are what skops trusts, the
classes that scikit-learn and this library define, and the functions that score or select variables; anything else
only when the caller names it. Then the indices that compiled code would follow blindly are checked. This is far
safer than pickle, but no proof that a hostile file cannot crash a process, nor that a stranger's model decides well.
"""

from .files import open_whole, write_whole
from .models import load, save, saved_versions

__all__ = ["load", "open_whole", "save", "saved_versions", "write_whole"]
