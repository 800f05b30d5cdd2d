"""Watching a model file, and writing the page of what was found."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from ..locating import locate
from ..persistence import load, saved_digest, write_whole
from ..report import render_watch
from .following import watch
from .result import WatchResult


def watch_model(
    model: str | os.PathLike[str],
    log: str | os.PathLike[str],
    *,
    promises: Any = None,
    columns: Sequence[str] | None = None,
    alpha: float = 0.05,
    reference: int = 500,
) -> WatchResult:
    """Watch the model in a file by the log of its reviews.

    Parameters
    ----------
    model : path-like
        The file whose answers were reviewed; the log names it by its digest.
    log, columns, alpha, reference
        As of `watch`.
    promises : str, float, Promise or list of these, optional
        By default what the model was fitted to keep, where it was.

    Returns
    -------
    WatchResult

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import recuse
    >>> from recuse.datasets import make_loans
    >>> from recuse.persistence import saved_digest
    >>> from recuse.reviews import ReviewLog
    >>> from recuse.watching import World, watch_model
    >>> loans = make_loans(300, random_state=0)[["late_payments", "instalment_share", "outcome"]]
    >>> model = recuse.fit(loans, "outcome", recuse.Costs(800, 4000, 200), method="logistic-chow", positive="default")
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path, log = pathlib.Path(folder) / "loans.skops", ReviewLog(pathlib.Path(folder) / "reviews.jsonl")
    ...     recuse.save(model, path)
    ...     own = {"model": {"file": "loans.skops", "digest": saved_digest(path)}}  # a made-up world, for this model
    ...     records = World(cases=300).records(6, random_state=0)
    ...     _ = log.append(record | own if record["kind"] == "draw" else record for record in records)
    ...     result = watch_model(path, log.path, promises="error<=0.1")
    >>> result.alarms
    []
    """
    if not Path(log).is_file():
        raise FileNotFoundError(f"The log {os.fspath(log)} does not exist: `recuse review out` begins one.")
    reasons: list[str] = []
    if promises is None:
        promises, reasons = _promised(model)
    digest = saved_digest(model)
    result = watch(log, model=digest, promises=promises, columns=columns, alpha=alpha, reference=reference)
    return replace(result, not_watched=[*reasons, *result.not_watched])


def _promised(model: str | os.PathLike[str]) -> tuple[Any, list[str]]:
    """What a model was fitted to keep for all cases, None if nothing; and what else it promised."""
    guarantee = getattr(locate(load(model))[0], "guarantee_", None)
    if guarantee is None:
        return None, []
    if not guarantee.holds:
        return None, ["a promise: the model was to be given one, and nothing could be shown"]
    if guarantee.shifted:
        return None, ["the promise of the model: it is for a population that weights describe"]
    groups = [f"{shown.promise}{shown.where}: promises are watched for all cases together" for shown in guarantee.shown]
    kept = [shown.promise for shown in guarantee.shown if shown.group is None]
    return kept or None, [text for text, shown in zip(groups, guarantee.shown, strict=True) if shown.group is not None]


def write_page(result: WatchResult, path: str | os.PathLike[str]) -> None:
    """Write the page of a result: one HTML file without scripts. A file of that name is replaced.

    Parameters
    ----------
    result : WatchResult
        Of `watch`.
    path : path-like
        The page.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from recuse.reviews import ReviewLog
    >>> from recuse.watching import World, watch, write_page
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     log = ReviewLog(pathlib.Path(folder) / "reviews.jsonl")
    ...     _ = log.append(World(cases=300).records(6, random_state=0))
    ...     write_page(watch(log), log.path.with_suffix(".html"))
    ...     "No alarm" in log.path.with_suffix(".html").read_text(encoding="utf-8")
    True
    """
    write_whole(Path(path), render_watch(result.as_dict()).encode())
