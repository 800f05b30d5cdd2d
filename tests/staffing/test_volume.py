"""Money and people: what is understood, and what is said of it."""

import pytest

from recuse.report import Volume


@pytest.mark.parametrize(
    ("text", "cases", "period"),
    [
        ("12000/month", 12_000, "month"),
        ("12,000 / Month", 12_000, "month"),
        ("500 per week", 500, "week"),
        ("0.5/day", 0.5, "day"),
        ("3000/quarters", 3_000, "quarter"),
        ("12 000 per year", 12_000, "year"),
        ("1,234,567/year", 1_234_567, "year"),
    ],
)
def test_volumes_as_people_write_them(text, cases, period):
    found = Volume.of(text)
    assert (found.cases, found.period) == (cases, period)


@pytest.mark.parametrize(
    ("number", "message"),
    [
        ("2.500", "'2.500' may be 2500 or 2.5: write 2500, or 2.5"),
        ("1.234.567", "is no number: write 1234567"),
        ("2,5", "is no number: write 2.5"),
        ("1.200,50", "is no number: write 1200.50"),
    ],
)
def test_volumes_in_another_writing_are_asked_about(number, message):
    with pytest.raises(ValueError, match=f"volume='{number}/month': .*{message}"):
        Volume.of(f"{number}/month")


def test_hours_of_other_periods_follow_from_those_of_a_month():
    assert Volume.of("1/month").hours_per_reviewer == 120
    assert Volume.of("1/year").hours_per_reviewer == 1440
    assert Volume.of("1/week").hours_per_reviewer == pytest.approx(27.6, abs=0.01)
    assert Volume.of("1/month", hours_per_reviewer=90).hours_per_reviewer == 90


@pytest.mark.parametrize("text", ["12000", "12000/moon", "many/month", "", "/month", "-5/month", "1e3/month"])
def test_what_is_not_understood(text):
    with pytest.raises(ValueError, match=f"volume='{text}' is not understood; write a number of cases and the period"):
        Volume.of(text)


@pytest.mark.parametrize(
    ("others", "message"),
    [
        ({"minutes_per_case": 0}, "minutes_per_case must be greater than 0; got 0"),
        ({"hours_per_reviewer": -1}, "hours_per_reviewer must be greater than 0; got -1"),
        ({"currency": "pieces of eight"}, "currency='pieces of eight' is too long"),
    ],
)
def test_what_cannot_be(others, message):
    with pytest.raises(ValueError, match=message):
        Volume.of("10/day", **others)
    with pytest.raises(ValueError, match="cases must be greater than 0"):
        Volume.of("0/day")


def test_the_sentence_counts_money_and_people():
    said = Volume.of("12000/month", currency="EUR", minutes_per_case=6).sentences(
        (0.2, 0.1, 0.3), (0.1, 0.0, 0.2), 0.25
    )
    assert "it costs 2,400 EUR [1,200, 3,600] a month" in said
    assert "it saves 1,200 EUR [0, 2,400]" in said
    assert "3,000 cases a month go to manual review: 300 hours at 6 minutes each, the work of 2.5 people" in said
    assert "instead of 10.0 for every case" in said
    everything = Volume.of("100/day", minutes_per_case=6).sentences((1, 1, 1), (0, 0, 0), 1.0)
    assert "instead of" not in everything
    assert everything.endswith(" hours a day, as for every case.")
    assert Volume.of("100/day").sentences((1, 1, 1), (0, 0, 0), 0.1).endswith("10 cases a day go to manual review.")
