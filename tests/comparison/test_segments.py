"""Segments: hand counts, and the promised rate of false alarms."""

import json

import numpy as np
import pandas as pd
import pytest
from scipy.stats import binom, hypergeom

import recuse
from recuse.comparison.served_worse import DRAWS, FIGURES, RATE, deviations, served_worse
from recuse.comparison.writing import write_run
from recuse.report import rewrite


def loans(n=500, seed=0):
    """A table in which the outcome is noise in one region."""
    rng = np.random.default_rng(seed)
    region = rng.choice(["north", "south", "east"], n)
    x = rng.normal(size=n)
    y = x + np.where(region == "north", 2.5, 0.2) * rng.normal(size=n) > 0.4
    frame = pd.DataFrame({"region": region, "age": rng.integers(18, 90, n), "x": x, "who": np.arange(n) // 2})
    return frame.assign(default=np.where(y, "bad", "good"))


@pytest.fixture(scope="module")
def segmented():
    options = {"positive": "bad", "methods": ["logistic-chow"], "cv": 3, "repeats": 2, "drop": ["region", "who"]}
    return recuse.compare(loans(), "default", by=["region", "age"], costs=recuse.Costs(1, 3, 0.3), **options)


def test_figures_are_those_counted_by_hand(segmented):
    assert segmented.winner.name == "logistic-chow"
    decisions = segmented.decisions()
    for segment in segmented.segments:
        rows = decisions[decisions[f"segment of {segment.column}"] == segment.label]
        assert segment.cases == len(rows)
        assert segment.positives == (rows["outcome"] == "bad").sum()
        assert segment.cost.value == pytest.approx(rows["cost"].mean())
        assert segment.coverage.value == pytest.approx(rows["answered"].mean())
        assert segment.review.value == pytest.approx(1 - rows["answered"].mean())
        assert segment.error.value == pytest.approx(rows["wrong"].sum() / rows["answered"].sum())
        by_outcome = decisions.groupby("outcome")["cost"].mean()
        assert segment.expected["cost"] == pytest.approx(rows["outcome"].map(by_outcome).mean())
        for interval in (segment.cost, segment.coverage, segment.review, segment.error):
            assert interval.low <= interval.value <= interval.high
    table = loans()
    counted = table["region"].value_counts()
    assert {s.label: s.cases for s in segmented.segments if s.column == "region"} == counted.to_dict()


def test_the_noisy_region_is_named_and_no_other_segment(segmented):
    alarmed = [(segment.column, segment.label) for segment in segmented.segments if segment.worse]
    assert alarmed == [("region", "north")]
    (sentence,) = (segment.sentence for segment in segmented.segments if segment.sentence)
    assert sentence.startswith("region = north costs ")


def test_what_is_written_and_written_again(segmented, tmp_path):
    write_run(segmented, tmp_path)
    kept = pd.read_csv(tmp_path / "segments.csv")
    assert kept["cases"].sum() == 2 * 500
    decisions = pd.read_csv(tmp_path / "decisions.csv")
    assert [name for name in decisions if name.startswith("segment")] == ["segment of region", "segment of age"]
    assert json.loads((tmp_path / "run.json").read_text())["arguments"]["by"] == ["region", "age"]
    page = rewrite(tmp_path, by=["age"]).read_text(encoding="utf-8")
    assert "Segments by age" in page
    assert "Segments by region" not in page
    assert "No segment is shown to be served worse" in page
    assert "Segments by region" in rewrite(tmp_path).read_text(encoding="utf-8")
    with pytest.raises(ValueError, match=r"by='town' is not among the segments of this run.*--by region,age,town"):
        rewrite(tmp_path, by=["town"])


def test_bad_columns_are_refused_before_anything_is_fitted():
    for by, message in (
        ("regoin", "no column 'regoin' to look at: did you mean 'region'"),
        ("default", "'default' is the column to predict"),
    ):
        with pytest.raises(ValueError, match=message):
            recuse.compare(loans(), "default", by=by, methods=["logistic-chow"], positive="bad")
    named = loans().assign(name=[f"n{i}" for i in range(500)])
    with pytest.raises(ValueError, match="by='name' does not fall into segments"):
        recuse.compare(named, "default", by="name", drop="name", methods=["logistic-chow"], positive="bad")


def treated(rng, n, codes, worse=0.0, positive=None):
    """Outcomes whose share differs between the segments, treated alike; `worse` more errors in segment 0."""
    positive = rng.random(n) < 0.1 + 0.3 * (codes % 2) if positive is None else positive
    answered = (rng.random(n) > 0.2).astype(float)
    wrong = answered * (rng.random(n) < np.where(positive, 0.15, 0.05) + worse * (codes == 0))
    cost = np.where(answered == 1, wrong * np.where(positive, 5.0, 1.0), 0.3)
    return deviations(cost, answered, wrong, positive), positive


def alarms(seed, n=2000, segments=50, worse=0.0):
    rng = np.random.default_rng(seed)
    codes = rng.permutation(np.arange(n) % segments)
    deviating, positive = treated(rng, n, codes, worse)
    return served_worse(deviating, positive, codes, n_columns=1, seed=seed) <= RATE


def test_fifty_segments_that_are_served_alike_keep_the_promised_rate():
    runs = 120
    false = sum(alarms(seed).any() for seed in range(runs))
    assert false <= binom.ppf(0.999, runs, RATE)


def test_a_segment_that_is_served_worse_is_found_and_the_others_keep_the_rate():
    runs = 40
    found = [alarms(seed, worse=0.4) for seed in range(runs)]
    assert np.mean([alarm[0].any() for alarm in found]) > 0.9
    assert sum(alarm[1:].any() for alarm in found) <= binom.ppf(0.999, runs, RATE)


def test_one_figure_and_two_segments_give_the_exact_test():
    """With one kind of deviation the largest sum is that of a hypergeometric count."""
    n, inside, events = 60, 25, 12
    codes = (np.arange(n) >= inside).astype(int)
    happened = np.zeros(n)
    happened[:9] = happened[inside : inside + events - 9] = 1
    deviating = np.zeros((n, len(FIGURES)))
    deviating[:, 0] = happened - happened.mean()
    p = served_worse(deviating, np.zeros(n, dtype=bool), codes, n_columns=1, seed=0)
    # The larger of the two sums is as large where one of the segments has so many events, or so few.
    law = hypergeom(n, events, inside)
    deviation = 9 - events * inside / n
    counts = np.arange(events + 1)
    exact = law.pmf(counts)[np.abs(counts - events * inside / n) >= deviation - 1e-9].sum()
    assert p[0, 0] == pytest.approx(exact, abs=4 * np.sqrt(exact / DRAWS))
    assert (p[:, 1:] == 1).all()


def test_cases_that_belong_together_count_once():
    """Copies of every case are no more evidence: the test of the units is that of the cases without copies."""
    rng = np.random.default_rng(3)
    codes = rng.integers(0, 4, 200)
    deviating, positive = treated(rng, 200, codes, worse=0.25)
    once = served_worse(deviating, np.zeros(200, dtype=bool), codes, n_columns=2, seed=0)
    units = np.repeat(np.arange(200), 5)
    copied = served_worse(deviating[units], positive[units], codes[units], n_columns=2, seed=0, units=units)
    np.testing.assert_allclose(copied, once, atol=0.1)


def test_groups_widen_the_intervals():
    options = {"positive": "bad", "methods": ["logistic-chow"], "cv": 3, "repeats": 1, "by": "region"}
    table = pd.concat([loans(150)] * 3, ignore_index=True)
    table["who"] = np.tile(np.arange(150), 3)
    together = recuse.compare(table, "default", groups="who", **options)
    for segment in together.segments:
        apart = recuse.comparison.intervals.wilson(segment.coverage.value, segment.cases)
        assert segment.coverage.high - segment.coverage.low > 1.3 * (apart.high - apart.low)
