"""The encryptor, who has no secret; and what each encryption makes of values."""

from __future__ import annotations

from typing import Any

import numpy.typing as npt

from . import _everlevel as _rust
from ._array import EncryptedArray
from ._integers import EncryptedIntegers
from ._kinds import Kind, kind_of, some, within
from ._params import Params, params_of
from ._values import (
    Path,
    bounds_of,
    bytes_of,
    congruent,
    counted,
    entries_modulo,
    in_bounds,
    in_range,
    in_slots,
    path_text,
    reduced,
    replaceable,
)
from .errors import ParameterError, ShapeError


def _encrypted(
    key: _rust.SecretKey | _rust.PublicKey,
    values: npt.ArrayLike,
    signed: bool,
    reduce: bool,
    elements: bool,
    bounds: tuple[int, int] | None,
    encryption: str,
) -> EncryptedArray:
    params = key.params
    modulus = params.plain_modulus()
    array = entries_modulo(values, modulus)
    degree = params.slot_degree
    if elements and (degree == 1 or array.shape[-1:] != (degree,)):
        raise ShapeError(
            (
                f"an array of shape {array.shape} as elements: expected a last axis of {degree} "
                "coefficients"
            )
            if degree > 1
            else f"slots of {params.name} have degree 1: their elements are integers",
            code="python.elements",
        )
    if bounds is not None:
        bounds = bounds_of(bounds)
        if reduce or elements:
            what = (
                "whole elements have no range"
                if elements
                else "reduce=True changes entries, which then have other bounds"
            )
            raise ParameterError(f"bounds={bounds!r}: {what}", code="python.value-bounds")
        signed = signed or bounds[0] < 0
        in_bounds(array, bounds, modulus)
    elif reduce:
        array = reduced(array, modulus)
    else:
        in_range(array, modulus, signed)
    chunks = in_slots(congruent(array, modulus), params, elements)
    xs = [key.encrypt(chunk, elements) for chunk in chunks]
    if bounds is not None:
        # Slots without an entry hold 0.
        whole, padded = bounds, (min(bounds[0], 0), max(bounds[1], 0))
        xs = [
            x.within(*(whole if chunk.size == params.slots else padded))
            for x, chunk in zip(xs, chunks)
        ]
    shape = array.shape[:-1] if elements else array.shape
    return EncryptedArray._make(
        xs, shape, signed=signed, padded=True, elements=elements, encryption=encryption
    )


def _typed(
    key: dict[str, Any],
    params: _rust.Params,
    values: npt.ArrayLike,
    dtype: Any,
    bounds: tuple[int, int] | None,
    rows: bool,
    index: bool,
    level: int | None,
) -> EncryptedIntegers:
    if params.plain_exponent != 1 or params.plain_prime < 257:
        raise ParameterError(
            "typed integers need a plaintext modulus that is a prime of at least 257, as that of "
            f"bgv-65537-n15; {params.name} has {params.plain_modulus()}: "
            "encrypt_modular takes integers modulo that",
            code="integers.set",
            params=params.name,
        )
    if level is not None:
        level = counted("level", level, 32)
    array = some(values)
    if rows and not array.shape:
        raise ShapeError(
            "a single integer has no rows: rows=True takes arrays of one axis at least",
            code="python.shape",
        )
    kind = kind_of(array, dtype, bounds)
    if kind.rows is not None:
        if array.shape[:1] != (kind.rows,):
            raise ShapeError(
                f"an array of shape {array.shape}: expected {kind}", code="python.shape"
            )
        rows = True
    interval = (kind.low, kind.high)
    within(array, interval)
    index = index or kind.indexed
    runs, slots = (array.shape[0] if rows else 1), params.slots
    blocks = [
        _rust.encrypt_column(run[i : i + slots].tolist(), interval, index=index, level=level, **key)
        for run in array.reshape(runs, -1)
        for i in range(0, run.size, slots)
    ]
    return EncryptedIntegers._make(blocks, array.shape, runs=runs)


class PublicKey:
    """Encrypts for the owner of the secret key. Anybody may have it."""

    _raw: _rust.PublicKey

    def __init__(self) -> None:
        raise TypeError(
            "public keys come from Client.public_key, PublicKey.open and PublicKey.from_bytes"
        )

    @classmethod
    def _make(cls, raw: _rust.PublicKey) -> PublicKey:
        self = object.__new__(cls)
        self._raw = raw
        return self

    @classmethod
    def open(
        cls,
        path: Path,
        *,
        params: Params | None = None,
        insecure_research: bool = False,
        allow_unknown_owner: bool = False,
    ) -> PublicKey:
        """From a file, such as ``public.key``. ``allow_unknown_owner``: also one that does not say
        which secret key it belongs to (format version 1).
        """
        _rust.recover_keys(path_text(path))
        params = params_of(path, _rust.inspect_file(path_text(path))[1], params, insecure_research)
        return cls._make(_rust.PublicKey.open(params._raw, path_text(path), allow_unknown_owner))

    @classmethod
    def from_bytes(
        cls, data: bytes, params: Params, *, allow_unknown_owner: bool = False
    ) -> PublicKey:
        """From bytes of the wire format."""
        raw = _rust.PublicKey.from_bytes(params._raw, bytes_of(data), allow_unknown_owner)
        return cls._make(raw)

    def to_bytes(self) -> bytes:
        """As bytes of the wire format."""
        return self._raw.to_bytes()

    def save(self, path: Path, *, overwrite: bool = False) -> None:
        """Writes a file."""
        self._raw.save(replaceable(path, overwrite), overwrite)

    @property
    def params(self) -> Params:
        """The parameter set."""
        return Params._of(self._raw.params)

    @property
    def key_id(self) -> str | None:
        """The public id of the secret key that it belongs to; none if its file does not say."""
        return self._raw.key_id

    def encrypt(
        self,
        values: npt.ArrayLike,
        *,
        dtype: npt.DTypeLike | Kind | None = None,
        bounds: tuple[int, int] | None = None,
        rows: bool = False,
        index: bool = False,
        level: int | None = None,
    ) -> EncryptedIntegers:
        """As ``Client.encrypt``, at twice the size."""
        key = {"public": self._raw}
        return _typed(key, self._raw.params, values, dtype, bounds, rows, index, level)

    def encrypt_modular(
        self,
        values: npt.ArrayLike,
        *,
        signed: bool = False,
        reduce: bool = False,
        elements: bool = False,
        bounds: tuple[int, int] | None = None,
    ) -> EncryptedArray:
        """As ``Client.encrypt_modular``, at twice the size."""
        return _encrypted(self._raw, values, signed, reduce, elements, bounds, "public")

    def __repr__(self) -> str:
        return f"<everlevel.PublicKey of {self._raw.params.name}>"

    def __reduce__(self) -> Any:
        return _restore_public, (self.params, self.to_bytes())


def _restore_public(params: Params, data: bytes) -> PublicKey:
    return PublicKey.from_bytes(data, params, allow_unknown_owner=True)
