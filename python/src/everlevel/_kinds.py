"""What typed integers may be: intervals, and the NumPy dtypes that hold them."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Annotated, Any, get_origin

import numpy as np
import numpy.typing as npt

from ._values import bounds_of, exact, is_integer, unmasked
from .errors import DtypeError, RangeError, ShapeError

#: The dtypes of typed integers, smallest first.
DTYPES = tuple(
    np.dtype(name)
    for name in ("bool", "uint8", "int8", "uint16", "int16", "uint32", "int32", "uint64", "int64")
)

Interval = tuple[int, int]

#: The largest absolute value of a public integer.
MOST = 1 << 126


@dataclass(frozen=True)
class Kind:
    """The integers from ``low`` to ``high``, both included."""

    low: int
    high: int
    #: Of how many rows an argument of a program is; none if it is a vector.
    rows: int | None = None
    #: Whether an argument of a program is encrypted with an index.
    indexed: bool = False

    @property
    def dtype(self) -> np.dtype[Any]:
        """The smallest dtype that holds them; ``object``, for Python's integers, beyond 64 bits."""
        return dtype_of((self.low, self.high))

    def __str__(self) -> str:
        named = next(
            (dtype for dtype in DTYPES if interval_of(dtype) == (self.low, self.high)), None
        )
        one = f"{self.low} to {self.high}" if named is None else str(named)
        whole = one if self.rows is None else f"{self.rows} rows of {one}"
        return f"{whole} with an index" if self.indexed else whole


def ranged(low: int, high: int) -> Kind:
    """The integers from ``low`` to ``high``, both included: fewer digits than a dtype has, and
    cheaper operations.
    """
    low, high = bounds_of((low, high))
    if not -MOST <= low <= high <= MOST:
        raise RangeError(
            f"bounds ({low}, {high}): expected -2^126 <= low <= high <= 2^126",
            code="integers.range",
            low=low,
            high=high,
        )
    return Kind(low, high)


def indexed(kind: Any) -> Kind:
    """For annotations of programs: an argument of a dtype, of ``everlevel.ranged(low, high)`` or of
    ``everlevel.rows(count, kind)`` that is encrypted with an index, as ``client.encrypt(..,
    index=True)`` does. Comparisons with public integers and tables read it, and the plan counts
    that; their results have few levels left.
    """
    found: Kind = kind if isinstance(kind, Kind) else Kind(*interval_of(named(kind)))
    return replace(found, indexed=True)


def interval_of(dtype: np.dtype[Any]) -> Interval:
    """The integers of a dtype."""
    if dtype.kind == "b":
        return 0, 1
    info = np.iinfo(dtype)
    return int(info.min), int(info.max)


def dtype_of(interval: Interval, counted: bool = False) -> np.dtype[Any]:
    """The smallest dtype that holds an interval; ``object`` if none does. Of what is ``counted`` it
    is not ``bool``, with which NumPy would choose entries and not index them.
    """
    for dtype in DTYPES[1:] if counted else DTYPES:
        low, high = interval_of(dtype)
        if low <= interval[0] and interval[1] <= high:
            return dtype
    return np.dtype(object)


def named(dtype: Any) -> np.dtype[Any]:
    """The dtype that is meant, if it is one of typed integers."""
    found: np.dtype[Any] | None
    try:
        # NumPy would take the dtype of a kind, which may hold more than that.
        found = None if isinstance(dtype, Kind) else np.dtype(getattr(dtype, "_dtype", dtype))
    except (SyntaxError, TypeError, ValueError):
        found = None
    if found is None or found not in DTYPES:
        shown = str(dtype if found is None else found)
        raise DtypeError(
            f"dtype {shown}: expected bool, uint8 to uint64 or int8 to int64",
            code="integers.value",
            dtype=shown,
        )
    known: np.dtype[Any] = found
    return known


def whole(value: Any) -> int:
    """A public integer."""
    found = int(value)
    if not -MOST <= found <= MOST:
        raise RangeError(
            f"an integer of {found.bit_length()} bits: expected -2^126 to 2^126",
            code="integers.range",
        )
    return found


def entries(values: npt.ArrayLike) -> npt.NDArray[Any]:
    """The array, if it is one of integers, of any size."""
    unmasked(values)
    array = exact(values, np.asarray(values))
    if array.dtype.kind == "O":
        for position, value in enumerate(array.flat):
            if not is_integer(value):
                raise DtypeError(
                    f"{value!r} at position {position}: expected integers",
                    code="integers.value",
                    position=position,
                )
            whole(value)
    elif array.dtype.kind not in "iub":
        first = f", such as {array.flat[0]!r} at position 0" if array.size else ""
        raise DtypeError(
            f"an array of {array.dtype}{first}: expected integers; scale and round numbers with "
            "decimal places, for two of them np.rint(100 * values).astype(np.int32)",
            code="integers.value",
            dtype=str(array.dtype),
        )
    return array


def some(values: npt.ArrayLike, what: str = "an array") -> npt.NDArray[Any]:
    """The array, if it is one of integers, and of one at least."""
    # NumPy takes an array of nothing for one of floating-point numbers.
    if np.size(values) == 0:
        raise ShapeError(
            f"{what} of shape {np.shape(values)} has no values: expected at least one",
            code="python.empty",
        )
    return entries(values)


def within(array: npt.NDArray[Any], interval: Interval) -> None:
    """Refuses entries outside of an interval."""
    low, high = interval
    if int(array.min()) >= low and int(array.max()) <= high:
        return
    flat = array.reshape(-1)
    position = next(i for i in range(flat.size) if not low <= int(flat[i]) <= high)
    raise RangeError(
        f"{int(flat[position])} at position {position}: expected integers from {low} to {high}; "
        "nothing was encrypted",
        code="integers.value",
        value=int(flat[position]),
        position=position,
    )


def kind_of(array: npt.NDArray[Any], dtype: Any, bounds: Interval | None) -> Kind:
    """What an array that is to be encrypted may hold."""
    if bounds is not None:
        low, high = bounds_of(bounds)
        kind = ranged(low, high)
        if dtype is not None:
            stated = dtype if isinstance(dtype, Kind) else Kind(*interval_of(named(dtype)))
            if kind.low < stated.low or kind.high > stated.high:
                raise RangeError(
                    f"bounds {bounds} exceed {stated}, {stated.low} to {stated.high}",
                    code="integers.range",
                    low=low,
                    high=high,
                )
            kind = replace(stated, low=kind.low, high=kind.high)
        return kind
    if isinstance(dtype, Kind):
        return dtype
    if dtype is not None:
        return Kind(*interval_of(named(dtype)))
    # Whatever the order of its bytes.
    widest = array.dtype.newbyteorder("=") == np.int64
    if widest or array.dtype.kind == "O":
        what = (
            "which is what NumPy makes of any integers and would take 16 ciphertexts"
            if widest
            else "which holds integers of any size"
        )
        raise DtypeError(
            f"an array of {array.dtype}, {what} where fewer may do: say what its entries "
            "can be, with dtype=np.uint8 for example, or with bounds=(low, high); for integers "
            "modulo p there is encrypt_modular",
            code="integers.width",
            dtype=str(array.dtype),
        )
    return Kind(*interval_of(array.dtype))


def kinds_of(function: Callable[..., Any]) -> dict[str, Kind]:
    """What the arguments of a function may be, by name, as its annotations say."""
    found = {}
    for name, parameter in inspect.signature(function, eval_str=True).parameters.items():
        said = parameter.annotation
        if get_origin(said) is Annotated:
            said = next((x for x in said.__metadata__ if isinstance(x, Kind)), said)
        if said is inspect.Parameter.empty or parameter.kind in (
            parameter.VAR_POSITIONAL,
            parameter.VAR_KEYWORD,
        ):
            raise DtypeError(
                f"argument {name} of {function.__name__} has no type: annotate it, with "
                "everlevel.uint8 for example",
                code="python.annotation",
            )
        if not isinstance(said, Kind):
            try:
                dtype = np.dtype(getattr(said, "_dtype", said))
                said = Kind(*interval_of(dtype))
            except (TypeError, ValueError):
                raise DtypeError(
                    f"argument {name} of {function.__name__}: expected everlevel.bool_, uint8 to "
                    "uint64, int8 to int64 or everlevel.ranged(low, high)",
                    code="python.annotation",
                ) from None
        found[name] = said
    return found
