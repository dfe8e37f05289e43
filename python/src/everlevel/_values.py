"""Between what users give and what the compiled half takes."""

from __future__ import annotations

import operator
import os
import stat
from collections.abc import Callable, Mapping, Sequence
from typing import Any, BinaryIO, TypeVar, Union

import numpy as np
import numpy.typing as npt

from . import _everlevel as _rust
from .errors import (
    DecryptionError,
    DtypeError,
    Error,
    FileError,
    ProgramError,
    RangeError,
    ShapeError,
)

Buffer = Union[bytes, bytearray, memoryview, "np.ndarray[Any, Any]"]
Path = Union[str, "os.PathLike[str]"]
Progress = Any
"""A callable ``progress(done, total)``, or a bar with ``update`` and ``total`` such as tqdm's.

An exception that it raises ends the work.
"""

Given = TypeVar("Given")

#: What signed words reach, and how many words there are.
SIGNED, WORDS = 1 << 63, 1 << 64
#: The longest file that is read as a whole, the same as in Rust.
FILE_BYTES = 8 << 30
#: How many bytes of a pipe are read at a time.
PIECE_BYTES = 1 << 20


def is_integer(value: Any) -> bool:
    """True for an integer of Python or NumPy, or a truth value; NumPy's durations, which are
    integers by their class, are none.
    """
    return isinstance(value, (int, np.integer, np.bool_)) and not isinstance(value, np.timedelta64)


def counted(name: str, value: Any, bits: int = 63, code: str = "python.value-range") -> int:
    """A number of something as the compiled half takes it: from 0 to 2^``bits`` - 1."""
    found = operator.index(value)
    if not 0 <= found < 1 << bits:
        raise RangeError(f"{name} = {found}: expected 0 to 2^{bits} - 1", code=code, found=found)
    return found


def by_name(inputs: Mapping[str, Given] | None, named: Mapping[str, Given]) -> dict[str, Given]:
    """The inputs of a program from a mapping and from keywords, each of them once."""
    twice = sorted(set(inputs or {}) & set(named))
    if twice:
        raise ProgramError(
            f"{', '.join(twice)}: given twice, in the mapping and by keyword: give one array for "
            "each name",
            code="python.arguments",
        )
    return {**(inputs or {}), **named}


def unmasked(values: Any, axes: int = 64) -> None:
    """Refuses entries that are masked, which an array of integers would not tell from others; in
    lists within lists, too, of which NumPy makes as many axes at most.
    """
    if isinstance(values, (list, tuple)):
        for part in values:
            if axes and isinstance(part, (list, tuple, np.ma.MaskedArray)):
                unmasked(part, axes - 1)
    elif np.ma.is_masked(values):
        raise DtypeError(
            "an array with masked entries: fill them in, x.filled(0), or leave them out, "
            "x.compressed()",
            code="python.masked",
        )


def exact(values: npt.ArrayLike, array: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """The array that NumPy made of values; of integers of both halves of words, which have no type
    in common but floating-point numbers, an array of Python's integers.
    """
    if array.dtype.kind == "f" and array.size and not isinstance(values, np.ndarray):
        whole = np.array(values, dtype=object)
        if all(map(is_integer, whole.flat)):
            return whole
    return array


def integers(values: npt.ArrayLike) -> npt.NDArray[np.int64]:
    """The array as signed 64-bit integers, if it is one of integers: a copy, as whoever computes on
    it does not hold the interpreter's lock, and another thread may change what was checked.
    """
    array = _integers(values)
    if array.dtype == np.uint64:
        raise RangeError(
            f"{array.max()} is above 2^63 - 1: expected integers of 64 bits with a sign",
            code="python.value-range",
            found=int(array.max()),
        )
    return array


def entries_modulo(values: npt.ArrayLike, modulus: int) -> npt.NDArray[Any]:
    """The array as ``integers`` gives it; modulo more than 2^63 also as words without a sign, if an
    entry needs one.
    """
    return _integers(values) if modulus > SIGNED else integers(values)


def reduced(array: npt.NDArray[Any], modulus: int) -> npt.NDArray[Any]:
    """What ``entries_modulo`` gives, modulo that."""
    if modulus == SIGNED:
        return array & np.int64(SIGNED - 1)
    if modulus < SIGNED:
        return array % modulus
    if array.dtype == np.uint64 and modulus < WORDS:
        # More than half of the words are residues.
        return np.where(array >= np.uint64(modulus), array - np.uint64(modulus), array)
    # Negative integers are above minus the modulus, which is what is taken for residues.
    return array


def congruent(array: npt.NDArray[Any], modulus: int) -> npt.NDArray[np.int64]:
    """Residues as signed words that are congruent to them, which the compiled half takes."""
    return centred(array, modulus) if array.dtype == np.uint64 else array


def _integers(values: npt.ArrayLike) -> npt.NDArray[Any]:
    """The array as signed words, or as words without a sign if an entry is above these."""
    unmasked(values)
    array = np.array(values)
    if array.size == 0:
        raise ShapeError(
            f"an array of shape {array.shape} has no values: expected at least one",
            code="python.empty",
        )
    array = exact(values, array)
    if array.dtype.kind == "O" and all(map(is_integer, array.flat)):
        least, most = min(map(int, array.flat)), max(map(int, array.flat))
        if not -SIGNED <= least <= most < (SIGNED if least < 0 else WORDS):
            raise RangeError(
                "integers that no type of 64 bits has all of: expected values below the plaintext "
                "modulus",
                code="python.value-range",
            )
        array = array.astype(np.int64 if most < SIGNED else np.uint64)
    if array.dtype.kind not in "iub":
        raise DtypeError(
            f"expected integers, found dtype {array.dtype}: convert with .astype('int64')",
            code="python.dtype",
            dtype=str(array.dtype),
        )
    # Whatever the order of its bytes.
    above = array.dtype.kind == "u" and int(array.max()) >= SIGNED
    return np.asarray(array, dtype=np.uint64 if above else np.int64, order="C")


def truths(condition: Any) -> npt.NDArray[np.bool_]:
    """Whether each entry of a public condition holds, as NumPy has it: a number unless it is 0, and
    of other objects what Python says of them.
    """
    unmasked(condition)
    array = np.asarray(condition)
    if array.dtype.kind not in "biufcO":
        raise DtypeError(
            f"a condition of dtype {array.dtype}: expected truth values, as of x != 0",
            code="python.dtype",
            dtype=str(array.dtype),
        )
    return np.asarray(array.astype(bool) if array.dtype.kind == "O" else array != 0)


def bounds_of(bounds: Any) -> tuple[int, int]:
    """The least and the largest of the integers that are meant."""
    try:
        low, high = bounds
        return operator.index(low), operator.index(high)
    except (TypeError, ValueError):
        raise DtypeError(
            f"bounds {bounds!r}: expected two integers, the least and the largest",
            code="python.value-bounds",
        ) from None


def in_range(array: npt.NDArray[Any], modulus: int, signed: bool) -> None:
    """Refuses values outside of 0..modulus - 1, or signed of ±(modulus - 1)/2."""
    low, high = (-((modulus - 1) // 2), (modulus - 1) // 2) if signed else (0, modulus - 1)
    least, most = int(array.min()), int(array.max())
    if least < low or most > high:
        found = least if least < low else most
        hint = "" if signed or found >= 0 else "; give signed=True for negative values"
        raise RangeError(
            f"{found}: expected {'signed ' if signed else ''}values from {low} to {high}{hint}, "
            f"or reduce=True to take them modulo {modulus}",
            code="python.value-range",
            found=found,
            low=low,
            high=high,
        )


def centred(values: npt.NDArray[np.uint64], modulus: int) -> npt.NDArray[np.int64]:
    """Residues as the integers of least absolute value; of two, modulo 2^64, the negative one."""
    # The difference begins again above, as words do, and is a negative one with a sign.
    less = values - np.uint64(modulus % WORDS)
    return np.where(values > np.uint64((modulus - 1) // 2), less, values).view(np.int64)


def in_bounds(array: npt.NDArray[Any], bounds: tuple[int, int], modulus: int) -> None:
    """Refuses bounds that are none or have more integers than residues tell apart, and values
    outside of them.
    """
    low, high = bounds
    if not 0 <= high - low < modulus:
        raise RangeError(
            f"bounds={bounds!r}: expected (low, high) of at most {modulus} integers, which is as "
            "many as residues tell apart",
            code="python.value-bounds",
        )
    least, most = int(array.min()), int(array.max())
    if least < low or most > high:
        found = least if least < low else most
        raise RangeError(
            f"{found}: expected values from {low} to {high}, as bounds={bounds!r} say",
            code="python.value-range",
            found=found,
            low=low,
            high=high,
        )


def joined(ranges: Sequence[tuple[int, int] | None]) -> tuple[int, int] | None:
    """The smallest range that holds all of these, if all are known."""
    known = [r for r in ranges if r is not None]
    if not known or len(known) < len(ranges):
        return None
    return min(low for low, _ in known), max(high for _, high in known)


def of_range(
    values: npt.NDArray[np.uint64], modulus: int, found: tuple[int, int], signed: bool | None
) -> npt.NDArray[Any]:
    """The integers of a range that residues stand for, words without a sign if they may be above
    signed ones; a range with too many of them, one that does not suit the sign, and a residue of
    none are refused.
    """
    low, high = found
    if signed is None:
        words = (0, WORDS) if high >= SIGNED else (-SIGNED, SIGNED)
        allowed = high - low < modulus and words[0] <= low <= high < words[1]
        expected = (
            f"at most {modulus} integers, all of one type of 64 bits, or wrapping=True, which "
            "gives residues"
        )
    else:
        least, most = (-((modulus - 1) // 2), (modulus - 1) // 2) if signed else (0, modulus - 1)
        allowed = least <= low <= high <= most
        expected = (
            f"{least} to {most}, as signed={signed} says, or wrapping=True, which gives residues"
        )
    if not allowed:
        raise RangeError(
            f"decryption: entries are from {low} to {high}: expected {expected}",
            code="circuit.range",
            low=low,
            high=high,
        )
    # Differences of words begin again above: what is below the first one is moved by the modulus.
    first = low % modulus
    forward, back = np.uint64(first), np.uint64((modulus - first) % WORDS)
    above = np.where(values >= forward, values - forward, values + back)
    if (above > np.uint64(high - low)).any():
        raise DecryptionError(
            f"decryption refused: a residue that no integer from {low} to {high} has: a stated "
            "range is false, or the array was changed",
            code="scheme.not-decryptable",
        )
    total = above + np.uint64(low % WORDS)
    return total if high >= SIGNED else total.view(np.int64)


def in_slots(
    array: npt.NDArray[np.int64], params: _rust.Params, elements: bool
) -> list[npt.NDArray[np.int64]]:
    """The entries for each ciphertext: as many as there are slots, the last time fewer; or the
    coefficients of elements for all slots, the last ones 0.
    """
    flat = np.ascontiguousarray(array).reshape(-1)
    held = params.slots * (params.slot_degree if elements else 1)
    if elements:
        flat = np.concatenate([flat, np.zeros(-flat.size % held, np.int64)])
    return [flat[i : i + held] for i in range(0, flat.size, held)]


def layout_of(
    metadata: dict[str, str], slots: int, count: int
) -> tuple[tuple[int, ...], bool, bool]:
    """The shape that metadata state for that many ciphertexts, whether slots after the last entry
    are 0, and whether the only entry is in every slot; a vector of all slots if they state none.
    """
    found = _rust.stated_array(metadata, slots, count)
    if found is None:
        return (slots * count,), True, False
    shape, padded, repeated = found
    return tuple(shape), padded, repeated


def octets(data: Buffer) -> npt.NDArray[np.uint8]:
    """The bytes of any buffer, without a copy."""
    if isinstance(data, np.ndarray):
        unmasked(data)
        if data.dtype.hasobject:
            raise DtypeError(
                f"an array of {data.dtype}, whose bytes are addresses: expected bytes or a "
                "contiguous buffer of them",
                code="python.buffer",
            )
    try:
        return np.frombuffer(data, dtype=np.uint8)
    except (BufferError, TypeError, ValueError) as error:
        raise DtypeError(
            f"expected bytes or a contiguous buffer of them: {error}", code="python.buffer"
        ) from None


def bytes_of(data: Buffer) -> bytes:
    """The bytes of any buffer: unlike ``bytes``, which makes as many zeros of an integer."""
    return data if isinstance(data, bytes) else octets(data).tobytes()


def stepper(progress: Progress) -> Callable[[int, int], object] | None:
    """A callable of (done, total) for either kind of progress."""
    if progress is None or not hasattr(progress, "update"):
        plain: Callable[[int, int], object] | None = progress
        return plain
    told = 0

    def step(done: int, total: int) -> None:
        nonlocal told
        if total:
            progress.total = total
        progress.update(done - told)
        told = done

    return step


def part_of(
    step: Callable[[int, int], object] | None, number: int, count: int
) -> Callable[[int, int], object] | None:
    """Progress for one of several equal parts of a work."""
    if step is None or count == 1:
        return step
    told = step
    return lambda done, total: told(number * total + done, count * total)


def read_file(path: Path) -> bytes:
    """All of a file of at most ``FILE_BYTES``, or of what comes through a pipe."""
    name = path_text(path)
    try:
        with open(name, "rb") as file:
            no_device(file, name)
            return _all_of(file, name)
    except FileError:
        raise
    except OSError as error:
        raise FileError(
            f"cannot read {name}: {error.strerror}", code="wire.io", path=name
        ) from None


def no_device(file: BinaryIO, name: str) -> None:
    """Refuses what is neither a file nor a pipe: a device may never end."""
    mode = os.fstat(file.fileno()).st_mode
    if not (stat.S_ISREG(mode) or stat.S_ISFIFO(mode)):
        raise FileError(
            f"cannot read {name}: expected a file or a pipe, found a device",
            code="wire.io",
            path=name,
        )


def _all_of(file: BinaryIO, name: str) -> bytes:
    size = os.fstat(file.fileno()).st_size
    if size <= FILE_BYTES:
        # With a byte more than there should be: a file that does not grow is read without a copy.
        data = file.read(size + 1)
        if len(data) <= size:
            return data
        longer = bytearray(data)
        while len(longer) <= FILE_BYTES:
            piece = file.read(PIECE_BYTES)
            if not piece:
                return bytes(longer)
            longer += piece
    raise FileError(
        f"{name} is larger than {FILE_BYTES} bytes, the limit", code="wire.limit", path=name
    )


def replaceable(path: Path, overwrite: bool) -> str:
    """The path of a file to be written, which is no secret key: only ``save_keys`` and
    ``save_secret_key`` replace those.
    """
    text = path_text(path)
    if overwrite and os.path.isfile(text) and os.path.getsize(text) > 0:
        try:
            kind = _rust.inspect_file(text)[0]
        except Error:
            return text
        if kind.endswith("secret key"):
            raise FileError(
                f"{text} is a secret key, and what it encrypted would be lost: choose another name",
                code="wire.exists",
                path=text,
            )
    return text


def path_text(path: Path) -> str:
    """The path as text; one with NUL, which no system takes, is refused."""
    text = os.fspath(path)
    if "\0" in text:
        raise FileError(f"{text!r}: expected a path without NUL", code="wire.io", path=text)
    return text
