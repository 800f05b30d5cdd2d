"""Tables of cases: read from files whole or in chunks, checked, and brought into the form a model was fitted with."""

from .cases import Cases, check_cases
from .checking import ColumnFacts, TableFacts, check_table
from .columns import TableColumns
from .folders import ParquetPart, dataset_parts, is_dataset, read_part
from .formats import table_format
from .hints import identifier_hints, positive_hints, table_hints
from .price_files import read_costs
from .reading import as_frame, detected_decimal, read_chunks, read_table, read_with_writings, with_outcomes
from .segmenting import Segmented, cut_into_segments
from .sources import TableFile, is_table_file
from .spreadsheet import restored, to_csv

__all__ = [
    "Cases",
    "ColumnFacts",
    "ParquetPart",
    "Segmented",
    "TableColumns",
    "TableFacts",
    "TableFile",
    "as_frame",
    "check_cases",
    "check_table",
    "cut_into_segments",
    "dataset_parts",
    "detected_decimal",
    "identifier_hints",
    "is_dataset",
    "is_table_file",
    "positive_hints",
    "read_chunks",
    "read_costs",
    "read_part",
    "read_table",
    "read_with_writings",
    "restored",
    "table_format",
    "table_hints",
    "to_csv",
    "with_outcomes",
]
