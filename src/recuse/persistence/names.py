"""The names under which classes and functions of this library are stored in a model file.

A file outlives the modules it was written by. So a file never says where a class lives, which may change, but a stored
name, which stays: for what users import, the public import path; for the private records inside a fitted model, a
name in ``recuse.saved``, a module that exists in files only. `save` translates to stored names and `load` back to
where the classes live now.

To move or rename a class of `RECORDS`, change the right side of its line. To store a new one, add a line. Never remove
or rename a stored name: files have it. Nothing of this library that is missing here can be saved or loaded.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from importlib import import_module
from typing import Any

# Stored under the path from which users import it.
PUBLIC = {
    "recuse": (
        "AbstentionBoostingClassifier",
        "ClassCosts",
        "Costs",
        "CoupledOneClassSVC",
        "DoubleHingeSVC",
        "DoubleRampSVC",
        "ExactBoostClassifier",
        "GuaranteedRejectClassifier",
        "ThresholdRejectClassifier",
    ),
    "recuse.baselines": (
        "EmbeddedRejectSVC",
        "IndependentOneClassSVC",
        "KSLinearClassifier",
        "RankBoostClassifier",
        "TwoStepBoostingClassifier",
    ),
    "recuse.dask": ("DaskAbstentionBoostingClassifier",),
    "recuse.ensemble": ("EnsembleRejectClassifier",),
    # Functions: a search stores what it scores with.
    "recuse.metrics": (
        "RejectScorer",
        "augrc_score",
        "aurc_score",
        "coverage_at_risk",
        "coverage_score",
        "eaurc_score",
        "expected_cost",
        "ks_score",
        "precision_at_k_score",
        "rejection_rate",
        "risk_at_coverage",
        "selective_accuracy_score",
    ),
    "recuse.tables": ("TableColumns",),
}

# Stored name -> where the class or function lives now.
RECORDS = {
    "recuse.saved.AdditiveForm": "recuse.boosting.shapes.AdditiveForm",
    "recuse.saved.BoostingCategories": "recuse.boosting.categories.Categories",
    "recuse.saved.BoostingChowPair": "recuse.boosting.abstention.pairs.ChowPair",
    "recuse.saved.BoostingClassChow": "recuse.boosting.abstention.classes.rules.ClassChow",
    "recuse.saved.BoostingClassForm": "recuse.boosting.abstention.classes.forms.ClassForm",
    "recuse.saved.BoostingClassLearned": "recuse.boosting.abstention.classes.rules.ClassLearned",
    "recuse.saved.BoostingClassShapeFunction": "recuse.boosting.abstention.classes.forms.ClassShapeFunction",
    "recuse.saved.BoostingClassRejector": "recuse.boosting.abstention.classes.rules.ClassRejector",
    "recuse.saved.BoostingEdit": "recuse.boosting.edits.Edit",
    "recuse.saved.BoostingEditCost": "recuse.boosting.edits.EditCost",
    "recuse.saved.BoostingFit": "recuse.boosting.abstention.records.FitRecord",
    "recuse.saved.BoostingGivenScore": "recuse.boosting.abstention.pairs.GivenScore",
    "recuse.saved.BoostingLearnedPair": "recuse.boosting.abstention.pairs.LearnedPair",
    "recuse.saved.BoostingMarginBound": "recuse.boosting.abstention.margin_bound.MarginBound",
    "recuse.saved.BoostingSettings": "recuse.boosting.abstention.engine.settings.Settings",
    "recuse.saved.BoostingStages": "recuse.boosting.abstention.stages.Stages",
    "recuse.saved.BoostingStackedPair": "recuse.boosting.abstention.pairs.StackedPair",
    "recuse.saved.BoostingStartedPair": "recuse.boosting.abstention.pairs.StartedPair",
    "recuse.saved.BoostingSurrogate": "recuse.boosting.abstention.engine.surrogates.Surrogate",
    "recuse.saved.BoostingTree": "recuse.boosting.abstention.engine.trees.Tree",
    "recuse.saved.BoostingTreeForm": "recuse.boosting.abstention.engine.trees.TreeForm",
    "recuse.saved.ClassCalibrator": "recuse.class_calibration.OneVersusRest",
    "recuse.saved.ClassTemperatureCalibrator": "recuse.class_calibration.SharedTemperature",
    "recuse.saved.BetaCalibrator": "recuse.calibration.Beta",
    "recuse.saved.EnsembleBooster": "recuse.ensemble.boosters.NativeBooster",
    "recuse.saved.EnsembleHingeBasis": "recuse.ensemble.curves.HingeBasis",
    "recuse.saved.EnsembleMember": "recuse.ensemble.bagging.BaggedMember",
    "recuse.saved.EnsembleTableViews": "recuse.ensemble.features.TableViews",
    "recuse.saved.ExactBoostBoundTerms": "recuse.boosting.exactboost.margin_bound.BoundTerms",
    "recuse.saved.ExactBoostRun": "recuse.boosting.exactboost.runs.Run",
    "recuse.saved.ExplainingRememberedCases": "recuse.explaining.neighbours.RememberedCases",
    "recuse.saved.ExplainingTypicalCases": "recuse.explaining.models.TypicalCases",
    "recuse.saved.GuaranteePromise": "recuse.guarantees.promises.Promise",
    "recuse.saved.GuaranteeShown": "recuse.guarantees.record.Shown",
    "recuse.saved.IsotonicCalibrator": "recuse.calibration.Isotonic",
    "recuse.saved.Kernel": "recuse.svm.kernels.Kernel",
    "recuse.saved.LabelSpace": "recuse.labels.LabelSpace",
    "recuse.saved.RankingScorer": "recuse.metrics.scorers.RankingScorer",
    "recuse.saved.RocObjective": "recuse.boosting.exactboost.objectives.of_roc",
    "recuse.saved.selective_accuracy": "recuse.metrics.scorers._selective_accuracy",
    "recuse.saved.ShapeFunction": "recuse.boosting.shapes.ShapeFunction",
    "recuse.saved.SigmoidCalibrator": "recuse.calibration.Sigmoid",
    "recuse.saved.Stump": "recuse.boosting.abstention.engine.stumps.Stump",
    "recuse.saved.SurfaceFunction": "recuse.boosting.surfaces.SurfaceFunction",
    "recuse.saved.TemperatureCalibrator": "recuse.calibration.Temperature",
    "recuse.saved.ThresholdBand": "recuse.thresholds.bands.Band",
    "recuse.saved.ThresholdLeastCost": "recuse.thresholds.bands.LeastCost",
    "recuse.saved.ThresholdGuarantee": "recuse.guarantees.record.Guarantee",
    "recuse.saved.ThresholdLowestProbability": "recuse.thresholds.bands.LowestProbability",
    "recuse.saved.TimeFolds": "recuse.folds.TimeFolds",
}


def stored_name(location: str) -> str | None:
    """The stored name of what lives at a location (its module and its own name); None for what has none."""
    for stored, current in RECORDS.items():
        if current == location:
            return stored
    own_name = location.rpartition(".")[2]
    public = (f"{package}.{own_name}" for package, names in PUBLIC.items() if own_name in names)
    return next((name for name in public if _defined_at(name) == location), None)


def location_of(stored: str) -> str | None:
    """Where the class or function of a stored name lives now; None for a name that is not stored."""
    if stored in RECORDS:
        return RECORDS[stored]
    package, _, own_name = stored.rpartition(".")
    return _defined_at(stored) if own_name in PUBLIC.get(package, ()) else None


def _defined_at(public: str) -> str:
    package, _, own_name = public.rpartition(".")
    item = getattr(import_module(package), own_name)
    return f"{item.__module__}.{item.__name__}"


def rename(schema: dict[str, Any], new_name: Callable[[str], str | None]) -> None:
    """Rename the types and functions in a schema of skops, in place; None from `new_name` keeps a name."""
    found: dict[str, str | None] = {}  # thousands of nodes share a few names
    for node in nodes(schema):
        name = name_of(node)
        if name is None:
            continue
        if name not in found:
            found[name] = new_name(name)
        changed = found[name]
        if changed is not None:
            node["__module__"], _, node["__class__"] = changed.rpartition(".")


def nodes(schema: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Every node of a schema: all its dicts, however deep."""
    pending: list[Any] = [schema]
    while pending:
        part = pending.pop()
        if isinstance(part, dict):
            yield part
            pending.extend(part.values())
        elif isinstance(part, list):
            pending.extend(part)


def name_of(node: dict[str, Any]) -> str | None:
    """Full name of the type or function a node stands for; None for any other dict."""
    module, own_name = node.get("__module__"), node.get("__class__")
    return f"{module}.{own_name}" if isinstance(module, str) and isinstance(own_name, str) else None
