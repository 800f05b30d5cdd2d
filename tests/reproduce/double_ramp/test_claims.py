import pytest

from recuse.reproduce.double_ramp.claims import claims, robustness
from recuse.reproduce.double_ramp.plan import Outcome
from recuse.reproduce.pages import NO, NOT_MEASURED, NOT_SETTLED, PARTLY, YES


def outcome(method, risk, d, support, data="ilpd", noise=0.0):
    return Outcome("", data, noise, method, d, [risk] * 2, [1 - risk] * 2, [risk] * 2, [support] * 2)


def test_claims_are_counted_as_they_say():
    rows = [outcome("SDR-SVM", 0.2, 0.1, 10), outcome("SDR-SVM", 0.2, 0.2, 10)]
    rows += [outcome("DH-SVM", 0.21, d, 100) for d in (0.1, 0.2)] + [outcome("SVM", 0.3, d, 19) for d in (0.1, 0.2)]
    rows += [outcome("ER-SVM", 0.3, 0.1, 100), outcome("ER-SVM", 0.1, 0.2, 100)]
    verdicts = {claim.text.split(" (")[0]: claim.verdict for claim in claims(rows)}
    assert verdicts["risk below ER-SVM on all five data sets, at every d"] == NO  # at one of two
    assert verdicts["risk below the SVM with threshold on parkinsons, heart, ILPD, pima"] == YES
    assert verdicts["risk comparable to DH-SVM on ILPD, ionosphere, pima"] == YES
    assert verdicts["much sparser than DH-SVM and the SVM on ilpd"] == NO  # 10 is more than half of 19
    assert verdicts["risk below DH-SVM on heart, at every d"] == NOT_MEASURED
    rows += [outcome(m, r, 0.3, 10) for m, r in (("SDR-SVM", 0.1), ("DH-SVM", 0.1), ("SVM", 0.1), ("ER-SVM", 0.2))]
    verdicts = {claim.text.split(" (")[0]: claim.verdict for claim in claims(rows)}
    assert verdicts["risk below ER-SVM on all five data sets, at every d"] == PARTLY


def test_claims_about_noise_are_counted_as_they_say():
    rows = []
    for name, added in (("ilpd", 0.05), ("pima", 0.01)):
        for method, more in (("SDR-SVM", added), ("DH-SVM", 0.03), ("SVM", 0.04), ("ER-SVM", 0.3)):
            for d in (0.1, 0.4):
                rows += [outcome(method, 0.1, d, 10, name), outcome(method, 0.1 + more, d, 10, name, 0.3)]
                rows += [outcome(method, 0.1 + more / 2, d, 10, name, 0.1)]
    found = {claim.text: claim for claim in claims(rows)}
    robust = next(claim for text, claim in found.items() if text.startswith("robust: 30 %"))
    assert robust.verdict == NO  # on one of two
    assert robust.evidence == "on 1 of 2 sets (p = 1): ilpd +0.050 / +0.030 / +0.040, pima +0.010 / +0.030 / +0.040"
    assert found["30 % label noise makes SDR-SVM reject more at d below 0.3"].verdict == YES
    assert found["risk below ER-SVM at every d, 30 % label noise"].evidence.startswith("at 4 of 4")
    assert found["risk below DH-SVM at d of 0.3 or more, 30 % label noise"].evidence.startswith("at 1 of 2")
    little = next(claim for text, claim in found.items() if text.startswith("10 % label noise adds little"))
    assert little.verdict == NO  # 0.025 on ilpd
    assert all(claim.verdict == NOT_MEASURED for text, claim in found.items() if "20 % label noise" in text)
    (text, _) = robustness(rows)
    assert (
        "at 30 %, less for SDR-SVM than for DH-SVM on 1 of 2 sets (p = 1) and than for the SVM on 1 of 2 sets" in text
    )
    assert "do not show that it makes the machine more robust" in text
    assert robustness([row for row in rows if row.noise == 0]) == []


@pytest.mark.parametrize(("folds", "judgement"), [([0.2, 0.2, 0.2], PARTLY), ([0.5, 0.05, 0.02], NOT_SETTLED)])
def test_most_prices_are_not_enough_without_support_by_the_folds(folds, judgement):
    """Lower at two of three prices; in every fold by the same, or in two of three and on average hardly."""
    rows = []
    for d, other in ((0.1, 0.4), (0.2, 0.4), (0.3, 0.19)):
        rows.append(Outcome("", "heart_statlog", 0.0, "SDR-SVM", d, folds, [None, 0.9, 0.9], folds, [1] * 3))
        rows += [
            Outcome("", "heart_statlog", 0.0, method, d, [other] * 3, [0.8, None, 0.8], [0.5] * 3, [9] * 3)
            for method in ("DH-SVM", "SVM", "ER-SVM")
        ]
    found = {claim.text: claim for claim in claims(rows)}
    claim = found["risk below DH-SVM on heart, at every d"]
    assert claim.evidence.startswith("at 2 of 3 prices; mean difference -0.1")
    assert claim.verdict == judgement
    # Accuracy is known for both in the last fold only, which has no standard error.
    assert found["accuracy on accepted cases above ER-SVM on all five data sets"].verdict == NOT_SETTLED


def test_every_claim_has_a_row_whatever_was_run():
    one = [outcome("SDR-SVM", 0.2, 0.1, 10), outcome("DH-SVM", 0.2, 0.1, 10), outcome("SVM", 0.2, 0.1, 10)]
    one.append(outcome("ER-SVM", 0.2, 0.1, 10))
    assert [claim.text.split(" (")[0] for claim in claims([])] == [claim.text.split(" (")[0] for claim in claims(one)]
    assert {claim.verdict for claim in claims([])} == {NOT_MEASURED}
