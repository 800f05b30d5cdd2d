"""Answers as `recuse predict` writes them, without a model that had to be fitted for long."""

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression

import recuse
from recuse import Costs, ThresholdRejectClassifier
from recuse.predicting import predict_table

COSTS = Costs(fp=1, fn=2, reject=0.25)


def make_cases(n, seed):
    """Cases with text that spreadsheets would change or run, and their classes."""
    rng = np.random.default_rng(seed)
    income, debt = rng.normal(size=(2, n)).round(6)
    return pd.DataFrame(
        {
            "customer": [f"{number:07d}" for number in rng.permutation(n)],
            "income": income,
            "debt": debt,
            "remark": np.where(rng.random(n) < 0.1, "=1+1", 'größer, "ok"'),
            "outcome": np.where(rng.random(n) < 1 / (1 + np.exp(-2 * income + debt)), "good", "bad"),
        }
    )


@pytest.fixture(scope="session")
def model_file(tmp_path_factory):
    cases = make_cases(400, 1)
    model = ThresholdRejectClassifier(LogisticRegression(), costs=COSTS, pos_label="bad")
    path = tmp_path_factory.mktemp("model") / "loans.skops"
    recuse.save(model.fit(cases[["income", "debt"]], cases["outcome"]), path)
    return path


@pytest.fixture(scope="session")
def answers_file(model_file):
    """Answers to 2,000 cases, with the columns for reviewers."""
    folder = model_file.parent
    make_cases(2000, 2).to_csv(folder / "new.csv", index=False)
    keep = ["customer", "income", "debt", "remark"]
    predict_table(model_file, folder / "new.csv", folder / "answers.csv", keep=keep)
    return folder / "answers.csv"
