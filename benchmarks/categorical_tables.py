"""Tables with the categories that the shared data sets hold as numbers.

The files hold categories as integer codes or as one column of 0 and 1 per category (their README says which). Here they
are text again, as in the tables of users: the names of codes are not known, so that code 3 becomes "c3".
"""

import numpy as np

from recuse.datasets import load

CODED = {
    "german": (
        "account_balance", "payment_status_previous", "purpose", "savings", "employment_length", "sex_marital_status",
        "guarantors", "most_valuable_asset", "concurrent_credits", "apartment_type", "occupation", "telephone",
        "foreign_worker",
    ),
    "heart_cleveland": ("sex", "cp", "fbs", "restecg", "exang", "slope", "thal"),
    "heart_statlog": (
        "sex", "chest", "fasting_blood_sugar", "resting_electrocardiographic_results", "exercise_induced_angina",
        "slope", "thal",
    ),
    "australian": ("A1", "A4", "A5", "A6", "A8", "A9", "A11", "A12"),
    "credit_default": ("SEX", "EDUCATION", "MARRIAGE"),
    "bank_marketing": ("default", "housing", "loan", "month"),
    "splice": tuple(f"pos{i}" for i in range(1, 61)),
}  # fmt: skip
# Columns of 0 and 1, by what their names begin with; at most one of them is 1 in a row.
ONE_HOT = {
    "bank_marketing": ("job_", "marital_", "education_", "contact_", "poutcome_"),
    "covtype_sample": ("Wilderness_", "Soil_"),
}
# LIBSVM's a9a: where the columns of each of the fourteen attributes of the census table begin, and the last one ends.
# Ages, weights, years of education and hours were cut into fifths there, gains and losses in two.
CENSUS = {
    "age": (1, 5), "workclass": (6, 13), "weight": (14, 18), "education": (19, 34), "education years": (35, 39),
    "marital status": (40, 46), "occupation": (47, 60), "relationship": (61, 66), "race": (67, 71), "sex": (72, 73),
    "gain": (74, 75), "loss": (76, 77), "hours": (78, 82), "country": (83, 123),
}  # fmt: skip


def categorical_table(name):
    """Features with categories as text, and outcomes 0 and 1."""
    X, y = load(name, return_X_y=True, as_frame=True)
    X = X.copy()
    for column in CODED.get(name, ()):
        codes, known = np.unique(X[column].dropna(), return_inverse=False), X[column].notna()
        names = {code: f"c{k}" for k, code in enumerate(codes)}
        X[column] = X[column].map(names).astype(object).where(known, None)
    for prefix in ONE_HOT.get(name, ()):
        X = _joined(X, prefix.rstrip("_"), [c for c in X.columns if c.startswith(prefix)])
    if name == "a9a":
        for attribute, (first, last) in CENSUS.items():
            X = _joined(X, attribute, [f"x{i}" for i in range(first, last + 1)])
    return X, np.asarray(y)


def _joined(X, name, columns):
    """The table with one column of text in place of columns of 0 and 1; None where all are 0."""
    flags = X[columns].to_numpy() == 1
    if (flags.sum(axis=1) > 1).any():
        raise ValueError(f"{name}: more than one of its columns is 1 in a row.")
    names = np.array([c.removeprefix(f"{name}_") for c in columns], dtype=object)
    values = np.where(flags.any(axis=1), names[flags.argmax(axis=1)], None)
    return X.drop(columns=columns).assign(**{name: values})
