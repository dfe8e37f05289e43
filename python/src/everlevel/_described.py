"""Encrypted arrays without any key: their public properties, and their bytes."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from . import _everlevel as _rust
from ._html import facts
from ._manifest import Bounded, Manifest
from ._params import Params, params_with
from ._places import Serving
from ._shaped import Shaped
from ._values import Buffer, joined, layout_of, octets, replaceable
from .errors import FormatError, ParameterError

if TYPE_CHECKING:
    from typing_extensions import Self

#: In metadata: the range of the entries exceeds 2^100.
LOST = "ranges_lost"


class Described(Shaped, Bounded):
    """Entries in ciphertexts, with their public properties and their bytes."""

    __slots__ = (
        "_xs",
        "_server",
        "_shape",
        "_signed",
        "_padded",
        "_repeated",
        "_elements",
        "_encryption",
        "_lost",
    )

    _xs: tuple[_rust.Ciphertext, ...]
    _server: Serving | None
    _signed: bool
    #: Slots after the last entry are known to be 0.
    _padded: bool
    #: The only entry is in every slot.
    _repeated: bool
    _elements: bool
    _encryption: str | None
    #: The entries have a range that went past 2^100: they are integers of which residues tell
    #: nothing.
    _lost: bool

    @classmethod
    def _make(
        cls,
        xs: Sequence[_rust.Ciphertext],
        shape: tuple[int, ...],
        *,
        server: Serving | None = None,
        signed: bool = False,
        padded: bool = False,
        repeated: bool = False,
        elements: bool = False,
        encryption: str | None = None,
        lost: bool = False,
    ) -> Self:
        """``padded``: slots after the last entry are known to be 0.

        ``repeated``: the only entry is in every slot. ``lost``: see ``_lost``.
        """
        self = object.__new__(cls)
        self._xs, self._shape, self._server, self._signed = tuple(xs), shape, server, signed
        self._padded, self._repeated, self._elements, self._encryption = (
            padded,
            repeated,
            elements,
            encryption,
        )
        self._lost = lost and self.range is None
        return self

    @property
    def _ranged(self) -> bool:
        """Whether entries are integers with a range, known or lost, and not residues."""
        return self._lost or self.range is not None

    @property
    def params(self) -> Params:
        """The parameter set."""
        return Params._of(self._xs[0].params)

    @property
    def key_id(self) -> str | None:
        """The public id of the secret key that decrypts it, or ``None`` if its file has none."""
        return next((x.key_id for x in self._xs if x.key_id is not None), None)

    @property
    def ciphertexts(self) -> int:
        """The number of ciphertexts that hold the entries."""
        return len(self._xs)

    @property
    def signed(self) -> bool:
        """True if entries are decrypted as the integers of least absolute value."""
        return self._signed

    @property
    def elements(self) -> bool:
        """True if entries are whole elements of GR(p^r, d)."""
        return self._elements

    @property
    def range(self) -> tuple[int, int] | None:
        """The least and the largest integer that an entry can be, as it follows from the bounds
        stated at encryption; ``None`` if it is unknown or exceeds 2^100.

        Public: it never comes from data. Integers of a range that has at most ``modulus`` of them
        are compared, truncated and decrypted as what they are.
        """
        return joined([x.range for x in self._xs])

    @property
    def modulus(self) -> int:
        """The plaintext modulus p^e."""
        return self._xs[0].params.plain_modulus(self._xs[0].plain_exponent)

    @property
    def _worst(self) -> _rust.Ciphertext:
        """The ciphertext with the least capacity."""
        return min(self._xs, key=lambda x: x.capacity_bits)

    @property
    def level(self) -> int:
        """The level: 0 is the lowest.

        This and all that follows is, of several ciphertexts, that of the one with the least
        capacity.
        """
        return self._worst.level

    @property
    def noise_bound_bits(self) -> float:
        """log2 of the proved bound on the noise."""
        return self._worst.noise_bound_bits

    @property
    def capacity_bits(self) -> float:
        """The capacity in bits, which is left for more noise: log2(modulus / (2 noise bound))."""
        return self._worst.capacity_bits

    @property
    def multiplications_left(self) -> int:
        """The number of consecutive squarings, without bootstrapping, after which it can still be
        decrypted.
        """
        return self._worst.multiplications_left

    def explain(self) -> str:
        """The known facts about the noise. They need no key and follow from the operations alone,
        so they may be shown to anybody.
        """
        x, several = self._worst, len(self._xs) > 1
        held = (
            f"{self.size} entries in {len(self._xs)} ciphertexts of {x.params.slots} slots"
            if several
            else f"{self.size} of {x.params.slots} slots"
        )
        return (
            f"{x.params.name}, level {x.level} of {x.params.levels - 1}: modulus "
            f"2^{x.modulus_bits:.1f}, noise bound 2^{x.noise_bound_bits:.1f}, "
            f"{x.capacity_bits:.1f} bits of capacity{' at least' if several else ''}\n"
            f"{x.depth} products deep; {x.multiplications_left} squarings in a row are left "
            "before decryption would be refused\n"
            f"{held} modulo {self.modulus}, in {x.form.upper()} form"
        )

    @property
    def depth(self) -> int:
        """The number of consecutive products since the encryption or the last bootstrapping, as
        noise bounds count them.
        """
        return self._worst.depth

    @property
    def fingerprint(self) -> int:
        """64 bits of all residues, equal for equal ciphertexts on every machine.

        Not collision-resistant.
        """
        prints = [x.fingerprint for x in self._xs]
        if len(prints) == 1:
            return prints[0]
        digest = hashlib.blake2b(b"".join(f.to_bytes(8, "little") for f in prints), digest_size=8)
        return int.from_bytes(digest.digest(), "little")

    def __repr__(self) -> str:
        params = self._xs[0].params
        where = "" if self._server is not None else ", no server"
        sign = ", signed" if self._signed else ""
        what = f" of elements of degree {params.slot_degree}" if self._elements else ""
        held = f" in {len(self._xs)} ciphertexts" if len(self._xs) > 1 else ""
        found = self.range
        within = "" if found is None else f", {found[0]} to {found[1]}"
        return (
            f"<EncryptedArray of shape {self._shape}{what} modulo {self.modulus}{sign}{within}, "
            f"{params.name}{held}: level {self.level}, "
            f"noise bound 2^{self.noise_bound_bits:.1f}, {self.capacity_bits:.1f} bits of "
            f"capacity{where}>"
        )

    def _repr_html_(self) -> str:
        worst, params = self._worst, self._xs[0].params
        rows = [
            ("shape", self._shape),
            ("entries", f"elements of degree {params.slot_degree}" if self._elements else ""),
            ("modulus", f"{self.modulus}, signed" if self._signed else self.modulus),
            ("range", "" if self.range is None else f"{self.range[0]} to {self.range[1]}"),
            ("parameter set", params.name),
            ("ciphertexts", len(self._xs)),
            ("level", f"{worst.level} of {params.levels - 1}"),
            ("noise bound", f"2^{worst.noise_bound_bits:.1f}"),
            ("capacity", f"{worst.capacity_bits:.1f} bits, {worst.multiplications_left} squarings"),
            ("server", "none: Server.load" if self._server is None else "loaded"),
        ]
        return facts("EncryptedArray", rows)

    # Bytes

    def _metadata(self) -> dict[str, str]:
        found = {
            "signed": "true" if self._signed else "false",
        }
        if self._elements:
            found["elements"] = "true"
        if self._encryption is not None:
            found["encryption"] = self._encryption
        if self._lost:
            found[LOST] = "true"
        return _rust.state_array(found, self._shape, self._padded, self._repeated)

    def to_bytes(self) -> bytes:
        """The bytes of the wire format, version 2, which the command-line program also reads. They
        are not authenticated.
        """
        return _rust.ciphertexts_to_bytes(list(self._xs), self._metadata())

    @classmethod
    def from_bytes(
        cls,
        data: Buffer,
        *,
        params: Params | None = None,
        insecure_research: bool = False,
        bounds: str | Manifest = "untrusted",
        server: Serving | None = None,
        allow_unknown_owner: bool = False,
    ) -> Self:
        """From bytes or any contiguous buffer of them, such as a mapped file, which is not copied.

        ``bounds`` says what is trusted of noise bounds: ``"untrusted"`` nothing, which is enough to
        decrypt; ``"fresh"``: it must be what ``encrypt_modular`` made;
        ``"stated"``: what the bytes say, within reason; a :class:`everlevel.Manifest`: what it
        lists, and bytes that it does not list are refused.
        A bound that is too low makes results wrong. ``allow_unknown_owner``: also bytes that do not
        say which secret key they belong to, as those of format
        version 1.
        """
        raw = octets(data)
        if params is None and server is not None:
            params = server.params
        if params is None:
            params = params_with(_rust.inspect(raw)[1], insecure_research)
        if params is None:
            raise ParameterError(
                "the parameter set of these bytes has no name: give it with params=",
                code="python.params",
            )
        named, manifest = (bounds, None) if isinstance(bounds, str) else ("", bounds._raw)
        found, metadata = _rust.ciphertexts_from_bytes(
            params._raw, raw, named, manifest, allow_unknown_owner
        )
        return cls._from_metadata(found, metadata, server)

    @classmethod
    def _from_metadata(
        cls, xs: list[_rust.Ciphertext], metadata: dict[str, str], server: Serving | None
    ) -> Self:
        if (
            not xs
            or "content" in metadata
            or any(x.plain_exponent != xs[0].plain_exponent for x in xs)
        ):
            what = metadata.get("content", f"{len(xs)} ciphertexts")[:100]
            raise FormatError(
                f"expected the ciphertexts of an array, all of one modulus, found {what!r}",
                code="python.array",
            )
        slots = xs[0].params.slots
        encryption = (
            metadata.get("encryption")
            if metadata.get("encryption") in ("secret", "public")
            else None
        )
        shape, padded, repeated = layout_of(metadata, slots, len(xs))
        elements = metadata.get("elements") == "true" and xs[0].params.slot_degree > 1
        if server is not None:
            server._takes(xs[0].params, elements, xs)
        return cls._make(
            xs,
            shape,
            server=server,
            signed=metadata.get("signed") == "true",
            padded=padded,
            repeated=repeated,
            elements=elements,
            encryption=encryption,
            lost=metadata.get(LOST) == "true",
        )

    def save(self, path: Any, *, overwrite: bool = False, manifest: Manifest | None = None) -> None:
        """Writes a file, completely or not at all; the command-line program calls such files
        ``NAME.ct``. ``manifest`` lists it, for readers who trust that manifest.
        """
        data = self.to_bytes()
        _rust.write_file(replaceable(path, overwrite), data, overwrite)
        if manifest is not None:
            manifest.add(data)

    def compact(self) -> bytes:
        """The array reduced to what decryption needs, a few percent of the bytes, for
        ``Client.decrypt`` and ``everlevel decrypt``. It cannot be computed on.
        """
        return _rust.compact_to_bytes(list(self._xs), self._metadata())
