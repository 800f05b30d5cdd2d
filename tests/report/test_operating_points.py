"""Operating points: against brute force, and what a reader may expect of prices."""

from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recuse import Costs
from recuse.costs import answer_columns
from recuse.metrics import expected_cost, reject_confusion_matrix
from recuse.report.operating_points import (
    WAYS,
    Scored,
    cheapest_point,
    forced_points,
    operating_points,
    point_cost,
    points_along,
)
from tests.report.tables import with_review

RUN = Costs(1, 3, 0.25)
PRICES = [
    Costs(1, 3, 0.3),
    Costs(1, 1, 0.1),
    Costs(2, 5, 0.9),
    Costs(fp=1, fn=4, reject_negative=0.2, reject_positive=0.6),
]


def make_answers(moves, seed=4, n=400, repeats=1, novel=0.0):
    """Answers of a method that follows the prices in one of the ways, and the outcomes."""
    rng = np.random.default_rng(seed)
    p = np.round(rng.beta(1, 1, (repeats, n)), 2)
    positive = rng.random(n) < p[0]
    forced = p > (RUN.break_even if moves == "no-reject" else 0.4)
    lower, upper = (RUN.break_even, RUN.break_even) if moves == "no-reject" else RUN.thresholds
    r = np.maximum(p - upper, lower - p) if moves != "no-reject" else np.ones_like(p)
    if moves != "no-reject":
        forced = np.where(r > 0, p > upper, forced)
    kind = np.where(rng.random((repeats, n)) < novel, 2, np.where(r > 0, 0, 1)).astype(np.int8)
    forced = forced.astype(np.int8)
    columns = answer_columns(forced, kind)
    return SimpleNamespace(score=p, r=r, forced=forced, kind=kind, columns=columns), positive


def labels_at(answers, point, moves):
    """What a point answers, case by case."""
    lower, upper = point.thresholds
    p = answers.score[0]
    if moves == "no-reject":
        return np.where(p > upper, 1, 0)
    return np.where(p > upper, 1, np.where(p < lower, 0, -1))


@pytest.mark.parametrize("moves", ["no-reject", "chow", "tuned"])
def test_counts_are_those_of_the_thresholds(moves):
    answers, positive = make_answers(moves)
    points = WAYS[moves].points(Scored.of(answers, positive, "score"))
    assert len(points) > 50
    for point in points[:: len(points) // 40]:
        labels = labels_at(answers, point, moves)
        expected = reject_confusion_matrix(positive.astype(int), labels, reject_label=-1)
        np.testing.assert_array_equal(point.matrix[:, :3], expected)
        assert point.matrix[:, 3].sum() == 0
        for costs in PRICES:
            assert point_cost(point, costs) == pytest.approx(
                expected_cost(positive.astype(int), labels, costs=costs, reject_label=-1, labels=[0, 1])
            )


def test_acceptance_points_move_one_threshold_and_no_class():
    answers, positive = make_answers("pair")
    found = {point.matrix.tobytes() for point in WAYS["pair"].points(Scored.of(answers, positive, "r"))}
    r, forced = answers.r[0], answers.forced[0]
    every = set()
    for threshold in [-np.inf, *np.unique(r), np.inf]:
        labels = np.where(r > threshold, forced, -1)
        matrix = np.zeros((2, 4))
        matrix[:, :3] = reject_confusion_matrix(positive.astype(int), labels, reject_label=-1, labels=[0, 1])
        every.add(matrix.tobytes())
    assert found <= every
    assert len(found) > 20


@pytest.mark.parametrize("moves", list(WAYS))
@pytest.mark.parametrize("novel", [0.0, 0.2])
def test_at_the_prices_of_the_run_it_is_the_run(moves, novel):
    answers, positive = make_answers(moves, repeats=2, novel=novel)
    points = operating_points(answers, positive, moves, RUN)
    own = np.zeros((2, 4))
    for repeat in answers.columns:
        np.add.at(own, (positive.astype(int), repeat), 0.5)
    np.testing.assert_allclose(points[0].matrix, own)
    assert cheapest_point(points, RUN) is points[0]
    assert 1 < len(points) < 200
    for point in points:
        assert point.matrix.sum() == pytest.approx(len(positive))
        # What is unlike anything seen stays rejected, at every price.
        np.testing.assert_allclose(point.matrix[:, 3], own[:, 3])


def test_a_luckier_threshold_is_not_taken():
    """A method whose own thresholds are far off: better ones exist, but they were found on these very cases."""
    answers, positive = make_answers("chow")
    answers.columns = np.full_like(answers.columns, 2)  # it rejects everything
    points = operating_points(answers, positive, "chow", RUN)
    every = WAYS["chow"].points(Scored.of(answers, positive, "score"))
    assert min(point_cost(point, RUN) for point in every) < RUN.reject_negative
    assert point_cost(cheapest_point(points, RUN), RUN) == pytest.approx(RUN.reject_negative)


price = st.floats(0.02, 20)


@settings(max_examples=60, deadline=None)
@given(st.sampled_from(list(WAYS)), price, price, price, st.floats(0.5, 3), st.sampled_from([0.01, 2, 100]))
def test_costs_scale_and_never_jump(moves, fp, fn, reject, ratio, factor):
    """All prices times ten cost ten times as much; a cheaper review never costs more, nor saves more than its price."""
    answers, positive = make_answers(moves, n=150)
    points = operating_points(answers, positive, moves, RUN)

    def cost(review, unit=1.0):
        costs = Costs(fp=unit * fp, fn=unit * fn, reject_negative=unit * review, reject_positive=unit * ratio * review)
        return point_cost(cheapest_point(points, costs), costs)

    assert cost(reject, factor) == pytest.approx(factor * cost(reject), rel=1e-9)
    for step in (1e-9, 1e-3, 0.5):
        dearer = reject * (1 + step)
        rise = cost(dearer) - cost(reject)
        assert -1e-12 <= rise <= max(1.0, ratio) * (dearer - reject) + 1e-12


@pytest.mark.parametrize("costs", PRICES)
@pytest.mark.parametrize("moves", list(WAYS))
def test_the_curve_is_made_of_the_points_that_are_cheapest_at_some_price_of_review(moves, costs):
    """Against brute force over many prices; its lowest point is where the method stands, on the page and in the row."""
    answers, positive = make_answers(moves, repeats=2, novel=0.05)
    points = operating_points(answers, positive, moves, RUN)
    path = points_along(points, costs)
    assert min(point_cost(point, costs) for point in path) == pytest.approx(
        point_cost(cheapest_point(points, costs), costs), rel=1e-12
    )
    corners = {id(point) for point in path}
    for factor in 10.0 ** np.linspace(-4, 4, 400):
        prices = with_review(costs, factor)
        found = cheapest_point(points, prices)
        nearest = min(point_cost(point, prices) for point in path)
        assert id(found) in corners or point_cost(found, prices) == pytest.approx(nearest, rel=1e-9)
    reviewed = [(point.matrix * costs.matrix()[:2])[:, 2:].sum() for point in path]
    assert (np.diff(reviewed) < 0).all()


@pytest.mark.parametrize("moves", list(WAYS))
def test_at_the_prices_of_the_run_the_lowest_point_of_the_curve_is_the_row(moves):
    answers, positive = make_answers(moves)
    points = operating_points(answers, positive, moves, RUN)
    lowest = min(points_along(points, RUN), key=lambda point: point_cost(point, RUN))
    assert point_cost(lowest, RUN) == pytest.approx(point_cost(points[0], RUN), rel=1e-12)


@pytest.mark.parametrize("moves", list(WAYS))
def test_forced_points_answer_every_case(moves):
    answers, positive = make_answers(moves)
    points = forced_points(answers, positive, moves, RUN)
    np.testing.assert_array_equal(points[0].matrix[:, 2:], 0)
    for point in points:
        assert point.matrix[:, 2:].sum() == 0
        assert point.matrix.sum() == len(positive)
    expected = expected_cost(positive.astype(int), answers.forced[0], costs=RUN)
    assert point_cost(cheapest_point(points, RUN), RUN) == pytest.approx(expected)


@pytest.mark.parametrize("moves", list(WAYS))
@pytest.mark.parametrize("novel", [0.0, 0.1])
def test_answering_every_case_costs_what_the_forced_classes_of_the_run_cost(moves, novel):
    """Luckier thresholds exist, found on these very cases; they are not taken."""
    answers, positive = make_answers(moves, novel=novel, repeats=2)
    points = operating_points(answers, positive, moves, RUN)
    forced = np.where(answers.kind == 2, 3, answers.forced)
    expected = RUN.matrix()[:2][positive.astype(int), forced].mean()
    last = points_along(points, RUN)[-1]
    assert last.matrix[:, 2].sum() == 0
    assert point_cost(last, RUN) == pytest.approx(expected)
    if novel == 0:
        compared_with = cheapest_point(forced_points(answers, positive, moves, RUN), RUN)
        assert point_cost(compared_with, RUN) == pytest.approx(point_cost(last, RUN))


def test_where_every_case_is_answered_the_threshold_is_told_if_there_is_one():
    answers, positive = make_answers("chow")
    answers.forced = (answers.score > RUN.break_even).astype(np.int8)
    answers.columns = answer_columns(answers.forced, answers.kind)
    last = points_along(operating_points(answers, positive, "chow", RUN), RUN)[-1]
    assert last.thresholds == (RUN.break_even, RUN.break_even)


def test_thresholds_do_not_depend_on_outcomes():
    answers, positive = make_answers("tuned")
    shuffled = np.random.default_rng(0).permutation(positive)
    for moves, way in WAYS.items():
        found = [
            [point.thresholds for point in way.points(Scored.of(answers, outcomes, way.score))]
            for outcomes in (positive, shuffled)
        ]
        assert found[0] == found[1], moves


def test_rows_of_the_leaderboard_and_the_page_agree(comparison, summary):
    for method in summary["methods"]:
        if method["name"] not in comparison.answers:
            continue
        row = comparison.row(method["name"])
        own = np.array(method["points"][0]["matrix"])
        assert (own * comparison.costs.matrix()[:2]).sum() / own.sum() == pytest.approx(row.cost.value, rel=1e-12)
