"""Typed integers as columns of bytes and files, whatever they are: an array or a total."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, cast

from . import _everlevel as _rust
from ._manifest import Manifest
from ._nodes import not_here, recorder_of
from ._params import Params
from ._places import Serving
from ._service import Estimate
from ._values import Buffer, Path, Progress, replaceable
from .errors import FormatError, ParameterError, ShapeError

if TYPE_CHECKING:
    from typing_extensions import Self

#: The name of an array, how many columns it has, its shape (none of totals), its runs, the type
#: that it wraps in, and whether its entries are no truth values even if they are 0 and 1.
Described = tuple[str, int, Sequence[int] | None, int, str | None, bool]

#: The columns of an array, and what else is told of it.
Stated = tuple[tuple[_rust.Column | _rust.Total, ...], Sequence[int] | None, int, str | None, bool]

#: What makes arrays: ``"bytes"`` those of a file by name, ``"pickle"`` that of a pickle. The module
#: that does it is above the arrays, and enters itself when it is imported.
READERS: dict[str, Callable[..., Any]] = {}


class Stored:
    """A typed integer array or a total, which is stored as a column."""

    __slots__ = ()

    def compute(
        self,
        *,
        server_keys: Serving | Path | None = None,
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

    def estimate(self, *, server_keys: Serving | Path | None = None) -> Estimate:
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
        return _rust.columns_to_bytes(*described({name: self}))

    def compact(self, name: str = "x") -> bytes:
        """The same reduced to what decryption needs, a few percent of the bytes, for
        ``Client.decrypt`` and ``everlevel decrypt``. It cannot be computed on.
        """
        return _rust.compact_columns_to_bytes(*described({name: self}))

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
        found = list(READERS["bytes"](data, **how).values())
        if len(found) != 1 or not isinstance(found[0], cls):
            raise FormatError(
                f"{len(found)} arrays: expected one {cls.__name__}; everlevel.integers_from_bytes "
                "gives all",
                code="python.array",
            )
        return found[0]

    def __reduce__(self) -> Any:
        # A pickle's own bounds are trusted: whoever can change a pickle can run code anyway.
        return READERS["pickle"], (self._set(), self.to_bytes())

    def _set(self) -> Params:
        raise NotImplementedError

    def _stated(self) -> Stated:
        """Its columns, its shape (none of a total), its runs, the type that it wraps in, and if its
        entries are no truth values.
        """
        raise NotImplementedError


def described(
    arrays: Mapping[str, Stored],
) -> tuple[_rust.Params, list[tuple[str, _rust.Column | _rust.Total]], dict[str, str]]:
    """The columns of arrays, and the metadata that say what they are of."""
    if not arrays:
        raise ShapeError("no array: expected at least one", code="python.empty")
    columns: list[tuple[str, _rust.Column | _rust.Total]] = []
    told: list[Described] = []
    for name, x in arrays.items():
        not_here(x)
        blocks, shape, runs, wrapping, counted = x._stated()
        told.append((name, len(blocks), shape, runs, wrapping, counted))
        columns += zip(_rust.column_names(name, len(blocks)), blocks)
    params = next(iter(arrays.values()))._set()
    return params._raw, columns, _rust.describe_columns(told)
