"""Which of the types and functions that a model file names may be loaded.

Of this library, what the table of stored names lists (`names`); of scikit-learn, classes and harmless functions. A name
is judged as text first and what it stands for second, so that a file refused by its names causes no import.
"""

from __future__ import annotations

import importlib
from collections.abc import Iterable
from functools import cache
from types import FunctionType

import scipy.sparse

from .names import stored_name

# Parts of scikit-learn that no model holds; some of their classes open files, connections or processes when built.
_NEVER_TRUSTED = {"_testing", "callback", "conftest", "datasets", "estimator_checks", "externals", "tests"}
# The schema can ask for any trusted function to be called with arguments from the file, and a function such as
# sklearn.datasets.clear_data_home deletes folders: trust only functions that compute numbers from arrays.
_FUNCTION_HOMES = ("sklearn.metrics", "sklearn.feature_selection")
# The parts of skrub's table preparation, each by its full name: our models hold none of its other classes. The
# functions look at the type of a column or count its values.
_TABLE_PARTS = frozenset(
    f"skrub.{name}"
    for name in (
        "_apply_to_each_col.ApplyToEachCol",
        "_check_input.CheckInputDataFrame",
        "_clean_categories.CleanCategories",
        "_clean_null_strings.CleanNullStrings",
        "_dataframe._common.is_any_date",
        "_dataframe._common.is_categorical",
        "_dataframe._common.is_numeric",
        "_datetime_encoder.DatetimeEncoder",
        "_drop_uninformative.DropUninformative",
        "_duration_to_float.DurationToFloat",
        "_string_encoder.StringEncoder",
        "_table_vectorizer.PassThrough",
        "_table_vectorizer.ShortReprDict",
        "_table_vectorizer.TableVectorizer",
        "_table_vectorizer._created_by_predicate",
        "_to_categorical.ToCategorical",
        "_to_datetime.ToDatetime",
        "_to_float.ToFloat",
        "_to_str.ToStr",
        "selectors._base.All",
        "selectors._base.And",
        "selectors._base.Cols",
        "selectors._base.Filter",
        "selectors._base.Sub",
        "selectors._selectors._cardinality_below",
    )
)
# With categories, scikit-learn's histogram boosting checks its numbers by a partial call of this function. A partial
# call is built without calling anything, and what it would call is judged by its own name.
_BOOSTING_PARTS = frozenset({"functools.partial", "sklearn.utils.validation.check_array"})


def names_in(data: bytes) -> list[str]:
    """Types and functions a model file names beyond those skops trusts; nothing is built or imported."""
    import skops.io

    names: list[str] = skops.io.get_untrusted_types(data=data)
    return names


def full_names(trusted: Iterable[str | type]) -> list[str]:
    """What the caller trusts, as full names."""
    given = [trusted] if isinstance(trusted, str | type | FunctionType) else list(trusted)
    return [item if isinstance(item, str) else f"{item.__module__}.{item.__name__}" for item in given]


def can_be_found(name: str) -> bool:
    """Whether a full name, which the caller trusts, leads to something."""
    module, _, attribute = name.rpartition(".")
    try:
        return hasattr(importlib.import_module(module), attribute)
    except (ImportError, ValueError):
        return False


def refused_names(names: list[str], allowed: list[str]) -> list[str]:
    """The names that are neither stored names of this library, nor of scikit-learn, nor basic, nor allowed."""
    known = _basic_types() | _TABLE_PARTS | _BOOSTING_PARTS
    open_names = [name for name in names if name not in allowed and name not in known and stored_name(name) is None]
    # As text first: for a file that is refused anyway, nothing is imported.
    foreign = [name for name in open_names if not _named_like_sklearn(name)]
    return foreign or [name for name in open_names if not _is_of_sklearn(name)]


@cache
def _basic_types() -> set[str]:
    """Names of plain containers of numbers that skops can read but does not trust by itself."""
    sparse = (scipy.sparse.spmatrix, scipy.sparse.sparray)
    classes = [item for item in vars(scipy.sparse).values() if isinstance(item, type) and issubclass(item, sparse)]
    return {"numpy.dtype", *(f"{item.__module__}.{item.__name__}" for item in classes)}


def _named_like_sklearn(name: str) -> bool:
    parts = name.split(".")
    return (
        len(parts) > 1
        and parts[0] == "sklearn"
        and all(part.isidentifier() and not part.startswith("__") for part in parts)
        and not _NEVER_TRUSTED.intersection(parts)
    )


def _is_of_sklearn(name: str) -> bool:
    """Whether a name that looks like scikit-learn's is a class, or a harmless function, defined exactly there.

    A module's attribute is not enough: ``sklearn.utils.fixes.platform`` is one, too.
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
