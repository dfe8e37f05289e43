"""Arrays of a service: operations on them are planned here and written down, and done there as one
job.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Sequence
from typing import Any

import numpy as np

from . import _everlevel as _rust
from . import _layout
from ._columns import KIND, integers_from_bytes
from ._encrypted import not_homomorphic
from ._integers import EncryptedIntegers
from ._kinds import dtype_of
from ._nodes import Home, Node, Source, recorder_of
from ._params import Params
from ._service import Service
from ._totals import EncryptedTotal
from ._tracer import Tracer
from .errors import (
    DtypeError,
    FormatError,
    OtherParametersError,
    ProgramError,
    RangeError,
    ServiceError,
    ShapeError,
    WrongKeyError,
)

#: The largest integer that a program states.
LITERAL = (1 << 63) - 1

#: Operations of two operands.
OPERATORS = {
    "add": "+",
    "sub": "-",
    "mul": "*",
    "div": "/",
    "rem": "%",
    "lt": "<",
    "le": "<=",
    "gt": ">",
    "ge": ">=",
    "eq": "==",
    "ne": "!=",
    "and": "&",
    "or": "|",
    "bit_and": "&",
    "bit_or": "|",
    "shift_left_by": "<<",
    "shift_right_by": ">>",
}

#: Other operations on operands alone.
CALLS = {
    "neg": "-{0}",
    "not": "!{0}",
    "square": "{0}^2",
    "select": "if({0}, {1}, {2})",
    "min": "min({0}, {1})",
    "max": "max({0}, {1})",
    "xor": "xor({0}, {1})",
    "bit_xor": "xor({0}, {1})",
    "abs": "abs({0})",
    "sign": "sign({0})",
    "popcount": "popcount({0})",
    "sum_of_each": "total({0})",
    "cumsum": "cumsum({0})",
    "maximum": "maximum({0})",
    "minimum": "minimum({0})",
    "argmax": "argmax({0})",
    "argmin": "argmin({0})",
}


class Recorder(Tracer):
    """A place that computes nothing: what is asked of it is traced, as for a plan, so that it is
    refused here if it would be there, and written down.

    One stands for all blocks of a vector, as for a plan; so arrays of one recorder have one number
    of blocks.
    """

    def __init__(self, remote: Service, params: Params, bootstraps: bool, factor: int) -> None:
        super().__init__(params, bootstraps, factor, False)
        self.remote, self.params, self._numbers = remote, params, itertools.count(1)

    def _node(self, traced: Any, text: str, operands: Sequence[Any] = (), **more: Any) -> Node:
        # Threads share it, and a program has one node of each number.
        number = next(self._numbers)
        owners = {x.key_id for x in operands if isinstance(x, Node) and x.key_id is not None}
        if len(owners) > 1:
            raise WrongKeyError(
                f"arrays of the secret keys {' and '.join(sorted(owners))}: expected those of one",
                code="scheme.wrong-key",
            )
        more = {"key_id": next(iter(owners), None), **more}
        # Public integers stand in the text.
        nodes: list[Node] = []
        places = []
        for x in operands:
            if isinstance(x, Node) and not x.is_public:
                places.append(f"{{{len(nodes)}}}")
                nodes.append(x)
            else:
                places.append(x.text if isinstance(x, Node) else _literal(x))
        written = text.format(*places, **_KEPT)
        if operands and not nodes:
            if more.get("entries") is not None:
                raise not_homomorphic(
                    "a public list for public entries, beside an array of a service",
                    "look up public entries in the clear, and stack what is found",
                )
            # It stands within the texts of others.
            written = f"({written})"
        return Node(self, number, traced, written, nodes, **more)

    def input(self, source: Source, x: EncryptedIntegers) -> Node:
        """A run of an array, as it is encrypted."""
        length = min(x.size, x._params.slots)
        # It is up to who encrypted it how much it has left, and the truth values of an index.
        block = x._blocks[0]
        traced = (
            self._trace.like(block)
            if x.has_index or block.level not in (None, self.params.levels - 1)
            else self._trace.input(x.interval, length)
        )
        return self._node(traced, "", source=source, key_id=x.key_id)

    def _check_public(self, run: Any) -> None:
        """Refuses public entries that differ: a program has no list of them."""
        if (run != run[0]).any():
            raise not_homomorphic(
                "public entries that differ, beside an array of a service",
                "encrypt them, and use Remote.array of that; or use everlevel.Table(table)[x]",
            )

    def constant(self, like: Any, values: list[int]) -> Any:
        traced = super().constant(like.traced, values)
        return self._node(traced, _literal(values[0]))

    def apply(self, name: str, operands: list[Any], numbers: list[int]) -> list[Any]:
        if name == "mul_wrapped":
            return self.apply("wrapped", self.apply("mul", operands, []), numbers)
        # An entry of equal ones.
        name, numbers = ("maximum", []) if name == "shortened" else (name, numbers)
        texts = _texts(name, numbers)
        own: list[Any] = [x.traced if isinstance(x, Node) else x for x in operands]
        traced = super().apply(name, own, numbers)
        return [
            self._node(part, text, operands, entries=entries)
            for part, (text, entries) in zip(traced, texts)
        ]

    def totals(
        self, name: str, x: Any, numbers: list[int] | None = None, other: Any = None
    ) -> list[Any]:
        if name == "sum_of_products":
            [part] = super().totals(name, x.traced, numbers, other.traced)
            return [self._node(part, "sum({0} * {1})", [x, other])]
        low, high = x.interval
        texts: list[tuple[str, list[int] | None]]
        if name == "bincount":
            # What has too many values is refused there, before there is a text for each.
            counted = super().totals(name, x.traced, numbers)
            values = range(low, high + 1)
            return [
                self._node(part, f"sum({{0}} == {_literal(v)})", [x])
                for part, v in zip(counted, values)
            ]
        if name in ("sum", "mean"):
            texts = [(f"{name}({{0}})", None)]
        elif name == "dot" and self._factor == 1:
            texts = [("dot({0}, {entries})", _entries(numbers or []))]
        else:
            raise _never(name)
        traced = super().totals(name, x.traced, numbers)
        return [
            self._node(part, text, [x], entries=entries)
            for part, (text, entries) in zip(traced, texts)
        ]


#: The place of a list, which is named when a program is written.
_KEPT = {"entries": "{entries}"}


def _never(name: str) -> Exception:
    return not_homomorphic(
        f"{name} of an array of a service",
        "compute() what it is made of, and do this on a server of your own",
    )


def _literal(value: Any) -> str:
    """A public integer in the text of a program."""
    found = int(value)
    if abs(found) > LITERAL:
        raise RangeError(
            f"a public integer of {found.bit_length()} bits: the programs of a service state up to "
            "63",
            code="integers.range",
        )
    return str(found) if found >= 0 else f"({found})"


def _entries(numbers: Sequence[int]) -> list[int]:
    for value in numbers:
        _literal(value)
    return [int(value) for value in numbers]


def _texts(name: str, numbers: Sequence[int]) -> list[tuple[str, list[int] | None]]:
    """An operation in the language of programs, and the public list that it takes: for each of its
    results.
    """
    if name in OPERATORS:
        return [(f"{{0}} {OPERATORS[name]} {{1}}", None)]
    if name in CALLS:
        return [(CALLS[name], None)]
    if name == "divmod":
        return [("{0} / {1}", None), ("{0} % {1}", None)]
    if name == "isin":
        return [("isin({0}, {entries})", _entries(numbers))]
    if name == "searchsorted":
        # Of integers, those not above x are those below x + 1.
        return [("searchsorted({0}, {entries})", _entries([v - numbers[0] for v in numbers[1:]]))]
    if name == "lookup":
        return [("table({0}, {entries})", _entries(numbers))]
    if name == "lookup_all":
        entries = _entries(numbers[1:])
        length = len(entries) // max(numbers[0], 1)
        starts = range(0, len(entries), length)
        return [("table({0}, {entries})", entries[i : i + length]) for i in starts]
    if name == "wrapped":
        return [(f"wrap({{0}}, {dtype_of((numbers[0], numbers[1]))})", None)]
    if name in ("sort", "argsort"):
        take, descending = numbers
        way = {"sort": "-sort(-{0}, %d)", "argsort": "argsort(-{0}, %d)"}[name]
        return [(way % take if descending else f"{name}({{0}}, {take})", None)]
    k = [_literal(v) for v in numbers]
    if name == "weighted_sum":
        return [(" + ".join(f"{w} * {{{i}}}" for i, w in enumerate(k)), None)]
    if name == "mul_public":
        return [(f"{k[0]} * {{0}}", None)]
    if name in ("div_public", "rem_public", "shift_right"):
        sign = {"div_public": "/", "rem_public": "%", "shift_right": ">>"}[name]
        return [(f"{{0}} {sign} {k[0]}", None)]
    if name == "nth":
        return [(f"nth({{0}}, {k[0]})", None)]
    if name == "clip":
        return [(f"clip({{0}}, {k[0]}, {k[1]})", None)]
    raise _never(name)


class Written:
    """A program that makes some nodes, with what it takes."""

    __slots__ = ("program", "sources", "tables", "names")

    def __init__(self, wanted: Sequence[Node]) -> None:
        nodes = _needed(wanted)
        own = {x.source.column for x in nodes if x.source is not None and x.source.column}
        # Names that no column of a file has.
        stem = "e"
        while any(name.lstrip("_").startswith(stem) for name in own):
            stem += "e"
        #: Where the inputs are, by name.
        self.sources: dict[str, Source] = {}
        #: The public lists, by name.
        self.tables: dict[str, list[int]] = {}
        #: The names of the results.
        self.names = [f"{stem}y{i}" for i in range(len(wanted))]
        results: dict[int, list[str]] = {}
        for name, x in zip(self.names, wanted):
            results.setdefault(x.number, []).append(name)
        names: dict[int, str] = {}
        lines = []
        for x in nodes:
            own_names = results.get(x.number, [])
            if x.source is not None:
                name = text = x.source.column or f"{stem}x{x.number}"
                if self.sources.setdefault(name, x.source) != x.source:
                    raise ProgramError(
                        f"two arrays of different objects are called {name}: send one of them by "
                        "itself",
                        code="python.input",
                        name=name,
                    )
            else:
                listed = f"{stem}t{x.number}"
                if x.entries is not None:
                    self.tables[listed] = list(x.entries)
                text = x.text.format(*(names[y.number] for y in x.operands), entries=listed)
                own_names = own_names or [f"_{stem}n{x.number}"]
                name = own_names[0]
            names[x.number] = name
            lines += [f"{result} = {text}" for result in own_names]
        # An integer of the program alone would be no ciphertext.
        one = next(iter(self.sources), None)
        for x in wanted:
            if x.is_public and (left := results.pop(x.number, None)):
                if one is None:
                    raise DtypeError(
                        "all entries that are asked for are public: compute them in NumPy",
                        code="python.public",
                    )
                lines += [f"{name} = 0 * {one} + {x.text}" for name in left]
        #: Its text.
        self.program = "; ".join(lines)
        # What a service would not read, such as a column that is called like a function.
        _rust.program_facts(self.program)


def _needed(wanted: Sequence[Node]) -> list[Node]:
    """All nodes that some are made of, each after its operands."""
    found, left = {}, list(wanted)
    while left:
        x = left.pop()
        if x.number not in found and not x.is_public:
            found[x.number] = x
            left.extend(x.operands)
    return [found[number] for number in sorted(found)]


def blocks_of(x: Any) -> tuple[Node, ...]:
    """The nodes of an array or a total."""
    found: Any = x._parts if isinstance(x, EncryptedTotal) else x._blocks
    return tuple(found)


def one_recorder(arrays: Sequence[Any]) -> Home:
    """Where all of some arrays were written down."""
    if not arrays:
        raise ShapeError("no array: expected at least one", code="python.empty")
    found = [recorder_of(x) for x in arrays]
    if found[0] is None or any(home is not found[0] for home in found):
        raise OtherParametersError(
            "expected arrays of one service, of one parameter set and one number of ciphertexts: "
            "Remote.array, and what is made of that",
            code="python.other-server",
        )
    return found[0]


def opened(x: Any, parts: Sequence[bytes], params: Params) -> Any:
    """An array or a total as it was computed: what a service says of it has to be what was planned
    here.
    """
    found: list[Any] = []
    for data in parts:
        arrays = list(integers_from_bytes(data, params=params).values())
        if len(arrays) != 1 or isinstance(arrays[0], EncryptedTotal) != isinstance(
            x, EncryptedTotal
        ):
            raise FormatError(
                "a result that is another one than was asked for", code="python.array"
            )
        found.append(arrays[0])
    made: Any
    if isinstance(x, EncryptedTotal):
        made = EncryptedTotal._make([part for y in found for part in y._parts], 1)
    else:
        blocks = [block for y in found for block in y._blocks]
        sizes = _layout.sizes(x._shape, x._runs, params.slots)
        lengths = [block.length for block in blocks]
        if len(lengths) != len(sizes) or any(n not in (None, k) for n, k in zip(lengths, sizes)):
            raise ServiceError(
                f"a result of {lengths} entries: expected {sizes}"[:200], code="service.malformed"
            )
        made = EncryptedIntegers._make(blocks, x._shape, None, x._wrap, x._runs, x._counted)
    low, high = x.interval
    if made.interval[0] < low or made.interval[1] > high:
        raise ServiceError(
            f"a result of {made.interval[0]} to {made.interval[1]}: expected {low} to {high}",
            code="service.malformed",
        )
    return made


def inputs_of(x: EncryptedIntegers) -> list[tuple[Source, EncryptedIntegers]]:
    """The runs of an array that is here, as they are sent."""
    if x._wrap is not None:
        x = x.checked()
    size = x.size // x._runs
    runs = [x._picked(np.array([i]), (size,)) for i in range(x._runs)]
    found = []
    for run in runs:
        data = run.to_bytes()
        # The service has no bounds for others that it could believe.
        integers_from_bytes(data, params=x.params, bounds="fresh")
        found.append((Source(data, None, None), run))
    return found


def stored(data: bytes, object_id: str, research: bool) -> dict[str, tuple[Source, Any]]:
    """The arrays of an object of a service."""
    kind = _rust.inspect(np.frombuffer(data, dtype=np.uint8))[0]
    if kind != KIND:
        raise DtypeError(
            f"expected columns of integers, found {kind}: arrays modulo p^r are for Remote.run",
            code="python.input",
        )
    # To plan with: the service has bounds of its own.
    arrays = integers_from_bytes(data, insecure_research=research, bounds="stated")
    found = {}
    for name, x in arrays.items():
        if isinstance(x, EncryptedTotal):
            raise DtypeError(f"{name} is a total, which can only be decrypted", code="python.input")
        if x._wrap is not None or x._runs > 1:
            raise ShapeError(
                f"{name} wraps or was encrypted by rows: expected vectors", code="python.shape"
            )
        several = len(arrays) > 1
        if several and not re.fullmatch("[A-Za-z][A-Za-z0-9_]*", name):
            raise ProgramError(
                f"{name!r} cannot be a name in a program: send it by itself",
                code="python.input",
                name=name,
            )
        found[name] = Source(None, object_id, name if several else None), x
    return found
