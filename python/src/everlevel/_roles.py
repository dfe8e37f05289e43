"""The three roles: who owns the key, who has data, who computes."""

from __future__ import annotations

import json
import os
from typing import Any, Mapping

import numpy as np
import numpy.typing as npt

from . import _everlevel as _rust
from ._array import EncryptedArray, _shape_of
from ._params import Params, params_of
from ._values import Buffer, Path, Progress, centred, in_range, integers, octets, path_text, stepper
from .errors import DtypeError, FileError, OtherParametersError, SecretKeyError, ShapeError

DEFAULT_CACHE_BYTES = 4 << 30


def _prepared(params: Params, values: npt.ArrayLike, signed: bool, reduce: bool) -> tuple[npt.NDArray[np.int64], tuple[int, ...]]:
    array = integers(values)
    if array.size > params.slots:
        raise ShapeError(
            f"{array.size} values: a ciphertext of {params.name} has {params.slots} slots; encrypt parts",
            code="python.slots",
            found=array.size,
            slots=params.slots,
        )
    modulus = params.plain_modulus
    if reduce:
        array = array % modulus
    else:
        in_range(array, modulus, signed)
    return np.ascontiguousarray(array.reshape(-1)), array.shape


class PublicKey:
    """Encrypts for the owner of the secret key. Anybody may have it."""

    _raw: _rust.PublicKey

    def __init__(self) -> None:
        raise TypeError("public keys come from Client.public_key, PublicKey.open and PublicKey.from_bytes")

    @classmethod
    def _make(cls, raw: _rust.PublicKey) -> PublicKey:
        self = object.__new__(cls)
        self._raw = raw
        return self

    @classmethod
    def open(cls, path: Path, *, params: Params | None = None, insecure_research: bool = False) -> PublicKey:
        """From a file, such as ``public.key``."""
        params = params_of(path, _rust.inspect_file(path_text(path))[1], params, insecure_research)
        return cls._make(_rust.PublicKey.open(params._raw, path_text(path)))

    @classmethod
    def from_bytes(cls, data: bytes, params: Params) -> PublicKey:
        """From bytes of the wire format."""
        return cls._make(_rust.PublicKey.from_bytes(params._raw, bytes(data)))

    def to_bytes(self) -> bytes:
        """As bytes of the wire format."""
        return self._raw.to_bytes()

    def save(self, path: Path, *, overwrite: bool = False) -> None:
        """Writes a file."""
        self._raw.save(path_text(path), overwrite)

    @property
    def params(self) -> Params:
        """The parameter set."""
        return Params._of(self._raw.params)

    def encrypt(self, values: npt.ArrayLike, *, signed: bool = False, reduce: bool = False) -> EncryptedArray:
        """As ``Client.encrypt``, at twice the size."""
        prepared, shape = _prepared(self.params, values, signed, reduce)
        return EncryptedArray._make(self._raw.encrypt(prepared), shape, signed=signed, padded=True, encryption="public")

    def __repr__(self) -> str:
        return f"<everlevel.PublicKey of {self._raw.params.name}>"

    def __reduce__(self) -> Any:
        return _restore_public, (self.params, self.to_bytes())


def _restore_public(params: Params, data: bytes) -> PublicKey:
    return PublicKey.from_bytes(data, params)


class Client:
    """Who holds the secret key: encrypts, decrypts, makes keys for others.

    ``Client(params)`` draws a key. It is wiped from memory with the object.
    """

    _raw: _rust.SecretKey
    _picklable: bool

    def __init__(self, params: Params) -> None:
        self._raw = _rust.SecretKey.generate(params._raw)
        self._picklable = False

    @classmethod
    def _make(cls, raw: _rust.SecretKey) -> Client:
        self = object.__new__(cls)
        self._raw, self._picklable = raw, False
        return self

    @classmethod
    def open(cls, path: Path, *, params: Params | None = None, insecure_research: bool = False) -> Client:
        """The owner of the key in a file, such as ``secret.key``."""
        params = params_of(path, _rust.inspect_file(path_text(path))[1], params, insecure_research)
        return cls._make(_rust.SecretKey.open(params._raw, path_text(path)))

    @classmethod
    def from_secret_bytes(cls, data: bytes, params: Params) -> Client:
        """The owner of the key in bytes of the wire format."""
        return cls._make(_rust.SecretKey.from_bytes(params._raw, bytes(data)))

    def expose_secret_bytes(self) -> bytes:
        """The secret key, unencrypted: whoever reads it decrypts everything. Python does not wipe it."""
        return self._raw.expose_to_bytes()

    def save_secret_key(self, path: Path, *, overwrite: bool = False) -> None:
        """Writes the secret key to a file that only its owner may read (mode 0600)."""
        self._raw.save(path_text(path), overwrite)

    def save_keys(
        self, directory: Path, *, program: str | None = None, overwrite: bool = False, progress: Progress = None
    ) -> dict[str, int]:
        """Writes params.json, secret.key, public.key and server.keys, as ``everlevel keygen`` does, all or none; returns their bytes.

        Server keys go to the file one by one: memory for one at a time.
        """
        plan = _rust.Plan(self._raw.params, program)
        written = self._raw.write_files(plan, path_text(directory), overwrite, stepper(progress))
        return {os.path.basename(path): size for path, size in written}

    def save_server_keys(
        self, path: Path, *, program: str | None = None, overwrite: bool = False, progress: Progress = None
    ) -> int:
        """Writes server keys to a file, one by one, and returns their bytes."""
        plan = _rust.Plan(self._raw.params, program)
        return self._raw.write_server_keys(plan, path_text(path), overwrite, stepper(progress))

    @property
    def params(self) -> Params:
        """The parameter set."""
        return Params._of(self._raw.params)

    def public_key(self) -> PublicKey:
        """A public key, with which others encrypt for this client."""
        return PublicKey._make(self._raw.public_key())

    def server(self, *, program: str | None = None, progress: Progress = None) -> Server:
        """A server with keys in memory: for products, bootstrapping and any rotations, or for one program (see ``Server.run``) only.

        ``progress`` is told of keys; an exception that it raises, or Ctrl-C, ends the work.
        """
        plan = _rust.Plan(self._raw.params, program)
        return Server._make(_rust.Server(self._raw.server_keys(plan, stepper(progress))))

    def encrypt(self, values: npt.ArrayLike, *, signed: bool = False, reduce: bool = False) -> EncryptedArray:
        """Encrypts integers, at most as many as there are slots.

        Values must be from 0 to p^r - 1, or with ``signed`` from -(p^r - 1)/2 to (p^r - 1)/2; with ``reduce`` they are taken modulo p^r. Arrays of
        floating-point numbers are refused.
        """
        prepared, shape = _prepared(self.params, values, signed, reduce)
        return EncryptedArray._make(self._raw.encrypt(prepared), shape, signed=signed, padded=True, encryption="secret")

    def decrypt(
        self, x: EncryptedArray | Buffer, *, signed: bool | None = None, all_slots: bool = False
    ) -> npt.NDArray[np.int64] | np.int64:
        """The entries, exact, or an error; also of what ``EncryptedArray.compact`` made. ``signed`` overrides what the array says.

        Decrypt only what an honest server computed: see SECURITY.md.
        """
        if isinstance(x, EncryptedArray):
            raw = self._raw.decrypt(x._x)
            modulus, shape, is_signed = x.modulus, x._shape, x._signed
        else:
            data = octets(x)
            kind, identity, _, _, _ = _rust.inspect(data)
            if identity != self.params.id:
                raise OtherParametersError(
                    f"bytes of parameter set {identity}, the key is of {self.params.name}", code="wire.other-params"
                )
            if not kind.startswith("results"):
                return self.decrypt(EncryptedArray.from_bytes(x, params=self.params), signed=signed, all_slots=all_slots)
            raw, exponent, metadata = self._raw.decrypt_compact(data)
            modulus = self._raw.params.plain_modulus(exponent)
            shape, is_signed = _shape_of(metadata, raw.size), metadata.get("signed") == "true"
        return _entries(raw, modulus, None if all_slots else shape, is_signed if signed is None else signed)

    def decrypt_for_sharing(
        self, x: EncryptedArray, *, signed: bool | None = None, statistical_bits: int = 64, decryptions_log2: int = 20
    ) -> npt.NDArray[np.int64] | np.int64:
        """The entries, for others to see: noise is flooded before it is rounded away, so that what is shared hardly tells on the key even if a noise bound was wrong.

        2^-``statistical_bits`` for 2^``decryptions_log2`` values under one key. Takes capacity: refresh first where there is too little. It does not make
        ciphertexts that an attacker made safe to decrypt.
        """
        raw = self._raw.decrypt_for_sharing(x._x, statistical_bits, decryptions_log2)
        return _entries(raw, x.modulus, x._shape, x._signed if signed is None else signed)

    def allow_pickle(self, allowed: bool = True) -> None:
        """Lets ``pickle`` write the secret key of this object, unencrypted."""
        self._picklable = allowed

    def __repr__(self) -> str:
        return f"<everlevel.Client of {self._raw.params.name}, secret>"

    def __reduce__(self) -> Any:
        if not self._picklable:
            raise SecretKeyError(
                "a client holds a secret key, which pickle would write unencrypted: send a server or a public key instead, "
                "or say client.allow_pickle()",
                code="python.secret-pickle",
            )
        return _restore_client, (self.params, self.expose_secret_bytes())


def _entries(
    raw: npt.NDArray[np.uint64], modulus: int, shape: tuple[int, ...] | None, signed: bool
) -> npt.NDArray[np.int64] | np.int64:
    """The entries of an array of this shape, or all slots."""
    values = raw.view(np.int64)
    if signed:
        values = centred(values, modulus)
    if shape is None:
        return values
    found = values[: int(np.prod(shape, dtype=np.int64))].reshape(shape)
    return found if shape else np.int64(found[()])


def _restore_client(params: Params, data: bytes) -> Client:
    return Client.from_secret_bytes(data, params)


class Server:
    """Computes without the secret key, bootstrapping by itself. Threads may share it; the interpreter's lock is not held meanwhile."""

    _raw: _rust.Server
    _source: tuple[str, int] | None

    def __init__(self) -> None:
        raise TypeError("servers come from Client.server, Server.open and Server.from_bytes")

    @classmethod
    def _make(cls, raw: _rust.Server, source: tuple[str, int] | None = None) -> Server:
        self = object.__new__(cls)
        self._raw, self._source = raw, source
        return self

    @classmethod
    def open(
        cls,
        path: Path,
        *,
        params: Params | None = None,
        insecure_research: bool = False,
        cache_bytes: int = DEFAULT_CACHE_BYTES,
    ) -> Server:
        """A server on a file of keys, such as ``server.keys``: keys are read when they are needed, and kept as far as ``cache_bytes`` go."""
        path = os.path.abspath(path_text(path))
        params = params_of(path, _rust.inspect_file(path)[1], params, insecure_research)
        return cls._make(_rust.Server(_rust.Keys.open(params._raw, path, cache_bytes)), (path, cache_bytes))

    @classmethod
    def from_bytes(cls, data: Buffer, params: Params) -> Server:
        """A server with all its keys in memory, from the bytes of a file of them."""
        return cls._make(_rust.Server(_rust.Keys.from_bytes(params._raw, octets(data))))

    def save_keys(self, path: Path, *, overwrite: bool = False) -> None:
        """Writes keys that are in memory to a file."""
        self._raw.keys.save(path_text(path), overwrite)

    @property
    def params(self) -> Params:
        """The parameter set."""
        return Params._of(self._raw.keys.params)

    @property
    def bootstraps(self) -> int:
        """How many bootstrappings were done by themselves so far."""
        return self._raw.bootstraps

    @property
    def can_bootstrap(self) -> bool:
        """Whether there are keys for it."""
        return self._raw.keys.bootstraps

    @property
    def path(self) -> str | None:
        """The file of the keys; none if they are in memory."""
        return self._source[0] if self._source else None

    def size_report(self) -> dict[str, tuple[int, int]]:
        """Number and bytes of keys by kind."""
        return dict(zip(("relinearization", "automorphisms", "bootstrapping"), self._raw.keys.size_report()))

    def verify_keys(self) -> None:
        """Reads the whole file of keys and checks every checksum. Keys check their own whenever they are read."""
        self._raw.keys.verify()

    def load(self, x: EncryptedArray) -> EncryptedArray:
        """The array in this server's care: operations on it are done here."""
        if not self._raw.keys.params.same(x._x.params):
            raise OtherParametersError(
                f"the array is of {x._x.params.name}, the server of {self.params.name}", code="scheme.wrong-params"
            )
        if x._server is self:
            return x
        return EncryptedArray._make(
            x._x.copy(), x._shape, server=self, signed=x._signed, padded=x._padded, repeated=x._repeated
        )

    def read(self, source: Path | Buffer, *, bounds: str = "stated") -> EncryptedArray:
        """An array from a file (``str`` or path) or from bytes, in this server's care. ``bounds`` as for ``EncryptedArray.from_bytes``."""
        if isinstance(source, (str, os.PathLike)):
            path = path_text(source)
            try:
                with open(path, "rb") as file:
                    source = file.read()
            except OSError as error:
                raise FileError(f"cannot read {path}: {error.strerror}", code="wire.io", path=path) from None
        x = EncryptedArray.from_bytes(source, params=self.params, bounds=bounds, server=self)
        x._encryption = None
        return x

    def run(
        self, program: str, inputs: Mapping[str, EncryptedArray] | None = None, *, progress: Progress = None, **named: EncryptedArray
    ) -> dict[str, EncryptedArray]:
        """Runs a program such as ``"y = 3*x*(1-x); z = rotate(y, 1) + x^5"`` on arrays by name, as ``everlevel eval``, and returns what it defines.

        ``+ - * ^``, constants, ``rotate(x, k)``, ``sum(x)``, ``swap_rows(x)``, ``refresh(x)``, on all slots. Results have the shape of the largest input.
        """
        arrays = _named(inputs, named)
        found = self._raw.run(program, {name: self.load(x)._x for name, x in arrays.items()}, stepper(progress))
        shape = max((x.shape for x in arrays.values()), key=lambda shape: int(np.prod(shape, dtype=np.int64)), default=())
        signed = any(x.signed for x in arrays.values())
        return {name: EncryptedArray._make(x, shape, server=self, signed=signed) for name, x in found.items()}

    def explain(self, program: str, inputs: Mapping[str, EncryptedArray] | None = None, **named: EncryptedArray) -> Explanation:
        """Runs a program as ``run``, and tells for each operation its level, the modulus consumed, the noise bound and the probability of failure.

        Everything in it follows from the program and the parameters, and may be shown to anybody.
        """
        return Explanation(*self._raw.explain(program, {name: self.load(x)._x for name, x in _named(inputs, named).items()}))

    def __repr__(self) -> str:
        where = self.path or "memory"
        boots = "" if self.can_bootstrap else ", no bootstrapping"
        return f"<everlevel.Server of {self.params.name}: {len(self._raw.keys)} keys in {where}{boots}>"

    def __reduce__(self) -> Any:
        if self._source is None:
            raise FileError(
                "a server with keys in memory is not pickled, as they are large: save_keys to a file and Server.open that",
                code="python.keys-in-memory",
            )
        return _restore_server, (self.params, *self._source)


class Explanation:
    """How results came to be, operation by operation; ``print`` shows it."""

    def __init__(self, text: str, data: str) -> None:
        self._text, self._data = text, json.loads(data)

    @property
    def steps(self) -> list[dict[str, Any]]:
        """The operations, each after its operands."""
        found: list[dict[str, Any]] = self._data["steps"]
        return found

    @property
    def failure_log2(self) -> float:
        """log2 of the probability that any of them breaks its bound."""
        return float(self._data["failure_log2"])

    def __str__(self) -> str:
        return self._text

    def __repr__(self) -> str:
        return f"<everlevel.Explanation of {len(self.steps)} operations>"


def _named(inputs: Mapping[str, EncryptedArray] | None, named: Mapping[str, EncryptedArray]) -> dict[str, EncryptedArray]:
    arrays = {**(inputs or {}), **named}
    for name, x in arrays.items():
        if not isinstance(x, EncryptedArray):
            raise DtypeError(f"{name}: expected an encrypted array, found {type(x).__name__}", code="python.input")
    return arrays


def _restore_server(params: Params, path: str, cache_bytes: int) -> Server:
    return Server.open(path, params=params, cache_bytes=cache_bytes)


def plan_bytes(params: Params, *, program: str | None = None) -> tuple[int, int]:
    """How many server keys ``Client.server`` makes, and the bytes that they take in a file."""
    plan = _rust.Plan(params._raw, program)
    return len(plan), plan.bytes(params._raw)
