"""The public names, and what importing them costs."""

import importlib
import subprocess
import sys

import pytest

import recuse
from tests.processes import LIMIT

MODULES = [
    "recuse",
    "recuse.baselines",
    "recuse.boosting",
    "recuse.dask",
    "recuse.datasets",
    "recuse.guarantees",
    "recuse.comparison",
    "recuse.metrics",
    "recuse.report",
    "recuse.persistence",
    "recuse.plot",
    "recuse.reproduce",
    "recuse.svm",
    "recuse.thresholds",
]


def run(code):
    return subprocess.run([sys.executable, "-W", "error", "-c", code], capture_output=True, text=True, timeout=LIMIT)


@pytest.mark.parametrize("name", MODULES)
def test_all_is_sorted_and_true(name):
    module = importlib.import_module(name)
    # Constants first, then classes, then functions: the order of the linter.
    assert list(module.__all__) == sorted(module.__all__, key=lambda name: (not name.isupper(), name.islower(), name))
    for public in module.__all__:
        assert getattr(module, public).__doc__


def test_names_of_the_contract():
    assert {
        "AbstentionBoostingClassifier",
        "Costs",
        "CoupledOneClassSVC",
        "Decisions",
        "DoubleHingeSVC",
        "DoubleRampSVC",
        "ExactBoostClassifier",
        "GuaranteedRejectClassifier",
        "RejectedSamplesError",
        "ThresholdRejectClassifier",
        "compare",
        "cross_val_decide",
        "decide",
        "is_rejected",
        "load",
        "save",
    } <= set(recuse.__all__)
    assert set(recuse.__all__) <= set(dir(recuse))
    assert recuse.metrics.expected_cost is importlib.import_module("recuse.metrics").expected_cost
    assert {"datasets", "metrics", "persistence", "plot"} <= set(dir(recuse))
    with pytest.raises(AttributeError, match="module 'recuse' has no attribute 'nothing'"):
        _ = recuse.nothing


def test_import_is_light():
    code = """
import sys, recuse
heavy = {"numba", "matplotlib", "pandas", "polars", "skops", "jinja2", "typer", "rich", "dask", "sklearn", "numpy"}
print(sorted(heavy & set(sys.modules)))
"""
    assert run(code).stdout.strip() == "[]"


def test_prediction_and_metrics_do_not_load_the_compiler_or_the_extras():
    code = """
import sys
import numpy as np
from sklearn.linear_model import LogisticRegression
from recuse import ThresholdRejectClassifier
from recuse.metrics import expected_cost, risk_coverage_curve
import recuse.plot, recuse.datasets, recuse.persistence
X, y = np.arange(40.0)[:, None], np.repeat([0, 1], 20)
decisions = ThresholdRejectClassifier(LogisticRegression()).fit(X, y).decide(X)
expected_cost(y, decisions), risk_coverage_curve(y, decisions)
# Not rich: where it is installed, scikit-learn 1.9 loads it by itself (sklearn.callback, for progress bars).
print(sorted({"numba", "matplotlib", "jinja2", "typer", "dask", "skops"} & set(sys.modules)))
"""
    result = run(code)
    assert result.stdout.strip() == "[]", result.stderr


def test_import_star_works_without_the_extras():
    code = """
import sys
for name in ("matplotlib", "pandas", "polars", "jinja2", "typer", "rich", "dask", "pyarrow", "skrub"):
    sys.modules[name] = None  # importing it now fails
from recuse import *
from recuse.metrics import *
from recuse.plot import *
print(Costs, ThresholdRejectClassifier, expected_cost, RiskCoverageDisplay)
"""
    result = run(code)
    assert result.returncode == 0, result.stderr
