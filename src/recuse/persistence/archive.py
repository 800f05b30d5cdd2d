"""The parts of a model file: a zip of skops' schema and arrays, and a header of this library.

The header, ``recuse.json``, holds the number of the format, the versions the model was saved with, and the manifest:
the SHA-256 digest of every other member. The comment at the end of the zip, the seal, is the digest of all bytes before
it, so that the manifest and the zip's own records cannot change unnoticed either. Neither is a signature: who edits a
file on purpose can compute both again. What else is in the zip is skops' own, except for the names of this library's
classes, which are stored names (see `names`).
"""

from __future__ import annotations

import hashlib
import io
import json
import zipfile
from collections.abc import Callable
from typing import Any, NamedTuple

from .names import location_of, rename, stored_name

# To be raised when a file of the new kind would confuse the old code, or old files need other treatment.
FORMAT = 2
OLDEST_FORMAT = 2  # files before it have no manifest: damage could not be told from the model that was saved
_HEADER = "recuse.json"
_SCHEMA = "schema.json"
_DIGEST_LENGTH = 64
# A few kilobytes can unpack to many gigabytes. What compresses better than this is saved as it is.
_MAX_EXPANSION = 100
_SMALL = 2**28  # bytes that any file may unpack to


class ChangedError(ValueError):
    """A file is not as it was saved; the text says which part."""


class Header(NamedTuple):
    """What a file says about itself; format 0 is that of files without a number."""

    format: int
    versions: dict[str, str]
    manifest: dict[str, str]


def digest_of(content: bytes) -> str:
    """SHA-256 of some bytes, as the command sha256sum prints it."""
    return hashlib.sha256(content).hexdigest()


def pack(skops_data: bytes, versions: dict[str, str]) -> bytes:
    """The content of a model file from what skops wrote."""
    members = _renamed(members_of(skops_data), stored_name)
    return sealed(members, {"format": FORMAT, "versions": versions})


def sealed(members: dict[str, bytes], header: dict[str, Any]) -> bytes:
    """A model file of these members and this header, with manifest and seal."""
    manifest = {name: digest_of(data) for name, data in members.items()}
    whole = members | {_HEADER: json.dumps(header | {"manifest": manifest}).encode()}
    place = b"0" * _DIGEST_LENGTH
    content = zipped(whole, comment=place)
    if _is_bomb(sum(map(len, whole.values())), len(content)):
        content = zipped(whole, zipfile.ZIP_STORED, place)
    body = content[:-_DIGEST_LENGTH]
    return body + digest_of(body).encode()


def unpack(content: bytes) -> bytes:
    """What skops can read, from the content of a model file that has been checked; nothing is built."""
    members = _renamed(members_of(content), location_of)
    del members[_HEADER]
    return zipped(members, zipfile.ZIP_STORED)


def check_unchanged(content: bytes, header: Header) -> None:
    """Refuse a file that differs from what was saved in any byte; nothing is built."""
    body, seal = content[:-_DIGEST_LENGTH], content[-_DIGEST_LENGTH:]
    members = members_of(content)
    for name in sorted(header.manifest.keys() | members.keys() - {_HEADER}):
        if name not in members or digest_of(members[name]) != header.manifest.get(name):
            raise ChangedError(name)
    if digest_of(body).encode() != seal:
        raise ChangedError("its seal")


def read_header(content: bytes) -> Header:
    """The header of a model file."""
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        _require_small(archive)
        header = json.loads(archive.read(_HEADER))
    versions = {str(package): str(version) for package, version in header["versions"].items()}
    manifest = {str(name): str(digest) for name, digest in header.get("manifest", {}).items()}
    return Header(int(header.get("format", 0)), versions, manifest)


def read_schema(content: bytes) -> dict[str, Any]:
    """The tree of types, functions and values in a file, as skops wrote it."""
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        schema: dict[str, Any] = json.loads(archive.read(_SCHEMA))
    return schema


def members_of(content: bytes) -> dict[str, bytes]:
    """Name and content of everything in a zip."""
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        _require_small(archive)
        return {name: archive.read(name) for name in archive.namelist()}


def _require_small(archive: zipfile.ZipFile) -> None:
    """Refuse a zip that would unpack to far more than it is."""
    members = archive.infolist()
    if _is_bomb(sum(member.file_size for member in members), sum(member.compress_size for member in members)):
        raise ValueError("it unpacks to far more than a saved model does")


def _is_bomb(unpacked: int, packed: int) -> bool:
    return unpacked > max(_SMALL, _MAX_EXPANSION * packed)


def zipped(members: dict[str, bytes], compression: int = zipfile.ZIP_DEFLATED, comment: bytes = b"") -> bytes:
    """A zip of these members."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", compression) as archive:
        for name, data in members.items():
            archive.writestr(name, data)
        archive.comment = comment
    return buffer.getvalue()


def _renamed(members: dict[str, bytes], new_name: Callable[[str], str | None]) -> dict[str, bytes]:
    """The members with the names in the schema changed."""
    schema = json.loads(members[_SCHEMA])
    rename(schema, new_name)
    return members | {_SCHEMA: json.dumps(schema).encode()}
