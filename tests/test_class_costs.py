import copy
import pickle

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recuse import ClassCosts, Costs
from recuse.decisions import least_cost

NAMED = {
    "cold": {"flu": 1, "sepsis": 2},
    "flu": {"cold": 1, "sepsis": 3},
    "sepsis": {"cold": 30, "flu": 20},
}
ARRAY = [[0, 1, 2], [1, 0, 3], [30, 20, 0]]


def drawn_costs(seed, n_classes):
    rng = np.random.default_rng(seed)
    errors = rng.uniform(1, 4, (n_classes, n_classes))
    np.fill_diagonal(errors, 0)
    return Costs(errors=errors, reject=rng.uniform(0.1, 0.7, n_classes))


def test_a_dict_a_frame_and_an_array_are_the_same_prices():
    frame = pd.DataFrame(ARRAY, index=list(NAMED), columns=list(NAMED))
    by_dict = Costs(errors=NAMED, reject={"sepsis": 1, "cold": 0.4, "flu": 0.5})
    assert isinstance(by_dict, ClassCosts)
    assert by_dict == Costs(errors=frame, reject=pd.Series([0.4, 0.5, 1], index=list(NAMED)))
    by_array = Costs(errors=ARRAY, reject=[0.4, 0.5, 1])
    assert by_array != by_dict
    assert by_array.for_classes(sorted(NAMED)) == by_dict.for_classes(np.array(sorted(NAMED)))
    assert np.array_equal(by_dict.matrix(3)[:3, :3], ARRAY)
    assert by_dict.matrix(3)[:3, 3].tolist() == by_dict.matrix(3)[:3, 4].tolist() == [0.4, 0.5, 1]
    assert by_dict.matrix(3)[3].tolist() == [30, 20, 3, 0, 0]
    assert by_dict.largest_error == 30
    assert by_dict.cheaper_error == 1


def test_immutable_copies_and_pickles():
    costs = Costs(errors=NAMED, reject=0.5, novelty_error={"cold": 9, "flu": 9, "sepsis": 4}, reject_novelty=0.2)
    with pytest.raises(AttributeError):
        costs.fp = 2
    assert pickle.loads(pickle.dumps(costs)) == copy.deepcopy(costs) == costs
    assert hash(copy.copy(costs)) == hash(costs)
    assert eval(repr(costs)) == costs
    assert Costs(**costs.as_dict()) == costs
    assert costs.matrix(3)[3].tolist() == [9, 9, 4, 0, 0]
    assert costs.matrix(3)[:3, 4].tolist() == [0.2] * 3


def test_two_classes_are_a_yes_and_a_no():
    costs = Costs(errors={"no": {"yes": 1}, "yes": {"no": 5}}, reject={"no": 0.2, "yes": 0.3})
    assert costs.for_classes(["no", "yes"]) == Costs(fp=1, fn=5, reject_negative=0.2, reject_positive=0.3)
    assert costs.for_classes(["no", "yes"], "no") == Costs(fp=5, fn=1, reject_negative=0.3, reject_positive=0.2)
    three = Costs(errors=NAMED, reject={"cold": 0.4, "flu": 0.5, "sepsis": 1}, novelty_error=7)
    assert three.for_classes(["flu", "sepsis"]) == Costs(
        fp=3, fn=20, reject_negative=0.5, reject_positive=1, novelty_error=7
    )
    assert three.for_classes(["cold", "sepsis", "flu"]).errors[1] == (30, 0, 20)
    plain = Costs(fp=1, fn=5)
    assert plain.for_classes(["no", "yes"]) is plain


def test_equal_prices_are_those_of_one_price():
    costs, plain = Costs(errors=2 * (1 - np.eye(4)), reject=0.6), Costs(fp=2, fn=2, reject=0.6)
    assert costs.symmetric
    assert np.array_equal(costs.matrix(4), plain.matrix(4))
    assert costs.normalised().reject == (0.3,) * 4
    with pytest.raises(ValueError, match=r"Rejecting never pays.*largest reject price that pays is just below 1\.5\."):
        Costs(errors=2 * (1 - np.eye(4)), reject=1.6).require_rejecting_pays()
    Costs(errors=2 * (1 - np.eye(4)), reject=1.4).require_rejecting_pays()


@settings(max_examples=40, deadline=None)
@given(seed=st.integers(0, 10**6), factor=st.floats(0.2, 3))
def test_rejecting_pays_where_some_probabilities_say_so(seed, factor):
    costs = drawn_costs(seed, 3)
    costs = Costs(errors=costs.errors, reject=[factor * price for price in costs.reject])
    steps = np.linspace(0, 1, 61)
    grid = np.array([(a, b, 1 - a - b) for a in steps for b in steps if a + b <= 1 + 1e-12])
    _, saved = least_cost(grid, costs.matrix(3))
    if (saved < -1e-9).any():
        assert costs.rejecting_pays
    if not costs.rejecting_pays:
        with pytest.raises(ValueError, match=r"Reject prices pay that are less than .* times as large"):
            costs.require_rejecting_pays()
    elif not (saved < 1e-2).any():  # a region between the points of the grid
        pytest.fail("rejecting is said to pay, and answering saves much everywhere")


@settings(max_examples=60, deadline=None)
@given(seed=st.integers(0, 10**6), n_classes=st.integers(3, 6))
def test_the_least_expected_cost_by_brute_force(seed, n_classes):
    costs = drawn_costs(seed, n_classes)
    matrix = costs.matrix(n_classes)
    p = np.random.default_rng(seed).dirichlet(np.ones(n_classes), size=50)
    h, r = least_cost(p, matrix)
    for probabilities, scores, saved in zip(p, h, r, strict=True):
        prices = [
            sum(q * matrix[truth, answer] for truth, q in enumerate(probabilities)) for answer in range(n_classes)
        ]
        review = sum(q * matrix[truth, n_classes] for truth, q in enumerate(probabilities))
        assert prices[scores.argmax()] == pytest.approx(min(prices))
        assert saved == pytest.approx(review - min(prices), abs=1e-12)
        assert scores == pytest.approx(1 - np.array(prices) / costs.largest_error)


def test_equal_prices_score_the_probabilities_and_ties_take_the_first():
    p = np.array([[0.2, 0.5, 0.3], [0.4, 0.4 + 1e-14, 0.2 - 1e-14], [0.1 + 0.2, 0.3, 0.4]])
    h, r = least_cost(p, Costs(reject=0.3).matrix(3))
    assert h == pytest.approx(p)
    assert h.argmax(axis=1).tolist() == [1, 0, 2]
    assert r == pytest.approx(p.max(axis=1) - 0.7)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"errors": [[0, 1], [1, 0], [1, 1]]}, r"errors must be a square table.*got list of shape \(3, 2\)"),
        ({"errors": 3}, "errors must be a square table.*got int"),
        (
            {"errors": [[0, 1, 2], [1, 0, -3], [1, 1, 0]]},
            r"errors\[1\]\[2\] must be a finite price greater than 0; got -3",
        ),
        ({"errors": [[0, 1], [1, 1]]}, r"errors\[1\]\[1\] must be 0, as the answer is right; got 1"),
        ({"errors": {"a": {"b": 1}, "b": {}}}, r"errors\['b'\]\['a'\] is missing"),
        ({"errors": {"a": {"b": 1}, "b": {"a": 1, "c": 2}}}, r"prices the answers \['c'\], which are no true class"),
        ({"errors": {"a": {}}}, r"errors must have prices of two classes at least; got \['a'\]"),
        (
            {"errors": ARRAY, "reject": [1, 2]},
            "reject must have a price for each of 3 classes, or be one number; got 2",
        ),
        ({"errors": ARRAY, "reject": {"a": 1}}, "reject names classes, and errors does not"),
        ({"errors": NAMED, "reject": {"cold": 1}}, r"reject must have a price for each of \['cold', 'flu', 'sepsis'\]"),
        ({"errors": NAMED, "reject": 0}, "reject must be a finite price greater than 0; got 0"),
        ({"errors": NAMED, "fn": 2}, "errors holds the price of every error: leave out fp, fn"),
    ],
)
def test_wrong_prices_name_the_cell(given, message):
    with pytest.raises(ValueError, match=message):
        Costs(**given)


def test_a_row_that_is_no_dict_and_a_price_that_is_no_number():
    with pytest.raises(TypeError, match=r"errors\['a'\] must be a dict of prices by answer; got 3"):
        Costs(errors={"a": 3, "b": {"a": 1}})
    with pytest.raises(TypeError, match=r"errors\['a'\]\['b'\] must be a number greater than 0; got 'x'"):
        Costs(errors={"a": {"b": "x"}, "b": {"a": 1}})


def test_prices_of_other_classes_are_refused():
    with pytest.raises(ValueError, match=r"errors names the classes \['cold'.*has no prices of \['fever'\]"):
        Costs(errors=NAMED).for_classes(["cold", "fever", "flu"])
    with pytest.raises(ValueError, match="errors has prices of 3 classes, but there are 4"):
        Costs(errors=ARRAY).for_classes([0, 1, 2, 3])


def test_the_default_reject_price_is_a_fifth_of_the_cheapest_error():
    assert Costs(errors=[[0, 5, 7], [4, 0, 6], [9, 8, 0]]).reject == (0.8,) * 3
