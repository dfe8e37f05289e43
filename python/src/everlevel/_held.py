"""Objects that are kept as bytes, of which only the header is read here."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from . import _everlevel as _rust
from ._values import Buffer, Path, octets, read_file, replaceable

if TYPE_CHECKING:
    from typing_extensions import Self


class Held:
    """Bytes of the wire format, with the statements of their header."""

    __slots__ = ("_data", "_facts")

    _data: bytes
    _facts: Any

    @classmethod
    def _head(cls, data: bytes) -> Any:
        """The statements of the header of such bytes."""
        raise NotImplementedError

    @classmethod
    def from_bytes(cls, data: Buffer) -> Self:
        """The object in these bytes. Only the header is read here; the content is read when it is
        decrypted or used.
        """
        self = object.__new__(cls)
        self._data = data if isinstance(data, bytes) else octets(data).tobytes()
        self._facts = cls._head(self._data)
        return self

    @classmethod
    def open(cls, path: Path) -> Self:
        """The object in a file, also one that the command-line program wrote."""
        return cls.from_bytes(read_file(path))

    def to_bytes(self) -> bytes:
        """The bytes of the wire format. They are not authenticated."""
        return self._data

    def save(self, path: Path, *, overwrite: bool = False) -> None:
        """Writes a file, completely or not at all."""
        _rust.write_file(replaceable(path, overwrite), self._data, overwrite)
