"""Models on disk: written whole or not at all, read back without running what a stranger put in the file.

A model is a skops file (a zip of a schema and arrays) with one more member that holds the versions it was made
with. On load every type and function the file names must be trusted. By default these are what skops trusts, the
classes that scikit-learn and this library define, and the functions that score or select variables; anything else
only when the caller names it. Then the indices that compiled code would follow blindly are checked. This is far
safer than pickle, but no proof that a hostile file cannot crash a process, nor that a stranger's model decides well.
"""

from __future__ import annotations

import importlib
import io
import json
import os
import platform
import secrets
import stat
import warnings
import zipfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from functools import cache
from itertools import chain
from pathlib import Path
from types import FunctionType
from typing import Any

import numpy as np
import scipy.sparse
import sklearn
from sklearn.exceptions import InconsistentVersionWarning

from . import __version__

_VERSIONS_MEMBER = "recuse.json"
_COMPARED = ("recuse", "scikit-learn")

_HOME_PACKAGES = ("recuse", "sklearn")
# Not parts of models; some open files, connections or processes when their classes are merely built.
_NEVER_TRUSTED = {"_testing", "callback", "conftest", "datasets", "estimator_checks", "externals", "tests"}
# The schema can ask for any trusted function to be called with arguments from the file, and a function such as
# sklearn.datasets.clear_data_home deletes folders: trust only functions that compute numbers from arrays.
_FUNCTION_HOMES = ("recuse.metrics", "sklearn.metrics", "sklearn.feature_selection")


def save(model: Any, path: str | os.PathLike[str], *, trusted: Iterable[str | type] = ()) -> None:
    """Write a model to a file that `load` will accept.

    Parameters
    ----------
    model : object
        An estimator of this library or of scikit-learn, a Pipeline or a search that holds one.
    path : str or path-like
        Where to write; the folder must exist. An existing file is replaced, at once and only when the new one is
        complete.
    trusted : iterable of str or type, default=()
        Types of other libraries in the model, as they will be given to `load`.

    Raises
    ------
    ValueError
        The model holds something the file cannot keep, or that `load` would refuse.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> import recuse
    >>> from sklearn.linear_model import LogisticRegression
    >>> model = LogisticRegression().fit([[0.0], [1.0]], ["no", "yes"])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder) / "model.skops"
    ...     recuse.save(model, path)
    ...     recuse.load(path).predict([[2.0]])
    array(['yes'], dtype='<U3')
    """
    data = _dump(model)
    allowed = _names(trusted)
    refused = _refused(_names_in(data), allowed)
    if refused:
        raise ValueError(
            f"model={type(model).__name__} holds {', '.join(refused)}, which load would refuse: name what you trust in "
            "trusted=, here and in load, or take it out of the model."
        )
    write_whole(path, data)


def load(path: str | os.PathLike[str], *, trusted: Iterable[str | type] = ()) -> Any:
    """Read a model that `save` wrote.

    Parameters
    ----------
    path : str or path-like
        The file.
    trusted : iterable of str or type, default=()
        Types and functions that may be loaded besides those of this library and of scikit-learn: the classes
        themselves, or their full names.

    Returns
    -------
    object
        The model, with the same parameters and fitted attributes.

    Raises
    ------
    FileNotFoundError
        There is no such file.
    ValueError
        The file is not a model, is damaged, or names types that are not trusted. Nothing of it was run.

    Warns
    -----
    UserWarning
        The file was made with another version of this library or of scikit-learn.
    """
    data = _read(path)
    with _as_damaged(path):
        versions, names = _versions_in(data), _names_in(data)
    allowed = _names(trusted)
    refused = _refused(names, allowed)
    if refused:
        raise ValueError(
            f"{os.fspath(path)} names {', '.join(refused)}, which is not trusted, and nothing of it was loaded: if you "
            "know who made the file, name these in trusted=."
        )
    changed = _changed_versions(versions)
    for package, (saved, present) in changed.items():
        warnings.warn(
            f"{os.fspath(path)} was saved with {package} {saved} and is loaded with {present}: its answers may differ, "
            "so fit and save the model again, or install the version it was saved with.",
            UserWarning,
            stacklevel=2,
        )
    return _rebuild(data, path, [*names, *allowed], quiet="scikit-learn" in changed)


def saved_versions(path: str | os.PathLike[str]) -> dict[str, str]:
    """Versions of Python and of the libraries that the model in a file was saved with.

    Parameters
    ----------
    path : str or path-like
        A file that `save` wrote.

    Returns
    -------
    dict
        Version by name: recuse, scikit-learn, numpy, scipy, skops, Python.
    """
    data = _read(path)
    with _as_damaged(path):
        return _versions_in(data)


def write_whole(path: str | os.PathLike[str], data: bytes) -> None:
    """Write a file so that a reader, or a crash, finds the old content or the new one and nothing in between.

    Parameters
    ----------
    path : str or path-like
        The file; its folder must exist. A new file gets the usual permissions, an existing one keeps its own.
    data : bytes
        The whole content.
    """
    # Through a link to the file it names, as an ordinary write would go.
    target = Path(os.path.realpath(path))
    if not target.parent.is_dir():
        raise FileNotFoundError(f"path={os.fspath(path)!r} cannot be written: create the folder {target.parent} first.")
    if target.exists() and not target.is_file():
        raise IsADirectoryError(f"path={os.fspath(path)!r} is a folder or a device: give the name of a file.")
    temporary = target.with_name(f".{target.name}.{secrets.token_hex(8)}.tmp")
    try:
        _write_durably(temporary, data)
        if target.exists():
            os.chmod(temporary, stat.S_IMODE(target.stat().st_mode))
        os.replace(temporary, target)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
    _make_rename_durable(target.parent)


def _write_durably(path: Path, data: bytes) -> None:
    with open(path, "xb") as file:  # unlike tempfile's, a file with the permissions the umask gives
        file.write(data)
        file.flush()
        os.fsync(file.fileno())


def _make_rename_durable(folder: Path) -> None:
    # The new file is in place and whole: a system that cannot sync a folder is no reason to report a failure.
    with suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def _dump(model: Any) -> bytes:
    """The bytes of a model file."""
    import skops.io

    try:
        data = skops.io.dumps(model, compression=zipfile.ZIP_DEFLATED)
    except Exception as error:
        raise ValueError(f"model={type(model).__name__} cannot be saved: {str(error).rstrip('.')}.") from error
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        _refuse_boolean_keys(json.loads(archive.read("schema.json")))
    buffer = io.BytesIO(data)
    with zipfile.ZipFile(buffer, "a", compression=zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(_VERSIONS_MEMBER, json.dumps({"versions": _present_versions()}))
    return buffer.getvalue()


def _refuse_boolean_keys(schema: dict[str, Any]) -> None:
    """Refuse a dict with True or False among its keys: skops reads both back as True."""
    pending: list[Any] = [schema]
    while pending:
        part = pending.pop()
        if isinstance(part, dict):
            key_types = part.get("key_types")
            if isinstance(key_types, dict) and any(
                key.get("__class__") in ("bool", "bool_") for key in key_types.get("content", [])
            ):
                raise ValueError(
                    "model holds a dict with True or False as a key (class_weight?), which the file cannot keep: use "
                    "labels and keys 1 and 0."
                )
            pending.extend(part.values())
        elif isinstance(part, list):
            pending.extend(part)


def _read(path: str | os.PathLike[str]) -> bytes:
    try:
        return Path(path).read_bytes()
    except FileNotFoundError:
        raise FileNotFoundError(f"path={os.fspath(path)!r} does not exist: give the file that save wrote.") from None


@contextmanager
def _as_damaged(path: str | os.PathLike[str]) -> Iterator[None]:
    """Whatever fails while a file is taken apart means that it is not a model, or no longer."""
    try:
        yield
    except Exception as error:
        raise ValueError(f"{os.fspath(path)} is not a model saved by recuse.save, or it is damaged.") from error


def _names_in(data: bytes) -> list[str]:
    """Types and functions a model file names beyond those skops trusts; nothing is built or imported."""
    import skops.io

    names: list[str] = skops.io.get_untrusted_types(data=data)
    return names


def _names(trusted: Iterable[str | type]) -> list[str]:
    """What the caller trusts, as full names."""
    given = [trusted] if isinstance(trusted, str | type) else list(trusted)
    return [item if isinstance(item, str) else f"{item.__module__}.{item.__name__}" for item in given]


def _refused(names: list[str], allowed: list[str]) -> list[str]:
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

    A module's attribute is not enough: ``recuse.persistence.os`` is one, too.
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


def _rebuild(data: bytes, path: str | os.PathLike[str], names: list[str], quiet: bool) -> Any:
    """The model of a file whose names are all trusted."""
    import skops.io

    with warnings.catch_warnings():
        if quiet:  # the caller has been told already
            warnings.simplefilter("ignore", InconsistentVersionWarning)
        try:
            model = skops.io.loads(data, trusted=names)
            for part in _parts(model):
                _check_part(part)
        except Exception as error:
            raise ValueError(
                f"{os.fspath(path)} could not be turned into a model again ({error}): it is damaged, or saved with "
                "versions that saved_versions names."
            ) from error
    return model


def _parts(model: Any) -> Iterator[Any]:
    """A model and every object in it, each once."""
    pending, seen = [model], set()
    while pending:
        part = pending.pop()
        if id(part) in seen or isinstance(part, str | bytes | type | FunctionType):
            continue
        seen.add(id(part))
        yield part
        if isinstance(part, dict):
            pending.extend(part.values())
        elif isinstance(part, list | tuple | set):
            pending.extend(part)
        elif isinstance(part, np.ndarray) and part.dtype == object:
            pending.extend(part.flat)
        pending.extend(getattr(part, "__dict__", {}).values())


def _check_part(part: Any) -> None:
    """Check what compiled code follows without looking: the branches of trees, the indices of sparse matrices.

    A file can hold any numbers, and an index out of range would make `predict` read foreign memory.
    """
    kind, attributes = type(part).__name__, getattr(part, "__dict__", {})
    if kind == "Tree" and hasattr(part, "children_left"):
        _check_tree(part)
    elif kind in ("KDTree", "BallTree"):
        _check_neighbour_tree(part)
    elif hasattr(part, "check_format") and scipy.sparse.issparse(part):
        part.check_format(full_check=True)
    elif kind.startswith(("DecisionTree", "ExtraTree")):
        _check_tree_owner(attributes.get("tree_"), attributes)
    elif kind.startswith("GradientBoosting"):
        for estimator in getattr(attributes.get("estimators_"), "flat", ()):
            _check_tree_owner(vars(estimator).get("tree_"), attributes)
    elif kind.startswith("HistGradientBoosting"):
        for predictor in chain.from_iterable(attributes.get("_predictors", ())):
            _check_histogram_tree(predictor, attributes["n_features_in_"])


def _check_tree_owner(tree: Any, owner: dict[str, Any]) -> None:
    if "n_features_in_" in owner and tree is not None:
        _require(type(tree).__name__ == "Tree" and tree.n_features == owner["n_features_in_"])


def _check_tree(tree: Any) -> None:
    _require(0 < tree.node_count <= tree.capacity)
    inner = tree.children_left != -1
    _check_branches(np.flatnonzero(inner), tree.children_left[inner], tree.children_right[inner], tree.node_count)
    _check_range(tree.feature[inner], tree.n_features)


def _check_histogram_tree(predictor: Any, n_features: int) -> None:
    nodes = predictor.nodes
    inner = nodes[nodes["is_leaf"] == 0]
    _require(len(nodes) > 0)
    _check_branches(np.flatnonzero(nodes["is_leaf"] == 0), inner["left"], inner["right"], len(nodes))
    _check_range(inner["feature_idx"], n_features)
    _check_range(inner["bitset_idx"][inner["is_categorical"] != 0], len(predictor.raw_left_cat_bitsets))


def _check_neighbour_tree(tree: Any) -> None:
    points, order, nodes, bounds, _, _, n_nodes, *_ = tree.__getstate__()
    _require(len(order) == len(points) and len(nodes) == n_nodes > 0)
    _require(bounds.shape == (2 if type(tree).__name__ == "KDTree" else 1, n_nodes, points.shape[1]))
    _check_range(order, len(points))
    _check_range(nodes["idx_start"], len(points) + 1)
    _check_range(nodes["idx_end"], len(points) + 1)
    inner = np.flatnonzero(nodes["is_leaf"] == 0)
    _check_range(2 * inner + 2, n_nodes)  # the children of node i are 2 i + 1 and 2 i + 2


def _check_branches(parents: Any, left: Any, right: Any, n_nodes: int) -> None:
    """Children come after their parent and exist: no walk leaves the tree or goes round in it."""
    for children in (left, right):
        _check_range(children, n_nodes)
        _require((children > parents).all())


def _check_range(indices: Any, size: int) -> None:
    _require(((indices >= 0) & (indices < size)).all())


def _require(holds: Any) -> None:
    if not holds:
        raise ValueError("an index in it points outside")


def _present_versions() -> dict[str, str]:
    import skops

    return {
        "recuse": __version__,
        "scikit-learn": sklearn.__version__,
        "numpy": np.__version__,
        "scipy": scipy.__version__,
        "skops": skops.__version__,
        "Python": platform.python_version(),
    }


def _versions_in(data: bytes) -> dict[str, str]:
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        versions = json.loads(archive.read(_VERSIONS_MEMBER))["versions"]
    return {str(package): str(version) for package, version in versions.items()}


def _changed_versions(saved: dict[str, str]) -> dict[str, tuple[str, str]]:
    """Saved and present version of the packages on which a model's meaning depends, where they differ."""
    present = _present_versions()
    pairs = {package: (saved.get(package, "of unknown version"), present[package]) for package in _COMPARED}
    return {package: pair for package, pair in pairs.items() if pair[0] != pair[1]}
