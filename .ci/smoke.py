"""What a fresh installation must be able to do; run by ``release_check.py``, outside the source tree.

``smoke.py library``: fit, decide, save and load in Python, with the base installation.
``smoke.py command RECUSE VERSION``: the command, on a table of its own.
"""

from __future__ import annotations

import csv
import subprocess
import sys
from pathlib import Path

ROWS = 300


def library() -> None:
    """Fit two kinds of classifiers, one that is compiled and one that wraps; a saved one answers as before."""
    import numpy as np
    from sklearn.datasets import load_breast_cancer
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    import recuse

    assert "site-packages" in recuse.__file__, recuse.__file__
    X, y = load_breast_cancer(return_X_y=True)
    prices = recuse.Costs(fp=1, fn=5, reject=0.2)
    for classifier in (
        recuse.ThresholdRejectClassifier(LogisticRegression(), costs=prices),
        recuse.DoubleHingeSVC(prices),
    ):
        model = make_pipeline(StandardScaler(), classifier).fit(X[:ROWS], y[:ROWS])
        recuse.save(model, "model.skops")
        decisions = recuse.decide(recuse.load("model.skops"), X[ROWS:])
        assert (decisions.label == model.predict(X[ROWS:])).all()
        assert 0 < np.mean(decisions.accepted) < 1
        print(f"smoke: {type(classifier).__name__}: {decisions}")


def command(recuse: str, version: str) -> None:
    """Every command that needs no data of ours."""
    write_table(Path("loans.csv"))
    table = ["loans.csv", "--target", "default", "--positive", "bad"]
    assert run(recuse, "--version").strip() == version
    assert "compare" in run(recuse, "--help")
    assert "ensemble" in run(recuse, "methods")
    run(recuse, "check", *table)
    run(
        recuse,
        "compare",
        *table,
        "--methods",
        "logistic-chow,logistic-no-reject",
        "--repeats",
        "1",
        "--cv",
        "2",
        "-o",
        "run",
    )
    page = Path("run/report.html").read_text(encoding="utf-8")
    assert "vega" in page
    assert "</html>" in page
    run(recuse, "fit", *table, "--method", "logistic-chow", "-o", "loans.skops")
    assert "LogisticRegression" in run(recuse, "inspect", "loans.skops")
    run(recuse, "predict", "loans.skops", "loans.csv", "--capacity", "5", "-o", "answers.csv")
    with open("answers.csv", newline="", encoding="utf-8") as file:
        answers = list(csv.DictReader(file))
    assert len(answers) == ROWS
    assert {row["decision"] for row in answers} == {"good", "bad", "[abstain]"}
    assert sum(row["review"] != "" for row in answers) == 5


def run(*parts: str) -> str:
    """Output of a command that must succeed."""
    print("smoke:", *parts[1:], flush=True)
    return subprocess.run(parts, check=True, capture_output=True, text=True, encoding="utf-8").stdout


def write_table(path: Path) -> None:
    """Loans whose outcome follows the income up to a remainder: three kinds of answers are certain."""
    with open(path, "w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(["income", "region", "default"])
        for i in range(ROWS):
            income = 1000 + 10 * (i * 37 % ROWS)
            chance = (i * 61 % 100) / 100
            bad = chance < 1 / (1 + 2.718 ** ((income - 2000) / 300))
            writer.writerow([income, ("north", "south")[i % 2], "bad" if bad else "good"])


if __name__ == "__main__":
    library() if sys.argv[1] == "library" else command(*sys.argv[2:])
