"""Encodings of text files: a byte-order mark, UTF-8 throughout, UTF-16 and UTF-32 without a mark, or an older one."""

from __future__ import annotations

import codecs
import os
import re
from typing import NamedTuple

from ..extras import require
from .limits import open_limited

# The marks of UTF-32 begin like those of UTF-16: they come first.
_MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_BLOCK = 2**16
_USUAL = "cp1252"  # what spreadsheets write in Western Europe and America; Latin-1 is a part of it
# Encodings of Western Europe, and those that a few letters of it are mistaken for: no file tells them apart surely.
_WESTERN = re.compile(r"ascii|cp125[02478]|latin.*|iso8859.*|cp[0-578]\d\d|mac_.*|hp_roman8|cp1140|cp1026")
# Which of four bytes in a row are zero in text of Western letters.
_ZEROS = {
    "utf-32-le": (0, 1, 1, 1),
    "utf-32-be": (1, 1, 1, 0),
    "utf-16-le": (0, 1, 0, 1),
    "utf-16-be": (1, 0, 1, 0),
}
_CONTROL = re.compile(rb"[\x00-\x08\x0e-\x1a\x1c-\x1f]")
_MANY_TO_ONE = 10  # letters of UTF-8 for each byte that is none: a damaged file rather than another encoding


class Encoding(NamedTuple):
    """The encoding of a text file.

    Attributes
    ----------
    name : str
        As Python knows it.
    surely : bool
        Whether it follows from the bytes, and is not a guess.
    """

    name: str
    surely: bool


def detect_encoding(path: str | os.PathLike[str]) -> Encoding:
    """Find out how a text file, gzipped or not, is written.

    Raises
    ------
    ValueError
        It is no text, or damaged.
    """
    with open_limited(path) as file:
        start = file.read(_BLOCK)
    for mark, name in _MARKS:
        if start.startswith(mark):
            return Encoding(name, True)
    wide = _without_mark(start)
    if wide is not None:
        return Encoding(wide, True)
    sample = _what_is_not_utf8(path)
    return Encoding("utf-8", True) if sample is None else _older(sample)


def check_encoding(name: str) -> str:
    """Refuse an encoding that Python does not know."""
    try:
        found = codecs.lookup(name)
    except LookupError:
        found = None
    if found is None or not found._is_text_encoding:
        raise ValueError(f"encoding={name!r} is not known: give one such as utf-8, utf-16, cp1252 or latin-1.")
    return name


def _without_mark(start: bytes) -> str | None:
    """UTF-16 or UTF-32 without a byte-order mark: every letter of a header comes with one or three zero bytes."""
    head = start[:400]
    head = head[: len(head) // 4 * 4]
    if len(head) < 8:
        return None
    zeros = [sum(byte == 0 for byte in head[place::4]) / (len(head) / 4) for place in range(4)]
    for name, shape in _ZEROS.items():
        if all(abs(share - expected) < 0.3 for share, expected in zip(zeros, shape, strict=True)):
            return name
    return None


def _what_is_not_utf8(path: str | os.PathLike[str]) -> bytes | None:
    """The beginning of a file and the first part of it that is not UTF-8; None if all of it is."""
    decoder, first, before = codecs.getincrementaldecoder("utf-8")(), b"", b""
    with open_limited(path) as file:
        while True:
            block = file.read(_BLOCK)
            try:
                decoder.decode(block, not block)
            except UnicodeDecodeError:
                return first + before + block + file.read(_BLOCK)
            if not block:
                return None
            first, before = (first, block) if first else (block, b"")


def _older(sample: bytes) -> Encoding:
    """The encoding of a file that is not UTF-8, from a sample that shows it."""
    if _CONTROL.search(sample):
        raise ValueError("it is neither UTF-8 nor text in another encoding: it holds bytes that no text has.")
    text = sample.decode("utf-8", "replace")
    broken = text.count("\ufffd")
    if sum(letter > "\x7f" for letter in text) - broken >= _MANY_TO_ONE * broken:
        raise ValueError(
            "it is written in UTF-8 but damaged: some of its bytes are no letters. Save it again, or name another "
            "encoding with --encoding."
        )
    return Encoding(_guess(sample), False)


def _guess(sample: bytes) -> str:
    """An older encoding: another script where the bytes speak for one, else that of Western spreadsheets."""
    require("charset_normalizer", "A table that is not written in UTF-8")
    from charset_normalizer import from_bytes

    found = from_bytes(sample[:_BLOCK]).best()
    if found is not None and not _WESTERN.fullmatch(found.encoding):
        return str(found.encoding)
    try:
        sample.decode(_USUAL)
    except UnicodeDecodeError:
        return "latin-1" if found is None else str(found.encoding)
    return _USUAL
