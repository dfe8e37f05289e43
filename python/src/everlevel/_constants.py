"""Constants of queries that the server does not see."""

from __future__ import annotations

from typing import Any

from . import _everlevel as _rust
from ._held import Held


class Constants(Held):
    """The encrypted constants of a plan, made by ``Plan.bind``, which the asker gives to the server
    with the plan.
    """

    __slots__ = ()

    #: Id, id of the plan, owner.
    _facts: tuple[str, str, str | None]

    def __init__(self) -> None:
        raise TypeError(
            "encrypted constants come from Plan.bind, Constants.open and Constants.from_bytes"
        )

    @classmethod
    def _head(cls, data: bytes) -> Any:
        return _rust.table_constants_facts(data)

    @property
    def id(self) -> str:
        """The public id of this encryption, which its results state."""
        return self._facts[0]

    @property
    def plan_id(self) -> str:
        """The id of the plan that they are for."""
        return self._facts[1]

    @property
    def key_id(self) -> str | None:
        """The public id of the secret key that decrypts them; ``None`` if each has only one
        possible value.
        """
        return self._facts[2]

    def __reduce__(self) -> Any:
        return Constants.from_bytes, (self._data,)

    def __repr__(self) -> str:
        return f"<everlevel.tables.Constants for plan {self.plan_id}>"
