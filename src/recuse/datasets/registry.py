"""What is known about each data set of the papers before it is read."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Dataset:
    """What is known about a data set before it is read.

    Attributes
    ----------
    rows, features, positives : int
        Number of cases, of columns without the target, and of cases with ``target = 1``.
    positive : str
        What ``target = 1`` means.
    papers : tuple of str
        Who uses it: a paper of this library, the data set list in ExactBoost's published code, or scaling tests.
    openml : int or None
        Number on OpenML of a table with the same cases. Its categories arrive as integer codes, which may differ
        from those of the file.
    note : str
        What a user should know.
    """

    rows: int
    features: int
    positives: int
    positive: str
    papers: tuple[str, ...] = ()
    openml: int | None = None
    note: str = ""


_BA, _DH, _SDR, _EB, _CON = "BA", "DH-SVM", "SDR-SVM", "ExactBoost", "CONSUM"
_CODE, _SCALE = "ExactBoost's code", "scaling tests"

DATASETS: dict[str, Dataset] = {
    "a1a": Dataset(1605, 119, 395, "income over 50K", (_EB,)),
    "a9a": Dataset(32561, 123, 7841, "income over 50K", (_SCALE,), note="Contains every row of a1a."),
    "australian": Dataset(690, 14, 307, "application approved", (_BA, _CODE), 40981, "8 columns are category codes."),
    "bank_marketing": Dataset(
        45211, 37, 5289, "subscribed a term deposit", (_SCALE,), note="duration is known only after the call."
    ),
    "banknote": Dataset(1372, 4, 610, "forged", (_BA, _CON, _CODE), 1462),
    "breast_cancer": Dataset(569, 30, 357, "benign", note="scikit-learn's own orientation; wdbc is the reverse."),
    "cod_rna": Dataset(
        59535, 8, 19845, "non-coding RNA", (_BA, _CODE), note="BA used 369 rows, not known which. 10069 duplicate rows."
    ),
    "covtype_sample": Dataset(
        20000, 54, 6022, "lodgepole pine", (_SCALE, _CODE), note="The first rows of the source, not a random sample."
    ),
    "credit_default": Dataset(30000, 23, 6636, "default next month", (_SCALE, _CODE), 42477),
    "german": Dataset(1000, 20, 300, "bad credit", (_EB,), 31, "ExactBoost's code has good credit as 1: use 1 - y."),
    "german_numeric": Dataset(1000, 24, 300, "bad credit", note="The numeric version of german."),
    "gmsc": Dataset(
        150000, 10, 10026, "90 days past due within 2 years", (_EB,), note="2 columns have missing values."
    ),
    "haberman": Dataset(306, 3, 81, "died within 5 years", (_BA,), 43),
    "heart_cleveland": Dataset(303, 13, 139, "heart disease", (_EB, _SDR), note="6 missing values."),
    "heart_statlog": Dataset(270, 13, 120, "heart disease", (_SDR,), 53),
    "higgs_sample": Dataset(7500, 28, 3988, "signal", (_SCALE,)),
    "ilpd": Dataset(583, 10, 416, "liver patient", (_SDR,), 1480, "4 missing values in the file."),
    "ionosphere": Dataset(351, 34, 225, "good radar return", (_SDR, _EB), 59),
    "liver_disorders": Dataset(
        345, 6, 200, "selector = 2", (_DH,), note="The selector marks a train/test split, it is not a diagnosis."
    ),
    "liver_drinks": Dataset(145, 5, 55, "more than 3 drinks", (_EB,), note="The cut at 3 drinks is an assumption."),
    "madelon": Dataset(2000, 500, 1000, "label +1", (_CON, _CODE)),
    "mammography": Dataset(11183, 6, 260, "calcification", (_CODE,), 310, "3334 duplicate rows."),
    "new_thyroid": Dataset(215, 5, 65, "not normal", (_DH,), note="Hyper- and hypothyroid joined."),
    "oil_spill": Dataset(937, 49, 41, "oil spill", (_CODE,), 311, "f1 is a patch number, f23 is constant."),
    "parkinsons": Dataset(
        195, 22, 147, "Parkinson's disease", (_SDR,), 1488, "About six recordings per person, unnamed: splits mix them."
    ),
    "phoneme": Dataset(5404, 5, 1586, "oral sound", (_CODE,), 1489),
    "pima": Dataset(768, 8, 268, "diabetes", (_BA, _DH, _SDR, _CODE), 37, "Zeros in 5 columns stand for missing."),
    "pop_failures": Dataset(540, 18, 46, "simulation crashed", (_CON,)),
    "skin": Dataset(
        245057, 3, 50859, "skin pixel", (_BA, _CODE), 1502, "BA used 400 rows, not known which. 193613 duplicate rows."
    ),
    "sonar": Dataset(208, 60, 97, "rock", (_CODE,), 40),
    "spambase": Dataset(4601, 57, 1813, "spam", (_CON,), 44, "391 duplicate rows."),
    "splice": Dataset(1000, 60, 483, "LIBSVM label -1", (_CODE,)),
    "svmguide1": Dataset(3089, 4, 1089, "LIBSVM label 0", (_CODE,)),
    "svmguide3": Dataset(1243, 21, 296, "LIBSVM label +1", (_CODE,)),
    "transfusion": Dataset(748, 4, 178, "donated in March 2007", (_CON,), 1464, "215 duplicate rows."),
    "wdbc": Dataset(569, 30, 212, "malignant", (_DH, _CON)),
}


def names() -> list[str]:
    """Names of the data sets `load` knows, sorted.

    Returns
    -------
    list of str

    Examples
    --------
    >>> from recuse import datasets
    >>> datasets.names()[:3]
    ['a1a', 'a9a', 'australian']
    """
    return sorted(DATASETS)
