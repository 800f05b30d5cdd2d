"""What the paper claims, each sentence with the rule by which it counts as reproduced."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np

from ..pages import NO, NOT_MEASURED, PARTLY, YES, Claim
from .means import BUT_EMBEDDED, FoldMeans, title
from .plan import Outcome

_COMPARABLE = 0.02  # means over the prices no farther apart than this are comparable
_HIGH = 0.3  # prices from here on are high
_NOISE = (0.1, 0.2, 0.3)
_ALL = ("ionosphere", "parkinsons", "heart_statlog", "ilpd", "pima")


def claims(outcomes: Iterable[Outcome]) -> list[Claim]:
    """The paper's sentences in its order."""
    means = FoldMeans(outcomes)
    return [
        *_risk_claims(means),
        *_rejection_claims(means),
        *_accuracy_claims(means),
        *(_sparser(means, name) for name in ("ilpd", "ionosphere", "pima")),
        *_noise_claims(means),
    ]


@dataclass(frozen=True)
class _Comparison:
    """SDR-SVM against other methods: on which data sets, in which measure, at which noise and prices."""

    data: tuple[str, ...]
    others: tuple[str, ...]
    measure: str = "risk"
    noise: float = 0.0
    least: float = 0.0

    def differences(self, means: FoldMeans) -> dict[str, list[float]]:
        """For each data set measured, SDR-SVM minus the others at every price."""
        return {
            name: [
                difference
                for other in self.others
                for difference in means.differences(name, other, self.measure, self.noise, self.least)
            ]
            for name in self.data
            if means.prices(name, self.noise)
        }


def _risk_claims(means: FoldMeans) -> list[Claim]:
    """Figure 2: risk."""
    but_ionosphere = ("parkinsons", "heart_statlog", "ilpd", "pima")
    return [
        _below("risk below ER-SVM on all five data sets, at every d", means, _Comparison(_ALL, ("ER-SVM",))),
        _below("risk below DH-SVM on parkinsons, at every d", means, _Comparison(("parkinsons",), ("DH-SVM",))),
        _below("risk below DH-SVM on heart, at every d", means, _Comparison(("heart_statlog",), ("DH-SVM",))),
        _comparable(
            "risk comparable to DH-SVM on ILPD, ionosphere, pima",
            means,
            _Comparison(("ilpd", "ionosphere", "pima"), ("DH-SVM",)),
        ),
        _below(
            "risk below the SVM with threshold on parkinsons, heart, ILPD, pima",
            means,
            _Comparison(but_ionosphere, ("SVM",)),
        ),
        _comparable(
            "risk comparable to the SVM with threshold on ionosphere", means, _Comparison(("ionosphere",), ("SVM",))
        ),
    ]


def _rejection_claims(means: FoldMeans) -> list[Claim]:
    """Figure 2: rejection rate."""
    three, others = ("ionosphere", "heart_statlog", "parkinsons"), ("DH-SVM", "SVM", "ER-SVM")
    return [
        _below(
            "rejects less than the others on ionosphere, heart, parkinsons, for d above 0.1",
            means,
            _Comparison(three, others, "rejected", least=0.15),
        ),
        _comparable(
            "rejection rate comparable to DH-SVM on ILPD and pima",
            means,
            _Comparison(("ilpd", "pima"), ("DH-SVM",), "rejected"),
        ),
    ]


def _accuracy_claims(means: FoldMeans) -> list[Claim]:
    """Figure 2: accuracy on accepted cases."""
    return [
        _above(
            "accuracy on accepted cases above ER-SVM on all five data sets",
            means,
            _Comparison(_ALL, ("ER-SVM",), "accuracy"),
        ),
        _above(
            "accuracy on accepted cases above the SVM with threshold on ILPD and parkinsons",
            means,
            _Comparison(("ilpd", "parkinsons"), ("SVM",), "accuracy"),
        ),
        _comparable(
            "accuracy on accepted cases comparable to the SVM with threshold on ionosphere, heart, pima",
            means,
            _Comparison(("ionosphere", "heart_statlog", "pima"), ("SVM",), "accuracy"),
        ),
        _comparable(
            "accuracy on accepted cases comparable to DH-SVM", means, _Comparison(_ALL, ("DH-SVM",), "accuracy")
        ),
    ]


def _noise_claims(means: FoldMeans) -> list[Claim]:
    """Figure 4: label noise."""
    return [
        _small_increase(means),
        *(_wider_band(means, noise) for noise in (0.2, 0.3)),
        *(_robust(means, noise) for noise in (0.2, 0.3)),
        *(
            _below(
                f"risk below ER-SVM at every d, {100 * noise:g} % label noise",
                means,
                _Comparison(_ALL, ("ER-SVM",), noise=noise),
            )
            for noise in _NOISE
        ),
        *(
            _below(
                f"risk below {other} at d of {_HIGH:g} or more, {100 * noise:g} % label noise",
                means,
                _Comparison(_ALL, (other,), noise=noise, least=_HIGH),
            )
            for noise in _NOISE
            for other in ("DH-SVM", "SVM")
        ),
    ]


def _below(text: str, means: FoldMeans, comparison: _Comparison) -> Claim:
    """SDR-SVM has less, at every price."""
    return _at_every_price(text, means, comparison, lambda difference: difference < 0)


def _above(text: str, means: FoldMeans, comparison: _Comparison) -> Claim:
    """SDR-SVM has more, at every price."""
    return _at_every_price(text, means, comparison, lambda difference: difference > 0)


def _at_every_price(text: str, means: FoldMeans, comparison: _Comparison, holds: Callable[[float], bool]) -> Claim:
    """A claim about every price: reproduced if it holds at all of them, partly if at more than half."""
    differences = comparison.differences(means)
    known = [value for values in differences.values() for value in values if np.isfinite(value)]
    held = [holds(value) for value in known]
    averages = {name: float(np.nanmean(values)) for name, values in differences.items() if known}
    return _judged(text, held, f"at {sum(held)} of {len(held)}; mean difference {_signed(averages)}")


def _comparable(text: str, means: FoldMeans, comparison: _Comparison) -> Claim:
    """A claim about means over the prices: no farther apart than `_COMPARABLE`, on each data set."""
    averages = {name: float(np.nanmean(values)) for name, values in comparison.differences(means).items()}
    if not averages:
        return Claim(text, "", NOT_MEASURED)
    share = np.mean([abs(average) <= _COMPARABLE for average in averages.values()])
    verdict = YES if share == 1 else PARTLY if share >= 0.5 else NO
    return Claim(f"{text} (within {_COMPARABLE:g})", f"mean difference {_signed(averages)}", verdict)


def _sparser(means: FoldMeans, name: str) -> Claim:
    """Fewer than half the support vectors of DH-SVM and of the SVM, at every price."""
    text = f"much sparser than DH-SVM and the SVM on {title(name)} (fewer than half the support vectors)"
    prices = means.prices(name, 0.0)
    if not prices:
        return Claim(text, "", NOT_MEASURED)
    counts = {m: [means.value(name, 0.0, m, d, "support") for d in prices] for m in BUT_EMBEDDED}
    held = [s < 0.5 * min(h, v) for s, h, v in zip(counts["SDR-SVM"], counts["DH-SVM"], counts["SVM"], strict=True)]
    shown = ", ".join(f"{method} {np.mean(found):.0f}" for method, found in counts.items())
    return _judged(text, held, f"at {sum(held)} of {len(held)} prices; mean number {shown}")


def _small_increase(means: FoldMeans) -> Claim:
    """10 % noise: how much the risk of SDR-SVM grows, over the prices run with and without it."""
    text = f"10 % label noise adds little to the risk of SDR-SVM (at most {_COMPARABLE:g} on average)"
    added = {name: float(np.mean(rise)) for name in _ALL if (rise := means.rises(name, 0.1, "SDR-SVM", "risk"))}
    return _judged(text, [rise <= _COMPARABLE for rise in added.values()], _signed(added))


def _wider_band(means: FoldMeans, noise: float) -> Claim:
    """Noise: whether SDR-SVM rejects more at the prices below `_HIGH`, on average."""
    text = f"{100 * noise:g} % label noise makes SDR-SVM reject more at d below {_HIGH:g}"
    added = {
        name: float(np.mean(rise))
        for name in _ALL
        if (rise := means.rises(name, noise, "SDR-SVM", "rejected", most=_HIGH - 0.01))
    }
    return _judged(text, [rise > 0 for rise in added.values()], _signed(added))


def _robust(means: FoldMeans, noise: float) -> Claim:
    """Noise: whether it adds less to the risk of SDR-SVM, at high prices on average, than to the others'."""
    text = (
        f"robust: {100 * noise:g} % label noise adds less to the risk of SDR-SVM than to that of DH-SVM and of the SVM "
        f"at d of {_HIGH:g} or more"
    )
    added = {
        name: [
            float(np.mean(rise)) for method in BUT_EMBEDDED if (rise := means.rises(name, noise, method, "risk", _HIGH))
        ]
        for name in _ALL
    }
    known = {name: rises for name, rises in added.items() if len(rises) == 3}
    shown = ", ".join(f"{title(name)} {' / '.join(f'{rise:+.3f}' for rise in found)}" for name, found in known.items())
    return _judged(text, [found[0] < min(found[1:]) for found in known.values()], shown)


def _judged(text: str, held: list[bool], evidence: str) -> Claim:
    """Reproduced if it holds everywhere, partly if at more than half of the places."""
    if not held:
        return Claim(text, "", NOT_MEASURED)
    share = np.mean(held)
    return Claim(text, evidence, YES if share == 1 else PARTLY if share > 0.5 else NO)


def _signed(values: dict[str, float]) -> str:
    """Each data set with its difference."""
    return ", ".join(f"{title(name)} {value:+.3f}" for name, value in values.items())
