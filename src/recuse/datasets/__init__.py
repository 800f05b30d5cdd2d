"""The data sets of the papers, and seeded generators of their synthetic problems.

Real data come from the folder named by the environment variable ``RECUSE_DATA`` (``<name>.csv.gz``: a header row,
numeric columns, empty cells for missing values, a last column ``target`` of 0 and 1), else from scikit-learn or
OpenML if they have the same table. Wherever a table comes from, its numbers of rows, features and positives are
compared with `DATASETS` before it is returned. Nothing is scaled, imputed or shuffled, and several tables are sorted by
class: shuffle before taking a part of one.
"""

from .loading import load
from .loans import make_loans
from .registry import DATASETS, Dataset, names
from .synthetic import add_novelties, make_gaussian_classes, make_noise_by_feature, make_noisy_region

__all__ = [
    "DATASETS",
    "Dataset",
    "add_novelties",
    "load",
    "make_gaussian_classes",
    "make_loans",
    "make_noise_by_feature",
    "make_noisy_region",
    "names",
]
