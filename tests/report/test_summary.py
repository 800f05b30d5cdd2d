"""The summary holds what the page promises, and the page needs nothing else."""

import html
import json
import re
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

import recuse
from recuse.comparison import write_report
from recuse.report import render, rewrite, summarize
from recuse.report.probabilities import reliability_section
from recuse.report.summary import SECTIONS, _difference


def test_sections_and_json(summary):
    assert set(SECTIONS) <= set(summary)
    assert json.loads(json.dumps(summary, allow_nan=False)) == summary


def test_verdict_and_rejected_cases(comparison, summary):
    verdict = comparison.verdict
    assert summary["verdict"]["cost"] == list(verdict.cost)
    assert summary["verdict"]["rejecting"]["saved"] == list(verdict.rejecting.saved)
    assert summary["verdict"]["conclusions"] == comparison.conclusions
    decisions = comparison.decisions()
    rejected = decisions[decisions["decision"] == "[abstain]"]
    cases = summary["cases"]
    assert cases["total"] == len(rejected)
    assert {row[0] for row in cases["rows"]} == set(rejected["case"])
    scores = [row[4] for row in cases["rows"]]
    assert scores == sorted(scores)
    assert all(len(row) == len(cases["columns"]) for row in cases["rows"])


def test_differences_find_the_telling_column():
    rng = np.random.default_rng(0)
    x, doubt = rng.normal(size=300), rng.random(300) < 0.4
    y = np.where(doubt, rng.random(300) < 0.5, x > 0)
    frame = pd.DataFrame({"x": x, "doubt": np.where(doubt, "unsure", "sure"), "noise": rng.normal(size=300), "y": y})
    result = recuse.compare(frame, "y", costs=0.2, methods=["boosting-chow"], cv=3, repeats=1)
    found = summarize(result, result.model())["why"]["differences"]
    assert found[0]["column"] == "doubt"
    assert found[0]["rejected"].startswith("unsure")


def test_columns_whose_values_hardly_repeat_are_left_out_and_rare_values_put_together():
    rng = np.random.default_rng(0)
    n = 200
    rejected = np.arange(n) % 4 == 0
    towns = np.where(rejected, "Ulm", "Bonn")
    towns[::10] = [f"hamlet {i}" for i in range(20)]
    frame = pd.DataFrame(
        {
            "name": [f"case {i}" for i in range(n)],
            "day": [f"2020-02-{1 + i % 28:02d}" for i in range(n)],
            "town": towns,
            "flag": rejected,
        }
    )
    found = {name: _difference(frame[name], rejected) for name in frame.columns}
    assert found["name"] is found["day"] is None
    # Half of the hamlets are of rejected cases: 10 in 50, and 10 in 150.
    assert found["town"]["rejected"] == "Ulm: 80%"
    assert found["town"]["accepted"] == "Ulm: 0%"
    assert found["town"]["strength"] == pytest.approx((0.8 + 140 / 150 + 0.2 - 10 / 150) / 2)
    assert found["flag"]["strength"] == 1
    rare = pd.Series(np.where(rejected, [f"odd {i}" for i in rng.permutation(n)], "plain"), name="kind")
    assert _difference(rare, rejected)["rejected"] == "(rarer values): 100%"


def test_dates_are_compared_as_dates():
    rejected = np.arange(40) >= 30
    days = pd.Series(pd.to_datetime("2020-01-01") + pd.to_timedelta(np.arange(40), unit="D"), name="opened")
    found = _difference(days, rejected)
    assert found["strength"] == 1
    assert (found["accepted"], found["rejected"]) == ("2020-01-15", "2020-02-04")
    days[::2] = pd.NaT
    assert _difference(days, rejected)["rejected"] == "2020-02-05"


def test_panels_reach_over_the_values(comparison, monkeypatch):
    model = comparison.model()
    names = list(model[:-1].get_feature_names_out())
    member, score = names.index("member"), names.index("score")
    flat, step = np.zeros(2), np.array([0.0, 1.0])
    shapes = [
        SimpleNamespace(feature=member, cuts=np.array([0.5]), h=step, r=flat),
        SimpleNamespace(feature=score, cuts=np.array([0.1]), h=2 * step, r=flat),
        SimpleNamespace(feature=score, cuts=np.array([0.1]), h=flat, r=flat),
        SimpleNamespace(feature=len(names), cuts=np.array([0.1]), h=0.5 * step, r=flat),
    ]
    monkeypatch.setattr(model[-1], "shape_functions_", shapes, raising=False)
    why = summarize(comparison, model)["why"]
    numbers, flags, stacked = why["shapes"]  # and none for the column that adds nothing
    assert (flags["values"], flags["reach"]) == ([0.0, 1.0], [-0.5, 1.5])
    known = comparison.cases.features["score"].dropna()
    assert numbers["reach"] == pytest.approx(np.quantile(known, [0.005, 0.995]), rel=1e-5)
    assert numbers["values"] is None
    assert (stacked["reach"], stacked["values"]) == (None, None)


def test_shape_functions_are_shown_where_the_model_has_them(comparison, monkeypatch):
    model = comparison.model()
    shapes = [
        SimpleNamespace(feature=0, cuts=np.array([0.1]), h=np.array([0.0, 0.2]), r=np.array([0.0, 0.0])),
        SimpleNamespace(feature=1, cuts=np.array([0.5]), h=np.array([-3.0, 2.0]), r=np.array([1.0, -1.0])),
    ]
    monkeypatch.setattr(model[-1], "shape_functions_", shapes, raising=False)
    found = summarize(comparison, model)["why"]["shapes"]
    names = model[:-1].get_feature_names_out()
    assert [shape["feature"] for shape in found] == [names[1], names[0]]
    assert found[0]["h"] == [3.0, -2.0]  # "bad" is the positive class, and the first of the sorted ones


def test_page_is_self_contained(page_file):
    page = page_file.read_text(encoding="utf-8")
    # Addresses occur inside the charting library as names; none is loaded.
    outside = re.sub(r"<script>.*?</script>", "", page, flags=re.DOTALL)
    assert "http:" not in outside
    assert "https:" not in outside
    assert not re.findall(r'(?:src|href)="(?!#|data:)[^"]*"', outside)
    assert page.rstrip().endswith("</html>")


def test_nothing_in_the_data_breaks_out(summary):
    page = render(summary | {"name": "<img src=x onerror=alert(1)></script>"})
    assert "<img src=x" not in page
    assert "&lt;img src=x onerror=alert(1)&gt;" in page


def test_page_reads_in_the_promised_order(page_file):
    page = page_file.read_text(encoding="utf-8")
    headings = re.findall(r'<h2 id="\w+">(.*?)</h2>', page)
    assert headings == [
        "Does it pay here?",
        "Which method?",
        "At which operating point?",
        "What happens to my cases?",
        "Why?",
        "Data and settings",
    ]


def test_a_report_is_written_again(comparison, tmp_path):
    (tmp_path / "summary.json").write_text(json.dumps(summarize(comparison, comparison.model())))
    assert rewrite(tmp_path) == tmp_path / "report.html"
    first = (tmp_path / "report.html").read_bytes()
    write_report(comparison, tmp_path / "other.html")
    assert (tmp_path / "other.html").read_bytes() == first


def test_folders_that_hold_no_run(summary, tmp_path):
    with pytest.raises(FileNotFoundError, match=r"holds no summary.json: give the folder that compare wrote"):
        rewrite(tmp_path)
    # From a version whose leaderboard had no notes: a key that only the template asks for.
    old = json.loads(json.dumps(summary))
    for row in old["leaderboard"]:
        del row["note"]
    (tmp_path / "summary.json").write_text(json.dumps(old))
    with pytest.raises(ValueError, match="damaged or of another version"):
        rewrite(tmp_path)
    (tmp_path / "summary.json").write_text("{}")
    with pytest.raises(ValueError, match="damaged or of another version"):
        rewrite(tmp_path)


@pytest.mark.parametrize("several", [False, True])
def test_where_a_constant_answer_is_kept_all_sections_are_about_the_same_method_and_say_so(several):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"x": rng.normal(size=150), "town": rng.choice(["Ulm", "Bonn"], 150)})
    outcome = np.digitize(frame["x"] + 0.5 * rng.normal(size=150), [-0.3, 0.6] if several else [0.0])
    table = frame.assign(y=np.array(["a", "b", "c"])[outcome], today="review")
    options = {"methods": ["logistic-chow"], "cv": 2, "repeats": 1, "by": ["town"], "policy": "today"}
    options["positive"] = None if several else "b"
    result = recuse.compare(table, "y", costs=0.02, **options)
    assert result.verdict.chosen == "send-all"
    found = summarize(result, result.model())
    decisions, title = result.decisions("logistic-chow"), result.row("logistic-chow").title
    assert found["cases"]["total"] == (decisions["decision"] == "[abstain]").sum() < 150
    assert found["segments"]["method"] == found["verdict"]["best_model"] == "logistic-chow"
    assert [row["cost"] for row in found["segments"]["columns"]["town"]] == [
        pytest.approx(decisions["cost"][decisions["segment of town"] == name].mean()) for name in ("Bonn", "Ulm")
    ]
    assert found["why"]["differences"][0]["strength"] is not None
    page = html.unescape(render(found))
    assert page.count(f"is kept, which treats all cases alike. This section is about {title}") == 4
    assert f"If {title} were used, no segment is shown to be served worse" in page
    assert f"{title} would send" in page
    assert "with the answers of “Manual review of every case”, which <code>model.skops</code> gives" in page
    assert "an answer that is the same for every case needs no correction" in page
    assert result.segments[0].cost.value == pytest.approx(0.02)  # segments.csv is about the model in the folder
    assert result.segments[0].today.saved.value == 0.0


def test_where_every_case_is_reviewed_the_page_claims_no_order():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(120, 2))
    positive = (X[:, 0] + 0.5 * rng.normal(size=120) > 0).astype(int)
    for reject, ordered in ((0.01, False), (0.4, True)):
        result = recuse.compare(X, positive, costs=reject, methods=["logistic-chow"], cv=2, repeats=1)
        if not ordered:  # as of a method that rejects every case for one reason
            alike = replace(result.answers["logistic-chow"], kind=np.ones((1, 120), np.int8), r=np.full((1, 120), -1.0))
            result = replace(result, answers={"logistic-chow": alike})
        found = summarize(result, result.model())
        assert found["cases"]["ordered"] is ordered
        page = render(found)
        assert ("there is no other among them, as all have one acceptance score" in page) is not ordered
        assert ("the least certain first" in page) is ordered


def test_thresholds_of_a_rule_on_a_classifier_are_probabilities_and_others_are_not():
    methods = ["logistic-tuned", "logistic-chow", "double-hinge", "coupled-one-class"]
    run = recuse.compare(*_two_classes(), costs=recuse.Costs(1, 2, 0.3), methods=methods, cv=2, repeats=1, n_jobs=1)
    told = {method["name"]: method["cuts"] for method in summarize(run, run.model())["methods"]}
    by_probability = dict.fromkeys(methods[:2], "probability")
    assert told == by_probability | {"double-hinge": "class score", "coupled-one-class": "acceptance score"}
    assert set(reliability_section(run)) == {"logistic-tuned", "logistic-chow"}


def _two_classes(n=60):
    x, noise = np.random.default_rng(0).normal(size=(2, n, 2))
    return x, (x[:, 0] + noise[:, 0] > 0.1).astype(int)
