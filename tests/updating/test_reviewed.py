"""Reviewed cases stand for all cases of their batches, whatever was drawn; rejected cases alone are refused."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recuse.locating import locate
from recuse.reviews.drawing import Sampling, draw
from recuse.updating.reviewed import reviewed_cases

from .worlds import Records, reviews


class Knows:
    """A classifier as far as reviews go."""

    classes_ = np.array(["no", "yes"])
    pos_label_ = "yes"


@given(
    audit=st.floats(0.2, 1.0),
    capacity=st.one_of(st.none(), st.integers(5, 60)),
    batches=st.integers(1, 3),
    novelty=st.sampled_from([0.0, 0.05]),
)
@settings(max_examples=20, deadline=None)
def test_weights_add_up_to_the_cases_of_either_kind(audit, capacity, batches, novelty):
    log = reviews(batches, cases=150, audit=audit, capacity=capacity, novelty=novelty)
    found = reviewed_cases(log, Knows())
    counts = [record["counts"] for record in log.records("draw")]
    accepted, cases = (sum(count[name] for count in counts) for name in ("accepted", "cases"))
    assert found.weights[found.found.audit].sum() == pytest.approx(accepted)
    assert found.weights.sum() == pytest.approx(cases) == pytest.approx(found.stands_for)
    within = found.weights * found.found.sampling  # alike for all of a kind: one over the probability, but for a factor
    assert np.ptp(within[found.found.audit]) < 1e-9
    assert np.ptp(within[~found.found.audit]) < 1e-9


def test_the_weighted_share_of_positives_is_that_of_all_cases():
    """Over many audits; the share among reviewed cases is far off."""
    weighted, plain = [], []
    for seed in range(40):
        found = reviewed_cases(Records(_skewed(seed)), Knows())
        weighted.append(np.average(found.found.positive, weights=found.weights))
        plain.append(found.found.positive.mean())
    error = np.std(weighted) / np.sqrt(len(weighted))
    assert abs(np.mean(weighted) - 0.3) < 4 * error
    assert abs(np.mean(plain) - 0.3) > 0.1


def _skewed(seed, n=400, audit=0.1):
    """A batch of which a quarter is rejected; of these 60 % are positive, of the others 20 %."""
    rng = np.random.default_rng(seed)
    accepted = np.arange(n) >= n // 4
    positive = np.where(accepted, np.arange(n) % 5 == 0, np.arange(n) % 5 < 3)
    rows = np.flatnonzero(~accepted | (rng.random(n) < audit))
    for row in rows:
        yield {
            "kind": "task",
            "draw": "1",
            "task": str(row),
            "case": int(row) + 1,
            "stratum": "audit" if accepted[row] else "rejected",
            "sampling_probability": audit if accepted[row] else 1.0,
            "answer": {},
            "shown": {},
        }
    counts = {"cases": n, "accepted": int(accepted.sum()), "ambiguity": int((~accepted).sum()), "novelty": 0}
    facts = {"classes": ["no", "yes"], "positive": "yes", "audit": audit, "answers": {}, "model": {"digest": ""}}
    yield {"kind": "draw", "draw": "1", "tasks": len(rows), "counts": counts, **facts}
    for row in rows:
        yield {"kind": "verdict", "draw": "1", "task": str(row), "verdict": "yes" if positive[row] else "no"}


def test_cases_of_later_draws_from_the_same_answers_stand_for_those_that_were_left():
    """The most urgent third of the rejected cases is positive, and the first draw takes most of it."""
    shares, urgent, accepted = [], [], []
    for seed in range(60):
        found = reviewed_cases(Records(_drawn_from(seed, capacities=(60, 40, 30))), Knows())
        rejected = ~found.found.audit
        weights, cases = found.weights[rejected], found.found.case[rejected]
        shares.append(np.average(found.found.positive[rejected], weights=weights))
        urgent.append(weights[cases <= 40].sum())
        accepted.append(found.weights[found.found.audit].sum())
    assert abs(np.mean(shares) - 1 / 3) < 4 * np.std(shares) / np.sqrt(60)
    np.testing.assert_allclose(urgent, 40, rtol=0.25)  # all were given in the first draw; they stand for themselves
    np.testing.assert_allclose(accepted, 200)


def _drawn_from(seed, capacities, n=500, n_rejected=300, audit=0.1):
    """Draws from one file of answers, each among the cases that the earlier ones left; case 1 is the most urgent."""
    rng, free = np.random.default_rng(seed), np.ones(n, dtype=bool)
    rejected, positive = np.arange(n) < n_rejected, np.arange(n) < n_rejected // 3
    counts = {"cases": n, "accepted": n - n_rejected, "ambiguity": n_rejected, "novelty": 0}
    facts = {"classes": ["no", "yes"], "positive": "yes", "audit": audit, "model": {"digest": ""}}
    given_out = []
    for number, capacity in enumerate(capacities):
        drawn, name = draw(rejected, np.arange(n), Sampling(audit, capacity, 0.25), rng, free), str(number)
        free[drawn.rows] = False
        for row, stratum, probability in zip(drawn.rows.tolist(), drawn.strata, drawn.probabilities, strict=True):
            task = {"draw": name, "task": f"{name} {row}", "case": row + 1, "stratum": stratum}
            yield {"kind": "task", **task, "sampling_probability": probability, "answer": {}, "shown": {}}
            given_out.append({"draw": name, "task": task["task"], "verdict": "yes" if positive[row] else "no"})
        given = {"draw": name, "tasks": len(drawn.rows), "counts": counts, "answers": {"digest": "same"}, "n": number}
        yield {"kind": "draw", **given, **facts}
    yield from ({"kind": "verdict", **verdict} for verdict in reversed(given_out))  # the last draw comes back first


def without_audit(log):
    """The same log, had nobody looked at accepted cases."""
    audits = {record["task"] for record in log.records("task") if record["stratum"] == "audit"}
    kept = [record for record in log.records() if record.get("task") not in audits]
    return [{**record, "audit": 0.0} if record["kind"] == "draw" else record for record in kept]


def test_rejected_cases_alone_are_refused():
    with pytest.raises(ValueError, match=r"audit share 0.*learns from rejected cases only.*--audit 0\.05"):
        reviewed_cases(Records(without_audit(reviews())), Knows())


def test_batches_without_an_audit_are_left_out():
    first, second = reviews(1), reviews(2)
    later = [record for record in second.records() if record["draw"] == "batch 1"]
    found = reviewed_cases(Records([*without_audit(first), *later]), Knows())
    assert (found.unaudited, len(found.batches), found.stands_for) == (1, 1, 500)


def test_batches_that_wait_for_verdicts_are_left_out():
    records = reviews(2).records()[:-1]
    found = reviewed_cases(Records(records), Knows())
    assert (found.still_open, len(found.batches)) == (1, 1)
    nothing = [record for record in records if record["kind"] != "verdict"]
    with pytest.raises(ValueError, match="no batch with all its verdicts"):
        reviewed_cases(Records(nothing), Knows())


def test_only_batches_since_a_day_count():
    records = reviews(2).records()
    later = [{**record, "at": "2026-05-01T00:00:00Z"} if record["draw"] == "batch 1" else record for record in records]
    log = Records(later)
    assert len(reviewed_cases(log, Knows()).batches) == 2
    assert [batch.draw for batch in reviewed_cases(log, Knows(), "2026-04-30").batches] == ["batch 1"]
    with pytest.raises(ValueError, match="no batch since 2027-01-01"):
        reviewed_cases(log, Knows(), "2027-01-01")
    with pytest.raises(ValueError, match="since='soon' is no day"):
        reviewed_cases(log, Knows(), "soon")


def test_verdicts_of_other_classes_are_refused(model):
    records = [
        {**record, "classes": ["bad", "good"]} if record["kind"] == "draw" else record for record in reviews().records()
    ]
    with pytest.raises(ValueError, match=r"classes \['bad', 'good'\].* model knows \['no', 'yes'\]"):
        reviewed_cases(Records(records), locate(model)[0])


def test_a_case_that_was_drawn_twice_is_one_case():
    records = [{**record, "answers": {"digest": "same"}} for record in reviews(2, audit=1.0).records()]
    found = reviewed_cases(Records(records), Knows())
    assert len(found) == len(np.unique(found.twins)) == 500
