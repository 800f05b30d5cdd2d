"""The price list of a decision between three or more classes.

Symbols: ``C[y, j]`` is the price of answering class j to a case of class y, ``c[y]`` that of rejecting it, ``p`` the
probabilities of the classes. Answering j costs ``sum_y p[y] C[y, j]`` on average, rejecting ``sum_y p[y] c[y]``.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .arrays import Floats
from .costs import DEFAULT_REJECT, SPARE, Costs, check_price, relative_price
from .labels import preview, to_python

_SHOWN = 6  # classes up to which a table also lists every pair of them
_EQUAL = 1e-9  # about what a linear program is solved to

Rows = tuple[tuple[float, ...], ...]


class ClassCosts(Costs):
    """Prices of every answer to every class: what ``Costs(errors=..., reject=...)`` gives.

    Parameters
    ----------
    errors : dict of dicts, DataFrame or array of shape (n_classes, n_classes)
        Price of each answer to each class: ``errors[truth][answer]``, rows truth and columns answer. An array is in the
        order of the sorted classes. The diagonal is 0 and may be left out of a dict.
    reject : float, dict, Series or sequence, optional
        Price of rejecting a case: one number, or one for each true class. By default a fifth of the cheapest error.
    novelty_error : float, dict, Series or sequence, optional
        Price of classifying a novelty: one number, or one for each answer. By default that of the dearest error with
        the same answer.
    reject_novelty : float, dict, Series or sequence, optional
        Price of rejecting a normal case as a novelty: one number, or one for each true class. By default the reject
        price of its class.

    Attributes
    ----------
    classes : tuple or None
        The classes in the order of the prices, where these name them.

    Examples
    --------
    >>> from recuse import Costs
    >>> costs = Costs(
    ...     errors={
    ...         "cold": {"flu": 1, "sepsis": 2},
    ...         "flu": {"cold": 1, "sepsis": 2},
    ...         "sepsis": {"cold": 30, "flu": 20},
    ...     },
    ...     reject={"cold": 0.4, "flu": 0.4, "sepsis": 1},
    ... )
    >>> print(costs.table())
    price (row: true class)  'cold'  'flu'  'sepsis'  review
    'cold'                        0      1         2     0.4
    'flu'                         1      0         2     0.4
    'sepsis'                     30     20         0       1
    'cold' or 'flu': review while the probability of 'flu' is between 0.4 and 0.6
    'cold' or 'sepsis': review while the probability of 'sepsis' is between 0.0136 and 0.615
    'flu' or 'sepsis': review while the probability of 'sepsis' is between 0.0206 and 0.615
    >>> costs.between("cold", "flu")
    Costs(fp=1.0, fn=1.0, reject=0.4)
    """

    errors: Rows
    reject: tuple[float, ...]
    by_answer_to_novelty: tuple[float, ...] | None
    by_class_as_novelty: tuple[float, ...] | None
    classes: tuple[Any, ...] | None

    def __new__(
        cls, *, errors: Any = None, reject: Any = None, novelty_error: Any = None, reject_novelty: Any = None
    ) -> ClassCosts:
        """Make a list of prices, or an empty one for a copy."""
        return object.__new__(cls)

    def __init__(
        self, *, errors: Any, reject: Any = None, novelty_error: Any = None, reject_novelty: Any = None
    ) -> None:
        classes, matrix = _read_errors(errors)
        if reject is None:
            reject = DEFAULT_REJECT * min(_off_diagonal(matrix))
        self._set(
            classes=classes,
            errors=matrix,
            reject=_read_by_class("reject", reject, classes, len(matrix)),
            by_answer_to_novelty=_read_optional("novelty_error", novelty_error, classes, len(matrix)),
            by_class_as_novelty=_read_optional("reject_novelty", reject_novelty, classes, len(matrix)),
        )

    def _set(self, **fields: Any) -> None:
        for name, value in fields.items():
            object.__setattr__(self, name, value)

    @property
    def n_classes(self) -> int:
        """How many classes have prices."""
        return len(self.errors)

    def for_classes(self, classes: Any, pos_label: Any = None) -> Costs:
        """The prices of these classes in their order; of two of them, those of a yes and a no.

        Parameters
        ----------
        classes : array-like
            The sorted classes. Prices that name further classes are left out.
        pos_label : label, optional
            Of two classes the positive one; by default the second.
        """
        labels = [to_python(label) for label in classes]
        order = self._positions(labels)
        taken = self._taken(order, tuple(labels))
        if len(labels) > 2:
            return taken
        negative, positive = labels if pos_label is None or pos_label == labels[1] else labels[::-1]
        return taken.between(negative, positive)

    def renamed(self, classes: Iterable[Any]) -> Costs:
        """The same prices for classes of other names, in the same order."""
        return self._taken(list(range(self.n_classes)), tuple(classes))

    def between(self, negative: Any, positive: Any) -> Costs:
        """The prices of a choice between two classes, as if there were no others; the second is the positive one."""
        no, yes = (self._positions([label])[0] for label in (negative, positive))
        novelty = self.by_answer_to_novelty
        as_novelty = self.by_class_as_novelty
        given: dict[str, Any] = {}
        if novelty is not None and novelty[no] == novelty[yes]:
            given["novelty_error"] = novelty[no]
        if as_novelty is not None and as_novelty[no] == as_novelty[yes]:
            given["reject_novelty"] = as_novelty[no]
        return Costs(
            fp=self.errors[no][yes],
            fn=self.errors[yes][no],
            reject_negative=self.reject[no],
            reject_positive=self.reject[yes],
            **given,
        )

    def _positions(self, labels: Sequence[Any]) -> list[int]:
        """Where these classes stand in the prices."""
        if self.classes is None:
            if len(labels) == 1 and labels[0] in range(self.n_classes):
                return [labels[0]]
            if len(labels) != self.n_classes:
                raise ValueError(
                    f"errors has prices of {self.n_classes} classes, but there are {len(labels)}, {preview(labels)}: "
                    "give a row and a column for each, or name the classes in a dict of dicts."
                )
            return list(range(self.n_classes))
        missing = [label for label in labels if label not in self.classes]
        if missing:
            raise ValueError(
                f"errors names the classes {preview(self.classes)}, and has no prices of {preview(missing)}: name the "
                "classes as the outcomes do, and give a price for each."
            )
        return [self.classes.index(label) for label in labels]

    def _taken(self, order: list[int], classes: tuple[Any, ...] | None) -> ClassCosts:
        """The prices of some classes, in another order."""
        taken = object.__new__(ClassCosts)
        novelty, as_novelty = self.by_answer_to_novelty, self.by_class_as_novelty
        taken._set(
            classes=classes,
            errors=tuple(tuple(self.errors[i][j] for j in order) for i in order),
            reject=tuple(self.reject[i] for i in order),
            by_answer_to_novelty=None if novelty is None else tuple(novelty[i] for i in order),
            by_class_as_novelty=None if as_novelty is None else tuple(as_novelty[i] for i in order),
        )
        return taken

    def _mapped(self, price: Any) -> ClassCosts:
        """The same list with every price changed by a function."""
        mapped = object.__new__(ClassCosts)
        novelty, as_novelty = self.by_answer_to_novelty, self.by_class_as_novelty
        mapped._set(
            classes=self.classes,
            errors=tuple(
                tuple(0.0 if i == j else price(amount) for j, amount in enumerate(row))
                for i, row in enumerate(self.errors)
            ),
            reject=tuple(map(price, self.reject)),
            by_answer_to_novelty=None if novelty is None else tuple(map(price, novelty)),
            by_class_as_novelty=None if as_novelty is None else tuple(map(price, as_novelty)),
        )
        return mapped

    @property
    def rejecting_pays(self) -> bool:
        """Whether rejecting is the cheapest answer at some probabilities."""
        return _largest_paying_factor(self.errors, self.reject) > 1 + SPARE

    @property
    def symmetric(self) -> bool:
        """Whether every error costs the same, and every rejection."""
        return len(set(_off_diagonal(self.errors))) == 1 and len(set(self.reject)) == 1

    @property
    def largest_error(self) -> float:
        """The largest of the error prices: the unit of `score`."""
        return max(_off_diagonal(self.errors))

    @property
    def cheaper_error(self) -> float:
        """The smallest of the error prices: the unit of the prices in every fit."""
        return min(_off_diagonal(self.errors))

    def normalised(self) -> Costs:
        """Return the same prices with the cheapest error as the unit: what a fit sees, whatever the currency."""
        self._require_comparable()
        unit = self.cheaper_error
        return self._mapped(lambda price: relative_price(price, unit))

    def matrix(self, n_classes: int | None = None) -> Floats:
        """Price of every answer to every kind of case; see `Costs.matrix`."""
        n = self.n_classes
        if n_classes not in (None, n):
            raise ValueError(f"{self!r} has prices of {n} classes, and there are {n_classes}.")
        matrix = np.zeros((n + 1, n + 2))
        matrix[:-1, :-2] = self.errors
        matrix[:-1, -2] = self.reject
        matrix[:-1, -1] = self.reject if self.by_class_as_novelty is None else self.by_class_as_novelty
        dearest = matrix[:-1, :-2].max(axis=0)  # of the errors with each answer
        matrix[-1, :-2] = dearest if self.by_answer_to_novelty is None else self.by_answer_to_novelty
        return matrix

    def require_rejecting_pays(self, n_classes: int = 0) -> None:
        """Raise ValueError when no case would ever be rejected at these prices, or they are not comparable."""
        self._require_comparable()
        if self.rejecting_pays:
            return
        factor = _largest_paying_factor(self.errors, self.reject)
        largest = [f"{factor * price:.6g}" for price in self.reject]
        if len(set(largest)) == 1:
            remedy = f"The largest reject price that pays is just below {largest[0]}."
        else:
            remedy = f"Reject prices pay that are less than {factor:.6g} times as large."
        shown = repr(self) if self.n_classes <= _SHOWN else f"the prices of {self.n_classes} classes"
        raise ValueError(f"Rejecting never pays at {shown}: answering never costs more. {remedy}")

    def as_dict(self) -> dict[str, Any]:
        """The prices by name, without those that were left to their default; what `Costs` takes."""
        named = list(range(self.n_classes)) if self.classes is None else list(self.classes)
        given: dict[str, Any] = {"errors": self.errors, "reject": self.reject}
        if self.classes is not None:
            given["errors"] = {
                truth: {answer: price for answer, price in zip(named, row, strict=True) if answer != truth}
                for truth, row in zip(named, self.errors, strict=True)
            }
            given["reject"] = dict(zip(named, self.reject, strict=True))
        if self.by_answer_to_novelty is not None:
            given["novelty_error"] = self._shown(self.by_answer_to_novelty)
        if self.by_class_as_novelty is not None:
            given["reject_novelty"] = self._shown(self.by_class_as_novelty)
        return given | ({"reject": self.reject[0]} if len(set(self.reject)) == 1 else {})

    def _shown(self, prices: tuple[float, ...]) -> Any:
        """Prices by class as a user would write them."""
        if len(set(prices)) == 1:
            return prices[0]
        return prices if self.classes is None else dict(zip(self.classes, prices, strict=True))

    def _prices(self) -> Iterable[float]:
        optional = (self.by_answer_to_novelty or ()) + (self.by_class_as_novelty or ())
        return (*_off_diagonal(self.errors), *self.reject, *optional)

    def __repr__(self) -> str:
        return f"Costs({', '.join(f'{name}={value!r}' for name, value in self.as_dict().items())})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ClassCosts) and self._key == other._key

    def __hash__(self) -> int:
        return hash(self._key)

    @property
    def _key(self) -> tuple[Any, ...]:
        return self.classes, self.errors, self.reject, self.by_answer_to_novelty, self.by_class_as_novelty

    def table(self) -> str:
        """The prices, and between each two classes the probabilities at which a person decides, for people to read."""
        names = [repr(i) for i in (range(self.n_classes) if self.classes is None else self.classes)]
        head = ["price (row: true class)", *names, "review"]
        rows = [
            [name, *(f"{price:.4g}" for price in row), f"{reject:.4g}"]
            for name, row, reject in zip(names, self.errors, self.reject, strict=True)
        ]
        widths = [max(map(len, column)) for column in zip(head, *rows, strict=True)]
        lines = [
            "  ".join([row[0].ljust(widths[0]), *(cell.rjust(w) for cell, w in zip(row[1:], widths[1:], strict=True))])
            for row in (head, *rows)
        ]
        if not self.rejecting_pays:
            lines.append("rejecting never pays")
        elif self.n_classes <= _SHOWN:
            lines += [self._pair_line(names, i, j) for i, j in combinations(range(self.n_classes), 2)]
        return "\n".join(lines)

    def _pair_line(self, names: list[str], i: int, j: int) -> str:
        prices = self._taken([i, j], (0, 1)).between(0, 1)
        lower, upper = (f"{p:.3g}" for p in prices.thresholds)
        if not prices.rejecting_pays:
            return f"{names[i]} or {names[j]}: no review; {names[j]} where its probability is above {upper}"
        return f"{names[i]} or {names[j]}: review while the probability of {names[j]} is between {lower} and {upper}"


def _read_errors(errors: Any) -> tuple[tuple[Any, ...] | None, Rows]:
    """The classes, where they are named, and the price of each answer to each."""
    if hasattr(errors, "columns") and hasattr(errors, "to_dict"):  # a DataFrame: rows truth, columns answer
        errors = {truth: dict(row) for truth, row in zip(errors.index, errors.to_dict("records"), strict=True)}
    if isinstance(errors, Mapping):
        return _read_named(errors)
    try:
        matrix: NDArray[Any] = np.asarray(errors, dtype=object)
    except ValueError:
        matrix = np.zeros(0, dtype=object)
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1] or len(matrix) < 2:
        raise ValueError(
            "errors must be a square table, with a row for each true class and a column for each answer; got "
            f"{type(errors).__name__}{f' of shape {matrix.shape}' if matrix.size else ''}."
        )
    return None, _checked(matrix.tolist(), [str(i) for i in range(len(matrix))])


def _read_named(errors: Mapping[Any, Any]) -> tuple[tuple[Any, ...], Rows]:
    classes = [to_python(truth) for truth in errors]
    if len(classes) < 2:
        raise ValueError(f"errors must have prices of two classes at least; got {preview(classes)}.")
    rows = {}
    for truth, row in zip(classes, errors.values(), strict=True):
        if not isinstance(row, Mapping):
            raise TypeError(f"errors[{truth!r}] must be a dict of prices by answer; got {row!r}.")
        rows[truth] = {to_python(answer): price for answer, price in row.items()}
    unknown = [answer for row in rows.values() for answer in row if answer not in rows]
    if unknown:
        raise ValueError(
            f"errors prices the answers {preview(unknown)}, which are no true class: give every class a row of its own."
        )
    matrix = [[rows[i].get(j, 0.0 if i == j else None) for j in classes] for i in classes]
    for truth, row in zip(classes, matrix, strict=True):
        for answer, price in zip(classes, row, strict=True):
            if price is None:
                raise ValueError(f"errors[{truth!r}][{answer!r}] is missing: give the price of this error.")
    return tuple(classes), _checked(matrix, [repr(label) for label in classes])


def _checked(matrix: list[list[Any]], names: list[str]) -> Rows:
    """Prices as floats; the diagonal, right answers, is free."""
    rows = []
    for i, row in enumerate(matrix):
        prices = []
        for j, price in enumerate(row):
            cell = f"errors[{names[i]}][{names[j]}]"
            if i != j:
                prices.append(check_price(cell, price))
            elif price == 0:
                prices.append(0.0)
            else:
                raise ValueError(f"{cell} must be 0, as the answer is right; got {price!r}.")
        rows.append(tuple(prices))
    return tuple(rows)


def _read_by_class(name: str, given: Any, classes: tuple[Any, ...] | None, n: int) -> tuple[float, ...]:
    """One price for each class."""
    if hasattr(given, "index") and hasattr(given, "to_dict"):  # a Series
        given = given.to_dict()
    if isinstance(given, Mapping):
        if classes is None:
            raise ValueError(f"{name} names classes, and errors does not: give errors as a dict of dicts, too.")
        by_class = {to_python(label): price for label, price in given.items()}
        if set(by_class) != set(classes):
            raise ValueError(f"{name} must have a price for each of {preview(classes, n)}; got {preview(by_class, n)}.")
        return tuple(check_price(f"{name}[{label!r}]", by_class[label]) for label in classes)
    if isinstance(given, Iterable) and not isinstance(given, str):
        prices = tuple(check_price(f"{name}[{i}]", price) for i, price in enumerate(given))
        if len(prices) != n:
            raise ValueError(f"{name} must have a price for each of {n} classes, or be one number; got {len(prices)}.")
        return prices
    return (check_price(name, given),) * n


def _read_optional(name: str, given: Any, classes: tuple[Any, ...] | None, n: int) -> tuple[float, ...] | None:
    return None if given is None else _read_by_class(name, given, classes, n)


def _off_diagonal(matrix: Rows) -> list[float]:
    return [price for i, row in enumerate(matrix) for j, price in enumerate(row) if i != j]


@lru_cache(maxsize=64)
def _largest_paying_factor(errors: Rows, reject: tuple[float, ...]) -> float:
    """By how much reject prices could be multiplied before rejecting is nowhere cheaper than the best answer.

    The largest t with ``min_j sum_y p[y] C[y, j] >= t`` and ``sum_y p[y] c[y] = 1`` for some p >= 0: a linear program.
    """
    from scipy.optimize import linprog  # slow to import, and needed for three or more classes only

    unit = min(_off_diagonal(errors))
    prices, rejections = np.array(errors) / unit, np.array(reject) / unit
    n = len(prices)
    found = linprog(
        np.append(np.zeros(n), -1.0),
        A_ub=np.column_stack([-prices.T, np.ones(n)]),
        b_ub=np.zeros(n),
        A_eq=np.append(rejections, 0.0)[None, :],
        b_eq=[1.0],
        bounds=[(0, None)] * (n + 1),
    )
    factor = float(-found.fun)
    return 1.0 if abs(factor - 1.0) < _EQUAL else factor  # 1 but for rounding: both cost the same
