"""The reproduction of ExactBoost runs end to end on a few cases, and sums up right."""

import gzip
import json

import numpy as np
import pytest

from recuse.reproduce.__main__ import main
from recuse.reproduce.exactboost import OURS, summary


@pytest.fixture
def data_folder(tmp_path, monkeypatch):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(306, 3)).round(3)
    y = np.zeros(306, dtype=int)
    y[np.argsort(-(X[:, 0] + rng.normal(size=306)))[:81]] = 1
    lines = ["age,operation_year,positive_nodes,target"]
    lines += [",".join(map(str, [*row, label])) for row, label in zip(X.tolist(), y.tolist(), strict=True)]
    with gzip.open(tmp_path / "haberman.csv.gz", "wt") as file:
        file.write("\n".join(lines) + "\n")
    monkeypatch.setenv("RECUSE_DATA", str(tmp_path))
    return tmp_path


def test_quick_run(data_folder, tmp_path, capsys):
    main(["exactboost", "--quick", "--out", str(tmp_path / "out")])
    results = json.loads((tmp_path / "out" / "reproduce_exactboost_quick.json").read_text())["results"]
    assert {row["part"] for row in results} == {"estimator", "ensembler", "reject"}
    estimators = {row["method"]: row for row in results if row["part"] == "estimator"}
    assert {*OURS.values(), "AdaBoost", "RankBoost", "DMKS", "random forest"} <= set(estimators)
    assert all(0 <= row["auc"] < 0.6 for row in estimators.values())
    assert all(0 <= row["cost"] <= 1 for row in results if row["part"] == "reject")
    assert "| claim | here | reproduced |" in capsys.readouterr().out


def test_a_later_run_takes_up_what_is_done(data_folder, tmp_path, capsys):
    file = tmp_path / "reproduce_exactboost_quick.json"
    main(["exactboost", "--quick", "--out", str(tmp_path)])
    whole = json.loads(file.read_text())
    kept = [row | {"cpu": 123.0} if "cpu" in row else row for row in whole["results"] if row["fold"] == 1]
    file.write_text(json.dumps(whole | {"results": kept}))
    capsys.readouterr()
    main(["exactboost", "--quick", "--out", str(tmp_path)])
    assert "haberman, fold 1" in (said := capsys.readouterr().out)
    assert "haberman, fold 2" not in said
    again = json.loads(file.read_text())["results"]
    assert [row["fold"] for row in again] == [row["fold"] for row in whole["results"]]
    assert {row["cpu"] == 123.0 for row in again if row["fold"] == 1 and "cpu" in row} == {True}
    gone = [*whole["results"], whole["results"][0] | {"data": "gone"}]
    file.write_text(json.dumps(whole | {"results": gone}))
    main(["exactboost", "--quick", "--out", str(tmp_path)])
    assert "fold" not in capsys.readouterr().out.split("#")[0]  # all is done, and what is not listed is left out
    file.write_text("{")
    with pytest.raises(ValueError, match=r"cannot be read .* remove it"):
        main(["exactboost", "--quick", "--out", str(tmp_path)])
    file.write_text(json.dumps(whole | {"settings": {}, "results": kept}))
    main(["exactboost", "--quick", "--out", str(tmp_path)])
    assert "haberman, fold 2" in capsys.readouterr().out  # other settings: nothing is taken up


def test_claims_are_counted():
    rows = []
    for fold in (0, 1):
        for name in ("wdbc", "pima"):
            about = {"data": name, "fold": fold, "part": "estimator", "cpu": 1.0}
            rows += [about | {"method": m, "auc": 0.005 + 0.001 * fold, "ks": 0.01} for m in OURS.values()]
            rows.append(about | {"method": "RankBoost", "auc": 0.1 + 0.001 * fold, "ks": 0.5, "cpu": 2.0})
            rows.append(about | {"method": "DMKS", "auc": 0.001 + 0.001 * fold, "ks": 0.001, "cpu": 0.5})
    rows += [row | {"part": "ensembler"} for row in rows]
    page = summary(rows)
    assert "RankBoost 2/0/0; DMKS 0/0/2 | no |" in page
    assert "always faster than RankBoost | less processor time on 2 of 2 sets" in page
    assert "always faster than DMKS | less processor time on 0 of 2 sets" in page
    assert "always the top ensembler (1 - KS) | lowest mean on 0 of 2 sets | no |" in page
    assert "2 of 2 sets | yes |" in page
    assert "| mended reference code | 0.0053 | 0.163 |" in page
