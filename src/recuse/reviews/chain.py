r"""A file of records, each of which carries the digest of the one before: the bytes, and what can be wrong with them.

A record is one line::

    {"hash":"9f...","n":7,"previous":"41...","at":"2026-03-02T08:15:00Z","kind":"verdict", ...}\n

``hash`` is the SHA-256 of the line without its line break and without the member ``hash`` itself, so of
``{"n":7, ... }``. It depends on ``previous``, the hash of the record before, and so on every byte before it: the hash
of the last record, the head, stands for the whole file. The first record has 64 zeros for ``previous``.

Bytes after the last line break are the unfinished line of a writer that was killed. They are no record.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

START = "0" * 64
RESERVED = ("hash", "n", "previous", "at", "kind")
_LINE = re.compile(rb'\{"hash":"([0-9a-f]{64})",("n":.*\})')


class TamperedLogError(ValueError):
    """A log is not as its writers left it."""


class Head(NamedTuple):
    """The state of a log: how many records it has, and the hash of the last."""

    records: int = 0
    hash: str = START


def encode(entries: Iterable[Mapping[str, Any]], head: Head, at: str) -> tuple[bytes, Head]:
    """The lines of new records after a head, and the head after them.

    Parameters
    ----------
    entries : iterable of dict
        What each record says: "kind" and whatever belongs to it.
    head : Head
        What they follow on.
    at : str
        When they are written.
    """
    lines = []
    for entry in entries:
        own = {name: value for name, value in entry.items() if name != "kind"}
        content = {"n": head.records, "previous": head.hash, "at": at, "kind": entry["kind"], **own}
        text = json.dumps(content, separators=(",", ":"), allow_nan=False)[1:].encode("ascii")
        digest = _digest(text)
        lines.append(b'{"hash":"' + digest.encode() + b'",' + text + b"\n")
        head = Head(head.records + 1, digest)
    return b"".join(lines), head


def decode(content: bytes, head: Head) -> tuple[list[dict[str, Any]], Head, int]:
    """The records in the lines after a head, the head after them, and how many bytes after them are no whole line.

    Raises
    ------
    TamperedLogError
        A line is not as it was written, or does not follow on the one before.
    """
    *lines, unfinished = content.split(b"\n")
    records = []
    for line in lines:
        record = _record(line, head)
        records.append(record)
        head = Head(head.records + 1, record["hash"])
    return records, head, len(unfinished)


def _record(line: bytes, head: Head) -> dict[str, Any]:
    where = f"line {head.records + 1}"
    found = _LINE.fullmatch(line)
    if found is None:
        raise TamperedLogError(f"{where} is no record of a log")
    if _digest(found[2]) != found[1].decode():
        raise TamperedLogError(f"{where} was changed: its hash is not that of what it says")
    record: dict[str, Any] = json.loads(line)
    if record.get("previous") != head.hash or record.get("n") != head.records:
        raise TamperedLogError(
            f"{where} does not follow on the one before: a record was taken out, put in or moved there"
        )
    return record


def _digest(text: bytes) -> str:
    """The hash of a record, by its text after the opening brace and without the hash."""
    return hashlib.sha256(b"{" + text).hexdigest()
