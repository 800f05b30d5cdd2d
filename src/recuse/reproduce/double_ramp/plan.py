"""What is run: the data sets, the rates of label noise, and how each is split and searched."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

DATA = ("parkinsons", "heart_statlog", "ionosphere", "ilpd", "pima")
PRICES = tuple(round(0.05 * k, 2) for k in range(1, 10))
WIDTHS = (0.25, 1.0, 4.0)  # gamma, in units of 1 / (number of features)
LAMS = (2e-4, 1e-3, 5e-3)
STRENGTHS = (0.1, 1.0, 10.0, 100.0)


@dataclass(frozen=True)
class Part:
    """One data set at one rate of label noise: how it is split and searched."""

    data: str
    noise: float = 0.0
    prices: tuple[float, ...] = PRICES
    repetitions: int = 1
    folds: int = 10
    inner: int = 2
    widths: tuple[float, ...] = WIDTHS
    lams: tuple[float, ...] = LAMS
    strengths: tuple[float, ...] = STRENGTHS
    embedded: tuple[float, ...] = (1.0, 10.0)  # values of C of ER-SVM

    @property
    def label(self) -> str:
        """Data and noise, as shown."""
        return f"{self.data}, label noise {100 * self.noise:g} %"


@dataclass(frozen=True)
class Outcome:
    """A method at one reject price: one number per fold."""

    part: str
    data: str
    noise: float
    method: str
    d: float
    risk: list[float]
    accuracy: list[float | None]  # on accepted cases; None where there was none
    rejected: list[float]
    support: list[int]


def parts(quick: bool, repetitions: int = 1) -> list[Part]:
    """The experiments: clean labels first."""
    if quick:
        small: dict[str, Any] = {"prices": PRICES[1::4], "folds": 2, "inner": 2, "widths": (1.0,), "lams": LAMS[1:]}
        small |= {"strengths": STRENGTHS[1:3], "embedded": (1.0,)}
        return [Part("parkinsons", noise, **small) for noise in (0.0, 0.2)]
    noisy: dict[str, Any] = {"prices": (0.1, 0.2, 0.3, 0.4, 0.45), "folds": 5, "repetitions": repetitions}
    clean = [Part(name, repetitions=repetitions) for name in DATA]
    return clean + [Part(name, noise, **noisy) for noise in (0.3, 0.1, 0.2) for name in DATA]
