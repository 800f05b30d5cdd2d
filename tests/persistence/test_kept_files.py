"""Model files written in the past, at least one per public estimator and format, still load and answer the same."""

import json
import warnings

import numpy as np
import pytest
import sklearn

import recuse
from recuse.persistence import load, names, saved_versions
from recuse.persistence.archive import FORMAT, OLDEST_FORMAT, read_header, read_schema
from tests.persistence.examples import KEPT
from tests.persistence.make_files import FILES, answers

FORMATS = range(OLDEST_FORMAT, FORMAT + 1)
PATHS = [path for number in FORMATS for path in sorted((FILES / f"format_{number}").glob("*.skops"))]


def load_and_expect_warnings(path):
    """Load a file; `load` must warn about recuse or scikit-learn in another version, and about nothing else."""
    present = {"recuse": recuse.__version__, "scikit-learn": sklearn.__version__}
    changed = {package for package, version in present.items() if saved_versions(path)[package] != version}
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model = load(path)
    messages = [str(warning.message) for warning in caught]
    assert len(messages) == len(changed), messages
    assert all(any(f"was saved with {package} " in message for message in messages) for package in changed)
    return model


def skip_parts_of_a_later_scikit_learn(path):
    """Its estimators find nothing that a later version no longer stores: files go from old versions to new ones."""
    saved, present = (
        tuple(map(int, v.split(".")[:2])) for v in (saved_versions(path)["scikit-learn"], sklearn.__version__)
    )
    if saved > present and any((name or "").startswith("sklearn.") for name in stored_names(path)):
        pytest.skip(f"holds an estimator of a later scikit-learn ({saved} > {present})")


def stored_names(path):
    return {names.name_of(node) for node in names.nodes(read_schema(path.read_bytes()))}


@pytest.mark.parametrize("path", PATHS, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_a_kept_file_answers_as_it_did(path):
    assert f"format_{read_header(path.read_bytes()).format}" == path.parent.name
    skip_parts_of_a_later_scikit_learn(path)
    expected = json.loads(path.with_suffix(".json").read_text())
    found = answers(load_and_expect_warnings(path), expected.pop("cases"))
    assert found.keys() == expected.keys()
    assert found["answers"] == expected["answers"]
    for score in expected.keys() - {"answers"}:
        np.testing.assert_allclose(found[score], expected[score], rtol=0, atol=1e-9)


# Written by the last commits whose files had no format number, and no manifest.
@pytest.mark.parametrize("folder", ["before_format_numbers", "format_1"])
def test_a_file_that_is_no_longer_read_says_in_one_sentence_to_fit_again(folder):
    path = FILES / folder / "double_hinge.skops"
    with pytest.raises(ValueError, match=r"an older recuse .*: fit the model again and save it\.$") as caught:
        load(path)
    message = str(caught.value).removeprefix(str(path))
    assert message.count(".") == 1
    assert "\n" not in message


def test_there_is_a_file_of_every_estimator_and_each_is_small():
    assert {path.stem for path in PATHS if path.parent.name == f"format_{FORMAT}"} == set(KEPT)
    assert max(path.stat().st_size for path in PATHS) < 20_000


def test_every_stored_record_is_in_a_kept_file():
    stored = set()
    for path in PATHS:
        stored |= stored_names(path)
    # An objective made of a user's own function can be loaded only where that function is.
    assert set(names.RECORDS) - stored == {"recuse.saved.RocObjective"}
