"""AbstentionBoostingClassifier with three or more classes: answers, reasons, options, refusals, weights, saving."""

import pickle
import warnings
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.datasets import load_iris, make_classification
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV, GroupKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import recuse
from recuse import AbstentionBoostingClassifier, Costs
from recuse.metrics import expected_cost, per_class_scores
from tests.marks import may_reject_all

from .problems import PRICES

FIXED = {"beta": 0.003, "n_rounds": 20, "threshold": "calibrated"}
QUICK = {"n_rounds": 20, "cv": 3, "bags": 1}
RULES = {
    "chow": {"family": "chow", **FIXED},
    "coupled": {"family": "coupled", **FIXED},
    "decoupled": {"family": "decoupled", "cv": 3, **FIXED},
    "started": {"family": "decoupled", "stack": "start", "cv": 3, **FIXED},
}
every_rule = pytest.mark.parametrize("rule", RULES)


@pytest.fixture(scope="module")
def cases():
    X, y = make_classification(600, 6, n_informative=4, n_classes=3, class_sep=1.4, flip_y=0.03, random_state=3)
    return X[:400], y[:400], X[400:], y[400:]


@pytest.fixture(scope="module")
def models(cases):
    X, y, *_ = cases
    return {name: AbstentionBoostingClassifier(costs=PRICES, **options).fit(X, y) for name, options in RULES.items()}


def noise_by_feature(n, seed):
    """Three classes by x0, and nothing but noise where x1 is small."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(size=(n, 4))
    y = np.minimum((3 * X[:, 0]).astype(int), 2)
    noisy = X[:, 1] < 0.35
    y[noisy] = rng.integers(0, 3, noisy.sum())
    return X, y


# Answers


def test_probabilities_and_the_answer_of_least_expected_cost(cases, models):
    _, _, new, truth = cases
    model = models["chow"]
    p, errors, reject = model.predict_proba(new), np.array(PRICES.errors), np.array(PRICES.reject)
    np.testing.assert_allclose(p.sum(axis=1), 1)
    best, review = (p @ errors).argmin(axis=1), p @ reject
    np.testing.assert_array_equal(model.predict(new), np.where((p @ errors).min(axis=1) < review, best, -1))
    assert -np.log(p[np.arange(len(new)), truth]).mean() < 0.75  # of log 3
    assert model.score(new, truth) == pytest.approx(1 - expected_cost(truth, model.decide(new)) / 12)


def test_log_probabilities_are_sums_over_columns(cases, models):
    *_, new, _ = cases
    model = models["chow"]
    h0, _ = model.intercept_
    h = h0 + sum(shape.table[shape.cells(new[:, shape.feature])][:, :-1] for shape in model.shape_functions_)
    p = np.exp(h) / np.exp(h).sum(axis=1, keepdims=True)
    np.testing.assert_allclose(p, model.predict_proba(new), rtol=1e-9)
    for shape in model.shape_functions_:
        np.testing.assert_allclose(shape.share @ shape.table, 0, atol=1e-12)
        np.testing.assert_allclose(shape.h.sum(axis=1), 0, atol=1e-12)
        assert shape.share.sum() == pytest.approx(1)


def test_a_learned_rule_answers_with_the_largest_of_its_scores(cases, models):
    *_, new, _ = cases
    model = models["coupled"]
    (h0, r0), shapes = model.intercept_, model.shape_functions_
    tables = [shape.table[shape.cells(new[:, shape.feature])] for shape in shapes]
    scores = np.append(h0, r0) + np.sum(tables, axis=0)
    h, rejection = scores[:, :-1], -scores[:, -1]
    np.testing.assert_allclose(model.decision_function(new), h)
    np.testing.assert_allclose(model.score_samples(new), h.max(axis=1) - rejection, atol=1e-12)
    answers = np.where(h.max(axis=1) > rejection, h.argmax(axis=1), -1)
    np.testing.assert_array_equal(model.predict(new), answers)
    assert 0 < np.mean(answers == -1) < 1


@pytest.mark.parametrize("rule", ["decoupled", "started"])
def test_a_rejector_of_its_own_accepts_the_answer_of_least_expected_cost(rule, cases, models):
    *_, new, _ = cases
    model, chow = models[rule], models["chow"]
    np.testing.assert_allclose(model.predict_proba(new), chow.predict_proba(new))
    np.testing.assert_allclose(model.decision_function(new), chow.decision_function(new))
    r = model.intercept_[1] + sum(
        shape.table[shape.cells(new[:, shape.feature]), -1] for shape in model.shape_functions_
    )
    if rule == "started":
        p, answers = model.predict_proba(new), model.decide(new, reasons=False).forced
        over = np.array(PRICES.errors)[:, answers].T - np.array(
            PRICES.reject
        )  # what answering costs more than rejecting
        r = r + np.log((p * np.maximum(-over, 0)).sum(axis=1)) - np.log((p * np.maximum(over, 0)).sum(axis=1))
    np.testing.assert_allclose(model.score_samples(new), r, atol=1e-9)
    np.testing.assert_array_equal(model.predict(new), np.where(r > 0, model.decide(new, reasons=False).forced, -1))


def test_without_stumps_what_is_started_is_the_confidence_rule(cases, models):
    *_, new, _ = cases
    started = models["started"]._rule
    form = started.form
    bare = replace(form, r0=0.0, shapes=[replace(s, r=0 * s.r, missing=(s.missing[0], 0.0)) for s in form.shapes])
    h, r, _ = replace(started, form=bare).evaluate(new)
    expected = models["chow"]._rule.evaluate(new)
    np.testing.assert_allclose(h, expected.h)
    np.testing.assert_array_equal(r > 0, expected.r > 0)


def test_a_rejector_is_learned_where_noise_has_a_cause_of_its_own():
    X, y = noise_by_feature(900, 0)
    new, truth = noise_by_feature(3000, 1)
    model = AbstentionBoostingClassifier(costs=0.3, n_rounds=40, cv=3, bags=1).fit(X, y)
    assert model.family_ in ("decoupled", "decoupled+start")
    assert {"chow", model.family_} <= set(model.held_out_costs_)
    cost = expected_cost(truth, model.decide(new, reasons=False))
    of_rule = model.candidates_["chow"].evaluate(new)
    answers = np.where(of_rule.r > 0, of_rule.h.argmax(axis=1), 3)
    rule = Costs(reject=0.3).matrix(3)[truth, answers].mean()
    assert cost < 0.6 * rule
    assert cost < 0.105 * 1.15  # no rule costs less than 0.35 of the cases at 0.3
    assert "r" in model.importances_
    assert model.importances_["r"].argmax() == 1
    decisions = model.decide(np.array([[0.9, 0.05, 0.5, 0.5]]))
    assert decisions.kind[0] == "ambiguity"
    assert "harder than the average case by x1 = 0.05" in decisions.reason[0]


def test_the_default_keeps_the_confidence_rule_where_that_is_all_there_is():
    X, y = load_iris(return_X_y=True)
    model = AbstentionBoostingClassifier(**QUICK).fit(X, y)
    assert model.family_ == "chow"
    assert model.predict_proba(X).shape == (150, 3)
    assert set(model.predict(X)) <= {0, 1, 2, -1}


def test_reasons_name_the_two_best_and_the_columns_between_them(cases, models):
    X, y, new, _ = cases
    frame = pd.DataFrame(new, columns=list("abcdef"))
    model = clone(models["chow"]).fit(pd.DataFrame(X, columns=frame.columns), np.array(["x", "y", "z"])[y])
    decisions = model.decide(frame, reasons="all")
    added = np.zeros((len(new), 6, 3))
    for shape in model.shape_functions_:
        added[:, shape.feature] = shape.table[shape.cells(new[:, shape.feature])][:, :3]
    classes = list(model.classes_)
    for i in range(40):
        first, second = decisions.forced[i], decisions.second[i]
        assert repr(str(first)) in decisions.reason[i]
        assert repr(str(second)) in decisions.reason[i]
        between = added[i, :, classes.index(first)] - added[i, :, classes.index(second)]
        leading = int(np.abs(between).argmax())
        said = decisions.reason[i].split(": ", 1)[1]
        side = said.split(" speak")[0 if between[leading] > 0 or " speak" not in said else -2]
        assert f"{frame.columns[leading]} = " in said
        assert side
    rejected = model.decide(frame)[np.flatnonzero(decisions.rejected)[:1]].reason[0]
    assert rejected.startswith("either '")
    assert " speak" in rejected
    assert "confusing them costs" in rejected


@every_rule
def test_answers_do_not_depend_on_the_batch(rule, cases, models):
    *_, new, _ = cases
    model, together = models[rule], models[rule].predict(new)
    np.testing.assert_array_equal(np.concatenate([model.predict(new[i : i + 1]) for i in range(60)]), together[:60])
    np.testing.assert_array_equal(model.predict(new[::-1]), together[::-1])
    np.testing.assert_array_equal(model.predict(np.asfortranarray(new)), together)


# Invariances


@every_rule
def test_the_currency_changes_nothing(rule, cases, models):
    X, y, new, _ = cases
    costs = Costs(errors=3 * np.array(PRICES.errors), reject=3 * np.array(PRICES.reject))
    same = AbstentionBoostingClassifier(costs=costs, **RULES[rule]).fit(X, y)
    np.testing.assert_allclose(same.score_samples(new), models[rule].score_samples(new), rtol=1e-9, atol=1e-12)
    np.testing.assert_array_equal(same.predict(new), models[rule].predict(new))


@every_rule
def test_names_and_order_of_the_classes_change_nothing(rule, cases, models):
    X, y, new, _ = cases
    names = ["b", "c", "a"]
    errors = {names[i]: {names[j]: PRICES.errors[i][j] for j in range(3)} for i in range(3)}
    costs = Costs(errors=errors, reject=dict(zip(names, PRICES.reject, strict=True)))
    same = AbstentionBoostingClassifier(costs=costs, **RULES[rule]).fit(X, np.array(names)[y])
    renamed, plain = same.decision_function(new), models[rule].decision_function(new)
    np.testing.assert_allclose(renamed[:, [1, 2, 0]], plain, rtol=1e-6, atol=1e-7)
    np.testing.assert_allclose(same.score_samples(new), models[rule].score_samples(new), rtol=1e-6, atol=1e-7)


@pytest.mark.parametrize("rule", ["chow", "coupled"])  # the others draw folds of cases, whatever their weight
def test_weight_2_is_a_repeated_case_and_weight_0_an_absent_one(rule, cases):
    X, y, new, _ = cases
    weight = np.random.default_rng(0).integers(0, 3, len(y))
    model = AbstentionBoostingClassifier(costs=PRICES, **RULES[rule])
    weighed = clone(model).fit(X, y, sample_weight=weight)
    repeated = clone(model).fit(np.repeat(X, weight, axis=0), np.repeat(y, weight))
    np.testing.assert_allclose(weighed.decision_function(new), repeated.decision_function(new), rtol=1e-6, atol=1e-8)
    np.testing.assert_allclose(weighed.score_samples(new), repeated.score_samples(new), rtol=1e-6, atol=1e-8)


def test_monotone_maps_of_the_features_change_nothing(cases):
    X, y, *_ = cases
    model = AbstentionBoostingClassifier(costs=0.2, **RULES["coupled"])
    plain, mapped = clone(model).fit(X, y), clone(model).fit(np.exp(X), y)
    np.testing.assert_array_equal(plain.predict(X), mapped.predict(np.exp(X)))


def test_the_model_is_the_same_with_any_number_of_threads(cases):
    X, y, new, _ = cases
    one, two = (AbstentionBoostingClassifier(n_jobs=n, **QUICK).fit(X, y) for n in (1, 2))
    np.testing.assert_array_equal(one.decision_function(new), two.decision_function(new))


# Options


@pytest.mark.parametrize("options", [{"max_bins": 8}, {"max_bins": None}, {"learning_rate": 0.2}, {"bags": 3}])
def test_options_of_the_fit(options, cases):
    X, y, new, truth = cases
    model = AbstentionBoostingClassifier(family="chow", **(FIXED | options)).fit(X, y)
    assert np.mean(model.predict_proba(new).argmax(axis=1) == truth) > 0.6


@pytest.mark.parametrize("family", ["chow", "coupled"])
def test_early_stopping_ends_before_the_last_round(family, cases):
    X, y, *_ = cases
    options = {"beta": 0.0, "n_rounds": 300, "cv": 3, "bags": 1}
    model = AbstentionBoostingClassifier(family=family, early_stopping=True, **options).fit(X, y)
    assert 5 < model.n_iter_ < 600


def test_certificates_are_published(cases):
    X, y, *_ = cases
    model = AbstentionBoostingClassifier(family="chow", beta=0.02, n_rounds=2000).fit(X, y)
    assert model.converged_
    assert model.residual_ <= model.tol
    assert 0 <= model.dual_gap_ < 1e-3
    assert model.objective_ > 0
    assert model.beta_ == 0.02
    early = AbstentionBoostingClassifier(family="chow", beta=0.02, n_rounds=2).fit(X, y)
    assert early.objective_ - model.objective_ <= early.dual_gap_
    assert not early.converged_


def test_missing_values_and_categories(cases):
    X, y, new, _ = cases
    rng = np.random.default_rng(0)
    level = np.array(["red", "green", "blue", "grey"])[np.where(rng.random(len(y)) < 0.8, y, 3)]
    frame = pd.DataFrame(X, columns=list("abcdef")).assign(colour=pd.Categorical(level))
    frame.loc[y == 1, "a"] = np.nan
    frame["a"] = frame["a"].where(rng.random(len(y)) < 0.7)
    model = AbstentionBoostingClassifier(family="chow", **FIXED).fit(frame, y)
    assert model.categories_ == {6: ("blue", "green", "grey", "red")}
    assert np.mean(model.predict_proba(frame).argmax(axis=1) == y) > 0.85
    shapes = {shape.feature: shape for shape in model.shape_functions_}
    assert shapes[6].levels == ("blue", "green", "grey", "red")
    assert shapes[6].h[0].argmax() == 2  # blue
    assert shapes[0].missing[0].argmax() == 1
    unknown = frame[:3].assign(colour="violet", a=1.0)
    assert np.isfinite(model.predict_proba(unknown)).all()
    table = model.shape_table()
    rows = table[table["feature"] == "colour"]
    assert rows["level"].tolist()[:4] == ["blue", "green", "grey", "red"]
    assert "h 0" in table.columns
    # A value missing where training had none adds what an average case adds: nothing.
    plain = AbstentionBoostingClassifier(family="chow", **FIXED).fit(X, y)
    gone = np.full_like(new[:1], np.nan)
    np.testing.assert_allclose(plain._rule.form.evaluate(gone)[0][0], plain.intercept_[0], atol=1e-12)


@every_rule
def test_frames_pipelines_searches_clones_pickles_and_files(rule, cases, models, tmp_path):
    X, y, new, truth = cases
    frame, model = pd.DataFrame(X, columns=list("abcdef")), models[rule]
    again = pickle.loads(pickle.dumps(model))
    recuse.save(model, tmp_path / "model.skops")
    for other in (again, recuse.load(tmp_path / "model.skops")):
        assert other.decide(new) == model.decide(new)
        assert other.costs_ == model.costs_
    quick = AbstentionBoostingClassifier(costs=PRICES, **(RULES[rule] | {"n_rounds": 5}))
    piped = make_pipeline(StandardScaler(), quick).fit(frame, y)
    said = recuse.decide(piped, frame[:50])
    assert "a" in piped[:-1].get_feature_names_out()
    assert said.second is not None
    found = GridSearchCV(quick, {"beta": [0.01, 0.003]}, cv=2).fit(X, y)
    assert found.best_params_["beta"] in (0.01, 0.003)
    assert recuse.decide(found, new).label.shape == truth.shape


def test_groups_and_folds_of_the_user(cases):
    X, y, *_ = cases
    groups = np.arange(len(y)) // 4
    for cv in (None, 3, GroupKFold(3)):
        model = AbstentionBoostingClassifier(n_rounds=5, cv=cv, bags=1).fit(X, y, groups=groups)
        assert "chow" in model.held_out_costs_
    with pytest.raises(ValueError, match="cv leaves part 0 without cases"):
        AbstentionBoostingClassifier(n_rounds=5, cv=[(np.flatnonzero(y == 1), np.arange(5))]).fit(X, y)
    once = [(np.arange(100, 400), np.arange(100))]
    with pytest.raises(ValueError, match="family='decoupled' needs held-out probabilities of every case"):
        AbstentionBoostingClassifier(family="decoupled", n_rounds=5, cv=once).fit(X, y)
    model = AbstentionBoostingClassifier(n_rounds=5, cv=once, bags=1).fit(X, y)
    assert list(model.held_out_costs_) == ["chow"]


def test_other_prices_without_a_new_fit(cases, models):
    *_, new, _ = cases
    other = Costs(errors=[[0, 3, 1], [2, 0, 1], [4, 4, 0]], reject=0.5)
    cheaper = models["chow"].reprice(other)
    p, errors = cheaper.predict_proba(new), np.array(other.errors)
    expected = np.where((p @ errors).min(axis=1) < 0.5, (p @ errors).argmin(axis=1), -1)
    np.testing.assert_array_equal(cheaper.predict(new), expected)
    np.testing.assert_array_equal(models["chow"].predict(new, costs=other), expected)
    with pytest.raises(ValueError, match="only family='chow' answers at other prices"):
        models["coupled"].reprice(other)


# Refusals


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"loss": "exponential"}, r"loss='exponential' is for two classes: use loss='logistic'"),
        ({"surrogate": "max"}, r"surrogate='max' is for two classes: use surrogate='sum'"),
        ({"family": "decoupled", "stack": "oof"}, r"stack='oof' is for two classes: use stack=None"),
        ({"family": "coupled", "stack": "start"}, r"stack='start' is for two classes: use stack=None"),
        ({"max_depth": 2}, r"max_depth=2 is for two classes: use max_depth=1"),
        ({"monotonic_cst": [1, 0, 0, 0, 0, 0]}, r"monotonic_cst=\[1, 0, 0, 0, 0, 0\] is for two classes"),
        ({"step": "line"}, r"step='line' is for two classes: use step='joint'"),
        ({"family": "coupled", "gamma": 1.0}, r"gamma=1.0 is for two classes: use gamma=0.0"),
        ({"b": 1.0}, r"b=1.0 is for two classes: use b=None"),
        ({"family": "coupled", "corrective": True, "beta": 0.01}, r"corrective=True is for two classes"),
        ({"interactions": 2}, r"interactions=2 is for two classes: use interactions=None"),
    ],
)
def test_what_knows_two_classes_only_is_refused(options, said, cases):
    X, y, *_ = cases
    model = AbstentionBoostingClassifier(**options)
    with pytest.raises(ValueError, match=rf"Only binary classification is supported.*y has the classes.*{said}"):
        model.fit(X, y)
    assert not model.__sklearn_tags__().classifier_tags.multi_class
    assert AbstentionBoostingClassifier().__sklearn_tags__().classifier_tags.multi_class


def test_reject_prices_by_case_are_refused(cases):
    X, y, *_ = cases
    with pytest.raises(ValueError, match="reject_cost by case is for two classes: give a price for each class"):
        AbstentionBoostingClassifier(family="coupled").fit(X, y, reject_cost=np.full(len(y), 0.2))


def test_methods_of_two_classes_are_refused(cases, models):
    *_, new, _ = cases
    model = models["coupled"]
    with pytest.raises(ValueError, match=r"Edits and stages are for two classes only; this model has 3: use shape_fun"):
        model.edit(0, "remove")
    with pytest.raises(ValueError, match="Edits and stages are for two classes only"):
        list(model.staged_predict(new))
    with pytest.raises(ValueError, match="The margin bound is for two classes only"):
        model.generalization_bound()
    with pytest.raises(ValueError, match="only two classes can be exported"):
        recuse.export(model, "sql")
    with pytest.raises(ValueError, match="contributions are told for two classes"):
        recuse.contributions(model, new)
    with pytest.raises(ValueError, match="Shape functions are drawn for two classes; this model has 3"):
        recuse.plot.ShapeFunctionDisplay.from_estimator(model)
    assert not hasattr(model, "predict_proba")
    with pytest.raises(NotFittedError):
        AbstentionBoostingClassifier().shape_table()


# Classes that are rare, absent or many


@pytest.mark.filterwarnings("ignore:The least populated class")
@pytest.mark.parametrize(
    "options", [{"n_rounds": 5}, RULES["coupled"], RULES["started"]], ids=["auto", "coupled", "started"]
)
def test_a_class_that_occurs_once(options, cases):
    X, y, new, _ = cases
    rare = y.copy()
    rare[0] = 3
    model = AbstentionBoostingClassifier(costs=0.2, **options).fit(X, rare)
    assert model.classes_.tolist() == [0, 1, 2, 3]
    assert model.decision_function(new).shape == (len(new), 4)
    assert np.isfinite(model.decision_function(new)).all()
    assert np.mean(model.decide(new, reasons=False).forced == 3) < 0.05


@may_reject_all
def test_a_class_absent_from_a_fold(cases):
    X, y, new, _ = cases
    order = np.argsort(y, kind="stable")
    folds = [(np.flatnonzero(y[order] != k), np.flatnonzero(y[order] == k)) for k in range(3)]
    model = AbstentionBoostingClassifier(n_rounds=5, cv=folds, bags=1).fit(X[order], y[order])
    assert np.isfinite(list(model.held_out_costs_.values())).all()
    assert model.predict(new).shape == (len(new),)


@may_reject_all
def test_a_class_of_weight_0(cases):
    X, y, new, _ = cases
    model = AbstentionBoostingClassifier(**(QUICK | {"n_rounds": 5})).fit(X, y, sample_weight=(y != 1).astype(float))
    assert model.classes_.tolist() == [0, 1, 2]
    assert not (model.predict(new) == 1).any()
    with pytest.raises(ValueError, match="Only cases of one class have a positive sample_weight"):
        AbstentionBoostingClassifier().fit(X, y, sample_weight=(y == 1).astype(float))


def test_two_hundred_classes():
    rng = np.random.default_rng(0)
    X = np.repeat(rng.permuted(np.tile(np.arange(200.0), (3, 1)), axis=1).T, 5, axis=0)
    y = np.repeat(np.arange(200), 5)
    model = AbstentionBoostingClassifier(family="chow", beta=1e-5, n_rounds=75, costs=0.4).fit(X, y)
    assert np.mean(model.decide(X, reasons=False).forced == y) > 0.9
    assert model.decide(X[:1])[0].second in range(200)


@pytest.mark.parametrize("n_classes", [3, 10])
@pytest.mark.parametrize("kind", ["int", "str", "bool-like", "object", "float"])
def test_labels_of_every_family(n_classes, kind, cases):
    X, *_ = cases
    codes = np.digitize(X[:, 0], np.quantile(X[:, 0], np.linspace(0, 1, n_classes + 1)[1:-1]))
    labels = {
        "int": 5 * np.arange(n_classes) - 7,
        "str": np.array([f"class {k}" for k in range(n_classes)]),
        "bool-like": np.array(["yes", "no", "unknown", *[f"other {k}" for k in range(n_classes)]])[:n_classes],
        "object": np.array([f"k{k}" for k in range(n_classes)], dtype=object),
        "float": np.arange(n_classes).astype(float),
    }[kind]
    model = AbstentionBoostingClassifier(family="chow", **FIXED).fit(X, labels[codes])
    decisions = model.decide(X, reasons=False)
    assert np.mean(decisions.forced == labels[codes]) > 0.85
    assert set(decisions.label) <= {*labels, model.reject_label_}
    scores = per_class_scores(labels[codes], decisions)
    assert len(scores) == n_classes


def test_a_fit_to_two_classes_after_one_to_three(cases):
    X, y, new, _ = cases
    two = y < 2
    model = AbstentionBoostingClassifier(family="chow", **FIXED)
    plain = clone(model).fit(X[two], y[two])
    refitted = model.fit(X, y).fit(X[two], y[two])
    assert vars(refitted).keys() == vars(plain).keys()
    np.testing.assert_array_equal(refitted.decision_function(new), plain.decision_function(new))
    back, once = refitted.fit(X, y), clone(model).fit(X, y)
    assert vars(back).keys() == vars(once).keys()
    np.testing.assert_array_equal(back.decision_function(new), once.decision_function(new))


def test_all_cases_alike():
    X, y = np.zeros((90, 2)), np.tile([0, 1, 2], 30)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # everything is rejected
        model = AbstentionBoostingClassifier(**QUICK).fit(X, y)
    assert (model.predict(X) == -1).all()
    assert model.shape_functions_ == []
    assert model.feature_importances_.tolist() == [0.0, 0.0]
