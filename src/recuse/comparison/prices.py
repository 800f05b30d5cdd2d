"""The prices of a run: what was given for them, and what they are once the outcomes of the table are known."""

from __future__ import annotations

import logging
from dataclasses import dataclass
from typing import Any

from ..class_costs import ClassCosts
from ..costs import Costs, as_costs
from ..labels import preview
from ..tables import Cases, TableFile, is_table_file, read_costs
from ..tables.price_files import named_like, require_priced

DEFAULT_COSTS = Costs(fp=1.0, fn=5.0, reject=0.3)
_EVERY_ERROR = 1.0  # of three outcomes or more, where no price of an error is given
_logger = logging.getLogger("recuse.comparison")


@dataclass(frozen=True)
class StatedPrices:
    """Prices as they were typed: what was left out depends on how many outcomes there are.

    Attributes
    ----------
    fp, fn, reject, reject_negative, reject_positive : float or None
        As in `Costs`.
    file : path, TableFile or None
        A table of prices, see `read_costs`.
    """

    fp: float | None = None
    fn: float | None = None
    reject: float | None = None
    reject_negative: float | None = None
    reject_positive: float | None = None
    file: Any = None

    @property
    def source(self) -> str:
        """What to call the prices in messages."""
        return "costs" if self.file is None else TableFile.of(self.file).name

    def two(self) -> Costs:
        """The prices of two outcomes."""
        given = {name: getattr(self, name) for name in ("fp", "fn", "reject") if getattr(self, name) is not None}
        return Costs(
            **{"fp": DEFAULT_COSTS.fp, "fn": DEFAULT_COSTS.fn, "reject": DEFAULT_COSTS.reject_negative, **given},
            reject_negative=self.reject_negative,
            reject_positive=self.reject_positive,
        )

    def several(self) -> Costs | None:
        """The prices of three outcomes or more: the same for every error; None where they belong to two outcomes."""
        if self.fp is self.fn is None:
            reject = DEFAULT_COSTS.reject_negative if self.reject is None else self.reject
            stated = Costs(_EVERY_ERROR, _EVERY_ERROR, reject, **self._by_class())
        else:
            stated = self.two()
        return stated if stated.symmetric else None

    @property
    def left_out(self) -> tuple[str, ...]:
        """Prices of two outcomes that nobody gave, so that defaults stand for them."""
        reviews_given = self.reject_negative is not None and self.reject_positive is not None
        names = ("fp", "fn") if reviews_given else ("fp", "fn", "reject")
        return tuple(name for name in names if getattr(self, name) is None)

    def _by_class(self) -> dict[str, float | None]:
        return {"reject_negative": self.reject_negative, "reject_positive": self.reject_positive}

    def from_file(self) -> ClassCosts:
        """The prices of the file; refuse others beside it."""
        assert self.file is not None
        for name in ("fp", "fn", "reject_negative", "reject_positive"):
            if getattr(self, name) is not None:
                raise ValueError(
                    f"{name}={getattr(self, name):g} is a price of two outcomes, and {self.source} prices every "
                    "one: leave out one of the two."
                )
        return read_costs(self.file, self.reject)


@dataclass(frozen=True)
class RunPrices:
    """What is known of the prices before the outcomes are.

    Attributes
    ----------
    two : Costs
        The prices, should there be two outcomes.
    several : Costs or None
        The prices of three or more; None where those given belong to two.
    source : str
        What to call them in messages.
    assumed : tuple of str
        Prices that nobody gave.
    """

    two: Costs
    several: Costs | None
    source: str = "costs"
    assumed: tuple[str, ...] = ()

    @classmethod
    def of(cls, given: Any, positive: Any = None) -> RunPrices:
        """Read and check what was given as `costs`: prices, a number, a file, or what was typed.

        With a positive outcome there are two, however many the table holds.
        """
        if given is DEFAULT_COSTS:
            given = StatedPrices()
        elif not isinstance(given, StatedPrices | Costs) and is_table_file(given):
            given = StatedPrices(file=given)
        if not isinstance(given, StatedPrices):
            costs = as_costs(given)
            found = cls(costs, costs if isinstance(costs, ClassCosts) or costs.symmetric else None)
        elif given.file is not None:
            costs = given.from_file()
            found = cls(costs, costs, given.source)
        else:
            found = cls(given.two(), given.several(), assumed=given.left_out)
        two = positive is not None or found.several is None
        if two or isinstance(found.several, ClassCosts):  # else it depends on the outcomes
            found.two.require_rejecting_pays()
        return found

    def settled(self, cases: Cases) -> Costs:
        """The prices of the outcomes of a table, which must leave something to reject."""
        if not cases.several:
            costs = self._of_two(cases)
        elif isinstance(self.several, ClassCosts):
            costs = self._of_classes(self.several, cases)
        else:
            assert self.several is not None  # `check_cases` has refused the table
            costs = as_class_costs(self.several, cases.classes)
        costs.require_rejecting_pays()
        return costs

    def _of_two(self, cases: Cases) -> Costs:
        if not isinstance(self.two, ClassCosts):
            return self.two
        named = named_like(self.two, cases.classes)
        lacking = [label for label in cases.classes if label not in (named.classes or cases.classes)]
        if lacking:
            raise ValueError(
                f"{self.source} prices {preview(named.classes or ())}, and the outcomes are {preview(cases.classes)}: "
                "leave out --positive (in Python, positive=), which takes the others together, or give the prices of "
                "two outcomes, --fp and --fn."
            )
        return named.for_classes(sorted(cases.classes), cases.positive)

    def _of_classes(self, costs: ClassCosts, cases: Cases) -> Costs:
        if costs.classes is None:
            return costs.for_classes(cases.classes)
        costs = named_like(costs, cases.classes)
        require_priced(costs, cases.classes, cases.target, self.source)
        return costs.for_classes(cases.classes)

    def say(self, cases: Cases, costs: Costs) -> None:
        """Log which prices were assumed, and which are of no use."""
        if self.assumed:
            told = _told_of_classes(costs) if cases.several else _told_of_two(costs, self.assumed)
            _logger.info("%s: %s.", cases.name, told)
        names = self.two.classes if isinstance(self.two, ClassCosts) else None
        texts = {str(label) for label in cases.classes}
        unused = [label for label in names or () if str(label) not in texts]
        if unused:
            _logger.info("%s: prices of %s are not used, as no case has these outcomes.", cases.name, preview(unused))


def as_class_costs(costs: Costs, classes: list[Any]) -> Costs:
    """Prices that are the same for every error, as prices of these classes."""
    return ClassCosts(
        errors={truth: {answer: costs.fp for answer in classes if answer != truth} for truth in classes},
        reject=costs.reject_negative,
        novelty_error=costs.novelty_error,
        reject_novelty=costs.reject_novelty,
    )


def _told_of_two(costs: Costs, assumed: tuple[str, ...]) -> str:
    """The prices of two outcomes, and which of them are defaults."""
    review = f"a review {costs.reject_negative:g}"
    if costs.reject_positive != costs.reject_negative:
        review += f" ({costs.reject_positive:g} of a positive case)"
    *others, last = (f"--{name}" for name in assumed)
    options = f"{last} was not given and has its default"
    if others:
        options = f"{', '.join(others)} and {last} were not given and have their defaults"
    return f"a false alarm costs {costs.fp:g}, a miss {costs.fn:g} and {review}; {options} (in Python, costs=)"


def _told_of_classes(costs: Costs) -> str:
    """The prices of three outcomes or more, every error at the same."""
    review = costs.reject[0] if isinstance(costs, ClassCosts) else costs.reject_negative
    return (
        f"every error costs {costs.largest_error:g} and a review {review:g}; --costs prices.csv (in Python, costs=) "
        "prices each"
    )
