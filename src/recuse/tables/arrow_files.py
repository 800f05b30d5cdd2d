"""Parquet and Feather files."""

from __future__ import annotations

import io
import struct
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO

from .limits import is_gzipped, open_limited, require_cells, require_columns, require_expansion
from .names import require_distinct

_FEATHER_1 = b"FEA1"


def parquet_chunks(path: str, size: int | None) -> Iterator[Any]:
    """Read a Parquet file in chunks."""
    import pyarrow.parquet as pq

    with _opened(path) as file:
        parquet = pq.ParquetFile(file)
        names = parquet.schema_arrow.names
        require_columns(len(names))
        require_distinct(names)
        require_cells(parquet.metadata.num_rows, len(names), Path(path).stat().st_size)
        if size is None:
            yield parquet.read().to_pandas().reset_index(drop=True)
        else:
            yield from _frames(parquet.iter_batches(batch_size=size))


def feather_chunks(path: str, size: int | None) -> Iterator[Any]:
    """Read a Feather file in chunks."""
    import pyarrow as pa
    from pyarrow import feather

    packed = Path(path).stat().st_size
    with _opened(path) as file:
        is_first_version = file.read(len(_FEATHER_1)) == _FEATHER_1
        file.seek(0)
        if is_first_version:  # it has no compression
            table = feather.read_table(file)
            require_cells(table.num_rows, table.num_columns, packed)
            yield from _frames(table.to_batches(max_chunksize=size))
            return
        _require_honest_batches(file, packed)
        file.seek(0)
        # In one thread: pyarrow ends the process where one of several threads meets a damaged buffer.
        reader = pa.ipc.open_file(file, options=pa.ipc.IpcReadOptions(use_threads=False))
        require_columns(len(reader.schema.names))
        require_distinct(reader.schema.names)
        if size is None:
            table = reader.read_all()
            table.validate(full=True)  # a damaged file can point anywhere
            yield table.to_pandas().reset_index(drop=True)
        else:
            yield from _frames(_sliced(reader, size))


@contextmanager
def _opened(path: str) -> Iterator[BinaryIO]:
    """Open a file that is read from its end: one that is gzipped is unpacked first."""
    with open_limited(path) if is_gzipped(path) else open(path, "rb") as file:
        yield io.BytesIO(file.read()) if is_gzipped(path) else file


def _frames(batches: Any) -> Iterator[Any]:
    """Data frames whose rows are numbered through."""
    import pandas as pd

    start = 0
    for batch in batches:
        frame = batch.to_pandas().reset_index(drop=True)
        frame.index = pd.RangeIndex(start, start + len(frame))
        start += len(frame)
        yield frame


def _sliced(reader: Any, size: int) -> Iterator[Any]:
    for number in range(reader.num_record_batches):
        batch = reader.get_batch(number)
        batch.validate(full=True)
        for start in range(0, batch.num_rows, size):
            yield batch.slice(start, size)


def _require_honest_batches(file: BinaryIO, packed: int) -> None:
    """Refuse a Feather file whose parts say that they unpack to far more than its size: pyarrow unpacks them whole.

    The parts are messages of the Arrow format, one after another: a length, a head and a body. Reading them as a stream
    unpacks nothing. In a compressed body each buffer begins with the number of bytes that it unpacks to.
    """
    import pyarrow as pa

    file.seek(8)  # the file's beginning, "ARROW1" and two bytes; what follows is a stream
    unpacked = 0
    while True:
        try:
            message = pa.ipc.read_message(file)
        except (EOFError, pa.ArrowInvalid, OSError):
            return  # the end; what is damaged is refused when it is read
        if message.type not in ("record batch", "dictionary"):
            continue
        body = message.body
        rows, columns, places = _batch_shape(message.metadata.to_pybytes(), message.type == "dictionary")
        unpacked += 8 * rows * columns  # a number, or a reference to text, once it is in a data frame
        for offset, length in places:
            if length >= 8 and body is not None and offset + 8 <= body.size:
                stated = struct.unpack("<q", body[offset : offset + 8].to_pybytes())[0]
                unpacked += max(length, stated if 0 < stated < 2**50 and _is_compressed(message) else 0)
        require_expansion(unpacked, packed)


def _is_compressed(message: Any) -> bool:
    """Whether the body of a message is compressed: the field of its head that says so is there."""
    data = message.metadata.to_pybytes()
    head = _head(data, message.type == "dictionary")
    return _field(data, head, 3) is not None


def _batch_shape(data: bytes, is_dictionary: bool) -> tuple[int, int, list[tuple[int, int]]]:
    """Rows, columns and the places of the buffers of a record batch, from its head (a flatbuffer)."""
    head = _head(data, is_dictionary)
    length, nodes, buffers = (_field(data, head, number) for number in range(3))
    rows = 0 if length is None else struct.unpack_from("<q", data, length)[0]
    places = [] if buffers is None else _structs(data, buffers)
    return rows, 0 if nodes is None else len(_structs(data, nodes)), places


def _head(data: bytes, is_dictionary: bool) -> int:
    """Where the record batch begins in the head of a message; that of a dictionary is a field of it."""
    root = struct.unpack_from("<I", data, 0)[0]
    header = _field(data, root, 2)
    if header is None:
        raise ValueError("it is damaged: a part of it has no header.")
    head = header + struct.unpack_from("<I", data, header)[0]
    if is_dictionary:
        inner = _field(data, head, 1)
        if inner is None:
            raise ValueError("it is damaged: a part of it has no header.")
        head = inner + struct.unpack_from("<I", data, inner)[0]
    return int(head)


def _field(data: bytes, table: int, number: int) -> int | None:
    """Where a field of a flatbuffer's table is; None if it is left out."""
    layout = table - struct.unpack_from("<i", data, table)[0]
    if 4 + 2 * number >= struct.unpack_from("<H", data, layout)[0]:
        return None
    offset = struct.unpack_from("<H", data, layout + 4 + 2 * number)[0]
    return table + offset if offset else None


def _structs(data: bytes, field: int) -> list[tuple[int, int]]:
    """The pairs of numbers in a vector of a flatbuffer."""
    start = field + struct.unpack_from("<I", data, field)[0]
    count = struct.unpack_from("<I", data, start)[0]
    if count > len(data) // 16:
        raise ValueError("it is damaged: a part of it is shorter than it says.")
    return [struct.unpack_from("<qq", data, start + 4 + 16 * number) for number in range(count)]
