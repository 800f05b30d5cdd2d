from recuse.reproduce.pages import Claim, claims_table, not_run, numbers, run_again, table, verdict


def test_tables_align_numbers_right():
    assert table(["a", "b"], [["x", "1"]]) == ["| a | b |", "| --- | ---: |", "| x | 1 |"]


def test_claims_show_what_was_measured():
    claims = [Claim("it is better", "on 2 of 3", verdict(True)), Claim("always", "on 2 of 3", verdict(False))]
    assert claims_table(claims)[2:] == ["| it is better | on 2 of 3 | yes |", "| always | on 2 of 3 | no |"]


def test_the_command_is_shown():
    assert "`python -m recuse.reproduce consum --quick --out benchmarks/results`" in run_again("consum", True)[0]
    assert not_run([]) == []
    assert not_run(["a", "b"])[0].endswith("a; b.")
    assert numbers((0.5, 2.0)) == "0.5, 2"
