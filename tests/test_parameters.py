"""Numbers that are typed: what is understood, and what is asked about."""

import pytest

from recuse.parameters import typed_count, typed_number, unmistakable


@pytest.mark.parametrize("text", ["1500", "0.125", "1e3", "-2", " 12.5 ", ".5", "1234.5", "0.250", "1.2340"])
def test_numbers_with_a_point(text):
    assert typed_number(text) == float(text)


@pytest.mark.parametrize(
    ("text", "remedy"),
    [
        ("2.500", "may be 2500 or 2.5: write 2500, or 2.5."),
        ("4,000", "may be 4000 or 4: write 4000, or 4."),
        ("1.234", "may be 1234 or 1.234: write 1234, or 1.2340."),
        ("1.234.567", "is no number: write 1234567."),
        ("1,200.50", "is no number: write 1200.50."),
        ("1.200,50", "is no number: write 1200.50."),
        ("6,5", "is no number: write 6.5."),
        ("cheap", "is no number: write it as 1500 or 1.5."),
    ],
)
def test_numbers_in_another_writing(text, remedy):
    with pytest.raises(ValueError) as refused:  # noqa: PT011  (the message is compared whole)
        typed_number(text)
    assert str(refused.value) == f"{text!r} {remedy}"


@pytest.mark.parametrize(
    ("text", "written"),
    [("2.500", "2500"), ("1,234,567", "1234567"), ("1.200,50", "it in digits, such as 40"), ("forty", "it in digits")],
)
def test_whole_numbers_in_another_writing(text, written):
    assert typed_count(" 40 ") == 40
    with pytest.raises(ValueError, match=f"{text!r} is no whole number: write {written}"):
        typed_count(text)


@pytest.mark.parametrize("number", [1.234, 12.345, 0.125, 2.5, 4000.0, 1234.567, 1e-9])
def test_a_number_that_is_shown_can_be_typed(number):
    assert typed_number(unmistakable(number)) == pytest.approx(number, rel=1e-9)
