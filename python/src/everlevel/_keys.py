"""Changes of the secret key."""

from __future__ import annotations

from . import _everlevel as _rust
from ._array import EncryptedArray
from ._params import Params, params_of
from ._values import Path, path_text, replaceable
from .errors import DtypeError


class KeyChange:
    """Keys that move arrays from an old secret key to a new one: see ``Client.key_change``.

    Nothing is decrypted on the way.
    """

    _raw: _rust.Keys

    def __init__(self) -> None:
        raise TypeError("keys for a change come from Client.key_change and KeyChange.open")

    @classmethod
    def _make(cls, raw: _rust.Keys) -> KeyChange:
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
    ) -> KeyChange:
        """The keys in a file that ``save`` or ``everlevel keys change`` wrote."""
        _rust.recover_keys(path_text(path))
        params = params_of(path, _rust.inspect_file(path_text(path))[1], params, insecure_research)
        # Every key once or twice: nothing has to stay in memory.
        return cls._make(
            _rust.Keys.open(params._raw, path_text(path), 0, allow_unknown_owner, False)
        )

    def save(self, path: Path, *, overwrite: bool = False) -> None:
        """Writes a file.

        Anyone who has it and the new secret key can decrypt everything that is encrypted under the
        old one.
        """
        self._raw.save(replaceable(path, overwrite), overwrite)

    @property
    def params(self) -> Params:
        """The parameter set."""
        return Params._of(self._raw.params)

    @property
    def key_id(self) -> str | None:
        """The public id of the new secret key."""
        return self._raw.key_id

    @property
    def from_key_id(self) -> str | None:
        """The public id of the old secret key."""
        return self._raw.from_key_id

    def apply(self, x: EncryptedArray) -> EncryptedArray:
        """The same entries under the new key, by a key switch for each ciphertext.

        The array must be under the old key; one under any other key is refused.
        """
        if not isinstance(x, EncryptedArray):
            raise DtypeError(
                f"{type(x).__name__}: a change of keys is for arrays modulo p^r, from "
                "client.encrypt_modular",
                code="python.input",
            )
        return x._like([self._raw.change_key(part) for part in x._xs], server=None)

    def __repr__(self) -> str:
        return f"<everlevel.KeyChange of {self._raw.params.name}: {len(self._raw)} keys>"
