"""The owner of the key."""

from __future__ import annotations

import os
from typing import Any, overload

import numpy as np
import numpy.typing as npt

from . import _everlevel as _rust
from ._array import EncryptedArray
from ._columns import KIND, RESULTS, integers_from_bytes
from ._decrypting import (
    decrypted,
    decrypted_array,
    decrypted_columns,
    decrypted_results,
    entries_from,
    unknown_range,
)
from ._integers import EncryptedIntegers
from ._keys import KeyChange
from ._kinds import Kind
from ._log import timed
from ._params import Params, params_of
from ._public_key import PublicKey, _encrypted, _typed
from ._public_key import _restore_public as _restore_public  # Where pickles of 0.2 name it.
from ._server import Server
from ._totals import EncryptedTotal
from ._values import (
    Buffer,
    Path,
    Progress,
    bytes_of,
    counted,
    octets,
    path_text,
    replaceable,
    stepper,
)
from .errors import NotHomomorphicError, OtherParametersError, ParameterError, SecretKeyError


class Client:
    """The holder of the secret key: it encrypts, decrypts, and makes keys for others.

    ``Client(params)`` draws a key. It is wiped from memory with the object.
    """

    _raw: _rust.SecretKey
    _picklable: bool

    def __init__(self, params: Params) -> None:
        if not isinstance(params, Params):
            raise ParameterError(
                f"params = {params!r}: expected Params, such as Params('bgv-65537-n15')",
                code="python.params",
            )
        params._warn()
        with timed(f"secret key of {params.name}"):
            self._raw = _rust.SecretKey.generate(params._raw)
        self._picklable = False

    @classmethod
    def _make(cls, raw: _rust.SecretKey) -> Client:
        self = object.__new__(cls)
        self._raw, self._picklable = raw, False
        return self

    @classmethod
    def open(
        cls, path: Path, *, params: Params | None = None, insecure_research: bool = False
    ) -> Client:
        """The owner of the key in a file, such as ``secret.key``."""
        _rust.recover_keys(path_text(path))
        params = params_of(path, _rust.inspect_file(path_text(path))[1], params, insecure_research)
        return cls._make(_rust.SecretKey.open(params._raw, path_text(path)))

    @classmethod
    def from_secret_bytes(cls, data: bytes, params: Params) -> Client:
        """The owner of the key in bytes of the wire format."""
        return cls._make(_rust.SecretKey.from_bytes(params._raw, bytes_of(data)))

    def expose_secret_bytes(self) -> bytes:
        """The secret key, unencrypted: anyone who reads it can decrypt everything. Python does not
        wipe it.
        """
        return self._raw.expose_to_bytes()

    def save_secret_key(self, path: Path, *, overwrite: bool = False) -> None:
        """Writes the secret key to a file that only its owner may read (mode 0600)."""
        self._raw.save(path_text(path), overwrite)

    def save_keys(
        self,
        directory: Path,
        *,
        program: str | None = None,
        elements: bool = False,
        overwrite: bool = False,
        progress: Progress = None,
    ) -> dict[str, int]:
        """Writes params.json, secret.key, public.key and server.keys, as ``everlevel keygen`` does,
        all or none; returns their bytes.

        What an interrupted run left in the directory is removed or finished first, with a
        :class:`RecoveryWarning`.

        Server keys go to the file one by one: memory for one at a time. ``program`` and
        ``elements`` as for ``server``.
        """
        plan = _rust.Plan(self._raw.params, program, elements)
        with timed(f"key files of {self._raw.params.name}") as told:
            written = self._raw.write_files(
                plan, path_text(directory), overwrite, stepper(progress)
            )
            told.append(f"{sum(size for _, size in written)} bytes")
        return {os.path.basename(path): size for path, size in written}

    def save_server_keys(
        self,
        path: Path,
        *,
        program: str | None = None,
        elements: bool = False,
        overwrite: bool = False,
        progress: Progress = None,
    ) -> int:
        """Writes server keys to a file, one by one, and returns their bytes.

        ``program`` and ``elements`` as for ``server``.
        """
        plan = _rust.Plan(self._raw.params, program, elements)
        with timed(f"file of server keys of {self._raw.params.name}, {len(plan)} keys") as told:
            size = self._raw.write_server_keys(
                plan, replaceable(path, overwrite), overwrite, stepper(progress)
            )
            told.append(f"{size} bytes")
        return size

    @property
    def params(self) -> Params:
        """The parameter set."""
        return Params._of(self._raw.params)

    @property
    def key_id(self) -> str:
        """The public id of the secret key, 32 hexadecimal digits: everything that was made with it
        carries it.
        """
        return self._raw.key_id

    def public_key(self) -> PublicKey:
        """A public key, with which others encrypt for this client."""
        with timed(f"public key of {self._raw.params.name}"):
            return PublicKey._make(self._raw.public_key())

    def server(
        self,
        *,
        program: str | None = None,
        elements: bool = False,
        seeded_keys: bool = False,
        progress: Progress = None,
    ) -> Server:
        """A server with keys in memory: for products, bootstrapping and any rotations, or for one
        program (see ``Server.run``) only.

        ``elements``: for arrays of whole elements, too; its bootstrapping takes d digit removals
        where that for integers takes one. ``seeded_keys`` as for ``Server.open``. ``progress`` is
        called after each of the keys; an exception that it raises, or Ctrl-C, ends the work.
        """
        plan = _rust.Plan(self._raw.params, program, elements)
        return self._server(plan, seeded_keys, progress, elements)

    def _server(
        self, plan: _rust.Plan, seeded_keys: bool, progress: Progress, elements: bool = False
    ) -> Server:
        with timed(f"server keys of {self._raw.params.name}, {len(plan)} keys"):
            keys = self._raw.server_keys(plan, seeded_keys, stepper(progress))
        return Server._make(_rust.Server(keys, elements))

    def key_change(self, new: Client) -> KeyChange:
        """Keys that take arrays under this client's key to the key of ``new``, of the same
        parameters, for the party that stores them.

        With them and the new secret key one can read all that the old one encrypted.
        """
        with timed(f"keys for a change of key of {self._raw.params.name}"):
            return KeyChange._make(self._raw.key_change(new._raw))

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
        """Encrypts integers that are computed on as NumPy's, without wrapping: compared, looked up
        in tables, selected from, added.

        ``dtype``: ``bool``, ``uint8`` to ``uint64`` or ``int8`` to ``int64``, by default that of
        the array; or ``bounds`` of entries, both included, which are cheaper if narrow. Both are
        public. Entries outside of them are refused, and so is an array of ``int64``, NumPy's
        default, for which neither is said. A ciphertext for each 4 bits of an entry and each
        ``params.slots`` entries. The plaintext modulus has to be a prime of at least 257, as that
        of ``bgv-65537-n15`` is.

        ``rows``: entries along the first axis, the rows, lie in ciphertexts of their own. Then rows
        are indexed, and ``matrix @ x``, ``x.sum(axis=0)``, ``x.argmax(axis=0)`` and such compute
        with whole rows: a row for each feature, an entry of it for each sample.

        ``index``: the digits are also encrypted in unary, 15 ciphertexts at a low level for each 4
        bits. Comparisons of the array with public integers and tables of up to 12 bits then take
        few products; their results have few levels left: see ``EncryptedIntegers.without_index``.
        For 3 possible values at least, and 32 bits at most. For arrays that are often compared with
        public integers or looked up.

        ``level``: the level at which the digits are encrypted, from 0 to ``params.levels - 1``, the
        top, which is the default: fewer bytes, and less to compute with. A plan says which level
        its arguments need (``Plan.inputs``), and ``Plan.encrypt`` encrypts at it.
        """
        key = {"secret": self._raw}
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
        """Encrypts integers modulo p^r: a ciphertext for each ``params.slots`` of them.

        Values must be from 0 to p^r - 1, or with ``signed`` from -(p^r - 1)/2 to (p^r - 1)/2; with
        ``reduce`` they are taken modulo p^r. For p^r above 2^63 they may be ``uint64``. Arrays of
        floating-point numbers are refused. With ``elements`` the last axis has the d =
        ``params.slot_degree`` coefficients of an element of GR(p^r, d), and an element is an entry;
        servers that bootstrap have to be made for that (``Client.server`` with ``elements``).

        ``bounds``, the least and the largest integer that an entry may be, are public and follow
        the array through what is computed (``EncryptedArray.range``). They are what comparisons and
        truncations ask for, and then ``decrypt`` gives integers of the range instead of residues,
        or refuses what may have wrapped.
        """
        return _encrypted(self._raw, values, signed, reduce, elements, bounds, "secret")

    @overload
    def decrypt(self, x: EncryptedTotal) -> int: ...

    @overload
    def decrypt(
        self,
        x: EncryptedArray | EncryptedIntegers | EncryptedTotal | Buffer,
        *,
        signed: bool | None = None,
        all_slots: bool = False,
        wrapping: bool = False,
        allow_unknown_owner: bool = False,
    ) -> Any: ...

    def decrypt(
        self,
        x: EncryptedArray | EncryptedIntegers | EncryptedTotal | Buffer,
        *,
        signed: bool | None = None,
        all_slots: bool = False,
        wrapping: bool = False,
        allow_unknown_owner: bool = False,
    ) -> Any:
        """The entries, exact, or an error; also of what ``compact`` of an array or a total made.

        ``signed`` overrides what the array says.

        Of arrays modulo p^r residues where their range is not known. Where it is, the integers of
        it; a range of more than p^r integers, or one that ``signed``
        does not allow, is refused with ``circuit.range``. ``wrapping``: residues all the same.

        What belongs to another key is refused, and so is, with ``scheme.not-decryptable`` for every
        cause, what cannot have been encrypted: more noise than it states, slots that
        hold something else, a residue that no integer of the range has. ``allow_unknown_owner``:
        also bytes that do not say which secret key
        they belong to (format version 1). Decrypt only what an honest server computed: see
        SECURITY.md.
        """
        modular = signed is not None or all_slots or wrapping
        if isinstance(x, (EncryptedIntegers, EncryptedTotal)):
            if modular:
                raise _of_typed()
            self.params._warn()
            # An array of a service is computed there first.
            return decrypted(self._raw, x.compute())
        if isinstance(x, EncryptedArray):
            self.params._warn()
            return decrypted_array(self._raw, x, signed, all_slots, wrapping)
        data = octets(x)
        kind, identity, *_ = _rust.inspect(data)
        if identity != self.params.id:
            raise OtherParametersError(
                f"bytes of parameter set {identity}, the key is of {self.params.name}",
                code="wire.other-params",
            )
        if kind == KIND:
            arrays = integers_from_bytes(
                x, params=self.params, bounds="stated", allow_unknown_owner=allow_unknown_owner
            )
            opened = {
                name: self.decrypt(part, signed=signed, all_slots=all_slots, wrapping=wrapping)
                for name, part in arrays.items()
            }
            return next(iter(opened.values())) if len(opened) == 1 else opened
        if kind == RESULTS:
            if modular:
                raise _of_typed()
            self.params._warn()
            found = decrypted_columns(self._raw, data, allow_unknown_owner)
            return next(iter(found.values())) if len(found) == 1 else found
        if not kind.startswith("results"):
            array = EncryptedArray.from_bytes(
                x, params=self.params, bounds="stated", allow_unknown_owner=allow_unknown_owner
            )
            return self.decrypt(array, signed=signed, all_slots=all_slots, wrapping=wrapping)
        self.params._warn()
        return decrypted_results(self._raw, data, signed, all_slots, wrapping, allow_unknown_owner)

    def decrypt_for_sharing(
        self,
        x: EncryptedArray,
        *,
        signed: bool | None = None,
        wrapping: bool = False,
        statistical_bits: int = 64,
        decryptions_log2: int = 20,
    ) -> npt.NDArray[Any] | np.integer[Any]:
        """The entries, for others to see: noise is flooded before it is rounded away, so that what
        is shared leaks almost nothing about the key even if a noise bound was wrong.

        2^-``statistical_bits`` for 2^``decryptions_log2`` values under one key. Takes capacity:
        refresh first where there is too little. It does not make ciphertexts that an attacker made
        safe to decrypt.
        """
        if not isinstance(x, EncryptedArray):
            raise NotHomomorphicError(
                f"decrypt_for_sharing of {type(x).__name__}: it is for arrays modulo p^r that a "
                "server computed, in memory; decrypt others with client.decrypt",
                code="python.not-homomorphic",
            )
        self.params._warn()
        if x._lost and not wrapping:
            raise unknown_range()
        bits = counted("statistical_bits", statistical_bits, 32)
        values = counted("decryptions_log2", decryptions_log2, 32)
        parts = [self._raw.decrypt_for_sharing(part, x._elements, bits, values) for part in x._xs]
        return entries_from(x, parts, signed, False, wrapping)

    def allow_pickle(self, allowed: bool = True) -> None:
        """Lets ``pickle`` write the secret key of this object, unencrypted."""
        self._picklable = allowed

    def __repr__(self) -> str:
        return f"<everlevel.Client of {self._raw.params.name}, secret>"

    def __reduce__(self) -> Any:
        if not self._picklable:
            raise SecretKeyError(
                "a client holds a secret key, which pickle would write unencrypted: send a server "
                "or a public key instead, "
                "or say client.allow_pickle()",
                code="python.secret-pickle",
            )
        return _restore_client, (self.params, self.expose_secret_bytes())


def _of_typed() -> ParameterError:
    """The refusal of options of arrays modulo p^r for typed integers."""
    return ParameterError(
        "signed, all_slots and wrapping are for arrays modulo p^r: typed integers have their own "
        "sign",
        code="python.typed",
    )


def _restore_client(params: Params, data: bytes) -> Client:
    return Client.from_secret_bytes(data, params)
