"""The data sets of the papers, and seeded generators of their synthetic problems.

Real data come from the folder named by the environment variable ``RECUSE_DATA`` (``<name>.csv.gz``: a header row,
numeric columns, empty cells for missing values, a last column ``target`` of 0 and 1), else from scikit-learn or
OpenML where the same table is there. Whatever the place, rows, features and positives are compared with `DATASETS`
before anything is returned. Nothing is scaled, imputed or shuffled, and several tables are sorted by class: shuffle
before taking a part of one.
"""

from __future__ import annotations

import difflib
import gzip
import http.client
import io
import numbers
import os
import warnings
import zlib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.datasets import fetch_openml, load_breast_cancer
from sklearn.utils import Bunch, check_array, check_random_state

FOLDER_VARIABLE = "RECUSE_DATA"
TARGET = "target"


@dataclass(frozen=True)
class Dataset:
    """What is known of a data set before it is read.

    Attributes
    ----------
    rows, features, positives : int
        Number of cases, of columns without the target, and of cases with ``target = 1``.
    positive : str
        What ``target = 1`` means.
    papers : tuple of str
        Who uses it: a paper of this library, the data set list in ExactBoost's published code, or scaling tests.
    openml : int or None
        Number on OpenML of a table with the same cases. Its categories arrive as integer codes, which may differ
        from those of the file.
    note : str
        What to know before using it.
    """

    rows: int
    features: int
    positives: int
    positive: str
    papers: tuple[str, ...] = ()
    openml: int | None = None
    note: str = ""


_BA, _DH, _SDR, _EB, _CON = "BA", "DH-SVM", "SDR-SVM", "ExactBoost", "CONSUM"
_CODE, _SCALE = "ExactBoost's code", "scaling tests"

DATASETS: dict[str, Dataset] = {
    "a1a": Dataset(1605, 119, 395, "income over 50K", (_EB,)),
    "a9a": Dataset(32561, 123, 7841, "income over 50K", (_SCALE,), note="Contains every row of a1a."),
    "australian": Dataset(690, 14, 307, "application approved", (_BA, _CODE), 40981, "8 columns are category codes."),
    "bank_marketing": Dataset(
        45211, 37, 5289, "subscribed a term deposit", (_SCALE,), note="duration is known only after the call."
    ),
    "banknote": Dataset(1372, 4, 610, "forged", (_BA, _CON, _CODE), 1462),
    "breast_cancer": Dataset(569, 30, 357, "benign", note="scikit-learn's own orientation; wdbc is the reverse."),
    "cod_rna": Dataset(
        59535, 8, 19845, "non-coding RNA", (_BA, _CODE), note="BA used 369 rows, not known which. 10069 duplicate rows."
    ),
    "covtype_sample": Dataset(
        20000, 54, 6022, "lodgepole pine", (_SCALE, _CODE), note="The first rows of the source, not a random sample."
    ),
    "credit_default": Dataset(30000, 23, 6636, "default next month", (_SCALE, _CODE), 42477),
    "german": Dataset(1000, 20, 300, "bad credit", (_EB,), 31, "ExactBoost's code has good credit as 1: use 1 - y."),
    "german_numeric": Dataset(1000, 24, 300, "bad credit", note="The numeric version of german."),
    "gmsc": Dataset(150000, 10, 10026, "90 days past due within 2 years", (_EB,), note="2 columns miss values."),
    "haberman": Dataset(306, 3, 81, "died within 5 years", (_BA,), 43),
    "heart_cleveland": Dataset(303, 13, 139, "heart disease", (_EB, _SDR), note="6 missing values."),
    "heart_statlog": Dataset(270, 13, 120, "heart disease", (_SDR,), 53),
    "higgs_sample": Dataset(7500, 28, 3988, "signal", (_SCALE,)),
    "ilpd": Dataset(583, 10, 416, "liver patient", (_SDR,), 1480, "4 missing values in the file."),
    "ionosphere": Dataset(351, 34, 225, "good radar return", (_SDR, _EB), 59),
    "liver_disorders": Dataset(
        345, 6, 200, "selector = 2", (_DH,), note="The selector marks a train/test split, it is not a diagnosis."
    ),
    "liver_drinks": Dataset(145, 5, 55, "more than 3 drinks", (_EB,), note="The cut at 3 drinks is an assumption."),
    "madelon": Dataset(2000, 500, 1000, "label +1", (_CON, _CODE)),
    "mammography": Dataset(11183, 6, 260, "calcification", (_CODE,), 310, "3334 duplicate rows."),
    "new_thyroid": Dataset(215, 5, 65, "not normal", (_DH,), note="Hyper- and hypothyroid joined."),
    "oil_spill": Dataset(937, 49, 41, "oil spill", (_CODE,), 311, "f1 is a patch number, f23 is constant."),
    "parkinsons": Dataset(
        195, 22, 147, "Parkinson's disease", (_SDR,), 1488, "About six recordings a person, unnamed: splits mix them."
    ),
    "phoneme": Dataset(5404, 5, 1586, "oral sound", (_CODE,), 1489),
    "pima": Dataset(768, 8, 268, "diabetes", (_BA, _DH, _SDR, _CODE), 37, "Zeros in 5 columns stand for missing."),
    "pop_failures": Dataset(540, 18, 46, "simulation crashed", (_CON,)),
    "skin": Dataset(
        245057, 3, 50859, "skin pixel", (_BA, _CODE), 1502, "BA used 400 rows, not known which. 193613 duplicate rows."
    ),
    "sonar": Dataset(208, 60, 97, "rock", (_CODE,), 40),
    "spambase": Dataset(4601, 57, 1813, "spam", (_CON,), 44, "391 duplicate rows."),
    "splice": Dataset(1000, 60, 483, "LIBSVM label -1", (_CODE,)),
    "svmguide1": Dataset(3089, 4, 1089, "LIBSVM label 0", (_CODE,)),
    "svmguide3": Dataset(1243, 21, 296, "LIBSVM label +1", (_CODE,)),
    "transfusion": Dataset(748, 4, 178, "donated in March 2007", (_CON,), 1464, "215 duplicate rows."),
    "wdbc": Dataset(569, 30, 212, "malignant", (_DH, _CON)),
}


@dataclass(frozen=True, eq=False)
class _Table:
    """A data set as read, and the place it came from."""

    data: NDArray[np.float64]
    target: NDArray[np.int64]
    feature_names: list[str]
    place: str


def names() -> list[str]:
    """Names of the data sets `load` knows, sorted.

    Examples
    --------
    >>> from recuse import datasets
    >>> datasets.names()[:3]
    ['a1a', 'a9a', 'australian']
    """
    return sorted(DATASETS)


def load(name: str, *, return_X_y: bool = False, as_frame: bool = False) -> Any:
    """Read a data set of the papers, whole and in its source's order.

    Looked for in this order: the file ``<name>.csv.gz`` in the folder that the environment variable ``RECUSE_DATA``
    names; scikit-learn itself (wdbc; breast_cancer always); OpenML, where the data set is there.

    Parameters
    ----------
    name : str
        One of `names()`.
    return_X_y : bool, default=False
        Return the pair ``(data, target)`` only.
    as_frame : bool, default=False
        Return pandas objects, which needs pandas.

    Returns
    -------
    Bunch
        `data` (float, shape (rows, features), missing values are NaN), `target` (integers 0 and 1), `feature_names`,
        `positive` (what 1 means), `name`, `DESCR`, and `frame` when ``as_frame=True``. With ``return_X_y=True`` the
        pair ``(data, target)``.

    Raises
    ------
    ValueError
        An unknown name, a damaged file, or a table that is not the one expected.
    OSError
        The data set is in none of the places, or OpenML does not answer.

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
    folder = os.environ.get(FOLDER_VARIABLE)
    if not folder:
        return None
    # A mistyped folder must not send the user to the network without a word.
    if not Path(folder).is_dir():
        raise FileNotFoundError(f"{FOLDER_VARIABLE}={folder!r} is not a folder: correct the variable or remove it.")
    path = Path(folder) / f"{name}.csv.gz"
    return path if path.is_file() else None


def _folder_remedy(name: str) -> str:
    folder = os.environ.get(FOLDER_VARIABLE)
    state = f"{folder!r} does not hold it" if folder else "it is not set"
    return f"set the environment variable {FOLDER_VARIABLE} to a folder that holds {name}.csv.gz ({state})"


def _from_file(path: Path) -> _Table:
    try:
        columns, values = _parse(gzip.decompress(path.read_bytes()))
    except (EOFError, zlib.error, gzip.BadGzipFile, ValueError) as error:
        raise ValueError(f"{path} is damaged or is not a table of numbers ({error}): fetch the file again.") from error
    target = values[:, -1]
    if columns[-1] != TARGET or not np.isin(target, (0, 1)).all():
        raise ValueError(f"{path} must end with a column {TARGET!r} of 0 and 1; its last column is {columns[-1]!r}.")
    # A copy of the features: a view would keep the target column alive and not be contiguous.
    return _Table(values[:, :-1].copy(), target.astype(np.int64), columns[:-1], str(path))


def _parse(content: bytes) -> tuple[list[str], NDArray[np.float64]]:
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
    bunch = load_breast_cancer()
    return _Table(bunch.data, bunch.target.astype(np.int64), bunch.feature_names.tolist(), "scikit-learn")


def _wdbc_from_sklearn() -> _Table:
    """The breast cancer table as the papers have it: malignant is 1."""
    table = _from_sklearn()
    columns = [name.replace(" ", "_") for name in table.feature_names]
    return _Table(table.data, 1 - table.target, columns, table.place)


def _from_openml(name: str, number: int, positives: int) -> _Table:
    place = f"OpenML (data set {number})"
    try:
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", message="A network error occurred")  # said once, below
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
            f"expected {expected[0]}, {expected[1]} and {expected[2]}: it is cut short or another table, fetch it anew."
        )


def _describe(name: str, facts: Dataset, place: str) -> str:
    used = f"Used by {', '.join(facts.papers)}. " if facts.papers else ""
    return (
        f"{name}: {facts.rows} rows, {facts.features} features, {facts.positives} positives. "
        f"target = 1 means {facts.positive}. {used}{facts.note}".strip()
        + f"\nRead from {place}."
    )


def _make_frame(bunch: Bunch) -> None:
    """Turn the arrays of `bunch` into pandas objects, and add the two together as `frame`."""
    try:
        import pandas as pd
    except ImportError as error:
        raise ImportError("as_frame=True needs pandas: install it, or use as_frame=False.") from error
    bunch.frame = pd.DataFrame(bunch.data, columns=bunch.feature_names)
    bunch.frame[TARGET] = bunch.target
    bunch.data, bunch.target = bunch.frame[bunch.feature_names], bunch.frame[TARGET]


def make_gaussian_classes(
    n_samples: int, n_features: int, *, separation: float, positive_share: float = 0.5, random_state: Any = None
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Two Gaussian classes with independent variables of variance 1, as in CONSUM's artificial data.

    The means lie at ``-separation / 2`` and ``separation / 2`` on the diagonal, so every variable tells equally
    little. With equal shares the Bayes error is ``Phi(-separation / 2)``.

    Parameters
    ----------
    n_samples, n_features : int
        The paper has 2000 cases of 50 and of 100 variables.
    separation : float
        Distance between the two means, in standard deviations. The paper does not give its own: the errors in its
        Table 3 (0.30 and 0.23) would be the Bayes errors at 1.04 and 1.47, the same shift of 0.147 a variable.
    positive_share : float, default=0.5
        Share of class 1, exact up to rounding.
    random_state : int, RandomState instance or None, default=None
        Seed.

    Returns
    -------
    X : ndarray of shape (n_samples, n_features)
    y : ndarray of shape (n_samples,)
        0 and 1, in random order.

    References
    ----------
    Hanczar and Sebag (2014), Combination of One-Class Support Vector Machines for Classification with Reject
    Option, section 4.1.

    Examples
    --------
    >>> from recuse.datasets import make_gaussian_classes
    >>> X, y = make_gaussian_classes(2000, 50, separation=1.04, random_state=0)
    >>> X.shape, int(y.sum())
    ((2000, 50), 1000)
    """
    _require_count("n_samples", n_samples, 2)
    _require_count("n_features", n_features, 1)
    _require_number("separation", separation)
    if separation < 0:
        raise ValueError(f"separation must be 0 or more, it is a distance; got {separation!r}.")
    _require_inside("positive_share", positive_share, 0, 1)
    n_positive = round(n_samples * positive_share)
    if n_positive in (0, n_samples):
        raise ValueError(
            f"positive_share={positive_share!r} of n_samples={n_samples} leaves a class empty: raise n_samples."
        )
    rng = check_random_state(random_state)
    y = rng.permutation(np.arange(n_samples) < n_positive).astype(np.int64)
    shift = separation / np.sqrt(n_features)
    return rng.standard_normal((n_samples, n_features)) + shift * (y[:, None] - 0.5), y


def add_novelties(
    X: Any, y: Any, *, n_novelties: int, novelty_label: Any = -1, margin: float = 0.1, random_state: Any = None
) -> tuple[NDArray[np.float64], NDArray[Any]]:
    """Append novelties to a test set: cases of a third class, uniform over the space the data occupy.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        Cases of the known classes.
    y : array-like of shape (n_samples,)
        Their labels.
    n_novelties : int
        How many to add.
    novelty_label : object, default=-1
        Label of the added cases: a number with numbers, a text with texts, and none of the labels in `y`.
    margin : float, default=0.1
        How far the box of the novelties reaches beyond the data on each side, as a share of each variable's range.
    random_state : int, RandomState instance or None, default=None
        Seed.

    Returns
    -------
    X : ndarray of shape (n_samples + n_novelties, n_features)
        The cases given, in their order, then the novelties.
    y : ndarray of shape (n_samples + n_novelties,)

    References
    ----------
    Hanczar and Sebag (2014), section 4.1. The paper does not say how many it adds nor how far they reach.

    Examples
    --------
    >>> from recuse.datasets import add_novelties
    >>> X, y = add_novelties([[0.0], [1.0]], [0, 1], n_novelties=3, random_state=0)
    >>> y
    array([ 0,  1, -1, -1, -1])
    """
    X = check_array(X, dtype=np.float64)
    y = np.asarray(y)
    if y.shape != (len(X),):
        raise ValueError(f"y must have one label a case: expected shape ({len(X)},), got {y.shape}.")
    _require_count("n_novelties", n_novelties, 0)
    _require_number("margin", margin)
    if margin < 0:
        raise ValueError(f"margin must be 0 or more; got {margin!r}.")
    low, high = X.min(axis=0), X.max(axis=0)
    reach = margin * (high - low)
    rng = check_random_state(random_state)
    novelties = rng.uniform(low - reach, high + reach, size=(n_novelties, X.shape[1]))
    return np.vstack([X, novelties]), _append_label(y, novelty_label, n_novelties)


def _append_label(y: NDArray[Any], label: Any, times: int) -> NDArray[Any]:
    if isinstance(label, str) != (y.dtype.kind in "UO" and isinstance(y.flat[0], str)):
        raise ValueError(
            f"novelty_label={label!r} is not of the kind of the labels, such as {y.flat[0]!r}: use a text with texts "
            "and a number with numbers."
        )
    if label in y.tolist():
        raise ValueError(f"novelty_label={label!r} is one of the labels in y: choose another.")
    if y.dtype.kind in "bu":  # no room for -1
        y = y.astype(np.int64)
    return np.concatenate([y, np.full(times, label, dtype=object if y.dtype.kind == "O" else None)])


def make_noisy_region(
    n_samples: int, *, threshold: float, noisy_below: float, return_posterior: bool = False, random_state: Any = None
) -> tuple[NDArray[Any], ...]:
    """One variable, a perfect threshold, and a noisy region away from it: Figure 1 of the BA paper.

    ``x`` is uniform on [0, 1]. At ``x <= noisy_below`` (the paper's eta) the label is a coin toss; elsewhere it is 1
    below `threshold` (theta) and 0 above. The best classifier is ``h(x) = threshold - x``, and the cases to reject,
    ``x <= noisy_below``, are those where it is surest: no rule on ``|h(x)|`` finds them.

    Parameters
    ----------
    n_samples : int
        Number of cases.
    threshold, noisy_below : float
        ``0 < noisy_below < threshold < 1``.
    return_posterior : bool, default=False
        Return also P(y = 1 | x) of every case.
    random_state : int, RandomState instance or None, default=None
        Seed.

    Returns
    -------
    X : ndarray of shape (n_samples, 1)
    y : ndarray of shape (n_samples,)
        0 and 1.
    posterior : ndarray of shape (n_samples,)
        Only with ``return_posterior=True``.

    References
    ----------
    Cortes, DeSalvo and Mohri (2016), Boosting with Abstention, Figure 1.

    Examples
    --------
    >>> from recuse.datasets import make_noisy_region
    >>> X, y, p = make_noisy_region(4, threshold=0.7, noisy_below=0.5, return_posterior=True, random_state=0)
    >>> X.ravel().round(2), p
    (array([0.55, 0.72, 0.6 , 0.54]), array([1., 0., 1., 1.]))
    """
    _require_count("n_samples", n_samples, 1)
    _require_inside("threshold", threshold, 0, 1)
    _require_number("noisy_below", noisy_below)
    if not 0 < noisy_below < threshold:
        raise ValueError(f"noisy_below must be between 0 and threshold={threshold!r}; got {noisy_below!r}.")
    rng = check_random_state(random_state)
    x = rng.uniform(size=n_samples)
    posterior = np.where(x <= noisy_below, 0.5, (x < threshold).astype(np.float64))
    return _with_labels(x[:, None], posterior, return_posterior, rng)


def make_noise_by_feature(
    n_samples: int,
    *,
    n_features: int = 2,
    noisy_share: float = 0.35,
    noisy_error: float = 0.5,
    clean_error: float = 0.05,
    return_posterior: bool = False,
    random_state: Any = None,
) -> tuple[NDArray[Any], ...]:
    """Label by the first variable, noise by the second.

    All variables are uniform on [0, 1]. The class is 1 where ``x1 > 1/2``, and is flipped with probability
    `noisy_error` where ``x2 <= noisy_share`` and `clean_error` elsewhere. A score that is a sum over the variables
    cannot express this: in the noisy part x1 must count for less than in the clean one. A pair (h, r) of such sums
    can. With the defaults the least possible mean cost, averaged over the reject prices 0.1, 0.2, 0.3 and 0.4, is
    0.12: the noisy share costs the reject price, the rest 0.05.

    Parameters
    ----------
    n_samples : int
        Number of cases.
    n_features : int, default=2
        Two or more; those after the second say nothing.
    noisy_share : float, default=0.35
        Share of noisy cases, between 0 and 1.
    noisy_error, clean_error : float, default=0.5 and 0.05
        Probability of a flipped label in the noisy part and elsewhere, from 0 to 0.5.
    return_posterior : bool, default=False
        Return also P(y = 1 | x) of every case.
    random_state : int, RandomState instance or None, default=None
        Seed.

    Returns
    -------
    X : ndarray of shape (n_samples, n_features)
    y : ndarray of shape (n_samples,)
        0 and 1.
    posterior : ndarray of shape (n_samples,)
        Only with ``return_posterior=True``.

    Examples
    --------
    >>> import numpy as np
    >>> from recuse.datasets import make_noise_by_feature
    >>> X, y, p = make_noise_by_feature(10000, return_posterior=True, random_state=0)
    >>> least = np.mean([np.minimum(np.minimum(p, 1 - p), c).mean() for c in (0.1, 0.2, 0.3, 0.4)])
    >>> round(float(least), 2)
    0.12
    """
    _require_count("n_samples", n_samples, 1)
    _require_count("n_features", n_features, 2)
    _require_inside("noisy_share", noisy_share, 0, 1)
    for name, error in {"noisy_error": noisy_error, "clean_error": clean_error}.items():
        _require_number(name, error)
        if not 0 <= error <= 0.5:
            raise ValueError(f"{name} must be from 0 to 0.5, beyond which the classes change sides; got {error!r}.")
    rng = check_random_state(random_state)
    X = rng.uniform(size=(n_samples, n_features))
    flipped = np.where(X[:, 1] <= noisy_share, noisy_error, clean_error)
    posterior = np.where(X[:, 0] > 0.5, 1 - flipped, flipped)
    return _with_labels(X, posterior, return_posterior, rng)


def _with_labels(
    X: NDArray[np.float64], posterior: NDArray[np.float64], return_posterior: bool, rng: np.random.RandomState
) -> tuple[NDArray[Any], ...]:
    """Draw a label for each case from its posterior."""
    y = (rng.uniform(size=len(X)) < posterior).astype(np.int64)
    return (X, y, posterior) if return_posterior else (X, y)


def _require_count(name: str, value: Any, least: int) -> None:
    if isinstance(value, bool) or not isinstance(value, numbers.Integral):
        raise TypeError(f"{name} must be an integer; got {value!r}.")
    if value < least:
        raise ValueError(f"{name} must be {least} or more; got {value}.")


def _require_number(name: str, value: Any) -> None:
    if isinstance(value, bool) or not isinstance(value, numbers.Real) or not np.isfinite(float(value)):
        raise ValueError(f"{name} must be a finite number; got {value!r}.")


def _require_inside(name: str, value: Any, low: float, high: float) -> None:
    _require_number(name, value)
    if not low < value < high:
        raise ValueError(f"{name} must be between {low} and {high}, both excluded; got {value!r}.")
