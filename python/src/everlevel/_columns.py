"""Typed integers as bytes and files: arrays and totals with names, which the program reads as
columns.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from . import _everlevel as _rust
from . import _layout
from ._kinds import named
from ._params import Params, params_with
from ._values import Buffer, Path, octets, replaceable
from .errors import Error, FormatError, ParameterError, ShapeError

if TYPE_CHECKING:
    from ._integers import EncryptedIntegers
    from ._manifest import Manifest
    from ._server import Server
    from ._totals import EncryptedTotal

#: What ``inspect`` calls them.
KIND = "columns of integers"
#: The entry of the metadata with shapes and blocks, as JSON.
ARRAYS = "arrays"


class Stored:
    """What is written as a column."""

    __slots__ = ()

    def to_bytes(self, name: str = "x") -> bytes:
        """As bytes of the wire format, a column of this name. Not authenticated."""
        return integers_to_bytes({name: self})  # type: ignore[dict-item]

    def save(
        self,
        path: Path,
        *,
        name: str = "x",
        overwrite: bool = False,
        manifest: Manifest | None = None,
    ) -> None:
        """Writes a file, in one step. ``manifest`` lists it, for readers who trust the list."""
        data = self.to_bytes(name)
        _rust.write_file(replaceable(path, overwrite), data, overwrite)
        if manifest is not None:
            manifest.add(data)

    @classmethod
    def from_bytes(cls, data: Buffer, **how: Any) -> Any:
        """The only array of bytes; ``how`` as for :func:`everlevel.integers_from_bytes`."""
        found = list(integers_from_bytes(data, **how).values())
        if len(found) != 1 or not isinstance(found[0], cls):
            raise FormatError(
                f"{len(found)} arrays: expected one {cls.__name__}; everlevel.integers_from_bytes "
                "gives all",
                code="python.array",
            )
        return found[0]

    def __reduce__(self) -> Any:
        # Bounds of one's own pickle are trusted: who can change a pickle can run code.
        return _restore, (self._set(), self.to_bytes())

    def _set(self) -> Params:
        raise NotImplementedError


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
    from ._totals import EncryptedTotal

    if not arrays:
        raise ShapeError("no array: expected at least one", code="python.empty")
    columns: list[tuple[str, _rust.Column | _rust.Total]] = []
    described: dict[str, dict[str, Any]] = {}
    for name, x in arrays.items():
        blocks: tuple[_rust.Column | _rust.Total, ...] = (
            x._parts if isinstance(x, EncryptedTotal) else x._blocks
        )
        columns += [
            (name if len(blocks) == 1 else f"{name}#{i}", block) for i, block in enumerate(blocks)
        ]
        described[name] = {"blocks": len(blocks)}
        if not isinstance(x, EncryptedTotal):
            described[name]["shape"] = list(x.shape)
            if x._runs > 1:
                described[name]["runs"] = x._runs
            if x._wrap is not None:
                described[name]["wrapping"] = str(x._wrap)
    params = next(iter(arrays.values()))._set()
    return _rust.columns_to_bytes(
        params._raw, columns, {ARRAYS: json.dumps(described, separators=(",", ":"))}
    )


def integers_from_bytes(
    data: Buffer,
    *,
    params: Params | None = None,
    insecure_research: bool = False,
    bounds: str | Manifest = "untrusted",
    server: Server | None = None,
    allow_unknown_owner: bool = False,
) -> dict[str, EncryptedIntegers | EncryptedTotal]:
    """Arrays of typed integers and totals by name, also columns that the program wrote.

    ``bounds`` and all else as for ``EncryptedArray.from_bytes``.

    Which values entries can have is a claim of the encryptor: if it is false, results for these
    entries are unspecified, and so are sums over them.
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
    if ARRAYS not in metadata:
        return {name: _joined(params, [column], None, server) for name, column in found.items()}
    try:
        described = json.loads(metadata[ARRAYS])
        arrays = {}
        for name, told in described.items():
            count = int(told["blocks"])
            blocks = (
                [found.pop(name)]
                if count == 1
                else [found.pop(f"{name}#{i}") for i in range(min(count, len(found)))]
            )
            arrays[name] = _joined(params, blocks, told, server)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        if isinstance(error, Error):
            raise
        raise FormatError(
            f"the description of arrays does not fit the columns: {error!r}"[:200],
            code="python.array",
        ) from None
    if found or not arrays:
        raise FormatError(
            f"columns that belong to no array: {', '.join(found)[:100]}", code="python.array"
        )
    return arrays


def _joined(
    params: Params, blocks: list[Any], told: dict[str, Any] | None, server: Server | None
) -> EncryptedIntegers | EncryptedTotal:
    from ._integers import EncryptedIntegers
    from ._totals import EncryptedTotal

    if all(isinstance(block, _rust.Total) for block in blocks):
        return EncryptedTotal._make(blocks, 1)
    if not all(isinstance(block, _rust.Column) for block in blocks):
        raise FormatError("an array of columns and totals", code="python.array")
    lengths = [block.length for block in blocks]
    shape: tuple[int, ...]
    if told is None:
        shape, runs = () if lengths[0] is None else (lengths[0],), 1
    else:
        shape, runs = tuple(int(n) for n in told["shape"]), int(told.get("runs", 1))
    slots = params.slots
    fits = (
        len(shape) <= 32
        and all(n >= 1 for n in shape)
        and runs >= 1
        and math.prod(shape) % runs == 0
    )
    # Counted first: what is claimed may be long.
    fits = fits and _layout.blocks(shape, runs, slots) == len(lengths)
    if not fits or any(
        n not in (None, k) for n, k in zip(lengths, _layout.sizes(shape, runs, slots))
    ):
        raise FormatError(
            f"columns of {lengths} entries do not fit an array of shape {shape}"[:200],
            code="python.shape",
        )
    wrap: np.dtype[Any] | None = (
        named(told["wrapping"]) if told is not None and "wrapping" in told else None
    )
    x = EncryptedIntegers._make(blocks, shape, None, wrap, runs)
    return x if server is None else server.load(x)
