"""What the commands say to somebody who is new to them: the remedy that helps, and the next command ready to be run."""

import shlex

import numpy as np
import pandas as pd
import pytest

import recuse
from tests.cli.test_commands import call  # noqa: F401  (a fixture)
from tests.comparison.conftest import mixed_table

PRICES = ["-t", "default", "--positive", "bad", "--fp", "600", "--fn", "4000", "--reject", "1"]
SMALL = ["--cv", "2", "--repeats", "1", "--n-jobs", "1", "--methods", "logistic-chow"]


def german(frame, path):
    """Write a table as a German spreadsheet does, with a word for what is not known."""
    score = frame["score"].map(lambda value: "n.k." if np.isnan(value) else f"{value:.4f}".replace(".", ","))
    frame.assign(score=score).to_csv(path, sep=";", index=False, encoding="cp1252")


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_where_nothing_beats_review_the_command_to_fit_a_model_is_ready(call, tmp_path, monkeypatch):  # noqa: F811
    monkeypatch.chdir(tmp_path)
    table = mixed_table()
    table["decided today"] = np.where(table["score"] > 0, "yes", "no")
    german(table, "my data.csv")
    options = ["--missing", "n.k.", "--drop", "town", "--policy", "decided today", "--novelty", "off", "--seed", "3"]
    code, out, _ = call("compare", "my data.csv", *PRICES, *SMALL, *options, "-o", "run")
    assert code == 0
    assert "'Manual review of every case', and knows no order" in out
    program, *words = shlex.split(out.splitlines()[-1].partition("may not pay: ")[2])
    assert program == "recuse"
    code, _, err = call(*words)
    assert code == 0, err
    model = recuse.load("run/logistic-chow.skops")
    assert model[0].columns_ == ["score", "since", "member"]
    assert dict(zip(model[0].columns_, model[0].kinds_, strict=True))["score"] == "number"
    assert model[0].novelty == "off"
    assert (model[-1].costs_.fp, model[-1].costs_.fn, model[-1].costs_.reject_negative) == (600, 4000, 1)
    assert model[-1].pos_label_ == "bad"
    # `fit` takes --policy as `compare` does: what is decided today is no feature.
    code, _, err = call("fit", "my data.csv", *PRICES, *options, "-m", "logistic-chow", "-o", "m.skops")
    assert code == 0, err
    assert recuse.load("m.skops")[0].columns_ == ["score", "since", "member"]


@pytest.mark.filterwarnings("default:the model knows no order")
def test_a_queue_without_an_order_is_told(call, tmp_path):  # noqa: F811
    mixed_table().to_csv(tmp_path / "data.csv", index=False)
    model = recuse.compare(mixed_table(), "default", positive="bad", costs=recuse.Costs(600, 4000, 1), cv=2, repeats=1,
                           methods=["logistic-chow"]).model("send-all")  # fmt: skip
    recuse.save(model, tmp_path / "m.skops")
    order = ["predict", tmp_path / "m.skops", tmp_path / "data.csv", "-o", tmp_path / "a.csv", "--capacity"]
    code, _, err = call(*order, "40")
    assert code == 0
    assert "recuse: warning: the model knows no order among the 160 rejected cases" in err
    assert "the capacity of 40 is not enough, and there is no order among them" in err
    assert pd.read_csv(tmp_path / "a.csv")["review"].isna().all()
    code, _, err = call(*order, "160")  # nothing is left out: whoever reviews may go by the table
    assert "warning" not in err
    assert pd.read_csv(tmp_path / "a.csv")["review"].tolist() == list(range(1, 161))


@pytest.mark.parametrize(
    ("price", "remedy"),
    [
        ("1,5", "'1,5' is no number: write 1.5"),
        ("1,5,0", "as 1500 or 1.5"),
        ("cheap", "'cheap' is no number"),
        ("1.200", "'1.200' may be 1200 or 1.2: write 1200, or 1.2."),
        ("1.200,50", "'1.200,50' is no number: write 1200.50."),
    ],
)
def test_a_price_as_it_is_written_elsewhere(call, price, remedy):  # noqa: F811
    code, _, err = call("compare", "data.csv", "-t", "y", "--fp", price)
    assert code == 2
    assert remedy in " ".join(err.split())


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("predict m.skops new.csv --capacity forty", "'forty' is no whole number: write it in digits, such as 40."),
        ("predict m.skops new.csv --capacity 2.500", "'2.500' is no whole number: write 2500."),
        ("predict m.skops new.csv --capacity -1", "'--capacity': -1 must be at least 0."),
        ("review out m.skops a.csv --audit 2", "'--audit': 2 must be at least 0 and at most 1."),
        ("plan m.skops a.csv --volume 2.500/month", "volume='2.500/month': '2.500' may be 2500 or 2.5: write 2500, or"),
        ("plan m.skops a.csv --volume 9/day --minutes-per-case 6,5", "'6,5' is no number: write 6.5."),
    ],
)
def test_other_numbers_as_they_are_written_elsewhere(call, words, message):  # noqa: F811
    code, _, err = call(*words.split())
    assert code in (1, 2)
    assert message in " ".join(err.split())


def test_names_that_are_almost_right(call, tmp_path):  # noqa: F811
    data = tmp_path / "data.csv"
    mixed_table().assign(decided="no").to_csv(data, index=False)
    _, _, err = call("compare", data, "-t", "default", "--positive", "bad", "--policy", "decide", "-o", tmp_path / "r")
    assert err == "recuse: data.csv has no column 'decide' with what is decided today: did you mean 'decided'?\n"
    _, out, _ = call("check", data, "--drop", "town,memberr")
    assert "town     left out: text" in out
    assert "! data.csv has no column 'memberr' to leave out: did you mean 'member'?" in out
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "model.skops").touch()
    code, _, err = call("predict", tmp_path / "run", data)
    assert code == 1
    assert f"is the folder of a run: give the model in it, {tmp_path / 'run' / 'model.skops'}" in err
    code, _, err = call("review", "verify")
    assert (code, "The log reviews.jsonl does not exist" in err) == (1, True)


def test_what_is_replaced_is_said(call, tmp_path):  # noqa: F811
    data, run = tmp_path / "data.csv", tmp_path / "run"
    mixed_table().to_csv(data, index=False)
    compare = ["compare", data, "-t", "default", "--positive", "bad", *SMALL, "-o", run]
    assert "finished run" not in call(*compare, "--fn", "3")[2]
    assert "finished run" not in call(*compare, "--fn", "3")[2]  # the same again
    code, _, err = call(*compare, "--fn", "4", "--drop", "town")
    assert code == 0
    told = "holds a finished run with other settings (drop, costs): its report and its model are replaced at the end"
    assert f"recuse: {run} {told}" in err
    more = [*compare[:-4], "--methods", "logistic-chow,logistic-tuned", "-o", run, "--fn", "4", "--drop", "town"]
    assert "finished run" not in call(*more)[2]  # it goes on with one more
    for command, where in (
        (["predict", run / "model.skops", data], tmp_path / "answers.csv"),
        (["fit", data, "-t", "default", "--positive", "bad", "-m", "logistic-chow"], tmp_path / "m.skops"),
    ):
        assert "is replaced" not in call(*command, "-o", where)[2]
        code, _, err = call(*command, "-o", where)
        assert (code, "is replaced" in err) == (0, True)


@pytest.mark.parametrize(("name", "why"), [("m.pkl", "named like a pickle"), ("nowhere/m.skops", "create the folder")])
def test_a_name_that_no_model_can_have_is_refused_before_the_fit(call, tmp_path, name, why):  # noqa: F811
    nothing = tmp_path / "there-is-no-such-table.csv"
    updates = ["update", tmp_path / "none.skops", nothing, "--log", tmp_path / "none.jsonl"]
    for command in (["fit", nothing], updates):
        code, _, err = call(*command, "-t", "y", "-o", tmp_path / name)
        assert (code, why in err) == (1, True)


@pytest.mark.filterwarnings(
    "default:values that the training table never had", "default:.*holds cases that the model was"
)
def test_values_never_seen_and_cases_seen_before_are_told(call, tmp_path):  # noqa: F811
    data, new, model = tmp_path / "data.csv", tmp_path / "new.csv", tmp_path / "m.skops"
    mixed_table().to_csv(data, index=False)
    fit = ["fit", data, "-t", "default", "--positive", "bad", "-m", "logistic-chow", "-o", model]
    assert call(*fit)[0] == 0
    later = mixed_table(120, seed=7)
    later.to_csv(new, index=False)
    for command in (["predict", model, new, "-o", tmp_path / "a.csv"], ["evaluate", model, new, "-t", "default"]):
        code, _, err = call(*command)
        assert (code, "warning" in err) == (0, False)
    later.loc[[4, 90], "town"] = "Köln"
    later.to_csv(new, index=False)
    _, _, err = call("predict", model, new, "-o", tmp_path / "a.csv")
    assert "values that the training table never had: town = 'Köln' (2 cases, the first in row 5)" in err
    assert "Found unknown categories" not in err
    # The training table, and one that is made of it in part.
    for table, share in ((mixed_table(), "100%"), (pd.concat([mixed_table()[:80], mixed_table(80, seed=7)]), "50%")):
        table.to_csv(new, index=False)
        code, _, err = call("evaluate", model, new, "-t", "default")
        assert code == 0
        assert f"new.csv holds cases that the model was fitted on (about {share} of its training table)" in err
    plan = ["plan", model, data, "--volume", "100/month", "--minutes-per-case", "6"]
    assert "data.csv holds cases that the model was fitted on" in call(*plan)[2]
