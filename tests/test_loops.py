"""Compiled code is never older than its source.

The compiler keeps machine code on disk and looks only at the file of the function that is called to see whether it is
still right. So a file of compiled loops must contain everything that its machine code depends on: the functions it
calls, the constants it reads, the NamedTuples it is given.
"""

import ast
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import recuse

ROOT = Path(recuse.__file__).parent
FILES = sorted(ROOT.rglob("loops.py"))
NAMES = [path.parent.relative_to(ROOT).as_posix() for path in FILES]
WITH_RECORDS = [
    name.rpartition("/")[2] for name, path in zip(NAMES, FILES, strict=True) if "(NamedTuple)" in path.read_text()
]


def module_of(path):
    return ".".join(("recuse", *path.relative_to(ROOT).with_suffix("").parts))


def test_there_are_compiled_files():
    assert {"boosting/abstention/engine", "boosting/exactboost", "svm", "svm/coupled"} <= set(NAMES)


@pytest.mark.parametrize("path", FILES, ids=NAMES)
def test_a_compiled_file_imports_nothing_of_this_library(path):
    """Neither at its top nor inside a function: then all that it calls or reads is its own, or of another package."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom):
            assert node.level == 0, ast.unparse(node)
            assert node.module.partition(".")[0] != "recuse", ast.unparse(node)
        elif isinstance(node, ast.Import):
            assert not any(name.name.partition(".")[0] == "recuse" for name in node.names), ast.unparse(node)


def signatures(module):
    """Types of arguments for which functions of a module have been compiled in this process so far."""
    for item in vars(module).values():
        if hasattr(item, "signatures") and hasattr(item, "py_func"):
            assert item.py_func.__module__ == module.__name__
            for signature in item.signatures:
                yield from signature


def classes_in(kind):
    """The NamedTuple classes in a type of the compiler, however deep."""
    if hasattr(kind, "instance_class"):
        yield kind.instance_class
    for part in getattr(kind, "types", ()):
        yield from classes_in(part)


def test_no_named_tuple_from_elsewhere_reaches_a_compiled_function():
    """Made elsewhere, it could get another order of fields, and the old code would read the wrong ones."""
    code = """
import sys
import numpy as np
from sklearn.datasets import make_classification
from recuse import AbstentionBoostingClassifier, CoupledOneClassSVC, DoubleHingeSVC, ExactBoostClassifier
sys.path.insert(0, sys.argv[1])
from tests.test_loops import classes_in, signatures
X, y = make_classification(60, 4, random_state=0)
for model in (
    AbstentionBoostingClassifier(family="coupled", beta=0.01, n_rounds=3, threshold="calibrated"),
    AbstentionBoostingClassifier(family="coupled", beta=0.01, n_rounds=3, interactions=1),
    ExactBoostClassifier(metric="reject_cost", n_estimators=1, n_rounds=2),
    DoubleHingeSVC(),
    CoupledOneClassSVC(nu_positive=0.2, nu_negative=0.2),
):
    model.fit(X, y)
AbstentionBoostingClassifier(family="coupled", beta=0.01, n_rounds=3, threshold="calibrated").fit(X, np.arange(60) % 3)
rows = np.resize(np.arange(60), 100_000)  # as many as are coded by a compiled loop
AbstentionBoostingClassifier(family="coupled", beta=0.01, n_rounds=1).fit(X[rows], y[rows])
for name in [name for name in sys.modules if name.startswith("recuse.") and name.endswith(".loops")]:
    found = {cls.__module__ for kind in signatures(sys.modules[name]) for cls in classes_in(kind)}
    assert found <= {name}, (name, found)
    print(name)
"""
    root = Path(__file__).parents[1]
    result = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", code, str(root)], capture_output=True, text=True, cwd=root
    )
    assert result.returncode == 0, result.stderr
    assert set(result.stdout.split()) == {module_of(path) for path in FILES}


# Added to a copy of each file: a compiled function, and one that it calls.
PROBE = """

@njit(cache=True, nogil=True)
def probe_inner(x):
    return x + 1.0


@njit(cache=True, nogil=True)
def probe(x):
    return probe_inner(x)
"""

# Where arguments are records: one more.
RECORD_PROBE = """

class Before(NamedTuple):
    x: float


@njit(cache=True, nogil=True)
def probe_class(record):
    return record.x
"""

# Inner functions have no entry point from Python: called through one that has.
LOSS = """

@njit(cache=True, nogil=True)
def probe_loss(objective, scores, sample, pos, neg):
    return _grouped_loss(objective, scores, sample, pos, neg)
"""

# The layouts that would go wrong: what is called, or the class of an argument, is in another file.
PARTS = """
from typing import NamedTuple
from numba import njit

class Prices(NamedTuple):
    fp: float
    fn: float

@njit(cache=True)
def inner(x):
    return x + 1.0
"""
SPLIT = """
from numba import njit
from parts import inner

@njit(cache=True)
def probe(x):
    return inner(x)

@njit(cache=True)
def read(prices):
    return prices.fp
"""

CALLS = """
import importlib, json, sys
import numpy as np
sys.path.insert(0, sys.argv[1])
found = {}
for name in json.loads(sys.argv[2]):
    module = importlib.import_module(name)
    found[name] = module.probe(0.0)
    if hasattr(module, "probe_class"):
        # Renamed between the two processes: the old name is in the cache.
        record = vars(module).get("Before") or vars(module)["Behind"]
        found[f"{name} class"] = module.probe_class(record(3.0))
    if name == "exactboost":
        other = dict.fromkeys(module.DrawnCases._fields, np.zeros(3, np.int32))
        sample = module.DrawnCases(**other | {"unit": np.ones(3), "n_pos": 1})
        scores, pos, neg = np.array([2.0, 1.0, 0.0]), np.zeros(3), np.zeros(3)
        found["callee"] = module.probe_loss(module.PrecisionAtK(1.0), scores, sample, pos, neg)
        costs = module.RejectCost(fp=1.0, fn=2.0, reject_negative=0.25, reject_positive=0.75)
        found["fields"] = module.reject_loss(costs, np.array([0.0, 2.0, 1.0]), np.array([3.0, 1.0, 1.0]), 3)
    if name == "split":
        import parts
        found["split fields"] = module.read(parts.Prices(fp=1.0, fn=2.0))
print(json.dumps(found))
"""


@pytest.fixture(scope="module")
def before_and_after(tmp_path_factory):
    """What the compiled functions return before and after their source has changed, by two processes with one cache."""
    folder = tmp_path_factory.mktemp("loops")
    copies = {name.rpartition("/")[2]: path.read_text() + PROBE for name, path in zip(NAMES, FILES, strict=True)}
    assert len(copies) == len(FILES)
    for name in WITH_RECORDS:
        copies[name] += RECORD_PROBE
    copies["exactboost"] += LOSS
    sources = copies | {"parts": PARTS, "split": SPLIT}
    changes = {name: [("x + 1.0", "x + 2.0")] for name in (*copies, "parts")}
    for name in WITH_RECORDS:
        changes[name] = [*changes[name], ("class Before", "class Behind")]
    # Two calls down from the function called, and a choice by class between them; and fields in another order.
    changes["exactboost"] += [
        ("return hits + min(max(k", "return 0.50 + min(max(k"),
        ("    fp: float\n    fn: float\n", "    fn: float\n    fp: float\n"),
    ]
    changes["parts"] += [("    fp: float\n    fn: float\n", "    fn: float\n    fp: float\n")]
    environment = os.environ | {"NUMBA_CACHE_DIR": str(folder / "cache"), "NUMBA_DISABLE_JIT": "0"}
    command = [sys.executable, "-c", CALLS, str(folder), json.dumps([*copies, "split"])]
    outputs = []
    for turn in range(2):
        for name, text in sources.items():
            for old, new in changes.get(name, []) if turn else []:
                assert old in text, (name, old)
                assert len(old) == len(new)  # of the same size: the time of the change alone has to be noticed
                text = text.replace(old, new)
            if not turn or name in changes:
                path = folder / f"{name}.py"
                path.write_text(text)
                os.utime(path, (1_000_000_000 + 10 * turn,) * 2)
        result = subprocess.run(command, capture_output=True, text=True, env=environment)
        assert result.returncode == 0, result.stderr
        outputs.append(json.loads(result.stdout))
    return outputs


@pytest.mark.parametrize("name", [name.rpartition("/")[2] for name in NAMES])
def test_a_changed_function_is_compiled_again_where_another_calls_it(before_and_after, name):
    assert [output[name] for output in before_and_after] == [1.0, 2.0]


@pytest.mark.parametrize("name", WITH_RECORDS)
def test_a_renamed_class_in_the_cache_does_not_stop_a_fit(before_and_after, name):
    """The index of the cache names the classes of arguments, and is read before the change of the file is noticed."""
    assert [output[f"{name} class"] for output in before_and_after] == [3.0, 3.0]


def test_a_change_far_below_the_function_called_is_noticed(before_and_after):
    assert [output["callee"] for output in before_and_after] == [0.0, -0.5]


def test_fields_in_another_order_are_read_by_their_names(before_and_after):
    before, after = (output["fields"] for output in before_and_after)
    assert before == after


def test_in_two_files_the_old_code_would_go_on_running(before_and_after):
    """What the rule is for, and the proof that these tests can fail."""
    before, after = before_and_after
    assert before["split"] == after["split"] == 1.0  # 2.0 would be right
    assert before["split fields"] == 1.0
    assert after["split fields"] == 2.0  # 1.0 would be right
