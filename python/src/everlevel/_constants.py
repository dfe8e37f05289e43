"""Constants of queries that the server does not see."""

from __future__ import annotations

from typing import Any

from . import _everlevel as _rust
from ._values import Buffer, Path, octets, read_file, replaceable


class Constants:
    """The encrypted constants of a plan, which the asker gives to the server with it: what
    ``Plan.bind`` makes.
    """

    __slots__ = ("_data", "_facts")

    _data: bytes
    #: Id, id of the plan, owner.
    _facts: tuple[str, str, str | None]

    def __init__(self) -> None:
        raise TypeError(
            "encrypted constants come from Plan.bind, Constants.open and Constants.from_bytes"
        )

    @classmethod
    def from_bytes(cls, data: Buffer) -> Constants:
        """From bytes. Their head is read; the constants are when they are computed with."""
        self = object.__new__(cls)
        self._data = data if isinstance(data, bytes) else octets(data).tobytes()
        self._facts = _rust.table_constants_facts(self._data)
        return self

    @classmethod
    def open(cls, path: Path) -> Constants:
        """From a file, also one of ``everlevel table bind``."""
        return cls.from_bytes(read_file(path))

    def to_bytes(self) -> bytes:
        """As bytes of the wire format. Not authenticated."""
        return self._data

    def save(self, path: Path, *, overwrite: bool = False) -> None:
        """Writes a file, in one step."""
        _rust.write_file(replaceable(path, overwrite), self._data, overwrite)

    @property
    def id(self) -> str:
        """The public id of this encryption, which results of it state."""
        return self._facts[0]

    @property
    def plan_id(self) -> str:
        """The id of the plan that they are for."""
        return self._facts[1]

    @property
    def key_id(self) -> str | None:
        """The public id of the secret key that reads them; none if all have one possible value."""
        return self._facts[2]

    def __reduce__(self) -> Any:
        return Constants.from_bytes, (self._data,)

    def __repr__(self) -> str:
        return f"<everlevel.tables.Constants for plan {self.plan_id}>"
