"""Gradient boosting by LightGBM, CatBoost or XGBoost, each as its own library fits it, in one kind of classifier.

A fitted model is held as the bytes that its library writes, which can be saved, copied and sent to another process; the
library reads them back when the first cases are scored. Categories reach each library in the form it wants.
"""

from __future__ import annotations

from collections.abc import Callable
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin

from ..arrays import Floats, Indices
from ..explaining import Contributions, from_library
from ..extras import require

_NATIVE = "_native"


class NativeBooster(ClassifierMixin, BaseEstimator):
    """A boosted model of one of three libraries, for classes 0 and 1.

    Parameters
    ----------
    library : {"lightgbm", "catboost", "xgboost"}
        Which one fits and scores.
    settings : dict
        Parameters in its own words, with ``rounds`` for the number of trees.
    categorical : array-like of int
        Columns that hold codes of categories, NaN where there is none.
    random_state : int
        Seed.

    Attributes
    ----------
    model_ : ndarray of uint8
        The model, as the library writes it.
    classes_ : ndarray
        0 and 1.
    """

    def __init__(
        self, library: str, settings: dict[str, Any] | None = None, categorical: Any = (), random_state: int = 0
    ) -> None:
        self.library = library
        self.settings = settings
        self.categorical = categorical
        self.random_state = random_state

    def fit(self, X: Floats, y: Indices, sample_weight: Floats | None = None) -> NativeBooster:
        """Fit on one thread: several members and folds are fitted at once."""
        require(self.library, "this member")
        library = LIBRARIES[self.library]
        settings = dict(self.settings or {})
        columns = np.asarray(self.categorical, dtype=np.intp)
        rounds = settings.pop("rounds", 100)
        settings["seed"] = self.random_state
        native = library.fit(X, y, sample_weight, columns, rounds, settings)
        self.classes_ = np.arange(int(np.max(y)) + 1)
        self.n_features_in_ = X.shape[1]
        self.model_ = np.frombuffer(library.write(native), dtype=np.uint8)
        setattr(self, _NATIVE, native)
        return self

    def predict_proba(self, X: Floats) -> Floats:
        """Probabilities of the classes."""
        p = LIBRARIES[self.library].score(self._model(), X, np.asarray(self.categorical, dtype=np.intp))
        return p if p.ndim == 2 else np.column_stack([1 - p, p])

    def contributions(self, X: Floats) -> Contributions:
        """What each column adds to the log-odds of class 1: Shapley values, as the library gives them."""
        categorical = np.asarray(self.categorical, dtype=np.intp)
        return from_library(LIBRARIES[self.library].explain(self._model(), X, categorical))

    def _model(self) -> Any:
        """The model of the library, read when it is first asked for."""
        native = self.__dict__.get(_NATIVE)
        if native is None:
            require(self.library, "this model")
            native = LIBRARIES[self.library].read(self.model_.tobytes())
            setattr(self, _NATIVE, native)
        return native

    def predict(self, X: Floats) -> NDArray[Any]:
        """The likelier class."""
        return self.classes_[self.predict_proba(X).argmax(axis=1)]

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in super().__getstate__().items() if name != _NATIVE}


class Library(NamedTuple):
    """What is asked of a library.

    Attributes
    ----------
    fit : callable
        Cases, classes, weights, columns of categories, rounds and settings -> its model.
    write, read : callable
        Its model to bytes, and back.
    score : callable
        Its model, cases and columns of categories -> probability of class 1; of three or more classes a
        column for each.
    explain : callable
        The same -> what each column adds to the log-odds, and behind them the base.
    """

    fit: Callable[..., Any]
    write: Callable[[Any], bytes]
    read: Callable[[bytes], Any]
    score: Callable[[Any, Floats, Indices], Floats]
    explain: Callable[[Any, Floats, Indices], Floats]


def _fit_lightgbm(
    X: Floats, y: Indices, weights: Floats | None, categorical: Indices, rounds: int, settings: dict[str, Any]
) -> Any:
    import lightgbm

    fixed: dict[str, Any] = {"verbosity": -1, "num_threads": 1, "deterministic": True, "force_col_wise": True}
    n_classes = int(y.max()) + 1
    fixed |= {"objective": "binary"} if n_classes == 2 else {"objective": "multiclass", "num_class": n_classes}
    data = lightgbm.Dataset(X, y, weight=weights, categorical_feature=categorical.tolist(), params={"verbosity": -1})
    return lightgbm.train(settings | fixed, data, num_boost_round=rounds)


def _read_lightgbm(stored: bytes) -> Any:
    import lightgbm

    return lightgbm.Booster(model_str=stored.decode("utf-8"))


def _score_lightgbm(model: Any, X: Floats, categorical: Indices) -> Floats:
    X = X if isinstance(X, np.ndarray) else np.asarray(X, dtype=np.float64)  # a frame's names mean nothing to it
    return np.asarray(model.predict(X, num_threads=1))


def _explain_lightgbm(model: Any, X: Floats, categorical: Indices) -> Floats:
    return np.asarray(model.predict(np.asarray(X, dtype=np.float64), num_threads=1, pred_contrib=True))


def _fit_catboost(
    X: Floats, y: Indices, weights: Floats | None, categorical: Indices, rounds: int, settings: dict[str, Any]
) -> Any:
    import catboost

    seed = settings.pop("seed")
    fixed = {"thread_count": 1, "verbose": False, "allow_writing_files": False, "random_seed": seed}
    model = catboost.CatBoostClassifier(iterations=rounds, **(settings | fixed))
    return model.fit(catboost.Pool(_for_catboost(X, categorical), label=y, weight=weights))


def _for_catboost(X: Floats, categorical: Indices) -> Any:
    """Numbers and categories apart: CatBoost takes categories as text."""
    from catboost import FeaturesData

    if not len(categorical):
        return X
    codes = np.nan_to_num(X[:, categorical], nan=-1.0).astype(np.intp) + 1
    names: NDArray[Any] = np.array([str(code).encode() for code in range(int(codes.max(initial=0)) + 1)], dtype=object)
    numbers = np.delete(X, categorical, axis=1).astype(np.float32)
    return FeaturesData(num_feature_data=numbers if numbers.shape[1] else None, cat_feature_data=names[codes])


def _write_catboost(model: Any) -> bytes:
    with TemporaryDirectory() as folder:
        model.save_model(f"{folder}/model.cbm")
        with open(f"{folder}/model.cbm", "rb") as file:
            return file.read()


def _read_catboost(stored: bytes) -> Any:
    import catboost

    return catboost.CatBoostClassifier().load_model(blob=stored)


def _score_catboost(model: Any, X: Floats, categorical: Indices) -> Floats:
    p = np.asarray(model.predict_proba(_for_catboost(X, categorical), thread_count=1))
    return p[:, 1] if p.shape[1] == 2 else p


def _explain_catboost(model: Any, X: Floats, categorical: Indices) -> Floats:
    import catboost

    cases = catboost.Pool(_for_catboost(X, categorical))
    found = np.asarray(model.get_feature_importance(cases, type="ShapValues", thread_count=1))
    # Its numbers come first and its categories behind them: back to the order of the columns.
    order = np.concatenate([np.delete(np.arange(X.shape[1]), categorical), categorical, [X.shape[1]]])
    return found[:, np.argsort(order)]


def _fit_xgboost(
    X: Floats, y: Indices, weights: Floats | None, categorical: Indices, rounds: int, settings: dict[str, Any]
) -> Any:
    import xgboost

    fixed: dict[str, Any] = {"nthread": 1, "verbosity": 0, "tree_method": "hist"}
    n_classes = int(y.max()) + 1
    several = {"objective": "multi:softprob", "num_class": n_classes}
    fixed |= {"objective": "binary:logistic"} if n_classes == 2 else several
    return xgboost.train(settings | fixed, _for_xgboost(X, categorical, y, weights), num_boost_round=rounds)


def _for_xgboost(X: Floats, categorical: Indices, y: Indices | None = None, weights: Floats | None = None) -> Any:
    import xgboost

    kinds = ["c" if column in categorical else "float" for column in range(X.shape[1])]
    return xgboost.DMatrix(X, label=y, weight=weights, feature_types=kinds, enable_categorical=True, nthread=1)


def _read_xgboost(stored: bytes) -> Any:
    import xgboost

    model = xgboost.Booster({"nthread": 1})
    model.load_model(bytearray(stored))
    return model


def _score_xgboost(model: Any, X: Floats, categorical: Indices) -> Floats:
    return np.asarray(model.predict(_for_xgboost(X, categorical)), dtype=np.float64)


def _explain_xgboost(model: Any, X: Floats, categorical: Indices) -> Floats:
    return np.asarray(model.predict(_for_xgboost(X, categorical), pred_contribs=True), dtype=np.float64)


LIBRARIES = {
    "lightgbm": Library(
        _fit_lightgbm,
        lambda model: model.model_to_string().encode("utf-8"),
        _read_lightgbm,
        _score_lightgbm,
        _explain_lightgbm,
    ),
    "catboost": Library(_fit_catboost, _write_catboost, _read_catboost, _score_catboost, _explain_catboost),
    "xgboost": Library(
        _fit_xgboost, lambda model: bytes(model.save_raw("ubj")), _read_xgboost, _score_xgboost, _explain_xgboost
    ),
}
