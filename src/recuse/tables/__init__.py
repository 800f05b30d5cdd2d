"""Tables of cases: read from files whole or in chunks, checked, and brought into the form a model was fitted with."""

from .cases import Cases, check_cases
from .columns import TableColumns
from .hints import identifier_hints, positive_hints, table_hints
from .reading import as_frame, read_chunks, read_table, table_format, with_outcomes
from .spreadsheet import restored, to_csv

__all__ = [
    "Cases",
    "TableColumns",
    "as_frame",
    "check_cases",
    "identifier_hints",
    "positive_hints",
    "read_chunks",
    "read_table",
    "restored",
    "table_format",
    "table_hints",
    "to_csv",
    "with_outcomes",
]
