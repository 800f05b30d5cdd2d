"""What the benchmarks of the ensemble compute: costs, errors, lists of settings, and runs that are taken up again."""

import numpy as np
import pytest
from benchmarks import contest, portfolio, quality, rivals
from benchmarks.open_ensemble import OpenEnsemble
from benchmarks.relative_costs import FLOOR, Judged, constant_cost, in_constants, page_of_sets, summarise
from sklearn.datasets import make_classification

from recuse import Costs
from recuse.ensemble import EnsembleRejectClassifier
from recuse.ensemble.bagging import line_score

MEMBERS = ["logistic", "curves", "extra-trees"]


@pytest.fixture(scope="module")
def cases():
    return make_classification(300, 6, n_informative=4, class_sep=0.7, flip_y=0.1, random_state=0)


@pytest.mark.parametrize("costs", [Costs(1, 1, 0.2), Costs(1, 5, 0.3)], ids=str)
def test_one_fit_answers_at_any_prices_as_a_fit_at_them_does(cases, costs):
    X, y = cases
    product = EnsembleRejectClassifier(MEMBERS, costs=costs).fit(X[:200], y[:200])
    model = OpenEnsemble(MEMBERS).fit(X[:200], y[:200])
    blended = model.blended(model.member_log_odds(X[200:]))
    np.testing.assert_allclose(blended, product.predict_proba(X[200:])[:, 1], rtol=1e-9)
    assert model.bands([costs])[0].thresholds == pytest.approx(product.thresholds_)


def test_a_constant_answer_costs_one():
    codes = np.array([0] * 70 + [1] * 30)
    prices = (Costs(1, 1, 0.4), Costs(1, 5, 0.3))
    assert [constant_cost(costs, 0.3) for costs in prices] == pytest.approx([0.3, 0.3])
    never, rejected = np.zeros(100), np.full(100, 0.5)
    assert in_constants(never, codes, 0.3, prices[:1]).mean() == pytest.approx(1)
    assert in_constants(rejected, codes, 0.3, prices[1:]).mean() == pytest.approx(1)
    each = in_constants(np.column_stack([never, rejected]), codes, 0.3, prices)
    assert each.mean() == pytest.approx(1)


def test_the_error_of_a_ratio_is_that_of_independent_cases():
    """Answers to one case in three splits tell no more than one of them if they are equal."""
    rng = np.random.default_rng(0)
    paid = {"ours": rng.random(2_000), "theirs": rng.random(2_000)}
    once = Judged("once", "", np.arange(2_000), paid)
    thrice = Judged("thrice", "", np.tile(np.arange(2_000), 3), {name: np.tile(each, 3) for name, each in paid.items()})
    assert thrice.ratio("ours", "theirs") == pytest.approx(once.ratio("ours", "theirs"))
    saved = paid["ours"] - paid["theirs"]
    assert once.ratio("ours", "theirs")[1] == pytest.approx(
        saved.std() / np.sqrt(2_000) / (paid["theirs"].mean() + FLOOR)
    )


def test_a_summary_names_the_worst_set_and_the_page_the_losers():
    def judged(name, ours):
        return Judged(name, "10 x 2", np.arange(4), {"ours": np.full(4, ours), "theirs": np.full(4, 0.5)})

    sets = [judged("won", 0.4), judged("lost", 0.55)]
    found = summarise(sets, "ours", "theirs")
    assert (found.worst.name, found.worse) == ("lost", 0.5)
    assert found.total == pytest.approx(0.95)
    assert found.ratio == pytest.approx(np.sqrt((0.4 + FLOOR) * (0.55 + FLOOR)) / (0.5 + FLOOR))
    assert "Not cheaper than theirs on: lost." in page_of_sets("Sets", sets, "ours", ["theirs"])


def test_the_best_single_member_is_chosen_by_its_held_out_cost():
    good, bad = np.array([-4.0, -4.0, 4.0, 4.0]), np.array([4.0, 4.0, -4.0, -4.0])
    found = {"held_out": np.column_stack([bad, good]), "train_codes": np.array([0, 0, 1, 1])}
    assert quality._cheapest_members(found) == [1] * len(contest.PRICES)


def test_a_contest_is_taken_up_where_it_was(tmp_path, monkeypatch):
    monkeypatch.delenv(rivals.AUTOGLUON, raising=False)
    played = []

    def play_rivals(X, y, new, seed):
        played.append(seed)
        return {contest.LIGHTGBM: np.full(len(new), 0.5)}

    def fit_members(name, X, y, new, seed):
        """Two that take part, and one that no longer does."""
        names = np.array(["logistic", "curves", "of old"])
        scores = [np.column_stack([cases[:, 0], cases[:, 1], np.full(len(cases), 50.0)]) for cases in (X, new)]
        return {"names": names, "held_out": scores[0], "members": scores[1], "seconds": 1.0}

    monkeypatch.setattr(contest, "load_once", lambda _: make_classification(100, random_state=0))
    monkeypatch.setattr(contest, "_rivals", play_rivals)
    monkeypatch.setattr(contest, "_ensemble", fit_members)
    first = contest.contest(["some"], 1, tmp_path, 50)
    again = contest.contest(["some"], 2, tmp_path, 50)
    assert played == [0, 1]
    np.testing.assert_array_equal(again["some"][0]["test"], first["some"][0]["test"])
    assert first["some"][0]["names"].tolist() == ["logistic", "curves"]
    assert np.ptp(first["some"][0][contest.ENSEMBLE]) > 0
    assert len(first["some"][0]["bands"]) == len(contest.PRICES)


def test_a_list_of_settings_is_found_without_the_set_it_is_judged_on():
    """The first setting is best on one set only, which must not count there."""
    ratios = np.array([[1.0, 1.5, 1.4], [1.2, 1.0, 1.1], [1.2, 1.0, 1.1]])
    without = portfolio._lists_without_each(ratios)
    assert without[0][0] == 1
    assert portfolio._greedy_list(ratios) == [0, 1, 0]


@pytest.mark.parametrize("family", portfolio.FAMILIES)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_the_settings_of_a_pool_reach_the_classifier(family, cases):
    X, y = cases
    member = portfolio.MEMBERS[family]
    if not member.installed:
        pytest.skip(f"{member.needs} is not installed")
    training = portfolio.Training(60, 6, 0, np.zeros(0, dtype=int))
    members = [portfolio.with_settings(member, settings) for settings in portfolio.pool(family)[:3]]
    own, *others = [line_score(each.build(training).fit(X[:60], y[:60]), X[60:]) for each in members]
    for scores in others:
        assert np.abs(scores - own).max() > 1e-6
