"""The parts of a model file: a zip of skops' schema and arrays, and a header of this library.

The header, ``recuse.json``, holds the number of the format and the versions the model was saved with. What else is in
the zip is skops' own, except for the names of this library's classes, which are stored names (see `names`).
"""

from __future__ import annotations

import io
import json
import zipfile
from typing import Any, NamedTuple

from .names import location_of, rename, stored_name

# To be raised when a file of the new kind would confuse the old code, or old files need other treatment.
FORMAT = 1
OLDEST_FORMAT = 1  # files before the first format name private modules that have moved
_HEADER = "recuse.json"
_SCHEMA = "schema.json"


class Header(NamedTuple):
    """What a file says about itself; format 0 is that of files without a number."""

    format: int
    versions: dict[str, str]


def pack(skops_data: bytes, versions: dict[str, str]) -> bytes:
    """The content of a model file from what skops wrote."""
    header = json.dumps({"format": FORMAT, "versions": versions})
    return _rewritten(skops_data, stored_name, zipfile.ZIP_DEFLATED, {_HEADER: header})


def unpack(content: bytes) -> bytes:
    """What skops can read, from the content of a model file; nothing is built."""
    return _rewritten(content, location_of, zipfile.ZIP_STORED, {})


def read_header(content: bytes) -> Header:
    """The header of a model file."""
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        header = json.loads(archive.read(_HEADER))
    versions = {str(package): str(version) for package, version in header["versions"].items()}
    return Header(int(header.get("format", 0)), versions)


def read_schema(content: bytes) -> dict[str, Any]:
    """The tree of types, functions and values in a file, as skops wrote it."""
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        schema: dict[str, Any] = json.loads(archive.read(_SCHEMA))
    return schema


def _rewritten(content: bytes, new_name: Any, compression: int, added: dict[str, str]) -> bytes:
    """A zip with the names in its schema changed and members added."""
    schema = read_schema(content)
    rename(schema, new_name)
    buffer = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(content)) as old, zipfile.ZipFile(buffer, "w", compression) as new:
        for member in dict.fromkeys(old.namelist()):  # a stranger's zip may have a name twice
            new.writestr(member, json.dumps(schema) if member == _SCHEMA else old.read(member))
        for member, text in added.items():
            new.writestr(member, text)
    return buffer.getvalue()
