import copy
import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from recuse import Costs
from recuse.costs import as_costs

price = st.floats(0.01, 100)


def test_defaults_and_shorthand():
    assert Costs() == Costs(fp=1, fn=1, reject=0.2) == as_costs(0.2)
    assert Costs(reject=0.3) == Costs(reject_negative=0.3, reject_positive=0.3)
    assert Costs(fp=1, fn=2, reject=0.3, reject_positive=0.5).reject_negative == 0.3
    assert as_costs(np.float32(0.25)) == Costs(reject=0.25)
    assert hash(Costs()) == hash(Costs(reject=0.2))


def test_immutable_copies_and_pickles():
    costs = Costs(fp=1, fn=5, reject_negative=0.2, reject_positive=0.6, novelty_error=3)
    with pytest.raises(AttributeError):
        costs.fp = 2
    assert pickle.loads(pickle.dumps(costs)) == copy.deepcopy(costs) == costs
    assert eval(repr(costs)) == costs


def test_thresholds_by_hand():
    # p_plus = (1 - 0.2)/(1 - 0.2 + 0.6), p_minus = 0.2/(5 - 0.6 + 0.2)
    costs = Costs(fp=1, fn=5, reject_negative=0.2, reject_positive=0.6)
    assert costs.thresholds == pytest.approx((0.2 / 4.6, 0.8 / 1.4))
    assert Costs(reject=0.1).thresholds == pytest.approx((0.1, 0.9))


@given(fp=price, fn=price, r_neg=price, r_pos=price)
def test_thresholds_are_where_the_cheapest_answer_changes(fp, fn, r_neg, r_pos):
    costs = Costs(fp=fp, fn=fn, reject_negative=r_neg, reject_positive=r_pos)
    p = np.linspace(0, 1, 2001)
    yes, no, reject = (1 - p) * fp, p * fn, p * r_pos + (1 - p) * r_neg
    pays = reject < np.minimum(yes, no) - 1e-9
    if not costs.rejecting_pays:
        assert not pays.any()
        assert costs.thresholds == (costs.break_even, costs.break_even)
        return
    lower, upper = costs.thresholds
    assert 0 < lower <= upper < 1
    inside = (p > lower + 1e-6) & (p < upper - 1e-6)
    outside = (p < lower - 1e-6) | (p > upper + 1e-6)
    assert (reject[inside] <= np.minimum(yes, no)[inside] + 1e-9).all()
    assert not pays[outside].any()
    assert lower - 1e-9 <= costs.break_even <= upper + 1e-9


@given(fp=price, fn=price, r_neg=price, r_pos=price)
def test_swapping_the_classes_mirrors_the_thresholds(fp, fn, r_neg, r_pos):
    costs = Costs(fp=fp, fn=fn, reject_negative=r_neg, reject_positive=r_pos)
    lower, upper = costs.swapped().thresholds
    assert (1 - upper, 1 - lower) == pytest.approx(costs.thresholds)
    assert costs.swapped().swapped() == costs


@given(fp=price, fn=price)
def test_message_gives_the_largest_price_that_pays(fp, fn):
    limit = fp * fn / (fp + fn)
    assert Costs(fp=fp, fn=fn, reject=limit * 0.999).rejecting_pays
    with pytest.raises(ValueError, match="largest reject price that pays is just below") as caught:
        Costs(fp=fp, fn=fn, reject=limit * 1.001).require_rejecting_pays()
    assert f"{limit:.6g}"[:5] in str(caught.value)


def test_largest_paying_pair_of_prices():
    with pytest.raises(ValueError, match=r"below reject_negative=0\.2, reject_positive=0\.8"):
        Costs(reject_negative=0.3, reject_positive=1.2).require_rejecting_pays()


def test_multiclass_limit():
    Costs(reject=0.6).require_rejecting_pays(n_classes=3)
    with pytest.raises(ValueError, match=r"3 classes.*0\.666667"):
        Costs(reject=0.7).require_rejecting_pays(n_classes=3)
    with pytest.raises(ValueError, match="two classes only; got 3 classes"):
        Costs(fp=1, fn=2).require_rejecting_pays(n_classes=3)


def test_matrix_is_consums_table_1():
    costs = Costs(fp=2, fn=3, reject_negative=0.4, reject_positive=0.5, novelty_error=7, reject_novelty=0.9)
    assert costs.matrix().tolist() == [[0, 2, 0.4, 0.9], [3, 0, 0.5, 0.9], [7, 7, 0, 0]]
    plain = Costs(fp=2, fn=3, reject=0.4).matrix()
    assert plain.tolist() == [[0, 2, 0.4, 0.4], [3, 0, 0.4, 0.4], [3, 2, 0, 0]]
    three = Costs(fp=2, fn=2, reject=0.4).matrix(3)
    assert three.shape == (4, 5)
    assert three[:3, :3].tolist() == [[0, 2, 2], [2, 0, 2], [2, 2, 0]]
    assert (three[:3, 3:] == 0.4).all()
    assert three[3].tolist() == [2, 2, 2, 0, 0]


@pytest.mark.parametrize("name", ["fp", "fn", "reject", "reject_negative", "novelty_error", "reject_novelty"])
@pytest.mark.parametrize("value", [0, -1, float("nan"), float("inf")])
def test_prices_must_be_positive_and_finite(name, value):
    others = {"reject": 0.2} if name == "reject_negative" else {}
    with pytest.raises(ValueError, match=rf"{name} must be a finite price greater than 0; got"):
        Costs(**others, **{name: value})


@pytest.mark.parametrize("value", ["1", None, True, [1.0]])
def test_prices_must_be_numbers(value):
    with pytest.raises((TypeError, ValueError), match="fp"):
        Costs(fp=value)
    with pytest.raises(TypeError, match=r"costs must be a recuse\.Costs or a reject price"):
        as_costs(value)


def test_one_class_price_alone_is_not_enough():
    with pytest.raises(ValueError, match="reject_positive is missing: give it too, or reject="):
        Costs(reject_negative=0.2)


def test_prints_as_one_line():
    costs = Costs(fp=1, fn=5, reject=0.3, novelty_error=2)
    assert str(costs) == f"{costs}" == repr(costs) == "Costs(fp=1.0, fn=5.0, reject=0.3, novelty_error=2.0)"


def test_table():
    lines = Costs(fp=1, fn=5, reject=0.3, novelty_error=2).table().splitlines()
    assert lines[0].split() == ["price", "of", "a", "false", "alarm", "1"]
    assert lines[-1].endswith("0.7")
    assert any("novelty" in line for line in lines)
    assert "rejecting never pays" in Costs(reject=0.6).table()
