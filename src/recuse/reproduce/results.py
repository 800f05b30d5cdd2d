"""Results on disk: written whole after every part, and reused by a later run with the same settings."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Generic, Protocol, TypeVar

from ..persistence import write_whole


class Part(Protocol):
    """A part of an experiment, such as one data set at one price list: a frozen dataclass of its settings."""

    @property
    def label(self) -> str:
        """Name of the part, in the results and on the page."""


class Outcome(Protocol):
    """What one method did in one part: a frozen dataclass."""

    @property
    def part(self) -> str:
        """Label of the part."""


PartT = TypeVar("PartT", bound=Part)
OutcomeT = TypeVar("OutcomeT", bound=Outcome)


@dataclass
class Results(Generic[PartT, OutcomeT]):
    """How far a run has come.

    Attributes
    ----------
    experiment : str
        Name on the command line.
    planned : sequence of Part
        All parts of the experiment.
    quick : bool
        Whether this is a quick run, which has files of its own.
    outcomes : list of Outcome
        What was found so far.
    skipped : list of str
        What there was no time for.
    missing : list of str
        What there were no data for.
    """

    experiment: str
    planned: Sequence[PartT]
    quick: bool
    outcomes: list[OutcomeT] = field(default_factory=list)
    skipped: list[str] = field(default_factory=list)
    missing: list[str] = field(default_factory=list)

    @property
    def stem(self) -> str:
        """How the names of the files begin."""
        return file_stem(self.experiment, self.quick)

    def finished(self) -> list[PartT]:
        """The parts that have outcomes, as planned."""
        labels = {outcome.part for outcome in self.outcomes}
        return [part for part in self.planned if part.label in labels]

    def data(self) -> dict[str, Any]:
        """Everything that is kept, ready for JSON."""
        return {
            "experiment": self.experiment,
            "quick": self.quick,
            "skipped": self.skipped,
            **({"missing": self.missing} if self.missing else {}),
            "settings": {part.label: settings(part) for part in self.finished()},
            "outcomes": [asdict(outcome) for outcome in self.outcomes],  # type: ignore[call-overload]
        }


def resume(
    experiment: str, planned: Sequence[PartT], outcome: Callable[..., OutcomeT], quick: bool, out: Path | None
) -> Results[PartT, OutcomeT]:
    """Results with the outcomes that the folder `out` holds already; quick runs always begin anew."""
    results: Results[PartT, OutcomeT] = Results(experiment, planned, quick)
    if out is not None and not quick:
        earlier = read_outcomes(out / f"{results.stem}.json", {part.label: part for part in planned})
        results.outcomes += [outcome(**values) for values in earlier]
    return results


def file_stem(experiment: str, quick: bool) -> str:
    """How the names of an experiment's files begin."""
    return f"reproduce_{experiment.replace('-', '_')}" + "_quick" * quick


def settings(part: Any) -> dict[str, Any]:
    """All that the outcomes of a part depend on, as it is read back from a file."""
    fields: dict[str, Any] = json.loads(json.dumps(asdict(part)))
    return fields


def write_results(out: Path, stem: str, data: dict[str, Any], page: Iterable[str], indent: int | None = 1) -> None:
    """Write the results and the page that shows them, each file whole or not at all."""
    out.mkdir(parents=True, exist_ok=True)
    write_whole(out / f"{stem}.json", (json.dumps(data, indent=indent) + "\n").encode())
    write_whole(out / f"{stem}.md", "\n".join(page).encode())


def read_results(file: Path) -> dict[str, Any]:
    """The results of an earlier run; empty where there is none."""
    if not file.exists():
        return {}
    try:
        data: dict[str, Any] = json.loads(file.read_text(encoding="utf-8"))
    except ValueError as error:
        raise ValueError(f"{file} cannot be read ({error}): remove it, or give another folder.") from error
    return data


def read_outcomes(file: Path, planned: dict[str, Any]) -> list[dict[str, Any]]:
    """The outcomes of an earlier run, for the parts (by label) whose settings are the same as now."""
    data = read_results(file)
    known = data.get("settings", {})
    same = {label for label, part in planned.items() if known.get(label) == settings(part)}
    return [outcome for outcome in data.get("outcomes", []) if outcome["part"] in same]
