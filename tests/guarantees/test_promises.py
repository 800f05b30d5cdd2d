"""The spelling of promises."""

import numpy as np
import pytest

from recuse import Costs
from recuse.guarantees import RISKS, Promise
from recuse.guarantees.promises import as_promises, check_promises
from recuse.guarantees.risks import ForcedAnswers


@pytest.mark.parametrize("risk", RISKS)
@pytest.mark.parametrize("text", ["{}<=0.02", " {} <= 2e-2 ", "{}<=2%", "{}≤0.02"])
def test_every_risk_is_read_as_people_write_it(risk, text):
    assert Promise.parse(text.format(risk)) == Promise(risk, 0.02)


def test_a_promise_prints_as_it_is_read():
    promise = Promise("misses", 1 / 3)
    assert Promise.parse(str(promise)).level == pytest.approx(1 / 3, abs=1e-11)
    assert Promise.parse(str(Promise("cost", 1.234))) == Promise("cost", 1.234)
    assert repr(Promise("error", 0.1)) == "Promise('error', 0.1)"


@pytest.mark.parametrize(
    "given", [0.02, "error<=0.02", Promise("error", 0.02), ["error<=0.02"], [Promise("error", 0.02)], [0.02]]
)
def test_all_spellings_of_one_promise(given):
    assert as_promises(given) == (Promise("error", 0.02),)


def test_several_in_one_text_or_in_a_list():
    both = (Promise("error", 0.02), Promise("cost", 30.0))
    assert as_promises("error<=0.02, cost<=30") == as_promises(["error<=0.02", Promise("cost", 30.0)]) == both


BAD = [
    ("eror<=0.02", "did you mean 'error'"),
    ("error<0.02", "is no promise: write a risk and a level"),
    ("error<=1.2.3", "'1.2.3' is no number"),
    ("error<=1.5", "promises a share of cases, which is less than 1: write error<=1.5% if that is meant in percent"),
    ("error<=15", "write error<=15% if that is meant in percent, or error<=0.15"),
    ("error<=150%", r"must be a number in \(0, 1\); got 1.5"),
    ("error<=2,5%", "'error<=2,5%' is no promise: '2,5' is no number: write 2.5"),
    ("error<=2,5%,misses<=0.1", "'2,5' is no number: write 2.5"),
    ("cost<=1.200", "'1.200' may be 1200 or 1.2: write 1200, or 1.2"),
    ("cost<=0", "greater than 0"),
    (1.0, r"guarantee must be a number in \(0, 1\); got 1.0"),
    (["error<=0.1", "error<=0.2"], "promises 'error' twice"),
]


@pytest.mark.parametrize(("given", "message"), BAD)
def test_what_is_no_promise_is_refused(given, message):
    with pytest.raises(ValueError, match=message):
        as_promises(given)


@pytest.mark.parametrize("given", [None, [], {}, True])
def test_other_types_are_refused(given):
    with pytest.raises(TypeError, match=r"guarantee must be a level such as 0\.02"):
        as_promises(given)


def test_three_classes_have_no_positive_one():
    check_promises(as_promises("error<=0.1, cost<=1"), 3)
    with pytest.raises(ValueError, match="knows a positive class, and y has 3 classes"):
        check_promises(as_promises("error<=0.1, misses<=0.1"), 3)


def test_risks_by_hand():
    """Two misses at 5, one false alarm at 2, of eight cases; the last one is rejected."""
    truth, forced = np.array([1, 1, 1, 0, 0, 0, 0, 1]), np.array([0, 0, 1, 1, 0, 0, 0, 0])
    accepted = np.arange(8) < 7
    answers = ForcedAnswers(truth, forced, Costs(fp=2, fn=5, reject=0.5))
    means = {name: risk.losses(answers).among(accepted).mean for name, risk in RISKS.items()}
    assert means == pytest.approx({"error": 3 / 7, "cost": 12 / 7, "misses": 2 / 3, "false_alarms": 1 / 4})
    turned = ForcedAnswers(truth, forced, Costs(fp=2, fn=5, reject=0.5), positive=0)
    means = {name: risk.losses(turned).among(accepted).mean for name, risk in RISKS.items()}
    assert means == pytest.approx({"error": 3 / 7, "cost": 9 / 7, "misses": 1 / 4, "false_alarms": 2 / 3})
