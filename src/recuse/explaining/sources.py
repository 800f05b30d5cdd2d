"""Which column of the table each column of a prepared one was made from.

Scalers keep columns, encoders make several of one, selections leave some out; what is known of these kinds of
transformers is here. One that mixes columns, as principal components do, or that is not known, has no answer.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.base import OneToOneFeatureMixin
from sklearn.compose import ColumnTransformer
from sklearn.feature_selection import SelectorMixin
from sklearn.impute import KNNImputer, MissingIndicator, SimpleImputer
from sklearn.pipeline import FeatureUnion, Pipeline
from sklearn.preprocessing import (
    FunctionTransformer,
    KBinsDiscretizer,
    Normalizer,
    OneHotEncoder,
    SplineTransformer,
)

from ..arrays import Indices


def column_sources(step: Any, names: list[Any]) -> Indices | None:
    """Position, in the columns that a fitted transformer is given, of what each column it returns is made from.

    Parameters
    ----------
    step : transformer, Pipeline, "passthrough" or None
        Fitted.
    names : list
        Names of the columns that it is given, or their positions if they have none.

    Returns
    -------
    ndarray of int or None
        None if that is not known, or if a column is made from several.
    """
    if step is None or (isinstance(step, str) and step == "passthrough"):
        return np.arange(len(names))
    if hasattr(step, "input_to_outputs_"):  # skrub's preparation of a table
        return _of_table_vectorizer(step, names)
    for kind, find in _KINDS:
        if isinstance(step, kind):
            return find(step, names)
    own = getattr(step, "_column_sources", None)
    return None if own is None else np.asarray(own(names), dtype=np.intp)


def _of_pipeline(pipeline: Pipeline, names: list[Any]) -> Indices | None:
    found = np.arange(len(names))
    for _, step in pipeline.steps:
        made_from = column_sources(step, names)
        if made_from is None:
            return None
        found = found[made_from]
        names = _names_out(step, names, len(made_from))
    return found


def _names_out(step: Any, names: list[Any], n: int) -> list[Any]:
    """Names of the columns that a step returns; their positions where it does not know them."""
    if isinstance(step, str) or step is None:
        return names
    try:
        found = list(step.get_feature_names_out())
    except (AttributeError, ValueError, TypeError):
        found = []
    return found if len(found) == n else list(range(n))


def _of_column_transformer(step: ColumnTransformer, names: list[Any]) -> Indices | None:
    found = np.full(sum(part.stop - part.start for part in step.output_indices_.values()), -1)
    for name, transformer, columns in step.transformers_:
        if isinstance(transformer, str) and transformer == "drop":
            continue
        chosen = positions(columns, names)
        made_from = None if chosen is None else column_sources(transformer, [names[i] for i in chosen])
        if chosen is None or made_from is None:
            return None
        found[step.output_indices_[name]] = chosen[made_from]
    return None if (found < 0).any() else found


def positions(columns: Any, names: list[Any]) -> Indices | None:
    """Positions of columns given by name, position, mask or slice; None for others."""
    if isinstance(columns, slice):
        if not all(isinstance(edge, int | None) for edge in (columns.start, columns.stop)):
            return None
        return np.arange(len(names))[columns]
    wanted = np.asarray([columns] if isinstance(columns, str) else columns)
    if wanted.dtype.kind == "b":
        return np.flatnonzero(wanted)
    if wanted.dtype.kind in "iu":
        return wanted.astype(np.intp)
    return np.array([names.index(name) for name in wanted.tolist()], dtype=np.intp)


def _of_union(step: FeatureUnion, names: list[Any]) -> Indices | None:
    parts = [column_sources(part, names) for _, part in step.transformer_list if part != "drop"]
    known = [part for part in parts if part is not None]
    return np.concatenate(known) if len(known) == len(parts) and parts else None


def _of_imputer(step: SimpleImputer, names: list[Any]) -> Indices:
    dropped = (
        [] if step.keep_empty_features else [value is None or value != value for value in step.statistics_.tolist()]
    )
    kept = np.flatnonzero(~np.array(dropped, dtype=bool)) if dropped else np.arange(len(names))
    return kept if step.indicator_ is None else np.concatenate([kept, step.indicator_.features_])


def _of_one_hot(step: OneHotEncoder, names: list[Any]) -> Indices:
    return np.repeat(np.arange(len(names)), [_width(step, i) for i in range(len(names))])


def _width(step: OneHotEncoder, i: int) -> int:
    """Columns that an encoder makes of its column i; rare categories share one, and one may be dropped."""
    rare = step.infrequent_categories_[i] if hasattr(step, "infrequent_categories_") else None
    n = len(step.categories_[i]) - (0 if rare is None else len(rare) - 1)
    return n - int(step.drop_idx_ is not None and step.drop_idx_[i] is not None)


def _of_bins(step: KBinsDiscretizer, names: list[Any]) -> Indices:
    return np.arange(len(names)) if step.encode == "ordinal" else np.repeat(np.arange(len(names)), step.n_bins_)


def _of_splines(step: SplineTransformer, names: list[Any]) -> Indices:
    return np.repeat(np.arange(len(names)), step.n_features_out_ // len(names))


def _of_function(step: FunctionTransformer, names: list[Any]) -> Indices | None:
    """A function is known to keep columns where it says so, or does nothing."""
    return np.arange(len(names)) if step.func is None or step.feature_names_out == "one-to-one" else None


def _of_table_vectorizer(step: Any, names: list[Any]) -> Indices | None:
    made = {output: name for name, outputs in step.input_to_outputs_.items() for output in outputs}
    if any(output not in made or made[output] not in names for output in step.all_outputs_):
        return None
    return np.array([names.index(made[output]) for output in step.all_outputs_], dtype=np.intp)


def _kept(step: Any, names: list[Any]) -> Indices:
    return np.arange(len(names))


# The first kind that fits: a normaliser keeps the names of its columns, and yet each of its columns depends on all.
_KINDS: tuple[tuple[Any, Callable[[Any, list[Any]], Indices | None]], ...] = (
    (Pipeline, _of_pipeline),
    (ColumnTransformer, _of_column_transformer),
    (FeatureUnion, _of_union),
    (SimpleImputer, _of_imputer),
    (OneHotEncoder, _of_one_hot),
    (KBinsDiscretizer, _of_bins),
    (SplineTransformer, _of_splines),
    (FunctionTransformer, _of_function),
    (Normalizer | KNNImputer, lambda step, names: None),
    (MissingIndicator, lambda step, names: np.asarray(step.features_, dtype=np.intp)),
    (SelectorMixin, lambda step, names: step.get_support(indices=True)),
    (OneToOneFeatureMixin, _kept),
)
