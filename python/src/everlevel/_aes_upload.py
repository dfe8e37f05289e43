"""What the owner of data under AES sends to a server: the AES key under encryption, and the data
with what has to be known of them.
"""

from __future__ import annotations

from typing import TypedDict

from . import _everlevel as _rust
from ._params import Params
from ._public_key import PublicKey
from ._roles import Client
from ._values import Buffer, bytes_of, octets
from .errors import FormatError


class _Key(TypedDict, total=False):
    secret: _rust.SecretKey
    public: _rust.PublicKey


#: In the place of an id: nobody compared the AES key of the data with the encrypted one.
UNCHECKED = "unchecked"


def id_of(metadata: dict[str, str]) -> str | None:
    """The AES key that metadata state, if it is known."""
    found = metadata.get("aes key", UNCHECKED)
    if found == UNCHECKED:
        return None
    if len(found) != 32 or not set(found) <= set("0123456789abcdef"):
        raise FormatError(
            "the id of an AES key: expected 32 hexadecimal digits", code="python.content"
        )
    return found


def key_of(by: Client | PublicKey) -> _Key:
    """The key of the scheme to encrypt an AES key with, or to label data for."""
    return {"secret": by._raw} if isinstance(by, Client) else {"public": by._raw}


class EncryptedKey:
    """An AES key under the encryption of the scheme: its round keys, a ciphertext each, and its
    public id.
    """

    # Where users find it.
    __module__ = "everlevel.aes"

    def __init__(
        self, rounds: list[_rust.Ciphertext], encryption: str | None, aes_key_id: str | None = None
    ) -> None:
        self._rounds, self._encryption, self._aes_key_id = rounds, encryption, aes_key_id

    @property
    def aes_key_id(self) -> str | None:
        """The public id of the AES key, 32 hexadecimal digits (see ``key_id``); none if its bytes
        do not say.
        """
        return self._aes_key_id

    @property
    def bits(self) -> int:
        """128, 192 or 256."""
        return 32 * (len(self._rounds) - 7)

    @property
    def key_id(self) -> str | None:
        """The public id of the secret key of the scheme that it is encrypted for; none if its bytes
        do not say.
        """
        return self._rounds[0].key_id

    def to_bytes(self) -> bytes:
        """As bytes, as ``everlevel aes encrypt-key`` writes them."""
        metadata = {"content": "aes-round-keys"}
        if self._encryption:
            metadata["encryption"] = self._encryption
        if self._aes_key_id:
            metadata["aes key"] = self._aes_key_id
        return _rust.ciphertexts_to_bytes(self._rounds, metadata)

    @classmethod
    def from_bytes(
        cls,
        data: Buffer,
        params: Params,
        *,
        bounds: str = "stated",
        allow_unknown_owner: bool = False,
    ) -> EncryptedKey:
        """From bytes; ``bounds``, ``allow_unknown_owner`` as for ``EncryptedArray.from_bytes``."""
        rounds, metadata = _rust.ciphertexts_from_bytes(
            params._raw, octets(data), bounds, None, allow_unknown_owner
        )
        if metadata.get("content") != "aes-round-keys" or len(rounds) not in (11, 13, 15):
            raise FormatError("expected an AES key that encrypt_key made", code="python.content")
        return cls(rounds, metadata.get("encryption"), id_of(metadata))

    def __repr__(self) -> str:
        return f"<everlevel.aes.EncryptedKey of AES-{self.bits}>"


class Upload:
    """Data under AES with what a server has to know of them: the mode, the vector, the id of the
    AES key, and the secret key that the ciphertexts will be under.

    ``Upload.encrypt`` encrypts data, ``Upload.of_data`` labels data that something else encrypted.
    The label is stated by whoever makes it, and is no authentication.
    """

    # Where users find it.
    __module__ = "everlevel.aes"

    _raw: _rust.AesUpload

    def __init__(self) -> None:
        raise TypeError("uploads come from everlevel.aes.Upload.encrypt, of_data and from_bytes")

    @classmethod
    def _make(cls, raw: _rust.AesUpload) -> Upload:
        self = object.__new__(cls)
        self._raw = raw
        return self

    @classmethod
    def encrypt(cls, data: Buffer, key: bytes, to: Client | PublicKey) -> Upload:
        """Encrypts data in counter mode under an AES key of 16, 24 or 32 bytes, from a counter
        block that is drawn. ``to``: whom ``key`` is encrypted for.
        """
        return cls._make(_rust.AesUpload.encrypt(bytes_of(key), octets(data), **key_of(to)))

    @classmethod
    def of_data(
        cls,
        data: Buffer,
        aes_key_id: str,
        to: Client | PublicKey,
        *,
        mode: str = "ctr",
        iv: bytes | None = None,
    ) -> Upload:
        """Labels data that were encrypted elsewhere, under the AES key of this id (``key_id``);
        nothing can tell whether what is said of them is so.

        ``mode``: ``"ctr"`` (iv: the first counter block), ``"gcm"`` (iv of 12 bytes; without the
        tag, which nothing checks, and which would be decrypted to 16 bytes without meaning if it
        were left at the end of the data), ``"cbc"``, ``"ecb"`` (without iv).
        """
        vector = None if iv is None else bytes_of(iv)
        return cls._make(
            _rust.AesUpload.of_data(aes_key_id, octets(data), mode, vector, **key_of(to))
        )

    @property
    def mode(self) -> str:
        """The mode of operation."""
        return self._raw.mode

    @property
    def iv(self) -> bytes:
        """The first counter block or the initialization vector; empty for ECB."""
        return self._raw.iv

    @property
    def aes_key_id(self) -> str:
        """The public id of the AES key, see ``key_id``."""
        return self._raw.aes_key_id

    @property
    def key_id(self) -> str | None:
        """The public id of the secret key of the scheme that it is for."""
        return self._raw.key_id

    def __len__(self) -> int:
        return len(self._raw)

    def to_bytes(self) -> bytes:
        """As bytes, as ``everlevel aes upload`` writes them."""
        return self._raw.to_bytes()

    @classmethod
    def from_bytes(
        cls, data: Buffer, params: Params, *, allow_unknown_owner: bool = False
    ) -> Upload:
        """From bytes; ``allow_unknown_owner`` as for ``EncryptedArray.from_bytes``."""
        return cls._make(_rust.AesUpload.from_bytes(params._raw, octets(data), allow_unknown_owner))

    def __repr__(self) -> str:
        what = f"{len(self)} bytes in {self.mode} under AES key {self.aes_key_id[:8]}"
        return f"<everlevel.aes.Upload: {what}>"
