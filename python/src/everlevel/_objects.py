"""What a service keeps: objects called by the BLAKE3 hash of their bytes."""

from __future__ import annotations

import io
import re
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any, BinaryIO

from . import _everlevel as _rust
from ._array import EncryptedArray
from ._columns import KIND, integers_from_bytes
from ._fitting import Fitting
from ._http import PART_BYTES, PAUSE, Connection, count, field, malformed, unreachable
from ._integers import EncryptedIntegers
from ._params import Params
from ._tables import Table
from ._totals import EncryptedTotal
from ._values import octets
from .errors import (
    DtypeError,
    Error,
    FileError,
    FormatError,
    OtherParametersError,
    ParameterError,
    SecretKeyError,
    ServiceError,
    ShapeError,
)

Encrypted = EncryptedArray | EncryptedIntegers
Computed = EncryptedArray | EncryptedIntegers | EncryptedTotal
Step = Callable[[int, int], object] | None

#: What an upload is told whose part was sent twice, as its answer was lost, or whose part is still
#: being stored: the service says how far it is.
PASSING = ("service.offset", "service.conflict", "service.timeout")
#: How many times in a row an upload is told so before it is given up, and the longest pause in
#: between: together about a minute, which is longer than a request may take.
STANDSTILLS, LONGEST_PAUSE = 10, 10.0

#: What a service accepts.
ACCEPTED = ("server keys", "ciphertexts", KIND)


def identity(text: Any, digits: int = 64) -> str:
    """An id that is one, whoever states it: it becomes a part of an address."""
    if not isinstance(text, str) or not re.fullmatch(f"[0-9a-f]{{{digits}}}", text):
        raise malformed("an id", f"expected {digits} hexadecimal digits in lower case")
    return text


def _hasher() -> Any:
    try:
        from blake3 import blake3
    except ImportError:
        raise Error(
            "objects of a service are called by their BLAKE3 hash, which needs blake3: "
            "pip install 'everlevel[remote]'",
            code="python.no-blake3",
        ) from None
    return blake3()


def pushed(connection: Connection, source: str | bytes, step: Step) -> tuple[str, str]:
    """Sends a file or bytes, unless the service has them: kind and id."""
    if isinstance(source, bytes):
        kind = _rust.inspect(octets(source))[0]
        where = "bytes"
    else:
        kind, where = _rust.inspect_file(source)[0], source
    if kind not in ACCEPTED:
        secret = kind.endswith("secret key")
        refuse = SecretKeyError if secret else FormatError
        raise refuse(
            f"{where}: expected server keys, ciphertexts or columns of integers, found {kind}: "
            "nothing was sent",
            code="service.malformed",
        )
    if isinstance(source, bytes):
        return kind, _sent(connection, io.BytesIO(source), where, step)
    try:
        with open(source, "rb") as file:
            return kind, _sent(connection, file, where, step)
    except OSError as error:
        if isinstance(error, Error):
            raise
        raise FileError(
            f"cannot read {source}: {error.strerror}", code="wire.io", path=source
        ) from None


def _sent(connection: Connection, file: BinaryIO, where: str, step: Step) -> str:
    hasher, size = _hasher(), 0
    while part := file.read(PART_BYTES):
        hasher.update(part)
        size += len(part)
    name = hasher.hexdigest()
    new = {"id": name, "bytes": size}
    state = connection.json("POST", "/v1/uploads", new)
    stopped = 0
    while not field(state, "complete", bool):
        offset = count(state, "offset")
        if step is not None:
            step(offset, size)
        file.seek(offset)
        part = file.read(PART_BYTES)
        if not part and offset < size:
            raise malformed("a file", f"{where}: it became shorter while it was sent")
        try:
            state = connection.json("PUT", f"/v1/uploads/{name}?offset={offset}", body=part)
        except ServiceError as error:
            if error.code not in PASSING:
                raise
            time.sleep(min(PAUSE * 2**stopped, LONGEST_PAUSE))
            state = connection.json("POST", "/v1/uploads", new)
        stopped = stopped + 1 if count(state, "offset") <= offset else 0
        if stopped == STANDSTILLS and not field(state, "complete", bool):
            raise unreachable(
                f"an upload does not get beyond byte {offset}: send it again later, and it goes on "
                "there"
            )
    if step is not None:
        step(size, size)
    return str(name)


def fetched(connection: Connection, name: str, most: int, step: Step) -> bytes:
    """The bytes of an object, verified."""
    size = count(connection.json("GET", f"/v1/objects/{name}"), "bytes")
    if size > most:
        raise ServiceError(
            f"bytes of an object: at most {most} are accepted", code="service.too-large"
        )
    data, hasher = bytearray(), _hasher()
    while len(data) < size:
        path = f"/v1/objects/{name}/content?offset={len(data)}"
        part = connection.send("GET", path, most=PART_BYTES)
        if not part:
            break
        data += part
        hasher.update(part)
        if step is not None:
            step(min(len(data), size), size)
    found = hasher.hexdigest()
    if found != name:
        raise ServiceError(
            f"expected bytes with the BLAKE3 hash {name}, found {found}: transfer them again "
            "from the beginning",
            code="service.checksum",
            expected=name,
            found=found,
        )
    return bytes(data)


def accepted(x: Any) -> Encrypted:
    """An array that a service takes."""
    if isinstance(x, EncryptedArray):
        if x.elements:
            raise ParameterError(
                "the array holds whole elements, which bootstrapping of a service would lose",
                code="python.elements",
            )
        return x
    if not isinstance(x, EncryptedIntegers):
        raise DtypeError(
            f"expected an encrypted array, found {type(x).__name__}", code="python.input"
        )
    if x._wrap is not None:
        raise DtypeError(
            f"wrapping {x._wrap}: a service computes exactly; give x.checked()",
            code="integers.type",
        )
    if x.ndim > 1:
        raise ShapeError(
            f"an array of shape {x.shape}: programs of a service take vectors of typed integers",
            code="python.shape",
        )
    return x


def entries_of(name: str, table: Table | Sequence[int]) -> list[int]:
    """The entries of a public table."""
    found = table if isinstance(table, Table) else Table(table)
    if found._entries.ndim != 1:
        raise ShapeError(f"{name}: expected a table of one row", code="python.shape")
    return [int(v) for v in found._entries]


class Inputs:
    """A program and its inputs, of one kind and one parameter set."""

    __slots__ = ("program", "written", "_fitting", "_params")

    def __init__(self, program: str, arrays: Mapping[str, Encrypted]) -> None:
        self.program, taken = program, [accepted(x) for x in arrays.values()]
        if not arrays:
            raise ShapeError("no array: expected at least one", code="python.empty")
        if len({type(x) for x in taken}) > 1:
            raise DtypeError(
                "arrays modulo p^r and typed integers: expected one or the other",
                code="python.input",
            )
        raws = [x._params if isinstance(x, EncryptedIntegers) else x._xs[0].params for x in taken]
        self._params = raws[0]
        if not all(self._params.same(raw) for raw in raws):
            raise OtherParametersError(
                "arrays of different parameter sets", code="scheme.wrong-params"
            )
        residues = {name: x for name, x in arrays.items() if isinstance(x, EncryptedArray)}
        #: None of typed integers.
        self._fitting = Fitting(program, residues) if residues else None
        #: The bytes of each input by its name.
        self.written = {name: x.to_bytes() for name, x in arrays.items()}

    def computed(self, name: str, data: bytes) -> Computed:
        """The array of a result of this name. What it states of its noise is not believed: that is
        not needed to decrypt it.
        """
        if self._fitting is None:
            found = list(integers_from_bytes(data, params=Params._of(self._params)).values())
            if len(found) != 1:
                raise FormatError(
                    f"a result of {len(found)} arrays: expected one", code="python.array"
                )
            return found[0]
        xs, _ = _rust.ciphertexts_from_bytes(self._params, octets(data), "untrusted")
        if len(xs) != self._fitting.count:
            raise FormatError(
                f"a result of {len(xs)} ciphertexts: expected {self._fitting.count}",
                code="python.array",
            )
        return self._fitting.result(name, xs)
