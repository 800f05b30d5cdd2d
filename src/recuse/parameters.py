"""Every check of a parameter. A message gives the name, the value, what is expected and what to do, in one sentence."""

from __future__ import annotations

import difflib
import numbers
import re
import reprlib
from collections.abc import Iterable
from typing import Any

import numpy as np
from joblib import effective_n_jobs

from .arrays import Floats

_DOUBTFUL = re.compile(r"[+-]?[1-9]\d{0,2}[.,]\d{3}")  # a thousand and more, or a little more than one
_GROUPED = re.compile(r"[+-]?[1-9]\d{0,2}(?:(?:\.\d{3})+(?:,\d+)?|(?:,\d{3})+(?:\.\d+)?)")
_THOUSANDS = re.compile(r"[+-]?[1-9]\d{0,2}([.,])\d{3}(?:\1\d{3})*")
_COMMA = re.compile(r"[+-]?\d*,\d+")


def check_weights(sample_weight: Any, n: int) -> Floats:
    """Return the weights of `n` cases as floats, ones by default; refuse values that are not weights."""
    if sample_weight is None:
        return np.ones(n)
    try:
        weights = np.asarray(sample_weight, dtype=np.float64)
    except (TypeError, ValueError):
        raise ValueError(f"sample_weight must hold numbers, one per case; got {reprlib.repr(sample_weight)}.") from None
    if weights.ndim == 0:
        weights = np.full(n, float(weights))
    if weights.shape != (n,):
        raise ValueError(f"sample_weight must have one value per case: expected shape ({n},), got {weights.shape}.")
    if not np.isfinite(weights).all() or (weights < 0).any():
        raise ValueError("sample_weight must be finite and not negative.")
    if not weights.any():
        raise ValueError("sample_weight is zero for every case: at least one must be positive.")
    return weights


def is_number(value: Any) -> bool:
    """Whether a value is a real number; True and False are not."""
    return isinstance(value, numbers.Real) and not isinstance(value, bool | np.bool_)


def is_integer(value: Any) -> bool:
    """Whether a value is an integer; True and False are not."""
    return isinstance(value, numbers.Integral) and not isinstance(value, bool | np.bool_)


def check_share(name: str, value: Any, *, or_one: bool = False) -> None:
    """Refuse a value outside (0, 1), or outside (0, 1] with `or_one`."""
    if not is_number(value) or not (0 < value < 1 or (or_one and value == 1)):
        raise ValueError(f"{name} must be a number in {'(0, 1]' if or_one else '(0, 1)'}; got {value!r}.")


def check_count(name: str, value: Any, *, least: int = 1) -> None:
    """Refuse a value that is not an integer, or is less than `least`."""
    if not is_integer(value):
        raise TypeError(f"{name} must be an integer; got {value!r}.")
    if value < least:
        raise ValueError(f"{name} must be {least} or more; got {value}.")


def check_number(
    name: str, value: Any, low: float = -np.inf, *, strict: bool = False, high: float = np.inf, remedy: str = ""
) -> None:
    """Refuse a value that is not a finite number in [low, high], or in (low, high] if `strict`."""
    if not is_number(value) or not np.isfinite(value) or not (low < value <= high or (not strict and value == low)):
        lower = "" if np.isinf(low) else f" greater than {low:g}" if strict else f" at least {low:g}"
        upper = "" if np.isinf(high) else f" and at most {high:g}"
        raise ValueError(f"{name} must be a finite number{lower}{upper}; got {value!r}.{remedy and ' ' + remedy}")


def check_positive(estimator: Any, *names: str) -> None:
    """Refuse parameters of an estimator that are not finite numbers greater than 0."""
    for name in names:
        check_number(name, getattr(estimator, name), 0.0, strict=True)


def check_choice(name: str, value: Any, choices: Iterable[Any], *, or_else: str = "") -> None:
    """Refuse a value that is not one of the choices; `or_else` says what else the caller accepts."""
    choices = tuple(choices)
    if not any(value is choice or (isinstance(value, str) and value == choice) for choice in choices):
        raise ValueError(f"{name} must be one of {', '.join(map(repr, choices))}{or_else}; got {value!r}.")


def unknown_name(what: str, name: str, known: Iterable[str]) -> str:
    """The message for a name that is not in a list, with the one that was probably meant."""
    known = list(known)
    close = difflib.get_close_matches(name, known, n=1)
    hint = f"did you mean {close[0]!r}? " if close else ""
    return f"{what}: {name!r} is not known; {hint}there are {', '.join(known)}."


def check_switch(name: str, value: Any) -> None:
    """Refuse a value that is not True or False."""
    if not isinstance(value, bool | np.bool_):
        raise ValueError(f"{name} must be True or False; got {value!r}.")


def check_max_iter(value: Any) -> None:
    """Refuse a limit that is neither a number of steps nor -1."""
    if not is_integer(value) or not (value == -1 or value >= 1):
        raise ValueError(f"max_iter must be -1, for no limit, or a positive integer; got {value!r}.")


def doubt_about(text: str) -> str | None:
    """What a number in writing may be, if that depends on the country it was written in, and how to settle it.

    Examples
    --------
    >>> from recuse.parameters import doubt_about
    >>> doubt_about("2.500"), doubt_about("0.250"), doubt_about("2.5")
    ("'2.500' may be 2500 or 2.5: write 2500, or 2.5", None, None)
    """
    if not _DOUBTFUL.fullmatch(text):
        return None
    large, small = re.sub("[.,]", "", text), unmistakable(float(text.replace(",", ".")))
    return f"{text!r} may be {large} or {small.rstrip('0')}: write {large}, or {small}"


def unmistakable(number: float, digits: int = 10) -> str:
    """A number in writing that can be read in one way only: 1.234 with a further digit."""
    text = f"{number:.{digits}g}"
    return f"{text}0" if _DOUBTFUL.fullmatch(text) else text


def typed_number(text: str) -> float:
    """The number that somebody has typed, with a decimal point if with any; what it may be in other cases is told."""
    text = text.strip()
    if (doubt := doubt_about(text)) is not None:
        raise ValueError(f"{doubt}.")
    try:
        return float(text)
    except ValueError:
        raise ValueError(f"{text!r} is no number: {_plainly(text) or 'write it as 1500 or 1.5'}.") from None


def typed_count(text: str) -> int:
    """The whole number that somebody has typed."""
    text = text.strip()
    try:
        return int(text)
    except ValueError:
        written = re.sub("[.,]", "", text) if _THOUSANDS.fullmatch(text) else "it in digits, such as 40"
        raise ValueError(f"{text!r} is no whole number: write {written}.") from None


def _plainly(text: str) -> str | None:
    """The remedy for a number that is written as elsewhere: without separated thousands, with a decimal point."""
    if _GROUPED.fullmatch(text):
        cut = max(text.rfind("."), text.rfind(",")) if "." in text and "," in text else len(text)
        return f"write {re.sub('[.,]', '', text[:cut])}{text[cut:].replace(',', '.')}"
    return f"write {text.replace(',', '.')}" if _COMMA.fullmatch(text) else None


def n_threads(n_jobs: int | None) -> int:
    """Number of threads that `n_jobs` asks for; refuse a value that is not valid for it."""
    if n_jobs is None:
        return 1
    if not is_integer(n_jobs) or n_jobs == 0:
        raise ValueError(f"n_jobs must be None or an integer other than 0 (-1 for all processors); got {n_jobs!r}.")
    return int(effective_n_jobs(n_jobs))
