"""What is run: the data sets and prices, how each is split and searched, and the paper's figures beside them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

from ...costs import Costs

# Loss (mean and standard deviation), rejection and error rate, in per cent, as printed in Table 1.
PAPER = {
    ("wdbc", "naive"): (2.9, 1.6, 0.7, 2.6),
    ("wdbc", "B&W"): (3.5, 1.8, 3.9, 1.8),
    ("wdbc", "double hinge"): (2.9, 1.7, 1.2, 2.4),
    ("liver_disorders", "naive"): (28.9, 5.4, 3.3, 27.4),
    ("liver_disorders", "B&W"): (30.9, 4.0, 34.5, 15.4),
    ("liver_disorders", "double hinge"): (28.8, 5.1, 7.9, 25.2),
    ("new_thyroid", "naive"): (4.1, 2.9, 0.9, 3.7),
    ("new_thyroid", "B&W"): (4.4, 2.7, 6.1, 1.6),
    ("new_thyroid", "double hinge"): (3.7, 2.7, 2.1, 2.8),
    ("pima", "naive"): (23.7, 1.9, 7.5, 20.3),
    ("pima", "B&W"): (24.7, 2.1, 24.3, 13.8),
    ("pima", "double hinge"): (23.1, 1.3, 6.9, 20.0),
}

SMALL = ("wdbc", "new_thyroid", "liver_disorders", "pima")  # the paper's own
LARGE = ("spambase", "credit_default")
SYMMETRIC = Costs(fp=1, fn=1, reject=0.45)
OTHER_PRICES = (Costs(fp=1, fn=5, reject=0.3), Costs(fp=1, fn=1, reject=0.1), Costs(fp=5, fn=1, reject=0.3))
WIDTHS = tuple(2.0**k for k in range(-4, 3))  # gamma, in units of 1 / (number of features)
STRENGTHS = tuple(10.0 ** (k / 2) for k in range(-3, 6))


def label_of(data: str, costs: Costs) -> str:
    """A data set and its prices, as shown."""
    return f"{data}, fp {costs.fp:g}, fn {costs.fn:g}, reject {costs.reject_negative:g}"


@dataclass(frozen=True)
class Part:
    """One data set at one price list: how it is split and searched."""

    data: str
    costs: Costs
    methods: tuple[str, ...]
    splits: int = 10
    train: float | int = 0.8
    test: float | int = 0.2
    folds: int = 5
    widths: tuple[float, ...] = WIDTHS
    strengths: tuple[float, ...] = STRENGTHS
    searched: int = 5000  # at most this many training cases take part in the search

    @property
    def label(self) -> str:
        """Data and prices, as shown."""
        return label_of(self.data, self.costs)


@dataclass(frozen=True)
class Outcome:
    """What a method did on one split."""

    part: str
    method: str
    split: int
    loss: float
    rejected: float
    wrong: float
    seconds: float
    setting: str


def parts(quick: bool) -> list[Part]:
    """The experiments, the paper's own first."""
    table = ("naive", "B&W", "double hinge")
    wide = ("naive", "double hinge", "logistic, Chow")
    if quick:
        small = partial(Part, splits=2, folds=3, widths=WIDTHS[2:5:2], strengths=STRENGTHS[1:7:3])
        return [*(small(name, SYMMETRIC, table) for name in SMALL), small("pima", OTHER_PRICES[0], wide)]
    coarse = partial(Part, folds=3, widths=WIDTHS[:6:2], strengths=STRENGTHS[2::2])
    large = partial(coarse, strengths=STRENGTHS[2:7:2], train=8000, test=10_000, searched=2000)
    return [
        *(Part(name, SYMMETRIC, table) for name in SMALL),
        *(Part(name, costs, wide) for costs in OTHER_PRICES for name in SMALL),
        *(coarse("spambase", costs, wide, splits=5) for costs in OTHER_PRICES),
        *(large("credit_default", costs, wide, splits=3) for costs in OTHER_PRICES),
    ]
