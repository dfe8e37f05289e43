"""Where the entries of an array of typed integers are: in row-major order, in one run or in several
of equal length, each of which begins a ciphertext.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from .errors import ShapeError

Shape = tuple[int, ...]


def sizes(shape: Shape, runs: int, slots: int) -> list[int]:
    """How many entries each block has."""
    length = math.prod(shape) // runs
    return [min(slots, length - i) for i in range(0, length, slots)] * runs


def leading(shape: Shape, runs: int) -> int:
    """How many axes can be indexed: whose entries lie in different runs."""
    return max(d for d in range(len(shape) + 1) if runs % math.prod(shape[:d]) == 0)


def aligned(
    encrypted: Sequence[tuple[Shape, int]], public: Sequence[Shape] = ()
) -> tuple[Shape, int, list[npt.NDArray[np.int64] | None]]:
    """Shape and runs of what is computed from arrays of these shapes and runs, and from public
    ones; and of each encrypted one which of its runs stands in which place,
    none if it has them already. Encrypted arrays are repeated along axes whose entries lie in
    different runs, and along no others.
    """
    shapes = [shape for shape, _ in encrypted]
    try:
        whole = tuple(np.broadcast_shapes(*shapes, *public))
    except ValueError:
        raise ShapeError(_problem(shapes, public), code="python.shape") from None
    if 0 in whole:
        raise ShapeError(
            f"an operation on entries of shape {whole}, which are none", code="python.empty"
        )
    if len(set(encrypted)) == 1 and whole == shapes[0]:
        return whole, encrypted[0][1], [None] * len(encrypted)
    for tail in range(1 if whole not in shapes else 0, len(whole) + 1):
        split = len(whole) - tail
        if all(_ends(shape, runs, whole[split:]) for shape, runs in encrypted):
            lead = whole[:split]
            places: list[npt.NDArray[np.int64] | None] = []
            for shape, runs in encrypted:
                own = np.arange(runs, dtype=np.int64).reshape(shape[: len(shape) - tail])
                places.append(np.broadcast_to(own, lead).reshape(-1))
            return whole, math.prod(lead), places
    raise ShapeError(_problem(shapes, public), code="python.shape")


def _ends(shape: Shape, runs: int, tail: Shape) -> bool:
    """Whether each run is an array of this shape."""
    split = len(shape) - len(tail)
    return split >= 0 and shape[split:] == tail and math.prod(shape[:split]) == runs


def _problem(shapes: Sequence[Shape], public: Sequence[Shape]) -> str:
    distinct = sorted(set(shapes))
    if len(distinct) > 1:
        return (
            f"encrypted arrays of shapes {' and '.join(map(str, distinct))}: expected one shape, "
            "or arrays encrypted with rows=True, whose rows are repeated; "
            "else repeat entries before they are encrypted"
        )
    if public and any(_differ(distinct[0], shape) for shape in public):
        return (
            f"an array of shape {' or '.join(map(str, public))} does not fit an encrypted one of "
            f"shape {distinct[0]}"
        )
    return (
        f"arrays of shape {distinct[0]}, of which one was encrypted with rows=True and one "
        "without: encrypt both alike"
    )


def _differ(shape: Shape, public: Shape) -> bool:
    try:
        return np.broadcast_shapes(shape, public) != shape
    except ValueError:
        return True
