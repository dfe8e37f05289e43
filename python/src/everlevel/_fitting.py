"""Programs such as ``"y = 3*x*(1-x)"`` on arrays modulo p^r: which arrays fit, and what is known of
the results.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from . import _everlevel as _rust
from ._array import EncryptedArray
from ._places import Serving
from ._values import by_name
from .errors import DtypeError, ProgramError, ShapeError


def named_arrays(
    inputs: Mapping[str, EncryptedArray] | None, named: Mapping[str, EncryptedArray]
) -> dict[str, EncryptedArray]:
    """The arrays of a program by name, and nothing else."""
    arrays = by_name(inputs, named)
    for name, x in arrays.items():
        if not isinstance(x, EncryptedArray):
            raise DtypeError(
                f"{name}: expected an encrypted array, found {type(x).__name__}",
                code="python.input",
            )
    return arrays


class Fitting:
    """A program and arrays modulo p^r that fit it: what is known of its results."""

    __slots__ = ("count", "_shape", "_signed", "_elements", "_residues")

    def __init__(self, program: str, arrays: Mapping[str, EncryptedArray]) -> None:
        #: How many ciphertexts each array has.
        self.count = _count(program, arrays)
        self._shape = max((x.shape for x in arrays.values()), key=math.prod, default=())
        self._signed = any(x.signed for x in arrays.values())
        self._elements = any(x._elements for x in arrays.values())
        #: The results that are residues. All others are made of integers with ranges alone, and
        #: have lost their own if that is not known.
        residues = [name for name, x in arrays.items() if not x._ranged]
        self._residues = frozenset(_rust.program_made_of(program, residues))

    def result(
        self, name: str, xs: Sequence[_rust.Ciphertext], server: Serving | None = None
    ) -> EncryptedArray:
        """What the program defines by this name, in these ciphertexts."""
        return EncryptedArray._make(
            xs,
            self._shape,
            server=server,
            signed=self._signed,
            elements=self._elements,
            lost=name not in self._residues,
        )


def _count(program: str, arrays: Mapping[str, EncryptedArray]) -> int:
    """How many ciphertexts each array of a program has; arrays that it would compute something else
    on than on their entries are refused.
    """
    read, _, moves, stays = _rust.program_facts(program)
    count = max((x.ciphertexts for x in arrays.values()), default=1)
    if any(x.ciphertexts != count and not x._repeated for x in arrays.values()):
        raise ShapeError(
            f"arrays of different numbers of ciphertexts, up to {count}: give arrays of one shape",
            code="python.shape",
        )
    elements = any(x._elements for x in arrays.values())
    if moves and (count > 1 or elements):
        what = "arrays of several ciphertexts" if count > 1 else "arrays of whole elements"
        raise ProgramError(
            f"the program rotates or adds up slots, which programs do not with {what}: use "
            "the arrays' own operations",
            code="python.moves",
        )
    # Sums of arrays that are 0 behind their entries are those of the entries.
    sums = (
        stays
        and all(x._padded or x._full(x.shape) for x in arrays.values())
        and not any(x._repeated for x in arrays.values())
    )
    _check_shapes(arrays, read, moves and not sums)
    return count


def _check_shapes(arrays: Mapping[str, EncryptedArray], read: Sequence[str], moves: bool) -> None:
    """Refuses arrays that a program would compute on with more slots than their entries have."""
    unread = sorted(set(arrays) - set(read))
    if unread:
        raise ProgramError(
            f"the program does not read {', '.join(unread)}", code="python.input", name=unread[0]
        )
    shapes = {x.shape for x in arrays.values() if not x._repeated}
    if len({math.prod(shape) for shape in shapes}) > 1:
        found = " and ".join(map(str, sorted(shapes)))
        raise ShapeError(
            f"arrays of shapes {found}: programs take arrays of one size, or single entries that "
            "are in every slot",
            code="python.shape",
        )
    for name, x in arrays.items():
        if moves and not x._repeated and not x._full(x.shape):
            raise ShapeError(
                f"{name}: the program rotates or adds up all {x._slots()} slots, and {x.size} "
                f"hold entries: use the arrays' own operations, such as {name}.sum()",
                code="python.shape",
            )
