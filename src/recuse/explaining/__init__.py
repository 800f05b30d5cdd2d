"""Which columns of a case speak for which class: contributions to the score of any classifier, and in plain words."""

from .boosters import from_library
from .contributions import LOG_ODDS, PROBABILITY, SCORE, Contributions, weighted_sum
from .models import TypicalCases, background_cases, column_names_of, explain, is_linear
from .neighbours import Nearest, RememberedCases, neighbours_in_words
from .sampling import Background, explain_by_sampling
from .sources import column_sources
from .trees import TreeSum, as_tree_sum, explain_trees, mean_of
from .wording import ShownColumns, as_text, columns_speaking, hardening_columns, speaking_columns

__all__ = [
    "LOG_ODDS",
    "PROBABILITY",
    "SCORE",
    "Background",
    "Contributions",
    "Nearest",
    "RememberedCases",
    "ShownColumns",
    "TreeSum",
    "TypicalCases",
    "as_text",
    "as_tree_sum",
    "background_cases",
    "column_names_of",
    "column_sources",
    "columns_speaking",
    "explain",
    "explain_by_sampling",
    "explain_trees",
    "from_library",
    "hardening_columns",
    "is_linear",
    "mean_of",
    "neighbours_in_words",
    "speaking_columns",
    "weighted_sum",
]
