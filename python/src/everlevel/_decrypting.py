"""What a secret key makes of ciphertexts: their entries."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from . import _everlevel as _rust
from . import _layout
from ._array import EncryptedArray
from ._columns import shape_of, wraps_in
from ._described import LOST
from ._integers import EncryptedIntegers
from ._kinds import dtype_of
from ._stored import Described
from ._totals import EncryptedTotal
from ._values import SIGNED, centred, joined, layout_of, of_range
from .errors import FormatError, RangeError

#: Of a column that can only be decrypted: its name, its entries, whether it is a total, its length
#: and the range of its values.
_Opened = tuple[str, list[int], bool, int | None, tuple[int, int]]


def decrypted(key: _rust.SecretKey, x: EncryptedIntegers | EncryptedTotal) -> Any:
    """The entries of an array, or a total."""
    if isinstance(x, EncryptedTotal):
        return sum(_rust.decrypt_total(key, part) for part in x._parts)
    values: list[int] = []
    for block, size in zip(x._blocks, _layout.sizes(x._shape, x._runs, x._params.slots)):
        found = _rust.decrypt_column(key, block)
        values.extend(found if len(found) == size else found[:1] * size)
    array = np.array(values, dtype=x.dtype).reshape(x._shape)
    return array if array.shape else array[()]


def decrypted_array(
    key: _rust.SecretKey,
    x: EncryptedArray,
    signed: bool | None,
    all_slots: bool,
    wrapping: bool,
) -> npt.NDArray[Any] | np.integer[Any]:
    """The entries of an array modulo p^r, as for ``Client.decrypt``."""
    parts = [key.decrypt(part, x._elements) for part in x._xs]
    if x._lost and not wrapping:
        raise unknown_range()
    return entries_from(x, parts, signed, all_slots, wrapping)


def entries_from(
    x: EncryptedArray,
    parts: Sequence[npt.NDArray[np.uint64]],
    signed: bool | None,
    all_slots: bool,
    wrapping: bool,
) -> npt.NDArray[Any] | np.integer[Any]:
    """The entries of an array whose ciphertexts were decrypted to these parts."""
    return _entries(
        np.concatenate(parts),
        x.modulus,
        None if all_slots else x._shape,
        x._xs[0].params.slot_degree if x._elements else None,
        signed,
        x._signed,
        None if wrapping else x.range,
    )


def decrypted_results(
    key: _rust.SecretKey,
    data: npt.NDArray[np.uint8],
    signed: bool | None,
    all_slots: bool,
    wrapping: bool,
    allow_unknown_owner: bool,
) -> npt.NDArray[Any] | np.integer[Any]:
    """The entries in bytes that ``EncryptedArray.compact`` made."""
    raw, exponent, ranges, metadata = key.decrypt_compact(data, allow_unknown_owner)
    modulus = key.params.plain_modulus(exponent)
    shape = layout_of(metadata, key.params.slots, len(ranges))[0]
    if metadata.get(LOST) == "true" and not wrapping:
        raise unknown_range()
    return _entries(
        raw,
        modulus,
        None if all_slots else shape,
        key.params.slot_degree if metadata.get("elements") == "true" else None,
        signed,
        metadata.get("signed") == "true",
        None if wrapping else joined(ranges),
    )


def decrypted_columns(
    key: _rust.SecretKey, data: npt.NDArray[np.uint8], allow_unknown_owner: bool
) -> dict[str, Any]:
    """The entries, or the total, by name, in bytes that ``compact`` of typed integers made."""
    columns, metadata = _rust.decrypt_compact_columns(key, data, allow_unknown_owner)
    found = {column[0]: column for column in columns}
    slots = key.params.slots
    described = _rust.described_columns(metadata, slots, list(found))
    if described is None:
        return {name: _entries_of([column], None, slots) for name, column in found.items()}
    opened = {}
    for told in described:
        parts = [found[column] for column in _rust.column_names(told[0], told[1])]
        opened[told[0]] = _entries_of(parts, told, slots)
    return opened


def _entries_of(parts: list[_Opened], told: Described | None, slots: int) -> Any:
    """The entries of an array in these columns, with its description, or a total."""
    totals = [total for _, _, total, _, _ in parts]
    if all(totals) and (told is None or told[2] is None):
        return sum(values[0] for _, values, _, _, _ in parts)
    if any(totals):
        raise FormatError("an array of columns and totals", code="python.array")
    shape, runs = shape_of(told, [length for _, _, _, length, _ in parts], slots)
    values: list[int] = []
    for (_, part, _, _, _), size in zip(parts, _layout.sizes(shape, runs, slots)):
        values.extend(part if len(part) == size else part[:1] * size)
    low, high = zip(*(interval for _, _, _, _, interval in parts))
    interval = (min(low), max(high))
    wrap = wraps_in(told, interval)
    dtype = dtype_of(interval, told is not None and told[5]) if wrap is None else wrap
    array = np.array(values, dtype=dtype).reshape(shape)
    return array if array.shape else array[()]


def unknown_range() -> RangeError:
    """The refusal of what has a range that is too large to be told."""
    return RangeError(
        "decryption: the range of the entries exceeds 2^100: expected bounds that keep it, or "
        "wrapping=True, which gives residues",
        code="circuit.range",
    )


def _entries(
    raw: npt.NDArray[np.uint64],
    modulus: int,
    shape: tuple[int, ...] | None,
    degree: int | None,
    signed: bool | None,
    is_signed: bool,
    found: tuple[int, int] | None,
) -> npt.NDArray[Any] | np.integer[Any]:
    """The entries of an array of this shape, or all slots, by what the caller says of signs, or the
    array, or its range; ``degree``: elements of that many coefficients each.
    """
    tail = () if degree is None else (degree,)
    values: npt.NDArray[Any] = raw.reshape(-1, *tail)
    if shape is not None:
        values = values[: math.prod(shape)].reshape(shape + tail)
    if found is not None and degree is None:
        values = of_range(values, modulus, found, signed)
    elif is_signed if signed is None else signed:
        values = centred(values, modulus)
    elif modulus <= SIGNED:
        values = values.view(np.int64)
    return values if values.shape else values[()]
