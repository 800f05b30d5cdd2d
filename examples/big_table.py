"""Big tables: a folder of files, one queue.

The applications of a year lie in a folder, one Parquet file per month. `predict_table` answers file after file, holds
a few thousand rows in memory at a time, and writes a folder of answers of the same shape; the queue for manual review
is one over all files. Interrupted, the same call continues where it was. `--cluster` (or `cluster=` here) spreads the
files over the workers of a Dask cluster, and nothing else changes.
"""

import sys
import tempfile
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

import recuse
from recuse.datasets import make_loans
from recuse.predicting import predict_table

ALT = "Applications per month: answered yes, answered no, in the queue for review, and rejected beyond the capacity"
PRICES = recuse.Costs(fp=800, fn=4000, reject=200)
MONTHS, CAPACITY = 12, 12_000
PER_MONTH = [2500 + 250 * month for month in range(MONTHS)]


def main(picture="big_table.png"):
    """Fit on a sample, answer the year, and count what happens per month."""
    known = ["loan_id", "applied", "reminders"]
    history = make_loans(2000, random_state=7).drop(columns=known)
    model = recuse.fit(history, "outcome", PRICES, method="boosting-chow", positive="default")
    with tempfile.TemporaryDirectory() as folder:
        year, answers = Path(folder) / "year", Path(folder) / "answers"
        year.mkdir()
        for month in range(MONTHS):
            table = make_loans(PER_MONTH[month], random_state=100 + month).drop(columns=[*known, "outcome"])
            table.to_parquet(year / f"month-{month + 1:02d}.parquet")
        answered = predict_table(model, year, answers, capacity=CAPACITY, reasons=False, rows_at_once=2000)
        print(answered)
        frame = pd.read_parquet(answers)

    month = np.repeat(np.arange(1, MONTHS + 1), PER_MONTH)  # answers keep the order of files and rows
    queued = frame["review"].notna()
    counts = {
        "granted": frame["decision"] == "repaid",
        "refused": frame["decision"] == "default",
        "reviewed": queued,
        "beyond the capacity": (frame["kind"] != "accept") & ~queued,
    }
    figure, axes = plt.subplots(figsize=(7, 4), layout="constrained")
    below = np.zeros(MONTHS)
    for (name, chosen), colour in zip(counts.items(), ("#009E73", "#D55E00", "#0072B2", "0.7"), strict=True):
        heights = np.bincount(month[chosen.to_numpy()], minlength=MONTHS + 1)[1:]
        axes.bar(np.arange(1, MONTHS + 1), heights, bottom=below, color=colour, label=name)
        below += heights
        print(f"{name:<20} {heights.sum():>7,}")
    axes.set(xlabel="month", ylabel="applications", xticks=range(1, MONTHS + 1))
    figure.legend(loc="outside upper center", ncols=4)
    figure.savefig(picture, dpi=120)


if __name__ == "__main__":
    main(*sys.argv[1:])
