from recuse.reproduce.double_ramp.claims import claims
from recuse.reproduce.double_ramp.plan import Outcome
from recuse.reproduce.pages import NO, NOT_MEASURED, PARTLY, YES


def outcome(method, risk, d, support, data="ilpd", noise=0.0):
    return Outcome("", data, noise, method, d, [risk], [1 - risk], [risk], [support])


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
    assert robust.evidence == "ilpd +0.050 / +0.030 / +0.040, pima +0.010 / +0.030 / +0.040"
    assert found["30 % label noise makes SDR-SVM reject more at d below 0.3"].verdict == YES
    assert found["risk below ER-SVM at every d, 30 % label noise"].evidence.startswith("at 4 of 4")
    assert found["risk below DH-SVM at d of 0.3 or more, 30 % label noise"].evidence.startswith("at 1 of 2")
    little = next(claim for text, claim in found.items() if text.startswith("10 % label noise adds little"))
    assert little.verdict == NO  # 0.025 on ilpd
    assert all(claim.verdict == NOT_MEASURED for text, claim in found.items() if "20 % label noise" in text)
