"""A data folder with one small table, made up."""

import gzip

import numpy as np
import pytest


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
