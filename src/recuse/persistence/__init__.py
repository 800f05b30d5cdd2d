"""Models on disk: written whole or not at all, and read back without running code from the file.

A model is a skops file (a zip of a schema and arrays) with one more member: the number of the format, the versions it
was made with, and a digest of every other member. Classes of this library are stored under names that do not change
when a module moves (`names`).

A file that is not as it was saved is refused before anything is built. On load every type and function the file names
must be trusted: those that skops trusts, this library's stored names, the classes of scikit-learn and its functions
that score or select variables, and what the caller names. Then the indices that compiled code would follow without a
check are checked, and the shapes and finiteness of the numbers that answers are computed from. This is far safer than
pickle, but no proof that a hostile file cannot crash a process, nor that a model from an unknown source decides well.
"""

from .files import open_whole, remove_stale, write_whole
from .models import load, save, saved_digest, saved_versions

__all__ = [
    "load",
    "open_whole",
    "remove_stale",
    "save",
    "saved_digest",
    "saved_versions",
    "write_whole",
]
