"""A finished run with segments, and a log of reviews of its model."""

import pytest

import recuse
from recuse.persistence import saved_digest
from recuse.reviews import ReviewLog
from recuse.watching import World
from tests.comparison.conftest import COSTS, mixed_table

REVIEWERS = ("anna", "ben", "anna|<b>eve</b>")
BATCHES = 8


@pytest.fixture(scope="session")
def run(tmp_path_factory):
    folder = tmp_path_factory.mktemp("card")
    mixed_table().to_csv(folder / "loans.csv", index=False)
    recuse.compare(
        folder / "loans.csv",
        "default",
        positive="bad",
        by=["town", "member"],
        costs=COSTS,
        methods=["logistic-no-reject", "logistic-chow"],
        cv=3,
        repeats=1,
        out=folder / "run",
    )
    return folder / "run"


def records_of(digest, batches=BATCHES, first=0, seed=0):
    """Records of a made-up world as if a model had answered there, reviewed by three people, in part blind."""
    n_verdicts = 0
    for record in World(cases=200).records(batches, random_state=seed, first=first):
        if record["kind"] == "draw":
            record |= {"model": {"file": "model.skops", "digest": digest}, "blind": record["draw"] == "batch 0"}
        if record["kind"] == "verdict":
            record |= {"reviewer": REVIEWERS[n_verdicts % 3]}
            n_verdicts += 1
        yield record


@pytest.fixture(scope="session")
def log(run, tmp_path_factory):
    path = tmp_path_factory.mktemp("log") / "reviews.jsonl"
    log = ReviewLog(path)
    log.append(records_of("of another model", batches=1, first=90, seed=7))
    records = list(records_of(saved_digest(run / "model.skops")))
    log.append(records[:-3])  # three cases are still open
    return path
