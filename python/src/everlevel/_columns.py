"""Typed integers as bytes and files: arrays and totals with names, which the program reads as
columns.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from . import _everlevel as _rust
from . import _layout
from ._kinds import Interval, interval_of, named
from ._nodes import not_here, recorder_of
from ._params import Params, params_with
from ._values import Buffer, Path, Progress, octets, replaceable
from .errors import FormatError, ParameterError, ShapeError

if TYPE_CHECKING:
    from typing_extensions import Self

    from ._integers import EncryptedIntegers
    from ._manifest import Manifest
    from ._remote import Estimate
    from ._server import Server
    from ._totals import EncryptedTotal

#: What ``inspect`` calls them.
KIND = "columns of integers"
#: And those that can only be decrypted.
RESULTS = "columns for decryption"
#: The name of an array, how many columns it has, its shape (none of totals), its runs and the type
#: that it wraps in.
Described = tuple[str, int, Sequence[int] | None, int, str | None]


class Stored:
    """A typed integer array or a total, which is stored as a column."""

    __slots__ = ()

    def compute(
        self,
        *,
        server_keys: Server | Path | None = None,
        job_name: str | None = None,
        progress: Progress = None,
    ) -> Self:
        """For an array of a service (:meth:`everlevel.Remote.array`), the encrypted array, for the
        client to decrypt. What it is made of runs there, as one job; arguments as for
        ``Remote.run``. Any other array is itself.
        """
        home = recorder_of(self)
        if home is None:
            return self
        lazy: Any = self
        (found,) = home.remote.compute(
            lazy, server_keys=server_keys, job_name=job_name, progress=progress
        )
        return cast("Self", found)

    def estimate(self, *, server_keys: Server | Path | None = None) -> Estimate:
        """Of an array of a service: what :meth:`compute` would cost; inputs are sent, and nothing
        runs.
        """
        home = recorder_of(self)
        if home is None:
            raise ParameterError(
                "the array is here and computed: Program.plan says what a program would take",
                code="python.remote",
            )
        lazy: Any = self
        return home.remote.estimate_arrays(lazy, server_keys=server_keys)

    def to_bytes(self, name: str = "x") -> bytes:
        """The bytes of the wire format, as a column with this name. They are not authenticated."""
        return integers_to_bytes({name: self})  # type: ignore[dict-item]

    def compact(self, name: str = "x") -> bytes:
        """The same reduced to what decryption needs, a few percent of the bytes, for
        ``Client.decrypt`` and ``everlevel decrypt``. It cannot be computed on.
        """
        return _rust.compact_columns_to_bytes(*_described({name: self}))  # type: ignore[dict-item]

    def save(
        self,
        path: Path,
        *,
        name: str = "x",
        overwrite: bool = False,
        manifest: Manifest | None = None,
    ) -> None:
        """Writes a file, completely or not at all. ``manifest`` lists it, for readers who trust the
        list.
        """
        data = self.to_bytes(name)
        _rust.write_file(replaceable(path, overwrite), data, overwrite)
        if manifest is not None:
            manifest.add(data)

    @classmethod
    def from_bytes(cls, data: Buffer, **how: Any) -> Any:
        """The only array in the bytes; ``how`` as for :func:`everlevel.integers_from_bytes`."""
        found = list(integers_from_bytes(data, **how).values())
        if len(found) != 1 or not isinstance(found[0], cls):
            raise FormatError(
                f"{len(found)} arrays: expected one {cls.__name__}; everlevel.integers_from_bytes "
                "gives all",
                code="python.array",
            )
        return found[0]

    def __reduce__(self) -> Any:
        # A pickle's own bounds are trusted: whoever can change a pickle can run code anyway.
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
    return _rust.columns_to_bytes(*_described(arrays))


def _described(
    arrays: Mapping[str, EncryptedIntegers | EncryptedTotal],
) -> tuple[_rust.Params, list[tuple[str, _rust.Column | _rust.Total]], dict[str, str]]:
    """The columns of arrays, and the metadata that say what they are of."""
    from ._totals import EncryptedTotal

    if not arrays:
        raise ShapeError("no array: expected at least one", code="python.empty")
    columns: list[tuple[str, _rust.Column | _rust.Total]] = []
    described: list[Described] = []
    for name, x in arrays.items():
        not_here(x)
        if isinstance(x, EncryptedTotal):
            blocks: tuple[_rust.Column | _rust.Total, ...] = x._parts
            described.append((name, len(blocks), None, 1, None))
        else:
            blocks = x._blocks
            wrapping = None if x._wrap is None else str(x._wrap)
            described.append((name, len(blocks), x.shape, x._runs, wrapping))
        columns += zip(_rust.column_names(name, len(blocks)), blocks)
    params = next(iter(arrays.values()))._set()
    return params._raw, columns, _rust.describe_columns(described)


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
    described = _rust.described_columns(metadata, params.slots, list(found))
    if described is None:
        return {name: _joined(params, [x], None, server) for name, x in found.items()}
    arrays = {}
    for told in described:
        blocks = [found[column] for column in _rust.column_names(told[0], told[1])]
        arrays[told[0]] = _joined(params, blocks, told, server)
    return arrays


def _joined(
    params: Params, blocks: list[Any], told: Described | None, server: Server | None
) -> EncryptedIntegers | EncryptedTotal:
    """An array or a total from these columns, with its description."""
    from ._integers import EncryptedIntegers
    from ._totals import EncryptedTotal

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
    x = EncryptedIntegers._make(blocks, shape, None, wrap, runs)
    return x if server is None else server.load(x)


def shape_of(
    told: Described | None, lengths: Sequence[int | None], slots: int
) -> tuple[tuple[int, ...], int]:
    """The shape of an array with this description, and its runs; ``lengths`` are those of its
    columns.
    """
    _, _, stated, runs, _ = told or ("", 1, None, 1, None)
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
