"""Tables with three or more outcomes: scikit-learn's, columns of `RECUSE_DATA` taken as outcomes, and drawn ones.

The shared tables have two outcomes each. Three of them hold a column of codes, or columns of 0 and 1 that exclude each
other, which the other columns say something about: the kind of chest pain, the wilderness area of a plot of forest,
the education of a bank's client. They are the outcome here, and what was the outcome is left out.
"""

import numpy as np

TABLES = {
    "iris": lambda: _of_scikit_learn("load_iris"),
    "wine": lambda: _of_scikit_learn("load_wine"),
    "digits": lambda: _of_scikit_learn("load_digits"),
    "chest pain (heart_cleveland)": lambda: _codes("heart_cleveland", "cp"),
    "wilderness (covtype_sample)": lambda: _indicators("covtype_sample", "wilderness"),
    "education (bank_marketing)": lambda: _indicators("bank_marketing", "education"),
    "drawn: 5 classes, clusters": lambda: _clusters(5),
    "drawn: 3 classes, a cascade": lambda: _cascade(),
}


def class_table(name):
    """Features and class numbers of a table."""
    X, y = TABLES[name]()
    return np.asarray(X, dtype=float), np.unique(y, return_inverse=True)[1]


def _of_scikit_learn(loader):
    from sklearn import datasets

    return getattr(datasets, loader)(return_X_y=True)


def _codes(name, column):
    from recuse.datasets import load

    found = load(name)
    outcome = found.feature_names.index(column)
    return np.delete(found.data, outcome, axis=1), found.data[:, outcome]


def _indicators(name, prefix):
    from recuse.datasets import load

    found = load(name)
    outcomes = [i for i, column in enumerate(found.feature_names) if column.lower().startswith(prefix)]
    known = found.data[:, outcomes].sum(axis=1) == 1
    return np.delete(found.data[known], outcomes, axis=1), found.data[np.ix_(known, outcomes)].argmax(axis=1)


def _clusters(n_classes):
    from sklearn.datasets import make_classification

    return make_classification(
        8_000,
        20,
        n_informative=8,
        n_redundant=4,
        n_classes=n_classes,
        n_clusters_per_class=2,
        flip_y=0.05,
        random_state=0,
    )


def _cascade(n=8_000):
    """An outcome found out in two steps, the first by the product of two features; many cases are unclear."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 6))
    first = rng.random(n) < 1 / (1 + np.exp(-2 * (X[:, 0] + X[:, 1] * X[:, 2])))
    second = rng.random(n) < 1 / (1 + np.exp(-3 * (X[:, 3] - 0.5 * X[:, 4])))
    return X, np.where(first, 0, np.where(second, 1, 2))
