"""What a model file holds, in plain numbers and texts; it imports what the model itself needs, and no more."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.pipeline import Pipeline

from .labels import to_python
from .locating import locate
from .persistence import load, saved_digest, saved_versions, write_whole
from .tables import TableColumns


def inspect_model(path: str | os.PathLike[str], *, digest: str | None = None) -> dict[str, Any]:
    """Say what a model file holds: method, prices, thresholds, edits, columns, versions and its digest.

    The thresholds are those that the reasons of its answers speak of, and `score` is what is compared with them.

    Parameters
    ----------
    path : path-like
        A file that `recuse.save` wrote.
    digest : str, optional
        Refuse the file unless it has this digest, as in `recuse.load`.

    Returns
    -------
    dict
        Plain numbers and texts.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import recuse
    >>> from recuse.datasets import make_loans
    >>> from recuse.predicting import inspect_model
    >>> loans = make_loans(500, random_state=0)[["late_payments", "instalment_share", "outcome"]]
    >>> prices = recuse.Costs(fp=800, fn=4000, reject=200)
    >>> model = recuse.fit(loans, "outcome", prices, method="logistic-chow", positive="default")
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder) / "loans.skops"
    ...     recuse.save(model, path)
    ...     facts = inspect_model(path)
    >>> facts["positive"], facts["columns"]
    ('default', {'late_payments': 'number', 'instalment_share': 'number'})
    """
    return _facts(load(path, digest=digest), path)


def report_model(
    path: str | os.PathLike[str], out: str | os.PathLike[str], *, digest: str | None = None
) -> dict[str, Any]:
    """Write a page of a model file: what it holds, and every edit with its cost and the function before and after.

    Parameters
    ----------
    path : path-like
        A file that `recuse.save` wrote.
    out : path-like
        The page, one HTML file without scripts. A file of that name is replaced.
    digest : str, optional
        Refuse the file unless it has this digest, as in `recuse.load`.

    Returns
    -------
    dict
        What `inspect_model` says of the file.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import recuse
    >>> from recuse.datasets import make_loans
    >>> from recuse.predicting import report_model
    >>> loans = make_loans(500, random_state=0)[["late_payments", "instalment_share", "outcome"]]
    >>> prices = recuse.Costs(fp=800, fn=4000, reject=200)
    >>> model = recuse.fit(loans, "outcome", prices, method="logistic-chow", positive="default")
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder) / "loans.skops"
    ...     recuse.save(model, path)
    ...     facts = report_model(path, path.with_suffix(".html"))
    ...     "default" in path.with_suffix(".html").read_text(encoding="utf-8")
    True
    """
    model = load(path, digest=digest)
    from .report import render_model

    facts = _facts(model, path)
    write_whole(Path(out), render_model(facts, locate(model)[0]).encode())
    return facts


def _without_noise(edge: float) -> float | None:
    """A threshold without the last digits, which arithmetic made: 0.06 and not 0.05999999999999994."""
    return float(f"{edge:.12g}") if np.isfinite(edge) else None


def _prices(classifier: Any) -> dict[str, Any]:
    """The positive class and the prices; of three classes or more no class is, and prices are by class and answer."""
    costs, n_classes = classifier.costs_, len(classifier.classes_)
    if n_classes == 2:
        return {
            "positive": to_python(classifier.pos_label_),
            "prices": {
                "fp": costs.fp,
                "fn": costs.fn,
                "reject_negative": costs.reject_negative,
                "reject_positive": costs.reject_positive,
            },
        }
    matrix, names = costs.matrix(n_classes)[:-1], [str(to_python(label)) for label in classifier.classes_]
    return {
        "positive": None,
        "prices": {
            truth: dict(zip([*names, "reject"], row.tolist(), strict=True))
            for truth, row in zip(names, matrix[:, :-1], strict=True)
        },
    }


def _facts(model: Any, path: str | os.PathLike[str]) -> dict[str, Any]:
    """What is known of a model and of its file."""
    outer, _ = locate(model)
    guarantee = getattr(outer, "guarantee_", None)
    classifier = getattr(outer, "classifier_", outer)  # the one behind a promise
    first = model.steps[0][1] if isinstance(model, Pipeline) else None
    columns = dict(zip(first.columns_, first.kinds_, strict=True)) if isinstance(first, TableColumns) else {}
    inner = getattr(classifier, "estimator_", None)
    inner = inner.steps[-1][1] if isinstance(inner, Pipeline) else inner
    facts: dict[str, Any] = {
        "file": Path(path).name,
        "method": type(classifier).__name__,
        "classes": [to_python(label) for label in classifier.classes_],
        **_prices(classifier),
    }
    if inner is not None:
        facts["classifier"] = type(inner).__name__
    if getattr(classifier, "rule", None) is not None:
        facts["rule"] = str(classifier.rule)
    stated = classifier._stated_thresholds() if hasattr(classifier, "_stated_thresholds") else None
    if stated is not None:
        facts["score"] = stated.score
        # JSON has no infinity: a side that is never answered has no threshold.
        facts["thresholds"] = [_without_noise(edge) for edge in (stated.lower, stated.upper)]
    if guarantee is not None:
        facts["promise"] = str(guarantee)
        facts["confidence"] = guarantee.confidence
    if outer is not classifier:  # accepted cases are those above it, however the thresholds of the model stand
        facts["least_acceptance_score"] = float(outer.threshold_) if np.isfinite(outer.threshold_) else None
    if hasattr(classifier, "shares_"):
        facts["members"] = {title: round(share, 4) for title, share in classifier.shares_.items()}
        facts["held_out"] = {"cost": classifier.held_out_costs_["blend"], "coverage": classifier.held_out_coverage_}
    if getattr(classifier, "edits_", None):
        from .report import edit_facts

        facts["edits"] = [edit_facts(edit) for edit in classifier.edits_]
    return facts | {"columns": columns, "versions": saved_versions(path), "digest": saved_digest(path)}
