"""Hostile files: names that nobody should load."""

import importlib
import sys
from types import SimpleNamespace

import pytest

from recuse.persistence import load, trust
from tests.persistence.handmade import listed, named, text, write_model


def called_with(function, argument):
    """A dict whose key is made by calling `function` on a text, as skops does for the types of keys."""
    return {**named("builtins", "dict", "DictNode"), "key_types": listed(function), "content": {argument: text(0)}}


@pytest.mark.parametrize(
    ("module", "name"),
    [
        ("os", "system"),
        ("posix", "system"),
        ("subprocess", "Popen"),
        ("builtins", "eval"),
        ("sklearnx", "Model"),
        ("recuse_plugin", "Model"),
        ("", "recuse.costs.Costs"),
        # Names that begin like ours and end elsewhere.
        ("recuse.persistence", "os"),
        ("recuse.persistence.os", "system"),
        ("recuse.persistence", "os.system"),
        ("recuse.persistence.files", "os"),
        ("recuse.persistence.files.os", "system"),
        ("recuse.persistence.files", "os.system"),
        ("recuse.persistence.files", "Path"),
        ("recuse.datasets", "Path"),
        ("recuse.datasets.loading", "Path"),
        ("sklearn.utils.fixes", "platform"),
        ("sklearn.model_selection._search", "partial"),
        ("sklearn..os", "system"),
        ("sklearn/../os", "system"),
        ("sklearn", "__builtins__"),
        ("recuse.__main__", "main"),
        # Ours, but able to do harm.
        ("recuse.persistence", "write_whole"),
        ("recuse.persistence", "load"),
        ("recuse.persistence.files", "write_whole"),
        ("recuse.persistence.models", "load"),
        ("sklearn.datasets._base", "clear_data_home"),
        ("sklearn.tree._export", "export_graphviz"),
        ("sklearn.utils._testing", "TempMemmap"),
        ("sklearn.callback._scoring_monitor", "ScoringMonitor"),
        ("sklearn.metrics._scorer._Scorer", "__init__"),
        ("sklearn.nothing", "Here"),
        ("sklearn.linear_model", "Nothing"),
    ],
)
@pytest.mark.parametrize("loader", ["FunctionNode", "TypeNode", "ObjectNode"])
def test_names_that_are_not_trusted(path, module, name, loader):
    write_model(path, named(module, name, loader))
    with pytest.raises(ValueError, match=r"model.skops names .* which is not trusted, and nothing of it was loaded"):
        load(path)


def test_only_the_place_of_definition_is_trusted():
    def trusted(name):
        return trust.refused_names([name], []) == []

    assert trusted("sklearn.metrics._classification.accuracy_score")
    assert not trusted("sklearn.metrics.accuracy_score")
    assert trusted("recuse.costs.Costs")
    assert not trusted("recuse.Costs")
    assert not trusted("recuse.costs.as_costs")


def test_of_this_library_only_what_the_table_lists_is_trusted():
    # Classes of this library, each at its place of definition, that no model holds.
    others = ["recuse.tables.cases.Cases", "recuse.comparison.result.Comparison", "recuse.base.RejectedSamplesError"]
    for name in others:
        module, _, own_name = name.rpartition(".")
        assert isinstance(getattr(importlib.import_module(module), own_name), type)
    assert trust.refused_names(others, []) == others


def test_odd_names_are_not_even_looked_up():
    assert trust._named_like_sklearn("sklearn.linear_model._base.LinearModel")
    for name in ("sklearn", "recuse.__main__.main", "sklearn.a/b.c", "sklearn..c", "sklearnx.a", "recuse.tests.a", ""):
        assert not trust._named_like_sklearn(name), name
    for name in ("sklearn.__main__.main", "sklearn.tests.a", "recuse.persistence.files.os"):
        assert not trust._named_like_sklearn(name), name


def test_a_call_hidden_in_a_dict_is_not_made(path, tmp_path):
    victim = tmp_path / "victim"
    victim.mkdir()
    write_model(path, called_with(named("sklearn.datasets._base", "clear_data_home"), str(victim)))
    with pytest.raises(ValueError, match=r"sklearn.datasets._base.clear_data_home, which is not trusted"):
        load(path)
    assert victim.is_dir()
    # The file is live: whoever trusts the name loses the folder.
    load(path, trusted=["sklearn.datasets._base.clear_data_home"])
    assert not victim.exists()


def test_nothing_is_imported_for_a_refused_file(path, tmp_path, monkeypatch):
    (tmp_path / "sklearn_planted.py").write_text("raise SystemExit('imported')")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(trust, "importlib", SimpleNamespace(import_module=pytest.fail))
    write_model(path, listed(named("sklearn_planted", "Thing"), named("sklearn.linear_model._base", "odd")))
    with pytest.raises(ValueError, match=r"names sklearn_planted.Thing, which is not trusted"):
        load(path)
    assert "sklearn_planted" not in sys.modules


def test_every_untrusted_name_is_listed(path):
    write_model(path, listed(named("os", "system"), named("shutil", "rmtree"), text("harmless")))
    with pytest.raises(ValueError, match=r"names os.system, shutil.rmtree, which"):
        load(path)


def test_of_skrub_only_the_preparation_of_tables_is_trusted():
    assert trust.refused_names(["skrub._table_vectorizer.TableVectorizer", "skrub._to_str.ToStr"], []) == []
    # Classes and functions of the same package that no model of ours is made of.
    others = ["skrub._data_ops._estimator.SkrubLearner", "skrub._dataframe._common.to_numpy", "skrub.datasets.fetch"]
    assert trust.refused_names(others, []) == others


def partial_call(function):
    """A partial call of a function without arguments, as skops writes it."""
    nothing = {**named("builtins", "dict", "DictNode"), "content": {}, "key_types": listed()}
    content = {"func": function, "args": listed(), "kwds": nothing, "namespace": nothing}
    return {**named("functools", "partial", "PartialNode"), "content": content}


def test_what_a_partial_call_would_call_is_judged_by_its_own_name(path):
    write_model(path, partial_call(named("sklearn.utils.validation", "check_array")))
    assert load(path).func.__name__ == "check_array"
    for module, name in (("os", "system"), ("sklearn.datasets._base", "clear_data_home")):
        write_model(path, partial_call(named(module, name)))
        with pytest.raises(ValueError, match=rf"names {module}.{name}, which is not trusted"):
            load(path)
