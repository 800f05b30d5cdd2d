"""Formats of table files: by the file's name, or by its first bytes where the name does not tell."""

from __future__ import annotations

import gzip
import os
import zlib
from pathlib import Path

from .limits import GZIP_BEGINNING

CSV, TSV, PARQUET, FEATHER, EXCEL, JSON_LINES, SQLITE, DUCKDB = (
    "csv", "tsv", "parquet", "feather", "xlsx", "jsonl", "sqlite", "duckdb",
)  # fmt: skip
_ENDINGS = {
    ".csv": CSV,
    ".tsv": TSV, ".tab": TSV, ".txt": TSV,
    ".parquet": PARQUET, ".pq": PARQUET,
    ".feather": FEATHER, ".arrow": FEATHER, ".ipc": FEATHER,
    ".xlsx": EXCEL, ".xlsm": EXCEL,
    ".jsonl": JSON_LINES, ".ndjson": JSON_LINES,
    ".sqlite": SQLITE, ".sqlite3": SQLITE, ".db3": SQLITE,
    ".duckdb": DUCKDB, ".ddb": DUCKDB,
}  # fmt: skip
_DATABASE = ".db"  # of either kind
SEPARATORS = {CSV: ",", TSV: "\t"}
# First bytes, and where they begin.
_BEGINNINGS = (
    (b"PAR1", 0, PARQUET),
    (b"ARROW1", 0, FEATHER),
    (b"FEA1", 0, FEATHER),
    (b"PK\x03\x04", 0, EXCEL),
    (b"SQLite format 3\0", 0, SQLITE),
    (b"DUCK", 8, DUCKDB),
)
_BINARY = {
    PARQUET: "a Parquet file",
    FEATHER: "a Feather file",
    EXCEL: "an Excel workbook, or another zip archive",
    SQLITE: "a SQLite database",
    DUCKDB: "a DuckDB database",
}
KNOWN = ".csv, .tsv, .parquet, .feather, .xlsx, .jsonl, .sqlite or .duckdb file"


def table_format(path: str | os.PathLike[str]) -> str:
    """Return the format that a file's name tells, also before ".gz": "csv", "tsv", "parquet" and so on."""
    suffixes = [suffix.lower() for suffix in Path(path).suffixes]
    if suffixes and suffixes[-1] == ".gz":
        suffixes.pop()
    ending = suffixes[-1] if suffixes else ""
    if ending == _DATABASE and Path(path).is_file():
        return sniffed_format(path)
    if ending == _DATABASE:
        return SQLITE
    if ending not in _ENDINGS:
        if not ending and not Path(path).exists():  # most likely a folder was meant
            raise FileNotFoundError(f"{os.fspath(path)} does not exist: give a {KNOWN}, or a folder of .parquet files.")
        other = " Save the workbook as .xlsx." if ending in (".xls", ".xlsb", ".ods") else ""
        raise ValueError(f"{os.fspath(path)}: not a table format; give a {KNOWN}, or one of them .gz.{other}")
    return _ENDINGS[ending]


def other_format(path: str | os.PathLike[str]) -> str | None:
    """What a file is that is not what its name says, if its first bytes tell, and how to name it."""
    named, kind = table_format(path), sniffed_format(path)
    if named == EXCEL and kind not in _BINARY:
        return "it is no .xlsx workbook: if it is text, name it .csv; an older workbook (.xls) is to be saved as .xlsx."
    if named not in SEPARATORS or kind not in _BINARY:
        return None
    plain = Path(os.fspath(path).removesuffix(".gz"))
    packed = ".gz" if os.fspath(path).endswith(".gz") else ""
    return f"it is {_BINARY[kind]}: name it {plain.stem}.{kind}{packed}."


def sniffed_format(path: str | os.PathLike[str]) -> str:
    """Return the format that the first bytes of a file tell; text is CSV unless it begins like JSON."""
    with open(path, "rb") as file:
        start = file.read(64)
    if start.startswith(GZIP_BEGINNING):
        try:
            with gzip.open(path) as unpacked:
                start = unpacked.read(64)
        except (OSError, EOFError, zlib.error):
            return CSV
    for beginning, place, kind in _BEGINNINGS:
        if start[place:].startswith(beginning):
            return kind
    return JSON_LINES if start.lstrip().startswith(b"{") else CSV
