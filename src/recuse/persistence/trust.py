"""Which of the types and functions a model file names may be loaded.

The name alone is judged first and what it stands for second, so that nothing is imported for a file that is refused
by its names.
"""

from __future__ import annotations

import importlib
from collections.abc import Iterable
from functools import cache
from types import FunctionType

import scipy.sparse

_HOME_PACKAGES = ("recuse", "sklearn")
# Not parts of models; some open files, connections or processes when their classes are merely built.
_NEVER_TRUSTED = {"_testing", "callback", "conftest", "datasets", "estimator_checks", "externals", "tests"}
# The schema can ask for any trusted function to be called with arguments from the file, and a function such as
# sklearn.datasets.clear_data_home deletes folders: trust only functions that compute numbers from arrays.
_FUNCTION_HOMES = ("recuse.metrics", "sklearn.metrics", "sklearn.feature_selection")


def names_in(data: bytes) -> list[str]:
    """Types and functions a model file names beyond those skops trusts; nothing is built or imported."""
    import skops.io

    names: list[str] = skops.io.get_untrusted_types(data=data)
    return names


def full_names(trusted: Iterable[str | type]) -> list[str]:
    """What the caller trusts, as full names."""
    given = [trusted] if isinstance(trusted, str | type) else list(trusted)
    return [item if isinstance(item, str) else f"{item.__module__}.{item.__name__}" for item in given]


def refused_names(names: list[str], allowed: list[str]) -> list[str]:
    """The names that are neither ours, nor a basic type, nor allowed by the caller."""
    open_names = [name for name in names if name not in allowed and name not in _basic_types()]
    # By the name alone first: for a file that is refused anyway, nothing is imported.
    foreign = [name for name in open_names if not _named_like_ours(name)]
    return foreign or [name for name in open_names if not _is_ours(name)]


@cache
def _basic_types() -> set[str]:
    """Names of plain containers of numbers that skops can read but does not trust by itself."""
    sparse = (scipy.sparse.spmatrix, scipy.sparse.sparray)
    classes = [item for item in vars(scipy.sparse).values() if isinstance(item, type) and issubclass(item, sparse)]
    return {"numpy.dtype", *(f"{item.__module__}.{item.__name__}" for item in classes)}


def _named_like_ours(name: str) -> bool:
    parts = name.split(".")
    return (
        len(parts) > 1
        and parts[0] in _HOME_PACKAGES
        and all(part.isidentifier() and not part.startswith("__") for part in parts)
        and not _NEVER_TRUSTED.intersection(parts)
    )


def _is_ours(name: str) -> bool:
    """Whether a name that looks like ours is a class, or a harmless function, defined exactly there.

    A module's attribute is not enough: ``recuse.persistence.files.os`` is one, too.
    """
    module, _, attribute = name.rpartition(".")
    try:
        item = getattr(importlib.import_module(module), attribute)
    except (ImportError, AttributeError):
        return False
    if getattr(item, "__module__", None) != module or getattr(item, "__name__", None) != attribute:
        return False
    scoring = any(module == home or module.startswith(f"{home}.") for home in _FUNCTION_HOMES)
    return isinstance(item, type) or (isinstance(item, FunctionType) and scoring)
