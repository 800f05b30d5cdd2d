"""Operating points at other prices, against the library's own rules and metrics."""

import numpy as np
import pytest

from recuse import Costs
from recuse.metrics import expected_cost, reject_confusion_matrix
from recuse.report import operating_points
from recuse.report.operating_points import Entries, operating_matrix
from recuse.thresholds.rules import Sample, tuned_band

PRICES = [
    Costs(1, 3, 0.3),
    Costs(1, 1, 0.1),
    Costs(2, 5, 0.9),
    Costs(fp=1, fn=4, reject_negative=0.2, reject_positive=0.6),
]
TRAINED = Costs(1, 3, 0.25)


@pytest.fixture
def cases():
    rng = np.random.default_rng(4)
    p = np.round(rng.beta(1, 1, 400), 2)
    positive = rng.random(400) < p
    return p, rng.integers(0, 4, 400), positive, p > 0.4


def cost_of(matrix, costs):
    prices = costs.matrix()[:2]
    return (matrix * prices).sum() / matrix.sum()


@pytest.mark.parametrize("costs", PRICES)
def test_chow_is_the_library_s_own(cases, costs):
    p, fold, positive, forced = cases
    matrix = operating_matrix(Entries.of(p, fold, positive, forced), "chow", costs, TRAINED)
    lower, upper = costs.thresholds
    labels = np.where(p > upper, 1, np.where(p < lower, 0, -1))
    np.testing.assert_array_equal(matrix[:, :3], reject_confusion_matrix(positive.astype(int), labels, reject_label=-1))
    assert matrix[:, 3].sum() == 0
    expected = expected_cost(positive.astype(int), labels, costs=costs, reject_label=-1)
    assert cost_of(matrix, costs) == pytest.approx(expected)


@pytest.mark.parametrize("costs", PRICES)
def test_tuned_thresholds_come_from_the_other_folds(cases, costs):
    p, fold, positive, forced = cases
    labels = np.empty(len(p), dtype=int)
    for k in range(4):
        others = fold != k
        band, _ = tuned_band(Sample.of(p[others], positive[others], np.ones(others.sum())), costs)
        labels[fold == k] = np.where(p > band.upper, 1, np.where(p < band.lower, 0, -1))[fold == k]
    matrix = operating_matrix(Entries.of(p, fold, positive, forced), "tuned", costs, TRAINED)
    np.testing.assert_array_equal(matrix[:, :3], reject_confusion_matrix(positive.astype(int), labels, reject_label=-1))
    assert matrix[:, 3].sum() == 0


def cheapest_threshold(r, positive, forced, costs):
    """By trying every one."""
    best = (np.inf, np.inf)
    for threshold in [2 * r.max() - r.min(), *np.unique(r)[::-1]]:
        answer = np.where(r >= threshold, forced, -1)
        cost = expected_cost(positive.astype(int), answer, costs=costs, reject_label=-1, labels=[0, 1])
        if cost <= best[0] + 1e-12:
            best = (cost, threshold)
    return best[1]


@pytest.mark.parametrize("costs", PRICES)
def test_pair_moves_its_threshold_as_the_cheapest_one_of_the_others_moves(cases, costs):
    p, fold, positive, forced = cases
    r = np.round(np.abs(p - 0.4), 2) - 0.1
    labels = np.empty(len(p), dtype=int)
    for k in range(4):
        others = fold != k
        new, old = (cheapest_threshold(r[others], positive[others], forced[others], c) for c in (costs, TRAINED))
        labels[fold == k] = np.where(r > new - old, forced, -1)[fold == k]
    matrix = operating_matrix(Entries.of(r, fold, positive, forced), "pair", costs, TRAINED)
    np.testing.assert_array_equal(matrix[:, :3], reject_confusion_matrix(positive.astype(int), labels, reject_label=-1))


def test_pair_at_the_prices_of_the_run_is_the_run(cases):
    """Whatever the scale of each fold's scores."""
    p, fold, positive, forced = cases
    r = (np.abs(p - 0.4) - 0.1) * (1 + fold)
    matrix = operating_matrix(Entries.of(r, fold, positive, forced), "pair", TRAINED, TRAINED)
    labels = np.where(r > 0, forced, -1)
    np.testing.assert_array_equal(matrix[:, :3], reject_confusion_matrix(positive.astype(int), labels, reject_label=-1))


def test_nothing_is_rejected_where_it_never_pays(cases):
    p, fold, positive, forced = cases
    entries, dear = Entries.of(p, fold, positive, forced), Costs(1, 1, 0.8)
    for moves in ("plain", "chow", "tuned", "pair"):
        assert operating_matrix(entries, moves, dear, TRAINED)[:, 2].sum() == 0
    assert operating_matrix(entries, "plain", Costs(1, 3, 0.1), TRAINED)[:, 2].sum() == 0


def test_at_the_prices_of_the_run_it_is_the_run(comparison, summary):
    from tests.report.conftest import as_entries

    for name, moves in {"logistic-chow": "chow", "logistic-plain": "plain"}.items():
        method = next(method for method in summary["methods"] if method["name"] == name)
        matrix = operating_matrix(as_entries(method), moves, comparison.costs, TRAINED)
        np.testing.assert_allclose(matrix, method["matrix"])
        row = next(row for row in comparison.rows if row.name == name)
        assert cost_of(matrix, comparison.costs) == pytest.approx(row.cost.value)


def test_large_tables_are_grouped_without_losing_a_case(monkeypatch):
    rng = np.random.default_rng(0)
    p = rng.beta(0.5, 3, 20_000)
    positive, fold, forced = rng.random(20_000) < p, rng.integers(0, 5, 20_000), p > 0.5
    grouped = Entries.of(p, fold, positive, forced)
    assert len(grouped.values) < 20_000
    assert grouped.weights.sum() == 20_000
    assert (np.diff(grouped.values) >= 0).all()
    monkeypatch.setattr(operating_points, "EXACT_UP_TO", 10**6)
    exact = Entries.of(p, fold, positive, forced)
    for moves in ("chow", "tuned", "plain"):
        costs = Costs(1, 3, 0.3)
        few, all_of_them = (operating_matrix(entries, moves, costs, TRAINED) for entries in (grouped, exact))
        np.testing.assert_allclose(few.sum(axis=1), all_of_them.sum(axis=1))
        assert np.abs(few - all_of_them).max() <= 60


@pytest.mark.parametrize("moves", ["plain", "chow", "tuned", "pair"])
def test_repetitions_are_averaged_and_do_not_mix(cases, moves):
    """Thresholds of a repetition come from that repetition: the matrix is the mean of theirs."""
    p, fold, positive, forced = cases
    rng = np.random.default_rng(9)
    scores = np.stack([p, np.clip(p + rng.normal(0, 0.1, len(p)), 0, 1)])
    folds, novel = np.stack([fold, rng.permutation(fold)]), rng.random(scores.shape) < 0.1
    for costs in PRICES:
        pooled = operating_matrix(Entries.of(scores, folds, positive, forced, novel), moves, costs, TRAINED)
        single = [
            operating_matrix(Entries.of(*parts[:2], positive, forced, parts[2]), moves, costs, TRAINED)
            for parts in zip(scores, folds, novel, strict=True)
        ]
        np.testing.assert_allclose(pooled, np.mean(single, axis=0))
        assert pooled[:, 3].sum() == novel.sum() / 2


def test_novelties_have_no_part_in_the_choice_of_thresholds(cases):
    p, fold, positive, forced = cases
    novel = np.random.default_rng(3).random(len(p)) < 0.2
    for moves in ("tuned", "pair"):
        whole = operating_matrix(Entries.of(p, fold, positive, forced, novel), moves, PRICES[0], TRAINED)
        without = operating_matrix(Entries.of(*(c[~novel] for c in cases)), moves, PRICES[0], TRAINED)
        np.testing.assert_array_equal(whole[:, :3], without[:, :3])


def test_many_repetitions_of_a_large_table_stay_small_enough_for_a_page():
    rng = np.random.default_rng(0)
    p = rng.beta(0.5, 3, (4, 20_000))
    grouped = Entries.of(p, rng.integers(0, 5, p.shape), rng.random(20_000) < 0.2, p > 0.5)
    assert grouped.weights.sum() == 80_000
    assert len(grouped.values) <= 25_000
