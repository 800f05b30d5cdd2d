"""What the double ramp paper claims, each with the rule by which it is counted as reproduced, and its figures."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

REPRODUCED, PARTLY, NOT, UNKNOWN = "reproduced", "partly", "not reproduced", "not measured"
_COMPARABLE = 0.02  # means over the prices no farther apart than this are comparable
_NAMES = {"heart_statlog": "heart"}
_HIGH = 0.3  # prices from here on are high
_METHODS = ("SDR-SVM", "DH-SVM", "SVM", "ER-SVM")
_MEASURES = {"risk": "risk", "accuracy": "accuracy on accepted", "rejected": "rejection rate", "support": "SVs"}


@dataclass(frozen=True)
class Claim:
    """A sentence of the paper, and what was found."""

    text: str
    verdict: str
    evidence: str


class Table:
    """Means over folds by data set, noise, method and price."""

    def __init__(self, outcomes: Iterable[Any]) -> None:
        self._cells: dict[tuple[str, float, str, float], dict[str, float]] = {}
        for outcome in outcomes:
            known = [value for value in outcome.accuracy if value is not None]
            self._cells[outcome.data, outcome.noise, outcome.method, outcome.d] = {
                "risk": float(np.mean(outcome.risk)),
                "accuracy": float(np.mean(known)) if known else np.nan,
                "rejected": float(np.mean(outcome.rejected)),
                "support": float(np.mean(outcome.support)),
            }

    def prices(self, data: str, noise: float) -> list[float]:
        """Reject prices measured on a data set."""
        return sorted({key[3] for key in self._cells if key[:2] == (data, noise)})

    def parts(self) -> list[tuple[str, float]]:
        """Data sets and noise rates measured, in order."""
        return list(dict.fromkeys(key[:2] for key in self._cells))

    def value(self, data: str, noise: float, method: str, d: float, measure: str) -> float:
        """One mean."""
        return self._cells[data, noise, method, d][measure]

    def differences(self, data: str, other: str, measure: str, noise: float = 0.0, least: float = 0.0) -> list[float]:
        """SDR-SVM minus another method, at each price from `least` on."""
        return [
            self.value(data, noise, "SDR-SVM", d, measure) - self.value(data, noise, other, d, measure)
            for d in self.prices(data, noise)
            if d >= least - 1e-9
        ]

    def rises(
        self, data: str, noise: float, method: str, measure: str, least: float = 0.0, most: float = 1.0
    ) -> list[float]:
        """What noise adds to a measure of a method, at each price between the two that both parts have."""
        both = sorted(set(self.prices(data, 0.0)) & set(self.prices(data, noise)))
        return [
            self.value(data, noise, method, d, measure) - self.value(data, 0.0, method, d, measure)
            for d in both
            if least - 1e-9 <= d <= most
        ]


def claims(outcomes: Iterable[Any]) -> list[Claim]:
    """The paper's sentences one by one, in its order."""
    table = Table(outcomes)
    five = ("ionosphere", "parkinsons", "heart_statlog", "ilpd", "pima")

    def below(text: str, data: Iterable[str], others: Iterable[str], measure: str, **where: float) -> Claim:
        return _always(text, table, data, others, measure, lambda gap: gap < 0, **where)

    def above(text: str, data: Iterable[str], others: Iterable[str], measure: str) -> Claim:
        return _always(text, table, data, others, measure, lambda gap: gap > 0)

    return [
        below("risk below ER-SVM on all five data sets, at every d", five, ["ER-SVM"], "risk"),
        below("risk below DH-SVM on parkinsons, at every d", ["parkinsons"], ["DH-SVM"], "risk"),
        below("risk below DH-SVM on heart, at every d", ["heart_statlog"], ["DH-SVM"], "risk"),
        _comparable("risk comparable to DH-SVM on ILPD, ionosphere, pima", table, ["ilpd", "ionosphere", "pima"]),
        below(
            "risk below the SVM with threshold on parkinsons, heart, ILPD, pima",
            ["parkinsons", "heart_statlog", "ilpd", "pima"],
            ["SVM"],
            "risk",
        ),
        _comparable("risk comparable to the SVM with threshold on ionosphere", table, ["ionosphere"], "SVM"),
        below(
            "rejects less than the others on ionosphere, heart, parkinsons, for d above 0.1",
            ["ionosphere", "heart_statlog", "parkinsons"],
            ["DH-SVM", "SVM", "ER-SVM"],
            "rejected",
            least=0.15,
        ),
        _comparable(
            "rejection rate comparable to DH-SVM on ILPD and pima", table, ["ilpd", "pima"], measure="rejected"
        ),
        above("accuracy on accepted cases above ER-SVM on all five data sets", five, ["ER-SVM"], "accuracy"),
        above(
            "accuracy on accepted cases above the SVM with threshold on ILPD and parkinsons",
            ["ilpd", "parkinsons"],
            ["SVM"],
            "accuracy",
        ),
        _comparable(
            "accuracy on accepted cases comparable to the SVM with threshold on ionosphere, heart, pima",
            table,
            ["ionosphere", "heart_statlog", "pima"],
            "SVM",
            measure="accuracy",
        ),
        _comparable("accuracy on accepted cases comparable to DH-SVM", table, five, measure="accuracy"),
        *(_sparser(table, name) for name in ("ilpd", "ionosphere", "pima")),
        _small_increase(table, five),
        *(_wider_band(table, five, noise) for noise in (0.2, 0.3)),
        *(_robust(table, five, noise) for noise in (0.2, 0.3)),
        *(
            below(f"risk below ER-SVM at every d, {100 * noise:g} % label noise", five, ["ER-SVM"], "risk", noise=noise)
            for noise in (0.1, 0.2, 0.3)
        ),
        *(
            below(
                f"risk below {other} at d of {_HIGH:g} or more, {100 * noise:g} % label noise",
                five,
                [other],
                "risk",
                noise=noise,
                least=_HIGH,
            )
            for noise in (0.1, 0.2, 0.3)
            for other in ("DH-SVM", "SVM")
        ),
    ]


def _always(
    text: str,
    table: Table,
    data: Iterable[str],
    others: Iterable[str],
    measure: str,
    holds: Callable[[float], bool],
    noise: float = 0.0,
    least: float = 0.0,
) -> Claim:
    """A claim about every price: reproduced if it holds at all of them, partly if at more than half."""
    gaps = {
        name: [gap for other in others for gap in table.differences(name, other, measure, noise, least)]
        for name in data
        if table.prices(name, noise)
    }
    every = [gap for found in gaps.values() for gap in found if np.isfinite(gap)]
    if not every:
        return Claim(text, UNKNOWN, "")
    share = float(np.mean([holds(gap) for gap in every]))
    verdict = REPRODUCED if share == 1 else PARTLY if share > 0.5 else NOT
    apart = ", ".join(f"{_shown(name)} {np.nanmean(found):+.3f}" for name, found in gaps.items())
    return Claim(text, verdict, f"at {sum(holds(gap) for gap in every)} of {len(every)}; mean difference {apart}")


def _comparable(text: str, table: Table, data: Iterable[str], other: str = "DH-SVM", measure: str = "risk") -> Claim:
    """A claim about means over the prices: no farther apart than `_COMPARABLE`, on each data set."""
    means = {name: np.nanmean(table.differences(name, other, measure)) for name in data if table.prices(name, 0.0)}
    if not means:
        return Claim(text, UNKNOWN, "")
    share = np.mean([abs(mean) <= _COMPARABLE for mean in means.values()])
    verdict = REPRODUCED if share == 1 else PARTLY if share >= 0.5 else NOT
    apart = ", ".join(f"{_shown(name)} {mean:+.3f}" for name, mean in means.items())
    return Claim(f"{text} (within {_COMPARABLE:g})", verdict, f"mean difference {apart}")


def _sparser(table: Table, name: str) -> Claim:
    """Fewer than half the support vectors of DH-SVM and of the SVM, at every price."""
    text = f"much sparser than DH-SVM and the SVM on {_shown(name)} (fewer than half the support vectors)"
    prices = table.prices(name, 0.0)
    if not prices:
        return Claim(text, UNKNOWN, "")
    counts = {m: [table.value(name, 0.0, m, d, "support") for d in prices] for m in _METHODS[:3]}
    holds = [s < 0.5 * min(h, v) for s, h, v in zip(counts["SDR-SVM"], counts["DH-SVM"], counts["SVM"], strict=True)]
    verdict = REPRODUCED if all(holds) else PARTLY if np.mean(holds) > 0.5 else NOT
    shown = ", ".join(f"{method} {np.mean(found):.0f}" for method, found in counts.items())
    return Claim(text, verdict, f"at {sum(holds)} of {len(holds)} prices; mean number {shown}")


def _small_increase(table: Table, data: Iterable[str]) -> Claim:
    """10 % noise: how much the risk of SDR-SVM grows, over the prices both parts have."""
    text = f"10 % label noise adds little to the risk of SDR-SVM (at most {_COMPARABLE:g} on average)"
    added = {name: float(np.mean(rise)) for name in data if (rise := table.rises(name, 0.1, "SDR-SVM", "risk"))}
    return _on_most(text, {name: rise <= _COMPARABLE for name, rise in added.items()}, _signed(added))


def _wider_band(table: Table, data: Iterable[str], noise: float) -> Claim:
    """Noise: whether SDR-SVM rejects more at the prices below `_HIGH`, on average."""
    text = f"{100 * noise:g} % label noise makes SDR-SVM reject more at d below {_HIGH:g}"
    added = {
        name: float(np.mean(rise))
        for name in data
        if (rise := table.rises(name, noise, "SDR-SVM", "rejected", most=_HIGH - 0.01))
    }
    return _on_most(text, {name: rise > 0 for name, rise in added.items()}, _signed(added))


def _robust(table: Table, data: Iterable[str], noise: float) -> Claim:
    """Noise: whether it adds less to the risk of SDR-SVM, at high prices on average, than to the others'."""
    text = (
        f"robust: {100 * noise:g} % label noise adds less to the risk of SDR-SVM than to that of DH-SVM and of the SVM "
        f"at d of {_HIGH:g} or more"
    )
    added = {
        name: [
            float(np.mean(rise)) for method in _METHODS[:3] if (rise := table.rises(name, noise, method, "risk", _HIGH))
        ]
        for name in data
    }
    known = {name: rises for name, rises in added.items() if len(rises) == 3}
    shown = ", ".join(f"{_shown(name)} {' / '.join(f'{rise:+.3f}' for rise in found)}" for name, found in known.items())
    return _on_most(text, {name: found[0] < min(found[1:]) for name, found in known.items()}, shown)


def _on_most(text: str, holds: dict[str, bool], evidence: str) -> Claim:
    """A claim about each data set: reproduced if it holds on all of them, partly if on more than half."""
    if not holds:
        return Claim(text, UNKNOWN, "")
    share = np.mean(list(holds.values()))
    return Claim(text, REPRODUCED if share == 1 else PARTLY if share > 0.5 else NOT, evidence)


def _signed(values: dict[str, float]) -> str:
    return ", ".join(f"{_shown(name)} {value:+.3f}" for name, value in values.items())


def draw(outcomes: Iterable[Any], out: Path, stem: str) -> list[tuple[str, str]]:
    """Figures 2 and 3 (clean labels) and 4 (noise) as far as measured; return titles and file names.

    Without matplotlib there are no figures.
    """
    try:
        from matplotlib.figure import Figure
    except ImportError:
        return []
    table, drawn = Table(outcomes), []
    for noise in sorted({noise for _, noise in table.parts()}):
        data = [name for name, rate in table.parts() if rate == noise]
        figure = Figure(figsize=(12, 2.4 * len(data)), layout="constrained")
        axes = figure.subplots(len(data), len(_MEASURES), squeeze=False)
        for row, name in zip(axes, data, strict=True):
            prices = table.prices(name, noise)
            for axis, (measure, title) in zip(row, _MEASURES.items(), strict=True):
                for method in _METHODS[: 3 if measure == "support" else 4]:
                    values = [table.value(name, noise, method, d, measure) for d in prices]
                    axis.plot(prices, values, marker=".", label=method)
                axis.set_title(f"{_shown(name)}: {title}", fontsize=9)
                axis.set_xlabel("d", fontsize=8)
        # Above the plots: inside it would hide curves.
        figure.legend(*axes[0][0].get_legend_handles_labels(), loc="outside upper center", ncols=len(_METHODS))
        file = f"{stem}_noise_{round(100 * noise)}.png"
        figure.savefig(out / file, dpi=70)
        drawn.append((f"Label noise {100 * noise:g} %", file))
    return drawn


def _shown(name: str) -> str:
    return _NAMES.get(name, name)
