"""Packets: what reviewers see, what they cannot see, and what the log knows of it."""

import hashlib
import json
import xml.etree.ElementTree as ET

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import RandomForestClassifier
from sklearn.metrics import roc_auc_score

from recuse.persistence import saved_digest
from recuse.reviews import ReviewLog, write_packets

from .conftest import COSTS
from .reviewers import read_packet

SHOWN = ["customer", "income", "debt", "remark"]
OWN = ["decision", "kind", "forced", "probability", "h", "r", "reason"]  # what the model answered


@pytest.fixture
def write(model_file, answers_file, tmp_path):
    def written(**options):
        options = {"audit": 0.3, "seed": 4} | options
        return write_packets(model_file, answers_file, tmp_path / "out", log=tmp_path / "reviews.jsonl", **options)

    return written


@pytest.fixture
def log(tmp_path):
    return lambda: ReviewLog(tmp_path / "reviews.jsonl")


def test_all_rejected_cases_and_some_accepted_ones_go_out_once(write, log, answers_file):
    written, answers = write(packets=3), pd.read_csv(answers_file)
    table = log().to_pandas()
    packets = pd.concat([read_packet(file) for file in written.files])
    assert len(written.files) == 3
    assert packets["task"].tolist() == table["task"].tolist()
    assert table["case"].is_unique
    assert set(table.query("stratum == 'rejected'")["case"]) == set(answers.query("kind != 'accept'")["case"])
    assert written.audited == (table["stratum"] == "audit").sum() > 100
    assert written.rejected + written.audited == len(table)
    sizes = packets.groupby("task").size()
    assert (sizes == 1).all()


def test_the_log_knows_what_the_model_answered_and_how_each_case_was_drawn(write, log, answers_file, model_file):
    write(capacity=300)
    table, answers = log().to_pandas().set_index("case"), pd.read_csv(answers_file).set_index("case")
    answers = answers.loc[table.index]
    for name in ("decision", "kind", "forced", "probability", "h", "r", "reason"):
        assert (table[name] == answers[name]).all(), name
    assert (table.query("stratum == 'audit'")["sampling_probability"] == 0.3).all()
    rejected = table.query("stratum == 'rejected'")
    n_rejected = (pd.read_csv(answers_file)["kind"] != "accept").sum()
    assert np.isclose((1 / rejected["sampling_probability"]).sum(), n_rejected)
    assert (table["model"] == saved_digest(model_file)).all()
    [drawing] = log().records("draw")
    assert drawing["counts"]["cases"] == 2000
    assert drawing["answers"]["digest"] == hashlib.sha256(answers_file.read_bytes()).hexdigest()
    assert drawing["seed"] == 4
    assert drawing["prices"]["fn"] == COSTS.fn
    assert drawing["classes"] == ["bad", "good"]


def test_the_log_knows_what_was_shown(write, log, tmp_path):
    write(format="csv")
    table = log().to_pandas()
    packet = read_packet(tmp_path / "out" / "draw-1-packet-1.csv").set_index("task")
    shown = pd.DataFrame(table["shown"].tolist(), index=table["task"])
    assert (packet["customer"] == shown["customer"]).all()
    assert set(shown["remark"]) == {"=1+1", 'größer, "ok"'}
    assert set(packet["remark"]) == {"'=1+1", 'größer, "ok"'}  # no spreadsheet runs it
    [drawing] = log().records("draw")
    content = (tmp_path / "out" / "draw-1-packet-1.csv").read_bytes()
    assert drawing["packets"][0]["digest"] == hashlib.sha256(content).hexdigest()


def test_packets_with_the_answer_say_what_the_model_suggests_and_not_what_was_audited(write, log):
    written = write()
    packet = read_packet(written.files[0])
    answer = ["suggested", "suggested_because", "probability", "reason"]
    assert list(packet) == ["task", *SHOWN, *answer, "verdict", "note"]
    table = log().to_pandas()
    assert (packet["suggested"] == table["forced"]).all()
    assert (packet["verdict"] == "").all()


def cells(file):
    """Every text in a packet."""
    if file.suffix == ".csv":
        packet = read_packet(file)
        return {*packet.columns, *packet.to_numpy().ravel()}
    tasks = json.loads(file.read_text(encoding="utf-8"))
    assert all(set(task) == {"data"} and set(task["data"]) == {"task", "shown"} for task in tasks)
    return {text for task in tasks for part in task["data"]["shown"].items() for text in part}


@pytest.mark.parametrize("format", ["csv", "label-studio"])
def test_blind_packets_hold_no_answer_of_the_model(write, log, answers_file, format):
    written, answers = write(blind=True, format=format), pd.read_csv(answers_file, dtype=str)
    table = log().to_pandas()
    shown = {*SHOWN, *(text for case in table["shown"] for text in case.values())}
    if format == "csv":
        shown = shown - {"=1+1"} | {"'=1+1"}
    assert cells(written.files[0]) - set(table["task"]) - {"task", "verdict", "note", ""} == shown
    text = written.files[0].read_text(encoding="utf-8")
    answered = {str(value) for name in OWN for value in answers[name]}
    seen = set(text.replace('"', " ").replace(",", " ").split()) - shown
    assert not seen & (answered | {"abstain", "[abstain]", "accept", "ambiguity", "rejected", "audit", "bad", "good"})
    assert not [reason for reason in set(answers["reason"]) if reason in text]
    assert [file.name for file in written.files] == [f"draw-1-packet-1{written.files[0].suffix}"]


def test_a_blind_row_holds_no_score_of_its_case(write, log, answers_file):
    packet, table = read_packet(write(blind=True).files[0]), log().to_pandas()
    answers = pd.read_csv(answers_file, dtype=str).set_index("case").loc[table["case"].astype(str)]
    for row, answer in zip(packet.to_numpy(), answers[OWN].to_numpy(), strict=True):
        assert not set(row) & set(answer)


def file_facts(packets):
    """What a file tells of a row besides the case: its place, its identity, and those of its neighbours."""
    place = np.concatenate([np.arange(len(packet)) / len(packet) for packet in packets])
    file = np.repeat(np.arange(len(packets)), [len(packet) for packet in packets])
    identities = np.array([list(bytes.fromhex(task)) for packet in packets for task in packet["task"]])
    after = np.roll(identities, -1, axis=0)
    return np.column_stack([place, file, place % 2, identities, after - identities])


def guessed(facts, audited):
    """How much better than a coin a forest tells audited cases from rejected ones, in standard errors of a guess.

    It learns on half of the rows and guesses the others, so that a guess has the error of the rank sum test.
    """
    order, half = np.random.default_rng(0).permutation(len(audited)), len(audited) // 2
    learnt, asked = order[:half], order[half:]
    forest = RandomForestClassifier(40, min_samples_leaf=10, random_state=0).fit(facts[learnt], audited[learnt])
    area = roc_auc_score(audited[asked], forest.predict_proba(facts[asked])[:, 1])
    n, some = len(asked), audited[asked].sum()
    return (area - 0.5) / np.sqrt((n + 1) / (12 * some * (n - some)))


def test_nothing_in_a_blind_file_tells_audited_cases_from_rejected_ones(write, log):
    written = write(blind=True, packets=3, audit=0.6)
    facts = file_facts([read_packet(file) for file in written.files])
    audited = (log().to_pandas()["stratum"] == "audit").to_numpy()
    assert len(audited) > 1000
    assert abs(guessed(facts, audited)) < 4
    assert guessed(facts, np.sort(audited)) > 12  # were they written one after the other, it would be seen


def test_the_same_seed_draws_the_same_cases_and_another_day_others(write, log, model_file, answers_file, tmp_path):
    write(audit=0.1)
    write(audit=0.1)
    first, second = (set(part["case"]) for _, part in log().to_pandas().groupby("draw"))
    again = tmp_path / "again.jsonl"
    write_packets(model_file, answers_file, tmp_path / "again", log=again, audit=0.1, seed=4)
    assert first != second
    table = ReviewLog(again).to_pandas()
    assert set(table["case"]) == first
    assert table["task"].tolist() == log().to_pandas().query("draw == '1'")["task"].tolist()


def test_without_a_seed_nobody_knows_beforehand_what_is_audited(write, log):
    seeds = [write(seed=None).seed for _ in range(2)]
    assert seeds[0] != seeds[1]
    assert [record["seed"] for record in log().records("draw")] == seeds


def test_packets_for_reviewers_are_named_after_them(write, log):
    written = write(reviewers=["Anna K.", "ben"])
    assert [file.name for file in written.files] == ["draw-1-Anna-K.csv", "draw-1-ben.csv"]
    assert [packet["for"] for packet in log().records("draw")[0]["packets"]] == ["Anna K.", "ben"]


def test_the_labelling_page_fits_the_tasks(write, tmp_path):
    write(format="label-studio")
    page = ET.parse(tmp_path / "out" / "draw-1-labelling.xml").getroot()
    [task, *_] = json.loads((tmp_path / "out" / "draw-1-packet-1.json").read_text(encoding="utf-8"))
    assert {table.get("value") for table in page.iter("Table")} == {f"${name}" for name in ("shown", "model")}
    assert {"shown", "model"} <= set(task["data"])
    assert [choice.get("value") for choice in page.iter("Choice")] == ["bad", "good"]
    names = {element.get("name") for element in page.iter() if element.get("name")}
    assert {element.get("toName") for element in page.iter() if element.get("toName")} <= names


def test_only_columns_that_are_asked_for_are_shown(write):
    assert list(read_packet(write(show=["income"], blind=True).files[0])) == ["task", "income", "verdict", "note"]


def test_columns_called_like_those_of_a_packet_keep_their_place(model_file, answers_file, tmp_path):
    answers = pd.read_csv(answers_file, dtype=str).rename(columns={"remark": "verdict", "debt": "reason (table)"})
    answers.drop(columns="reason").to_csv(tmp_path / "answers.csv", index=False)
    written = write_packets(model_file, tmp_path / "answers.csv", tmp_path, log=tmp_path / "log.jsonl", blind=True)
    assert list(read_packet(written.files[0])) == [
        *("task", "customer", "income", "reason (table)", "verdict (table)", "verdict", "note")
    ]


@pytest.mark.parametrize("format", ["parquet", "jsonl"])
def test_answers_in_other_formats_give_the_same_packets(write, model_file, answers_file, tmp_path, format):
    answers = pd.read_csv(answers_file, dtype={"customer": str})
    other = tmp_path / f"answers.{format}"
    answers.to_parquet(other) if format == "parquet" else answers.to_json(other, orient="records", lines=True)
    found = write_packets(model_file, other, tmp_path / "other", log=tmp_path / "other.jsonl", audit=0.3, seed=4)
    packets = [read_packet(written.files[0]) for written in (write(), found)]
    numbers = ["income", "debt", "probability"]
    assert packets[0].drop(columns=numbers).equals(packets[1].drop(columns=numbers))
    assert np.allclose(*(packet[numbers].astype(float) for packet in packets))


def test_wrong_requests_are_refused_and_leave_nothing(write, model_file, answers_file, tmp_path, log):
    for options, message in [
        ({"show": ["age"]}, "show='age' is no column kept"),
        ({"format": "xml"}, "format must be one of 'csv', 'label-studio'"),
        ({"reviewers": ["a", "a"]}, "must be different names"),
        ({"packets": 0}, "packets must be 1 or more"),
    ]:
        with pytest.raises(ValueError, match=message):
            write(**options)
    bare = tmp_path / "bare.csv"
    pd.read_csv(answers_file).drop(columns=SHOWN).to_csv(bare, index=False)
    with pytest.raises(ValueError, match="reviewers would see nothing"):
        write_packets(model_file, bare, tmp_path / "out", log=tmp_path / "reviews.jsonl")
    other = tmp_path / "other.csv"
    pd.read_csv(answers_file).replace({"forced": {"good": "fine"}}).to_csv(other, index=False)
    with pytest.raises(ValueError, match="hold the class 'fine', which the model does not know"):
        write_packets(model_file, other, tmp_path / "out", log=tmp_path / "reviews.jsonl")
    no_answers = tmp_path / "table.csv"
    pd.DataFrame({"x": [1]}).to_csv(no_answers, index=False)
    with pytest.raises(ValueError, match="lacks the column 'case'"):
        write_packets(model_file, no_answers, tmp_path / "out", log=tmp_path / "reviews.jsonl")
    assert not (tmp_path / "out").exists()
    assert len(log()) == 0


def test_packets_of_another_log_are_not_overwritten(write, model_file, answers_file, tmp_path):
    written = write()
    before = written.files[0].read_bytes()
    with pytest.raises(FileExistsError, match="of another log"):
        write_packets(model_file, answers_file, tmp_path / "out", log=tmp_path / "second.jsonl")
    assert written.files[0].read_bytes() == before
    assert len(ReviewLog(tmp_path / "second.jsonl")) == 0
