"""Write small model files, and the answers they must still give: ``python -m tests.persistence.make_files``.

The files are committed, and `test_kept_files` loads every one of them: a change that would break users' models breaks a
test first. Run this when an estimator is added, or when `FORMAT` is raised: each format has a folder of its own, and
those of older formats stay as they are. A file that exists is written again only with ``--again``, which is right only
as long as no release has written that format.
"""

import json
import sys
import warnings
from pathlib import Path

from sklearn.exceptions import ConvergenceWarning

from recuse import save
from recuse.persistence.archive import FORMAT
from tests.persistence.examples import KEPT, X, fit_example

FILES = Path(__file__).parent / "files"


def answers(model, cases):
    """What a model says about some cases: class score, answers, and acceptance score if it has one."""
    found = {"h": model.decision_function(cases).tolist(), "answers": model.predict(cases).tolist()}
    if hasattr(model, "score_samples"):
        found["r"] = model.score_samples(cases).tolist()
    return found


def make(name, folder):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model = fit_example(name)
    save(model, folder / f"{name}.skops")
    cases = X[:30]
    (folder / f"{name}.json").write_text(json.dumps({"cases": cases.tolist(), **answers(model, cases)}) + "\n")


def main():
    folder = FILES / f"format_{FORMAT}"
    folder.mkdir(parents=True, exist_ok=True)
    for name in KEPT:
        if "--again" in sys.argv[1:] or not (folder / f"{name}.skops").exists():
            make(name, folder)
            print(name, (folder / f"{name}.skops").stat().st_size, "bytes")


if __name__ == "__main__":
    main()
