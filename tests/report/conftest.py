"""A comparison, its summary and its page."""

import numpy as np
import pytest

from recuse.report import render, summarize
from recuse.report.operating_points import Entries
from tests.comparison.conftest import comparison, table

__all__ = ["comparison", "table"]


@pytest.fixture(scope="session")
def summary(comparison):
    """The summary, with one more method whose operating point is a threshold on its acceptance score."""
    found = summarize(comparison, comparison.model())
    answers = comparison.answers["logistic-chow"]
    pair = next(method for method in found["methods"] if method["name"] == "logistic-chow").copy()
    # Every tenth of its cases is unlike any seen.
    novel = np.arange(len(comparison.positive)) % 10 == 0
    column = np.where(novel, 3, np.where(answers.kind[0] == 0, answers.forced[0], 2))
    matrix = np.zeros((2, 4))
    np.add.at(matrix, (comparison.positive.astype(int), column), 1)
    entries = Entries.of(answers.r, answers.fold, comparison.positive, answers.forced, novel)
    pair |= {"name": "pair", "title": "Pair of scores", "moves": "pair", "entries": entries.as_dict()}
    pair["matrix"] = matrix.tolist()
    found["novelties"] = True
    # Another whose cases were answered twice, in other folds and with other scores.
    again = next(method for method in found["methods"] if method["name"] == "logistic-tuned").copy()
    scores, folds = answers.score[0], answers.fold[0]
    entries = Entries.of(
        np.stack([scores, 0.9 * scores + 0.05]),
        np.stack([folds, (folds + 1) % 3]),
        comparison.positive,
        np.stack([answers.forced[0], 1 - answers.forced[0]]),
        np.stack([novel, ~novel & (scores > 0.7)]),
    )
    again |= {"name": "again", "title": "Answered twice", "entries": entries.as_dict()}
    twice = again | {"name": "again-pair", "title": "Answered twice, by a pair of scores", "moves": "pair"}
    found["methods"] += [again, twice]
    found["methods"].append(pair)
    found["why"]["shapes"] = [
        {"feature": "score", "cuts": [0.0, 1.0], "h": [-1.0, 0.5, 2.0], "r": [1.0, -0.5, 1.0]},
        {
            "feature": "</script><b>town",
            "cuts": [0.5],
            "h": [0.0, 1.0],
            "r": [0.0, 0.0],
            "reach": [-0.5, 1.5],
            "values": [0.0, 1.0],
        },
    ]
    found["why"] |= {"n_shapes": 2, "own_acceptance": True}
    return found


@pytest.fixture(scope="session")
def page_file(summary, tmp_path_factory):
    path = tmp_path_factory.mktemp("page") / "report.html"
    path.write_text(render(summary), encoding="utf-8")
    return path


def as_entries(method):
    """Entries of a method in a summary."""
    stored = method["entries"]
    codes = np.array(stored["codes"])
    weights = np.ones(len(codes)) if stored["weights"] is None else np.array(stored["weights"], dtype=float)
    repeat, fold = np.divmod(codes >> 3, stored["folds"])
    return Entries(np.array(stored["values"]), repeat, fold, (codes & 2) > 0, (codes & 1) > 0, (codes & 4) > 0, weights)
