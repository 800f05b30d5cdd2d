"""The log of reviews: an append-only file whose tampering is detected, and which survives writers that are killed.

Beside the log ``reviews.jsonl`` there is ``reviews.jsonl.head``, which says how many records it has and the hash of the
last one, so that a cut at its end is found; and a hidden file that writers lock. A writer appends its lines, makes them
durable, and then renews the head. When it is killed in between, the log is ahead of its head: the lines that are whole
are records, the unfinished one at the end never was acknowledged, and the next writer takes it away.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from .. import __version__
from ..persistence import write_whole
from ..persistence.locking import hold
from .chain import RESERVED, Head, TamperedLogError, decode, encode
from .records import LOG, REQUIRED, as_table, in_utc

FORMAT = 1
_PATIENCE = 60.0  # seconds that a writer waits for another


@dataclass(frozen=True)
class LogState:
    """What is known of a log that was found to be as its writers left it.

    Attributes
    ----------
    records : int
        How many there are.
    head : str
        Hash of the last record, which stands for the whole file: keep it elsewhere, and give it to `verify` later.
    after_head : int
        Records at the end that the file beside the log does not know of: their writer was killed before it could say
        so, or somebody else wrote them.
    unfinished : int
        Bytes at the end of a writer that was killed; they belong to no record, and the next append takes them away.
    """

    records: int
    head: str
    after_head: int = 0
    unfinished: int = 0

    def __str__(self) -> str:
        text = f"{self.records} records, none changed, taken out, put in or moved; head {self.head}"
        if self.after_head:
            text += (
                f"; the last {self.after_head} are not in the head file: their writer was killed, or somebody else "
                "wrote them"
            )
        if self.unfinished:
            text += (
                f"; {self.unfinished} bytes of an unfinished record follow, which the next writer takes away: its "
                "writer was killed"
            )
        return text


class ReviewLog:
    """An append-only log of what reviewers were given and what they answered.

    Parameters
    ----------
    path : path-like
        The log, a file of JSON Lines. It is created by the first `append`.
    head : str, optional
        A head digest that was kept elsewhere: the log must hold that record. It replaces a head file that was lost.

    Attributes
    ----------
    path : Path
        The log.
    head_path : Path
        The file beside it that holds its head.

    Raises
    ------
    TamperedLogError
        The log is not as its writers left it.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from recuse.reviews import ReviewLog
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     log = ReviewLog(pathlib.Path(folder) / "reviews.jsonl")
    ...     state = log.append([{"kind": "note", "text": "the scanner was replaced"}])
    ...     [record["kind"] for record in log.records()], log.verify(head=state.head).records
    (['log', 'note'], 2)
    """

    def __init__(self, path: str | os.PathLike[str], *, head: str | None = None) -> None:
        self.path = Path(path)
        self.head_path = self.path.with_name(f"{self.path.name}.head")
        self._kept = head
        self._forget()
        self._read()

    def __len__(self) -> int:
        return len(self._records)

    @property
    def head(self) -> str:
        """Hash of the last record that was read or written."""
        return self._head.hash

    def records(self, kind: str | None = None) -> list[dict[str, Any]]:
        """The records, or those of one kind, in their order."""
        return [dict(record) for record in self._records if kind is None or record["kind"] == kind]

    def append(self, entries: Iterable[Mapping[str, Any]]) -> LogState:
        """Write records; they are on the disk when this returns.

        What other writers have appended in the meantime is read first. A writer that is killed leaves the log with the
        first of its records, or none.

        Parameters
        ----------
        entries : iterable of dict
            Each with "kind" and what belongs to it, in values that JSON knows.

        Returns
        -------
        LogState
            The state after them; its `head` is worth keeping elsewhere.
        """
        with self.locked():
            return self.append_locked(entries)

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Keep other writers out, and read what they have appended: for who reads the log to decide what to append."""
        if not self.path.parent.is_dir():
            raise FileNotFoundError(f"The log {self.path} cannot be written: create the folder {self.path.parent}.")
        with open(self.path.with_name(f".{self.path.name}.lock"), "ab") as lock:
            try:
                hold(lock, patience=_PATIENCE)
            except BlockingIOError:
                raise BlockingIOError(
                    f"The log {self.path} has been held by another writer for {_PATIENCE:g} seconds: wait for it."
                ) from None
            self._read()
            yield

    def append_locked(self, entries: Iterable[Mapping[str, Any]]) -> LogState:
        """Write records within `locked`; otherwise as `append`."""
        checked = [_checked(entry) for entry in entries]
        if self._head.records == 0:
            # The head file comes first: a log without one is a log whose head file somebody took away.
            self._write_head()
            checked.insert(0, {"kind": LOG, "format": FORMAT, "recuse": __version__, "id": os.urandom(8).hex()})
        content, _ = encode(checked, self._head, in_utc(datetime.now(UTC)))
        self._write(content)
        self._take(content)
        self._write_head()
        return self._state()

    def verify(self, *, head: str | None = None) -> LogState:
        """Read the whole log again and check every byte.

        Parameters
        ----------
        head : str, optional
            A head digest that was kept elsewhere, of now or of an earlier time. Without it, whoever can write the log
            and its head file can write both anew.

        Returns
        -------
        LogState

        Raises
        ------
        TamperedLogError
            A record was changed, taken out, put in or moved, or the log ends before a head that was kept.
        """
        self._kept = head or self._kept
        self._forget()
        self._read()
        return self._state()

    def to_pandas(self) -> Any:
        """One row for each case that was given to a reviewer, with the verdict where there is one.

        Returns
        -------
        DataFrame
            The columns are those of `recuse.reviews.REVIEW_COLUMNS`.
        """
        return as_table(self._records)

    def _forget(self) -> None:
        self._records: list[dict[str, Any]] = []
        self._head, self._size, self._unfinished, self._after_head = Head(), 0, 0, 0

    def _read(self) -> None:
        """Take in what is new in the file; refuse a log that is not as its writers left it."""
        known = self._head_file()  # before the log: that of a log which is being written is never ahead of it
        size = self.path.stat().st_size if self.path.exists() else 0
        if size < self._size:
            raise self._tampered("it is shorter than it was a moment ago")
        if size:
            with open(self.path, "rb") as file:
                file.seek(self._size)
                self._take(file.read())
        if known is None and self._kept is None and self._records:
            raise self._tampered(
                f"its head file {self.head_path.name} is gone: put it back, or give a head digest that was kept "
                "elsewhere (--head; in Python head=)"
            )
        self._require_head(known)
        if self._kept and not any(record["hash"] == self._kept for record in reversed(self._records)):
            raise self._tampered(
                f"none of its {len(self._records)} records has the head {self._kept}: records were taken from its "
                "end, or it was written anew"
            )

    def _require_head(self, known: Head | None) -> None:
        """Refuse a log that does not hold what the file beside it says."""
        if known is None:
            return
        if known.records > len(self._records):
            raise self._tampered(
                f"it has {len(self._records)} whole records and its head file counts {known.records}: records were "
                "taken from its end"
            )
        if known.records and self._records[known.records - 1]["hash"] != known.hash:
            raise self._tampered("its head file has another hash: one of the two was written anew")
        self._after_head = len(self._records) - known.records

    def _tampered(self, how: str) -> TamperedLogError:
        return TamperedLogError(f"The log {self.path} was tampered with: {how}.")

    def _take(self, content: bytes) -> None:
        """Read lines that follow on what is known."""
        try:
            records, self._head, unfinished = decode(content, self._head)
        except TamperedLogError as error:
            raise self._tampered(str(error)) from None
        self._records += records
        self._size += len(content) - unfinished
        self._unfinished = unfinished

    def _head_file(self) -> Head | None:
        try:
            content = self.head_path.read_bytes()
        except FileNotFoundError:
            return None
        try:
            found = json.loads(content)
            head = Head(int(found["records"]), str(found["hash"]))
        except (ValueError, TypeError, KeyError):
            head = None
        if head is None or content != _head_line(head) or (head.records <= 0 and head != Head()):
            raise self._tampered(f"its head file {self.head_path.name} is not what was written")
        return head

    def _write(self, content: bytes) -> None:
        """Append bytes where the last whole line ends; a failure leaves none of them."""
        with open(self.path, "r+b" if self.path.exists() else "xb") as file:
            file.truncate(self._size)  # what a writer that was killed left unfinished
            file.seek(self._size)
            try:
                file.write(content)
                file.flush()
                os.fsync(file.fileno())
            except BaseException:
                file.truncate(self._size)
                raise

    def _write_head(self) -> None:
        write_whole(self.head_path, _head_line(self._head))
        self._after_head = 0

    def _state(self) -> LogState:
        return LogState(len(self._records), self._head.hash, self._after_head, self._unfinished)


def _head_line(head: Head) -> bytes:
    return json.dumps(head._asdict()).encode() + b"\n"


def _checked(entry: Mapping[str, Any]) -> dict[str, Any]:
    """An entry that may be written; a sentence for one that may not."""
    kind = entry.get("kind")
    if not isinstance(kind, str) or not kind:
        raise ValueError(f"A record needs a kind, which is a text; got {kind!r}.")
    taken = [name for name in entry if name in RESERVED and name != "kind"]
    if taken:
        raise ValueError(f"A record of kind {kind!r} must not have {taken[0]!r}: the log writes that itself.")
    lacking = [name for name in REQUIRED.get(kind, ()) if name not in entry]
    if lacking:
        raise ValueError(f"A record of kind {kind!r} lacks {', '.join(lacking)}.")
    return dict(entry)
