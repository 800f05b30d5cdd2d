"""A case is given to reviewers once, unless it is to be seen again; packets open in spreadsheets of any country."""

import codecs

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from recuse.reviews import ReviewLog, read_verdicts, write_packets
from recuse.reviews.drawing import Sampling, draw
from recuse.reviews.tasks import why_suggested

from .reviewers import read_packet


@pytest.fixture
def write(model_file, answers_file, tmp_path):
    def written(answers=answers_file, **options):
        options = {"audit": 0.1, "seed": 4} | options
        return write_packets(model_file, answers, tmp_path / "out", log=tmp_path / "reviews.jsonl", **options)

    return written


@pytest.fixture
def cases_of(tmp_path):
    def cases(draw):
        return ReviewLog(tmp_path / "reviews.jsonl").to_pandas().query("draw == @draw")["case"].tolist()

    return cases


def test_a_second_draw_leaves_out_what_was_given_and_says_so(write, cases_of, answers_file):
    first = write(capacity=40)
    second = write(capacity=40)
    assert first.given_before == 0
    assert "given out before" not in str(first)
    assert second.given_before == first.rejected + first.audited
    assert f"; {second.given_before} cases of these answers were given out before; head" in str(second)
    assert not set(cases_of("1")) & set(cases_of("2"))
    assert second.rejected == 40
    assert second.left_out == first.left_out - 40
    answers = pd.read_csv(answers_file).set_index("case")
    waiting = answers[(answers["kind"] != "accept") & ~answers.index.isin(cases_of("1"))]
    assert set(waiting["r"].sort_values(kind="stable").index[:30]) <= set(cases_of("2"))


def test_cases_are_given_again_where_that_is_asked_for(write, cases_of):
    first = write(capacity=40)
    second = write(capacity=40, again=True)
    assert second.given_before == first.rejected + first.audited
    assert second.left_out == first.left_out
    assert len(set(cases_of("1")) & set(cases_of("2"))) >= 30  # the most urgent ones


def test_nothing_is_written_where_all_was_given(write, tmp_path):
    write(audit=0)
    before = (tmp_path / "reviews.jsonl").read_bytes()
    with pytest.raises(
        ValueError, match=r"nothing more to review: \d+ of their cases were given out before, .*--again"
    ):
        write(audit=0)
    assert (tmp_path / "reviews.jsonl").read_bytes() == before


def test_other_answers_are_other_cases(write, answers_file, tmp_path):
    write(audit=0)
    other = tmp_path / "other.csv"
    pd.read_csv(answers_file, dtype=str).drop(columns="debt").to_csv(other, index=False)
    assert write(answers=other, audit=0).given_before == 0


@given(st.data())
def test_only_free_cases_are_drawn_and_probabilities_are_those_among_them(data):
    n = data.draw(st.integers(2, 40))
    flags = st.lists(st.booleans(), min_size=n, max_size=n).map(np.array)
    rejected, free = data.draw(flags), data.draw(flags)
    sampling = Sampling(1.0, data.draw(st.none() | st.integers(1, 20)), 0.5)
    rng = np.random.default_rng(data.draw(st.integers(0, 99)))
    drawn = draw(rejected, rng.normal(size=n), sampling, rng, free)
    assert free[drawn.rows].all()
    assert set(np.flatnonzero(~rejected & free)) <= set(drawn.rows)
    chances = drawn.probabilities[rejected[drawn.rows]]
    assert np.isclose((1 / chances).sum(), (rejected & free).sum())


@pytest.fixture
def german_answers(answers_file, tmp_path):
    answers = pd.read_csv(answers_file, dtype={"customer": str})
    answers["income"] = [f"{income:.2f}".replace(".", ",") for income in answers["income"]]
    answers.to_csv(tmp_path / "german.csv", index=False)
    return tmp_path / "german.csv"


@pytest.mark.parametrize(("options", "separator"), [({}, ";"), ({"separator": ","}, ","), ({"separator": "tab"}, "\t")])
def test_packets_open_where_numbers_have_decimal_commas(write, german_answers, tmp_path, options, separator):
    written = write(answers=german_answers, capacity=20, **options)
    content = written.files[0].read_bytes()
    assert content.startswith(codecs.BOM_UTF8 + separator.join(["task", "customer", "income"]).encode())
    packet = pd.read_csv(written.files[0], sep=separator, dtype=str, keep_default_na=False, encoding="utf-8-sig")
    assert packet["remark"].str.contains("größer").any()
    packet.assign(verdict="bad").to_csv(written.files[0], sep=separator, index=False, encoding="utf-8-sig")
    assert read_verdicts(written.files[0], log=tmp_path / "reviews.jsonl", reviewer="anna").taken == len(packet)


def test_packets_of_other_tables_have_commas_unless_something_else_is_asked_for(write, tmp_path):
    assert list(read_packet(write(capacity=5).files[0]))[:2] == ["task", "customer"]
    assert b";income;" in write(capacity=5, separator=";").files[0].read_bytes().splitlines()[0]
    for wrong in ({"separator": "::"}, {"separator": "."}, {"separator": ";", "format": "label-studio"}):
        with pytest.raises(ValueError, match="must be one character such as ';', or 'tab', and is for CSV packets"):
            write(capacity=5, **wrong)


def test_packets_say_from_which_probability_on_a_class_is_suggested(write):
    packet = read_packet(write(capacity=40).files[0])
    assert set(packet["suggested_because"]) == {"from a probability of 0.33 on, 'bad' is the cheaper answer"}
    assert ((packet["probability"].astype(float) > 1 / 3) == (packet["suggested"] == "bad")).all()


@pytest.mark.parametrize(
    ("prices", "probability", "said"),
    [
        ({"fp": 600.0, "fn": 4000.0}, 0.155, True),
        ({"fp": 600.0, "fn": 4000.0}, 0.1, False),  # suggested for another reason
        ({"fp": 600.0, "fn": 4000.0}, None, False),
        ({"fp": 1.0, "fn": 1.0}, 0.7, False),  # needs no explanation
        ({"errors": {}}, 0.7, False),
    ],
)
def test_it_is_said_only_where_it_is_so(prices, probability, said):
    answers = [{"forced": "bad", "probability": probability}]
    assert (why_suggested(answers, "bad", prices) is not None) == said
