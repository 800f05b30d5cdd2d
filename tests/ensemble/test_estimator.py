"""The ensemble: honest held-out scores, budget, members of one's own, containers, groups, weights, files."""

import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.datasets import make_classification
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss
from sklearn.model_selection import GridSearchCV, StratifiedKFold
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

from recuse import Costs, decide, load, save
from recuse.ensemble import ROSTER, EnsembleRejectClassifier
from recuse.ensemble.roster import EFFORTS, choose_members
from recuse.folds import TimeFolds
from tests.marks import may_reject_all

FEW = ["logistic", "extra-trees"]
PRICES = Costs(fp=1, fn=5, reject=0.3)


@pytest.fixture(scope="module")
def cases():
    return make_classification(300, 6, n_informative=4, class_sep=0.7, flip_y=0.1, random_state=0)


class Memory(ClassifierMixin, BaseEstimator):
    """Knows every case it was fitted on, and nothing else: a leak would make it perfect."""

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        self._seen = {tuple(row): label for row, label in zip(X.tolist(), y.tolist(), strict=True)}
        return self

    def predict_proba(self, X):
        p = np.array([self._seen.get(tuple(row), 0.5) for row in X.tolist()])
        return np.column_stack([1 - p, p])


def test_a_member_that_remembers_cases_gains_nothing_from_it(cases):
    """Held-out scores are honest: a member is never judged on a case it saw."""
    X, y = cases
    model = EnsembleRejectClassifier([("memory", Memory()), "logistic"], costs=PRICES).fit(X, y)
    share = y.mean()
    constant = min(PRICES.fn * share, PRICES.fp * (1 - share), 0.3)
    assert model.held_out_costs_["memory"] == pytest.approx(constant, abs=1e-9)
    assert model.weights_["memory"] < 0.1 * model.weights_["logistic"]


@may_reject_all
def test_a_permuted_outcome_costs_what_a_constant_answer_costs():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(400, 5)), (rng.random(400) < 0.4).astype(int)
    model = EnsembleRejectClassifier(["logistic", "extra-trees", "double-hinge"], costs=PRICES).fit(X, y)
    new, truth = rng.normal(size=(4_000, 5)), rng.random(4_000) < 0.4
    answers = model.decide(new, reasons=False)
    paid = PRICES.prices(truth.astype(int), np.where(answers.accepted, answers.forced, 2).astype(int))
    assert model.held_out_costs_["blend"] == pytest.approx(0.3, abs=0.03)
    assert paid.mean() == pytest.approx(0.3, abs=0.03)


def test_the_blend_is_the_weighted_sum_of_calibrated_members(cases):
    X, y = cases
    model = EnsembleRejectClassifier(FEW, costs=PRICES).fit(X, y)
    z = model._intercept + sum(
        model.weights_[member.name] * member.log_odds(model._views.view(member.view, _table(model, X)).matrix)
        for member in model.members_
    )
    assert model.predict_proba(X)[:, 1] == pytest.approx(1 / (1 + np.exp(-z)))
    assert model.thresholds_ == PRICES.thresholds
    p = model.predict_proba(X)[:, 1]
    assert (model.decide(X).accepted == ((p < PRICES.thresholds[0]) | (p > PRICES.thresholds[1]))).all()
    assert all(len(member.models) == 5 for member in model.members_)
    assert model.n_iter_ == 10


def _table(model, X):
    from recuse.ensemble.features import Table

    return Table.of(X, model._categorical_columns)


def test_it_is_better_than_its_members_on_new_cases():
    X, y = make_classification(3_000, 12, n_informative=6, class_sep=0.8, flip_y=0.1, random_state=1)
    names = ["logistic", "extra-trees", "histogram-boosting", "double-hinge"]
    model = EnsembleRejectClassifier(names, costs=0.2).fit(X[:1_000], y[:1_000])
    alone = [EnsembleRejectClassifier([name], costs=0.2).fit(X[:1_000], y[:1_000]) for name in names]
    losses = [log_loss(y[1_000:], member.predict_proba(X[1_000:])) for member in (model, *alone)]
    assert losses[0] < 1.01 * min(losses[1:])  # the best member is known with hindsight only
    assert losses[0] < 0.95 * np.mean(losses[1:])
    assert model.held_out_log_loss_["blend"] < 1.01 * min(model.held_out_log_loss_[name] for name in names)


@pytest.mark.parametrize("member", [member.name for member in ROSTER if member.installed])
def test_every_member_of_the_roster_learns_and_takes_missing_values(member, cases):
    X, y = cases
    X = X.copy()
    X[::17, 2] = np.nan
    model = EnsembleRejectClassifier([member], costs=PRICES, cv=2).fit(X, y)
    assert model.held_out_log_loss_["blend"] < 0.98 * np.log(2)  # half of the cases are positive
    assert model.left_out_ == {}


def test_a_saved_ensemble_answers_alike(cases, tmp_path):
    X, y = cases
    names = [member.name for member in ROSTER if member.needs is None]
    model = EnsembleRejectClassifier(names, costs=PRICES, cv=2).fit(X, y)
    path = tmp_path / "model.skops"
    save(model, path)
    assert load(path).decision_function(X) == pytest.approx(model.decision_function(X), abs=1e-9)


def test_efforts_contain_each_other():
    names = [{member.name for member in choose_members(effort, 100)} for effort in EFFORTS]
    assert names[0] < names[1] < names[2]
    assert not any(name.endswith("large") for name in names[2])
    assert any(member.name.endswith("large") for member in choose_members("quick", 10_000))


def test_categories_in_frames_are_used_and_unseen_ones_answered():
    rng = np.random.default_rng(0)
    town = rng.choice(["Ulm", "Bonn", "Jena", "Trier"], 600)
    frame = pd.DataFrame({"town": town, "age": rng.normal(size=600), "noise": rng.normal(size=600)})
    y = np.where(np.isin(town, ["Ulm", "Trier"]) ^ (rng.random(600) < 0.1), "yes", "no")
    model = EnsembleRejectClassifier(["logistic", "histogram-boosting"], costs=0.2).fit(frame[:400], y[:400])
    answers = model.decide(frame[400:])
    right = (answers.label == y[400:])[answers.accepted].mean()
    assert right > 0.85
    unseen = model.decide(frame[:5].assign(town="Köln"))
    assert len(unseen.label) == 5
    coded = frame.assign(town=pd.factorize(frame["town"])[0])
    named = EnsembleRejectClassifier(["logistic"], categorical_features=["town"]).fit(coded, y)
    assert named.held_out_log_loss_["logistic"] < 0.5


@may_reject_all
def test_groups_stay_together():
    rng = np.random.default_rng(0)
    who = np.repeat(np.arange(60), 5)
    X = np.repeat(rng.normal(size=(60, 4)), 5, axis=0) + 0.01 * rng.normal(size=(300, 4))
    y = np.repeat((rng.random(60) < 0.5).astype(int), 5)  # nothing to learn but who it is
    blind = EnsembleRejectClassifier([("tree", DecisionTreeClassifier(random_state=0))], costs=0.3).fit(X, y)
    grouped = EnsembleRejectClassifier([("tree", DecisionTreeClassifier(random_state=0))], costs=0.3)
    grouped.fit(X, y, groups=who)
    assert blind.held_out_costs_["tree"] < 0.1
    assert grouped.held_out_costs_["tree"] > 0.25


def test_weights_count_as_repetitions(cases):
    X, y = cases
    folds = list(StratifiedKFold(3).split(X, y))
    weights = np.random.default_rng(0).integers(1, 4, len(y))
    rows = np.repeat(np.arange(len(y)), weights)
    place = {row: np.flatnonzero(rows == row) for row in range(len(y))}
    repeated = [tuple(np.concatenate([place[i] for i in part]) for part in fold) for fold in folds]
    weighted = EnsembleRejectClassifier(["logistic"], cv=folds).fit(X, y, sample_weight=weights)
    twice = EnsembleRejectClassifier(["logistic"], cv=repeated).fit(X[rows], y[rows])
    # The views are fitted to the cases as given; their scale differs a little.
    assert weighted.predict_proba(X)[:, 1] == pytest.approx(twice.predict_proba(X)[:, 1], abs=0.02)


def test_a_time_limit_leaves_members_out_and_says_so(cases):
    X, y = cases
    model = EnsembleRejectClassifier(["logistic", "extra-trees", "forest"], time_limit=1e-3).fit(X, y)
    assert list(model.weights_) == ["logistic"]
    assert set(model.left_out_) == {"extra-trees", "forest"}
    assert "time_limit=0.001" in model.left_out_["forest"]


def test_a_member_that_fails_costs_nobody_else(cases):
    class Fails(GaussianNB):
        def fit(self, X, y, sample_weight=None):
            raise RuntimeError("no luck")

    X, y = cases
    model = EnsembleRejectClassifier(["logistic", ("fails", Fails())]).fit(X, y)
    assert model.left_out_ == {"fails": "failed: RuntimeError: no luck"}
    with pytest.raises(ValueError, match=r"No member could be fitted\. fails: failed: RuntimeError: no luck"):
        EnsembleRejectClassifier([("fails", Fails())]).fit(X, y)


def test_the_same_seed_gives_the_same_model_on_any_number_of_threads(cases):
    X, y = cases
    one, two = (EnsembleRejectClassifier(FEW, n_jobs=n).fit(X, y).decision_function(X) for n in (1, 2))
    assert one == pytest.approx(two, abs=1e-12)


def test_tuned_thresholds_only_when_they_are_cheaper_beyond_doubt(cases):
    X, y = cases
    assert EnsembleRejectClassifier(FEW, costs=PRICES).fit(X, y).rule_ == "chow"
    tuned = EnsembleRejectClassifier(FEW, costs=PRICES, rule="tuned").fit(X, y)
    assert tuned.rule_ == "tuned"
    assert tuned.thresholds_ != PRICES.thresholds


def test_pipelines_searches_clones_and_reasons(cases):
    X, y = cases
    names = np.where(y == 1, "bad", "good")
    three = [*FEW, "histogram-boosting"]
    model = make_pipeline(StandardScaler(), EnsembleRejectClassifier(three, costs=PRICES, pos_label="bad", cv=3))
    answers = decide(model.fit(X, names), X)
    assert 0 < (~answers.accepted).sum() < len(y)
    rejected = answers.reason[~answers.accepted]
    assert all("of 'bad' lies between 0.06" in reason for reason in rejected)
    assert any("members disagree: 0." in reason for reason in rejected)
    search = GridSearchCV(model, {"ensemblerejectclassifier__blend": ["stacking", "greedy"]}, cv=2).fit(X, names)
    assert decide(search, X[:3]).label.shape == (3,)
    assert clone(model).get_params()["ensemblerejectclassifier__members"] == three


def test_progress_is_reported(cases):
    calls = []
    EnsembleRejectClassifier(FEW, progress=lambda *call: calls.append(call)).fit(*cases)
    assert calls == [(0, 2, "logistic regression"), (1, 2, "extremely randomised trees"), (2, 2, "")]


BAD = [
    ({"members": "logistic"}, "members must be a list of names"),
    ({"members": []}, "members must be a list of names"),
    ({"members": ["logitsic"]}, "members: 'logitsic' is not known; did you mean 'logistic'"),
    ({"members": [("a", 3)]}, "members must hold names or"),
    ({"members": ["logistic", "logistic"]}, "members must have different names"),
    ({"effort": "max"}, "effort must be one of 'quick', 'medium', 'best'; got 'max'"),
    ({"blend": "mean"}, "blend must be one of"),
    ({"rule": "roc"}, "rule must be one of"),
    ({"time_limit": 0}, "time_limit must be a finite number greater than 0"),
    ({"categorical_features": ["town"]}, "categorical_features names 'town', which is no column"),
]


@pytest.mark.parametrize(("options", "message"), BAD)
def test_wrong_parameters_are_named(options, message, cases):
    with pytest.raises((TypeError, ValueError), match=message):
        EnsembleRejectClassifier(**{"members": FEW, **options}).fit(*cases)


def test_a_class_with_one_case_is_refused_and_one_with_three_gets_three_folds():
    X, y = np.random.default_rng(0).normal(size=(40, 3)), np.zeros(40, dtype=int)
    y[:1] = 1
    with pytest.raises(ValueError, match="one case of a class only"):
        EnsembleRejectClassifier(["logistic"]).fit(X, y)
    y[:3] = 1
    assert EnsembleRejectClassifier(["logistic"]).fit(X, y).n_iter_ == 3


def test_members_do_not_warn_and_own_warnings_stay(cases):
    X, y = cases
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = EnsembleRejectClassifier([("slow", LogisticRegression(max_iter=1))]).fit(X, y)
    assert model.weights_["slow"] > 0
    with pytest.warns(UserWarning, match="rejects every training case"):
        EnsembleRejectClassifier(["logistic"]).fit(np.zeros_like(X), y)


class Counting(ClassifierMixin, BaseEstimator):
    """Says how many cases it was fitted to."""

    def fit(self, X, y):
        self.classes_, self.seen_ = np.unique(y), len(y)
        return self

    def predict_proba(self, X):
        p = 1 / (1 + np.exp(-4 * X[:, 0]))
        return np.column_stack([1 - p, p])


def test_over_time_the_newest_cases_are_trained_on_too(cases):
    X, _ = cases
    y, own = (X[:, 0] > 0).astype(int), ("counting", Counting())
    over_time = EnsembleRejectClassifier([own], costs=0.45, cv=TimeFolds(3)).fit(X, y)
    assert [model.seen_ for model in over_time.members_[0].models] == [300]
    shuffled = EnsembleRejectClassifier([own], costs=0.45, cv=3).fit(X, y)
    assert [model.seen_ for model in shuffled.members_[0].models] == [200, 200, 200]
