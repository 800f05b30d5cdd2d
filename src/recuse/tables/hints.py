"""Hints: what in a table would make a comparison look better than it is, each with its remedy, in one sentence."""

from __future__ import annotations

import re
import shlex
from typing import Any

import numpy as np

from ..arrays import Flags, Indices
from .cases import Cases
from .columns import ISO_DAY
from .seen import MOST_CATEGORIES
from .writings import are_codes, first_padded, share_a_writing

_FEW_ROWS = 50  # up to this number of rows, values that are all different may be chance
_FEW_PEOPLE = 10  # fewer different values are categories, whatever the column is called
_LEAK = 0.98  # share of the cases, both classes alike, that a column tells right all by itself
_CASES_PER_VALUE = 5  # fewer in a category tell little about it
_MOST_MARKS = 3  # different words among numbers; more are no marks of what is unknown
_LEAST_VALUES = 5  # numbers for each word
_REPEATS = 10.0  # pairs of equal numbers to be expected of so many amounts, before it tells that there is none
_LONG_NUMBER = 8  # digits: as many in every row are those of a number given to it, not of an amount
_ROUND = 0.3  # share of numbers that end in 0; of amounts it is often more
_MANY_CASES = 50  # per value: more are a site or a category rather than a person
# Outcomes, the negative first, of which nobody asks which is the positive one.
_TELLING = {
    ("0", "1"),
    ("-1", "1"),
    ("false", "true"),
    ("f", "t"),
    ("no", "yes"),
    ("n", "y"),
    ("negative", "positive"),
    ("-", "+"),
}
_PERSON = r"patient|person|subject|participant|customer|client|user|member|individual|household|employee|student"
_NAMED_ID = re.compile(r"(.*_)?(u?id|uuid|index|key|no|num)|.*(nr|number|nummer)")
_ID = re.compile(rf"(.*_)?(u?id|uuid|index|mrn|ssn|email|({_PERSON})(_?(id|no|nr|num|number|code|key|name))?)")


def table_hints(cases: Cases) -> list[str]:
    """Say what in the table would make a comparison look better than it is: identifiers, people, copies of rows."""
    hints = mark_hints(cases.features) + identifier_hints(cases.features) + code_hints(cases.features)
    hints += leak_hints(cases)
    if cases.groups is None and cases.times is None:
        hints += person_hints(cases.features)
    return hints + copy_hints(cases)


def positive_hints(cases: Cases) -> list[str]:
    """Say that the positive outcome was guessed, unless the outcomes themselves tell which it is, such as 0 and 1."""
    negative, positive = cases.classes
    if (str(negative).lower(), str(positive).lower()) in _TELLING:
        return []
    return [
        f"{positive!r} is taken as the positive outcome of {cases.target!r} because it is the last when sorted: a miss "
        f"overlooks it, a false alarm wrongly reports it. Name the positive outcome with --positive "
        f"{shlex.quote(str(positive))} or --positive {shlex.quote(str(negative))} (in Python, positive=)"
    ]


def identifier_hints(features: Any) -> list[str]:
    """For each column that looks like an identifier, say how to leave it out.

    Its values are text or whole numbers, all different; of whole numbers the column's name or the numbers themselves
    must tell, too, since amounts may be all different as well. Small tables get no hints.
    """
    return [
        f"column {name!r} holds a different value in every row and looks like an identifier: {_leave_out(name)}"
        for name in features.columns
        if len(features) > _FEW_ROWS and _is_identifier(name, features[name])
    ]


def mark_hints(features: Any) -> list[str]:
    """For each column of text that would be numbers or dates but for a word or two, say how to have them."""
    return [
        f"column {name!r} is read as text because of {', '.join(map(repr, marks))} beside {example!r} and the like: "
        "if that means that nothing is known, say so with "
        f"--missing {shlex.quote(','.join(marks))} (in Python, recuse.tables.TableFile(..., missing={marks!r}))"
        for name in features.columns
        if (found := _marks_among(features[name])) is not None
        for marks, example in [found]
    ]


def code_hints(features: Any) -> list[str]:
    """For each column of codes, such as postcodes, say that models take them as numbers, and how to have categories."""
    hints = []
    for name in features.columns:
        values = _distinct_texts(features[name])
        if are_codes(values) and not _is_identifier(name, features[name]):
            code = first_padded(values)
            shorten = "keep the first digits only, " if len(values) > MOST_CATEGORIES else ""
            hints.append(
                f"column {name!r} holds digits with zeros in front, such as {code!r}, which models take as numbers: if "
                f"these are codes, as postcodes are, {shorten}write a letter in front to have categories, as in "
                f"C{code[:2] if shorten else code}, or {_leave_out(name)}"
            )
    return hints


def _distinct_texts(column: Any) -> list[Any]:
    """The different values of a column of text; none of another column."""
    import pandas as pd

    return column.dropna().unique().tolist() if column.dtype == object or pd.api.types.is_string_dtype(column) else []


def _marks_among(column: Any) -> tuple[list[str], str] | None:
    """The words that keep a column from being numbers or dates, and one of these; None if there is more to it."""
    marks: list[str] = []
    others: list[Any] = []
    for value in _distinct_texts(column):
        if isinstance(value, str) and not any(letter.isdigit() for letter in value):
            marks.append(value)
            if len(marks) > _MOST_MARKS or not _can_be_listed(value):
                return None
        else:
            others.append(value)
    if not marks or len(others) < _LEAST_VALUES * len(marks):
        return None
    texts = [value for value in others if isinstance(value, str)]
    if texts and not (all(map(ISO_DAY.match, texts)) or share_a_writing(texts)):
        return None
    return marks, str(others[0])


def leak_hints(cases: Cases) -> list[str]:
    """For each column that almost is the outcome, say how to leave it out."""
    if len(cases.outcomes) <= _FEW_ROWS:
        return []
    return [
        f"column {name!r} almost is the outcome (by itself it tells {share:.1%} of the cases right): if it is not "
        f"known before the outcome is, {_leave_out(name)}"
        for name in cases.features.columns
        if (share := _told(cases.features[name], cases)) >= _LEAK
    ]


def _told(column: Any, cases: Cases) -> float:
    """Share of the cases that one column tells right, counting all classes alike."""
    if cases.several:
        return told_by_values(column, cases.codes)
    return told_by(column, cases.outcomes == cases.positive)


def told_by_values(column: Any, codes: Indices) -> float:
    """The same of three classes or more, by the values of a column; 0 where it holds too many of them."""
    import pandas as pd

    try:
        places, values = pd.factorize(column.astype(object), use_na_sentinel=False)
    except TypeError:
        return 0.0  # lists and the like
    if len(values) * _CASES_PER_VALUE > len(column):
        return 0.0  # each value stands for few cases, and tells them by chance
    sizes = np.bincount(codes)
    cells = np.bincount(places * len(sizes) + codes, minlength=len(values) * len(sizes)).reshape(len(values), -1)
    return float((cells / sizes).max(axis=1).sum() / len(sizes))


def told_by(column: Any, positive: Flags) -> float:
    """Share of the cases that one column tells right, counting both classes alike; 0 where it holds too many values.

    Numbers and dates are cut at the best point, after which the other class begins; of categories, each stands for the
    class that is more frequent in it. Missing values are a category, and come before all numbers.
    """
    import pandas as pd

    weights = np.where(positive, 0.5 / positive.sum(), 0.5 / (~positive).sum())
    if pd.api.types.is_numeric_dtype(column) or pd.api.types.is_datetime64_any_dtype(column):
        codes = pd.factorize(column, sort=True, use_na_sentinel=True)[0] + 1
        gains = np.bincount(codes, np.where(positive, weights, -weights))
        reached = np.concatenate([[0.0], np.cumsum(gains)])
        return float(0.5 + max(reached.max(), -reached.min(), 0.0))
    try:
        codes, values = pd.factorize(column.astype(object), use_na_sentinel=False)
    except TypeError:
        return 0.0  # lists and the like
    if len(values) * _CASES_PER_VALUE > len(column):
        return 0.0  # each value stands for few cases, and tells them by chance
    of_positives, of_negatives = np.bincount(codes, weights * positive), np.bincount(codes, weights * ~positive)
    return float(np.maximum(of_positives, of_negatives).sum())


def _leave_out(name: str) -> str:
    """How to leave out a column."""
    in_python = f"drop=[{name!r}]"
    if not _can_be_listed(name):
        return f"leave it out with {in_python}"
    return f"leave it out with --drop {shlex.quote(name)} (in Python, {in_python})"


def _can_be_listed(name: str) -> bool:
    """Whether the command line, which takes names separated by commas, can name a column."""
    return "," not in name and name == name.strip()


def _is_identifier(name: str, column: Any) -> bool:
    import pandas as pd

    kind = pd.api.types.infer_dtype(column, skipna=False)
    if kind not in ("string", "integer") or not column.is_unique or column.isna().any():
        return False
    if kind == "string" and ISO_DAY.match(column.iloc[0]):
        return False  # times, though not all written in the same form
    if kind == "string" and not are_codes(column.tolist()):
        return True
    return _NAMED_ID.fullmatch(_in_snake_case(name)) is not None or _number_the_rows(column)


def _number_the_rows(column: Any) -> bool:
    """Whether whole numbers or codes, all different, were given to the rows rather than counted or measured in them.

    Numbers as close together as these would repeat if they were amounts: running numbers, also with gaps where rows
    were left out. Or all are long and have equally many digits, though few are round.
    """
    first, last, n = column.min(), column.max(), len(column)  # codes are in the order of their numbers
    if n * (n - 1) / 2 / (int(last) - int(first) + 1) >= _REPEATS:
        return True
    alike = int(first) >= 0 and len(str(first)) == len(str(last)) >= _LONG_NUMBER
    return alike and float(column.astype(str).str.endswith("0").mean()) < _ROUND


def person_hints(features: Any) -> list[str]:
    """For each column that looks like the identifier of people who occur in several rows, say how to use it."""
    return [
        f"column {name!r} looks like a person's identifier, and its values repeat ({features[name].nunique():,} "
        f"different ones in {len(features):,} rows): a model that has seen other rows of the same person is not tested "
        "on new people. Keep the rows of one person together with "
        f"--groups {shlex.quote(name)} (in Python, groups={name!r})"
        for name in features.columns
        if len(features) > _FEW_ROWS and _looks_like_people(name, features[name])
    ]


def _looks_like_people(name: str, column: Any) -> bool:
    """Whether a column is named like an identifier and holds text or whole numbers that repeat, each a few times."""
    import pandas as pd

    if _ID.fullmatch(_in_snake_case(name)) is None or column.isna().any():
        return False
    if pd.api.types.infer_dtype(column, skipna=False) not in ("string", "integer"):
        return False
    found = column.nunique()
    return _FEW_PEOPLE <= found < len(column) <= _MANY_CASES * found


def _in_snake_case(name: str) -> str:
    """PatientID, patientId, "Patient ID" and patient-id are all patient_id."""
    return re.sub(r"[\s\-.]+", "_", re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name.strip())).lower()


def copy_hints(cases: Cases) -> list[str]:
    """Say how many rows are copies of earlier ones, where that is no coincidence."""
    try:
        copies = _n_copies(cases)
    except TypeError:
        return []  # values that cannot be compared, such as lists
    if copies == 0 or _chance_pairs(cases.features) >= 1:
        return []
    rows = "1 row repeats" if copies == 1 else f"{copies:,} rows repeat"
    return [
        f"{rows} an earlier row in every column: a copy in the training part gives the answer away. Drop the copies, "
        "or keep rows that belong together in one fold with --groups (in Python, groups=)"
    ]


def _n_copies(cases: Cases) -> int:
    """Rows with the features and the outcome of an earlier one; with groups, of an earlier one of another group."""
    frame = cases.features.assign(**{cases.target: cases.outcomes})
    if cases.groups is not None:
        apart = ~frame.assign(**{f"{cases.target} group": cases.groups}).duplicated()
        frame = frame[apart]
    return int(frame.duplicated().sum())


def _chance_pairs(features: Any) -> float:
    """Pairs of equal rows to be expected if the columns had nothing to do with each other.

    Columns of few values make equal rows by chance; one pair or more to be expected says nothing about copies.
    """
    n = len(features)
    chance = n * (n - 1) / 2
    for name in features.columns:
        counts = features[name].value_counts(dropna=False).to_numpy(dtype=np.float64)
        chance *= float((counts * (counts - 1)).sum()) / max(n * (n - 1), 1)  # of two different rows to agree here
    return chance
