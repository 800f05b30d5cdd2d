"""A cell that a spreadsheet wrote in its own way is the same cell; another value is not."""

import pandas as pd
import pytest

from recuse.reviews import ReviewLog, read_verdicts, write_packets
from recuse.reviews.cells import GivenCells
from recuse.tables import restored


def grouped(amount):
    return f"{amount:,.2f}".translate(str.maketrans(",.", ".,"))


def plain(amount):
    return f"{amount:.2f}".replace(".", ",")


COLUMNS = {
    "rate": ["3,81 %", "-0,50 %", "12,00 %", "n.k."],
    "amount": ["16.579,46", "938,00", "-1.200.000,50", "1.000"],
    "day": ["24.12.2024", "01.02.2024", "31.01.2024", ""],
    "iso": ["2024-12-24", "2024-02-01", "2024-01-31", "2024-03-01"],
    "count": ["1234", "7", "0", "12"],
    "measure": ["1234.5", "0.25", "-3.125", "1e-07"],
    "name": ["=1+1", "Töchter", "1,5 t", "ja"],
}
TASKS = [
    {"draw": "1", "task": str(row), "shown": {name: cells[row] for name, cells in COLUMNS.items()}} for row in range(4)
]
SAME = {
    "rate": [["3,81%", "3.81%", "0.0381", "3,810 %"], ["-0,5%", "-0.005"], ["12%", "0.12"], ["n.k.", "N.K."]],
    "amount": [["16579,46", "16579.46", "16,579.46"], ["938", "938,0"], ["-1200000,5"], ["1000", "1.000,00"]],
    "day": [["2024-12-24", "2024-12-24 00:00:00", "24.12.24", "12/24/2024"], ["1.2.2024", "2024-02-01"], [], [""]],
    "iso": [["24.12.2024", "12/24/2024", "2024-12-24 00:00:00"], ["01.02.2024"], [], []],
    "count": [["1.234", "1,234", "1234,0"], ["7,0"], ["-0"], []],
    "measure": [["1234,5", "1.234,5"], ["0,25", "0.250"], ["-3,125"], ["1E-07", "0.0000001"]],
    "name": [["=1+1"], ["töchter"], ["1,5 T"], ["JA"]],
}
OTHER = {
    "rate": [["3,82%", "3,81", "3.81", "381", ""], ["0,5%"], ["n.k."], ["0", ""]],
    "amount": [["16579,47", "1657946", "-16579,46"], ["93800"], ["-1200000"], ["1", "1,000.5"]],
    "day": [["24.11.2024", "2024-12-25", "24.12.2023", "2024-12-24 08:00:00"], ["", "45323"], [], ["01.02.2024"]],
    "iso": [["25.12.2024", "2024-12-24T01:00:00"], ["03.02.2024"], [], []],
    "count": [["12345", "123.4", "12,34"], ["", "70"], [], []],
    "measure": [["12345", "1234.6", "12.345"], ["25", "0.26"], [], []],
    "name": [["2"], ["Tochter"], ["1.5 t", "15 t"], ["nein", "True"]],
}


@pytest.mark.parametrize("name", COLUMNS)
def test_the_same_value_in_another_writing_is_no_change(name):
    columns = GivenCells(TASKS)
    for task, writings in zip(TASKS, SAME[name], strict=True):
        for now in writings:
            assert columns.changed(task, task["shown"] | {name: now}) == {}, now


@pytest.mark.parametrize("name", COLUMNS)
def test_another_value_is_a_change(name):
    columns = GivenCells(TASKS)
    for task, writings in zip(TASKS, OTHER[name], strict=True):
        for now in writings:
            assert columns.changed(task, task["shown"] | {name: now}) == {name: now}
        assert columns.changed(task, {key: task["shown"][key] for key in COLUMNS if key != name}) == {name: None}


def test_a_packet_with_german_numbers_comes_back_from_a_spreadsheet(model_file, answers_file, tmp_path):
    answers = pd.read_csv(answers_file, dtype={"customer": str})
    answers["rate"] = [f"{plain(100 * abs(debt))} %" for debt in answers["debt"]]
    answers["amount"] = [grouped(10_000 * income) for income in answers["income"]]
    order = ["case", "customer", "rate", "amount"]
    answers[order + [name for name in answers if name not in (*order, "income", "debt", "remark")]].to_csv(
        tmp_path / "answers.csv", index=False
    )
    log = tmp_path / "reviews.jsonl"
    written = write_packets(model_file, tmp_path / "answers.csv", tmp_path, log=log, capacity=40, seed=1)
    packet = pd.read_csv(written.files[0], sep=";", dtype=str, keep_default_na=False)
    assert restored(packet)["amount"].str.contains(".", regex=False).any()
    packet["rate"] = packet["rate"].str.replace(" ", "")
    packet["amount"] = restored(packet)["amount"].str.replace(".", "")
    packet.assign(verdict="bad").to_csv(written.files[0], index=False, sep=";", encoding="cp1252")
    taken = read_verdicts(written.files[0], log=log, reviewer="anna")
    assert taken.taken == len(packet)
    assert ReviewLog(log).to_pandas()["changed"].isna().all()
