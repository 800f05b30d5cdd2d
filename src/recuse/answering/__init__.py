"""Answers to tables of any size: frame by frame, in the order of review, into a folder that is written whole."""

from .counts import Answered, PartAnswers, ReviewQueue, no_order
from .folders import (
    AnswerSettings,
    Run,
    answer_file,
    answer_folder,
    answer_frame,
    answer_parts,
    in_this_process,
    request_digest,
)
from .frames import (
    DIGITS,
    MODEL_DIGEST,
    ROWS_AT_ONCE,
    answer_table,
    columns_for,
    decide_chunk,
    needed_columns,
    require_columns_of,
    six_digits,
    text_columns,
)
from .staging import Stage

__all__ = [
    "DIGITS",
    "MODEL_DIGEST",
    "ROWS_AT_ONCE",
    "AnswerSettings",
    "Answered",
    "PartAnswers",
    "ReviewQueue",
    "Run",
    "Stage",
    "answer_file",
    "answer_folder",
    "answer_frame",
    "answer_parts",
    "answer_table",
    "columns_for",
    "decide_chunk",
    "in_this_process",
    "needed_columns",
    "no_order",
    "request_digest",
    "require_columns_of",
    "six_digits",
    "text_columns",
]
