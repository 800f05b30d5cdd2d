"""The steps before the classifier, as features: which column of the table each came from, and what was done to it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.compose import ColumnTransformer
from sklearn.feature_selection import SelectorMixin
from sklearn.impute import SimpleImputer
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import MaxAbsScaler, MinMaxScaler, OneHotEncoder, RobustScaler, StandardScaler

from ..explaining.sources import positions
from ..labels import preview
from ..tables import TableColumns
from ..tables.writings import is_number_writing
from .features import (
    SINGLE_LIMIT,
    CannotExportError,
    CategoryFeature,
    Feature,
    LevelFeature,
    LostFeature,
    NumberFeature,
)
from .program import DATE, NUMBER, TEXT, YES_NO, Column, DecisionProgram


def read_columns(program: DecisionProgram, names: list[str], kinds: list[str]) -> list[Feature]:
    """Let a program read these columns; return them as features."""
    program.columns = [Column(name, kind) for name, kind in zip(names, kinds, strict=True)]
    return [CategoryFeature(i) if kind == TEXT else NumberFeature(i) for i, kind in enumerate(kinds)]


def read_table(program: DecisionProgram, columns: TableColumns) -> list[Feature]:
    """The columns of a first step on tables."""
    kinds = {"number": NUMBER, "yes/no": YES_NO, "date": DATE, "text": TEXT}
    written = sorted(set(columns.writings_))
    if written:
        program.notes.append(f"Numbers and dates must be plain here; the training table wrote {written} otherwise.")
    writings = columns.writings_.items()
    percent = sorted(name for name, writing in writings if is_number_writing(writing) and writing.endswith("%"))
    if percent:
        program.notes.append(f"Percentages are parts of 1 here: 10.5 % in {preview(percent)} is 0.105.")
    return read_columns(program, list(columns.columns_), [kinds[kind] for kind in columns.kinds_])


def follow(program: DecisionProgram, step: Any, features: list[Feature], names: list[Any]) -> list[Feature]:
    """What a fitted step makes of features."""
    if step is None or (isinstance(step, str) and step == "passthrough"):
        return features
    if hasattr(step, "input_to_outputs_"):
        return _of_table_vectorizer(program, step, features, names)
    for kind, made in _STEPS:
        if isinstance(step, kind):
            return made(program, step, features, names)
    raise CannotExportError(
        f"{type(step).__name__} cannot be exported: use SimpleImputer, StandardScaler, OneHotEncoder, a "
        "ColumnTransformer of these, or let recuse.fit prepare the table."
    )


def without_unread(program: DecisionProgram, features: list[Feature]) -> list[Feature]:
    """The features, after the columns that none of them reads have left the program."""
    read = sorted({feature.column for feature in features if not isinstance(feature, LostFeature)})
    program.columns = [program.columns[i] for i in read]
    return [f if isinstance(f, LostFeature) else replace(f, column=read.index(f.column)) for f in features]


def _of_pipeline(program: DecisionProgram, step: Pipeline, features: list[Feature], names: list[Any]) -> list[Feature]:
    for _, inner in step.steps:
        features = follow(program, inner, features, names)
        names = names_out(inner, names, len(features))
    return features


def names_out(step: Any, names: list[Any], n: int) -> list[Any]:
    """Names of the columns that a step returns; positions where it has none."""
    if isinstance(step, str) or step is None:
        return names
    try:
        found = list(step.get_feature_names_out())
    except (AttributeError, ValueError, TypeError):
        found = []
    return found if len(found) == n else list(range(n))


def _of_column_transformer(
    program: DecisionProgram, step: ColumnTransformer, features: list[Feature], names: list[Any]
) -> list[Feature]:
    found: dict[int, Feature] = {}
    for name, transformer, columns in step.transformers_:
        if isinstance(transformer, str) and transformer == "drop":
            continue
        chosen = positions(columns, names)
        if chosen is None:
            raise CannotExportError(f"The columns of {name!r} in a ColumnTransformer are not known: name them.")
        made = follow(program, transformer, [features[i] for i in chosen], [names[i] for i in chosen])
        place = step.output_indices_[name]
        found |= dict(zip(range(place.start, place.stop), made, strict=True))
    return [found[i] for i in range(len(found))]


def _of_imputer(
    program: DecisionProgram, step: SimpleImputer, features: list[Feature], names: list[Any]
) -> list[Feature]:
    if step.indicator_ is not None or not _is_nan(step.missing_values):
        raise CannotExportError("SimpleImputer is exported with missing_values=nan and without add_indicator only.")
    filled: list[Feature] = []
    for feature, value in zip(features, step.statistics_.tolist(), strict=True):
        if _is_nan(value) and not step.keep_empty_features:
            continue  # a column without a value is dropped
        filled.append(_number(feature).then("fill", 0.0 if _is_nan(value) else float(value)))
    return filled


def _is_nan(value: Any) -> bool:
    return value is None or value != value


def _number(feature: Feature) -> NumberFeature | LevelFeature | LostFeature:
    if isinstance(feature, CategoryFeature):
        raise CannotExportError("A column of text is filled in or scaled before it is encoded: encode it first.")
    return feature


def _scaled(*changes: tuple[str, str]) -> Callable[..., list[Feature]]:
    """What a scaler does: operators, each by an attribute that may be None."""

    def made(program: DecisionProgram, step: Any, features: list[Feature], names: list[Any]) -> list[Feature]:
        if getattr(step, "clip", False):
            raise CannotExportError("MinMaxScaler(clip=True) cannot be exported: use clip=False.")
        for op, name in changes:
            by = getattr(step, name, None)
            if by is not None:
                features = [
                    _number(feature).then(op, value) for feature, value in zip(features, by.tolist(), strict=True)
                ]
        return features

    return made


def _of_selection(program: DecisionProgram, step: Any, features: list[Feature], names: list[Any]) -> list[Feature]:
    return [features[i] for i in step.get_support(indices=True)]


def _of_one_hot(
    program: DecisionProgram, step: OneHotEncoder, features: list[Feature], names: list[Any]
) -> list[Feature]:
    """Each level's columns, as the encoder itself gives them."""
    if step.handle_unknown != "ignore" or hasattr(step, "infrequent_categories_"):
        raise CannotExportError("OneHotEncoder is exported with handle_unknown='ignore' and without rare levels only.")
    found: list[Feature] = []
    for i, feature in enumerate(features):
        if isinstance(feature, NumberFeature) and (feature.part or feature.changes or feature.fill is not None):
            raise CannotExportError(f"OneHotEncoder of changed numbers, in column {names[i]!r}, cannot be exported.")
        if isinstance(feature, LevelFeature | LostFeature):
            raise CannotExportError(f"OneHotEncoder of what another step made, {names[i]!r}, cannot be exported.")
        read_levels(program, feature.column, [x for x in step.categories_[i].tolist() if not _is_missing(x)])
        found += _one_hot(feature, step.categories_[i], None if step.drop_idx_ is None else step.drop_idx_[i])
    return found


def read_levels(program: DecisionProgram, column: int, levels: Sequence[Any]) -> None:
    """Let a program read a column whose values are levels: as text, or as numbers."""
    before = program.columns[column]
    known = tuple(dict.fromkeys((*before.levels, *levels)))
    if not known:
        return
    if all(isinstance(level, bool) for level in known):
        kind = YES_NO
    elif all(isinstance(level, str) for level in known):
        kind = TEXT
    elif all(isinstance(level, int | float) for level in known):
        kind = before.kind
    else:
        raise CannotExportError(
            f"The categories of the column {before.name!r} are text and numbers: make all of them text."
        )
    program.columns[column] = replace(before, kind=kind, levels=known)


def _one_hot(feature: NumberFeature | CategoryFeature, categories: Any, dropped: Any) -> list[Feature]:
    """Whether a case has each level; a missing value is a level where training had one."""
    known = [level for level in categories.tolist() if not _is_missing(level)]
    made: list[Feature] = []
    for j, level in enumerate(categories.tolist()):
        if j != dropped:
            missing = _is_missing(level)
            values = [float(not missing and other == level) for other in known]
            made.append(LevelFeature(feature.column, tuple(known), np.array([*values, 0.0, float(missing)])))
    return made


def _is_missing(level: Any) -> bool:
    return type(level).__name__ in ("NoneType", "NAType") or (isinstance(level, float) and level != level)


def _of_table_vectorizer(
    program: DecisionProgram, step: Any, features: list[Feature], names: list[Any]
) -> list[Feature]:
    """What skrub's preparation makes of each column, in the order of its outputs."""
    made: dict[str, Feature] = {}
    for name, feature in zip(names, features, strict=True):
        outputs = step.input_to_outputs_.get(name, [])
        made |= dict(zip(outputs, _encoded(program, step, name, feature, outputs), strict=True))
    return [made[output] for output in step.all_outputs_]


def _encoded(program: DecisionProgram, step: Any, name: str, feature: Feature, outputs: list[str]) -> list[Feature]:
    """The columns that are made of one; numbers are rounded to single precision."""
    encoder = step.transformers_.get(name)
    kind = type(encoder).__name__
    if isinstance(feature, NumberFeature) and program.columns[feature.column].kind != DATE and kind == "PassThrough":
        program.columns[feature.column] = replace(program.columns[feature.column], limit=SINGLE_LIMIT)
        return [replace(feature, single=True)]
    if isinstance(feature, NumberFeature) and kind == "DatetimeEncoder" and encoder.periodic_encoding is None:
        return [NumberFeature(feature.column, part, single=True) for part in encoder.extracted_features_]
    if isinstance(feature, CategoryFeature) and kind in ("OneHotEncoder", "ToCategorical"):
        program.columns[feature.column] = replace(program.columns[feature.column], nulls=_null_texts(step, name))
        if kind == "ToCategorical":
            return [CategoryFeature(feature.column)]
        levels = _of_one_hot(program, encoder, [feature], [name])
        return [replace(level, values=level.values.astype(np.float32).astype(float)) for level in levels
                if isinstance(level, LevelFeature)]  # fmt: skip
    why = (
        f"The column {name!r} is prepared by {kind}, which cannot be exported: leave the column out, as in "
        f"recuse.fit(..., drop=[{name!r}])."
    )
    return [LostFeature(why) for _ in outputs]


def _null_texts(step: Any, name: str) -> tuple[str, ...]:
    """Texts that the preparation of a column takes for a missing value."""
    from skrub import _clean_null_strings

    cleans = any(type(done).__name__ == "CleanNullStrings" for done in step.all_processing_steps_[name])
    return tuple(_clean_null_strings.STR_NA_VALUES) if cleans else ()


_STEPS: tuple[tuple[Any, Callable[..., list[Feature]]], ...] = (
    (Pipeline, _of_pipeline),
    (ColumnTransformer, _of_column_transformer),
    (SimpleImputer, _of_imputer),
    (StandardScaler, _scaled(("-", "mean_"), ("/", "scale_"))),
    (RobustScaler, _scaled(("-", "center_"), ("/", "scale_"))),
    (MinMaxScaler, _scaled(("*", "scale_"), ("+", "min_"))),
    (MaxAbsScaler, _scaled(("/", "scale_"))),
    (OneHotEncoder, _of_one_hot),
    (SelectorMixin, _of_selection),
)
