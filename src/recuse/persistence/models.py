"""Saving and loading a model, with the versions it was made with."""

from __future__ import annotations

import os
import platform
import re
import warnings
import zipfile
from collections.abc import Iterable
from typing import Any

import numpy as np
import scipy
import sklearn
from sklearn.exceptions import InconsistentVersionWarning, NotFittedError
from sklearn.utils.validation import check_is_fitted

from .. import __version__
from .archive import (
    FORMAT,
    OLDEST_FORMAT,
    Header,
    check_unchanged,
    digest_of,
    pack,
    read_header,
    read_schema,
    unpack,
)
from .contents import check_contents
from .files import as_damaged, read_whole, writable, write_whole
from .indices import check_indices
from .names import nodes
from .trust import can_be_found, full_names, names_in, refused_names

_OWN_PACKAGE = __name__.partition(".")[0]
_COMPARED = ("recuse", "scikit-learn")
_PICKLES = (".pkl", ".pickle", ".joblib")


def save(model: Any, path: str | os.PathLike[str], *, trusted: Iterable[str | type] = ()) -> None:
    """Write a model to a file that `load` will accept.

    Parameters
    ----------
    model : object
        An estimator of this library or of scikit-learn, a Pipeline or a search that holds one.
    path : str or path-like
        Where to write; the folder must exist. An existing file is replaced only when the new one is complete.
    trusted : iterable of str or type, default=()
        Types of other libraries in the model, as they will be given to `load`.

    Raises
    ------
    ValueError
        The model holds something the file cannot keep, or that `load` would refuse; it is not fitted; or the path is
        named like a pickle, which the file is not.

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
    require_model_path(path)
    data = _dump(model)
    _require_fitted(model)
    names, allowed = names_in(data), full_names(trusted)
    refused = refused_names(names, allowed)
    unlisted = [name for name in refused if name.startswith(f"{_OWN_PACKAGE}.")]
    if unlisted:
        raise ValueError(
            f"model={type(model).__name__} holds {', '.join(unlisted)}, which has no stored name, a fault of recuse: "
            "add it to RECORDS in recuse/persistence/names.py."
        )
    if refused:
        raise ValueError(
            f"model={type(model).__name__} holds {', '.join(refused)}, which load would refuse: name what you trust in "
            "trusted=, here and in load, or take it out of the model."
        )
    lost = [name for name in names if name in allowed and not can_be_found(name)]
    if lost:
        raise ValueError(
            f"model={type(model).__name__} holds {', '.join(lost)}, which load could not find again: define it at the "
            "top of a module, not inside a function."
        )
    write_whole(path, pack(data, _present_versions()))


def require_model_path(path: str | os.PathLike[str]) -> None:
    """Refuse what `save` could not write a model to, or what others would take for a pickle."""
    writable(path)
    if os.fspath(path).lower().endswith(_PICKLES):
        raise ValueError(
            f"path={os.fspath(path)!r} is named like a pickle, and a model file is none: only recuse.load reads it. "
            f"Name it {os.path.splitext(os.path.basename(path))[0]}.skops."
        )


def _require_fitted(model: Any) -> None:
    """Refuse an estimator that would fail in the hands of whoever loads it."""
    if not hasattr(model, "fit") or isinstance(model, type):
        return
    try:
        check_is_fitted(model)
    except NotFittedError:
        raise NotFittedError(f"model={type(model).__name__} is not fitted: call fit before it is saved.") from None


def load(path: str | os.PathLike[str], *, trusted: Iterable[str | type] = (), digest: str | None = None) -> Any:
    """Read a model that `save` wrote.

    Parameters
    ----------
    path : str or path-like
        The file.
    trusted : iterable of str or type, default=()
        Types and functions that may be loaded besides those of this library and of scikit-learn: the classes
        themselves, or their full names.
    digest : str, optional
        What `saved_digest` gave for the file, kept elsewhere: a file with another digest is refused. Without it a file
        that was damaged or edited is refused too, but not one that was made again as a whole.

    Returns
    -------
    object
        The model, with the same parameters and fitted attributes.

    Raises
    ------
    FileNotFoundError
        There is no such file.
    ValueError
        The file is not a model, was changed since it was saved, has a format this version cannot read, or names types
        that are not trusted: nothing of it was run. Or it holds numbers that no model can answer with.

    Warns
    -----
    UserWarning
        The file was made with another version of this library or of scikit-learn.

    Examples
    --------
    >>> import os, tempfile
    >>> import recuse
    >>> from sklearn.datasets import load_breast_cancer
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = recuse.ExactBoostClassifier(n_estimators=5).fit(X, y)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     recuse.save(model, os.path.join(folder, "model.skops"))
    ...     again = recuse.load(os.path.join(folder, "model.skops"))
    >>> bool((again.predict(X) == model.predict(X)).all())
    True
    """
    content = read_whole(path)
    if digest is not None:
        _require_digest(path, content, digest)
    header = _checked_header(path, content)
    with as_damaged(path):
        data = unpack(content)
        names = names_in(data)
    allowed = full_names(trusted)
    refused = refused_names(names, allowed)
    if refused:
        raise ValueError(
            f"{os.fspath(path)} names {', '.join(refused)}, which is not trusted, and nothing of it was loaded: if you "
            "know who made the file, name these in trusted=."
        )
    lost = [name for name in names if name in allowed and not can_be_found(name)]
    if lost:
        raise ValueError(f"{os.fspath(path)} needs {', '.join(lost)}: define or import it before the model is loaded.")
    changed = _changed_versions(header.versions)
    for package, (saved, present) in changed.items():
        warnings.warn(
            f"{os.fspath(path)} was saved with {package} {saved} and is loaded with {present}: its answers may differ, "
            "so fit and save the model again, or install the version it was saved with.",
            UserWarning,
            stacklevel=2,
        )
    return _rebuild(data, path, [*names, *allowed], quiet="scikit-learn" in changed)


def saved_versions(path: str | os.PathLike[str]) -> dict[str, str]:
    """Versions of Python and of the libraries with which a model was saved.

    Parameters
    ----------
    path : str or path-like
        A file that `save` wrote.

    Returns
    -------
    dict
        Version by name: recuse, scikit-learn, numpy, scipy, skops, Python.

    Examples
    --------
    >>> from recuse.persistence import saved_versions
    >>> saved_versions("model.skops")["scikit-learn"]  # doctest: +SKIP
    '1.9.1'
    """
    return _checked_header(path, read_whole(path)).versions


def saved_digest(path: str | os.PathLike[str]) -> str:
    """Digest of a model file, to be kept elsewhere and given to `load`: it changes with every byte.

    Parameters
    ----------
    path : str or path-like
        A file that `save` wrote.

    Returns
    -------
    str
        SHA-256 of the file in 64 hexadecimal digits, as the command sha256sum prints it.

    Examples
    --------
    >>> import recuse
    >>> from recuse.persistence import saved_digest
    >>> kept = saved_digest("model.skops")  # doctest: +SKIP
    >>> model = recuse.load("model.skops", digest=kept)  # doctest: +SKIP
    """
    content = read_whole(path)
    _checked_header(path, content)
    return digest_of(content)


def digest_mark(digest: str) -> str:
    """The first digits of a digest, enough to tell models apart, as text that no spreadsheet takes for a number."""
    return f"sha256:{digest[:16]}"


def _require_digest(path: str | os.PathLike[str], content: bytes, digest: Any) -> None:
    """Refuse a file with another digest than the one that was kept."""
    if not isinstance(digest, str) or not re.fullmatch("[0-9a-fA-F]{64}", digest.strip()):
        raise ValueError(f"digest={digest!r} is no digest: give the 64 hexadecimal digits that recuse inspect shows.")
    if digest_of(content) != digest.strip().lower():
        raise ValueError(
            f"{os.fspath(path)} has the digest {digest_of(content)}, not {digest.strip().lower()}: it is another file, "
            "or it was changed, so take the file that the digest was noted for."
        )


def _checked_header(path: str | os.PathLike[str], content: bytes) -> Header:
    """The header of a file that is just as it was saved; nothing is built."""
    with as_damaged(path):
        header = read_header(content)
    _require_known_format(path, header)
    with as_damaged(path):
        check_unchanged(content, header)
    return header


def _require_known_format(path: str | os.PathLike[str], header: Header) -> None:
    """Refuse a file whose format is too new or too old for this version."""
    if header.format > FORMAT:
        raise ValueError(
            f"{os.fspath(path)} was saved by a newer recuse (format {header.format}; this version reads up to "
            f"{FORMAT}): install recuse {header.versions.get('recuse', '')} or later."
        )
    if header.format < OLDEST_FORMAT:
        raise ValueError(
            f"{os.fspath(path)} was saved by an older recuse in a format that is no longer read: fit the model again "
            "and save it."
        )


def _dump(model: Any) -> bytes:
    """What skops writes of a model; compressed only when the file is made of it."""
    import skops.io

    try:
        data: bytes = skops.io.dumps(model, compression=zipfile.ZIP_STORED)
    except Exception as error:
        raise ValueError(f"model={type(model).__name__} cannot be saved: {str(error).rstrip('.')}.") from error
    _refuse_boolean_keys(read_schema(data))
    return data


def _refuse_boolean_keys(schema: dict[str, Any]) -> None:
    """Refuse a dict with True or False among its keys: skops reads both back as True."""
    for node in nodes(schema):
        key_types = node.get("key_types")
        if isinstance(key_types, dict) and any(
            key.get("__class__") in ("bool", "bool_") for key in key_types.get("content", [])
        ):
            raise ValueError(
                "model holds a dict with True or False as a key (class_weight?), which the file cannot keep: use "
                "labels and keys 1 and 0."
            )


def _rebuild(data: bytes, path: str | os.PathLike[str], names: list[str], quiet: bool) -> Any:
    """The model of a file whose names are all trusted."""
    import skops.io

    with warnings.catch_warnings():
        if quiet:  # `load` has warned already
            warnings.simplefilter("ignore", InconsistentVersionWarning)
        try:
            model = skops.io.loads(data, trusted=names)
            check_indices(model)
            check_contents(model)
        except Exception as error:
            raise ValueError(
                f"{os.fspath(path)} could not be turned into a model again ({error}): it is damaged, or saved with "
                "versions that saved_versions names."
            ) from error
    return model


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


def _changed_versions(saved: dict[str, str]) -> dict[str, tuple[str, str]]:
    """Saved and present versions of the packages that a model's answers depend on, if they differ."""
    present = _present_versions()
    pairs = {package: (saved.get(package, "of unknown version"), present[package]) for package in _COMPARED}
    return {package: pair for package, pair in pairs.items() if pair[0] != pair[1]}
