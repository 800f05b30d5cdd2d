"""The experiment runs end to end on a few cases, and continues where it was stopped."""

import json
from pathlib import Path

import pytest

from recuse import ExactBoostClassifier
from recuse.reproduce.__main__ import main
from recuse.reproduce.exactboost.experiment import page
from recuse.reproduce.exactboost.models import (
    NO_MARGIN,
    OURS,
    TEN_RUNS,
    TRAINED_ON_COST,
    ensemblers,
    estimators,
    rejecting_models,
)
from recuse.reproduce.exactboost.outcomes import Outcome


def test_the_posters_margin_is_kept():
    fitted = [*estimators(quick=False).items(), *ensemblers(quick=False).items()]
    margins = {title: model.margin for title, model in fitted if isinstance(model, ExactBoostClassifier)}
    assert margins == dict.fromkeys([*OURS.values(), TEN_RUNS], 0.05) | {NO_MARGIN: 0.0}
    assert rejecting_models(0.2, quick=False)[TRAINED_ON_COST].margin == 0.05


def test_quick_run(data_folder, tmp_path, capsys):
    main(["exactboost", "--quick", "--out", str(tmp_path / "out")])
    results = json.loads((tmp_path / "out" / "reproduce_exactboost_quick.json").read_text())["results"]
    assert {row["part"] for row in results} == {"estimator", "ensembler", "reject"}
    estimators = {row["method"]: row for row in results if row["part"] == "estimator"}
    assert {*OURS.values(), "AdaBoost", "RankBoost", "DMKS", "random forest"} <= set(estimators)
    assert all(0 <= row["auc"] < 0.6 for row in estimators.values())
    assert all(0 <= row["cost"] <= 1 for row in results if row["part"] == "reject")
    assert "| claim of the paper | measured here | reproduced |" in capsys.readouterr().out


def test_a_later_run_reuses_what_is_done(data_folder, tmp_path, capsys):
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
    assert "fold" not in capsys.readouterr().out.split("#")[0]  # all is done; unknown data sets are left out
    file.write_text("{")
    with pytest.raises(ValueError, match=r"cannot be read .* remove it"):
        main(["exactboost", "--quick", "--out", str(tmp_path)])
    file.write_text(json.dumps(whole | {"settings": {}, "results": kept}))
    main(["exactboost", "--quick", "--out", str(tmp_path)])
    assert "haberman, fold 2" in capsys.readouterr().out  # other settings: nothing is reused


def test_the_committed_page_is_that_of_the_committed_results():
    folder = Path(__file__).parents[3] / "benchmarks" / "results"
    data = json.loads((folder / "reproduce_exactboost.json").read_text())["results"]
    outcomes = [Outcome(**values) for values in data]
    assert page(outcomes) == (folder / "reproduce_exactboost.md").read_text()
    assert [outcome.to_dict() for outcome in outcomes] == data
