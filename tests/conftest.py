"""Data that many tests share, and which tests are numerical."""

import os
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, settings
from sklearn.datasets import make_classification

from recuse.comparison import methods

# No test may fail because the machine was busy.
settings.register_profile("untimed", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("untimed")

# Lines of progress come when a command takes long, and a busy machine makes all of them long.
os.environ.setdefault("RECUSE_PROGRESS", "off")

FOLDER = Path(__file__).parent
# Whose figures depend on how a processor adds and multiplies: `make test-processors` runs them on several.
NUMERICAL = (
    "baselines",
    "batches",
    "boosting",
    "comparison/test_choice.py",
    "comparison/test_currency.py",
    "datasets",
    "ensemble",
    "explaining",
    "exporting/test_agreement.py",
    "guarantees",
    "metrics",
    "persistence/test_kept_files.py",
    "plot",
    "staffing",
    "svm",
    "tables/test_checking.py",
    "tables/test_formats.py",
    "tables/test_novelty.py",
    "tables/test_seen.py",
    "test_answer_files.py",
    "test_batches.py",
    "test_calibration.py",
    "test_class_costs.py",
    "test_ensemble_benchmarks.py",
    "test_containers.py",
    "test_costs.py",
    "test_decisions.py",
    "test_evaluating.py",
    "test_folds.py",
    "test_label_columns.py",
    "test_many_classes.py",
    "test_one_versus_rest.py",
    "test_parameters.py",
    "test_predicting.py",
    "test_processors.py",
    "test_recorded_answers.py",
    "test_case_facts.py",
    "test_routing.py",
    "test_several_classes.py",
    "thresholds",
    "updating/test_reviewed.py",
    "watching/test_evidence.py",
)


# Each takes half a minute or more with few tests. A worker that began them last would end long after the other one.
SLOW = (
    "test_hostile_files.py",
    "dask",
    "comparison/test_groups_and_time.py",
    "comparison/test_checkpoints.py",
    "test_tutorial.py",
    "comparison",
    "cli",
    "test_gallery.py",
)


def pytest_collection_modifyitems(items):
    """Mark what is numerical, and put slow files first."""
    order = {path: number for number, path in enumerate(SLOW)}
    items.sort(
        key=lambda item: next((order[path] for path in SLOW if item.path.is_relative_to(FOLDER / path)), len(SLOW))
    )
    for item in items:
        if any(item.path.is_relative_to(FOLDER / path) for path in NUMERICAL):
            item.add_marker("numerical")


# One table for every label family of the contract: classes (negative, positive), reject label, type of the answers.
LABEL_FAMILIES = {
    "0/1": (np.array([0, 1]), -1, "int64"),
    "uint8": (np.array([0, 1], dtype=np.uint8), -1, "int16"),
    "uint64": (np.array([3, 7], dtype=np.uint64), -1, "int64"),
    "int8": (np.array([-128, 0], dtype=np.int8), -1, "int8"),
    "-1/+1": (np.array([-1, 1]), 0, "int64"),
    "-1/0": (np.array([-1, 0]), -2, "int64"),
    "int8 full": (np.array([-128, -1], dtype=np.int8), 0, "int8"),
    "float": (np.array([0.0, 1.0]), -1.0, "float64"),
    "float32 -1/+1": (np.array([-1.0, 1.0], dtype=np.float32), 0.0, "float32"),
    "short text": (np.array(["n", "y"]), "[abstain]", "<U9"),
    "long text": (np.array(["definitely not", "without any doubt"]), "[abstain]", "<U17"),
    "text objects": (np.array(["no", "yes"], dtype=object), "[abstain]", "object"),
    "bool": (np.array([False, True]), -1, "int8"),
}


@pytest.fixture(params=LABEL_FAMILIES, ids=list(LABEL_FAMILIES))
def family(request):
    return LABEL_FAMILIES[request.param]


@pytest.fixture(scope="session")
def overlapping():
    """Two overlapping classes, as 0/1: some cases are worth rejecting at a price of 0.2."""
    return make_classification(
        n_samples=240, n_features=4, n_informative=3, n_redundant=0, class_sep=0.7, flip_y=0.15, random_state=3
    )


@pytest.fixture(autouse=True, scope="session")
def quick_ensembles():
    """Comparisons in tests are of small tables: the ensemble of fewer members is as good, and a third as slow."""
    methods.EFFORT = "quick"
