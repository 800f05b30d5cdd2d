"""What the report needs to know of a comparison.

The report stands below the comparison and does not import it: it states here what it reads, and the comparison has it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from ..arrays import Flags, Floats, Indices
from ..costs import Costs
from ..tables import Cases, Segmented


class ReportedRow(Protocol):
    """A method in the leaderboard."""

    @property
    def name(self) -> str:
        """On the command line."""

    @property
    def title(self) -> str:
        """In tables and charts."""

    @property
    def reference(self) -> bool:
        """Whether it does without the reject option."""

    def as_dict(self) -> dict[str, Any]:
        """The figures by name."""


class ReportedSaving(Protocol):
    """What one rule saves per case against another."""

    @property
    def rule(self) -> str:
        """The one that saves."""

    @property
    def pays(self) -> str:
        """One of "yes", "no" and "unclear"."""

    @property
    def saved(self) -> Sequence[float]:
        """The estimate and its limits."""


class ReportedVerdict(Protocol):
    """What the comparison concludes."""

    @property
    def chosen(self) -> str:
        """The method to use: a model or a constant answer."""

    @property
    def best_model(self) -> str:
        """The model chosen among the models."""

    @property
    def found_signal(self) -> bool:
        """Whether some model tells the cases apart, be it worth its price or not."""

    @property
    def cost(self) -> Sequence[float]:
        """Expected cost per case of the method chosen, and its limits, corrected for the choice."""

    @property
    def model_cost(self) -> Sequence[float]:
        """The same of the model chosen among the models."""

    @property
    def forced_cost(self) -> Sequence[float]:
        """The same of this model when it must answer every case."""

    @property
    def answering(self) -> ReportedSaving:
        """Against the manual review of every case."""

    @property
    def rejecting(self) -> ReportedSaving:
        """Against answering every case."""

    @property
    def shares(self) -> Mapping[str, float]:
        """In which share of the resamples of the cases each model is chosen."""

    @property
    def constant(self) -> ReportedSaving:
        """Of that model against the cheapest answer that is the same for every case."""

    @property
    def signal(self) -> ReportedSaving:
        """Of a model that must answer every case, against the cheaper of always no and always yes."""


class ReportedPayments(Protocol):
    """What each case pays under a rule."""

    @property
    def columns(self) -> NDArray[Any]:
        """Column of the price matrix of each answer."""


class ReportedAnswers(Protocol):
    """Out-of-fold answers of one method; arrays have a row per repetition and a column per case."""

    @property
    def forced(self) -> NDArray[np.int8]:
        """Class without the reject option: 1 for the positive class, of three or more its position."""

    @property
    def kind(self) -> NDArray[np.int8]:
        """Position in `KINDS`."""

    @property
    def fold(self) -> NDArray[np.int16]:
        """Fold in which the case was answered."""

    @property
    def r(self) -> Floats:
        """Acceptance score."""

    @property
    def score(self) -> Floats:
        """Probability of the positive class, or the class score; with three or more a last axis for the classes."""

    @property
    def reason(self) -> list[str]:
        """One sentence per case, of the first repetition."""

    @property
    def accepted(self) -> Flags:
        """Which cases the method answers itself."""

    @property
    def columns(self) -> NDArray[Any]:
        """Column of the price matrix of each answer."""

    @property
    def warnings(self) -> dict[str, str]:
        """Warnings raised in its folds, each with the folds in words."""


class ReportedConstant(Protocol):
    """An answer that is the same for every case."""

    @property
    def name(self) -> str:
        """On the command line."""


class ReportedMethod(Protocol):
    """A method that was compared."""

    @property
    def title(self) -> str:
        """In tables and charts."""

    @property
    def moves(self) -> str:
        """Name of the way it follows the prices."""

    @property
    def cuts_probabilities(self) -> bool:
        """Whether the score that its thresholds cut is a probability."""


class ReportedSegment(Protocol):
    """Cases of one value or band of a column."""

    @property
    def column(self) -> str:
        """The column."""

    @property
    def sentence(self) -> str:
        """In which way it is served worse; empty if it is not."""

    def as_dict(self) -> dict[str, Any]:
        """The figures by name."""


class ReportedArguments(Protocol):
    """How the comparison was run."""

    @property
    def cv(self) -> int:
        """Number of folds."""

    @property
    def seed(self) -> int:
        """Random state."""

    @property
    def drop(self) -> Sequence[str]:
        """Columns left out."""

    @property
    def by(self) -> Sequence[str]:
        """Columns whose segments are looked at."""

    @property
    def policy(self) -> str | None:
        """Column with what is decided today."""

    @property
    def volume(self) -> dict[str, Any] | None:
        """How many cases there are in a period, and what reviewing them takes."""


class ReportedComparison(Protocol):
    """A finished comparison."""

    @property
    def cases(self) -> Cases:
        """The table."""

    @property
    def costs(self) -> Costs:
        """The prices."""

    @property
    def positive(self) -> Flags:
        """Which cases are positive."""

    @property
    def truth(self) -> Indices:
        """The class of each case: of two 1 for the positive one, else its position in the classes."""

    @property
    def constants(self) -> Sequence[ReportedConstant]:
        """The answers that are the same for every case."""

    @property
    def answers(self) -> Mapping[str, ReportedAnswers]:
        """Answers of each method that did not fail."""

    @property
    def rows(self) -> Sequence[ReportedRow]:
        """The leaderboard."""

    @property
    def verdict(self) -> ReportedVerdict:
        """What it concludes."""

    @property
    def conclusions(self) -> dict[str, str]:
        """The same in sentences."""

    @property
    def today(self) -> ReportedPayments | None:
        """Today's policy, if a column holds it."""

    @property
    def today_saving(self) -> ReportedSaving | None:
        """What the method chosen saves against it."""

    @property
    def model_saved_against_today(self) -> ReportedSaving | None:
        """What the model chosen among the models saves against it."""

    @property
    def reviewing_saved(self) -> Sequence[float]:
        """What the method chosen saves against the manual review of every case, with its limits."""

    def segments_by(self, name: str) -> Sequence[ReportedSegment]:
        """Figures of a method for each segment of the columns asked for."""

    @property
    def cut_columns(self) -> Sequence[Segmented]:
        """The columns asked for, cut into segments."""

    @property
    def units(self) -> Indices | None:
        """Unit of each case, if cases belong together."""

    @property
    def served_worse_rate(self) -> float:
        """How often any segment is called served worse where all are served alike."""

    def widening(self, name: str) -> float:
        """How much wider the intervals of a method are because cases belong together."""

    def answers_of(self, name: str) -> ReportedAnswers:
        """Return the answers of a method or of a constant answer."""

    @property
    def arguments(self) -> ReportedArguments:
        """How it was run."""

    @property
    def n_repeats(self) -> int:
        """How often the leaders were cross-validated."""

    @property
    def how_often_repeated(self) -> str:
        """How often the cross-validation was done, and why no more."""

    @property
    def how_folds_were_made(self) -> str | None:
        """One sentence about folds that were not simply shuffled."""

    @property
    def fingerprint(self) -> str:
        """Digest of the data."""

    @property
    def versions(self) -> dict[str, str]:
        """Versions of the packages that the figures depend on."""

    def method(self, name: str) -> ReportedMethod:
        """Return a method by its name."""
