"""Models that cannot be exported say why, and name one that can."""

import numpy as np
import pytest
from sklearn.decomposition import PCA
from sklearn.ensemble import IsolationForest, RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import StandardScaler

import recuse
from recuse.exporting import CannotExportError
from tests.exporting.models import fitted, patients, rule, stumps

REFUSED = {
    "RandomForestClassifier has no score": lambda: rule(RandomForestClassifier(5, random_state=0)),
    "outlier detector cannot be exported": lambda: rule(LogisticRegression(), novelty=IsolationForest(n_estimators=5)),
    "PCA cannot be exported": lambda: rule(PCA(1), LogisticRegression()),
    "trees and stacked scores": lambda: stumps(max_depth=2, family="chow", cv=2),
}


@pytest.mark.parametrize("why", REFUSED)
def test_what_cannot_be_exported_says_why(why):
    with pytest.raises(CannotExportError, match=f"{why}.*'abstention-boosting' or 'logistic-chow'"):
        recuse.export(REFUSED[why]())


def test_free_text_is_named():
    frame = patients().assign(note=[f"note {i // 3} of {i // 3 * 7919 % 997}" for i in range(260)])
    model = recuse.fit(frame, "y", 0.2, method="logistic-chow", positive="well")
    with pytest.raises(CannotExportError, match=r"column 'note' is prepared by StringEncoder.*drop=\['note'\]") as said:
        recuse.export(model)
    assert "logistic-chow" not in str(said.value)  # which the model is


def test_percentages_are_said_to_be_parts_of_one():
    model = recuse.fit(patients(), "y", 0.2, method="logistic-chow", positive="well")
    model[0].remember_writings({"age": "1.234,5%", "seen": "%d.%m.%Y"})
    plain, percent = recuse.export(model, reasons=False).notes
    assert plain == "Numbers and dates must be plain here; the training table wrote ['age', 'seen'] otherwise."
    assert percent == "Percentages are parts of 1 here: 10.5 % in ['age'] is 0.105."


@pytest.mark.parametrize(
    "model", [recuse.ThresholdRejectClassifier(LogisticRegression()), recuse.ExactBoostClassifier(n_estimators=2)]
)
def test_several_classes_are_refused(model):
    """With a remedy that helps: no method can be exported with three."""
    X = np.arange(60.0)[:, None]
    model = model.fit(StandardScaler().fit_transform(X), np.arange(60) // 20)
    with pytest.raises(CannotExportError, match=r"only two classes.*\[0, 1, 2\].*--positive 2 --method") as said:
        recuse.export(model)
    assert "abstention-boosting" not in str(said.value)


def test_parameters_are_checked():
    with pytest.raises(ValueError, match="to must be one of"):
        recuse.export(fitted("coupled"), to="cobol")
    with pytest.raises(ValueError, match="dialect must be one of"):
        recuse.export(fitted("coupled"), dialect="oracle")
    with pytest.raises(ValueError, match="key='kind' is the name of a column of the answer"):
        recuse.export(fitted("coupled"), key="kind")
    with pytest.raises(ValueError, match="key='id' is for SQL, which reads a table; with to='onnx' there is none"):
        recuse.export(fitted("coupled"), to="onnx", key="id")
    with pytest.raises(ValueError, match="table='t' is for SQL"):
        recuse.export(fitted("coupled"), to="python", table="t")
    with pytest.raises(ValueError, match="table must be the name"):
        recuse.export(fitted("coupled"), table="")
