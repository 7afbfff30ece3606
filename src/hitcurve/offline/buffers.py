"""Arrow arrays from numpy and back, by their buffers.

pyarrow's own conversions import pandas wherever it is installed, which takes longer than a query does.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from hitcurve.errors import OutputError

if TYPE_CHECKING:
    import pyarrow


class Texts(NamedTuple):
    """Text k is ``characters[ends[k]:ends[k + 1]]``."""

    characters: np.ndarray  # uint8, UTF-8
    ends: np.ndarray  # int64


def encoded(column: str, texts: Sequence[str]) -> Texts:
    """``texts`` one after another; OutputError, which names ``column``, for one that is no valid Unicode."""
    try:
        pieces = [text.encode() for text in texts]
    except UnicodeEncodeError as error:
        raise OutputError(f"{column} {error.object!r} is no valid Unicode, so it cannot be written") from None
    return Texts(np.frombuffer(b"".join(pieces), np.uint8), np.cumsum([0, *map(len, pieces)]))


def text_array(column: str, texts: Sequence[str]) -> pyarrow.Array:
    import pyarrow

    characters, ends = encoded(column, texts)
    return pyarrow.StringArray.from_buffers(
        len(texts), pyarrow.py_buffer(ends.astype(np.int32)), pyarrow.py_buffer(characters)
    )


def number_array(values: np.ndarray, valid: np.ndarray | None = None) -> pyarrow.Array:
    """int64, float64 or bool; null where ``valid`` (bool) is False."""
    import pyarrow

    kind = {"i": pyarrow.int64(), "f": pyarrow.float64(), "b": pyarrow.bool_()}[values.dtype.kind]
    data = _bits(values) if values.dtype.kind == "b" else np.ascontiguousarray(values)
    bits = None if valid is None else pyarrow.py_buffer(_bits(valid))
    return pyarrow.Array.from_buffers(kind, len(values), [bits, pyarrow.py_buffer(data)])


def list_array(offsets: np.ndarray, values: np.ndarray) -> pyarrow.Array:
    """List k is ``values[offsets[k]:offsets[k + 1]]``, int64."""
    import pyarrow

    ends = pyarrow.Array.from_buffers(
        pyarrow.int32(), len(offsets), [None, pyarrow.py_buffer(offsets.astype(np.int32))]
    )
    return pyarrow.ListArray.from_arrays(ends, number_array(values))


def numbers_of(array: pyarrow.Array, null: int = 0) -> np.ndarray:
    """The values of an array of whole numbers or bool, ``null`` for nulls; an array of its own."""
    import pyarrow

    if pyarrow.types.is_boolean(array.type):
        return numbers_of(array.cast(pyarrow.uint8()), null).astype(bool)
    if not array.null_count:
        return np.array(np.from_dlpack(array))
    bits, values = array.buffers()
    own = slice(array.offset, array.offset + len(array))
    valid = np.unpackbits(np.frombuffer(bits, np.uint8), bitorder="little")[own].astype(bool)
    bare = pyarrow.Array.from_buffers(array.type, len(array), [None, values], offset=array.offset)
    return np.where(valid, np.from_dlpack(bare), null)


def _bits(flags: np.ndarray) -> np.ndarray:
    return np.packbits(flags, bitorder="little")
