"""Reading a data set from the data folder, scikit-learn or OpenML; a table other than the expected one is refused."""

from __future__ import annotations

import difflib
import gzip
import http.client
import io
import os
import warnings
import zlib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.datasets import fetch_openml, load_breast_cancer
from sklearn.utils import Bunch

from ..arrays import Floats
from .registry import DATASETS, Dataset

FOLDER_VARIABLE = "RECUSE_DATA"
TARGET = "target"


@dataclass(frozen=True, eq=False)
class _Table:
    """A data set as read, and the place it came from."""

    data: Floats
    target: NDArray[np.int64]
    feature_names: list[str]
    place: str


def load(name: str, *, return_X_y: bool = False, as_frame: bool = False) -> Any:
    """Read a data set of the papers, whole and in the order of its source.

    Places are tried in this order: the file ``<name>.csv.gz`` in the folder that the environment variable
    ``RECUSE_DATA`` names; scikit-learn itself (wdbc; breast_cancer always); OpenML, if it has the data set.

    Parameters
    ----------
    name : str
        One of `names()`.
    return_X_y : bool, default=False
        Return only the pair ``(data, target)``.
    as_frame : bool, default=False
        Return pandas objects; needs pandas.

    Returns
    -------
    Bunch
        `data` (float, shape (rows, features), missing values are NaN), `target` (integers 0 and 1), `feature_names`,
        `positive` (what 1 means), `name`, `DESCR`, and `frame` if ``as_frame=True``. With ``return_X_y=True`` the
        pair ``(data, target)``.

    Raises
    ------
    ValueError
        An unknown name, a damaged file, or a table that is not the one expected.
    OSError
        The data set is in none of these places, or OpenML does not answer.

    Examples
    --------
    >>> from recuse.datasets import load
    >>> cancer = load("breast_cancer")
    >>> cancer.data.shape, cancer.positive
    ((569, 30), 'benign')
    >>> X, y = load("breast_cancer", return_X_y=True)
    >>> int(y.sum())
    357
    """
    facts = _facts(name)
    table = _find(name, facts)
    _verify(name, facts, table)
    bunch = Bunch(
        data=table.data,
        target=table.target,
        feature_names=table.feature_names,
        positive=facts.positive,
        name=name,
        DESCR=_describe(name, facts, table.place),
    )
    if as_frame:
        _make_frame(bunch)
    return (bunch.data, bunch.target) if return_X_y else bunch


def _facts(name: str) -> Dataset:
    """What is known about a data set; refuse unknown names."""
    if name in DATASETS:
        return DATASETS[name]
    close = difflib.get_close_matches(str(name), DATASETS, cutoff=0.5)
    hint = f"did you mean {' or '.join(close)}? " if close else ""
    raise ValueError(f"name={name!r} is not a known data set: {hint}recuse.datasets.names() lists them all.")


def _find(name: str, facts: Dataset) -> _Table:
    """The data set from the first place that has it."""
    if name == "breast_cancer":
        return _from_sklearn()
    path = _file_in_folder(name)
    if path is not None:
        return _from_file(path)
    if name == "wdbc":
        return _wdbc_from_sklearn()
    if facts.openml is not None:
        return _from_openml(name, facts.openml, facts.positives)
    raise FileNotFoundError(f"name={name!r} was not found: {_folder_remedy(name)}; it is not on OpenML.")


def _file_in_folder(name: str) -> Path | None:
    """The file of a data set, if the data folder has it."""
    folder = os.environ.get(FOLDER_VARIABLE)
    if not folder:
        return None
    # A mistyped folder must not send the user to the network silently.
    if not Path(folder).is_dir():
        raise FileNotFoundError(f"{FOLDER_VARIABLE}={folder!r} is not a folder: correct the variable or remove it.")
    path = Path(folder) / f"{name}.csv.gz"
    return path if path.is_file() else None


def _folder_remedy(name: str) -> str:
    """How to provide a data set in the data folder."""
    folder = os.environ.get(FOLDER_VARIABLE)
    state = f"{folder!r} does not hold it" if folder else "it is not set"
    return f"set the environment variable {FOLDER_VARIABLE} to a folder that holds {name}.csv.gz ({state})"


def _from_file(path: Path) -> _Table:
    """Read a file of the data folder."""
    try:
        columns, values = _parse(gzip.decompress(path.read_bytes()))
    except (EOFError, zlib.error, gzip.BadGzipFile, ValueError) as error:
        raise ValueError(f"{path} is damaged or is not a table of numbers ({error}): fetch the file again.") from error
    target = values[:, -1]
    if columns[-1] != TARGET or not np.isin(target, (0, 1)).all():
        raise ValueError(f"{path} must end with a column {TARGET!r} of 0 and 1; its last column is {columns[-1]!r}.")
    # A copy of the features: a view would keep the target column alive and not be contiguous.
    return _Table(values[:, :-1].copy(), target.astype(np.int64), columns[:-1], str(path))


def _parse(content: bytes) -> tuple[list[str], Floats]:
    """Column names and values of a CSV text; an empty cell is NaN."""
    end = content.find(b"\n")
    if end < 0 or not content[end:].strip():
        raise ValueError("no rows")
    columns = content[:end].decode().strip().split(",")
    # Each pass fills every other cell of a run of empty ones, so two passes fill any run.
    rows = content[end:].replace(b",,", b",nan,").replace(b",,", b",nan,").replace(b"\n,", b"\nnan,")
    values = np.loadtxt(io.StringIO(rows.decode()), delimiter=",", ndmin=2, comments=None)
    if values.shape[1] != len(columns):
        raise ValueError(f"{len(columns)} column names for {values.shape[1]} columns")
    return columns, values


def _from_sklearn() -> _Table:
    """The breast cancer table: benign is 1."""
    bunch = load_breast_cancer()
    return _Table(bunch.data, bunch.target.astype(np.int64), bunch.feature_names.tolist(), "scikit-learn")


def _wdbc_from_sklearn() -> _Table:
    """The breast cancer table as the papers have it: malignant is 1."""
    table = _from_sklearn()
    columns = [name.replace(" ", "_") for name in table.feature_names]
    return _Table(table.data, 1 - table.target, columns, table.place)


def _from_openml(name: str, number: int, positives: int) -> _Table:
    """Fetch a data set from OpenML."""
    place = f"OpenML (data set {number})"
    try:
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", message="A network error occurred")  # the error below says it
            # This parser needs no pandas and turns categories into integer codes.
            bunch = fetch_openml(data_id=number, as_frame=False, parser="liac-arff", n_retries=1)
    except (OSError, ValueError, http.client.HTTPException) as error:
        raise ConnectionError(
            f"name={name!r} could not be fetched from {place}: {error}. Check the network connection, or "
            f"{_folder_remedy(name)}."
        ) from error
    data = np.asarray(bunch.data, dtype=np.float64)
    return _Table(data, _positive_by_count(name, bunch.target, positives), list(bunch.feature_names), place)


def _positive_by_count(name: str, labels: Any, positives: int) -> NDArray[np.int64]:
    """Target 1 where the label is the one that occurs `positives` times."""
    labels = np.asarray(labels).astype(str)
    distinct, counts = np.unique(labels, return_counts=True)
    if len(distinct) != 2 or np.count_nonzero(counts == positives) != 1:
        found = ", ".join(f"{label}: {count}" for label, count in zip(distinct[:5], counts[:5], strict=True))
        raise ValueError(
            f"name={name!r} on OpenML has the labels {found}; expected two, one of them {positives} times: "
            f"{_folder_remedy(name)}."
        )
    return (labels == distinct[counts == positives][0]).astype(np.int64)


def _verify(name: str, facts: Dataset, table: _Table) -> None:
    """Refuse a table that is not the one the papers used."""
    found = (*table.data.shape, int(table.target.sum()))
    expected = (facts.rows, facts.features, facts.positives)
    if found != expected:
        raise ValueError(
            f"name={name!r} from {table.place} has {found[0]} rows, {found[1]} features and {found[2]} positives; "
            f"expected {expected[0]}, {expected[1]} and {expected[2]}: it is incomplete or another table, "
            "fetch it again."
        )


def _describe(name: str, facts: Dataset, place: str) -> str:
    """The text of `DESCR`."""
    used = f"Used by {', '.join(facts.papers)}. " if facts.papers else ""
    return (
        f"{name}: {facts.rows} rows, {facts.features} features, {facts.positives} positives. "
        f"target = 1 means {facts.positive}. {used}{facts.note}".strip()
        + f"\nRead from {place}."
    )


def _make_frame(bunch: Bunch) -> None:
    """Turn the arrays of `bunch` into pandas objects, and add `frame`, which holds features and target."""
    try:
        import pandas as pd
    except ImportError as error:
        raise ImportError("as_frame=True needs pandas: install it, or use as_frame=False.") from error
    bunch.frame = pd.DataFrame(bunch.data, columns=bunch.feature_names)
    bunch.frame[TARGET] = bunch.target
    bunch.data, bunch.target = bunch.frame[bunch.feature_names], bunch.frame[TARGET]
