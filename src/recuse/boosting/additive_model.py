"""What the boosted models that are sums over features share: categories, importances, tables of shapes, and edits."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from dataclasses import replace
from datetime import UTC, datetime
from itertools import pairwise
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from ..arrays import Floats
from ..decisions import Evaluation
from ..explaining import SCORE, Contributions
from ..labels import preview, to_python
from ..parameters import check_weights
from ..validation import check_outcomes, require_in_memory, validate_data
from .categories import Categories
from .edits import Edit, EditCost, check_action, edit_cost, edit_form, edit_surface
from .reasons import feature_names
from .shapes import AdditiveForm, ShapeFunction
from .surfaces import SurfaceFunction

INTERCEPT = "(intercept)"
Term = int | tuple[int, int]  # number of a column, or of the two columns of a pair


class AdditiveModelMixin(ABC):
    """Base of the classifiers whose scores are sums over features.

    A subclass defines `_forms`, `_with_forms` and `_published_constants`, and calls `_numbers` on every table.
    """

    _categories: Categories
    n_features_in_: int
    classes_: NDArray[Any]

    @abstractmethod
    def _forms(self) -> list[AdditiveForm]:
        """The additive form of the scores and, where a score is stacked, that of this score; none for trees."""

    @abstractmethod
    def _with_forms(self, forms: list[AdditiveForm], *, monotone: bool = False) -> Self:
        """A copy of the model with other forms, without what was certified of the forms of `fit`.

        If `monotone`, h has to be so along some feature: no boundary that moves with r may be taken off it.
        """

    @abstractmethod
    def _published_constants(self) -> tuple[float, float]:
        """What has to be added to the sums over the features to get the published h and r, where it is a constant."""

    @abstractmethod
    def _evaluate(self, X: Any) -> Evaluation:
        """Scores h and r of each case."""

    @abstractmethod
    def _staged(self, X: Any, **params: Any) -> Iterator[Evaluation]:
        """Scores of each case after each stage of the fit."""

    def staged_decision_function(self, X: Any, **params: Any) -> Iterator[Floats]:
        """Class score h of each case after each stage of the fit: each round of boosting, or each run of ExactBoost.

        Thresholds are those of the whole fit, and the last stage is the model itself. An edited model, and one with
        pair terms, has no stages.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Cases.
        **params
            What `decision_function` takes besides, such as ``init_score``.

        Yields
        ------
        ndarray of shape (n_samples,)
        """
        yield from (evaluation.h for evaluation in self._checked_stages(X, params))

    def staged_score_samples(self, X: Any, **params: Any) -> Iterator[Floats]:
        """Acceptance score r of each case after each stage of the fit: see `staged_decision_function`."""
        yield from (evaluation.r for evaluation in self._checked_stages(X, params))

    def staged_predict(self, X: Any, **params: Any) -> Iterator[NDArray[Any]]:
        """Answers to each case after each stage of the fit: see `staged_decision_function`."""
        model: Any = self
        model._check_on_reject()
        yield from (model._answer(evaluation) for evaluation in self._checked_stages(X, params))

    def _checked_stages(self, X: Any, params: Mapping[str, Any]) -> Iterator[Evaluation]:
        check_is_fitted(self)
        if self.edits_ or any(getattr(form, "surfaces", ()) for form in self._forms()):
            raise ValueError("A model that was edited, or has pair terms, has no stages: take those of a fit without.")
        return self._staged(X, **params)

    def _contributions(self, X: Any) -> Contributions | None:
        """What each column adds to h, less its mean over the training cases; half of a pair term to either column."""
        if self._starts_from_score or len(self._forms()) != 1:
            return None  # trees, and scores that stand on another score, are not sums over columns
        columns = self._by_term(X, of_r=False).without_pairs()
        return replace(columns, base=self._evaluate(X).h - columns.amounts.sum(axis=1))

    def _speaking(self, X: Any) -> Contributions | None:
        """The same with pairs by themselves; also where the score stands on another, which is no column's."""
        return self._by_term(X, of_r=False) if self._forms() else None

    def _hardening(self, X: Any) -> Contributions | None:
        """What each column and each pair adds to r, less its mean over the training cases, if r was learned."""
        return self._by_term(X, of_r=True) if self._forms() and self._learned_r else None

    def _by_term(self, X: Any, *, of_r: bool) -> Contributions:
        """What each column and each pair term adds to h, or to r, beyond what it adds to an average case."""
        whole, p = self._forms()[0], self.n_features_in_
        # A stacked score is one more feature behind the columns.
        form = replace(whole, shapes=[shape for shape in whole.shapes if shape.feature < p])
        amounts = form.deviations(self._numbers(X))[int(of_r)]
        note = " (beside the score that it starts from)" if self._starts_from_score else ""
        pairs = tuple(surface.features for surface in form.surfaces)
        return Contributions(amounts, np.zeros(len(amounts)), SCORE, note=note, pairs=pairs)

    @property
    def _starts_from_score(self) -> bool:
        """Whether the scores stand on those of another model."""
        forms = self._forms()
        return len(forms) > 1 or any(shape.feature >= self.n_features_in_ for form in forms for shape in form.shapes)

    @property
    def _learned_r(self) -> bool:
        """Whether r is a sum over features of its own, and does not follow from h."""
        return False

    def _numbers(self, X: Any) -> NDArray[Any]:
        """Checked cases as numbers, categories by the number of their level."""
        require_in_memory(self, X)  # before its categories are looked at
        X = getattr(self, "_categories", Categories()).encode(X)
        checked: NDArray[Any] = validate_data(
            self, X, reset=False, dtype=[np.float64, np.float32], ensure_all_finite="allow-nan"
        )
        return checked

    @property
    def categories_(self) -> dict[int, tuple[Any, ...]]:
        """Levels of each column that holds categories, by the number of the column."""
        check_is_fitted(self)
        return getattr(self, "_categories", Categories()).by_column()

    @property
    def edits_(self) -> list[Edit]:
        """The edits of this model since it was fitted, from the first to the last."""
        check_is_fitted(self)
        return list(getattr(self, "_edits", []))

    @property
    def importances_(self) -> dict[str, Floats]:
        """Share of each feature in the class score "h" and in the acceptance score "r"; "r" where one is learned.

        How far what it adds lies from its mean, on average over the training cases. Either feature of a pair gets half
        of what the pair adds; what a stacked score adds is shared out as its own functions are.
        """
        check_is_fitted(self)
        h, r = _spreads(self._additive_forms(), self.n_features_in_)
        return {name: spread / spread.sum() for name, spread in (("h", h), ("r", r)) if spread.sum() > 0}

    @property
    def feature_importances_(self) -> Floats:
        """Share of each feature in the scores: the mean of its shares in `importances_`. They sum to 1."""
        shares = list(self.importances_.values())
        return np.mean(shares, axis=0) if shares else np.zeros(self.n_features_in_)

    def _additive_forms(self) -> list[AdditiveForm]:
        forms = self._forms()
        if not forms:
            raise AttributeError(
                f"This {type(self).__name__} is not a sum over features: only boosted stumps are (max_depth=1)."
            )
        return forms

    def shape_table(self) -> Any:
        """What every cell of every feature adds to the scores, as a data frame: a model for a database.

        One row per interval, level or missing value; an interval holds the values above `low` and not above `high`. A
        row of a pair term has a second feature, "feature_2" and so on, and holds for cases that fall into both. The
        scores of a case are the sums of `h` and of `r` over the rows that it falls into, and the row of the intercept.
        With unequal prices and a learned rejector the boundary between the classes moves with r; then, and with a
        stacked score, whose own rows have ``score=True``, `decision_function` is more than this sum. Levels that
        training did not have are looked up as missing.

        Returns
        -------
        DataFrame
            Columns "feature", "low", "high", "level", "missing", "h", "r", "share" (of the training cases), "score";
            with pair terms also "feature_2", "low_2", "high_2", "level_2" and "missing_2".
        """
        check_is_fitted(self)
        forms = self._additive_forms()
        names = [*feature_names(self), "stacked score"]
        rows: list[tuple[Any, ...]] = []
        for i, form in enumerate(forms):
            h, r = self._published_constants() if i == 0 else (0.0, 0.0)
            rows.append((INTERCEPT, None, None, None, False, form.h0 + h, form.r0 + r, 1.0, i > 0))
            for shape in form.shapes:
                rows.extend((names[shape.feature], *row, i > 0) for row in _rows(shape))
        columns = ["feature", "low", "high", "level", "missing", "h", "r", "share", "score"]
        table = as_frame(rows, columns)
        pairs = [
            (names[s.features[0]], *row[:4], *row[8:], False, names[s.features[1]], *row[4:8])
            for s in forms[0].surfaces  # a stacked score has none
            for row in _surface_rows(s, self.categories_)
        ]
        if not pairs:
            return table
        import pandas as pd

        columns += ["feature_2", "low_2", "high_2", "level_2", "missing_2"]
        return pd.concat([table, pd.DataFrame(pairs, columns=columns)], ignore_index=True)

    def edit(
        self,
        feature: Any,
        action: str,
        X: Any = None,
        y: Any = None,
        *,
        sample_weight: Any = None,
        by: str | None = None,
        why: str | None = None,
        params: Mapping[str, Any] | None = None,
        **details: Any,
    ) -> Self:
        """Return a copy of the model with one feature edited; the model itself stays as it is.

        The copy remembers its edits: see `edits_`. What was certified or bounded by the fit (`dual_gap_`,
        `generalization_bound`) does not hold for it, `stumps_` and `objective_` remain those of the fit, and stages and
        other candidates are gone. With a stacked score the edit applies to what the feature adds to either.

        Parameters
        ----------
        feature : str, int or tuple
            Name or number of the column; two of them for a pair term, which can be removed or capped.
        action : {"remove", "flatten", "set", "cap", "monotonise"}
            - "remove": every case gets the mean of what the feature adds; its pair terms go too, by both scores or by
              the one that ``scores`` names.
            - "flatten": values in the range ``low`` < x <= ``high``, or in ``levels``, all add their mean.
            - "set": they add ``h`` and ``r``.
            - "cap": no value adds less than ``at_least`` or more than ``at_most``.
            - "monotonise": the closest function that rises (``sign=1``) or falls (``sign=-1``); refused for a feature
              that is in a pair term. `decision_function` is monotone then: what is made of a stacked score is
              monotonised too, and the boundary between the classes no longer moves with r.

            All but "remove" leave pair terms as they are.
        X, y : array-like, optional
            Cases that the model was not fitted to, and their classes: what the edit costs is measured on them.
        sample_weight : array-like, optional
            Their weights.
        by, why : str, optional
            Who edits, and the reason.
        params : mapping, optional
            What scoring the cases needs besides X, such as ``{"init_score": scores}``.
        **details
            As said for the action; ``missing=True`` edits what a missing value adds too (alone, where no range or
            levels are given); ``scores="h"``, ``"r"`` or ``"both"`` says which of the two ("h" by default for "cap"
            and "monotonise", else both).

        Returns
        -------
        AbstentionBoostingClassifier or ExactBoostClassifier
            The edited copy.
        """
        check_is_fitted(self)
        check_action(action, details)
        term, name = self._find_term(feature)
        forms = self._additive_forms()
        before = _functions(forms, term, action, self.n_features_in_)
        if not before:
            known = feature_names(self)
            raise ValueError(
                f"{name!r} adds nothing to the scores of this model{' by itself' if isinstance(term, int) else ''}, so "
                f"there is nothing to edit: it uses {preview(_used_terms(forms, known))}."
            )
        monotone = action == "monotonise" and details.get("scores") != "r"
        edited = self._with_forms(self._edited_forms(forms, term, action, details), monotone=monotone)
        after = _functions(edited._forms(), term, action, self.n_features_in_)
        cost = None if X is None else self._cost_of_becoming(edited, X, y, sample_weight, dict(params or {}))
        at = datetime.now(UTC).isoformat(timespec="seconds")
        said = {key: to_python(value) for key, value in details.items()}
        edit = Edit(name, action, said, by, why, at, cost, before, after)
        edited._edits = [*self.edits_, edit]
        return edited

    _edits: list[Edit]

    def _edited_forms(
        self, forms: list[AdditiveForm], term: Term, action: str, details: Mapping[str, Any]
    ) -> list[AdditiveForm]:
        """All forms with an edit of one term."""
        if not isinstance(term, int):
            return [edit_surface(form, term, action, details) for form in forms]
        if action == "monotonise" and len(forms) > 1:
            if details.get("scores", "h") != "h":
                raise ValueError(
                    f"scores={details['scores']!r} does not go with action='monotonise' for a model with a stacked "
                    "score, on which r depends both ways: monotonise 'h' alone, or fit without stack."
                )
            # The stacked score becomes monotone along the feature, so what is made of it has to rise with it.
            forms = [edit_form(forms[0], self.n_features_in_, action, {"sign": 1}), *forms[1:]]
        return [edit_form(form, term, action, details) for form in forms]

    def _find_term(self, feature: Any) -> tuple[Term, str]:
        """Number and name of a column, or of a pair of them."""
        if isinstance(feature, list | tuple) and len(feature) == 2:
            (one, first), (two, second) = sorted(self._find_feature(part) for part in feature)
            return (one, two), f"{first} x {second}"
        return self._find_feature(feature)

    def _find_feature(self, feature: Any) -> tuple[int, str]:
        """Number and name of a column."""
        names = feature_names(self)
        if isinstance(feature, str):
            if feature not in names:
                raise ValueError(f"feature={feature!r} is not among the columns {preview(names)}.")
            return names.index(feature), feature
        if isinstance(feature, bool) or not isinstance(feature, int | np.integer) or not 0 <= feature < len(names):
            raise ValueError(
                f"feature must be the name of a column, or its number from 0 to {len(names) - 1}; got {feature!r}."
            )
        return int(feature), names[int(feature)]

    def _cost_of_becoming(self, other: Any, X: Any, y: Any, sample_weight: Any, params: dict[str, Any]) -> EditCost:
        """What the answers of another model cost more than those of this one."""
        model: Any = self
        truth = check_outcomes(X, y, self.classes_)
        weights = check_weights(sample_weight, len(truth))
        costs = model._oriented_costs()
        answers = [fitted._evaluate(X, **params).answers() for fitted in (model, other)]
        before, after = (costs.prices(truth, given) * model.costs_.cheaper_error for given in answers)
        return edit_cost(before, after, answers[0] != answers[1], weights)


def as_frame(rows: list[tuple[Any, ...]], columns: list[str]) -> Any:
    """Rows of a table of shapes as a data frame."""
    import pandas as pd

    return pd.DataFrame(rows, columns=columns).astype({"low": float, "high": float, "share": float})


def stacked_tables(tables: Mapping[Any, Any]) -> Any:
    """Data frames one below the other, the key of each in the first column, "class"."""
    import pandas as pd

    return pd.concat(tables, names=["class"]).reset_index("class").reset_index(drop=True)


def _functions(forms: list[AdditiveForm], term: Term, action: str, stacked: int) -> list[Any]:
    """The functions that an edit of a column, or of a pair, concerns; `stacked` is the column of a stacked score."""
    surfaces = [surface for form in forms for surface in form.surfaces]
    if not isinstance(term, int):
        return [surface for surface in surfaces if surface.features == term]
    shapes = [shape for form in forms for shape in form.shapes]
    own: list[Any] = [shape for shape in shapes if shape.feature == term]
    if action == "remove":  # pair terms of the column go with it
        own += [surface for surface in surfaces if term in surface.features]
    if action == "monotonise" and own:  # what is made of a stacked score is monotonised with it
        own += [shape for shape in shapes if shape.feature == stacked]
    return own


def _used_terms(forms: list[AdditiveForm], names: list[str]) -> list[str]:
    """Names of all features and pairs that a model uses."""
    columns = sorted({shape.feature for form in forms for shape in form.shapes if shape.feature < len(names)})
    return [names[f] for f in columns] + [s.name(names) for form in forms for s in form.surfaces]


def _surface_rows(surface: SurfaceFunction, levels: dict[int, tuple[Any, ...]]) -> list[tuple[Any, ...]]:
    """Rows of a pair term: low, high, level, missing of the first and of the second feature, h, r, share."""
    where = [
        [*_places(cuts, levels.get(f, ())), (None, None, None, True)]
        for f, cuts in zip(surface.features, surface.cuts, strict=True)
    ]
    share = np.full(surface.h.shape, np.nan) if surface.share is None else surface.share
    return [
        (*first, *second, float(surface.h[i, j]), float(surface.r[i, j]), float(share[i, j]))
        for i, first in enumerate(where[0])
        for j, second in enumerate(where[1])
    ]


def _places(cuts: Floats, levels: tuple[Any, ...]) -> list[tuple[Any, ...]]:
    """Low, high, level and missing of each cell of known values."""
    if levels:
        return [(None, None, level, False) for level in levels]
    edges = np.concatenate([[-np.inf], cuts, [np.inf]]).tolist()
    return [(low, high, None, False) for low, high in pairwise(edges)]


def _rows(shape: ShapeFunction) -> list[tuple[Any, ...]]:
    """Rows of a shape function: low, high, level, missing, h, r, share."""
    n = len(shape.h)
    share = [np.nan] * (n + 1) if shape.share is None else shape.share.tolist()
    known = zip(_places(shape.cuts, shape.levels), shape.h.tolist(), shape.r.tolist(), share[:n], strict=True)
    rows = [(*where, h, r, part) for where, h, r, part in known]
    return [*rows, (None, None, None, True, *shape.missing, share[n])]


def _spreads(forms: list[AdditiveForm], n_features: int) -> tuple[Floats, Floats]:
    """Mean distance from the mean of what each feature adds to h and to r."""
    h, r = np.zeros(n_features + 1), np.zeros(n_features + 1)
    for shape in forms[0].shapes:
        share = np.append(np.full(len(shape.h), 1.0 / len(shape.h)), 0.0) if shape.share is None else shape.share
        for out, values, lost in ((h, shape.h, shape.missing[0]), (r, shape.r, shape.missing[1])):
            table = np.append(values, lost)
            out[shape.feature] += share @ np.abs(table - share @ table)
    for surface in forms[0].surfaces:  # half of a pair to either feature
        share = np.full(surface.h.shape, 1.0 / surface.h.size) if surface.share is None else surface.share
        for out, values in ((h, surface.h), (r, surface.r)):
            out[list(surface.features)] += (share * np.abs(values - (share * values).sum())).sum() / 2
    if len(forms) > 1:
        of_score, _ = _spreads(forms[1:], n_features)
        total = of_score.sum()
        if total > 0 and h[-1] == r[-1] == 0.0:  # the stumps are added to what the score calls for
            h[:-1] += of_score
        elif total > 0:  # the score is a feature among others
            h[:-1] += h[-1] * of_score / total
            r[:-1] += r[-1] * of_score / total
    return h[:-1], r[:-1]
