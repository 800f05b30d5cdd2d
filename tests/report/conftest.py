"""A comparison, its summary and its page."""

from dataclasses import replace

import numpy as np
import pytest

from recuse.report import render, summarize
from recuse.report.methods import written_thresholds
from recuse.report.operating_points import forced_points, operating_points
from tests.comparison.conftest import comparison, table

__all__ = ["comparison", "table"]


def with_points(method, answers, positive, moves, costs, **names):
    """A method of a summary with the operating points of other answers."""
    found = {"points": operating_points(answers, positive, moves, costs)}
    found["forced"] = forced_points(answers, positive, moves, costs)
    lists = {
        key: [{"matrix": point.matrix.tolist(), "thresholds": written_thresholds(point.thresholds)} for point in points]
        for key, points in found.items()
    }
    return method | lists | {"moves": moves} | names


@pytest.fixture(scope="session")
def summary(comparison):
    """The summary, with methods that move a threshold on the acceptance score, know novelties, or answered twice."""
    found = summarize(comparison, comparison.model())
    answers, positive, costs = comparison.answers["logistic-chow"], comparison.positive, comparison.costs
    template = next(method for method in found["methods"] if method["name"] == "logistic-chow")
    # Every tenth of its cases is unlike any seen.
    kind = np.where(np.arange(len(positive)) % 10 == 0, 2, answers.kind)
    novel = replace(answers, kind=kind.astype(np.int8))
    pair = with_points(template, novel, positive, "pair", costs, name="pair", title="Pair of scores")
    # Another whose cases were answered twice, with other scores.
    twice = replace(
        answers,
        **{
            name: np.concatenate([column, 0.9 * column + 0.05 if name == "score" else column])
            for name, column in vars(answers).items()
            if name in ("forced", "kind", "fold", "h", "r", "score")
        },
    )
    again = with_points(template, twice, positive, "tuned", costs, name="again", title="Answered twice")
    both = with_points(template, twice, positive, "pair", costs, name="again-pair", title="Answered twice, by a pair")
    found["novelties"] = True
    found["methods"] += [again, both, pair]
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
