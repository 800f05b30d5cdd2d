"""The members an ensemble may have: one list, `ROSTER`, the cheapest to fit first.

A member is a name, the view of the table it needs, and a function that builds its classifier. Settings are fixed,
instead of a search in every fit. Of ten per kind of learner, ``python -m benchmarks portfolio`` finds those that serve
other data sets best: random forest, CatBoost and double hinge have what it found, and elsewhere nothing was better
beyond doubt. Some kinds have a second setting: larger boosters on larger tables, and at effort "best" another one of
the list. Which of two serves better depends on how much there is to learn, and the blend finds out. Gradient boosting
comes from LightGBM, CatBoost and XGBoost where they are installed (``pip install 'recuse[boosters]'``), and from
scikit-learn.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any, NamedTuple

from sklearn.base import clone, is_classifier

from ..arrays import Indices
from ..costs import Costs
from ..parameters import unknown_name
from .features import CODES, SCALED

QUICK, MEDIUM, BEST = EFFORTS = ("quick", "medium", "best")

# Members that are fitted at prices get these: what is blended are probabilities, which belong to the cases and not to
# whoever pays, so that other prices need other thresholds and nothing else.
_PRICES = Costs(fp=1.0, fn=1.0, reject=0.2)


class Training(NamedTuple):
    """What a member is built for.

    Attributes
    ----------
    n, p : int
        Cases in a training part, and columns.
    seed : int
        Random state.
    categorical : ndarray of int
        Columns of its view that are codes of categories.
    """

    n: int
    p: int
    seed: int
    categorical: Indices

    @property
    def categories(self) -> list[int] | None:
        """Columns of categories as estimators want them said: None where there are none."""
        return self.categorical.tolist() or None


@dataclass(frozen=True)
class Member:
    """A kind of model.

    Attributes
    ----------
    name, title : str
        In parameters, and in tables and sentences.
    view : str
        `CODES` or `SCALED`.
    build : callable
        Training -> classifier with `predict_proba` or `decision_function`.
    effort : str
        The least effort at which it takes part.
    needs : str, optional
        Package that must be installed.
    least_rows : int
        On tables with fewer cases it does not take part, unless it is named.
    most_rows : int, optional
        Largest number of training cases; from more it gets a stratified sample of this size.
    most_cells : int, optional
        On tables with more cases times columns it does not take part.
    base, rate : float
        Seconds of one fit: a fixed part, and one per million cells. As ``python -m benchmarks members`` measures them.
    """

    name: str
    title: str
    view: str
    build: Callable[[Training], Any]
    effort: str = MEDIUM
    needs: str | None = None
    least_rows: int = 0
    most_rows: int | None = None
    most_cells: int | None = None
    base: float = 0.02
    rate: float = 1.0

    def seconds(self, n: int, p: int) -> float:
        """What one fit takes on a machine of today, roughly: a fixed part, and one that grows with the table."""
        return self.base + self.rate * 1e-6 * min(n, self.most_rows or n) * p

    @property
    def installed(self) -> bool:
        """Whether what it needs is there."""
        return self.needs is None or find_spec(self.needs) is not None


def _logistic(training: Training) -> Any:
    from sklearn.linear_model import LogisticRegression

    return LogisticRegression(max_iter=200)


def _curves(n_knots: int, C: float) -> Callable[[Training], Any]:
    def build(training: Training) -> Any:
        from sklearn.linear_model import LogisticRegression
        from sklearn.pipeline import make_pipeline

        from .curves import HingeBasis

        return make_pipeline(HingeBasis(n_knots), LogisticRegression(C=C, max_iter=300))

    return build


def _histogram_boosting(learning_rate: float, max_iter: int, max_leaf_nodes: int) -> Callable[[Training], Any]:
    def build(training: Training) -> Any:
        from sklearn.ensemble import HistGradientBoostingClassifier

        return HistGradientBoostingClassifier(
            learning_rate=learning_rate,
            max_iter=max_iter,
            max_leaf_nodes=max_leaf_nodes,
            min_samples_leaf=15,
            l2_regularization=3.0,
            max_features=0.7,
            early_stopping=False,
            categorical_features=training.categories,
            random_state=training.seed,
        )

    return build


def _booster(library: str, **settings: Any) -> Callable[[Training], Any]:
    def build(training: Training) -> Any:
        from .boosters import NativeBooster

        return NativeBooster(library, settings, training.categorical, training.seed)

    return build


def _lightgbm(**settings: Any) -> Callable[[Training], Any]:
    return _booster(
        "lightgbm",
        rounds=150,
        min_data_in_leaf=15,
        lambda_l2=3.0,
        feature_fraction=0.7,
        bagging_fraction=0.8,
        bagging_freq=1,
        **settings,
    )


def _catboost(**settings: Any) -> Callable[[Training], Any]:
    def build(training: Training) -> Any:
        # Its time grows with the columns times the cuts in each, whatever the number of cases. Of many columns, and for
        # few cases, fewer cuts are enough; and of a great many, a level of a tree looks at as many as of 200.
        few = training.n <= _FEW
        cuts = _LEAST_CUTS if few else max(_LEAST_CUTS, min(254, 2_000 // training.p))
        columns = {"border_count": cuts, "rsm": min(0.5, 100 / training.p)}
        # Its Newton steps in a leaf are damped by l2_leaf_reg: to look back at each takes a fifth of the time.
        steps = {"leaf_estimation_backtracking": "No"} if few else {}
        return _booster("catboost", l2_leaf_reg=11.0, random_strength=3.0, **columns, **steps, **settings)(training)

    return build


def _forest(kind: str, criterion: str, smallest_leaf: int, max_features: Any = "sqrt") -> Callable[[Training], Any]:
    def build(training: Training) -> Any:
        import sklearn.ensemble

        # Leaves that grow with the table keep probabilities smooth and answers fast. Trees take most of the time of an
        # answer; with a forest per fold, 60 blend as well as 150.
        leaf = max(smallest_leaf, training.n // 2_000)
        return getattr(sklearn.ensemble, kind)(
            n_estimators=60,
            criterion=criterion,
            min_samples_leaf=leaf,
            max_features=max_features,
            random_state=training.seed,
        )

    return build


def _double_hinge(training: Training) -> Any:
    from ..svm import DoubleHingeSVC

    return DoubleHingeSVC(costs=_PRICES, C=7.0, gamma=0.75 / training.p, on_reject="never")


def _abstention_boosting(training: Training) -> Any:
    from ..boosting import AbstentionBoostingClassifier

    return AbstentionBoostingClassifier(
        costs=_PRICES, family="chow", n_rounds=150, beta=1e-3, max_bins=64, random_state=training.seed,
        on_reject="never", categorical_features=training.categories,
    )  # fmt: skip


def features_in_a_round(p: int) -> float:
    """Share of the columns that a round of ExactBoost looks at: a fifth, of more than 100 columns 20 of them.

    Its time grows with that number; a run of 50 rounds sees 1,000 columns.
    """
    return min(0.2, 20 / p)


def _exactboost(training: Training) -> Any:
    from ..boosting import ExactBoostClassifier

    return ExactBoostClassifier(
        metric="auc", margin=0.0, n_estimators=40, n_rounds=50, max_features=features_in_a_round(training.p),
        random_state=training.seed, on_reject="never",
        categorical_features=training.categories,
    )  # fmt: skip


def _neighbours(training: Training) -> Any:
    from sklearn.neighbors import KNeighborsClassifier

    return KNeighborsClassifier(n_neighbors=max(5, int(training.n**0.5) // 2), weights="distance")


def _network(training: Training) -> Any:
    from sklearn.neural_network import MLPClassifier

    return MLPClassifier(
        (64,), alpha=1e-2, learning_rate_init=3e-3, batch_size=min(128, training.n), max_iter=60, tol=1e-3,
        n_iter_no_change=8, random_state=training.seed,
    )  # fmt: skip


_FEW, _LEAST_CUTS = 1_000, 32  # training cases up to which CatBoost looks at the fewest cuts
_LARGE = 4_000  # cases from which larger models take part

# Who takes part at which effort: ``python -m benchmarks efforts``.
ROSTER: tuple[Member, ...] = (
    Member("logistic", "logistic regression", SCALED, _logistic, QUICK, base=0.01, rate=0.1),
    Member(
        "curves",
        "logistic regression on curves",
        SCALED,
        _curves(10, 1.0),
        QUICK,
        most_cells=20_000_000,
        base=0.01,
        rate=2.0,
    ),
    Member(
        "curves-free",
        "logistic regression on curves, less bound",
        SCALED,
        _curves(7, 4.2),
        BEST,
        most_cells=20_000_000,
        base=0.01,
        rate=1.2,
    ),
    Member(
        "extra-trees",
        "extremely randomised trees",
        SCALED,
        _forest("ExtraTreesClassifier", "gini", 2),
        QUICK,
        base=0.04,
        rate=1.4,
    ),
    Member(
        "extra-trees-fine",
        "extremely randomised trees, finer",
        SCALED,
        _forest("ExtraTreesClassifier", "entropy", 1, 0.3),
        BEST,
        base=0.04,
        rate=1.8,
    ),
    Member(
        "forest", "random forest", SCALED, _forest("RandomForestClassifier", "entropy", 1), BEST, base=0.06, rate=9.0
    ),
    Member(
        "lightgbm",
        "LightGBM",
        CODES,
        _lightgbm(learning_rate=0.06, num_leaves=12),
        QUICK,
        needs="lightgbm",
        base=0.03,
        rate=0.8,
    ),
    Member(
        "histogram-boosting",
        "scikit-learn's histogram boosting",
        CODES,
        _histogram_boosting(0.06, 150, 12),
        QUICK,
        base=0.06,
        rate=0.6,
    ),
    Member(
        "histogram-boosting-large",
        "scikit-learn's histogram boosting, larger",
        CODES,
        _histogram_boosting(0.15, 150, 32),
        QUICK,
        least_rows=_LARGE,
        base=0.1,
        rate=1.3,
    ),
    Member(
        "lightgbm-large",
        "LightGBM, larger",
        CODES,
        _lightgbm(learning_rate=0.15, num_leaves=32),
        QUICK,
        needs="lightgbm",
        least_rows=_LARGE,
        base=0.05,
        rate=1.6,
    ),
    Member(
        "catboost",
        "CatBoost",
        CODES,
        _catboost(rounds=350, depth=5, learning_rate=0.04),
        needs="catboost",
        base=0.25,
        rate=2.6,
    ),
    Member(
        "catboost-large",
        "CatBoost, larger",
        CODES,
        _catboost(rounds=700, depth=6, learning_rate=0.1),
        needs="catboost",
        least_rows=_LARGE,
        base=0.6,
        rate=6.0,
    ),
    Member(
        "xgboost",
        "XGBoost",
        CODES,
        _booster(
            "xgboost",
            rounds=150,
            learning_rate=0.07,
            max_depth=5,
            min_child_weight=3,
            subsample=0.8,
            colsample_bytree=0.7,
        ),
        BEST,
        needs="xgboost",
        base=0.04,
        rate=0.8,
    ),
    Member("double-hinge", "double hinge SVM", SCALED, _double_hinge, BEST, most_rows=4_000, base=0.02, rate=2.0),
    Member("abstention-boosting", "boosted stumps", CODES, _abstention_boosting, BEST, base=0.04, rate=1.5),
    Member("exactboost", "ExactBoost on AUC", CODES, _exactboost, most_rows=50_000, base=0.04, rate=1.5),
    Member("neighbours", "nearest neighbours", SCALED, _neighbours, BEST, most_rows=20_000, base=0.02, rate=5.0),
    Member("network", "neural network", SCALED, _network, most_rows=50_000, base=0.05, rate=3.0),
)


def choose_members(effort: str, n: int) -> list[Member]:
    """Return the members that take part at an effort, on a table of n cases, as far as they are installed.

    scikit-learn's histogram boosting stands in for LightGBM, and only for it.
    """
    found = [
        member
        for member in ROSTER
        if EFFORTS.index(member.effort) <= EFFORTS.index(effort) and member.installed and n >= member.least_rows
    ]
    boosted = any(member.needs == "lightgbm" for member in found)
    return [member for member in found if not (boosted and member.name.startswith("histogram-boosting"))]


def as_member(given: Any) -> Member:
    """A member as the user gives it: by its name in the roster, an entry of it, or a (name, classifier) pair."""
    if isinstance(given, Member):
        return given
    return _find(given) if isinstance(given, str) else _own(given)


def _own(given: Any) -> Member:
    """A classifier of the user's own; it gets numbers as they are, and codes of categories."""
    try:
        name, classifier = given
    except (TypeError, ValueError):
        raise TypeError(f"members must hold names or (name, classifier) pairs; got {given!r}.") from None
    if not isinstance(name, str) or not hasattr(classifier, "get_params") or not is_classifier(classifier):
        raise TypeError(f"members must hold names or (name, classifier) pairs; got {given!r}.")
    if not (hasattr(classifier, "predict_proba") or hasattr(classifier, "decision_function")):
        raise TypeError(f"members: {name!r} has neither predict_proba nor decision_function: no score to blend.")
    return Member(name, name, CODES, lambda _: clone(classifier))


def _find(name: str) -> Member:
    by_name = {member.name: member for member in ROSTER}
    if name not in by_name:
        raise ValueError(unknown_name("members", name, by_name))
    if not by_name[name].installed:
        raise ImportError(f"members names {name!r}, which needs {by_name[name].needs}: pip install 'recuse[boosters]'.")
    return by_name[name]
