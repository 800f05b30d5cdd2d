"""What the paper claims, each sentence with the rule by which it counts as reproduced.

Five data sets are too few for a sign test (5 of 5 has p = 0.06), so a claim that holds at more than half of the places
it speaks of must be supported by standard errors over the folds: the mean over the data sets more than two of them on
the claimed side of 0. Otherwise it is not settled.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from ...arrays import Floats
from ..means import Tally, mean_over_sets
from ..pages import NO, NOT_MEASURED, PARTLY, YES, Claim, judged, significant, tally_text
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

    def mean_difference(self, means: FoldMeans) -> tuple[float, float]:
        """SDR-SVM minus the others, over data sets, methods and prices, with its standard error over the folds."""
        sets = []
        for name in self.data:
            if means.prices(name, self.noise):
                by_fold = [
                    values
                    for other in self.others
                    for values in means.fold_differences(name, other, self.measure, self.noise, self.least)
                ]
                sets.append(_known_means(np.array(by_fold)))
        return mean_over_sets(sets)


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


def _known_means(by_fold: Floats) -> Floats:
    """Mean over the rows in each column, of the values that are known; columns without any are left out."""
    known = ~np.isnan(by_fold)
    columns = known.any(axis=0)
    sums: Floats = np.where(known, by_fold, 0.0)[:, columns].sum(axis=0) / known[:, columns].sum(axis=0)
    return sums


def _below(text: str, means: FoldMeans, comparison: _Comparison) -> Claim:
    """SDR-SVM has less, at every price."""
    return _at_every_price(text, means, comparison, -1)


def _above(text: str, means: FoldMeans, comparison: _Comparison) -> Claim:
    """SDR-SVM has more, at every price."""
    return _at_every_price(text, means, comparison, +1)


def _at_every_price(text: str, means: FoldMeans, comparison: _Comparison, side: int) -> Claim:
    """A claim about every price, that the difference is on one side of 0."""
    differences = comparison.differences(means)
    known = [value for values in differences.values() for value in values if np.isfinite(value)]
    if not known:
        return Claim(text, "", NOT_MEASURED)
    held = sum(side * value > 0 for value in known)
    averages = {name: float(np.nanmean(values)) for name, values in differences.items()}
    tally = Tally.of(-side * average for average in averages.values())
    mean, error = comparison.mean_difference(means)
    evidence, average = f"at {held} of {len(known)} prices", f"mean difference {mean:+.3f} ± {error:.3f}"
    if len(averages) > 1:
        word = "lower" if side < 0 else "higher"
        evidence += f" and data sets, mean {word} {tally_text(tally, words=False)}"
        average += f" ({_signed(averages)})"
    judgement = judged(Tally(held, len(known) - held), side * mean > 2 * error)
    return Claim(text, f"{evidence}; {average}", judgement)


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
    counts = {m: np.array([means.folds(name, 0.0, m, d, "support") for d in prices]) for m in BUT_EMBEDDED}
    average = {m: by_fold.mean(axis=1) for m, by_fold in counts.items()}
    held = average["SDR-SVM"] < 0.5 * np.minimum(average["DH-SVM"], average["SVM"])
    excess = counts["SDR-SVM"] - 0.5 * np.minimum(counts["DH-SVM"], counts["SVM"])
    mean, error = mean_over_sets([excess.mean(axis=0)])
    shown = ", ".join(f"{method} {found.mean():.0f}" for method, found in average.items())
    evidence = f"at {held.sum()} of {len(held)} prices; mean number {shown}"
    return Claim(text, evidence, judged(Tally(int(held.sum()), int((~held).sum())), mean < -2 * error))


def _small_increase(means: FoldMeans) -> Claim:
    """10 % noise: how much the risk of SDR-SVM grows, over the prices run with and without it."""
    text = f"10 % label noise adds little to the risk of SDR-SVM (at most {_COMPARABLE:g} on average)"
    return _judged_rises(text, _rises(means, 0.1, "risk"), below=_COMPARABLE)


def _wider_band(means: FoldMeans, noise: float) -> Claim:
    """Noise: whether SDR-SVM rejects more at the prices below `_HIGH`, on average."""
    text = f"{100 * noise:g} % label noise makes SDR-SVM reject more at d below {_HIGH:g}"
    return _judged_rises(text, _rises(means, noise, "rejected", most=_HIGH - 0.01))


def _rises(means: FoldMeans, noise: float, measure: str, most: float = 1.0) -> dict[str, tuple[float, float]]:
    """What noise adds to a measure of SDR-SVM on each data set, with its standard error."""
    found = {name: means.rise(name, noise, "SDR-SVM", measure, most=most) for name in _ALL}
    return {name: rise for name, rise in found.items() if rise is not None}


def _judged_rises(text: str, rises: dict[str, tuple[float, float]], below: float | None = None) -> Claim:
    """A claim about what noise adds on each data set: something, or at most `below`."""
    if not rises:
        return Claim(text, "", NOT_MEASURED)
    excess = {name: (rise if below is None else below - rise) for name, (rise, _) in rises.items()}
    error = float(np.sqrt(sum(error**2 for _, error in rises.values()))) / len(rises)
    held = [value > 0 if below is None else value >= 0 for value in excess.values()]
    tally = Tally(sum(held), len(held) - sum(held))
    shown = ", ".join(f"{title(name)} {rise:+.3f} ± {error:.3f}" for name, (rise, error) in rises.items())
    supported = float(np.mean(list(excess.values()))) > 2 * error
    return Claim(text, f"{tally_text(tally, words=False)}: {shown}", judged(tally, supported))


def _risk_rises(means: FoldMeans, noise: float) -> dict[str, tuple[float, ...]]:
    """What noise adds to the risk at high prices on each data set: SDR-SVM, DH-SVM, SVM."""
    found = {name: [means.rise(name, noise, method, "risk", _HIGH) for method in BUT_EMBEDDED] for name in _ALL}
    return {name: tuple(rise[0] for rise in rises if rise) for name, rises in found.items() if all(rises)}


def _robust(means: FoldMeans, noise: float) -> Claim:
    """Noise: whether it adds less to the risk of SDR-SVM, at high prices on average, than to the others'."""
    text = (
        f"robust: {100 * noise:g} % label noise adds less to the risk of SDR-SVM than to that of DH-SVM and of the SVM "
        f"at d of {_HIGH:g} or more"
    )
    rises = _risk_rises(means, noise)
    if not rises:
        return Claim(text, "", NOT_MEASURED)
    held = [found[0] < min(found[1:]) for found in rises.values()]
    tally = Tally(sum(held), len(held) - sum(held))
    shown = ", ".join(f"{title(name)} {' / '.join(f'{rise:+.3f}' for rise in found)}" for name, found in rises.items())
    return Claim(text, f"{tally_text(tally, words=False)}: {shown}", judged(tally, significant(tally)))


def robustness(outcomes: Iterable[Outcome]) -> list[str]:
    """What label noise adds to the risk of SDR-SVM beside what it adds to the others', in words."""
    means, counts = FoldMeans(outcomes), []
    for noise in _NOISE:
        rises = _risk_rises(means, noise).values()
        if rises:
            hinge, svm = (Tally.of(found[0] - found[k] for found in rises) for k in (1, 2))
            counts.append(
                f"at {100 * noise:g} %, less for SDR-SVM than for DH-SVM {tally_text(hinge, words=False)} "
                f"and than for the SVM {tally_text(svm, words=False)}"
            )
    if not counts:
        return []
    supported = all(_robust(means, noise).verdict == YES for noise in (0.2, 0.3))
    conclusion = (
        "and here it makes the machine more robust to wrong labels, as the paper says."
        if supported
        else "but these runs do not show that it makes the machine more robust to wrong labels, as the paper says."
    )
    return [
        f"What label noise adds to the risk at d of {_HIGH:g} or more: {'; '.join(counts)}. The loss is bounded, "
        + conclusion,
        "",
    ]


def _signed(values: dict[str, float]) -> str:
    """Each data set with its difference."""
    return ", ".join(f"{title(name)} {value:+.3f}" for name, value in values.items())
