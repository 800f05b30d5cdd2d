import pytest

from recuse.reproduce.exactboost.models import NO_MARGIN, OURS, TEN_RUNS
from recuse.reproduce.exactboost.outcomes import Outcome
from recuse.reproduce.exactboost.tables import claims, sections
from recuse.reproduce.pages import NO, NOT_SETTLED, YES

SETS = ("wdbc", "pima", "a", "b", "c", "d")


def rows_of(names):
    """RankBoost worse and slower, DMKS better and faster, on all data sets."""
    rows = []
    for fold in (0, 1):
        for name in names:
            about = {"data": name, "fold": fold, "part": "estimator", "cpu": 1.0}
            rows += [about | {"method": m, "auc": 0.005 + 0.001 * fold, "ks": 0.01} for m in OURS.values()]
            rows.append(about | {"method": "RankBoost", "auc": 0.1 + 0.001 * fold, "ks": 0.5, "cpu": 2.0})
            rows.append(about | {"method": "DMKS", "auc": 0.001 + 0.001 * fold, "ks": 0.001, "cpu": 0.5})
    return rows + [row | {"part": "ensembler"} for row in rows]


def test_claims_are_counted():
    text = "\n".join(sections([Outcome(**row) for row in rows_of(SETS)]))
    assert "RankBoost 6/0/0 (p = 0.031); DMKS 0/0/6 (p = 0.031) | no |" in text
    assert "always faster than RankBoost | less processor time on 6 of 6 sets (p = 0.031); E = 250" in text
    assert "always faster than DMKS | less processor time on 0 of 6 sets (p = 0.031)" in text
    assert "always the top ensembler (1 - KS) | lowest mean on 0 of 6 sets (p = 0.031) | no |" in text
    assert "| 2 of 2 sets; lower mean on 2 of 2 sets (p = 0.5: a coin toss) | yes |" in text
    assert "| repaired reference code | 0.0053 | 0.163 |" in text


def test_every_claim_has_a_row():
    rows = rows_of(SETS)
    about = {"part": "estimator", "cpu": 1.0, "auc": 0.1, "ks": 0.1}
    rows += [about | {"data": d, "fold": f, "method": m} for d in SETS for f in (0, 1) for m in (TEN_RUNS, NO_MARGIN)]
    texts = [claim.text for claim in claims([Outcome(**row) for row in rows])]
    figure_2 = "Figure 2: alternatives are generally worse than ExactBoost or indistinguishable"
    ours = "(our own) at or below the repaired reference code within one standard error"
    assert texts == [
        f"{figure_2} (1 - AUC)",
        "Tables 2 and 3: generally the top ensembler (1 - AUC)",
        f"{ours} (1 - AUC)",
        f"{figure_2} (1 - KS)",
        "Tables 2 and 3: always the top ensembler (1 - KS)",
        f"{ours} (1 - KS)",
        "Table 1: always faster than RankBoost",
        "Table 1: always faster than DMKS",
        "Value in the intended loss: lower 1 - KS when trained on KS than on AUC",
        "Figure 1: more runs, better test loss (E = 250 against 10)",
        "The margin attenuates overfitting (0.05 against 0)",
    ]


def test_two_sets_settle_nothing():
    verdicts = {claim.text: claim.verdict for claim in claims([Outcome(**row) for row in rows_of(SETS[:2])])}
    assert verdicts["Table 1: always faster than RankBoost"] == NOT_SETTLED
    assert verdicts["Table 1: always faster than DMKS"] == NO  # "always" fails at once


@pytest.mark.parametrize(
    ("better", "judgement", "said"),
    [(13, YES, "p < 0.001"), (10, NOT_SETTLED, "p = 0.092: may be chance"), (7, NOT_SETTLED, "p = 1: a coin toss")],
)
def test_better_on_most_sets_is_judged_by_the_sign_test(better, judgement, said):
    names = [f"set {k}" for k in range(13)]
    rows = rows_of(names)
    for fold in (0, 1):
        for k, name in enumerate(names):
            auc = 0.5 if k < better else 0.0
            about = {"data": name, "fold": fold, "part": "estimator", "cpu": 1.0, "auc": auc, "ks": 0.01}
            rows += [about | {"method": method} for method in (TEN_RUNS, NO_MARGIN)]
    found = {claim.text: claim for claim in claims([Outcome(**row) for row in rows])}
    claim = found["Figure 1: more runs, better test loss (E = 250 against 10)"]
    assert claim.verdict == judgement
    assert f"on {better} of 13 sets ({said})" in claim.evidence
    tie = found["Value in the intended loss: lower 1 - KS when trained on KS than on AUC"]
    assert tie.verdict == NOT_SETTLED
    assert "on 0 of 13 sets, equal on 13 (p = 1" in tie.evidence
