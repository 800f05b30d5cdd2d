"""The source as a reader meets it: short functions, few parameters, one class per name."""

import ast
from collections import defaultdict
from pathlib import Path

import pytest

import recuse

ROOT = Path(recuse.__file__).parent
SOURCES = {path.relative_to(ROOT).as_posix(): ast.parse(path.read_text()) for path in sorted(ROOT.rglob("*.py"))}
MOST_LINES, MOST_PARAMETERS = 60, 8

# A loop that has to be one function: its state would be passed from call to call in every step.
LONG = {("svm/coupled/loops.py", "coupled_smo")}
# Called in every round from Python, where tuples for its arguments would take longer than a small scan.
MANY_PARAMETERS = {
    ("boosting/abstention/engine/loops.py", "minimise_step"),
    ("boosting/abstention/engine/loops.py", "scan"),
    # Compiled, too: a tuple of arrays is compiled once more for every place where it is made.
    ("boosting/exactboost/loops.py", "_loss_with_stump"),
}
# A kernel and a calibration, both known by this name.
SHARED_NAMES = {"Sigmoid"}


def public_names():
    """Names in some `__all__`, and the classes that public ones inherit from."""
    statements = [node for tree in SOURCES.values() for node in tree.body]
    names = set()
    for node in statements:
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__":
            names |= {item.value for item in ast.walk(node.value) if isinstance(item, ast.Constant)}
    classes = [node for node in statements if isinstance(node, ast.ClassDef) and node.name in names]
    return names | {ast.unparse(base) for node in classes for base in node.bases}


PUBLIC = public_names()


def functions(tree):
    """Every function with the class that it is a method of, if any."""
    owners = {id(item): node for node in ast.walk(tree) if isinstance(node, ast.ClassDef) for item in node.body}
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef):
            yield node, owners.get(id(node))


def n_lines(function):
    lines = function.end_lineno - function.lineno + 1
    if ast.get_docstring(function) is None:
        return lines
    return lines - (function.body[0].end_lineno - function.body[0].lineno + 1)


def n_parameters(function, owner):
    arguments = function.args
    n = len(arguments.posonlyargs) + len(arguments.args) + len(arguments.kwonlyargs)
    return n - (owner is not None)  # self or cls


@pytest.mark.parametrize("path", SOURCES)
def test_functions_are_short_and_take_few_parameters(path):
    long, many = set(), set()
    for function, owner in functions(SOURCES[path]):
        if n_lines(function) > MOST_LINES:
            long.add((path, function.name))
        # The parameters of a command are the options of the command line.
        is_public = path.startswith("cli/") or (function if owner is None else owner).name in PUBLIC
        if n_parameters(function, owner) > MOST_PARAMETERS and not is_public:
            many.add((path, function.name))
    assert long == {known for known in LONG if known[0] == path}
    assert many == {known for known in MANY_PARAMETERS if known[0] == path}


def test_a_class_name_means_one_class():
    """Each paper's experiments have their own outcomes and parts; everywhere else a name is used once."""
    places = defaultdict(set)
    for path, tree in SOURCES.items():
        if not path.startswith("reproduce/"):
            for node in ast.walk(tree):
                if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                    places[node.name].add(path)
    assert {name for name, paths in places.items() if len(paths) > 1} == SHARED_NAMES
