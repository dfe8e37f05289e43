"""Typed integers as bytes and files: arrays and totals with names, which the program reads as
columns.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from . import _everlevel as _rust
from . import _layout
from ._integers import EncryptedIntegers
from ._kinds import Interval, interval_of, named
from ._manifest import Manifest
from ._params import Params, params_with
from ._places import Serving
from ._stored import READERS, Described, described
from ._totals import EncryptedTotal
from ._values import Buffer, octets
from .errors import FormatError, ParameterError

#: What ``inspect`` calls them.
KIND = "columns of integers"
#: And those that can only be decrypted.
RESULTS = "columns for decryption"


def _restore(params: Params, data: bytes) -> Any:
    return next(
        iter(
            integers_from_bytes(
                data, params=params, bounds="stated", allow_unknown_owner=True
            ).values()
        )
    )


def integers_to_bytes(arrays: Mapping[str, EncryptedIntegers | EncryptedTotal]) -> bytes:
    """Arrays of typed integers and totals, under one key, as bytes of the wire format: a column for
    each, with its name. Not authenticated.
    """
    return _rust.columns_to_bytes(*described(arrays))


def integers_from_bytes(
    data: Buffer,
    *,
    params: Params | None = None,
    insecure_research: bool = False,
    bounds: str | Manifest = "untrusted",
    server: Serving | None = None,
    allow_unknown_owner: bool = False,
) -> dict[str, EncryptedIntegers | EncryptedTotal]:
    """Arrays of typed integers and totals by name, also columns that the program wrote.

    ``bounds`` and all else as for ``EncryptedArray.from_bytes``.

    The range of the entries is a claim of the encryptor: if it is false, results for these entries
    are unspecified, and so are sums over them.
    """
    raw = octets(data)
    if params is None and server is not None:
        params = server.params
    if params is None:
        params = params_with(_rust.inspect(raw)[1], insecure_research)
    if params is None:
        raise ParameterError(
            "the parameter set of these bytes has no name: give it with params=",
            code="python.params",
        )
    believed, manifest = (bounds, None) if isinstance(bounds, str) else ("", bounds._raw)
    columns, metadata = _rust.columns_from_bytes(
        params._raw, raw, believed, manifest, allow_unknown_owner
    )
    found = dict(columns)
    all_told = _rust.described_columns(metadata, params.slots, list(found))
    if all_told is None:
        return {name: _joined(params, [x], None, server) for name, x in found.items()}
    arrays = {}
    for told in all_told:
        blocks = [found[column] for column in _rust.column_names(told[0], told[1])]
        arrays[told[0]] = _joined(params, blocks, told, server)
    return arrays


def _joined(
    params: Params, blocks: list[Any], told: Described | None, server: Serving | None
) -> EncryptedIntegers | EncryptedTotal:
    """An array or a total from these columns, with its description."""
    stated = None if told is None else told[2]
    if stated is None and all(isinstance(block, _rust.Total) for block in blocks):
        return EncryptedTotal._make(blocks, 1)
    if not all(isinstance(block, _rust.Column) for block in blocks):
        raise FormatError("an array of columns and totals", code="python.array")
    shape, runs = shape_of(told, [block.length for block in blocks], params.slots)
    if told is not None:
        # What is public has as many entries as the array is said to have.
        sizes = _layout.sizes(shape, runs, params.slots)
        blocks = [block.of_length(n) for block, n in zip(blocks, sizes)]
    low, high = zip(*(block.interval for block in blocks))
    wrap = wraps_in(told, (min(low), max(high)))
    x = EncryptedIntegers._make(blocks, shape, None, wrap, runs, told is not None and told[5])
    loaded: EncryptedIntegers = x if server is None else server.load(x)
    return loaded


def shape_of(
    told: Described | None, lengths: Sequence[int | None], slots: int
) -> tuple[tuple[int, ...], int]:
    """The shape of an array with this description, and its runs; ``lengths`` are those of its
    columns.
    """
    _, _, stated, runs, _, _ = told or ("", 1, None, 1, None, False)
    if told is None:
        shape: tuple[int, ...] = () if lengths[0] is None else (lengths[0],)
    elif stated is None:
        raise FormatError("a total of columns", code="python.array")
    else:
        shape = tuple(stated)
    expected = _layout.sizes(shape, runs, slots)
    if len(lengths) != len(expected) or any(n not in (None, k) for n, k in zip(lengths, expected)):
        raise FormatError(
            f"columns of {lengths} entries do not fit an array of shape {shape}"[:200],
            code="python.shape",
        )
    return shape, runs


def wraps_in(told: Described | None, interval: Interval) -> np.dtype[Any] | None:
    """The dtype that an array with this description wraps in, if any."""
    if told is None or told[4] is None:
        return None
    wrap = named(told[4])
    low, high = interval_of(wrap)
    if wrap.kind == "b" or not low <= interval[0] <= interval[1] <= high:
        raise FormatError(
            f"an array of {interval[0]} to {interval[1]} that is said to wrap in {wrap}",
            code="python.array",
        )
    return wrap


READERS["bytes"], READERS["pickle"] = integers_from_bytes, _restore
