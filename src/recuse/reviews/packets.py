"""Cases out to reviewers: drawn, written into packets, and told to the log before anybody sees them."""

from __future__ import annotations

import os
import re
import secrets
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

from ..arrays import Flags
from ..inspecting import inspect_model
from ..labels import preview
from ..parameters import check_choice, check_count
from ..persistence import open_whole
from . import csv_packets, label_studio
from .answers import AnswerTable, require_made_by
from .drawing import Sampling, draw
from .log import ReviewLog
from .records import AUDIT, DRAW, TASK, tasks_given
from .tasks import GivenTask, visible_answer, why_suggested

FORMATS: dict[str, ModuleType] = {"csv": csv_packets, "label-studio": label_studio}


@dataclass(frozen=True)
class PacketsWritten:
    """What was given to reviewers.

    Attributes
    ----------
    draw : str
        Name of the draw in the log.
    files : tuple of Path
        The packets.
    rejected, audited : int
        How many cases of either kind they hold.
    left_out : int
        Rejected cases that were not drawn, because there are more than the capacity.
    given_before : int
        Cases of these answers that earlier draws gave out; they are not among these, unless that was asked for.
    seed : int
        Of the draw: with it, the answers and the log before it, the same cases are drawn again.
    head : str
        Head of the log after it, to be kept elsewhere.
    """

    draw: str
    files: tuple[Path, ...]
    rejected: int
    audited: int
    left_out: int
    given_before: int
    seed: int
    head: str

    def __str__(self) -> str:
        files = f"{len(self.files)} packet{'s' if len(self.files) > 1 else ''}"
        text = f"{files}: {self.rejected} rejected cases and {self.audited} accepted ones"
        if self.left_out:
            text += f"; {self.left_out} rejected cases are beyond the capacity"
        if self.given_before:
            text += f"; {self.given_before} cases of these answers were given out before"
        return f"{text}; head of the log {self.head}"


def write_packets(
    model: str | os.PathLike[str],
    answers: str | os.PathLike[str],
    out: str | os.PathLike[str],
    *,
    log: str | os.PathLike[str] | ReviewLog,
    audit: float = 0.02,
    capacity: int | None = None,
    at_random: float = 0.25,
    packets: int = 1,
    reviewers: Sequence[str] | None = None,
    blind: bool = False,
    show: Sequence[str] | None = None,
    format: str = "csv",
    separator: str | None = None,
    again: bool = False,
    seed: int | None = None,
) -> PacketsWritten:
    """Draw answered cases for review and write them into packets.

    The rejected cases and a random share of the accepted ones are mixed, in random order and under identities that tell
    nothing. What the model answered and how each case was drawn goes into the log, and not into the packet.

    Parameters
    ----------
    model : path-like
        The model that gave the answers, as it was saved.
    answers : path-like
        What `recuse.predicting.predict_table` wrote, with the columns that reviewers need kept beside the answers.
    out : path-like
        Folder for the packets; it is created where it does not exist.
    log : path-like or ReviewLog
        The log.
    audit : float, default=0.02
        Share of the accepted cases that is reviewed: each is drawn with this probability.
    capacity : int, optional
        How many rejected cases can be reviewed, audited ones not counted; by default all of them.
    at_random : float, default=0.25
        Where the capacity is less than the rejected cases: this share of it is drawn at random, the rest goes to those
        whose review saves most.
    packets : int, default=1
        How many packets of about equal size.
    reviewers : sequence of str, optional
        One packet for each, named after them.
    blind : bool, default=False
        Show nothing of the model's answer. Otherwise the class that it suggests, its probability and the reason.
    show : sequence of str, optional
        Which of the kept columns to show; by default all.
    format : {"csv", "label-studio"}, default="csv"
        CSV files with empty columns `verdict` and `note`, or tasks for Label Studio with the page for labelling them.
    separator : str, optional
        Between the columns of CSV files, or "tab". By default a semicolon where the columns shown hold decimal commas,
        since spreadsheets expect it in countries that write them; else a comma.
    again : bool, default=False
        Whether cases of these answers that earlier draws of the log gave out may be drawn again. A later draw is among
        the others otherwise.
    seed : int, optional
        By default a random one, which nobody can know beforehand; it is in the log.

    Returns
    -------
    PacketsWritten

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import recuse
    >>> from recuse.datasets import make_loans
    >>> from recuse.predicting import predict_table
    >>> from recuse.reviews import write_packets
    >>> loans = make_loans(600, random_state=0)[["late_payments", "instalment_share", "outcome"]]
    >>> prices = recuse.Costs(fp=800, fn=4000, reject=200)
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> model = recuse.fit(loans[:300], "outcome", prices, method="logistic-chow", positive="default")
    >>> recuse.save(model, folder / "loans.skops")
    >>> loans[300:].to_csv(folder / "new.csv", index=False)
    >>> keep = ["late_payments", "instalment_share"]
    >>> answered = predict_table(folder / "loans.skops", folder / "new.csv", folder / "answers.csv", keep=keep)
    >>> written = write_packets(
    ...     folder / "loans.skops", folder / "answers.csv", folder, log=folder / "reviews.jsonl", blind=True, seed=1
    ... )
    >>> [file.name for file in written.files], written.rejected == answered.rejected
    (['draw-1-packet-1.csv'], True)
    """
    check_choice("format", format, FORMATS)
    check_count("packets", packets)
    facts = inspect_model(model)
    table = AnswerTable(answers, facts["classes"], facts["positive"])
    require_made_by(table.model_digest, facts["digest"], answers, model)
    request = _Request(
        facts=facts,
        table=table,
        show=_columns_shown(table, show),
        sampling=Sampling(audit, capacity, at_random),
        names=_packet_names(packets, reviewers),
        blind=blind,
        format=format,
        separator=_separator(separator, format),
        again=again,
        seed=secrets.randbits(53) if seed is None else seed,  # as many bits as every reader of JSON keeps
    )
    log = log if isinstance(log, ReviewLog) else ReviewLog(log)
    with log.locked():
        number = 1 + len(log.records(DRAW))
        known = _given_before(request.table, log)
        tasks = _tasks(request, number, known)
        contents = _contents(request, tasks)
        files = contents | _page(request, number)
        _write(Path(out), files, log, [*tasks, _drawing(request, number, tasks, contents)])
    return _written(request, Path(out), tasks, log, known)


@dataclass(frozen=True)
class _Request:
    """What was asked for."""

    facts: Mapping[str, Any]
    table: AnswerTable
    show: list[str]
    sampling: Sampling
    names: Mapping[str, str | None]  # of packets, and whom they are for
    blind: bool
    format: str
    separator: str | None
    again: bool
    seed: int

    def file(self, number: int, name: str) -> str:
        """The name of a packet."""
        return f"draw-{number}-{name}{FORMATS[self.format].SUFFIX}"


def _columns_shown(table: AnswerTable, show: Sequence[str] | None) -> list[str]:
    if not table.kept:
        raise ValueError(
            f"The answers {table.path} hold no column of the table, so that reviewers would see nothing: answer it "
            "again with --keep all, or the columns they need (in Python keep=)."
        )
    unknown = [name for name in show or () if name not in table.kept]
    if unknown:
        raise ValueError(f"show={unknown[0]!r} is no column kept in the answers {table.path}: {preview(table.kept)}.")
    return list(table.kept if show is None else show)


def _packet_names(packets: int, reviewers: Sequence[str] | None) -> dict[str, str | None]:
    """What packets are called, by number or after their reviewers, and whom each is for."""
    if reviewers is None:
        return {f"packet-{k}": None for k in range(1, packets + 1)}
    names = {re.sub(r"[^\w@.]+", "-", name).strip("-."): name for name in reviewers}
    if "" in names or len(names) < len(reviewers):
        raise ValueError(f"reviewers={list(reviewers)!r} must be different names: each gets one packet of that name.")
    return {**names}


def _separator(given: str | None, format: str) -> str | None:
    """The character between columns; None where the packets say it themselves."""
    if given is None:
        return None
    character = "\t" if given == "tab" else given
    if format != "csv" or len(character) != 1 or character.isalnum() or character in '"\r\n.':
        raise ValueError(f"separator={given!r} must be one character such as ';', or 'tab', and is for CSV packets.")
    return character


def _given_before(table: AnswerTable, log: ReviewLog) -> Flags:
    """Which cases of these answers earlier draws gave out."""
    digest, given = table.digest(), tasks_given(log.records()).values()
    known = [task["case"] for task in given if task["drawing"]["answers"].get("digest") == digest]
    return np.isin(table.numbers, known)


def _tasks(request: _Request, number: int, known: Flags) -> list[dict[str, Any]]:
    """Draw, and say of each task which case it is, how it was drawn and where it goes."""
    rng = np.random.default_rng([request.seed, number])  # the same seed on another day draws other cases
    drawn = draw(request.table.rejected, request.table.r, request.sampling, rng, None if request.again else ~known)
    if len(drawn.rows) == 0 and known.any():
        raise ValueError(
            f"The answers {request.table.path} give nothing more to review: {known.sum()} of their cases were given "
            "out before, and no other was drawn. Give new answers, or those cases once more (--again)."
        )
    if len(drawn.rows) == 0:
        raise ValueError(
            f"The answers {request.table.path} give nothing to review: no case was rejected, and none was drawn."
        )
    cases = request.table.cases(drawn.rows, request.show, request.facts["classes"])
    files = [request.file(number, name) for name in request.names]
    packet_of = np.arange(len(drawn.rows)) * len(files) // len(drawn.rows)
    return [
        {
            "kind": TASK,
            "draw": str(number),
            "task": rng.bytes(8).hex(),
            "case": case.case,
            "packet": files[packet],
            "stratum": stratum,
            "sampling_probability": float(probability),
            "answer": case.answer,
            "shown": case.shown,
        }
        for case, packet, stratum, probability in zip(cases, packet_of, drawn.strata, drawn.probabilities, strict=True)
    ]


def _contents(request: _Request, tasks: Sequence[Mapping[str, Any]]) -> dict[str, bytes]:
    """The files by their names; a packet without tasks is not written."""
    contents, facts = {}, request.facts
    why = {"because": why_suggested([task["answer"] for task in tasks], facts["positive"], facts["prices"])}
    separator = request.separator or csv_packets.usual_separator([task["shown"] for task in tasks])
    for name in dict.fromkeys(task["packet"] for task in tasks):
        given = [
            GivenTask(task["task"], task["shown"], None if request.blind else visible_answer(task["answer"] | why))
            for task in tasks
            if task["packet"] == name
        ]
        contents[name] = csv_packets.packet(given, separator) if request.format == "csv" else label_studio.packet(given)
    return contents


def _page(request: _Request, number: int) -> dict[str, bytes]:
    """What a labelling tool needs beside the packets."""
    if request.format != "label-studio":
        return {}
    return {f"draw-{number}-labelling.xml": label_studio.labelling_page(request.facts["classes"], request.blind)}


def _drawing(
    request: _Request, number: int, tasks: Sequence[Mapping[str, Any]], contents: Mapping[str, bytes]
) -> dict[str, Any]:
    """What closes the tasks of a draw."""
    facts, sampling = request.facts, request.sampling
    sizes = Counter(task["packet"] for task in tasks)
    readers = {request.file(number, name): reader for name, reader in request.names.items()}
    return {
        "kind": DRAW,
        "draw": str(number),
        "tasks": len(tasks),
        "model": {"file": facts["file"], "digest": facts["digest"]},
        "classes": facts["classes"],
        "positive": facts["positive"],
        "prices": facts["prices"],
        "answers": {
            "file": request.table.path.name,
            "digest": request.table.digest(),
            "model": request.table.model_digest or None,
        },
        "counts": request.table.counts,
        "expected_error": request.table.expected_error,
        "audit": sampling.audit,
        "capacity": sampling.capacity,
        "at_random": sampling.at_random,
        "seed": request.seed,
        "blind": request.blind,
        "format": request.format,
        "packets": [
            {"file": name, "for": readers[name], "digest": sha256(content).hexdigest(), "tasks": sizes[name]}
            for name, content in contents.items()
        ],
    }


def _write(out: Path, contents: Mapping[str, bytes], log: ReviewLog, entries: Sequence[Mapping[str, Any]]) -> None:
    """Put packets in their place after the log knows of them: what it does not know of, nobody was given."""
    out.mkdir(exist_ok=True)
    present = [name for name in contents if (out / name).exists()]
    if present:
        raise FileExistsError(
            f"{out / present[0]} is there already, of another log: give another folder, or move that file away."
        )
    with ExitStack() as files:
        for name, content in contents.items():
            files.enter_context(open_whole(out / name)).write(content)
        log.append_locked(entries)


def _written(
    request: _Request, out: Path, tasks: Sequence[Mapping[str, Any]], log: ReviewLog, known: Flags
) -> PacketsWritten:
    audited = sum(task["stratum"] == AUDIT for task in tasks)
    rejected = len(tasks) - audited
    files = tuple(out / name for name in dict.fromkeys(task["packet"] for task in tasks))
    waiting = request.table.rejected if request.again else request.table.rejected & ~known
    left_out, before = int(waiting.sum()) - rejected, int(known.sum())
    return PacketsWritten(tasks[0]["draw"], files, rejected, audited, left_out, before, request.seed, log.head)
