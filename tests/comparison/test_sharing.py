"""Methods share what is the same for all of them on a fold, and answer as each would alone."""

import warnings

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import Pipeline
from threadpoolctl import threadpool_info

import recuse
from recuse.comparison import METHODS, Method, compare, fits, folds, methods
from recuse.comparison.folds import run_fold
from recuse.comparison.parts import in_parts
from recuse.comparison.plans import INNER_FOLDS, RuleCost, Task
from recuse.comparison.sharing import FitShelf, PreparedFold, PreparedTable, Shared
from recuse.folds import make_folds
from recuse.locating import locate, mark_novelties
from recuse.tables import check_cases
from recuse.thresholds import ThresholdRejectClassifier
from recuse.thresholds.scores import GivenCases

from .conftest import COSTS, mixed_table

RULES = [f"{base}-{rule}" for base in ("logistic", "boosting", "forest") for rule in ("no-reject", "chow", "tuned")]
BY_NAME = {method.name: method for method in METHODS}


def cases_of(table, groups=None):
    return check_cases(table, "default", "bad", groups=groups)


def unshared(method, task, cases, train, test):
    """The decisions of a method by scikit-learn's search and a fit of everything that it needs, for it alone."""
    plan = method.build(task)
    groups = None if cases.groups is None else cases.groups[train]
    table = PreparedTable.of(method, task, cases.features.iloc[train], cases.outcomes[train], groups)
    searched = plan.estimator if plan.inner is None else plan.estimator.estimator
    inner = make_folds(INNER_FOLDS, table.outcomes, groups=groups, random_state=task.seed)
    search = GridSearchCV(searched, plan.grid, scoring=plan.scoring, cv=inner, refit=False)
    best = clone(searched).set_params(**search.fit(table.numbers, table.outcomes).best_params_)
    rule = clone(plan.estimator).set_params(estimator=best)
    rule.fit(table.numbers, table.outcomes, groups=groups)
    model = Pipeline([("columns", table.columns), ("vectorizer", table.vectorizer), ("rule", rule)])
    classifier, prepared = locate(model, cases.features.iloc[test])
    found = model[0].novelties(model[0].transform(cases.features.iloc[test]))
    return mark_novelties(classifier.decide(prepared), found), best


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("grouped", [False, True])
def test_rules_that_share_their_fits_decide_as_each_would_alone(grouped):
    table = mixed_table(150)
    cases = cases_of(table, groups=np.arange(150) // 2 if grouped else None)
    task = Task.of(cases, COSTS, seed=0)
    train, test = make_folds(3, cases.outcomes, groups=cases.groups, random_state=1)[0]
    shared = Shared()
    for name in RULES:
        found = run_fold(BY_NAME[name], task, cases, train, test, shared)
        assert found.error is None
        expected, best = unshared(BY_NAME[name], task, cases, train, test)
        np.testing.assert_allclose(found.r, expected.r, atol=1e-6, err_msg=name)
        np.testing.assert_array_equal(np.array(["accept", "ambiguity", "novelty"])[found.kind], expected.kind, name)
        assert all(best.get_params()[key] == value for key, value in found.params.items() if key in best.get_params())


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", ["logistic-chow", "boosting-chow", "abstention-boosting", "double-hinge"])
def test_reasons_name_the_columns_of_the_table_as_those_of_the_whole_model_do(name):
    """Not the numbers that preparation and scaling made of a category or a date."""
    cases = cases_of(mixed_table(150))
    task = Task.of(cases, COSTS, seed=0)
    train, test = make_folds(3, cases.outcomes, random_state=1)[0]
    found = run_fold(BY_NAME[name], task, cases, train, test)
    model, _ = folds.fit_model(BY_NAME[name], task, cases.features.iloc[train], cases.outcomes[train])
    expected = recuse.decide(model, cases.features.iloc[test])
    assert found.reason == expected.reason.tolist()
    assert any(": " in reason for reason in found.reason)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("n_jobs", [1, 2])
def test_the_leaderboard_is_that_of_methods_run_alone(n_jobs):
    table, names = mixed_table(120), ["logistic-no-reject", "logistic-chow", "logistic-tuned", "abstention-boosting"]
    options = {"positive": "bad", "costs": COSTS, "cv": 2, "repeats": 1}
    together = compare(table, "default", methods=names, n_jobs=n_jobs, **options)
    for name in names:
        alone = compare(table, "default", methods=[name], **options)
        np.testing.assert_array_equal(together.answers[name].kind, alone.answers[name].kind)
        assert together.row(name).cost.value == pytest.approx(alone.row(name).cost.value, abs=1e-9)
        assert together.row(name).params == alone.row(name).params


class Counted(ClassifierMixin, BaseEstimator):
    """A classifier that counts its fits, and warns in each."""

    fits = 0
    threads = 0

    def __init__(self, strength=1.0):
        self.strength = strength

    def fit(self, X, y):
        Counted.fits += 1
        Counted.threads = max(library["num_threads"] for library in threadpool_info())
        warnings.warn("not sure of that", UserWarning, stacklevel=2)
        self.classes_ = np.unique(y)
        return self

    def predict_proba(self, X):
        p = np.clip(0.5 + 0.4 * self.strength * np.sign(np.asarray(X)[:, 0]), 0, 1)
        return np.column_stack([1 - p, p])


def counted_rules():
    def base(task):
        return Counted(), {"strength": [0.1, 0.5, 1.0]}

    return methods._rules("counted", "Counted", base)


def numbers_only(n=90):
    table = mixed_table(n).drop(columns=["town", "since"])
    return table.assign(score=table["score"].fillna(0.0))


def test_each_candidate_is_fitted_once_for_all_rules(monkeypatch):
    monkeypatch.setattr(methods, "METHODS", counted_rules())
    Counted.fits = 0
    found = compare(numbers_only(), "default", positive="bad", costs=COSTS, cv=3, repeats=1)
    assert found.errors == {}
    chosen = [{answers.folds[fold].params["strength"] for answers in found.answers.values()} for fold in range(3)]
    # Three candidates on three inner folds, and those that a rule has chosen on the whole training part.
    assert Counted.fits == sum(3 * INNER_FOLDS + len(distinct) for distinct in chosen)
    assert Counted.threads == 1
    for answers in found.answers.values():
        # Of every rule, also where the fit was found.
        assert answers.warnings["not sure of that"] == "in all 3 folds"
        assert answers.warnings["In its search, with every setting: not sure of that"] == "in all 3 folds"


def test_a_method_takes_the_time_that_it_takes_alone(monkeypatch):
    """What was spared by sharing counts: the second rule on a classifier is no quicker than the first."""
    shelf, cases = FitShelf(), numbers_only()
    X, y = cases[["score"]], cases["default"].to_numpy()
    given, rows = GivenCases(X, y, np.ones(len(y)), None, {}, {}), np.arange(len(y))
    with pytest.warns(UserWarning, match="not sure of that"):
        first = shelf.fit_rows(Counted(0.5), given, rows)
    assert shelf.spared == 0
    with pytest.warns(UserWarning, match="not sure of that"):
        assert shelf.fit_rows(Counted(0.5), given, rows) is first
    assert shelf.spared > 0
    with pytest.warns(UserWarning, match="not sure of that"):
        assert shelf.fit_rows(Counted(0.6), given, rows) is not first
    with pytest.warns(UserWarning, match="not sure of that"):
        assert shelf.fit_rows(Counted(0.5), given, rows[1:]) is not first
    with pytest.warns(UserWarning, match="not sure of that"):
        assert shelf.fit_rows(Counted(0.5), given._replace(X=X.copy()), rows) is not first


def counting_preparations(monkeypatch):
    made, prepare = [], PreparedFold.of

    def counted(method, task, cases, train, test):
        made.append((method.takes_categories, int(test[0])))
        return prepare(method, task, cases, train, test)

    monkeypatch.setattr(PreparedFold, "of", counted)
    return made


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("numeric", [True, False])
def test_a_fold_is_prepared_once_for_every_kind_of_preparation(numeric, monkeypatch):
    made = counting_preparations(monkeypatch)
    table = numbers_only() if numeric else mixed_table(90)
    rules = counted_rules()
    keeping = methods._rules("kept", "Kept", lambda task: (Counted(), {"strength": [1.0]}), takes_categories=True)
    monkeypatch.setattr(methods, "METHODS", (*rules, *keeping))
    compare(table, "default", positive="bad", costs=COSTS, cv=3, repeats=1)
    # Without categories both kinds of preparation are the same.
    assert len(made) == (3 if numeric else 6)
    assert len(set(made)) == len(made)


@pytest.mark.filterwarnings("ignore")
def test_worker_processes_prepare_each_fold_once(monkeypatch):
    """What the pool is asked to prepare: every fold, once; a fold that one part needs is prepared where it is run."""
    asked, run = [], fits.surviving_results

    def remember(function, calls, *rest):
        asked.append((function.__name__, len(calls)))
        return run(function, calls, *rest)

    monkeypatch.setattr(fits, "surviving_results", remember)
    monkeypatch.setattr(fits, "_FEW_CELLS", 0)
    made = counting_preparations(monkeypatch)
    options = {"positive": "bad", "costs": COSTS, "cv": 2, "repeats": 2, "n_jobs": 2}
    found = compare(mixed_table(90), "default", methods=["logistic-chow", "double-hinge"], **options)
    assert found.errors == {}
    assert asked == [("prepare_sent", 2), ("run_sent", 4)] * 2
    assert made == []  # nothing in this process
    asked.clear()
    compare(mixed_table(90), "default", methods=["logistic-chow", "logistic-tuned"], **options)
    assert asked == [("prepare_sent", 0), ("run_sent", 2)] * 2


@pytest.mark.filterwarnings("ignore")
def test_folds_of_a_small_table_are_prepared_in_this_process(monkeypatch):
    """Each once; the answers are those of folds that are prepared elsewhere."""
    options = {"positive": "bad", "costs": COSTS, "cv": 2, "repeats": 2, "methods": ["logistic-chow", "double-hinge"]}
    expected = compare(mixed_table(90), "default", n_jobs=1, **options)
    made = counting_preparations(monkeypatch)
    found = compare(mixed_table(90), "default", n_jobs=2, **options)
    assert len(made) == 4  # two folds, two repetitions
    for name, answers in expected.answers.items():
        np.testing.assert_allclose(found.answers[name].r, answers.r, rtol=1e-9)


def test_what_methods_are_fitted_on_holds_no_steps():
    """A worker that reads a prepared fold need not load what prepared it."""
    cases = check_cases(numbers_only(), "default", positive="bad")
    task = Task.of(cases, COSTS, 0)
    fold = PreparedFold.of(METHODS[1], task, cases, np.arange(60), np.arange(60, 90))
    assert (fold.training.columns, fold.training.vectorizer) == (None, None)
    assert len(fold.training.outcomes) == 60


def test_a_table_that_cannot_be_prepared_fails_each_method_with_its_reason(monkeypatch):
    def broken(*_):
        raise ValueError("a column that nobody can read")

    monkeypatch.setattr(PreparedFold, "of", broken)
    monkeypatch.setattr(methods, "METHODS", counted_rules())
    found = compare(numbers_only(), "default", positive="bad", costs=COSTS, cv=2, repeats=1)
    assert set(found.errors) == {"counted-no-reject", "counted-chow", "counted-tuned"}
    assert set(found.errors.values()) == {"a column that nobody can read"}


def test_parts_hold_what_shares_its_fits():
    logistic, boosting = (methods._rules(name, name, methods._logistic) for name in ("logistic", "boosting"))
    other = Method("other", "Other", methods._abstention)
    pending = [(method, number) for number in range(2) for method in (*logistic, other, *boosting)]
    parts = in_parts(pending, 1)
    assert [part.explained for part in parts] == [True] * 3 + [False] * 3  # the second fold is another repetition
    assert [(part.number, [method.name for method in part.methods]) for part in parts] == [
        (number, names)
        for number in range(2)
        for names in ([m.name for m in logistic], ["other"], [m.name for m in boosting])
    ]


def test_a_model_that_is_saved_remembers_no_fits():
    task = Task(COSTS, "bad", 0, 90)
    table = numbers_only()
    model, _ = folds.fit_model(BY_NAME["logistic-tuned"], task, table[["score"]], table["default"].to_numpy())
    assert isinstance(model[-1], ThresholdRejectClassifier)
    assert "_fit_rows" not in vars(model[-1])


def test_the_cheapest_candidate_is_the_first_of_equals():
    """As in scikit-learn's search."""
    constant = RuleCost("chow", recuse.Costs(1, 1, 0.2), "bad")
    plan = counted_rules()[1].build(Task(COSTS, "bad", 0, 90))
    table = numbers_only()
    X, y = table[["member"]].astype(float), table["default"].to_numpy()
    with warnings.catch_warnings(action="ignore"):
        _, params = methods.Plan(plan.estimator, {"strength": [0.0, -0.0]}, "estimator", constant).fit(
            X, y, Task(COSTS, "bad", 0, 90)
        )
    assert str(params["strength"]) == "0.0"
