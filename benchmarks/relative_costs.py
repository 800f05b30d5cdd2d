"""From probabilities of test cases to costs of methods, ratios of two methods with their errors, and tables of them."""

from dataclasses import dataclass

import numpy as np

from .open_ensemble import prices_paid

FLOOR = 0.05  # keeps tables that are nearly free of errors, where a ratio is that of a few cases, from deciding


@dataclass(frozen=True, eq=False)
class Judged:
    """What methods cost on the test parts of one data set.

    Attributes
    ----------
    name, size : str
        The data set, and cases and columns of a training part.
    cases : ndarray of int
        Which case each test answer is about; a case may be in the test parts of several splits.
    paid : dict of str to ndarray
        By method, the price of each answer, in units of the cheapest constant answer, mean over the price lists.
    """

    name: str
    size: str
    cases: np.ndarray
    paid: dict

    def cost(self, method):
        """Mean over the test cases."""
        return float(self.paid[method].mean())

    def ratio(self, ours, theirs):
        """(our cost + FLOOR) / (theirs + FLOOR), and its standard error: cases are independent, answers to one not."""
        saved = self.paid[ours] - self.paid[theirs]
        excess = np.bincount(self.cases, saved - saved.mean())
        unit = self.cost(theirs) + FLOOR
        return (self.cost(ours) + FLOOR) / unit, float(np.sqrt(np.sum(excess**2))) / len(saved) / unit


def in_constants(p, codes, share, prices, bands=None):
    """The price of each case by Chow's rule or between other thresholds, in units of the cheapest constant answer.

    `p` holds probabilities, or a column of them for each price list; `share` is that of the positive cases.
    """
    columns = np.broadcast_to(p.reshape(len(p), -1), (len(p), len(prices)))
    paid = [
        prices_paid(columns[:, i], codes, costs, bands and bands[i]) / constant_cost(costs, share)
        for i, costs in enumerate(prices)
    ]
    return np.mean(paid, axis=0)


def constant_cost(costs, share):
    """What the cheapest of three answers to every case costs: positive, negative, or a rejection."""
    unit = costs.matrix()
    return float(((1 - share) * unit[0] + share * unit[1]).min())


@dataclass(frozen=True)
class Summary:
    """Two methods over many data sets.

    Attributes
    ----------
    ratio, error : float
        Geometric mean of the ratios of the sets, and its standard error over the sets.
    total : float
        Ratio of the costs of all sets, each in units of its constant answer.
    worse : float
        Share of the sets where the first is not cheaper.
    worst : Judged
        The set with the largest ratio.
    """

    ratio: float
    error: float
    total: float
    worse: float
    worst: Judged


def summarise(sets, ours, theirs):
    """Of those sets that have both."""
    sets = [judged for judged in sets if theirs in judged.paid]
    ratios = np.array([judged.ratio(ours, theirs)[0] for judged in sets])
    logs = np.log(ratios)
    ratio, error = float(np.exp(logs.mean())), float(logs.std(ddof=1) / np.sqrt(len(logs)))
    total = sum(judged.cost(ours) for judged in sets) / sum(judged.cost(theirs) for judged in sets)
    return Summary(ratio, ratio * error, total, float((ratios >= 1).mean()), sets[int(np.argmax(ratios))])


def page_of_sets(title, sets, ours, rivals):
    """A Markdown table: a line per set, our cost, and the difference to each rival in per cent with two errors."""
    heads = " | ".join(f"to {rival}, %" for rival in rivals)
    lines = [
        f"# {title}",
        "",
        f"| set | training | {ours} | {heads} |",
        "| --- | --- | ---: |" + " ---: |" * len(rivals),
    ]
    for judged in sets:
        cells = [_cell(judged, ours, rival) for rival in rivals]
        lines.append(f"| {judged.name} | {judged.size} | {judged.cost(ours):.3f} | {' | '.join(cells)} |")
    for rival in rivals:
        lost = [judged.name for judged in sets if rival in judged.paid and judged.ratio(ours, rival)[0] >= 1]
        lines += ["", f"Not cheaper than {rival} on: {', '.join(lost) or 'no set'}."]
    return "\n".join([*lines, ""])


def _cell(judged, ours, rival):
    if rival not in judged.paid:
        return ""
    ratio, error = judged.ratio(ours, rival)
    text = f"{100 * (ratio - 1):+.1f} ± {200 * error:.1f}"
    return f"**{text}**" if ratio >= 1 else text
