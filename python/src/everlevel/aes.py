"""AES data in, ciphertexts out: a server takes data that their owner keeps under AES to ciphertexts
of their bytes, with the AES key encrypted once.

An ``Upload`` is data with what nobody can see by looking at them: the mode, the vector, the AES
key, and for whom they are. A server refuses what does not belong together. Nothing here
authenticates: AES-CTR and GCM data can be changed by the party that carries them, and a server
cannot check GCM's tag. See SECURITY.md.
"""

from __future__ import annotations

import os
import warnings

from . import _everlevel as _rust
from ._aes_upload import UNCHECKED, EncryptedKey, Upload, id_of, key_of
from ._array import EncryptedArray
from ._log import timed
from ._params import Params
from ._public_key import PublicKey
from ._roles import Client
from ._server import DEFAULT_CACHE_BYTES, Server
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
from .errors import AesError, FormatError, UncheckedWarning

__all__ = [
    "AesServer",
    "EncryptedBytes",
    "EncryptedKey",
    "Upload",
    "compute_server",
    "decrypt",
    "encrypt_key",
    "key_id",
    "method_for",
    "save_server_keys",
    "server",
]


class EncryptedBytes:
    """Bytes that were under AES, as ciphertexts."""

    def __init__(
        self,
        states: list[list[_rust.Ciphertext]],
        method: str,
        length: int,
        mode: str,
        owner: AesServer | None,
        aes_key_id: str | None,
    ) -> None:
        self._states, self._method, self._length, self._mode, self._owner = (
            states,
            method,
            length,
            mode,
            owner,
        )
        self._aes_key_id = aes_key_id

    @property
    def aes_key_id(self) -> str | None:
        """The id of the AES key that the data and the encrypted key stated; none if nobody compared
        them (``transcipher_unchecked``).
        """
        return self._aes_key_id

    def __len__(self) -> int:
        return self._length

    @property
    def method(self) -> str:
        """The layout of bytes in slots: ``"packed"`` or ``"byte-sliced"``."""
        return self._method

    @property
    def capacity_bits(self) -> float:
        """The least remaining capacity of the ciphertexts, in bits."""
        return min(x.capacity_bits for state in self._states for x in state)

    def to_bytes(self) -> bytes:
        """As bytes, as ``everlevel aes transcipher`` writes them."""
        metadata = {
            "content": "aes-bytes",
            "method": self._method,
            "length": str(self._length),
            "mode": self._mode,
        }
        metadata["aes key"] = self._aes_key_id or UNCHECKED
        return _rust.ciphertexts_to_bytes([x for state in self._states for x in state], metadata)

    @classmethod
    def from_bytes(
        cls,
        data: Buffer,
        params: Params,
        *,
        bounds: str = "stated",
        allow_unknown_owner: bool = False,
    ) -> EncryptedBytes:
        """From bytes; ``bounds``, ``allow_unknown_owner`` as for ``EncryptedArray.from_bytes``."""
        found, metadata = _rust.ciphertexts_from_bytes(
            params._raw, octets(data), bounds, None, allow_unknown_owner
        )
        length, method = metadata.get("length", ""), metadata.get("method", "")
        width = {"packed": 1, "byte-sliced": 16}.get(method)
        good = (
            metadata.get("content") == "aes-bytes"
            and length.isascii()
            and length.isdigit()
            and len(length) < 16
        )
        if not good or width is None or len(found) % width:
            raise FormatError("expected what AesServer.transcipher made", code="python.content")
        states = [found[i : i + width] for i in range(0, len(found), width)]
        return cls(states, method, int(length), metadata.get("mode", ""), None, id_of(metadata))

    def integers(
        self,
        width: int,
        *,
        byteorder: str = "big",
        bits: int | None = None,
        server: Server | None = None,
    ) -> list[EncryptedArray]:
        """Integers of ``width`` bytes each, modulo 2^bits (8 ``width`` unless given), as arrays for
        ``server`` to compute on.

        Of bytes by method ``"byte-sliced"``: 16 / width arrays with an entry for each block of 16
        bytes, of which entry i of the j-th holds integer ``16 / width * i + j``. Takes keys of
        ``save_server_keys(.., integers=True)``.
        """
        if self._owner is None:
            raise AesError(
                "these bytes are in no server's care: integers are made where they were "
                "transciphered",
                code="python.no-server",
            )
        if self._method != "byte-sliced" or width not in (1, 2, 4, 8, 16) or self._length % 16:
            raise AesError(
                f"integers of {width} bytes from {self._length} bytes, {self._method}: expected "
                "byte-sliced whole blocks, and 1, 2, 4, 8 or 16 bytes",
                code="python.width",
            )
        if byteorder not in ("big", "little"):
            raise AesError(
                f"byteorder = {byteorder!r}: expected 'big' or 'little'", code="python.byteorder"
            )
        exponent = 8 * width if bits is None else counted("bits", bits, 32)
        # A state has a block in each slot, and so fills a ciphertext of each array.
        found = [
            self._owner._raw.integers(state, width, exponent, byteorder == "big")
            for state in self._states
        ]
        return [
            EncryptedArray._make(xs, (self._length // 16,), server=server) for xs in zip(*found)
        ]

    def __repr__(self) -> str:
        return (
            f"<everlevel.aes.EncryptedBytes: {self._length} bytes, {self._method}, "
            f"{self.capacity_bits:.0f} bits of capacity>"
        )


class AesServer:
    """Takes AES data to ciphertexts, with server keys for it and no secret."""

    _keys: _rust.Keys
    _method: str
    _raw: _rust.AesServer

    def __init__(self) -> None:
        raise TypeError("AES servers come from everlevel.aes.server and AesServer.open")

    @classmethod
    def _make(cls, keys: _rust.Keys, method: str) -> AesServer:
        self = object.__new__(cls)
        self._keys, self._method, self._raw = keys, method, _rust.AesServer(keys, method)
        return self

    @classmethod
    def open(
        cls,
        path: Path,
        params: Params,
        *,
        method: str = "packed",
        cache_bytes: int = DEFAULT_CACHE_BYTES,
        allow_unknown_owner: bool = False,
        seeded_keys: bool = False,
    ) -> AesServer:
        """On a file of server keys, by ``"packed"`` (a block along 16 slots: least latency) or
        ``"byte-sliced"`` (a block a slot: most throughput). ``seeded_keys`` as for
        ``Server.open``.
        """
        room = counted("cache_bytes", cache_bytes)
        path = os.path.abspath(path_text(path))
        keys = _rust.Keys.open(params._raw, path, room, allow_unknown_owner, seeded_keys)
        return cls._make(keys, method)

    @property
    def params(self) -> Params:
        """The parameter set."""
        return Params._of(self._keys.params)

    @property
    def method(self) -> str:
        """The layout of bytes in slots."""
        return self._method

    @property
    def state_bytes(self) -> int:
        """The number of bytes that are computed at a time."""
        return self._raw.capacity[0]

    def transcipher(
        self, key: EncryptedKey, upload: Upload, *, progress: Progress = None
    ) -> EncryptedBytes:
        """Undoes AES under encryption. An upload under another AES key than ``key``, or for another
        owner, is refused. ``progress`` is told of rounds.
        """
        if not isinstance(upload, Upload):
            raise AesError(
                "expected an everlevel.aes.Upload: make one of the data (Upload.of_data), or see "
                "transcipher_unchecked",
                code="python.upload",
            )
        with timed(f"transcipher, {len(upload)} bytes"):
            states = self._raw.transcipher(
                key._rounds, key._aes_key_id, upload._raw, stepper(progress)
            )
        return EncryptedBytes(
            states, self._method, len(upload), upload.mode, self, upload.aes_key_id
        )

    def transcipher_unchecked(
        self,
        key: EncryptedKey,
        data: Buffer,
        *,
        mode: str = "ctr",
        iv: bytes | None = None,
        progress: Progress = None,
    ) -> EncryptedBytes:
        """The same for data that nobody labeled; ``mode`` and ``iv`` as for ``Upload.of_data``.

        Nothing is checked: data under another AES key, with another mode or vector, or cut, become
        bytes that mean nothing, and no decryption notices.
        """
        raw = octets(data)
        if raw.size == 0:
            raise AesError("no data: expected at least one byte", code="python.empty")
        with timed(f"transcipher, {len(raw)} bytes"):
            states = self._raw.transcipher_unchecked(
                key._rounds, raw, mode, None if iv is None else bytes_of(iv), stepper(progress)
            )
        return EncryptedBytes(states, self._method, raw.size, mode, self, None)

    def __repr__(self) -> str:
        return f"<everlevel.aes.AesServer of {self.params.name}, {self._method}>"


def key_id(key: bytes) -> str:
    """The public id of an AES key of 16, 24 or 32 bytes, 32 hexadecimal digits: data under it and
    its encryption carry it.

    It may be published, as check values of keys are: of a random key it tells nothing. A key that
    can be guessed can be confirmed by it.
    """
    return _rust.aes_key_id(bytes_of(key))


def encrypt_key(key: bytes, by: Client | PublicKey) -> EncryptedKey:
    """Encrypts the round keys of an AES key of 16, 24 or 32 bytes; by a client at half the size."""
    rounds = _rust.encrypt_aes_key(bytes_of(key), **key_of(by))
    return EncryptedKey(rounds, "secret" if isinstance(by, Client) else "public", key_id(key))


def server(
    client: Client,
    *,
    method: str = "packed",
    decryption: bool = False,
    integers: bool = False,
    seeded_keys: bool = False,
    progress: Progress = None,
) -> AesServer:
    """A server with keys in memory: for CTR and GCM, with ``decryption`` for CBC and ECB, with
    ``integers`` for integers and their sums. ``seeded_keys`` as for ``Server.open``.
    """
    plan = _rust.aes_plan(client.params._raw, decryption, integers)
    with timed(f"server keys of {client.params.name} for AES, {len(plan)} keys"):
        keys = client._raw.server_keys(plan, seeded_keys, stepper(progress))
    return AesServer._make(keys, method)


def save_server_keys(
    client: Client,
    path: Path,
    *,
    decryption: bool = False,
    integers: bool = False,
    overwrite: bool = False,
    progress: Progress = None,
) -> int:
    """The same keys straight into a file; returns their bytes."""
    plan = _rust.aes_plan(client.params._raw, decryption, integers)
    return client._raw.write_server_keys(
        plan, replaceable(path, overwrite), overwrite, stepper(progress)
    )


def method_for(params: Params, length: int) -> str:
    """The faster method for that many bytes."""
    return _rust.aes_method(params._raw, counted("length", length))


def decrypt(x: EncryptedBytes, client: Client) -> bytes:
    """The bytes. Warns (``UncheckedWarning``) of bytes whose AES key was not checked."""
    client.params._warn()
    if x.aes_key_id is None:
        told = (
            "the AES key, the mode and the vector of these data were not checked: if one of them "
            "is wrong, the bytes are meaningless"
        )
        warnings.warn(told, UncheckedWarning, stacklevel=2)
    return _rust.decrypt_bytes(client._raw, x._states, x._method, len(x))


def compute_server(aes: AesServer) -> Server:
    """A ``Server`` on the same keys, to go on with integers."""
    return Server._make(_rust.Server(aes._keys, False))
