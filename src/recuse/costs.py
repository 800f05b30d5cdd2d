"""The price list of a decision, and the thresholds it implies.

Symbols: ``fp`` and ``fn`` are the prices of a false alarm and a miss, ``r_neg`` and ``r_pos`` the prices of
rejecting a negative and a positive case, ``p`` the probability that a case is positive. Calling a case positive
costs ``(1 - p) fp`` on average, negative ``p fn``, rejecting it ``p r_pos + (1 - p) r_neg``.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np

from .arrays import Floats, Indices
from .parameters import is_number

DEFAULT_REJECT = 0.2
_DIGITS = 13  # of a price in units of another: beyond them is the rounding of the currency
_LARGEST_RATIO = 1e15  # of two prices in a fit: sums of amounts further apart forget the smaller one
SPARE = 1e-12  # rejecting must save more than this share of an error, or rounding would decide whether it pays


@dataclass(frozen=True, init=False, repr=False)
class Costs:
    """Prices of a false alarm, a miss and a rejection.

    With three or more classes every answer to every class may have a price of its own: ``Costs(errors=...,
    reject=...)``, see `recuse.ClassCosts`. Without `errors` they need ``fp = fn`` and one reject price.

    Parameters
    ----------
    fp : float, default=1.0
        Price of calling a negative case positive (a false alarm).
    fn : float, default=1.0
        Price of calling a positive case negative (a miss).
    reject : float, optional
        Price of rejecting a case of either class. If no reject price is given at all: a fifth of the cheaper error.
        With `errors` also one price for each true class.
    errors : dict of dicts, DataFrame or array of shape (n_classes, n_classes), optional
        Price of each answer to each class, instead of `fp` and `fn`: ``errors[truth][answer]``.
    reject_negative, reject_positive : float, optional
        Price of rejecting a negative or a positive case, if they differ.
    novelty_error : float, optional
        Price of classifying a novelty. By default ``fp`` when it is called positive and ``fn`` when negative.
    reject_novelty : float, optional
        Price of rejecting a normal case as a novelty. By default the reject price of its class.

    Examples
    --------
    >>> from recuse import Costs
    >>> costs = Costs(fp=1, fn=5, reject=0.3)
    >>> [round(p, 3) for p in costs.thresholds]
    [0.06, 0.7]
    >>> print(costs)
    Costs(fp=1.0, fn=5.0, reject=0.3)
    >>> print(costs.table())
    price of a false alarm         1
    price of a miss                5
    price of rejecting a negative  0.3
    price of rejecting a positive  0.3
    answer no below probability    0.06
    answer yes above probability   0.7
    >>> Costs(fp=1, fn=1, reject=0.5).rejecting_pays
    False
    """

    fp: float
    fn: float
    reject_negative: float
    reject_positive: float
    novelty_error: float | None
    reject_novelty: float | None

    # The parameters of `__init__`, since help and signatures show those of this method.
    def __new__(
        cls,
        fp: float | None = None,
        fn: float | None = None,
        reject: Any = None,
        *,
        errors: Any = None,
        reject_negative: Any = None,
        reject_positive: Any = None,
        novelty_error: Any = None,
        reject_novelty: Any = None,
    ) -> Costs:
        """Make a `ClassCosts` where each error has a price of its own."""
        if cls is not Costs or errors is None:
            return super().__new__(cls)
        if any(price is not None for price in (fp, fn, reject_negative, reject_positive)):
            raise ValueError(
                "errors holds the price of every error: leave out fp, fn, reject_negative and reject_positive, and "
                "give reject= by true class where it differs."
            )
        from .class_costs import ClassCosts  # which inherits from this class

        return super().__new__(ClassCosts)

    def __init__(
        self,
        fp: float = 1.0,
        fn: float = 1.0,
        reject: Any = None,
        *,
        errors: Any = None,
        reject_negative: float | None = None,
        reject_positive: float | None = None,
        novelty_error: Any = None,
        reject_novelty: Any = None,
    ) -> None:
        if reject is None and reject_negative is None and reject_positive is None:
            reject = DEFAULT_REJECT * min(check_price("fp", fp), check_price("fn", fn))
        prices = {
            "fp": fp,
            "fn": fn,
            "reject_negative": reject if reject_negative is None else reject_negative,
            "reject_positive": reject if reject_positive is None else reject_positive,
        }
        for name, price in prices.items():
            if price is None:
                raise ValueError(f"{name} is missing: give it too, or reject= for both classes.")
            # A message names the parameter that the user gave: `reject`, if that stands for both.
            given = "reject" if price is reject and name.startswith("reject_") else name
            object.__setattr__(self, name, check_price(given, price))
        for name, price in {"novelty_error": novelty_error, "reject_novelty": reject_novelty}.items():
            object.__setattr__(self, name, None if price is None else check_price(name, price))

    @property
    def thresholds(self) -> tuple[float, float]:
        """Chow's pair ``(p_minus, p_plus)``: answer no below the first, yes above the second, reject in between.

        Both equal `break_even` if rejecting never pays.
        """
        if not self.rejecting_pays:
            return self.break_even, self.break_even
        spared_fp = self.fp - self.reject_negative
        spared_fn = self.fn - self.reject_positive
        p_minus = self.reject_negative / (spared_fn + self.reject_negative)
        p_plus = spared_fp / (spared_fp + self.reject_positive)
        return p_minus, p_plus

    @property
    def break_even(self) -> float:
        """Probability at which yes and no cost the same: the threshold of a classifier that may not reject."""
        return self.fp / (self.fp + self.fn)

    @property
    def rejecting_pays(self) -> bool:
        """Whether rejecting is the cheapest answer at some probability."""
        # Shares, since products of very small or very large prices are 0 or infinite.
        return self.reject_positive / self.fn + self.reject_negative / self.fp < 1 - SPARE

    @property
    def symmetric(self) -> bool:
        """Whether both classes have the same prices."""
        return self.fp == self.fn and self.reject_negative == self.reject_positive

    @property
    def largest_error(self) -> float:
        """The larger of the two error prices: the unit of `score`."""
        return max(self.fp, self.fn)

    @property
    def cheaper_error(self) -> float:
        """The smaller of the two error prices: the unit of the prices in every fit."""
        return min(self.fp, self.fn)

    def normalised(self) -> Costs:
        """Return the same prices with the cheaper error as the unit: what a fit sees, whatever the currency.

        Rounded to 13 digits, so that all prices times 0.01, 3 or 100 give the same numbers, and the same model.

        Examples
        --------
        >>> from recuse import Costs
        >>> Costs(fp=3, fn=15, reject=0.9).normalised() == Costs(fp=1, fn=5, reject=0.3)
        True
        """
        self._require_comparable()
        return Costs(**{name: relative_price(price, self.cheaper_error) for name, price in self.as_dict().items()})

    def for_classes(self, classes: Any, pos_label: Any = None) -> Costs:
        """The prices as a fit to these sorted classes needs them: these, whatever the classes are called."""
        return self

    def renamed(self, classes: Iterable[Any]) -> Costs:
        """The same prices for classes of other names: these, which name none."""
        return self

    def swapped(self) -> Costs:
        """Return the same prices with the roles of the two classes exchanged."""
        return replace(
            self,
            fp=self.fn,
            fn=self.fp,
            reject_negative=self.reject_positive,
            reject_positive=self.reject_negative,
        )

    def matrix(self, n_classes: int = 2) -> Floats:
        """Price of every answer to every kind of case.

        Parameters
        ----------
        n_classes : int, default=2
            With three or more, every error costs the same; the prices must be symmetric.

        Returns
        -------
        ndarray of shape (n_classes + 1, n_classes + 2)
            Rows: the true classes (negative first), then a novelty. Columns: the classes answered, then
            rejected as ambiguous, then rejected as a novelty. Rejecting a true novelty, for either reason, is free.
        """
        if n_classes > 2:
            self._require_symmetric(n_classes)
        matrix = np.zeros((n_classes + 1, n_classes + 2))
        matrix[:-1, :-2] = self.fp * (1 - np.eye(n_classes))
        matrix[1, 0] = self.fn
        matrix[:-1, -2:] = self.reject_positive
        matrix[0, -2:] = self.reject_negative
        matrix[-1, :-2] = self.fp  # a novelty called positive is a false alarm, called negative a miss
        matrix[-1, 0] = self.fn
        if self.reject_novelty is not None:
            matrix[:-1, -1] = self.reject_novelty
        if self.novelty_error is not None:
            matrix[-1, :-2] = self.novelty_error
        return matrix

    def as_dict(self) -> dict[str, Any]:
        """The prices by name, without those that were left to their default."""
        return {name: price for name, price in asdict(self).items() if price is not None}

    def prices(self, truth: Indices, columns: Indices, n_classes: int = 2) -> Floats:
        """Price of each answer: rows of `matrix` by the true class, columns from `answer_columns`."""
        prices: Floats = self.matrix(n_classes)[truth, columns]
        return prices

    def require_rejecting_pays(self, n_classes: int = 2) -> None:
        """Raise ValueError when no case would ever be rejected at these prices, or they are not comparable."""
        self._require_comparable()
        if n_classes > 2:
            self._require_rejecting_pays_multiclass(n_classes)
        elif not self.rejecting_pays:
            raise ValueError(
                f"Rejecting never pays at {self!r}: answering never costs more. "
                f"The largest reject price that pays is just below {self._largest_paying_reject()}."
            )

    def _prices(self) -> Iterable[float]:
        return self.as_dict().values()

    def _require_comparable(self) -> None:
        prices = list(self._prices())
        if max(prices) / _LARGEST_RATIO > min(prices):
            raise ValueError(
                f"The prices of {self!r} are further apart than a factor of {_LARGEST_RATIO:g}, and no sum of costs "
                "would show the smallest: give prices of comparable size."
            )

    def _require_rejecting_pays_multiclass(self, n_classes: int) -> None:
        self._require_symmetric(n_classes)
        # The most probable of K classes has probability 1/K at least.
        limit = self.fp * (1 - 1 / n_classes)
        if self.reject_negative >= limit:
            raise ValueError(
                f"Rejecting never pays at {self!r} with {n_classes} classes: answering never costs more. "
                f"The largest reject price that pays is just below {limit:.6g}."
            )

    def _require_symmetric(self, n_classes: int) -> None:
        if not self.symmetric:
            raise ValueError(
                f"costs={self!r} has prices that differ by class, which is defined for two classes only; got "
                f"{n_classes} classes. Use fp = fn and one reject price, or errors= with a price for each "
                "answer to each class."
            )

    def _largest_paying_reject(self) -> str:
        factor = 1 / (self.reject_positive / self.fn + self.reject_negative / self.fp)
        negative, positive = factor * self.reject_negative, factor * self.reject_positive
        if self.reject_negative == self.reject_positive:
            return f"{negative:.6g}"
        return f"reject_negative={negative:.6g}, reject_positive={positive:.6g}"

    def __repr__(self) -> str:
        prices = {"fp": self.fp, "fn": self.fn}
        if self.reject_negative == self.reject_positive:
            prices["reject"] = self.reject_negative
        else:
            prices |= {"reject_negative": self.reject_negative, "reject_positive": self.reject_positive}
        optional = {"novelty_error": self.novelty_error, "reject_novelty": self.reject_novelty}
        prices |= {name: price for name, price in optional.items() if price is not None}
        return f"Costs({', '.join(f'{name}={price!r}' for name, price in prices.items())})"

    def table(self) -> str:
        """The prices and the thresholds that they imply, one line each, for people to read."""
        rows = [
            ("price of a false alarm", self.fp),
            ("price of a miss", self.fn),
            ("price of rejecting a negative", self.reject_negative),
            ("price of rejecting a positive", self.reject_positive),
            ("price of classifying a novelty", self.novelty_error),
            ("price of rejecting a normal case as a novelty", self.reject_novelty),
            ("answer no below probability", self.thresholds[0]),
            ("answer yes above probability", self.thresholds[1]),
        ]
        if not self.rejecting_pays:
            rows[-2:] = [("rejecting never pays; answer yes above probability", self.break_even)]
        rows = [(name, price) for name, price in rows if price is not None]
        width = max(len(name) for name, _ in rows)
        return "\n".join(f"{name:<{width}}  {price:.4g}" for name, price in rows)


def answer_columns(forced: Any, kind: Any, n_classes: int = 2) -> Indices:
    """Column of `Costs.matrix` that prices each answer.

    Parameters
    ----------
    forced : array-like of int
        Class number the case is given if it is not rejected.
    kind : array-like of int
        Position in `KINDS`: 0 accepted, 1 rejected as ambiguous, 2 rejected as a novelty.
    n_classes : int, default=2
        Number of classes: the columns of the two kinds of rejection come after theirs.
    """
    kind = np.asarray(kind)
    return np.where(kind == 0, forced, n_classes - 1 + kind)


def relative_price(price: float, unit: float) -> float:
    """A price over another one, without the digits in which the same two differ from currency to currency."""
    return float(f"{price / unit:.{_DIGITS}g}")


def as_costs(costs: Costs | float | None) -> Costs:
    """Return `costs` as a `Costs`: a float d means ``Costs(fp=1, fn=1, reject=d)``."""
    if isinstance(costs, Costs):
        return costs
    if not is_number(costs):
        raise TypeError(f"costs must be a recuse.Costs or a reject price such as 0.2; got {costs!r}.")
    return Costs(fp=1.0, fn=1.0, reject=check_price("costs", costs))


def check_price(name: str, price: Any) -> float:
    """Return `price` as a float, or say what is wrong with it."""
    if not is_number(price):
        raise TypeError(f"{name} must be a number greater than 0; got {price!r}.")
    value = float(price)
    if not (np.isfinite(value) and value > 0):
        raise ValueError(f"{name} must be a finite price greater than 0; got {value:g}.")
    return value
