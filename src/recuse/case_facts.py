"""What a reviewer asks about a case: which columns make it what it is, and which training cases are like it."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils import _safe_indexing  # documented in scikit-learn's reference, despite the underscore

from .arrays import Indices
from .explaining import PROBABILITY, Contributions, RememberedCases, ShownColumns
from .extras import require
from .labels import encode, preview, to_python
from .locating import locate, read_once, shown_columns, trace
from .parameters import check_count
from .remembering import KEPT, as_remembered_table, remembered_cases
from .validation import check_labels

BASE, SCORE, ERROR = "(base)", "(score)", "(error)"
_CELLS = 4_000_000  # cases times columns worked on at once


def contributions(estimator: Any, X: Any) -> Any:
    """What each column of a table adds to the score of each case, towards the positive class.

    Exact for sums over columns (linear models, linear machines, boosted stumps), and Shapley values for trees: those
    that LightGBM, XGBoost and CatBoost give themselves, and the same of scikit-learn's, estimated from some of its
    trees where these are very large. Of any other model an estimate, with about 100 scores per case.

    Parameters
    ----------
    estimator : fitted reject-option classifier, or a Pipeline or search that ends in one
        For two classes.
    X : array-like or DataFrame of shape (n_samples, n_features)
        The cases.

    Returns
    -------
    DataFrame
        One row per case. A column for each column of `X` that the model reads: what was made from it, such as one
        column per category, is summed up. Then "(base)", the score of a typical case, and "(score)", the sum of all
        before; "(error)" is the largest standard error of the columns, 0 where they are exact. What the score is stands
        in ``attrs["scale"]``: the log-odds or the probability of the positive class, before it is calibrated, or a
        score towards it.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.linear_model import LogisticRegression
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> import recuse
    >>> X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    >>> X = X[["mean radius", "mean texture"]]
    >>> model = make_pipeline(StandardScaler(), recuse.ThresholdRejectClassifier(LogisticRegression())).fit(X, y)
    >>> table = recuse.contributions(model, X[:2])
    >>> table.columns.tolist()
    ['mean radius', 'mean texture', '(base)', '(score)', '(error)']
    >>> table.attrs["scale"]
    'log-odds of 1'
    >>> bool((abs(table.iloc[:, :3].sum(axis=1) - table["(score)"]) < 1e-9).all())
    True
    """
    pd = require("pandas", "contributions")
    _, rest, table_read = read_once(estimator, X)
    classifier, transformed, names = trace(rest, table_read)
    if len(classifier.classes_) != 2:
        raise ValueError(f"contributions are told for two classes; the model has {preview(classifier.classes_)}.")
    columns = shown_columns(rest, table_read, transformed, names)
    found = _in_batches(classifier, transformed, columns)
    if to_python(classifier.pos_label_) == to_python(classifier.classes_[0]):
        found = _towards_first(found)
    read = _columns_read(estimator, columns)
    table = pd.DataFrame(
        {columns.names[j]: found.amounts[:, j] for j in read}
        | {BASE: found.base, SCORE: found.score, ERROR: 0.0 if found.error is None else found.error.max(axis=1)},
        index=getattr(X, "index", None),
    )
    link = "towards" if found.scale == "score" else "of"
    table.attrs["scale"] = f"{found.scale} {link} {to_python(classifier.pos_label_)!r}"
    return table


def _in_batches(classifier: Any, X: Any, columns: ShownColumns) -> Contributions:
    """Contributions of the columns of the table; a sentence where there are none."""
    X = X if hasattr(X, "shape") else np.asarray(X)
    step = max(1, _CELLS // max(1, int(X.shape[1])))
    parts = []
    for start in range(0, max(1, int(X.shape[0])), step):
        rows = np.arange(start, min(start + step, int(X.shape[0])))
        found = classifier._contributions(_safe_indexing(X, rows)) if hasattr(classifier, "_contributions") else None
        if found is None:
            raise ValueError(
                f"{type(classifier).__name__} cannot tell what columns add: the cases are sparse or a matrix of a "
                "kernel, or the model was saved by a version that kept no typical cases. Fit again, on a dense table."
            )
        parts.append(columns.columns_of(found))
    return Contributions.concatenate(parts)


def _towards_first(found: Contributions) -> Contributions:
    """The same towards the first class."""
    base = 1 - found.base if found.scale == PROBABILITY else -found.base
    return Contributions(-found.amounts, base, found.scale, found.error)


def _columns_read(estimator: Any, columns: ShownColumns) -> list[int]:
    """Columns of the table that the model was fitted with; a table may have others."""
    known = getattr(estimator, "feature_names_in_", None)
    if columns.sources is None or known is None:
        return list(range(len(columns.names)))
    wanted = {str(name) for name in known}
    return [j for j, name in enumerate(columns.names) if name in wanted]


def remember_cases(estimator: Any, X: Any, y: Any, *, ids: Any = None, most: int = 20_000, seed: int = 0) -> Any:
    """Keep training cases in a fitted model, so that `decide(..., neighbours=k)` can name those that are alike.

    They are kept in the model and in the file it is saved to: whoever has the file has these cases. Without this call a
    model names none; one that is explained by comparison keeps a few dozen of them all the same, without names.

    Parameters
    ----------
    estimator : fitted reject-option classifier, or a Pipeline or search that ends in one
        It is changed in place.
    X : array-like or DataFrame of shape (n_samples, n_features)
        Training cases, as `decide` would be given them.
    y : array-like of shape (n_samples,)
        Their classes.
    ids : array-like of shape (n_samples,), optional
        What identifies each case, such as the number of a customer; by default the row names of a pandas frame, else
        row numbers from 0.
    most : int, default=20_000
        Of more cases so many are drawn at random.
    seed : int, default=0
        Of that draw.

    Returns
    -------
    estimator
        The same.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.linear_model import LogisticRegression
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> import recuse
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = make_pipeline(StandardScaler(), recuse.ThresholdRejectClassifier(LogisticRegression())).fit(X, y)
    >>> model = recuse.remember_cases(model, X, y)
    >>> decisions = recuse.decide(model, X, neighbours=2)
    >>> "; nearest 0: case " in decisions[decisions.rejected].reason[0]
    True
    """
    check_count("most", most, least=1)
    classifier, _ = locate(estimator)
    labels = check_labels(y)
    outcome = encode(labels, classifier.classes_)
    if (outcome < 0).any():
        stray = to_python(labels[np.flatnonzero(outcome < 0)[0]])
        raise ValueError(f"y holds {stray!r}, which is no class of the model: it knows {preview(classifier.classes_)}.")
    identity = np.asarray(_identities(X, ids, len(outcome)))
    rows = _draw(len(outcome), most, seed)
    table = as_remembered_table(estimator, X)
    setattr(classifier, KEPT, RememberedCases.of(_safe_indexing(table, rows), outcome[rows], identity[rows]))
    return estimator


def _identities(X: Any, ids: Any, n: int) -> Any:
    if ids is None:
        ids = getattr(X, "index", None)
    if ids is None or callable(ids):
        return np.arange(n)
    if len(ids) != n:
        raise ValueError(f"ids must have one entry for each of the {n} cases; got {len(ids)}.")
    return ids


def _draw(n: int, most: int, seed: int) -> Indices:
    return np.arange(n) if n <= most else np.sort(np.random.default_rng(seed).choice(n, most, replace=False))


def nearest_cases(estimator: Any, X: Any, k: int = 3) -> Any:
    """The training cases nearest to each case, of either class.

    Numbers and dates are compared in standard deviations, and a category, or a value that one of the two lacks, counts
    as 1 where it differs; the distance is the root of the mean of the squares over the columns.

    Parameters
    ----------
    estimator : fitted estimator
        One that keeps training cases: see `remember_cases`.
    X : array-like or DataFrame of shape (n_samples, n_features)
        The cases.
    k : int, default=3
        How many of each class.

    Returns
    -------
    DataFrame
        One row per case of `X` and training case near it: "row" (position in `X`), "class", "case" (what identifies the
        training case), "distance"; the nearest first.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.linear_model import LogisticRegression
    >>> import recuse
    >>> X, y = np.arange(10.0)[:, None], np.repeat([0, 1], 5)
    >>> model = recuse.ThresholdRejectClassifier(LogisticRegression(), costs=0.3).fit(X, y)
    >>> recuse.nearest_cases(recuse.remember_cases(model, X, y), [[4.4]], k=1)
       row  class  case  distance
    0    0      0     4  0.139262
    1    0      1     5  0.208893
    """
    pd = require("pandas", "nearest_cases")
    check_count("k", k, least=1)
    classifier, _ = locate(estimator)
    found = remembered_cases(classifier).nearest(as_remembered_table(estimator, X), k)
    frames = []
    for label, nearest in zip(classifier.classes_.tolist(), found, strict=True):
        n = len(nearest.cases)
        frames.append(
            pd.DataFrame(
                {
                    "row": np.repeat(np.arange(n), k),
                    "class": [label] * (n * k),
                    "case": nearest.cases.ravel(),
                    "distance": nearest.distances.ravel(),
                }
            )
        )
    table = pd.concat(frames, ignore_index=True).query("distance < inf")
    return table.sort_values(["row", "class", "distance"], kind="stable", ignore_index=True)
