"""Names, levels and labels of any characters do no harm, wherever an export puts them."""

import json
import shutil
import sqlite3
import subprocess

import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import recuse
from recuse import AbstentionBoostingClassifier

duckdb = pytest.importorskip("duckdb")
NASTY = [
    '"; DROP TABLE cases; --', "'; DROP TABLE cases; --", "\\", "\\'", '\\"', "*/", "</script>", "a\nb", "${alert(1)}",
    "`", "{0}", "%s", '"""', "'''", "@BODY@", "@", "__proto__", "constructor", "\u2028", "ä\U0001f600", "--", "/*",
    "\r",
]  # fmt: skip
texts = st.sampled_from(NASTY) | st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), min_size=1)


def fitted(names, levels, labels):
    """A model on two columns of these names, the second with these levels, for these classes."""
    random = np.random.default_rng(0)
    n = 120
    level = random.integers(0, len(levels), n)
    number = random.normal(size=n)
    frame = pd.DataFrame({names[0]: number, names[1]: np.array(levels, dtype=object)[level]})
    y = np.array(sorted(labels), dtype=object)[(number + level - 0.5 + random.normal(size=n) > 0).astype(int)]
    model = AbstentionBoostingClassifier(costs=0.3, n_rounds=5, beta=0.01, family="chow", cv=2, bags=1)
    return model.set_params(categorical_features=[names[1]], reject_label="rejected: '\"\\").fit(frame, y)


different = st.lists(texts, min_size=2, max_size=2, unique_by=str.lower)


@settings(max_examples=5, deadline=None, suppress_health_check=list(HealthCheck))
@given(different, different, different)
def test_databases_and_python_read_every_text_as_it_is(names, levels, labels):
    model = fitted(names, levels, labels)
    assert duckdb.sql(recuse.export(model).self_test).fetchall() == []
    assert sqlite3.connect(":memory:").execute(recuse.export(model, dialect="sqlite").self_test).fetchall() == []
    module = {"__name__": "model"}
    exec(recuse.export(model, to="python").text, module)
    assert module["self_test"]() == []
    case = {names[0]: 0.3, names[1]: levels[0]}
    assert module["decide"](case)["answer"] == recuse.decide(model, pd.DataFrame([case])).label[0]


@pytest.mark.skipif(shutil.which("node") is None, reason="Node is not installed: the modules of JavaScript are not run")
def test_javascript_reads_every_text_as_it_is(tmp_path):
    pairs = [(a, b) for a, b in zip(NASTY, [*NASTY[1:], "x"], strict=True)]
    script = []
    for i, (one, two) in enumerate(pairs[::4]):
        model = fitted([one, two], [two, one], [two, one])
        text = recuse.export(model, tmp_path / f"m{i}.mjs", to="javascript").text
        assert "</script>" not in text
        assert text.isascii()
        case = {one: 0.3, two: two}
        said = recuse.decide(model, pd.DataFrame([case])).label[0]
        script.append(
            f'{{ const m = await import("./m{i}.mjs"); '
            f"console.log(JSON.stringify([m.selfTest().length, "
            f"m.decide(JSON.parse({json.dumps(json.dumps(case))})).answer === {json.dumps(said)}])); }}"
        )
    (tmp_path / "all.mjs").write_text("\n".join(script))
    done = subprocess.run(["node", tmp_path / "all.mjs"], capture_output=True, text=True, check=True)
    assert [json.loads(line) for line in done.stdout.splitlines()] == [[0, True]] * len(script)


def test_null_characters_are_refused_by_name():
    model = fitted(["a\0b", "c"], ["x", "y"], ["n", "p"])
    with pytest.raises(ValueError, match="null character, which no SQL text can"):
        recuse.export(model)
