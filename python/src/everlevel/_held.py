"""Objects that are kept as their bytes, of which only the head is read here."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from . import _everlevel as _rust
from ._values import Buffer, Path, octets, read_file, replaceable

if TYPE_CHECKING:
    from typing_extensions import Self


class Held:
    """Bytes of the wire format, and what their head says."""

    __slots__ = ("_data", "_facts")

    _data: bytes
    _facts: Any

    @classmethod
    def _head(cls, data: bytes) -> Any:
        """What the head of such bytes says."""
        raise NotImplementedError

    @classmethod
    def from_bytes(cls, data: Buffer) -> Self:
        """From bytes. Their head is read; what they hold is when it is decrypted or computed
        with.
        """
        self = object.__new__(cls)
        self._data = data if isinstance(data, bytes) else octets(data).tobytes()
        self._facts = cls._head(self._data)
        return self

    @classmethod
    def open(cls, path: Path) -> Self:
        """From a file, also one that the command line wrote."""
        return cls.from_bytes(read_file(path))

    def to_bytes(self) -> bytes:
        """As bytes of the wire format. Not authenticated."""
        return self._data

    def save(self, path: Path, *, overwrite: bool = False) -> None:
        """Writes a file, in one step."""
        _rust.write_file(replaceable(path, overwrite), self._data, overwrite)
