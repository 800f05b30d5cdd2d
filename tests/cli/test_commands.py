"""The command line: what it writes, its exit codes, and one clear line for every bad input."""

import io
import json
import os
import signal
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest

import recuse
from recuse.cli import main
from recuse.metrics import expected_cost
from tests.comparison.conftest import mixed_table
from tests.comparison.test_groups_and_time import drifting, patients
from tests.persistence.handmade import named, write_model
from tests.processes import LIMIT

SMALL = ["-t", "default", "--positive", "bad", "--fn", "3", "--cv", "3", "--n-jobs", "1"]
SMALL += ["--methods", "logistic-chow,logistic-no-reject", "--repeats", "1"]
ESTIMATED = ", by the first fold.\n"  # how long it will take is said where that is more than a second
TOLD = "recuse: data.csv: the positive outcome is default = 'bad', 49 of 160 cases (30.6%).\n"
PRICED = (
    "recuse: data.csv: a false alarm costs 1, a miss 3 and a review 0.3; --fp and --reject were not given and have "
    "their defaults (in Python, costs=).\n"
)


def run(*arguments, **options):
    """Run the installed command in a process of its own."""
    command = [sys.executable, "-m", "recuse.cli", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, timeout=LIMIT, **options)


@pytest.fixture
def call(capsys):
    """Run the command in this process; give exit code, standard output and standard error."""

    def call_it(*arguments):
        code = 0
        try:
            main([str(argument) for argument in arguments])
        except SystemExit as stop:
            code = stop.code or 0
        captured = capsys.readouterr()
        said = [line for line in captured.err.splitlines(keepends=True) if not line.endswith(ESTIMATED)]
        return code, captured.out, "".join(said)

    return call_it


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A table, the same without one column, a finished run and a model."""
    path = tmp_path_factory.mktemp("cli")
    mixed_table().to_csv(path / "data.csv", index=False)
    done = run("compare", path / "data.csv", *SMALL, "-o", path / "run")
    assert done.returncode == 0, done.stderr
    (path / "printed").write_text(done.stdout)
    return path


def test_compare_writes_and_prints(folder):
    printed = (folder / "printed").read_text()
    assert "logistic-chow" in printed
    assert "send-all" in printed
    assert f"Report: {folder / 'run' / 'report.html'}" in printed
    names = {path.name for path in (folder / "run").iterdir()}
    assert {"report.html", "decisions.csv", "leaderboard.csv", "model.skops", "run.json"} <= names
    run_facts = json.loads((folder / "run" / "run.json").read_text())
    assert run_facts["arguments"]["costs"] == {
        "fp": 1.0, "fn": 3.0, "reject_negative": 0.3, "reject_positive": 0.3,
    }  # fmt: skip
    assert run_facts["data"]["positive"] == "bad"


def test_compare_goes_on_and_speaks_json(folder, call):
    code, out, err = call("compare", folder / "data.csv", *SMALL, "-o", folder / "run", "--json")
    assert (code, err) == (0, TOLD + PRICED)
    facts = json.loads(out)
    assert facts["positive"] == {"outcome": "bad", "cases": 49, "of": 160}
    assert {row["method"] for row in facts["leaderboard"]} == {
        "logistic-chow",
        "logistic-no-reject",
        "send-all",
        "always-no",
        "always-yes",
    }
    assert facts["winner"] in {"logistic-chow", "logistic-no-reject"}


def test_predict_to_a_file(folder, call, tmp_path):
    code, out, err = call("predict", folder / "run" / "model.skops", folder / "data.csv", "-o", tmp_path / "out.csv")
    assert (code, out) == (0, "")
    frame = pd.read_csv(folder / "data.csv")
    answers = pd.read_csv(tmp_path / "out.csv")
    decisions = recuse.decide(recuse.load(folder / "run" / "model.skops"), frame)
    np.testing.assert_allclose(answers["r"], decisions.r, rtol=5e-6)  # six digits
    expected = np.where(decisions.accepted, decisions.forced, "[abstain]")
    assert answers["decision"].tolist() == expected.tolist()
    assert f"{len(frame)} cases" in err


def test_predict_to_standard_output(folder):
    done = run("predict", folder / "run" / "model.skops", folder / "data.csv")
    assert done.returncode == 0
    lines = done.stdout.splitlines()
    assert lines[0] == "case,decision,kind,forced,probability,h,r,reason,model_digest"
    assert len(lines) == 161


def test_capacity_ranks_and_says_where_the_limit_fell(folder, call, tmp_path):
    model, data = folder / "run" / "model.skops", folder / "data.csv"
    _, out, _ = call("predict", model, data, "-o", tmp_path / "out.csv", "--capacity", "5", "--json")
    facts = json.loads(out)
    answers = pd.read_csv(tmp_path / "out.csv")
    rejected = answers[answers["decision"] == "[abstain]"].sort_values("r")
    assert facts["rejected"] == len(rejected) > 5
    assert facts["limit"] == pytest.approx(rejected["r"].iloc[4])
    ranked = answers[answers["review"].notna()].sort_values("review")
    assert ranked["review"].tolist() == [1, 2, 3, 4, 5]
    assert ranked["case"].tolist() == rejected["case"].head(5).tolist()
    _, _, err = call("predict", model, data, "-o", tmp_path / "out.csv", "--capacity", "10000")
    assert "the capacity of 10000 is enough for all of them" in err
    _, _, err = call("predict", model, data, "-o", tmp_path / "out.csv", "--capacity", "3")
    assert "the capacity of 3 ends at acceptance score" in err


def test_fit_inspect_and_methods(folder, call, tmp_path):
    fit = ["fit", folder / "data.csv", "-t", "default", "--positive", "good", "-m", "logistic-tuned"]
    code, _, err = call(*fit, "-o", tmp_path / "m.skops")
    assert code == 0, err
    code, out, _ = call("inspect", tmp_path / "m.skops", "--json")
    facts = json.loads(out)
    assert (facts["classifier"], facts["rule"], facts["positive"]) == ("LogisticRegression", "tuned", "good")
    assert facts["columns"] == {"score": "number", "town": "text", "since": "date", "member": "yes/no"}
    assert "thresholds" in call("inspect", tmp_path / "m.skops")[1]
    assert "logistic-chow" in call("methods")[1]
    assert len(json.loads(call("methods", "--json")[1])) >= 9


def test_fit_and_report_speak_json(folder, call, tmp_path):
    fit = ["fit", folder / "data.csv", "-t", "default", "--positive", "bad", "-m", "logistic-chow", "--fn", "3"]
    code, out, err = call(*fit, "--json", "-o", tmp_path / "m.skops")
    assert (code, err) == (0, TOLD + PRICED)
    facts = json.loads(out)
    assert (facts["out"], facts["fitted"], facts["positive"]) == (str(tmp_path / "m.skops"), "logistic-chow", "bad")
    assert facts["columns"]["score"] == "number"
    code, out, err = call("report", folder / "run", "-o", tmp_path / "page.html", "--json")
    assert (code, err) == (0, "")
    assert json.loads(out) == {"run": str(folder / "run"), "out": str(tmp_path / "page.html")}
    assert (tmp_path / "page.html").stat().st_size > 100_000


def test_reproduce_runs_a_paper_s_protocol(call, monkeypatch, tmp_path):
    """The whole protocol on data that are always there; the papers' own need files."""
    from sklearn.datasets import load_breast_cancer

    from recuse.reproduce import PROTOCOLS
    from recuse.reproduce.double_hinge import experiment

    X, y = load_breast_cancer(return_X_y=True)
    monkeypatch.setattr(experiment, "load", lambda name, return_X_y: (X[:200], y[:200]))
    code, out, _ = call("reproduce", "double-hinge", "--quick", "-o", tmp_path)
    assert code == 0
    assert "paper 2.9" in out
    assert json.loads((tmp_path / "reproduce_double_hinge_quick.json").read_text())["outcomes"]
    code, out, err = call("reproduce", "double-hing")
    assert (code, out) == (1, "")
    assert err == f"recuse: paper='double-hing' is not known; there are {', '.join(sorted(PROTOCOLS))}.\n"


def test_the_class_score_points_the_same_way_in_every_table_and_file(folder, call, tmp_path):
    """To the second of the sorted classes, as `decision_function` does: here the positive one is the first."""
    call("predict", folder / "run" / "model.skops", folder / "data.csv", "-o", tmp_path / "out.csv")
    for path in (tmp_path / "out.csv", folder / "run" / "decisions.csv"):
        written = pd.read_csv(path)
        np.testing.assert_array_equal(written["forced"] == "good", written["h"] > 0)
    decisions = recuse.decide(recuse.load(folder / "run" / "model.skops"), pd.read_csv(folder / "data.csv"))
    assert decisions.pos_label == "bad"
    np.testing.assert_array_equal(decisions.forced == "good", decisions.h > 0)
    np.testing.assert_allclose(pd.read_csv(tmp_path / "out.csv")["h"], decisions.h, rtol=5e-6)


def test_report_again(folder, call, tmp_path):
    code, _, _ = call("report", folder / "run", "-o", tmp_path / "again.html")
    assert code == 0
    assert (tmp_path / "again.html").read_bytes() == (folder / "run" / "report.html").read_bytes()


TABLES = {
    "empty.csv": "",
    "header.csv": "a,y\n",
    "twice.csv": "a,a,y\n" + "1,2,no\n2,3,yes\n" * 10,
    "constant.csv": "a,y\n" + "1,no\n2,no\n" * 10,
    "three.csv": "a,y\n" + "1,no\n2,yes\n3,perhaps\n" * 10,
    "hole.csv": "a,b,y\n" + "1,,no\n2,,yes\n" * 10,
    "fine.csv": "a,b,y\n" + "1,3,no\n2,4,yes\n" * 10,
    "ragged.csv": "a,y\n1,2,3\n4,5\n1,2,3,4\n",
    "infinite.csv": "a,y\n" + "1,no\ninf,yes\n" * 10,
}


@pytest.fixture(scope="module")
def tables(tmp_path_factory):
    path = tmp_path_factory.mktemp("tables")
    for name, content in TABLES.items():
        (path / name).write_text(content)
    (path / "broken.parquet").write_bytes(b"PAR1 no")
    (path / "damaged.csv").write_bytes(b"a,y\n\xff\x00,no\n")
    (path / "folder.csv").mkdir()
    return path


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["nowhere.csv", "-t", "y"], "does not exist"),
        (["empty.csv", "-t", "y"], "cannot be read as csv"),
        (["header.csv", "-t", "y"], "holds no rows"),
        (["ragged.csv", "-t", "y"], "cannot be read as csv"),
        (["broken.parquet", "-t", "y"], "cannot be read as parquet"),
        (["fine.csv", "-t", "z"], "has no column 'z' to predict"),
        (["constant.csv", "-t", "y"], "holds 'no' only"),
        (["three.csv", "-t", "y", "--fn", "5"], "3 different outcomes"),
        (["hole.csv", "-t", "y"], "the column 'b' is empty in every row"),
        (["twice.csv", "-t", "y"], "two columns have the name 'a'"),
        (["fine.csv", "-t", "y", "--positive", "maybe"], "positive='maybe' does not occur"),
        (["fine.csv", "-t", "y", "--reject", "0.9"], "Rejecting never pays"),
        (["fine.csv", "-t", "y", "--fp", "-1"], "fp must be a finite price greater than 0"),
        (["fine.csv", "-t", "y", "--methods", "magic"], "'magic' is not known"),
        (["infinite.csv", "-t", "y"], "the column 'a' holds an infinite number; leave the cell empty"),
        (["damaged.csv", "-t", "y"], "neither UTF-8 nor text in another encoding"),
        (["folder.csv", "-t", "y"], "is a folder without Parquet files: give the file"),
        (["fine.pdf", "-t", "y"], "not a table format"),
        (["fine.csv", "-t", "y", "--seed", "-1"], "seed must be 0 or more; got -1"),
        (["fine.csv", "-t", "y", "--n-jobs", "0"], "n_jobs=0 leaves no process to do the work"),
        (["fine.csv", "-t", "y", "--cv", "11"], "only 10 cases with y = 'no'; at least 11 are needed"),
        (["fine.csv", "-t", "y", "--fn", "inf"], "fn must be a finite price"),
    ],
)
def test_bad_tables_and_prices(call, tables, tmp_path, arguments, message):
    code, out, err = call("compare", tables / arguments[0], *arguments[1:], "-o", tmp_path / "out")
    assert code == 1
    assert out == ""
    assert len(err.strip().splitlines()) == 1
    assert err.startswith("recuse: ")
    assert message in err
    assert not (tmp_path / "out" / "report.html").exists()


def test_tables_of_every_kind_say_how_they_are_read(call, tmp_path):
    rows = "".join(
        f"{i},5;{i % 7}%;{1 + i % 28:02d}.02.2024;{['no', 'yes'][i + 6 * (i % 3) > 36]}\n" for i in range(60)
    )
    (tmp_path / "t.csv").write_bytes(("größe;quote;seit;y\n" + rows).encode("cp1252"))
    model, fit = tmp_path / "m.skops", ["fit", tmp_path / "t.csv", "-t", "y", "-m", "logistic-chow"]
    code, _, err = call(*fit, "-o", model)
    assert code == 0, err
    for said in (
        "recuse: t.csv: it is not UTF-8, and read as cp1252: name another encoding with --encoding.",
        "recuse: t.csv: its columns are separated by semicolons.",
        "recuse: t.csv: decimal commas in column 'größe': '0,5' is read as 0.5.",
        "recuse: t.csv: day-first dates in column 'seit': '01.02.2024' is read as 2024-02-01.",
    ):
        assert said in err.splitlines()
    # A new table that could be read in two ways is read as the first one was.
    (tmp_path / "new.csv").write_text("größe;quote;seit\n1,234;3%;03.02.2024\n1.234;3%;03.02.2024\n")
    code, out, err = call("predict", model, tmp_path / "new.csv")
    assert code == 0, err
    h = pd.read_csv(io.StringIO(out))["h"]
    exact = pd.DataFrame({"größe": [1.234, 1234.0], "quote": [0.03, 0.03], "seit": pd.to_datetime(["2024-02-03"] * 2)})
    np.testing.assert_allclose(h, recuse.decide(recuse.load(model), exact).h, rtol=1e-4)
    (tmp_path / "new.csv").write_text("größe;quote;seit\n1.5;3%;03.02.2024\n")
    code, _, err = call("predict", model, tmp_path / "new.csv")
    assert (code, err.count("holds '1.5' in row 1, where the model was fitted with numbers written like 1.234,5")) == (
        1,
        1,
    )
    assert call("predict", model, tmp_path / "new.csv", "--decimal", ".", "-o", tmp_path / "out.csv")[0] == 0


def test_a_model_of_plain_numbers_reads_decimal_commas(folder, call, tmp_path):
    """Where the new table leaves no doubt about them. Reasons are in its own writing; all else is the same."""
    frame = mixed_table()
    frame.to_csv(tmp_path / "plain.csv", index=False)
    frame.to_csv(tmp_path / "commas.csv", index=False, sep=";", decimal=",")
    model = folder / "run" / "model.skops"
    plain, commas = (
        pd.read_csv(io.StringIO(call("predict", model, tmp_path / name)[1])) for name in ("plain.csv", "commas.csv")
    )
    in_plain = commas["reason"].str.replace(r"(score = -?\d+),(\d)", r"\1.\2", regex=True)
    assert (commas["reason"] != in_plain).any()
    pd.testing.assert_frame_equal(commas.assign(reason=in_plain), plain)


def test_bad_models(folder, call, tmp_path):
    data = folder / "data.csv"
    (tmp_path / "text.skops").write_text("not a model")
    hostile, victim = tmp_path / "hostile.skops", tmp_path / "victim"
    write_model(hostile, named("os", "system", "FunctionNode"))
    for model, message in {
        "none.skops": "does not exist",
        "text.skops": "is not a model saved by recuse.save",
        "hostile.skops": "os.system, which is not trusted, and nothing of it was loaded",
    }.items():
        code, out, err = call("predict", tmp_path / model, data, "-o", tmp_path / "out.csv")
        assert (code, out) == (1, "")
        assert message in err
        assert len(err.strip().splitlines()) == 1
        assert call("inspect", tmp_path / model)[0] == 1
    assert not victim.exists()
    assert not (tmp_path / "out.csv").exists()


def test_a_killed_predict_leaves_nothing_once_the_next_has_run(folder, tmp_path):
    out, model = tmp_path / "out.csv", folder / "run" / "model.skops"
    code = (
        "import os, signal, sys, recuse.predicting as p\n"
        "p.predict_table(*sys.argv[1:], progress=lambda done: os.kill(os.getpid(), signal.SIGKILL))"
    )
    killed = subprocess.run([sys.executable, "-c", code, model, folder / "data.csv", out], timeout=LIMIT)
    assert killed.returncode == -signal.SIGKILL
    assert len(list(tmp_path.iterdir())) == 1
    assert not out.exists()
    assert run("predict", model, folder / "data.csv", "-o", out).returncode == 0
    assert list(tmp_path.iterdir()) == [out]


def test_a_digest_kept_elsewhere(folder, call, tmp_path):
    model, out = folder / "run" / "model.skops", tmp_path / "out.csv"
    code, printed, _ = call("inspect", model, "--digest")
    kept = printed.strip()
    assert (code, kept) == (0, recuse.persistence.saved_digest(model))
    assert json.loads(call("inspect", model, "--digest", "--json")[1]) == {"digest": kept}
    assert f"digest       {kept}" in call("inspect", model, "--verify", kept)[1]
    code, printed, said = call("inspect", model, "--digest", kept)
    assert (code, printed, said.count("\n")) == (2, "", 1)
    assert f"got '{kept}' besides" in said
    assert "use --verify DIGEST" in said
    assert call("predict", model, folder / "data.csv", "--verify", kept, "-o", out)[0] == 0
    out.unlink()
    other = kept[::-1]
    for arguments in (["inspect", model], ["predict", model, folder / "data.csv", "-o", out]):
        code, printed, err = call(*arguments, "--verify", other)
        assert (code, printed) == (1, "")
        assert f"has the digest {kept}, not {other}: it is another file" in err
        assert len(err.strip().splitlines()) == 1
    assert not out.exists()


def test_bad_tables_for_a_model(folder, call, tmp_path):
    model, frame = folder / "run" / "model.skops", mixed_table()
    frame.drop(columns="town").to_csv(tmp_path / "lacking.csv", index=False)
    frame["score"] = frame["score"].astype(object)
    frame.loc[7, "score"] = "high"
    frame.to_csv(tmp_path / "text.csv", index=False)
    for name, message in {
        "lacking.csv": "lacks the column 'town'",
        "text.csv": "The column 'score' holds 'high' in row 8, where the model was fitted with numbers",
    }.items():
        code, _, err = call("predict", model, tmp_path / name, "-o", tmp_path / "out.csv")
        assert code == 1
        assert message in err
        assert len(err.strip().splitlines()) == 1
        assert not (tmp_path / "out.csv").exists()


def test_other_bad_input(call, tmp_path):
    code, _, err = call("report", tmp_path)
    assert (code, "holds no summary.json" in err) == (1, True)


@pytest.mark.parametrize(
    "arguments",
    [
        ["compare", "data.csv"],
        ["compare", "--cv", "1"],
        ["compare", "--folds", "3"],
        ["fit", "data.csv"],
        ["predict", "model.skops"],
        ["predict", "model.skops", "data.csv", "--json"],
        ["dance"],
    ],
)
def test_wrong_usage(call, arguments):
    code, out, err = call(*arguments)
    assert (code, out) == (2, "")
    assert "Usage" in err


def test_the_package_is_the_command_line_too():
    done = subprocess.run([sys.executable, "-m", "recuse", "--version"], capture_output=True, text=True, timeout=LIMIT)
    assert (done.returncode, done.stderr) == (0, "")
    assert recuse.__version__ in done.stdout


@pytest.mark.parametrize(
    "arguments", [["--help"], ["compare", "--help"], ["--version"], ["methods", "--json"]], ids=" ".join
)
def test_help_and_the_list_of_methods_are_light(arguments):
    """What takes time is to import packages: these need none of them."""
    heavy = "{'numpy', 'pandas', 'sklearn', 'numba', 'rich', 'jinja2'}"
    code = f"import atexit, sys; atexit.register(lambda: print(sorted({heavy} & set(sys.modules)))); "
    code += f"from recuse.cli import main; main({arguments})"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=LIMIT)
    assert done.returncode == 0
    assert done.stdout.splitlines()[-1] == "[]"


def test_inspect_imports_what_the_model_needs(folder):
    """The file is read in full, by scikit-learn and skrub, of which the model is made, and with what these import."""
    heavy = "{'numba', 'lightgbm', 'catboost', 'xgboost', 'distributed', 'recuse.ensemble', 'recuse.comparison'}"
    code = f"import atexit, sys; atexit.register(lambda: print(sorted({heavy} & set(sys.modules)))); "
    code += f"from recuse.cli import main; main(['inspect', {str(folder / 'run' / 'model.skops')!r}])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=LIMIT)
    assert done.returncode == 0
    assert "thresholds" in done.stdout
    assert done.stdout.splitlines()[-1] == "[]"


def test_version(call):
    assert call("--version")[1].strip() == recuse.__version__


@pytest.mark.parametrize(
    ("typed", "offered"),
    [
        ("recuse rep", {"report", "reproduce"}),
        ("recuse compare --methods logistic-chow,double", {"logistic-chow,double-hinge", "logistic-chow,double-ramp"}),
        ("recuse fit -m forest-", {"forest-no-reject", "forest-chow", "forest-tuned"}),
        ("recuse reproduce double", {"double-hinge", "double-ramp"}),
        ("recuse predict --cap", {"--capacity"}),
    ],
)
def test_the_shell_completes(typed, offered):
    environment = os.environ | {"_RECUSE_COMPLETE": "complete_bash", "COMP_WORDS": typed}
    environment |= {"COMP_CWORD": str(len(typed.split()) - 1)}
    code = "import sys; sys.argv = ['recuse']; from recuse.cli import main; main()"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=LIMIT, env=environment)
    assert set(done.stdout.split()) == offered


def test_completion_can_be_installed():
    """The script that --install-completion puts into the shell's start-up file."""
    environment = os.environ | {"_TYPER_COMPLETE_TEST_DISABLE_SHELL_DETECTION": "1"}
    done = run("--show-completion", "bash", env=environment)
    assert done.returncode == 0
    assert "complete_bash" in done.stdout


def test_an_interrupt_is_one_line(monkeypatch, call):
    def interrupted(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr("recuse.comparison.cross_validation.load_cases", interrupted)
    code, _, err = call("compare")
    assert code == 130
    assert "resumes where it stopped" in err


def test_help_names_the_papers(call):
    from recuse.reproduce import PROTOCOLS

    code, out, _ = call("reproduce", "--help")
    assert code == 0
    assert all(name in out for name in PROTOCOLS)


@pytest.mark.parametrize("command", ["compare", "fit", "predict"])
def test_help_says_that_a_table_may_be_a_folder(call, command):
    code, out, _ = call(command, "--help")
    assert code == 0
    assert "a folder of Parquet files" in " ".join(out.replace("│", " ").split())


@pytest.mark.filterwarnings("default:.*identifier")
def test_columns_are_dropped_and_identifiers_told(call, tmp_path):
    table = mixed_table()
    table.insert(0, "id", range(100, 100 + len(table)))
    table["note"] = [f"case {i}" for i in range(len(table))]
    table.to_csv(tmp_path / "data.csv", index=False)
    one = ["--methods", "logistic-chow", "-o", tmp_path / "run"]
    code, _, err = call("compare", tmp_path / "data.csv", *SMALL, *one, "--drop", "note")
    assert code == 0
    hint = "column 'id' holds a different value in every row and looks like an identifier: leave it out with --drop id"
    assert f"recuse: warning: data.csv: {hint}" in err
    assert "'note'" not in err
    assert hint.replace("'", "&#39;") in (tmp_path / "run" / "report.html").read_text()
    before = {path.name for path in (tmp_path / "run" / ".cache").iterdir()}
    code, _, err = call("compare", tmp_path / "data.csv", *SMALL, *one, "--drop", "id, note", "--drop", "town")
    assert code == 0
    assert err.startswith(TOLD)
    assert "run holds a finished run with other settings (drop): its report and its model are replaced" in err
    assert len({path.name for path in (tmp_path / "run" / ".cache").iterdir()} - before) == 1  # another run
    facts = json.loads((tmp_path / "run" / "run.json").read_text())
    assert facts["arguments"]["drop"] == ["id", "note", "town"]
    assert facts["data"]["columns"] == ["score", "since", "member"]
    assert "Left out: id, note, town." in (tmp_path / "run" / "report.html").read_text()
    table.drop(columns=["id", "note", "town"]).to_csv(tmp_path / "new.csv", index=False)
    code, _, err = call("predict", tmp_path / "run" / "model.skops", tmp_path / "new.csv", "-o", tmp_path / "out.csv")
    assert code == 0, err
    code, _, err = call("compare", tmp_path / "data.csv", *SMALL, *one, "--drop", "notes")
    assert (code, err) == (1, "recuse: data.csv has no column 'notes' to leave out: did you mean 'note'?\n")
    fitting = [
        "-t",
        "default",
        "--positive",
        "bad",
        "-m",
        "logistic-chow",
        "-o",
        tmp_path / "m.skops",
        "--drop",
        "id,note",
    ]
    code, _, err = call("fit", tmp_path / "data.csv", *fitting)
    assert code == 0
    assert "identifier" not in err
    code, out, _ = call("inspect", tmp_path / "m.skops", "--json")
    assert json.loads(out)["columns"] == {"score": "number", "town": "text", "since": "date", "member": "yes/no"}


@pytest.mark.filterwarnings("default:.*positive outcome")
@pytest.mark.parametrize("command", ["compare", "fit"])
def test_the_positive_outcome_is_told_and_a_guess_is_called_a_guess(folder, call, tmp_path, command):
    one = {"compare": ["--methods", "logistic-chow", "--cv", "2", "--n-jobs", "1"], "fit": ["-m", "logistic-chow"]}
    arguments = [command, folder / "data.csv", "-t", "default", *one[command], "-o", tmp_path / "out"]
    code, _, err = call(*arguments)
    assert code == 0
    told = "the positive outcome is default = 'good', 111 of 160 cases (69.4%); --positive bad would exchange the two"
    assert f"recuse: data.csv: {told} prices.\n" in err
    assert "recuse: warning: data.csv: 'good' is taken as the positive outcome of 'default'" in err
    assert "--positive good or --positive bad" in err
    code, _, err = call(*arguments, "--positive", "bad")
    assert code == 0
    assert TOLD in err
    assert "warning" not in err


def test_a_run_folder_of_another_table_is_refused_unless_it_may_be_overwritten(folder, call, tmp_path):
    out, one = tmp_path / "run", ["--methods", "logistic-chow"]
    mixed_table(seed=1).to_csv(tmp_path / "other.csv", index=False)
    assert call("compare", folder / "data.csv", *SMALL, *one, "-o", out)[0] == 0
    (out / "mine.txt").write_text("keep")
    before = {path.name: path.read_bytes() for path in out.iterdir() if path.is_file()}
    code, printed, err = call("compare", tmp_path / "other.csv", *SMALL, *one, "-o", out)
    assert (code, printed) == (1, "")
    assert err.splitlines()[-1] == (
        f"recuse: out='{out}' holds the results of another table, 'data.csv': give another folder, or replace them "
        "with --overwrite (in Python, overwrite=True)."
    )
    assert {path.name: path.read_bytes() for path in out.iterdir() if path.is_file()} == before
    # The same table goes on, whatever else has changed.
    assert call("compare", folder / "data.csv", *SMALL, *one, "--drop", "town", "--fn", "4", "-o", out)[0] == 0
    assert call("compare", tmp_path / "other.csv", *SMALL, *one, "-o", out, "--overwrite")[0] == 0
    assert json.loads((out / "run.json").read_text())["data"]["name"] == "other.csv"
    assert (out / "mine.txt").read_text() == "keep"
    assert call("compare", folder / "data.csv", *SMALL, *one, "-o", out)[0] == 1


GROUPED = ["-t", "ill", "--positive", "yes", "--n-jobs", "1", "--repeats", "1", "--json", "--methods", "boosting-chow"]


def row_of(out, method):
    """A row of the leaderboard that was printed as JSON."""
    return next(row for row in json.loads(out)["leaderboard"] if row["method"] == method)


def true_cost(model, table, target, costs):
    """What a saved model costs on new cases, which need no column with groups or time."""
    decisions = recuse.decide(recuse.load(model), table, reasons=False)
    return expected_cost(table[target], decisions, costs=costs, pos_label="yes")


@pytest.mark.filterwarnings("ignore:.*looks like")
def test_groups_show_what_new_patients_cost(call, tmp_path):
    """80 patients with five visits each: without --groups the cost shown is a fraction of the truth."""
    patients(80, seed=0).to_csv(tmp_path / "visits.csv", index=False)
    compare = ["compare", tmp_path / "visits.csv", *GROUPED]
    code, without, _ = call(*compare, "--drop", "who", "-o", tmp_path / "without")
    assert code == 0
    code, grouped, err = call(*compare, "--groups", "who", "-o", tmp_path / "grouped")
    assert code == 0
    assert "warning" not in err
    fit = ["fit", tmp_path / "visits.csv", "-t", "ill", "--positive", "yes", "-m", "boosting-chow", "--groups", "who"]
    assert call(*fit, "-o", tmp_path / "m.skops")[0] == 0
    truth = true_cost(tmp_path / "m.skops", patients(2000, seed=1).drop(columns="who"), "ill", recuse.Costs(1, 5, 0.3))
    shown = row_of(grouped, "boosting-chow")
    assert row_of(without, "boosting-chow")["cost"] < 0.4 * truth
    assert shown["cost_low"] < truth < shown["cost_high"]
    assert shown["cost"] == pytest.approx(truth, rel=0.5)
    # It is an illness per patient that the features hardly tell: nothing beats the review of every case.
    assert json.loads(grouped)["winner"] == "send-all"
    page = (tmp_path / "grouped" / "report.html").read_text(encoding="utf-8")
    assert "Cases of one group (who: 80) were never on both sides of a fold." in page
    decisions = pd.read_csv(tmp_path / "grouped" / "decisions.csv")
    assert (decisions.groupby(np.repeat(np.arange(80), 5))["fold"].nunique() == 1).all()
    facts = json.loads((tmp_path / "grouped" / "run.json").read_text())
    assert facts["arguments"]["groups"] == "who"
    assert "who" not in facts["data"]["columns"]


def test_time_shows_what_comes_next_costs(call, tmp_path):
    """A world that turns: models of shuffled cases know the future, and the cost shown is too low."""
    table = drifting(1200, seed=0).sample(frac=1, random_state=0)
    table.to_csv(tmp_path / "cases.csv", index=False)
    options = ["-t", "y", "--positive", "yes", "--n-jobs", "1", "--repeats", "1", "--methods", "boosting-chow"]
    compare = ["compare", tmp_path / "cases.csv", *options]
    code, shuffled, _ = call(*compare, "--json", "-o", tmp_path / "shuffled")
    assert code == 0
    code, timed, err = call(*compare, "--json", "--time", "day", "-o", tmp_path / "timed")
    assert code == 0
    assert "warning" not in err
    fit = ["fit", tmp_path / "cases.csv", "-t", "y", "--positive", "yes", "-m", "boosting-chow", "--time", "day"]
    assert call(*fit, "-o", tmp_path / "m.skops")[0] == 0
    upcoming = drifting(400, seed=1, start=1.0).drop(columns="day")
    truth = true_cost(tmp_path / "m.skops", upcoming, "y", recuse.Costs(1, 5, 0.3))
    assert row_of(shuffled, "boosting-chow")["cost"] < 0.75 * truth
    assert row_of(timed, "boosting-chow")["cost"] == pytest.approx(truth, rel=0.3)
    assert json.loads(timed)["repetitions"]["why"] == "there is one way to split by time"
    decisions = pd.read_csv(tmp_path / "timed" / "decisions.csv")
    days = table["day"].to_numpy()[decisions["case"] - 1]
    assert len(decisions) == 1000
    assert all(
        days[decisions["fold"] == fold].max() < days[decisions["fold"] == fold + 1].min() for fold in range(1, 5)
    )
    code, printed, _ = call(*compare, "--time", "day", "-o", tmp_path / "timed")
    assert "all figures are about the last 1,000 of 1,200 cases; the first 200 only train" in printed


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--groups", "c"], "has no column 'c' with the groups"),
        (["--time", "c"], "has no column 'c' with the time"),
        (["--groups", "a", "--time", "b"], "groups and time do not go together"),
        (["--time", "b", "--repeats", "2"], "repeats=2 does not go with time='b'"),
    ],
)
def test_groups_and_time_that_cannot_be_used(call, tables, tmp_path, options, message):
    code, out, err = call("compare", tables / "fine.csv", "-t", "y", *options, "-o", tmp_path / "out")
    assert (code, out) == (1, "")
    assert len(err.strip().splitlines()) == 1
    assert message in err


@pytest.mark.parametrize("repeats", ["0", "-1", "1.5", "often"])
def test_repeats_are_auto_or_a_number(call, repeats):
    code, out, err = call("compare", "--repeats", repeats)
    assert (code, out) == (2, "")
    assert "neither auto nor a number of 1 or more" in " ".join(err.split())


def test_repetitions_are_chosen_unless_they_are_given(call, tmp_path):
    mixed_table(100).to_csv(tmp_path / "data.csv", index=False)
    options = [*SMALL[: SMALL.index("--repeats")], "-o", tmp_path / "run"]
    code, out, _ = call("compare", tmp_path / "data.csv", *options, "--json")
    found = json.loads(out)["repetitions"]
    assert code == 0
    assert 1 < found["done"] <= 10
    code, out, _ = call("compare", tmp_path / "data.csv", *options, "--repeats", "2", "--json")
    assert json.loads(out)["repetitions"] == {"done": 2, "steady": None, "why": "as asked"}
