"""GeneralizationBound: the terms of a bound on the expected loss."""

from __future__ import annotations

from dataclasses import asdict, dataclass


@dataclass(frozen=True, repr=False)
class GeneralizationBound:
    """The terms of the bound; `total` is their sum.

    Attributes
    ----------
    empirical : float
        Loss on the training cases: the mean of the maximum surrogate, or the loss with margin.
    complexity : float
        What is added because there are many stumps to choose from.
    confidence : float
        What is added because the training cases are a random sample.
    delta : float
        Probability that the bound fails.

    Examples
    --------
    >>> from recuse.boosting.bounds import GeneralizationBound
    >>> GeneralizationBound(empirical=0.1, complexity=1.5, confidence=0.25, delta=0.05)
    GeneralizationBound(total=1.85, vacuous=True, empirical=0.1, complexity=1.5, confidence=0.25, delta=0.05)
    """

    empirical: float
    complexity: float
    confidence: float
    delta: float

    @property
    def total(self) -> float:
        """Upper bound of the expected loss."""
        return self.empirical + self.complexity + self.confidence

    @property
    def vacuous(self) -> bool:
        """Whether it is 1 or more, which says nothing about a loss of at most 1."""
        return self.total >= 1.0

    def __repr__(self) -> str:
        terms = ", ".join(f"{name}={value:.4g}" for name, value in asdict(self).items())
        return f"GeneralizationBound(total={self.total:.4g}, vacuous={self.vacuous}, {terms})"
