"""The objects, encrypted tables and jobs that a tenant has at a service."""

from __future__ import annotations

import os
import re
import secrets
import tempfile
from typing import TYPE_CHECKING, Any

from . import _everlevel as _rust
from ._constants import Constants
from ._http import Connection, count, field, malformed, told
from ._log import timed
from ._objects import Encrypted, accepted, fetched, identity, pushed
from ._server import Server
from ._values import Path, Progress, path_text, read_file, stepper
from .errors import Error, KeyMissingError, ParameterError, ServiceError

if TYPE_CHECKING:
    from .tables import EncryptedTable

#: The most bytes of a result.
RESULT_BYTES = 4 << 30
#: The texts that an encrypted table may have beside its columns.
TEXTS = ("schema.json", "files.json")


class Tenant:
    """A tenant of a service: sends objects, fetches results, and manages jobs there."""

    __slots__ = ("_connection", "_keys", "_bootstraps")

    #: The id of the server keys that were sent last.
    _keys: str | None
    #: Whether they can bootstrap; none if that is not known.
    _bootstraps: bool | None

    def __init__(self, connection: Connection) -> None:
        self._connection, self._keys, self._bootstraps = connection, None, None

    # What the service keeps

    def push(
        self,
        x: Server | Encrypted | Constants | EncryptedTable | Path,
        *,
        progress: Progress = None,
    ) -> str:
        """Sends a server's keys, an array, constants or a table, or the file or directory of one,
        unless the service has it; an upload that broke off goes on. The answer is its id.

        Jobs run with the server keys that were sent last, unless others are given.
        ``progress(done, bytes)`` is called after each part, of tables after each file.
        """
        from .tables import EncryptedTable

        step = stepper(progress)
        if isinstance(x, EncryptedTable):
            with tempfile.TemporaryDirectory() as directory:
                x.save(os.path.join(directory, "table"))
                return self._push_table(os.path.join(directory, "table"), step)
        if isinstance(x, (str, os.PathLike)):
            path = path_text(x)
            if os.path.isdir(path):
                return self._push_table(path, step)
            return self._pushed(path, step)
        if isinstance(x, Server):
            return self._push_server(x, step)
        if isinstance(x, Constants):
            return self._pushed(x.to_bytes(), step)
        return self._pushed(accepted(x).to_bytes(), step)

    def _pushed(self, source: str | bytes, step: Any) -> str:
        with timed("remote push"):
            kind, found = pushed(self._connection, source, step)
        if kind == "server keys":
            self._keys, self._bootstraps = found, None
        return found

    def _push_server(self, server: Server, step: Any) -> str:
        if server.elements and server.can_bootstrap:
            raise ParameterError(
                "the server is for whole elements, which bootstrapping of a service would lose",
                code="python.elements",
            )
        if server.path is not None:
            found = self._pushed(server.path, step)
        else:
            with tempfile.TemporaryDirectory() as directory:
                path = os.path.join(directory, "server.keys")
                server.save_keys(path)
                found = self._pushed(path, step)
        self._bootstraps = server.can_bootstrap
        return found

    def _push_table(self, directory: str, step: Any) -> str:
        # What does not open here would not there; nothing is computed with its set.
        _rust.Table.open(directory, None, True)
        names = sorted(name for name in os.listdir(directory) if name.endswith(".columns"))
        blocks = {}
        for done, name in enumerate(names, 1):
            blocks[name] = self._pushed(os.path.join(directory, name), None)
            if step is not None:
                step(done, len(names))
        texts = {
            name: read_file(os.path.join(directory, name)).decode()
            for name in TEXTS
            if os.path.exists(os.path.join(directory, name))
        }
        made = self._connection.json("POST", "/v1/tables", {"texts": texts, "blocks": blocks})
        return identity(field(made, "id", str))

    def fetch(self, object_id: str, *, progress: Progress = None) -> bytes:
        """The bytes of an object, which are what its id says. They are verified."""
        with timed("remote fetch"):
            return fetched(self._connection, identity(object_id), RESULT_BYTES, stepper(progress))

    def objects(self) -> list[dict[str, Any]]:
        """All objects of the tenant, as the service describes them."""
        return self._items("/v1/objects")

    def tables(self) -> list[dict[str, Any]]:
        """All encrypted tables of the tenant, as the service describes them."""
        return self._items("/v1/tables")

    def jobs(self) -> list[dict[str, Any]]:
        """All jobs of the tenant, as the service describes them."""
        found: list[dict[str, Any]] = []
        after = ""
        while True:
            answer = self._connection.json("GET", f"/v1/jobs?after={after}")
            found += field(answer, "items", list)
            # Services of former versions give all of them at once.
            if answer.get("next") is None:
                return found
            following = identity(field(answer, "next", str), 32)
            if following <= after:
                raise malformed("a list of jobs", "its parts do not end")
            after = following

    def _items(self, path: str) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = field(self._connection.json("GET", path), "items", list)
        return found

    def delete(self, object_id: str) -> None:
        """Removes an object, or a table; objects that a table is made of stay until it is gone."""
        found = identity(object_id)
        tables = any(table.get("id") == found for table in self.tables())
        self._connection.send("DELETE", f"/v1/{'tables' if tables else 'objects'}/{found}")
        if self._keys == found:
            self._keys = None

    def cancel(self, job_id: str) -> None:
        """Cancels a job, which ends between two operations."""
        self._connection.json("POST", f"/v1/jobs/{identity(job_id, 32)}/cancel")

    # Jobs

    def _done(
        self, request: dict[str, Any], job_name: str | None, progress: Progress
    ) -> dict[str, str]:
        """The ids of the results of a job, once it has ended."""
        key = secrets.token_hex(16) if job_name is None else job_name
        if not re.fullmatch(r"[0-9A-Za-z-]{1,64}", key):
            raise malformed("the name of a job", "expected 1 to 64 letters, digits and -")
        step = stepper(progress)
        with timed("remote job"):
            job_id: str | None = None
            try:
                job = self._connection.json("POST", "/v1/jobs", request, key=key)
                job_id = identity(field(job, "id", str), 32)
                while (state := field(job, "state", str)) in ("queued", "running"):
                    job = self._connection.json("GET", f"/v1/jobs/{job_id}?wait=1")
                    if step is not None:
                        step(count(job, "done"), count(job, "total"))
            except Error as error:
                if error.code not in ("service.unreachable", "service.unavailable"):
                    raise
                raise ServiceError(
                    f"{error.message}; a call with job_name={key!r} and the same arguments goes on "
                    "with the job, if it has begun",
                    code=error.code,
                ) from None
            except BaseException:
                # Whoever stops to wait for a job without a name cannot come back to it.
                if job_name is None and job_id is not None:
                    self.cancel(job_id)
                raise
        if state != "done":
            raise told(job.get("error"))
        return {name: identity(found) for name, found in field(job, "results", dict).items()}

    def _there(self, x: Any) -> str:
        """The id of what is there, or is sent."""
        if isinstance(x, str) and re.fullmatch(r"[0-9a-f]{64}", x):
            return x
        return self.push(x)

    def _server_keys(self, given: Server | Path | None) -> str:
        if given is not None:
            return self._there(given)
        if self._keys is None:
            raise KeyMissingError(
                "no server keys were sent by this connection: push a server first, or give "
                "server_keys=",
                code="python.keys",
            )
        return self._keys
