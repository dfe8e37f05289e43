"""Where entries lie, and how they get from one place to another.

Entry i of an array (row-major) is in slot i % s of ciphertext i // s, s being the slots of a
ciphertext: its place is i. A move is a list of places in the result with the places in the operand
that they take their values from; all else in the result is 0. It costs a rotation and a product
with a plaintext for each distance, and one level.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from . import _everlevel as _rust
from .errors import ParameterError

Places = npt.NDArray[np.int64]
#: Of a move: one for each ciphertext; none where nothing arrives.
Chunks = list["_rust.Ciphertext | None"]

#: More distances than this are taken in several moves.
FEW = 16


def move(
    server: _rust.Server,
    xs: Sequence[_rust.Ciphertext | None],
    to: Places,
    source: Places,
    count: int,
    fixed: bool,
) -> tuple[Chunks, bool]:
    """A move into ``count`` ciphertexts, and whether all else is 0: a ciphertext of whose entries
    none moves is left as it is, which costs nothing.

    ``fixed``: entries must not move between slots.
    """
    s = server.keys.params.slots
    out: Chunks = []
    clean = True
    for number in range(count):
        here = to // s == number
        places, sources = to[here] - number * s, source[here]
        parts: list[_rust.Ciphertext] = []
        origins = np.unique(sources // s)
        for origin in origins:
            of = sources // s == origin
            x = xs[origin]
            assert x is not None, "nothing is taken from where nothing arrived"
            here_to, here_from = places[of], sources[of] - origin * s
            if len(origins) == 1 and (here_to == here_from).all():
                parts.append(x)
                clean = clean and here_to.size == s
                continue
            if fixed:
                raise ParameterError(
                    "whole elements are not moved between slots, as automorphisms conjugate them: "
                    "use parts that begin at a multiple of the slots",
                    code="python.elements",
                )
            parts.append(server.copy_slots(x, _copies(here_to, here_from)))
        out.append(_sum(server, parts))
    return out, clean


def _sum(server: _rust.Server, parts: list[_rust.Ciphertext]) -> _rust.Ciphertext | None:
    if not parts:
        return None
    total = parts[0]
    for part in parts[1:]:
        total = server.add(total, part)
    return total


def _copies(to: Places, source: Places) -> list[tuple[int, int, int]]:
    """As (step, begin, end) each: slots from ``begin`` to ``end`` take what lies ``step`` further
    on.
    """
    order = np.argsort(to, kind="stable")
    to, step = to[order], (source - to)[order]
    breaks = np.flatnonzero((np.diff(to) != 1) | (np.diff(step) != 0)) + 1
    firsts, lasts = np.concatenate([[0], breaks]), np.concatenate([breaks, [to.size]]) - 1
    return [(int(step[i]), int(to[i]), int(to[j]) + 1) for i, j in zip(firsts, lasts)]


def route(source: Places, levels: bool) -> list[Places]:
    """The places of entries on their way to 0, 1, 2, ..: each with the next is a move.

    ``levels``: there are as many as it takes.

    Few distances: one move. Ascending sources: distances to base 4, a digit at a time, the lowest
    first; no two entries meet, as the distances ascend, too, and so do what is left of them.
    Descending ones are first reversed among as many places as are a power of 4, which complements
    every digit.
    """
    goal = np.arange(source.size)
    if not levels or np.unique(source - goal).size <= FEW:
        return [source, goal]
    steps = np.diff(source)
    found = [source]
    if (steps < 0).all():
        base = 1
        while base <= source.max():
            digit = found[-1] // base % 4
            found.append(found[-1] + (3 - 2 * digit) * base)
            base *= 4
    elif not (steps > 0).all():
        return [source, goal]
    distance, base = found[-1] - goal, 1
    if np.unique(distance).size <= FEW:
        return [*found, goal]
    while (distance >= base).any():
        base *= 4
        places = goal + distance // base * base
        if (places != found[-1]).any():
            found.append(places)
    return found


def gather(
    server: _rust.Server, xs: Sequence[_rust.Ciphertext], source: Places, levels: bool, fixed: bool
) -> tuple[list[_rust.Ciphertext], bool]:
    """Entries from these places, one after the other, and whether 0 follows."""
    s = server.keys.params.slots
    places = route(source, levels and not fixed)
    current: Sequence[_rust.Ciphertext | None] = xs
    clean = True
    for here, there in zip(places, places[1:]):
        current, clean = move(server, current, there, here, int(there.max()) // s + 1, fixed)
    return [x for x in current if x is not None], clean


def window_sums(
    server: _rust.Server, xs: Sequence[_rust.Ciphertext], size: int, terms: int, stride: int
) -> list[_rust.Ciphertext]:
    """In place j the sum of what lies in j, j + stride, .., ``terms`` of them, for those j for
    which all of these are entries.
    """
    columns = server.keys.params.dimensions[-1]

    def left(ys: Sequence[_rust.Ciphertext], k: int) -> list[_rust.Ciphertext]:
        if size <= columns:
            # What comes round the end of the row is in no sum that is asked for.
            return [server.rotate_columns(ys[0], k)]
        to = np.arange(size - k)
        moved, _ = move(server, ys, to, to + k, len(ys), False)
        return [y if y is not None else server.mul_scalar(ys[0], 0) for y in moved]

    found, done = list(xs), 1
    for bit in bin(terms)[3:]:
        found = [server.add(a, b) for a, b in zip(found, left(found, done * stride))]
        done *= 2
        if bit == "1":
            found = [server.add(a, b) for a, b in zip(xs, left(found, stride))]
            done += 1
    return found


def matrix_product(
    server: _rust.Server, xs: Sequence[_rust.Ciphertext], matrix: npt.NDArray[np.int64]
) -> list[_rust.Ciphertext]:
    """The product with a vector, by blocks of a row of slots each, which is where a product by
    diagonals takes place.
    """
    params = server.keys.params
    columns, s = params.dimensions[-1], params.slots
    rows, size = matrix.shape
    parts: list[list[_rust.Ciphertext]] = [[] for _ in range(-(-rows // s))]
    blocks = []
    for first in range(0, size, columns):
        source = np.arange(first, min(first + columns, size))
        blocks.append((source, gather(server, xs, source, False, False)[0][0]))
    for first in range(0, rows, columns):
        found = []
        for source, x in blocks:
            block = np.ascontiguousarray(matrix[first : first + columns, source])
            if block.any():
                found.append(server.mul_matrix(x, block))
        total = _sum(server, found)
        if total is not None:
            here = first % s
            if here:
                total = server.copy_slots(total, [(-here, here, here + min(columns, rows - first))])
            parts[first // s].append(total)
    zero = None if all(parts) else server.mul_scalar(xs[0], 0)
    return [_sum(server, part) or zero for part in parts]  # type: ignore[misc]
