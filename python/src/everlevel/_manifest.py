"""Noise bounds that are trusted because the party that states them has a shared key."""

from __future__ import annotations

import os
from typing import Any

from . import _everlevel as _rust
from ._params import Params
from ._values import Buffer, Path, bytes_of, octets, path_text, replaceable
from .errors import SecretKeyError


class ManifestKey:
    """The key that parties share who trust each other's noise bounds: 32 random bytes.
    ``ManifestKey()`` draws a key; it is wiped from memory with the object.

    Anyone who can check a manifest can also make one.
    """

    _raw: _rust.ManifestKey

    def __init__(self) -> None:
        self._raw = _rust.ManifestKey.generate()

    @classmethod
    def _make(cls, raw: _rust.ManifestKey) -> ManifestKey:
        self = object.__new__(cls)
        self._raw = raw
        return self

    @classmethod
    def open(cls, path: Path) -> ManifestKey:
        """The key in a file that ``save`` or ``everlevel keys manifest-key`` wrote."""
        return cls._make(_rust.ManifestKey.open(path_text(path)))

    @classmethod
    def from_secret_bytes(cls, data: bytes) -> ManifestKey:
        """The key with these 32 bytes."""
        return cls._make(_rust.ManifestKey.from_bytes(bytes_of(data)))

    def expose_secret_bytes(self) -> bytes:
        """The 32 bytes of the key. Anyone who reads them can make manifests, and Python does not
        wipe them.
        """
        return self._raw.expose_to_bytes()

    def save(self, path: Path, *, overwrite: bool = False) -> None:
        """Writes a file that only its owner can read (mode 0600)."""
        self._raw.save(replaceable(path, overwrite), overwrite)

    def __repr__(self) -> str:
        return "<everlevel.ManifestKey, secret>"

    def __reduce__(self) -> Any:
        raise SecretKeyError(
            "a key of manifests is secret, and pickle would write it unencrypted: save it to a "
            "file",
            code="python.secret-pickle",
        )


class Bounded:
    """An array with noise bounds that a manifest can list."""

    __slots__ = ()

    def to_bytes(self) -> bytes:
        """The bytes of the wire format."""
        raise NotImplementedError


class Manifest:
    """The noise bounds of encrypted arrays of one parameter set, in files or bytes, which are
    listed by their digests; ``Manifest(params)`` is empty.

    ``bounds=manifest`` trusts what it lists, and refuses what it does not. Authenticated by a
    :class:`ManifestKey` when it is written and read.
    """

    _raw: _rust.Manifest

    def __init__(self, params: Params) -> None:
        self._raw = _rust.Manifest(params._raw)

    @classmethod
    def _make(cls, raw: _rust.Manifest) -> Manifest:
        self = object.__new__(cls)
        self._raw = raw
        return self

    @classmethod
    def open(cls, path: Path, key: ManifestKey) -> Manifest:
        """From a file that ``save`` or ``everlevel``'s ``--write-manifest`` wrote; a
        :class:`everlevel.FormatError` if it was made with another key.
        """
        return cls._make(_rust.Manifest.open(path_text(path), key._raw))

    @classmethod
    def from_bytes(cls, data: bytes, key: ManifestKey) -> Manifest:
        """The manifest in these bytes, as ``open``."""
        return cls._make(_rust.Manifest.from_bytes(bytes_of(data), key._raw))

    def to_bytes(self, key: ManifestKey) -> bytes:
        """The bytes of the wire format, authenticated with the key."""
        return self._raw.to_bytes(key._raw)

    def save(self, path: Path, key: ManifestKey, *, overwrite: bool = False) -> None:
        """Writes a file."""
        self._raw.save(replaceable(path, overwrite), key._raw, overwrite)

    def add(self, source: Bounded | Path | Buffer) -> None:
        """Lists a file (``str`` or path), bytes, or the bytes of an array, with the noise bounds
        that it states. Use this only for arrays that you computed yourself.
        """
        if isinstance(source, (str, os.PathLike)):
            self._raw.add_file(path_text(source))
        else:
            self._raw.add(octets(source.to_bytes() if isinstance(source, Bounded) else source))

    def merge(self, other: Manifest) -> None:
        """Adds the entries of another manifest; of an entry in both, the larger bound counts."""
        self._raw.merge(other._raw)

    @property
    def params_id(self) -> str:
        """The id of its parameter set, see ``Params.id``."""
        return self._raw.params_id

    def __len__(self) -> int:
        return len(self._raw)

    def __repr__(self) -> str:
        return f"<everlevel.Manifest of {len(self)} files>"
