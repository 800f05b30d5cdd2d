"""Watching a model by its reviews: what changed is named, nothing else is, and open batches wait."""

import json
import re

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from typer.testing import CliRunner

import recuse
from recuse.cli import app
from recuse.persistence import saved_digest
from recuse.report import render_watch
from recuse.reviews import ReviewLog
from recuse.watching import World, watch
from recuse.watching.batches import PATIENCE, batches_of
from recuse.watching.series import audited_error, point_of

BEFORE, AFTER = 8, 10  # batches
AT = "2026-03-02T08:15:00+00:00"


def records_of(world, changed=None, seed=0):
    """Records as a log gives them, without a file."""
    yield from ({"at": AT, **record} for record in world.records(BEFORE, random_state=seed))
    if changed is not None:
        yield from ({"at": AT, **record} for record in changed.records(AFTER, random_state=seed + 1, first=BEFORE))


class Records:
    """A log in memory."""

    path = "memory"

    def __init__(self, records):
        self._records = list(records)

    def records(self, kind=None):
        return [record for record in self._records if kind in (None, record["kind"])]


def watched(records, **given):
    """Watch records that are in no file."""
    return watch(Records(records), **given)


CHANGES = {
    "promise": {"turned": 1.1},
    "concept": {"turned": 1.1},
    "difficulty": {"spread": 0.5},
    "novelty": {"novelty": 0.06},
    "columns": {"shifted": 1.0},
}


@pytest.mark.parametrize("kind", CHANGES)
def test_what_changed_is_named_after_it_changed(kind):
    world = {"cases": 600, "audit": 0.2}
    result = watched(records_of(World(**world), World(**world, **CHANGES[kind])), promises="error<=0.1")
    found = {alarm.kind: alarm for alarm in result.alarms}
    assert found[kind].alarm >= BEFORE
    assert kind == "columns" or "columns" not in found
    assert {"difficulty", "novelty"} & set(found) <= {kind}
    if kind == "columns":
        assert [alarm.name for alarm in result.alarms if alarm.kind == "columns"] == ["age"]


def test_a_change_half_as_strong_is_named_without_a_promise():
    """The error rises from 7 % to 12.5 %; outcomes are compared with earlier ones only."""
    world, after = {"cases": 250, "audit": 1.0}, {"turned": 0.45}
    results = [watched(records_of(World(**world), World(**world, **after), seed), columns=[]) for seed in range(8)]
    assert sum("concept" in {alarm.kind for alarm in result.alarms} for result in results) >= 6


def test_nothing_is_found_where_nothing_changes():
    quiet = [watched(records_of(World(cases=300), World(cases=300), seed), promises="error<=0.1") for seed in range(5)]
    assert [alarm.name for result in quiet for alarm in result.alarms] == []
    assert max(found.strongest for result in quiet for found in result.found) < 100


@pytest.mark.parametrize("promises", [None, "error<=0.1", "error<=0.1, misses<=0.3"])
def test_alarms_share_alpha(promises):
    result = watched(records_of(World(cases=300)), promises=promises, alpha=0.1)
    assert sum(1 / found.threshold for found in result.found) == pytest.approx(0.1)
    parts = {kind: sum(1 / f.threshold for f in result.found if f.kind == kind) for kind in CHANGES}
    assert parts["promise"] == pytest.approx(0.05 if promises else 0.0)
    assert parts["concept"] == pytest.approx(0.025 if promises else 0.05)
    assert parts["difficulty"] == pytest.approx(parts["columns"])


def test_the_expectation_of_the_model_does_not_see_what_the_audit_sees():
    result = watched(records_of(World(cases=2000, audit=0.4), World(cases=2000, audit=0.4, turned=0.9)))
    before, after = result.points[:BEFORE], result.points[BEFORE:]
    mean = {
        name: [np.mean([read(point) for point in points]) for points in (before, after)]
        for name, read in {"audit": lambda p: p.error.value, "expected": lambda p: p.expected_error}.items()
    }
    assert mean["audit"][1] > 2 * mean["audit"][0]
    assert mean["expected"][1] == pytest.approx(mean["expected"][0], rel=0.2)


def test_an_open_batch_after_the_reference_is_no_reason_to_fail():
    records = list(records_of(World(cases=300)))
    given_out = [r for r in records if r["kind"] != "verdict" or r["draw"] != f"batch {BEFORE - 1}"]
    result = watched(given_out, promises="error<=0.1")
    assert not result.points[-1].counted
    assert result.points[-1].open > 0
    json.dumps(result.as_dict(), allow_nan=False)


def test_later_looks_see_what_earlier_ones_saw():
    """Batches count in the order in which their verdicts came, so that evidence is only ever added to."""
    records = list(records_of(World(cases=300), World(cases=300, turned=0.8)))
    late = [r for r in records if r["kind"] == "verdict" and r["draw"] == f"batch {BEFORE}"]
    others = [r for r in records if r not in late]
    first, second = (watched(part, promises="error<=0.1") for part in (others, others + late))
    for before, after in zip(first.found, second.found, strict=True):
        assert before.evidence[:-1] == after.evidence[: len(before.evidence) - 1]
    assert [batch.draw for batch in batches_of(others + late)][-1] == f"batch {BEFORE}"


def test_the_same_answers_drawn_again_count_once():
    once = list(records_of(World(cases=300)))
    for record in once:
        if record["kind"] == "draw":
            record["answers"] = {"digest": record["draw"]}
    again = [r | {"draw": f"again {r['draw']}", "task": f"again {r.get('task')}"} for r in once]
    found = batches_of(once + again)
    assert [batch.again for batch in found] == [False] * BEFORE + [True] * BEFORE
    assert sum(len(batch.reviewed) for batch in found[BEFORE:]) == 0


def test_the_reference_keeps_its_promise_or_not():
    result = watched(list(records_of(World(cases=2000, audit=0.5))), promises="error<=0.02")
    assert [(found.kind, found.alarm) for found in result.alarms] == [("promise", 0)]


def test_promises_are_watched_before_there_is_a_reference():
    result = watched(list(records_of(World(cases=200, audit=0.5))), promises="error<=0.01", reference=5000)
    assert [found.kind for found in result.found] == ["promise"]
    assert any("changes: " in reason for reason in result.not_watched)
    assert not any(point.reference for point in result.points)


def test_what_cannot_be_watched_is_said():
    result = watched(list(records_of(World(cases=300, audit=1e-9))), promises=["error<=0.1", "cost<=1"])
    told = "\n".join(result.lines())
    assert "not watched: error<=0.1: no accepted case" in told
    assert "not watched: cost<=1: no answer costs more than that" in told


def test_rare_categories_and_identifiers_raise_no_alarm():
    rng = np.random.default_rng(1)
    records = list(records_of(World(cases=300, audit=0.2), World(cases=300, audit=0.2)))
    for number, record in enumerate(records):
        if record["kind"] == "task":
            town, amount = f"town {rng.integers(300)}", "n/a" if rng.random() < 0.02 else f"{rng.normal():.3f}"
            record["shown"] = {"town": town, "loan_id": str(number), "amount": amount}
    result = watched(records)
    assert result.alarms == []
    assert {found.name for found in result.found if found.kind == "columns"} == {"town", "amount"}
    assert any("'loan_id'" in reason for reason in result.not_watched)


def test_a_first_batch_that_waits_is_told_in_words():
    records = [r for r in records_of(World(cases=300)) if r.get("draw") == "batch 0" and r["kind"] != "verdict"]
    told = list(watched(records, promises="error<=0.1").lines())
    assert told[0] == "1 batch, 0 reviewed cases; no reference yet"
    assert "without a verdict keep 1 batch from being counted" in told[1]


def test_evidence_is_drawn_against_the_limit_of_each_alarm():
    """One line is the limit of all: no curve may cross it without an alarm, nor stay below it with one."""
    world = {"cases": 250, "audit": 1.0}
    result = watched(records_of(World(**world), World(**world, turned=0.7)), promises="error<=0.08").as_dict()
    names = [row["name"] for row in result["found"] if row["kind"] != "columns"]
    picture = next(
        svg for svg in re.findall("<svg.*?</svg>", render_watch(result), re.DOTALL) if 'class="limit"' in svg
    )
    limit = float(next(y for y in re.findall(r'<line[^>]* y1="([0-9.]+)"[^>]* class="limit"', picture)))
    paths = re.findall(r'<path d="M([^"]+)" class="curve', picture)
    tops = [min(float(place.split()[1]) for place in path.split("L")) for path in paths]
    alarms = {row["name"] for row in result["alarms"]}
    assert 0 < len(alarms) < len(names)
    assert {name for name, top in zip(names, tops, strict=True) if top <= limit} == alarms  # in pictures, up is less


def test_three_classes_are_refused():
    records = [r | {"classes": ["a", "b", "c"]} if r["kind"] == "draw" else r for r in records_of(World(cases=200))]
    with pytest.raises(ValueError, match="watch is for two classes"):
        watched(records)


def test_cases_without_scores_are_told_apart():
    records = list(records_of(World(cases=800), World(cases=800, turned=1.1)))
    some = [
        r | {"answer": r["answer"] | {"probability": None, "h": None}} if r["kind"] == "task" and i % 50 == 0 else r
        for i, r in enumerate(records)
    ]
    assert "concept" in {alarm.kind for alarm in watched(some).alarms}
    none = [
        r | {"answer": r["answer"] | {"probability": None, "h": None}} if r["kind"] == "task" else r for r in records
    ]
    assert any("concept: " in reason for reason in watched(none).not_watched)


def test_batches_with_open_cases_wait_and_count_after_a_month():
    records = list(records_of(World(cases=100)))
    last = max(i for i, record in enumerate(records) if record["kind"] == "verdict")
    open_case = records[:last]
    *counted, waiting = batches_of(open_case)
    assert all(batch.complete for batch in counted)
    assert (waiting.complete, waiting.open) == (False, 1)
    later = {"kind": "note", "at": f"2026-{3 + PATIENCE.days // 28:02d}-05T00:00:00+00:00"}
    assert batches_of([*open_case, later])[-1].complete


def test_counts_are_those_of_the_log_and_the_audit_is_weighted():
    batch = batches_of(list(records_of(World(cases=500, audit=0.3))))[0]
    point = point_of(batch, reference=False)
    assert (point.cases, point.open) == (500, 0)
    assert point.reviewed == len(batch.reviewed)
    assert point.reject_rate == pytest.approx((batch.ambiguity + batch.novelty) / 500)
    audits = batch.reviewed.among(batch.reviewed.audit)
    assert point.error.value == pytest.approx(np.mean(audits.positive != audits.forced_positive))
    assert point.error.low <= point.error.value <= point.error.high <= 1


def test_unequal_sampling_is_made_up_for():
    batch = batches_of(list(records_of(World(cases=500, audit=0.3))))[0]
    audits = batch.reviewed.among(batch.reviewed.audit)
    audits.sampling[:10] = 0.1
    wrong = (audits.positive != audits.forced_positive).astype(float)
    assert audited_error(audits).value == pytest.approx(np.average(wrong, weights=1 / audits.sampling))


def test_categories_and_missing_values_are_watched():
    rng = np.random.default_rng(0)

    def told(record, towns):
        if record["kind"] != "task":
            return record
        return record | {"shown": {"town": str(rng.choice(towns)), "note": "" if rng.random() < 0.5 else "1"}}

    records = list(records_of(World(cases=300, audit=0.2), World(cases=300, audit=0.2)))
    n_before = sum(record["kind"] == "draw" for record in records) * BEFORE // (BEFORE + AFTER)
    draws = [record["draw"] for record in records if record["kind"] == "draw"]
    old = set(draws[:n_before])
    told_records = [told(r, ["Ulm", "Köln"] if r.get("draw") in old else ["Ulm", "Köln", "Bonn"]) for r in records]
    assert [alarm.name for alarm in watched(told_records).alarms] == ["town"]


def test_wrong_arguments_are_one_sentence():
    records = list(records_of(World(cases=200)))
    for given, message in [
        ({"alpha": 2}, "alpha must be"),
        ({"reference": 5}, "reference must be"),
        ({"model": "5f"}, "no batch of the model 5f"),
        ({"columns": ["sex"]}, "columns='sex' was not shown"),
        ({"promises": "error=2"}, "no promise"),
    ]:
        with pytest.raises(ValueError, match=message):
            watched(records, **given)
    with pytest.raises(ValueError, match="holds no cases given to reviewers"):
        watched([])


def test_the_page_says_what_the_result_says_and_runs_nothing():
    world = World(cases=400, audit=0.2)
    records = [
        r | {"shown": {"<script>alert(1)</script>": r["shown"]["age"]}} if r["kind"] == "task" else r
        for r in records_of(world, World(cases=400, audit=0.2, shifted=1.0))
    ]
    result = watched(records, promises="error<=0.1")
    page = render_watch(result.as_dict())
    assert "<script" not in page
    assert "1 alarm" in page
    assert "&lt;script&gt;" in page
    assert page.count("<svg") == 3
    json.dumps(result.as_dict(), allow_nan=False)
    quiet = render_watch(watched(records_of(World(cases=200))).as_dict())
    assert "No alarm" in quiet


def test_too_few_reviews_are_no_failure_and_no_all_clear():
    result = watched(records_of(World(cases=200)), reference=10_000)
    assert (result.found, result.alarms) == ([], [])
    [reason] = result.not_watched
    assert re.fullmatch(
        r"changes: compared with the first 10000 reviewed cases, of which \d+ count; .*\(--promise\)", reason
    )
    lines = list(result.lines())
    assert "no reference yet" in lines[0]
    assert lines[-1] == "nothing is watched yet"
    assert any(line.startswith("error among accepted cases so far: ") for line in lines)
    page = render_watch(result.as_dict())
    assert "Nothing is watched yet" in page
    assert "No alarm" not in page.partition("<body")[2]
    assert "too few that count" in page


def test_one_batch_is_one_batch_and_is_seen():
    records = [{"at": AT, **record} for record in World(cases=400, audit=0.2).records(1, random_state=0)]
    result = watched(records, promises="error<=0.1", reference=20)
    lines = list(result.lines())
    assert lines[0].startswith("1 batch, ")
    assert lines[0].endswith("; the first is the reference")
    # What the audit of the reference found is found, although nothing came after it.
    assert result.error is not None
    assert result.error == result.points[0].error
    page = render_watch(result.as_dict())
    assert "1 batch, " in page
    assert "the first batch is what the later ones are compared with" in page
    pictures = re.findall(r"<svg.*?</svg>", page, re.DOTALL)
    assert [len(re.findall("<circle", picture)) for picture in pictures] == [2, 2, 1]
    assert "So far, " in page


def test_what_is_broken_already_is_not_waited_for():
    records = list(records_of(World(cases=800, audit=0.3)))
    broken, kept = watched(records, promises=["error<=0.001", "misses<=0.9"]).audits_needed, {"misses<=0.9"}
    assert set(broken) == kept


@pytest.fixture(scope="module")
def model_file(tmp_path_factory):
    """A model with a promise, and the log of its reviews."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((2000, 1))
    y = np.where(rng.random(2000) < 1 / (1 + np.exp(-4 * X[:, 0])), "yes", "no")
    model = recuse.ThresholdRejectClassifier(LogisticRegression(), guarantee="error<=0.1", random_state=0).fit(X, y)
    path = tmp_path_factory.mktemp("watch") / "model.skops"
    recuse.save(model, path)
    digest = saved_digest(path)
    log = ReviewLog(path.with_name("reviews.jsonl"))
    for part in (World(cases=800, audit=0.3).records(4, random_state=0), records_of_change()):
        entries = [r | {"model": {"file": path.name, "digest": digest}} if r["kind"] == "draw" else r for r in part]
        log.append(entries)
    return path


def records_of_change():
    return World(cases=800, audit=0.3, turned=1.1).records(6, random_state=1, first=4)


def test_the_command_takes_the_promise_of_the_model_and_exits_with_three(model_file):
    log, page = model_file.with_name("reviews.jsonl"), model_file.with_name("page.html")
    done = CliRunner().invoke(app, ["watch", str(model_file), "--log", str(log), "--out", str(page)])
    assert done.exit_code == 3
    assert "ALARM promise broken: error<=0.1" in done.stdout
    assert "promise broken: error&lt;=0.1" in page.read_text(encoding="utf-8")
    done = CliRunner().invoke(app, ["watch", str(model_file), "--log", str(log), "--json"])
    assert {alarm["kind"] for alarm in json.loads(done.stdout)["alarms"]} >= {"promise", "concept"}


def test_the_command_without_alarm_exits_with_zero(model_file, tmp_path):
    log, digest = ReviewLog(tmp_path / "reviews.jsonl"), saved_digest(model_file)
    records = World(cases=300).records(6, random_state=4)
    log.append([r | {"model": {"file": "m", "digest": digest}} if r["kind"] == "draw" else r for r in records])
    done = CliRunner().invoke(app, ["watch", str(model_file), "--log", str(log.path), "--promise", "error<=0.2"])
    assert done.exit_code == 0
    assert "no alarm" in done.stdout


def test_a_log_that_is_not_there_is_named(model_file, tmp_path):
    done = CliRunner().invoke(app, ["watch", str(model_file), "--log", str(tmp_path / "none.jsonl")])
    assert isinstance(done.exception, FileNotFoundError)
    assert "does not exist" in str(done.exception)
