"""The third role: who computes."""

from __future__ import annotations

import functools
import json
import os
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, overload

from . import _everlevel as _rust
from ._array import EncryptedArray
from ._columns import KIND, integers_from_bytes
from ._fitting import Fitting, named_arrays
from ._html import grid, power
from ._integers import EncryptedIntegers
from ._log import told_integers, told_server
from ._nodes import not_here
from ._params import Params, params_of
from ._values import (
    Buffer,
    Path,
    Progress,
    counted,
    octets,
    part_of,
    path_text,
    read_file,
    replaceable,
    stepper,
)
from .errors import DtypeError, FileError, OtherParametersError, ParameterError

if TYPE_CHECKING:
    from ._manifest import Manifest

DEFAULT_CACHE_BYTES = 4 << 30


class Server:
    """Computes without the secret key, bootstrapping by itself.

    Threads may share it; the interpreter's lock is not held meanwhile.
    """

    #: What computes, by itself; as ``_raw`` it also tells the log.
    _compiled: _rust.Server
    #: Path, bytes of cache, whether for elements, whether keys keep their seeds.
    _source: tuple[str, int, bool, bool] | None

    def __init__(self) -> None:
        raise TypeError("servers come from Client.server, Server.open and Server.from_bytes")

    @classmethod
    def _make(cls, raw: _rust.Server, source: tuple[str, int, bool, bool] | None = None) -> Server:
        self = object.__new__(cls)
        self._compiled, self._source = raw, source
        return self

    @classmethod
    def open(
        cls,
        path: Path,
        *,
        params: Params | None = None,
        insecure_research: bool = False,
        elements: bool = False,
        cache_bytes: int = DEFAULT_CACHE_BYTES,
        allow_unknown_owner: bool = False,
        seeded_keys: bool = False,
    ) -> Server:
        """A server on a file of keys, such as ``server.keys``: keys are read when they are needed,
        and kept as far as ``cache_bytes`` go.

        ``elements``: for arrays of whole elements, with keys that were made for them.
        ``allow_unknown_owner``: also keys that do not say which secret key they belong to, as those
        of format version 1.
        ``seeded_keys``: half of each key stays a seed in memory, which is expanded whenever it is
        used: half of the memory for the same keys, more time, equal results.
        """
        path = os.path.abspath(path_text(path))
        _rust.recover_keys(path)
        params = params_of(path, _rust.inspect_file(path)[1], params, insecure_research)
        room = counted("cache_bytes", cache_bytes)
        keys = _rust.Keys.open(params._raw, path, room, allow_unknown_owner, seeded_keys)
        source = (path, cache_bytes, elements, seeded_keys)
        return cls._make(_rust.Server(keys, elements), source)

    @classmethod
    def from_bytes(
        cls,
        data: Buffer,
        params: Params,
        *,
        elements: bool = False,
        allow_unknown_owner: bool = False,
        seeded_keys: bool = False,
    ) -> Server:
        """A server with all its keys in memory, from the bytes of a file of them. ``seeded_keys``
        as for ``open``.
        """
        keys = _rust.Keys.from_bytes(params._raw, octets(data), allow_unknown_owner, seeded_keys)
        return cls._make(_rust.Server(keys, elements))

    def save_keys(self, path: Path, *, overwrite: bool = False) -> None:
        """Writes keys that are in memory to a file."""
        self._raw.keys.save(replaceable(path, overwrite), overwrite)

    @property
    def params(self) -> Params:
        """The parameter set."""
        return Params._of(self._raw.keys.params)

    @property
    def key_id(self) -> str | None:
        """The public id of the secret key of its keys; none if their file does not say."""
        return self._raw.keys.key_id

    @property
    def bootstraps(self) -> int:
        """The number of automatic bootstrappings so far."""
        return self._raw.bootstraps

    @property
    def can_bootstrap(self) -> bool:
        """True if the keys suffice for bootstrapping."""
        return self._raw.keys.bootstraps

    @property
    def elements(self) -> bool:
        """True if it accepts arrays of whole elements: it bootstraps in full mode or not at all."""
        return self._raw.elements

    @property
    def path(self) -> str | None:
        """The file of the keys; none if they are in memory."""
        return self._source[0] if self._source else None

    def size_report(self) -> dict[str, tuple[int, int]]:
        """Number and bytes of keys by kind."""
        return dict(
            zip(("relinearization", "automorphisms", "bootstrapping"), self._raw.keys.size_report())
        )

    def verify_keys(self) -> None:
        """Reads the whole file of keys and checks every checksum.

        Keys check their own whenever they are read.
        """
        self._raw.keys.verify()

    #: How many blocks one stands for: 1, as nothing is traced here.
    _factor = 1

    @property
    def _raw(self) -> _rust.Server:
        return told_server(self._compiled)

    @functools.cached_property
    def _typed(self) -> _rust.IntegerServer:
        """What computes on typed integers, with the plans of its tables."""
        return _rust.IntegerServer(self._compiled)

    def _check_public(self, run: Any) -> None:
        """Passes a run of public integers that is computed with."""

    def _of_a_run(self, side_by_side: bool, in_blocks: bool = False) -> Server:
        """The same server for one run of a program: operations that put the same array in order
        share its ranks, digits of short columns are compared side by side if they are planned so,
        and so are products and large tables computed in blocks.
        """
        found = Server._make(self._compiled, self._source)
        found.__dict__["_typed"] = self._typed.of_a_run(side_by_side, in_blocks)
        return found

    @property
    def _integers(self) -> _rust.IntegerServer:
        return told_integers(self._typed, self._compiled)

    @overload
    def load(self, x: EncryptedIntegers) -> EncryptedIntegers: ...

    @overload
    def load(self, x: EncryptedArray) -> EncryptedArray: ...

    def load(self, x: EncryptedArray | EncryptedIntegers) -> EncryptedArray | EncryptedIntegers:
        """The array in this server's care: operations on it are done here."""
        if isinstance(x, EncryptedIntegers):
            not_here(x)
            if not self._raw.keys.params.same(x._params):
                raise OtherParametersError(
                    f"the array is of {x._params.name}, the server of {self.params.name}",
                    code="scheme.wrong-params",
                )
            for block in x._blocks:
                self._integers.check(block)
            return x._on_server(self)
        if not isinstance(x, EncryptedArray):
            raise DtypeError(
                f"{type(x).__name__}: expected an encrypted array; Server.read takes bytes and "
                "files, and totals are decrypted",
                code="python.input",
            )
        self._takes(x._xs[0].params, x._elements, x._xs)
        if x._server is self:
            return x
        return x._like([part.copy() for part in x._xs], server=self)

    def _takes(self, params: _rust.Params, elements: bool, xs: Sequence[_rust.Ciphertext]) -> None:
        """Refuses what this server would do damage to."""
        if not self._raw.keys.params.same(params):
            raise OtherParametersError(
                f"the array is of {params.name}, the server of {self.params.name}",
                code="scheme.wrong-params",
            )
        if elements and not self._raw.elements:
            raise ParameterError(
                "the array holds whole elements, which bootstrapping for integers would lose: "
                "make the server with elements=True",
                code="python.elements",
            )
        for x in xs:
            self._raw.check(x)

    def read(
        self,
        source: Path | Buffer,
        *,
        bounds: str | Manifest = "stated",
        allow_unknown_owner: bool = False,
    ) -> Any:
        """An array from a file (``str`` or path) or from bytes, in this server's care; of typed
        integers one array, or several by name. ``bounds`` and
        ``allow_unknown_owner`` as for ``EncryptedArray.from_bytes``.
        """
        if isinstance(source, (str, os.PathLike)):
            source = read_file(source)
        if _rust.inspect(octets(source))[0] == KIND:
            arrays = integers_from_bytes(
                source,
                params=self.params,
                bounds=bounds,
                server=self,
                allow_unknown_owner=allow_unknown_owner,
            )
            return next(iter(arrays.values())) if len(arrays) == 1 else arrays
        x = EncryptedArray.from_bytes(
            source,
            params=self.params,
            bounds=bounds,
            server=self,
            allow_unknown_owner=allow_unknown_owner,
        )
        x._encryption = None
        return x

    def run(
        self,
        program: str,
        inputs: Mapping[str, EncryptedArray] | None = None,
        *,
        progress: Progress = None,
        **named: EncryptedArray,
    ) -> dict[str, EncryptedArray]:
        """Runs a program such as ``"y = 3*x*(1-x); z = rotate(y, 1) + x^5"`` on arrays by name, as
        ``everlevel eval``, and returns what it defines.

        ``+ - * ^``, constants, ``rotate(x, k)``, ``sum(x)``, ``swap_rows(x)``, ``refresh(x)``, on
        all slots. Results have the shape of the largest input. Arrays of several ciphertexts go
        through the program one ciphertext after the other, if it moves nothing between slots.
        """
        arrays = named_arrays(inputs, named)
        fitting = Fitting(program, arrays)
        loaded = {name: self.load(x)._spread(fitting.count) for name, x in arrays.items()}
        step, parts = stepper(progress), []
        for number in range(fitting.count):
            given = {name: xs[number] for name, xs in loaded.items()}
            parts.append(self._raw.run(program, given, part_of(step, number, fitting.count)))
        return {
            name: fitting.result(name, [part[name] for part in parts], self) for name in parts[0]
        }

    def explain(
        self,
        program: str,
        inputs: Mapping[str, EncryptedArray] | None = None,
        **named: EncryptedArray,
    ) -> Explanation:
        """Runs a program as ``run``, and tells for each operation its level, the modulus consumed,
        the noise bound and the probability of failure.

        Everything in it follows from the program and the parameters, and may be shown to anybody.
        Of arrays of several ciphertexts, each one's with the least capacity.
        """
        arrays = named_arrays(inputs, named)
        worst = {name: self.load(x)._worst for name, x in arrays.items()}
        return Explanation(*self._raw.explain(program, worst))

    def __repr__(self) -> str:
        where = self.path or "memory"
        boots = "" if self.can_bootstrap else ", no bootstrapping"
        return (
            f"<everlevel.Server of {self.params.name}: {len(self._raw.keys)} keys in "
            f"{where}{boots}>"
        )

    def __reduce__(self) -> Any:
        if self._source is None:
            raise FileError(
                "a server with keys in memory is not pickled, as they are large: save_keys to a "
                "file and Server.open that",
                code="python.keys-in-memory",
            )
        return _restore_server, (self.params, *self._source)


class Explanation:
    """A report of how results were computed, operation by operation; ``print`` shows it."""

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

    def _repr_html_(self) -> str:
        header = (
            "#",
            "of",
            "operation",
            "level",
            "log2 Q",
            "noise bound",
            "capacity, bits",
            "failure",
        )
        rows = [
            (
                step["row"],
                ", ".join(map(str, step["inputs"])),
                f"{step['operation']} {step['detail']}".strip(),
                step["level"],
                f"{step['modulus_bits']:.1f}",
                f"2^{step['bound_bits']:.1f}",
                f"{step['capacity_bits']:.1f}",
                power(step["failure_log2"]),
            )
            for step in self.steps
        ]
        title = (
            f"{self._data['params']}: {len(rows)} operations, failure {power(self.failure_log2)}"
        )
        return grid(title, header, rows)

    def __repr__(self) -> str:
        return f"<everlevel.Explanation of {len(self.steps)} operations>"


def _restore_server(
    params: Params, path: str, cache_bytes: int, elements: bool, seeded_keys: bool
) -> Server:
    return Server.open(
        path,
        params=params,
        cache_bytes=cache_bytes,
        elements=elements,
        allow_unknown_owner=True,
        seeded_keys=seeded_keys,
    )


def plan_bytes(
    params: Params, *, program: str | None = None, elements: bool = False
) -> tuple[int, int]:
    """The number of server keys that ``Client.server`` makes, and their bytes in a file."""
    plan = _rust.Plan(params._raw, program, elements)
    return len(plan), plan.bytes(params._raw)
