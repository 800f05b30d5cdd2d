from recuse.reproduce.exactboost.models import OURS
from recuse.reproduce.exactboost.outcomes import Outcome
from recuse.reproduce.exactboost.tables import sections


def test_claims_are_counted():
    rows = []
    for fold in (0, 1):
        for name in ("wdbc", "pima"):
            about = {"data": name, "fold": fold, "part": "estimator", "cpu": 1.0}
            rows += [about | {"method": m, "auc": 0.005 + 0.001 * fold, "ks": 0.01} for m in OURS.values()]
            rows.append(about | {"method": "RankBoost", "auc": 0.1 + 0.001 * fold, "ks": 0.5, "cpu": 2.0})
            rows.append(about | {"method": "DMKS", "auc": 0.001 + 0.001 * fold, "ks": 0.001, "cpu": 0.5})
    rows += [row | {"part": "ensembler"} for row in rows]
    text = "\n".join(sections([Outcome(**row) for row in rows]))
    assert "RankBoost 2/0/0; DMKS 0/0/2 | no |" in text
    assert "always faster than RankBoost | less processor time on 2 of 2 sets" in text
    assert "always faster than DMKS | less processor time on 0 of 2 sets" in text
    assert "always the top ensembler (1 - KS) | lowest mean on 0 of 2 sets | no |" in text
    assert "2 of 2 sets | yes |" in text
    assert "| repaired reference code | 0.0053 | 0.163 |" in text
