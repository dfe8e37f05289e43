"""Operands of typed integers: alignment, public ones, tables, bounds, and what wraps."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, TypeGuard

import numpy as np
import numpy.typing as npt

from . import _everlevel as _rust
from . import _layout, _options
from ._encrypted import no_server
from ._kinds import interval_of
from ._places import Place
from ._totals import EncryptedTotal
from ._typed import Typed
from ._values import is_integer
from .errors import DtypeError, OtherParametersError, RangeError

if TYPE_CHECKING:
    from ._integers import EncryptedIntegers

#: The longest table.
ENTRIES = 256


def is_typed(x: Any) -> TypeGuard[EncryptedIntegers]:
    """Whether it is an encrypted array of typed integers."""
    return isinstance(x, Typed)


def _bits(bits: int) -> int:
    if not 0 <= bits < 64:
        raise RangeError(
            f"a shift by {bits} bits: expected 0 to 63", code="integers.range", bits=bits
        )
    return int(bits)


def _on(server: Place | None) -> Place:
    if server is None:
        raise no_server()
    return server


def _aligned(operands: Sequence[Any]) -> tuple[tuple[int, ...], int, list[Any]]:
    """Shape and runs of a result, and the operands brought to it; public integers stay."""
    encrypted = [x for x in operands if is_typed(x)]
    arrays = [x.shape for x in operands if isinstance(x, np.ndarray)]
    shape, runs, places = _layout.aligned([(x._shape, x._runs) for x in encrypted], arrays)
    at = iter(places)
    found: list[Any] = []
    for x in operands:
        if is_typed(x):
            place = next(at)
            x = x if place is None else x._picked(place, shape)
        elif isinstance(x, np.ndarray):
            x = np.broadcast_to(x, shape).reshape(runs, -1)
        found.append(x)
    return shape, runs, found


def _public(server: Place, like: _rust.Column, run: npt.NDArray[Any], i: int) -> _rust.Column | int:
    """Block i of a run of public integers, beside an encrypted one: one integer if they are all the
    same, else a ciphertext without noise.
    """
    return int(run[0]) if (run == run[0]).all() else _block(server, like, run, i)


def _block(server: Place, like: _rust.Column, run: npt.NDArray[Any], i: int) -> _rust.Column:
    """Block i of a run of public integers, in a ciphertext without noise."""
    server._check_public(run)
    slots = like.params.slots
    return server._integers.constant(like, run[i * slots : (i + 1) * slots].tolist())


def _constants(like: EncryptedIntegers, array: npt.NDArray[Any]) -> EncryptedIntegers:
    """Public integers beside an encrypted array, in ciphertexts without noise."""
    shape, runs, (like, rows) = _aligned((like, array))
    server, each = _on(like._server), len(like._blocks) // runs
    blocks = [
        _block(server, block, rows[i // each], i % each) for i, block in enumerate(like._blocks)
    ]
    return like._make(blocks, shape, like._server, None, runs)


def _each(
    x: EncryptedIntegers, array: npt.NDArray[Any], operation: Callable[[Any, int], Any]
) -> EncryptedIntegers | None:
    """An operation with public integers, run by run, if they are the same along each run: then it
    has one operand that is public everywhere.
    """
    if not isinstance(array, np.ndarray):
        return None
    shape, runs, (x, rows) = _aligned((x, array))
    if not (rows == rows[:, :1]).all():
        return None
    parts = [
        operation(x._picked(np.array([run]), (rows.shape[1],)), int(rows[run, 0]))
        for run in range(runs)
    ]
    blocks = [block for part in parts for block in part._blocks]
    return x._make(blocks, shape, parts[0]._server, parts[0]._wrap, runs, parts[0]._counted)


def _column(like: EncryptedIntegers, operand: Any) -> EncryptedIntegers:
    """An operand as encrypted integers: public ones in ciphertexts without noise."""
    return operand if is_typed(operand) else _constants(like, np.asarray(operand))


#: Operations whose results wrap where an operand does, as those of sums and products.
KEPT = frozenset(
    {
        "div",
        "rem",
        "divmod",
        "div_public",
        "rem_public",
        "shift_right",
        "shift_right_by",
        "min",
        "max",
        "clip",
        "normalized",
    }
)

#: Operations whose results are truth values.
TRUTHS = frozenset({"lt", "le", "gt", "ge", "eq", "ne", "isin", "not", "and", "or", "xor"})


def _apply(name: str, operands: Sequence[Any], numbers: Sequence[int] = ()) -> EncryptedIntegers:
    """The result of an operation, or the first one of several."""
    return _results(name, operands, numbers)[0]


def _place_of(encrypted: Sequence[EncryptedIntegers]) -> Place:
    """Where arrays are computed on together."""
    server = _on(next((x._server for x in encrypted if x._server is not None), None))
    if not all(encrypted[0]._params.same(x._params) for x in encrypted[1:]):
        raise OtherParametersError("arrays of different parameter sets", code="scheme.wrong-params")
    if any(x._server is not None and x._server is not server for x in encrypted):
        raise OtherParametersError(
            "arrays on two servers: load both on one", code="python.other-server"
        )
    return server


def _scalar_product(x: EncryptedIntegers, y: EncryptedIntegers) -> EncryptedTotal:
    """The sum of the products of the entries of two vectors of one length, neither by rows, without
    the products.
    """
    server = _place_of([x, y])
    parts = [
        server._integers.totals("sum_of_products", a, [], b)[0]
        for a, b in zip(x._blocks, y._blocks, strict=True)
    ]
    return EncryptedTotal._make(parts, server._factor)


def _results(
    name: str, operands: Sequence[Any], numbers: Sequence[int] = ()
) -> list[EncryptedIntegers]:
    """The results of an operation."""
    server = _place_of([x for x in operands if is_typed(x)])
    _check_wrapping(operands)
    shape, runs, brought = _aligned(operands)
    encrypted = [x for x in brought if is_typed(x)]
    count = len(encrypted[0]._blocks)
    each, found = count // runs, []
    for i in range(count):
        like = max((x._blocks[i] for x in encrypted), key=lambda block: block.ciphertexts)
        given: list[_rust.Column | int] = []
        for x in brought:
            if is_typed(x):
                given.append(x._blocks[i])
            else:
                given.append(
                    _public(server, like, x[i // each], i % each)
                    if isinstance(x, np.ndarray)
                    else int(x)
                )
        found.append(server._integers.apply(name, given, list(numbers)))
    kind = _modulus(operands) if name in KEPT else None
    # What is computed of places and counts is no truth value, either; a condition chooses only.
    own = operands[1:] if name == "select" else operands
    counted = name not in TRUTHS and any(is_typed(x) and x._counted for x in own)
    results = (
        encrypted[0]._make(blocks, shape, server, None, runs, counted) for blocks in zip(*found)
    )
    return [_in(x, kind) for x in results]


def _in(x: EncryptedIntegers, kind: np.dtype[Any] | None) -> EncryptedIntegers:
    """As wrapping integers of this dtype, if any: reduced unless they lie in it."""
    if kind is None:
        return x
    low, high = interval_of(kind)
    if not low <= x.interval[0] <= x.interval[1] <= high:
        x = _apply("wrapped", (x,), [low, high])
    return x._wrapping(kind)


def _looked_up(
    x: EncryptedIntegers, table: Callable[[int, int], Sequence[int]]
) -> EncryptedIntegers:
    """The entries of a table, given as those for the values of an interval: that of each block."""
    server = _on(x._server)
    blocks = [
        server._integers.apply("lookup", [block], [int(v) for v in table(*block.interval)])[0]
        for block in x._blocks
    ]
    return x._make(blocks, x._shape, server, None, x._runs)


def _looked_up_all(
    x: EncryptedIntegers, tables: Callable[[int, int], Sequence[Sequence[int]]]
) -> list[EncryptedIntegers]:
    """The same of several tables, which share the powers of x."""
    server = _on(x._server)
    found = []
    for block in x._blocks:
        parts = tables(*block.interval)
        found.append(
            server._integers.apply(
                "lookup_all", [block], [len(parts), *(int(v) for part in parts for v in part)]
            )
        )
    return [x._make(blocks, x._shape, server, None, x._runs) for blocks in zip(*found)]


def _tabulated(x: EncryptedIntegers, function: Callable[[int], int]) -> EncryptedIntegers | None:
    """A function of the entries as one table, if they have at most 256 values and do not wrap."""
    low, high = x.interval
    if x._wrap is not None or high - low >= ENTRIES:
        return None
    found = _looked_up(x, lambda low, high: [function(v) for v in range(low, high + 1)])
    return found._counting(x._counted)


def _modulus(operands: Sequence[Any]) -> np.dtype[Any] | None:
    kinds = {x._wrap for x in operands if is_typed(x) and x._wrap is not None}
    if len(kinds) > 1:
        raise DtypeError(
            f"wrapping {' and '.join(sorted(map(str, kinds)))}: convert one with .astype(dtype, "
            "wrap=True)",
            code="integers.type",
        )
    return kinds.pop() if kinds else None


def _check_wrapping(operands: Sequence[Any]) -> None:
    """Of operands one of which wraps, the others lie in its dtype."""
    kind = _modulus(operands)
    if kind is None:
        return
    low, high = interval_of(kind)
    for x in operands:
        if not is_typed(x) and not np.size(x):
            continue  # No entry lies elsewhere; its shape is refused.
        least, most = x.interval if is_typed(x) else (int(np.min(x)), int(np.max(x)))
        if least < low or most > high:
            raise DtypeError(
                f"wrapping {kind} with values from {least} to {most}: use .astype({str(kind)!r}, "
                "wrap=True), or .checked() for exact arithmetic",
                code="integers.type",
            )


def _wrapped(x: EncryptedIntegers, operands: Sequence[Any]) -> EncryptedIntegers:
    return _in(x, _modulus(operands))


def clip(
    a: Any,
    a_min: Any = None,
    a_max: Any = None,
    out: Any = None,
    *,
    dtype: Any = None,
    where: Any = True,
    **bounds: Any,
) -> Any:
    """Bounds may be arrays, encrypted ones, too."""
    for name, other in (("min", a_min), ("max", a_max)):
        if name in bounds and other is not None:
            raise TypeError(f"np.clip with two bounds, {other!r} and that named {name}: give one")
    # Newer names of them.
    a_min, a_max = bounds.pop("min", a_min), bounds.pop("max", a_max)
    if bounds:
        raise TypeError(f"clip() got an unexpected keyword argument {next(iter(bounds))!r}")
    _options.read("clip", out=out, dtype=dtype, where=where)
    if is_typed(a) and all(is_integer(bound) for bound in (a_min, a_max)):
        return a.clip(a_min, a_max)
    # As NumPy: the upper bound, where it is below the lower one.
    raised: Any = a if a_min is None else np.maximum(a, a_min)
    return raised if a_max is None else np.minimum(raised, a_max)
