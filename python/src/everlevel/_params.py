"""Parameter sets."""

from __future__ import annotations

import json
import os
import warnings
import weakref
from collections.abc import Mapping
from typing import Any

from . import _everlevel as _rust
from ._html import facts, power
from ._values import bytes_of
from .errors import FailureWarning, FileError, OtherParametersError, ParameterError

_known: weakref.WeakValueDictionary[str, Params] = weakref.WeakValueDictionary()


class Params:
    """A validated parameter set: by name, by the path of a ``.json`` file, or by a specification as
    a mapping or JSON text.

    ``Params("bgv-65537-n15")``; ``Params("bgv-65537-n15-s1024")`` is the same set with 1024 used
    slots, for which bootstrapping takes less time and smaller keys. Sets below 128 bits of
    security, whose names begin with ``insecure_``, need ``insecure_research=True``; sets whose
    bootstrapping gives wrong values with a probability above 2^-40 need ``allow_failures=True``,
    and what opens a file of such a set takes it as ``params``. Immutable; making one takes up to a
    second for large rings.
    """

    _raw: _rust.Params
    _insecure_research: bool
    _allow_failures: bool

    def __init__(
        self,
        spec: str | os.PathLike[str] | Mapping[str, Any],
        *,
        insecure_research: bool = False,
        allow_failures: bool = False,
    ) -> None:
        if isinstance(spec, Mapping):
            text = json.dumps(dict(spec))
        else:
            text = os.fspath(spec)
            if text.lower().endswith(".json"):
                text = _parameter_file(text)
        self._become(
            _rust.Params(text, insecure_research, allow_failures), insecure_research, allow_failures
        )

    def _become(self, raw: _rust.Params, insecure_research: bool, allow_failures: bool) -> None:
        self._raw = raw
        self._insecure_research, self._allow_failures = insecure_research, allow_failures
        _known.setdefault(raw.id, self)

    @classmethod
    def _of(cls, raw: _rust.Params) -> Params:
        found = _known.get(raw.id)
        if found is None:
            found = cls.__new__(cls)
            found._become(raw, True, True)
        return found

    @classmethod
    def from_bytes(
        cls, data: bytes, *, insecure_research: bool = False, allow_failures: bool = False
    ) -> Params:
        """The parameter set in bytes of the wire format."""
        self = cls.__new__(cls)
        self._become(
            _rust.Params.from_bytes(bytes_of(data), insecure_research, allow_failures),
            insecure_research,
            allow_failures,
        )
        return self

    def to_bytes(self) -> bytes:
        """The bytes of the wire format."""
        return self._raw.to_bytes()

    @property
    def name(self) -> str:
        """The name of the set."""
        return self._raw.name

    @property
    def id(self) -> str:
        """The id of the set, which identifies it in files: 32 hexadecimal digits."""
        return self._raw.id

    @property
    def spec(self) -> dict[str, Any]:
        """The specification, as in a parameter file."""
        found: dict[str, Any] = json.loads(self._raw.json)
        return found

    @property
    def slots(self) -> int:
        """The number of slots, that is of integers in a ciphertext."""
        return self._raw.slots

    @property
    def dimensions(self) -> tuple[int, ...]:
        """The dimensions of the slots, the last one contiguous: rows and columns if the index is a
        power of two.
        """
        return tuple(self._raw.dimensions)

    @property
    def degree(self) -> int:
        """The degree n of the ring."""
        return self._raw.degree

    @property
    def slot_degree(self) -> int:
        """The degree d of a slot over Z/p^r."""
        return self._raw.slot_degree

    @property
    def plain_prime(self) -> int:
        """p."""
        return self._raw.plain_prime

    @property
    def plain_exponent(self) -> int:
        """r: slots hold integers modulo p^r."""
        return self._raw.plain_exponent

    @property
    def plain_modulus(self) -> int:
        """p^r."""
        return self._raw.plain_modulus()

    @property
    def security_bits(self) -> float:
        """Bits of security (classical) of the weakest key, by the model that ``security_model``
        names.
        """
        return self._raw.security_bits

    @property
    def security_model(self) -> str:
        """The model by which ``security_bits`` are estimated."""
        return self._raw.security_model

    @property
    def failure_log2(self) -> float:
        """log2 of the probability that a bootstrapping gives wrong values without an error, because
        its overflow exceeds its bound; -1024 if this is impossible.
        """
        return self._raw.failure_log2

    def _warn(self) -> None:
        """Warns, when keys are made or values decrypted, that values may be wrong, if the set has
        such a failure probability.
        """
        notice = self._raw.failure_notice
        if notice is not None:
            warnings.warn(notice, FailureWarning, stacklevel=3)

    @property
    def bootstraps(self) -> bool:
        """True if the set has bootstrapping."""
        return self._raw.bootstraps

    @property
    def levels(self) -> int:
        """The number of levels."""
        return self._raw.levels

    def _with_slots_for(self, values: int) -> Params | None:
        """The set with the fewest used slots that hold ``values`` values, if there is one."""
        raw = self._raw.with_slots_for(values)
        return None if raw is None else Params._of(raw)

    def explain(self) -> str:
        """The datasheet of the set as text: security by key, capacities, costs, key sizes. It runs
        a bootstrapping without cryptography.
        """
        return self._raw.datasheet()[0]

    def facts(self) -> dict[str, Any]:
        """The datasheet of the set as a dictionary."""
        found: dict[str, Any] = json.loads(self._raw.datasheet()[1])
        return found

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Params) and self.id == other.id

    def __hash__(self) -> int:
        return hash(self.id)

    def __repr__(self) -> str:
        exponent = "" if self.plain_exponent == 1 else f"^{self.plain_exponent}"
        return (
            f"<everlevel.Params {self.name}: {self.slots} slots modulo "
            f"{self.plain_prime}{exponent}, {self.security_bits:.0f} bits>"
        )

    def _repr_html_(self) -> str:
        exponent = "" if self.plain_exponent == 1 else f"^{self.plain_exponent}"
        rows = [
            ("slots", f"{self.slots:,} integers modulo {self.plain_prime}{exponent}"),
            ("dimensions", " × ".join(map(str, self.dimensions))),
            (
                "ring",
                f"degree {self.degree:,}"
                + (f", slots of degree {self.slot_degree}" if self.slot_degree > 1 else ""),
            ),
            ("levels", self.levels),
            ("security", f"{self.security_bits:.0f} bits ({self.security_model})"),
            (
                "bootstrapping",
                f"fails with probability {power(self.failure_log2)}" if self.bootstraps else "none",
            ),
        ]
        return facts(f"Params {self.name}", rows)

    def __reduce__(self) -> Any:
        return restore, (self.id, self._raw.json, self._insecure_research, self._allow_failures)


def _found(identity: str, insecure_research: bool, allow_failures: bool) -> Params | None:
    """The set with this id, if it is known and allowed."""
    found = _known.get(identity)
    if found is None or not (insecure_research or found.security_bits >= 128):
        return None
    return found if allow_failures or found.failure_log2 <= -40 else None


def restore(
    identity: str, text: str, insecure_research: bool, allow_failures: bool = False
) -> Params:
    """The set of a pickle: an existing one, or a new one."""
    found = _found(identity, insecure_research, allow_failures)
    if found is not None:
        return found
    params = Params(text, insecure_research=insecure_research, allow_failures=allow_failures)
    if params.id != identity:
        raise OtherParametersError(
            f"expected parameter set {identity}, found {params.id}",
            code="wire.other-params",
            params=params.name,
        )
    return params


def _parameter_file(path: str) -> str:
    limit = 64 << 10
    try:
        with open(path, "rb") as file:
            data = file.read(limit + 1)
    except OSError as error:
        raise FileError(
            f"cannot read {path}: {error.strerror}", code="wire.io", path=path
        ) from None
    if len(data) > limit:
        raise FileError(
            f"{path} is larger than {limit} bytes, the limit",
            code="wire.limit",
            path=path,
        )
    try:
        return data.decode()
    except UnicodeDecodeError:
        raise FileError(f"{path} is not UTF-8 text", code="wire.malformed", path=path) from None


def params_with(identity: str, insecure_research: bool) -> Params | None:
    """The set with this id, if it exists already or has a name."""
    found = _found(identity, insecure_research, False)
    if found is not None:
        return found
    text = _rust.named_spec(identity)
    return None if text is None else Params(text, insecure_research=insecure_research)


def params_of(
    path: str | os.PathLike[str], identity: str, params: Params | None, insecure_research: bool
) -> Params:
    """The set of a file whose header has ``identity``: as given, by its name, or by params.json
    beside the file.
    """
    if params is None:
        params = params_with(identity, insecure_research)
    if params is None:
        beside = os.path.join(os.path.dirname(os.path.abspath(path)), "params.json")
        if not os.path.exists(beside):
            raise ParameterError(
                f"{os.fspath(path)}: its parameter set has no name that is known here: give it "
                "with params=",
                code="python.params",
            )
        params = Params(beside, insecure_research=insecure_research)
    if params.id != identity:
        raise OtherParametersError(
            f"{os.fspath(path)} belongs to parameter set {identity}, not to {params.name} "
            f"({params.id})",
            code="wire.other-params",
            params=params.name,
        )
    return params


def names() -> list[str]:
    """The names of all parameter sets that have one."""
    return _rust.names()
