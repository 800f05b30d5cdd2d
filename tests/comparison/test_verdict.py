"""The verdict: separate questions, constant answers, and words that say what was found."""

import numpy as np
import pytest

from recuse import Costs
from recuse.comparison.choice import Choice
from recuse.comparison.conclusions import conclude
from recuse.comparison.intervals import Interval
from recuse.comparison.leaderboard import Row, rank
from recuse.comparison.payments import Payments
from recuse.comparison.verdict import Candidates, Saving, Verdict, convincing, judge, moved

COSTS = Costs(1, 5, 0.3)
CONSTANTS = {"send-all": 2, "always-no": 0, "always-yes": 1}
TITLES = {"send-all": "Manual review of every case", "always-no": "Always no", "always-yes": "Always yes"}


def judged(columns, forced, positive, costs=COSTS, coverage=0.6, **options):
    """A verdict on models given by the columns they answer."""
    constants = {
        name: Payments.of(np.full(len(positive), column), positive, costs, constant=True)
        for name, column in CONSTANTS.items()
    }
    models = {name: Payments.of(answers, positive, costs) for name, answers in columns.items()}
    answered = {name: Payments.of(answers, positive, costs) for name, answers in forced.items()}
    verdict = judge(Candidates(models, answered, constants, "send-all"), seed=0, **options)
    rows = {name: Row(name, TITLES.get(name, name), coverage=coverage) for name in [*columns, *constants]}
    return verdict, conclude(verdict, rows, len(columns))


def test_answering_is_compared_with_reviewing_everything_and_rejecting_with_itself():
    """Review is cheap and the model poor when it must answer: rejecting pays, whatever answering does."""
    rng = np.random.default_rng(0)
    positive = rng.random(2_000) < 0.3
    sure = rng.random(2_000) < 0.5
    forced = np.where(sure, positive, rng.random(2_000) < 0.5).astype(int)
    columns = np.where(sure, forced, 2)
    verdict, words = judged({"model": columns}, {"model": forced}, positive, Costs(1, 5, 0.1))
    assert verdict.chosen == "model"
    assert verdict.rejecting.pays == "yes"
    assert verdict.answering.pays == "yes"
    expected = (
        Payments.of(forced, positive, Costs(1, 5, 0.1)).prices - Payments.of(columns, positive, Costs(1, 5, 0.1)).prices
    )
    assert verdict.rejecting.saved.value == pytest.approx(expected.mean())
    assert words["rejecting"].startswith("Rejecting pays: by sending 40.0% of the cases to manual review")
    forced_cost = Payments.of(forced, positive, Costs(1, 5, 0.1)).prices.mean()
    assert verdict.forced_cost.value == pytest.approx(forced_cost)
    assert words["rejecting"].endswith(f"(it costs {verdict.cost.value:.4f}, and {forced_cost:.4f} then).")


def test_the_costs_in_the_sentence_about_rejecting_differ_by_its_saving():
    rng = np.random.default_rng(0)
    positive = rng.random(500) < 0.3
    forced = {f"m{k}": np.where(rng.random(500) < 0.8, positive, ~positive).astype(int) for k in range(4)}
    models = {
        name: np.where((columns != positive) & (rng.random(500) < 0.8), 2, columns) for name, columns in forced.items()
    }
    verdict, _ = judged(models, forced, positive)
    assert verdict.model_chosen
    assert verdict.model_cost == verdict.cost
    assert verdict.forced_cost.value - verdict.cost.value == pytest.approx(verdict.rejecting.saved.value)
    own = Payments.of(forced[verdict.chosen], positive, COSTS).prices.mean()
    assert verdict.forced_cost.value != own  # it is corrected for the choice, as the saving is


@pytest.mark.parametrize("seed", range(5))
def test_a_correction_never_makes_a_saving_larger_nor_a_cost_smaller(seed):
    """Methods alike as they answer, and ever worse when they must answer every case: others would save more."""
    rng = np.random.default_rng(seed)
    positive, sure = rng.random(400) < 0.3, rng.random(400) < 0.5
    models, forced = {}, {}
    for k in range(5):
        guessed = np.where(rng.random(400) < 0.9 - 0.15 * k, positive, ~positive)
        forced[f"m{k}"] = np.where(sure, positive ^ (rng.random(400) < 0.04), guessed).astype(int)
        models[f"m{k}"] = np.where(sure, forced[f"m{k}"], 2)
    verdict, _ = judged(models, forced, positive)
    own, then = (Payments.of(part[verdict.best_model], positive, COSTS) for part in (models, forced))
    uncorrected = own.saved_against(then)
    assert verdict.model_cost.value >= own.prices.mean() - 1e-12
    assert verdict.rejecting.saved.value <= uncorrected.value + 1e-12
    assert verdict.rejecting.saved.low <= uncorrected.low + 1e-12
    assert verdict.rejecting.saved.high <= uncorrected.high + 1e-12
    assert verdict.forced_cost.value - verdict.model_cost.value == pytest.approx(verdict.rejecting.saved.value)


def test_noise_has_no_signal():
    """Two in a hundred are positive and nothing tells them apart: the answer is a constant, and the words say so."""
    rng = np.random.default_rng(1)
    positive = rng.random(1_000) < 0.02
    models = {f"m{k}": np.where(rng.random(1_000) < 0.05, 2, (rng.random(1_000) < 0.01).astype(int)) for k in range(5)}
    forced = {name: np.where(columns == 2, 0, columns) for name, columns in models.items()}
    verdict, words = judged(models, forced, positive)
    assert verdict.chosen == "always-no"
    assert not verdict.found_signal
    assert "must answer" not in words["method"]
    best = TITLES.get(verdict.best_model, verdict.best_model)
    assert words["method"].startswith(
        f"No signal found: {best}, the method that would be chosen, is not convincingly cheaper than 'Always no'"
    )


def test_noise_where_reviews_are_cheap_has_no_signal_either():
    rng = np.random.default_rng(1)
    positive = rng.random(1_000) < 0.5
    forced = rng.integers(0, 2, 1_000)
    verdict, words = judged({"model": np.where(rng.random(1_000) < 0.9, 2, forced)}, {"model": forced}, positive)
    assert verdict.chosen == "send-all"
    assert not verdict.found_signal
    assert words["method"].startswith(
        "No signal found: model, the method that would be chosen, is not convincingly cheaper than "
        "'Manual review of every case'"
    )
    assert f", nor than {TITLES[verdict.signal.against]!r} when it must answer." in words["method"]


@pytest.fixture
def informed():
    """A model that errs in a tenth of the cases, where a review costs less than its errors."""
    rng = np.random.default_rng(2)
    positive = rng.random(1_000) < 0.4
    forced = np.where(rng.random(1_000) < 0.9, positive, ~positive).astype(int)
    return positive, forced, Costs(1, 5, 0.05)


def test_a_signal_that_does_not_pay_is_a_signal_and_the_other_sentences_are_no_advice(informed):
    positive, forced, costs = informed
    columns = np.where(np.arange(1_000) % 2 == 0, 2, forced)
    verdict, words = judged({"model": columns}, {"model": forced}, positive, costs)
    assert verdict.chosen == "send-all"
    assert verdict.found_signal
    assert (verdict.signal.rule, verdict.signal.against) == ("model", "always-yes")
    assert words["method"].startswith(
        "Nothing beats 'Manual review of every case' for certain at these prices: it costs 0.0500 [0.0500, 0.0500] per"
    )
    assert "There is a signal: when it must answer every case, model saves" in words["method"]
    assert "more per case than 'Manual review of every case'." in words["method"]
    assert words["answering"].startswith("If model were used, answering would not pay: it costs")
    assert words["rejecting"].startswith("If model were used, rejecting would pay: by sending")


def test_a_model_that_answers_nothing_saves_exactly_nothing(informed):
    positive, forced, costs = informed
    nothing, bold = np.full(1_000, 2), np.where(np.arange(1_000) < 900, 2, forced)
    verdict, words = judged(
        {"model": nothing, "bold": bold}, {"model": forced, "bold": forced}, positive, costs, coverage=0.0
    )
    assert (verdict.best_model, verdict.chosen) == ("model", "send-all")
    assert tuple(verdict.answering.saved) == (0.0, 0.0, 0.0)
    assert words["answering"] == (
        "If model were used, answering would not pay: it answers no case and saves 0.0000 [0.0000, 0.0000] per case "
        "against the manual review of every case."
    )


def test_a_model_that_never_rejects_is_compared_with_the_cheapest_that_does():
    positive = np.arange(400) % 4 == 0
    right = positive.astype(int)
    verdict, words = judged(
        {"plain": right, "timid": np.where(np.arange(400) < 100, 2, right)}, {"plain": right, "timid": right}, positive
    )
    assert verdict.chosen == "plain"
    assert (verdict.rejecting.rule, verdict.rejecting.against) == ("timid", "plain")
    assert verdict.rejecting.saved.value == pytest.approx(-0.3 / 4)
    assert verdict.rejecting.pays == "no"
    assert "costs 0.0750" in words["rejecting"]
    assert "more per case" in words["rejecting"]
    assert "-0." not in words["rejecting"].split("[")[0]


def test_no_method_rejected():
    positive = np.arange(40) % 4 == 0
    _, words = judged({"plain": positive.astype(int)}, {"plain": positive.astype(int)}, positive)
    assert words["rejecting"].endswith("no method rejected a case.")


def test_prices_in_another_unit_change_no_conclusion():
    rng = np.random.default_rng(5)
    positive = rng.random(300) < 0.3
    models = {f"m{k}": rng.integers(0, 3, 300) for k in range(4)}
    forced = {name: np.where(columns == 2, 0, columns) for name, columns in models.items()}
    once, _ = judged(models, forced, positive)
    for factor in (0.01, 2, 100):
        scaled, _ = judged(models, forced, positive, Costs(factor, 5 * factor, 0.3 * factor))
        assert (scaled.chosen, scaled.answering.pays) == (once.chosen, once.answering.pays)
        for name in ("answering", "rejecting", "constant", "signal"):
            found, expected = getattr(scaled, name).saved, getattr(once, name).saved
            assert tuple(found) == pytest.approx(tuple(factor * value for value in expected), rel=1e-9)
        assert tuple(scaled.cost) == pytest.approx(tuple(factor * value for value in once.cost), rel=1e-9)


@pytest.mark.parametrize(("low", "high", "pays"), [(0.01, 0.3, "yes"), (-0.2, 0.0, "no"), (-0.1, 0.2, "unclear")])
def test_when_a_saving_pays(low, high, pays):
    assert Saving("a", "b", Interval((low + high) / 2, low, high)).pays == pays


def test_a_correction_lengthens_the_interval():
    assert moved(Interval(0.2, 0.1, 0.4), 0.05) == pytest.approx((0.25, 0.1, 0.45))
    assert moved(Interval(0.2, 0.1, 0.4), -0.05) == pytest.approx((0.15, 0.05, 0.4))


@pytest.mark.parametrize(
    ("n", "right", "wrong", "costs", "expected"),
    [
        (2_000, 1_000, 40, Costs(1, 1, 0.3), True),  # far more than one standard error
        (300, 60, 2, Costs(1, 5, 0.3), False),  # two more misses would use the saving up
        (300, 90, 3, Costs(1, 5, 0.3), True),  # half a standard error, and two more misses would not
        (300, 280, 0, Costs(1, 50, 0.3), False),  # no miss was seen, but two would cost more than all that is saved
        (3_000, 200, 9, Costs(1, 5, 0.3), False),  # half a standard error, but less than a twentieth of the cost
        (300, 0, 3, Costs(1, 5, 0.3), False),
    ],
)
def test_when_a_model_convinces(n, right, wrong, costs, expected):
    """It answers no in some cases, of which some are positive, where the constant answer is manual review."""
    columns, positive = np.full(n, 2), np.zeros(n, dtype=bool)
    columns[: right + wrong] = 0
    positive[:wrong] = True
    review = Payments.of(np.full(n, 2), positive, costs, constant=True)
    assert convincing(Payments.of(columns, positive, costs), review) == expected


def test_a_unit_errs_as_a_whole():
    own, positive = np.zeros(40, dtype=int), np.zeros(40, dtype=bool)
    model = Payments.of(own, positive, COSTS)
    review = Payments.of(np.full(40, 2), positive, COSTS, constant=True)
    assert model.one_more_error(review) == pytest.approx(5 / 40)
    assert model.one_more_error(review, np.repeat(np.arange(10), 4)) == pytest.approx(4 * 5 / 40)
    assert review.one_more_error(model) == 0.0


def test_being_chosen_never_makes_a_method_look_too_expensive(monkeypatch):
    """The simplest is chosen, and every resample chooses the cheaper one: its cost is no estimate of the other's."""
    monkeypatch.setattr("recuse.comparison.verdict.choose", lambda *_, **__: Choice(0, [(1, np.arange(100))]))
    positive = np.arange(100) % 2 == 0
    cheaper = positive.astype(int)
    models = {"simple": np.where(np.arange(100) < 10, 1 - cheaper, cheaper), "cheaper": cheaper}
    verdict, _ = judged(models, models, positive, Costs(1, 1, 0.4))
    assert verdict.best_model == "simple"
    assert verdict.model_cost.value == pytest.approx(0.1)
    assert verdict.answering.saved.value == pytest.approx(0.3)


def test_without_models_there_is_no_verdict():
    assert judge(Candidates({}, {}, {}, "send-all"), seed=0) is None


def test_verdict_is_a_record():
    saving = Saving("a", "b", Interval(0.0, 0.0, 0.0))
    verdict = Verdict("a", "a", *[Interval(0.1, 0.0, 0.2)] * 3, *[saving] * 4, {"a": 1.0})
    with pytest.raises(AttributeError):
        verdict.chosen = "b"


def test_a_cheaper_row_that_was_not_chosen_is_named():
    """Two models that the cases cannot tell apart: the simpler one is used, and the words say what the other saved."""
    rng = np.random.default_rng(3)
    positive = rng.random(400) < 0.4
    simple = np.where(rng.random(400) < 0.9, positive, ~positive).astype(int)
    complex_ = simple.copy()
    negatives, wrong = ~positive, simple != positive
    for rows in (np.flatnonzero(negatives & wrong)[:5], np.flatnonzero(negatives & ~wrong)[:3]):
        complex_[rows] ^= 1  # five false alarms fewer, three others more
    models = {"simple": simple, "complex": complex_}
    payments = {name: Payments.of(columns, positive, COSTS) for name, columns in models.items()}
    verdict, _ = judged(models, models, positive)
    assert verdict.chosen == "simple"
    constants = [Row(name, title) for name, title in TITLES.items()]
    ranked = rank([Row("simple", "Simple"), Row("complex", "Complex"), *constants], payments)
    words = conclude(verdict, {row.name: row for row in ranked}, 2)["method"]
    saved = payments["complex"].saved_against(payments["simple"])
    assert f"In this run Complex cost {saved.value:.4f} [{saved.low:.4f}, {saved.high:.4f}] less" in words
    alone = rank([Row("complex", "Complex"), *constants], {"complex": payments["complex"]})
    verdict, _ = judged({"complex": complex_}, {"complex": complex_}, positive)
    assert "In this run" not in conclude(verdict, {row.name: row for row in alone}, 1)["method"]
