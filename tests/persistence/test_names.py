"""Files name classes of this library by names that stay: moved modules do not break saved models."""

import json
import sys
import zipfile
from importlib import import_module
from types import ModuleType

import numpy as np
import pandas as pd
import pytest

import recuse
from recuse import Costs, baselines, metrics
from recuse.metrics import get_scorer_names
from recuse.metrics.scorers import SCORERS
from recuse.persistence import load, names, save
from recuse.persistence.archive import FORMAT, read_header, read_schema
from tests.marks import may_reject_all
from tests.persistence.examples import EXAMPLES, KEPT, LABELS, X, fit_example
from tests.persistence.handmade import named, write_model

pytestmark = pytest.mark.filterwarnings("ignore:.*stopped:sklearn.exceptions.ConvergenceWarning")


def own_names(path):
    """What a file names of this library."""
    found = {names.name_of(node) for node in names.nodes(read_schema(path.read_bytes()))}
    return {name for name in found if name and name.split(".")[0] == "recuse"}


def outside_the_table(path):
    return sorted(name for name in own_names(path) if names.location_of(name) is None)


@may_reject_all
@pytest.mark.parametrize("name", EXAMPLES)
def test_a_file_names_nothing_outside_the_table(name, path):
    model = fit_example(name)
    save(model, path)
    assert own_names(path)
    assert outside_the_table(path) == [], "add these to RECORDS in recuse/persistence/names.py"
    again = load(path)
    np.testing.assert_array_equal(again.predict(X), model.predict(X))


def test_the_best_model_of_a_comparison_names_nothing_outside_the_table(tmp_path):
    frame = pd.DataFrame(X, columns=["a", "b", "c"]).assign(kind=np.where(X[:, 0] > 0, "u", "v"), answer=LABELS)
    methods = ["logistic-tuned", "abstention-boosting"]
    comparison = recuse.compare(frame, target="answer", costs=0.2, methods=methods, out=tmp_path, cv=2, repeats=1)
    assert outside_the_table(tmp_path / "model.skops") == []
    for method in methods:
        save(comparison.model(method), tmp_path / method)
        assert "recuse.tables.TableColumns" in own_names(tmp_path / method)
        assert outside_the_table(tmp_path / method) == []


def test_every_public_estimator_is_in_the_table_and_has_an_example():
    of_recuse = {*names.PUBLIC["recuse"], *names.PUBLIC["recuse.ensemble"]}
    for package, listed in ((recuse, of_recuse), (baselines, names.PUBLIC["recuse.baselines"])):
        public = [getattr(package, name) for name in package.__all__]
        estimators = {item.__name__ for item in public if isinstance(item, type) and hasattr(item, "fit")}
        assert estimators <= set(listed)
        assert estimators <= {type(EXAMPLES[name]).__name__ for name in KEPT}


def test_every_scorer_is_in_the_table():
    for name in get_scorer_names():
        for item in (type(SCORERS[name]), SCORERS[name].measure):
            assert names.stored_name(f"{item.__module__}.{item.__name__}"), item
    assert set(names.PUBLIC["recuse.metrics"]) <= set(metrics.__all__)


STORED = [*names.RECORDS, *(f"{package}.{name}" for package, listed in names.PUBLIC.items() for name in listed)]


@pytest.mark.parametrize("stored", STORED)
def test_a_stored_name_leads_to_something_and_back(stored):
    location = names.location_of(stored)
    module, _, own_name = location.rpartition(".")
    item = getattr(import_module(module), own_name)
    assert f"{item.__module__}.{item.__name__}" == location
    assert names.stored_name(location) == stored


def test_no_stored_name_is_a_module_that_exists():
    with pytest.raises(ModuleNotFoundError):
        import recuse.saved  # noqa: F401


def test_other_names_are_neither_stored_nor_found():
    for name in ("recuse.load", "recuse.saved.Nothing", "recuse.costs.Costs", "recuse.metrics.get_scorer", "os.system"):
        assert names.location_of(name) is None
    for location in ("recuse.Costs", "recuse.persistence.models.load", "recuse.svm.Costs", "os.system", "Costs", ""):
        assert names.stored_name(location) is None


@may_reject_all
def test_a_class_outside_the_table_is_not_saved(path, monkeypatch):
    monkeypatch.delitem(names.RECORDS, "recuse.saved.Kernel")
    with pytest.raises(
        ValueError, match=r"model=DoubleHingeSVC holds recuse\.svm\.kernels\.Kernel, .*add it to RECORDS in"
    ):
        save(fit_example("double_hinge"), path)
    assert not path.exists()


# A move


@may_reject_all
def test_an_old_file_loads_after_a_private_class_moved(path, monkeypatch):
    """Kernel and LabelSpace, as if they lived in a module that did not exist when the file was written."""
    model = fit_example("double_hinge")
    save(model, path)
    elsewhere = ModuleType("recuse.elsewhere")
    for stored in ("recuse.saved.Kernel", "recuse.saved.LabelSpace"):
        module, _, own_name = names.RECORDS[stored].rpartition(".")
        old = getattr(import_module(module), own_name)
        moved = type(f"New{own_name}", (old,), {"__module__": elsewhere.__name__})
        setattr(elsewhere, moved.__name__, moved)
        monkeypatch.setitem(names.RECORDS, stored, f"{elsewhere.__name__}.{moved.__name__}")
    monkeypatch.setitem(sys.modules, elsewhere.__name__, elsewhere)
    again = load(path)
    assert {type(part).__name__ for part in vars(again).values()} >= {"NewKernel", "NewLabelSpace"}
    np.testing.assert_array_equal(again.predict(X), model.predict(X))
    save(again, path)  # under the same names as before
    assert "recuse.saved.Kernel" in own_names(path)
    assert outside_the_table(path) == []


def test_an_old_file_loads_after_a_public_class_moved(path, monkeypatch):
    save(Costs(reject=0.1), path)
    elsewhere = ModuleType("recuse.elsewhere")
    elsewhere.Costs = type("Costs", (Costs,), {"__module__": elsewhere.__name__})
    monkeypatch.setitem(sys.modules, elsewhere.__name__, elsewhere)
    monkeypatch.setattr(recuse, "Costs", elsewhere.Costs, raising=False)
    assert type(load(path)) is elsewhere.Costs


# The number of the format


def test_a_file_has_a_format_number(path):
    save(Costs(), path)
    assert read_header(path.read_bytes()).format == FORMAT
    with zipfile.ZipFile(path) as archive:
        assert json.loads(archive.read("recuse.json"))["format"] == FORMAT


def test_a_newer_format_is_said_with_the_remedy(path):
    versions = {"recuse": "7.1", "scikit-learn": "9.9"}
    write_model(path, named("os", "system"), versions=versions, format=FORMAT + 1)
    expected = rf"model.skops was saved by a newer recuse \(format {FORMAT + 1}; this version reads up to {FORMAT}\): "
    with pytest.raises(ValueError, match=expected + r"install recuse 7\.1 or later\.$"):
        load(path)


def test_a_file_without_a_format_says_to_fit_again(path):
    save(Costs(), path)
    with zipfile.ZipFile(path) as archive:
        schema = json.loads(archive.read("schema.json"))
    write_model(path, schema, format=0)
    with pytest.raises(ValueError, match=r"saved by an older recuse .*: fit the model again and save it\.$"):
        load(path)
