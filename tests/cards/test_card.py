"""The card of a run: every figure is where its source says, and texts of others cannot become markup."""

import json
import re
import shutil
import tomllib

import pytest
from typer.testing import CliRunner

from recuse.cards import make_card, write_card, write_questions
from recuse.cards.markdown import escaped
from recuse.cards.owner import QUESTIONS
from recuse.cli import app
from recuse.inspecting import inspect_model
from recuse.reviews import ReviewLog, TamperedLogError

from .conftest import REVIEWERS
from .tracing import Places, figures_of

WATCHED = {"promises": "error<=0.003", "reference": 200}
N_QUESTIONS = sum(map(len, QUESTIONS.values()))


@pytest.fixture(scope="module")
def owner(tmp_path_factory):
    path = tmp_path_factory.mktemp("owner") / "owner.toml"
    path.write_text(
        '[purpose]\nowner = "Credit | <script>alert(1)</script>\\n# Heading [x](http://evil)"\nnot_for = " "\n'
        "[prices]\nwhen = 2026-03-01\n",
        encoding="utf-8",
    )
    return path


@pytest.fixture(scope="module")
def card(run, log, owner):
    return make_card(run, log=log, owner=owner, **WATCHED)


@pytest.fixture
def copied(run, tmp_path):
    return shutil.copytree(run, tmp_path / "run", ignore=shutil.ignore_patterns(".cache"))


def changed(folder, name, change):
    """Change what a file of a run says."""
    content = json.loads((folder / name).read_bytes())
    change(content)
    (folder / name).write_text(json.dumps(content))


def section_of(card, name):
    return next(section for section in card.as_dict()["sections"] if section["name"] == name)


def texts_of(card, name):
    """The text of every cell and note of a section, joined."""
    section = section_of(card, name)
    cells = [cell for table in section["tables"] for row in table["rows"] for cell in row]
    return "\n".join(cell["text"] for cell in [*cells, *section["notes"]])


def assert_traced(card, *files):
    places = Places(*files)
    figures = list(figures_of(json.loads(json.dumps(card.as_dict(), allow_nan=False))))
    stated = [figure for figure in figures if not (figure.get("question") and figure["value"] is None)]
    for figure in stated:
        found = places.value(figure["source"])
        found = str(found) if figure.get("question") else found
        assert figure["value"] == found, figure
    return {figure["source"].partition("#")[0] for figure in stated}


def test_every_figure_is_where_its_source_says(card, run, log, owner):
    kinds = assert_traced(card, *run.iterdir(), log, owner)
    inspected = "recuse inspect model.skops"
    assert {"run.json", "summary.json", inspected, "reviews.jsonl", "owner.toml"} <= kinds
    assert {"recuse review verify reviews.jsonl --json"} <= kinds
    assert any(kind.startswith("recuse watch model.skops") for kind in kinds)


def test_no_number_stands_without_a_source(card):
    own = r"95% intervals|reviewer \d|SHA-256"
    for section in card.as_dict()["sections"]:
        cells = [cell for table in section["tables"] for row in table["rows"] for cell in row]
        for cell in [*cells, *section["notes"]]:
            assert cell["figures"] or not re.search(r"\d", re.sub(own, "", cell["text"])), cell


def test_a_figure_follows_its_file(run, copied):
    changed(copied, "summary.json", lambda summary: summary["leaderboard"][0].update(cost=0.77777))
    changed(copied, "run.json", lambda facts: facts["arguments"]["costs"].update(fp=123.5))
    before, after = make_card(run).markdown(), make_card(copied).markdown()
    assert "0.7778" in after
    assert "0.7778" not in before
    assert "123.5" in after
    assert "123.5" not in before


def test_a_card_without_a_log_says_what_is_not_known(run):
    card = make_card(run)
    assert_traced(card, *run.iterdir())
    assert card.to_be_stated == N_QUESTIONS
    assert f"Still to be stated by the owner: {N_QUESTIONS} of {N_QUESTIONS} questions." in card.markdown()
    assert card.markdown().count("**To be stated by the owner:**") == N_QUESTIONS
    assert "No log of reviews was given" in texts_of(card, "limits")


def test_the_same_files_make_the_same_card(card, run, log, owner):
    again = make_card(run, log=log, owner=owner, **WATCHED)
    assert again.markdown() == card.markdown()
    assert again.as_dict() == card.as_dict()


def test_overridden_cases_are_those_whose_verdict_is_another_class(card, log, run):
    reviews = ReviewLog(log).to_pandas()
    mine = reviews[(reviews["draw"] != "batch 90") & reviews["verdict"].notna()]
    audit = mine[(mine["stratum"] == "audit") & ~mine["blind"].astype(bool)]
    overridden = int((audit["verdict"] != audit["forced"]).sum())
    assert f"({overridden} of {len(audit)})" in texts_of(card, "oversight")
    assert "accepted (audit), blind" in texts_of(card, "oversight")


def test_reviewers_are_numbered_unless_they_are_to_be_named(card, run, log):
    assert not any(name in json.dumps(card.as_dict()) for name in REVIEWERS)
    assert "reviewer 3" in card.markdown()
    assert "reviewer 4" not in card.markdown()
    named = make_card(run, log=log, name_reviewers=True, **WATCHED)
    assert_traced(named, *run.iterdir(), log)
    assert "ben" in texts_of(named, "oversight")
    assert "<b>" not in named.markdown()


def test_alarms_and_promises_are_those_of_watch(card, run, log):
    watched = "recuse watch model.skops --log reviews.jsonl --json --promise 'error<=0.003'"
    watched += " --alpha 0.05 --reference 200"
    printed = Places(*run.iterdir(), log)._print(watched)
    assert [alarm["kind"] for alarm in printed["alarms"]] == ["promise"]  # 7 % are wrong in that world
    assert f"ALARM {printed['alarms'][0]['sentence']}" in texts_of(card, "monitoring")


def test_a_young_log_makes_a_card_all_the_same(run, log):
    card = make_card(run, log=log, reference=100_000)
    assert "Nothing can be watched yet." in texts_of(card, "monitoring")
    assert_traced(card, *run.iterdir(), log)


@pytest.mark.parametrize(("name", "value"), [("alpha", 7), ("reference", 1), ("promises", "mistakes<=0.1")])
def test_what_cannot_be_watched_is_refused_and_not_put_off(run, log, name, value):
    with pytest.raises(ValueError, match=r"alpha|reference|mistakes"):
        make_card(run, log=log, **{name: value})


def test_a_log_that_was_tampered_with_is_refused(run, log, tmp_path):
    for name in (log.name, f"{log.name}.head"):
        shutil.copy(log.with_name(name), tmp_path)
    content = (tmp_path / log.name).read_bytes()
    (tmp_path / log.name).write_bytes(content.replace(b'"verdict":"yes"', b'"verdict":"no"', 1))
    with pytest.raises(TamperedLogError):
        make_card(run, log=tmp_path / log.name)


def test_a_head_that_was_kept_is_compared(run, log):
    head = ReviewLog(log).head
    assert "The log holds the head" in texts_of(make_card(run, log=log, head=head, **WATCHED), "oversight")
    with pytest.raises(TamperedLogError, match="none of its"):
        make_card(run, log=log, head="0" * 64)


def test_a_log_of_another_model_is_refused(run, tmp_path):
    log = ReviewLog(tmp_path / "reviews.jsonl")
    log.append([{"kind": "note", "text": "nothing yet"}])
    with pytest.raises(ValueError, match="holds no cases of the model"):
        make_card(run, log=log.path)


def test_a_guarantee_stands_in_its_own_words(copied):
    promise = {"words": "With confidence 0.95 so much.", "holds": True, "tested": 48, "accepted": 31, "before": 35}
    changed(copied, "summary.json", lambda summary: summary.update(promise=promise))
    card = make_card(copied)
    assert_traced(card, *copied.iterdir())
    assert "With confidence 0.95 so much." in texts_of(card, "guarantee")
    assert "behind the guarantee, which rejects further cases" in texts_of(card, "model")
    assert "The model was fitted to keep no promise" in texts_of(make_card_without(copied), "guarantee")


def make_card_without(folder):
    changed(folder, "summary.json", lambda summary: summary.update(promise=None))
    return make_card(folder)


def test_segments_and_who_is_served_worse(card, run, copied):
    summary = json.loads((run / "summary.json").read_bytes())
    labels = [f"{name} = {each['segment']}" for name, rows in summary["segments"]["columns"].items() for each in rows]
    assert len(labels) >= 4
    assert all(label in texts_of(card, "groups") for label in labels)
    warning = {"column": "town", "text": "town = Ulm waits."}
    changed(copied, "summary.json", lambda content: content["segments"].update(warnings=[warning]))
    assert "Served worse: town = Ulm waits." in texts_of(make_card(copied), "groups")
    changed(copied, "summary.json", lambda content: content.update(segments=None))
    assert "No groups were looked at" in texts_of(make_card(copied), "groups")


HOSTILE = "a|b\n\n# Approved <img src=x onerror=alert(1)> `code` [link](https://evil) \u202e*bold*"


def test_texts_of_others_cannot_become_markup(run, copied, owner):
    def rename(summary):
        summary["data"]["columns"][0]["name"] = HOSTILE
        summary["data"]["hints"] = [HOSTILE]
        first = next(iter(summary["segments"]["columns"].values()))
        first[0]["segment"] = HOSTILE
        summary["segments"]["columns"][HOSTILE] = first

    changed(copied, "summary.json", rename)
    changed(copied, "run.json", lambda facts: facts["data"].update(name=HOSTILE))
    changed(copied, "run.json", lambda facts: facts["versions"].update({HOSTILE: HOSTILE}))
    card = make_card(copied, owner=owner)
    lines = card.markdown().splitlines()
    assert not re.search(r"<(img|script)|\u202e|(?<!\\)\]\(http|://", card.markdown())
    assert [line for line in lines if line.startswith("# ")] == [lines[0]]
    widths = [len(re.findall(r"(?<!\\)\|", line)) for line in lines if line.startswith("|")]
    original = [
        len(re.findall(r"(?<!\\)\|", line)) for line in make_card(run).markdown().splitlines() if line[:1] == "|"
    ]
    assert set(widths) == set(original)
    assert_traced(card, *copied.iterdir(), owner)


def test_escaping_keeps_ordinary_text():
    assert escaped("age = 30 to 40 (years), 5 %") == "age = 30 to 40 (years), 5 %"


def test_the_questions_are_written_read_and_kept(run, tmp_path):
    path = tmp_path / "owner.toml"
    write_questions(path)
    content = path.read_text(encoding="utf-8")
    assert {name: set(asked) for name, asked in tomllib.loads(content).items()} == {
        name: set(asked) for name, asked in QUESTIONS.items()
    }
    assert make_card(run, owner=path).to_be_stated == N_QUESTIONS
    path.write_text(content.replace('= ""', '= "said"'), encoding="utf-8")
    assert make_card(run, owner=path).to_be_stated == 0
    with pytest.raises(FileExistsError, match="may hold answers"):
        write_questions(path)


def test_only_what_was_answered_counts_as_stated(card):
    assert card.to_be_stated == N_QUESTIONS - 2  # the third answer is blank
    assert "2026-03-01" in card.markdown()


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("[purpose\n", "cannot be read as TOML"),
        ('[porpoise]\nowner = "x"\n', "has 'porpoise': the sections are purpose"),
        ('[purpose]\nownr = "x"\n', r"answers 'ownr' in \[purpose\]"),
        ("[purpose]\nowner = ['x']\n", "purpose.owner must be a text"),
    ],
)
def test_statements_that_cannot_be_read_are_refused(run, tmp_path, content, said):
    path = tmp_path / "owner.toml"
    path.write_text(content, encoding="utf-8")
    with pytest.raises(ValueError, match=said):
        make_card(run, owner=path)


def test_a_folder_that_is_no_run_is_refused(run, copied, tmp_path):
    with pytest.raises(ValueError, match="holds no finished run"):
        make_card(tmp_path / "nothing")
    with pytest.raises(ValueError, match="holds no finished run"):
        make_card(run / "decisions.csv")
    changed(copied, "summary.json", lambda summary: summary["data"].update(fingerprint="another"))
    with pytest.raises(ValueError, match="about different tables"):
        make_card(copied)
    (copied / "run.json").write_text("{")
    with pytest.raises(ValueError, match=r"run\.json cannot be read"):
        make_card(copied)


def test_a_method_that_was_passed_over_is_named(copied):
    def keep_reviewing(content):
        content["verdict"]["chosen"] = content["winner"] = "send-all"

    changed(copied, "summary.json", keep_reviewing)
    changed(copied, "run.json", keep_reviewing_in_the_run)
    card = make_card(copied)
    assert_traced(card, *copied.iterdir())
    assert "was asked of logistic-chow, which was not chosen" in texts_of(card, "performance")
    assert "Manual review of every case" in texts_of(card, "model")


def keep_reviewing_in_the_run(content):
    content["winner"] = "send-all"


def test_edits_stand_with_who_made_them(run, monkeypatch):
    edited = inspect_model(run / "model.skops") | {"edits": [{"sentence": "score: flatten, by Ann, because of drift"}]}
    monkeypatch.setattr("recuse.cards.running.inspect_model", lambda path: edited)
    assert "Edited: score: flatten, by Ann, because of drift" in texts_of(make_card(run), "model")


def test_a_log_without_a_promise_says_that_none_is_watched(run, log):
    assert "No promise is watched" in texts_of(make_card(run, log=log, reference=200), "monitoring")


def test_a_run_without_a_model_file(copied, log):
    (copied / "model.skops").unlink()
    card = make_card(copied)
    assert_traced(card, *copied.iterdir())
    assert "could not write its model" in texts_of(card, "model")
    with pytest.raises(ValueError, match="leave out log"):
        make_card(copied, log=log)


def test_the_command_writes_both_files(run, log, tmp_path):
    out = tmp_path / "card.md"
    arguments = ["card", str(run), "--log", str(log), "--out", str(out), "--reference", "200", "--json"]
    result = CliRunner().invoke(app, arguments)
    assert result.exit_code == 0, result.output
    assert json.loads(result.stdout) == {
        "out": str(out),
        "json": str(tmp_path / "card.json"),
        "to_be_stated": N_QUESTIONS,
    }
    made = make_card(run, log=log, reference=200)
    assert out.read_text(encoding="utf-8") == made.markdown()
    assert json.loads((tmp_path / "card.json").read_bytes()) == made.as_dict()


def test_the_command_writes_the_questions(run, tmp_path):
    result = CliRunner().invoke(app, ["card", str(run), "--template", str(tmp_path / "owner.toml")])
    assert result.exit_code == 0
    assert (tmp_path / "owner.toml").is_file()


def test_the_two_files_have_two_names(run, tmp_path):
    with pytest.raises(ValueError, match=r"such as card\.md"):
        write_card(make_card(run), tmp_path / "card.json")
