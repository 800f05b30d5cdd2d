import pytest

from recuse.reproduce.means import Tally
from recuse.reproduce.pages import (
    NO,
    NOT_MEASURED,
    NOT_SETTLED,
    PARTLY,
    YES,
    Claim,
    claims_table,
    judged,
    not_run,
    numbers,
    run_again,
    table,
    tallies_verdict,
    tally_text,
    tally_verdict,
    verdict,
)


def test_tables_align_numbers_right():
    assert table(["a", "b"], [["x", "1"]]) == ["| a | b |", "| --- | ---: |", "| x | 1 |"]


def test_claims_show_what_was_measured():
    claims = [Claim("it is better", "on 2 of 3", verdict(True)), Claim("always", "on 2 of 3", verdict(False))]
    assert claims_table(claims)[2:] == ["| it is better | on 2 of 3 | yes |", "| always | on 2 of 3 | no |"]


def test_the_command_is_shown():
    assert "`python -m recuse.reproduce consum --quick --out benchmarks/results`" in run_again("consum", True)[0]
    assert not_run([]) == []
    assert not_run(["a", "b"])[0].endswith("a; b.")
    assert not_run([], ["c"]) == ["Not run for lack of data: c.", ""]
    assert numbers((0.5, 2.0)) == "0.5, 2"


@pytest.mark.parametrize(
    ("tally", "claimed", "expected"),
    [
        (Tally(7, 6), None, NOT_SETTLED),
        (Tally(6, 7), None, NOT_SETTLED),
        (Tally(10, 3), None, NOT_SETTLED),  # p = 0.09
        (Tally(11, 2), None, YES),  # p = 0.02
        (Tally(2, 11), None, NO),
        (Tally(12, 1), 13, NO),
        (Tally(13, 0), 13, YES),
        (Tally(2, 0), 2, NOT_SETTLED),
        (Tally(6, 2), 5, NOT_SETTLED),
        (Tally(0, 0), None, NOT_MEASURED),
    ],
)
def test_a_count_of_data_sets_needs_the_sign_test(tally, claimed, expected):
    assert tally_verdict(tally, claimed) == expected


def test_a_count_is_shown_with_its_sign_test():
    assert tally_text(Tally(7, 6)) == "on 7 of 13 sets (p = 1: a coin toss)"
    assert tally_text(Tally(7, 1)) == "on 7 of 8 sets (p = 0.07: may be chance)"
    assert tally_text(Tally(7, 1, 1), words=False) == "on 7 of 9 sets, equal on 1 (p = 0.07)"
    assert tally_text(Tally(13, 0)) == "on 13 of 13 sets (p < 0.001)"


def test_claims_against_several_rivals():
    won, lost, open_ = Tally(8, 1), Tally(0, 9), Tally(5, 4)
    assert tallies_verdict([won, won]) == YES
    assert tallies_verdict([won, open_]) == PARTLY
    assert tallies_verdict([open_]) == tallies_verdict([]) == NOT_SETTLED
    assert tallies_verdict([won, lost]) == NO


def test_claims_that_standard_errors_settle():
    assert judged(Tally(4, 0), supported=True) == YES
    assert judged(Tally(3, 0, 1), supported=True) == judged(Tally(3, 1), supported=True) == PARTLY
    assert judged(Tally(4, 0), supported=False) == NOT_SETTLED
    assert judged(Tally(2, 2), supported=True) == NO
    assert judged(Tally(0, 0), supported=True) == NOT_MEASURED
