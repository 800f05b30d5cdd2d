"""Every protocol runs on the data that are there, and says which are not."""

from importlib import import_module

import pytest

from recuse.reproduce import PROTOCOLS
from recuse.reproduce.boosting_abstention import experiment as boosting_abstention
from recuse.reproduce.exactboost import experiment as exactboost
from recuse.reproduce.runner import TimeBudget


@pytest.fixture
def haberman_alone(data_folder, monkeypatch):
    """A folder with one data set, and no network; scikit-learn has wdbc."""

    def no_network(**_):
        raise OSError("no network")

    monkeypatch.setattr("recuse.datasets.loading.fetch_openml", no_network)


class ReachedError(Exception):
    """The protocol has begun to compute."""


def test_boosting_abstention_runs_what_is_there(haberman_alone, monkeypatch, capsys):
    def reached(function, arguments, n_jobs):
        raise ReachedError({cell.data for cell, _ in arguments})

    monkeypatch.setattr(boosting_abstention, "call_in_processes", reached)
    with pytest.raises(ReachedError) as stop:
        boosting_abstention.run()
    assert stop.value.args[0] == {"haberman", "wdbc"}
    told = capsys.readouterr().err
    for name in ("pima", "australian", "banknote", "cod_rna", "skin"):
        assert f"{name} is skipped: " in told


def test_exactboost_runs_what_is_there(haberman_alone, capsys):
    folds = exactboost._folds(False, set(), TimeBudget(1))
    assert [fold.data for fold in folds] == ["haberman"] * 5 + ["wdbc"] * 5
    assert "gmsc is skipped: " in capsys.readouterr().err


# Protocols that run part by part: the module in which each reads its data.
BY_PARTS = {
    "consum": "consum.table",
    "double-hinge": "double_hinge.experiment",
    "double-ramp": "double_ramp.experiment",
}


def test_every_protocol_is_here():
    assert {*BY_PARTS, "boosting-abstention", "exactboost"} == set(PROTOCOLS)


@pytest.mark.parametrize("paper", BY_PARTS)
def test_a_protocol_by_parts_runs_what_is_there(paper, monkeypatch, tmp_path, capsys):
    """The quick run whose first part finds no data, with small stand-ins for the others."""
    from sklearn.datasets import load_breast_cancer

    X, y = load_breast_cancer(return_X_y=True)
    asked = []

    def load(name, return_X_y):
        asked.append(name)
        if len(asked) == 1:
            raise FileNotFoundError(f"name={name!r} was not found")
        return X[:150, :3], y[:150]

    monkeypatch.setattr(import_module(f"recuse.reproduce.{BY_PARTS[paper]}"), "load", load)
    import_module(f"recuse.reproduce.{PROTOCOLS[paper]}").run(quick=True, minutes=60, out=tmp_path)
    assert f"is skipped: name={asked[0]!r} was not found" in capsys.readouterr().err
    (page,) = tmp_path.glob("*.md")
    assert f"Not run for lack of data: {asked[0]}" in page.read_text()
