"""Blocks of arrays of a service: how each is computed from others, and its public properties."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple, Protocol

from . import _everlevel as _rust
from ._params import Params
from ._service import Service
from .errors import ParameterError


class Source(NamedTuple):
    """An input of a computation at a service: bytes that are sent when they are needed, or an
    object there.
    """

    data: bytes | None
    object_id: str | None
    #: The name of the array among several in one object.
    column: str | None


class Home(Protocol):
    """Where nodes are written down, as they need it."""

    params: Params

    @property
    def remote(self) -> Service:
        """What computes them."""
        ...

    def _node(self, traced: Any, text: str, operands: Sequence[Any] = ..., /) -> Node:
        """A further one."""
        ...


class Node:
    """A block, or a total, that a service can compute, with the properties that a plan knows."""

    __slots__ = ("recorder", "number", "traced", "text", "operands", "entries", "source", "key_id")

    def __init__(
        self,
        recorder: Home,
        number: int,
        traced: _rust.Column | _rust.Total,
        text: str,
        operands: Sequence[Node] = (),
        entries: Sequence[int] | None = None,
        source: Source | None = None,
        key_id: str | None = None,
    ) -> None:
        #: Where it was written down, and in which place.
        self.recorder, self.number = recorder, number
        #: What it is on a scheme that only counts.
        self.traced = traced
        #: In the language of programs, with ``{0}`` and so on for the operands and ``{entries}``
        #: for a public list.
        self.text, self.operands, self.entries = text, tuple(operands), entries
        #: Of an input where it is.
        self.source = source
        #: Whose it is.
        self.key_id = key_id

    @property
    def is_public(self) -> bool:
        """True if it is a public integer in the program."""
        return self.source is None and not self.operands

    def without_index(self) -> Node:
        """The same without its index, there as well."""
        traced: Any = self.traced
        return self.recorder._node(traced.without_index(), "without_index({0})", [self])

    def __getattr__(self, name: str) -> Any:
        # The parameter set, the interval, the number of ciphertexts and so on.
        return getattr(self.traced, name)


def recorder_of(x: Any) -> Home | None:
    """The recorder of an array or a total; ``None`` if it is not an array of a service."""
    blocks = getattr(x, "_blocks", None) or getattr(x, "_parts", None) or ()
    return blocks[0].recorder if blocks and isinstance(blocks[0], Node) else None


def not_here(x: Any) -> None:
    """Refuses an array of a service where one of this process is needed."""
    if recorder_of(x) is not None:
        raise ParameterError(
            "the array is one of a service, and nothing of it is computed yet: x.compute() runs it "
            "there and fetches the encrypted result",
            code="python.remote",
        )
