"""The tables of the page, and the claims of the paper."""

from __future__ import annotations

import numpy as np

from ..means import Table, paired_difference, tally_lower
from ..pages import (
    NO,
    NOT_MEASURED,
    SIGN_TEST_NOTE,
    Claim,
    claims_table,
    numbers,
    table,
    tally_text,
    tally_verdict,
)
from .outcomes import (
    DEFAULT,
    DHL,
    EXACT,
    LOGISTIC,
    PRINTED,
    STUMPS,
    TSB_FIXED,
    TSB_TUNED,
    Outcome,
    cells_lower,
    mean_losses,
    shown,
)

# Rows taken from each set (None: all); the paper's own subsets of cod and skin are not known.
DATASETS = {
    "haberman": None,
    "pima": None,
    "australian": None,
    "banknote": None,
    "cod_rna": 369,
    "skin": 400,
    "wdbc": None,
}


def sections(outcomes: list[Outcome], synthetic: list[Outcome]) -> list[str]:
    """Everything below the description of the protocol."""
    kept = shown(outcomes)
    means = mean_losses(kept)
    prices = numbers(sorted({outcome.c for outcome in outcomes}))
    lines = [
        f"{len({outcome.split for outcome in outcomes})} partitions, c = {prices}; cod_rna and skin are random subsets "
        f"of {DATASETS['cod_rna']} and {DATASETS['skin']} rows. Mean test abstention loss over prices and partitions:",
        "",
        *_loss_table(means),
        "",
        "Paired differences (below 0 is better), mean and standard error over the partitions:",
        "",
    ]
    for other in (STUMPS, TSB_TUNED, TSB_FIXED, EXACT, PRINTED, LOGISTIC):
        if other in means:
            mean, error = paired_difference(means, DEFAULT, other)
            lower = tally_text(tally_lower(means, DEFAULT, other))
            lines.append(f"- {DEFAULT} - {other}: {mean:+.5f} ± {error:.5f}; lower {lower}")
    lines += ["", _choices(outcomes), "", SIGN_TEST_NOTE, "", *claims_table(claims(kept))]
    if synthetic:
        lines += ["", _synthetic_gain(synthetic)]
    return lines


def _loss_table(means: Table) -> list[str]:
    """Mean loss of each method on each data set, the best method first."""
    names = list(next(iter(means.values())))
    overall = {method: float(np.mean([cells[name].mean() for name in names])) for method, cells in means.items()}
    rows = [
        [method, *(f"{means[method][name].mean():.4f}" for name in names), f"{overall[method]:.4f}"]
        for method in sorted(means, key=lambda method: overall[method])
    ]
    return table(["method", *names, "mean"], rows)


def _choices(outcomes: list[Outcome]) -> str:
    """How often the default chose what."""
    counts: dict[str, int] = {}
    for outcome in outcomes:
        if outcome.method == DEFAULT and outcome.chosen is not None:
            counts[outcome.chosen] = counts.get(outcome.chosen, 0) + 1
    return f"The default chose: {', '.join(f'{name} {n}' for name, n in sorted(counts.items()))}."


def claims(outcomes: list[Outcome]) -> list[Claim]:
    """What the paper claims of BA against TSB and DHL, of the models that have seen as many cases as these."""
    return [
        _claim(outcomes, text, method, rival, everywhere)
        for text, rival, everywhere in (
            ("BA outperforms TSB in all cases (Figure 5, first row)", TSB_FIXED, True),
            ("BA outperforms DHL for most c (second row)", DHL, False),
        )
        for method in (PRINTED, EXACT)
    ]


def _claim(outcomes: list[Outcome], text: str, method: str, rival: str, everywhere: bool) -> Claim:
    """A claim that a method has lower losses than a rival: in every cell, or on most data sets."""
    means = mean_losses(outcomes)
    if method not in means or rival not in means:
        return Claim(text, f"{method} or {rival} was not run", NOT_MEASURED)
    cells, sets = cells_lower(outcomes, method, rival), tally_lower(means, method, rival)
    mean, error = paired_difference(means, method, rival)
    evidence = (
        f"{method}: lower mean loss in {cells.held}, equal in {cells.tied}, higher in {cells.failed} cells (data set x "
        f"c); over all c lower {tally_text(sets)}; mean difference {mean:+.4f} ± {error:.4f}"
    )
    # Cells of one data set share their cases: only data sets can be counted as independent.
    return Claim(text, evidence, NO if everywhere and cells.failed else tally_verdict(sets))


def _synthetic_gain(outcomes: list[Outcome]) -> str:
    """How much lower the loss is with a learned rejector."""
    means = mean_losses(outcomes)
    ours, chow = (next(iter(means[method].values())) for method in (DEFAULT, STUMPS))
    gains = 1 - ours / chow
    return (
        "Synthetic, label by one feature and noise by another (800 cases, tested on 20,000 others; c = 0.1 ... 0.4): "
        f"default {ours.mean():.4f}, {STUMPS} {chow.mean():.4f}: {1 - ours.mean() / chow.mean():.0%} lower, by draw "
        f"{gains.min():.0%} to {gains.max():.0%}. The lowest possible is 0.12."
    )
