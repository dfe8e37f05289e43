"""One program over many ciphertexts: on this machine, or on a Ray cluster (``pip install
everlevel[ray]``).

The same function runs in both places and its results are the same bytes: computing on ciphertexts
uses no randomness, and does not depend on threads.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import re
import tempfile
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from . import _everlevel as _rust
from ._array import EncryptedArray
from ._params import Params
from ._server import DEFAULT_CACHE_BYTES, Server
from ._values import Path, Progress, counted, path_text, stepper
from .errors import ClusterError, DtypeError

Program = str | Callable[[Server, EncryptedArray], EncryptedArray]

__all__ = ["imap", "map"]


def map(
    program: Program,
    arrays: Iterable[EncryptedArray],
    *,
    server: Server | None = None,
    keys: Path | bytes | None = None,
    params: Params | None = None,
    ray: bool = False,
    workers: int | None = None,
    threads: int = 1,
    in_flight: int = 2,
    retries: int = 3,
    progress: Progress = None,
) -> list[EncryptedArray]:
    """The results of ``program(server, array)`` in the order of the arrays. See :func:`imap`."""
    step = stepper(progress)
    given = list(arrays)
    done = []
    for result in imap(
        program,
        given,
        server=server,
        keys=keys,
        params=params,
        ray=ray,
        workers=workers,
        threads=threads,
        in_flight=in_flight,
        retries=retries,
    ):
        done.append(result)
        if step is not None:
            step(len(done), len(given))
    return done


def imap(
    program: Program,
    arrays: Iterable[EncryptedArray],
    *,
    server: Server | None = None,
    keys: Path | bytes | None = None,
    params: Params | None = None,
    ray: bool = False,
    workers: int | None = None,
    threads: int = 1,
    in_flight: int = 2,
    retries: int = 3,
) -> Iterator[EncryptedArray]:
    """The results one by one, in order, taking arrays from the iterable as workers have room:
    memory for the arrays under way only.

    ``program`` is a function of a server and an array, or the text of a program with one input and
    one output (``Server.run``).

    On this machine ``server`` computes, one array after the other. With ``ray=True`` actors do,
    ``workers`` of them (one a CPU of the cluster / ``threads``), with ``threads`` threads each.
    Server keys come from ``keys``: a path that every node can read, or the bytes of the file, which
    go through the object store to a file on each node, once. A ``server`` on a file
    (``Server.open``) stands for its path and how it was opened. ``in_flight`` arrays wait at each
    actor, no more. What an actor had when it died is done again by its successor, ``retries``
    times; every result comes exactly once, as an array has one result that is asked for. An
    exception of the program ends the work.
    """
    if not ray:
        local = _local(server, keys, params)
        for x in arrays:
            yield _run(program, local, local.load(x))
        return
    yield from _on_ray(program, arrays, server, keys, params, workers, threads, in_flight, retries)


def _local(server: Server | None, keys: Path | bytes | None, params: Params | None) -> Server:
    if server is not None:
        return server
    if isinstance(keys, (bytes, bytearray, memoryview)):
        if params is None:
            raise ClusterError(
                "keys as bytes: give their parameter set with params=", code="python.params"
            )
        return Server.from_bytes(keys, params)
    if keys is None:
        raise ClusterError("no keys: give server= or keys=", code="python.keys")
    return Server.open(keys, params=params)


def _run(program: Program, server: Server, x: EncryptedArray) -> EncryptedArray:
    if isinstance(program, str):
        names, *_ = _rust.program_facts(program)
        if len(names) != 1:
            raise ClusterError(
                f"the program reads {', '.join(names)}: expected one input", code="python.inputs"
            )
        found = server.run(program, {names[0]: x})
        if len(found) != 1:
            raise ClusterError(
                f"the program defines {', '.join(found)}: expected one output",
                code="python.outputs",
            )
        return next(iter(found.values()))
    result = program(server, x)
    if not isinstance(result, EncryptedArray):
        raise DtypeError(
            f"the program returned {type(result).__name__}: expected an encrypted array",
            code="python.result",
        )
    return result


def _key_file(data: bytes, digest: str) -> str:
    """The bytes as a file of this node, written once: the first writer gives it its name."""
    user = os.getuid() if hasattr(os, "getuid") else 0
    path = os.path.join(tempfile.gettempdir(), f"everlevel-{user}-{digest}.keys")
    # A file that somebody else put there is not ours to trust, nor what a link leads to.
    if not os.path.exists(path) or os.path.islink(path) or os.stat(path).st_uid != user:
        handle, temporary = tempfile.mkstemp(
            dir=tempfile.gettempdir(), prefix="everlevel-", suffix=".part"
        )
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(data)
            os.replace(temporary, path)
        except BaseException:
            os.unlink(temporary)
            raise
    return path


class Actor:
    """An actor: a server, and what else it works with."""

    def __init__(
        self,
        given: Any,
        params: Params,
        keys: Any,
        digest: str | None,
        cache_bytes: int,
        elements: bool,
        seeded_keys: bool,
        threads: int,
        version: str,
    ) -> None:
        own = _rust.build()[0]
        # Another one may not know what an array or a plan says of itself.
        if version != own:
            raise ClusterError(
                f"this node has everlevel {own}, and the program that sends it work "
                f"{version}: install one version on all nodes",
                code="cluster.version",
            )
        _rust.set_num_threads(counted("threads", threads, code="python.threads"))
        path = keys if digest is None else _key_file(keys, digest)
        self._server = Server.open(
            path,
            params=params,
            cache_bytes=cache_bytes,
            elements=elements,
            seeded_keys=seeded_keys,
        )
        self._begin(given)

    def _begin(self, given: Any) -> None:
        raise NotImplementedError


class _Worker(Actor):
    """One that runs a program."""

    def _begin(self, given: bytes) -> None:
        import pickle

        self._program = pickle.loads(given)

    def run(self, data: bytes) -> bytes:
        x = EncryptedArray.from_bytes(data, bounds="stated", server=self._server)
        x._encryption = None
        return _run(self._program, self._server, x).to_bytes()


def _on_ray(
    program: Program,
    arrays: Iterable[EncryptedArray],
    server: Server | None,
    keys: Path | bytes | None,
    params: Params | None,
    workers: int | None,
    threads: int,
    in_flight: int,
    retries: int,
) -> Iterator[EncryptedArray]:
    # With no room at any actor the work would neither begin nor end.
    _counted(workers=workers, threads=threads, in_flight=in_flight)
    ray = _ray()
    pickled = ray.cloudpickle.dumps(program)
    with actors(_Worker, pickled, server, keys, params, workers, threads, retries) as made:
        # There are no actors without parameters.
        known = params if params is not None else server.params  # type: ignore[union-attr]
        yield from _in_order(ray, made, arrays, in_flight, known)


def _counted(**counts: int | None) -> None:
    """Refuses numbers below 1; numbers that are ``None`` follow from the cluster."""
    for name, count in counts.items():
        if count is not None and count < 1:
            raise ClusterError(f"{name} = {count}: expected at least 1", code="python.workers")


def _ray() -> Any:
    """Ray, connected to a cluster."""
    try:
        import ray
    except ImportError as error:
        raise ClusterError(
            f"ray is not installed ({error}): pip install 'everlevel[ray]'", code="python.no-ray"
        ) from None
    if not ray.is_initialized():
        ray.init(
            address=os.environ.get("RAY_ADDRESS"), include_dashboard=False, log_to_driver=False
        )
    return ray


@contextlib.contextmanager
def actors(
    kind: type[Actor],
    given: Any,
    server: Server | None,
    keys: Path | bytes | None,
    params: Params | None,
    workers: int | None,
    threads: int,
    retries: int,
) -> Iterator[list[Any]]:
    """Actors with the keys of a server, which are started with the given arguments and end with the
    context.
    """
    _counted(workers=workers, threads=threads)
    ray = _ray()
    cache_bytes, elements, seeded_keys = DEFAULT_CACHE_BYTES, False, False
    if keys is None and server is not None and server._source is not None:
        keys, cache_bytes, elements, seeded_keys = server._source
    if params is None and server is not None:
        params = server.params
    if keys is None or params is None:
        raise ClusterError(
            "actors need server keys and their parameters: give keys= (a path or bytes) and "
            "params=, or a server on a file",
            code="python.keys",
        )
    digest: str | None = None
    shared: Any
    if isinstance(keys, (bytes, bytearray, memoryview)):
        digest = hashlib.sha256(keys).hexdigest()[:32]
        shared = ray.put(bytes(keys))
    else:
        shared = os.path.abspath(path_text(keys))
    if workers is None:
        workers = max(1, int(ray.cluster_resources().get("CPU", 1)) // threads)
    actor = ray.remote(num_cpus=threads, max_restarts=-1, max_task_retries=retries)(kind)
    how = (cache_bytes, elements, seeded_keys, threads, _rust.build()[0])
    made = [actor.remote(given, params, shared, digest, *how) for _ in range(workers)]
    try:
        yield made
    finally:
        for one in made:
            ray.kill(one)


def _in_order(
    ray: Any, actors: list[Any], arrays: Iterable[EncryptedArray], in_flight: int, params: Params
) -> Iterator[EncryptedArray]:
    source = iter(enumerate(arrays))
    waiting = dict.fromkeys(range(len(actors)), in_flight)
    under_way: dict[Any, tuple[int, int]] = {}
    finished: dict[int, Any] = {}
    given, handed, exhausted = 0, 0, False
    while True:
        # Results that wait for an earlier one take room, too.
        while (
            not exhausted and any(waiting.values()) and given - handed < 4 * in_flight * len(actors)
        ):
            try:
                number, x = next(source)
            except StopIteration:
                exhausted = True
                break
            who = max(waiting, key=waiting.__getitem__)
            waiting[who] -= 1
            under_way[actors[who].run.remote(x.to_bytes())] = (number, who)
            given += 1
        while handed in finished:
            yield EncryptedArray.from_bytes(
                result_of(ray, finished.pop(handed)), params=params, bounds="stated"
            )
            handed += 1
        if not under_way:
            if exhausted:
                return
            continue
        ready, _ = ray.wait(list(under_way), num_returns=1)
        for reference in ready:
            number, who = under_way.pop(reference)
            waiting[who] += 1
            finished[number] = reference


def result_of(ray: Any, reference: Any) -> Any:
    """The result of an actor, or its exception."""
    try:
        return ray.get(reference)
    except ray.exceptions.RayTaskError as error:
        raise (
            error.cause
            if isinstance(error.cause, Exception)
            else ClusterError(str(error), code="cluster.task")
        ) from None
    except ray.exceptions.RayError as error:
        if not getattr(error, "actor_init_failed", False):
            raise ClusterError(f"an actor died too often: {error}", code="cluster.actor") from None
        # Of what an actor's beginning raised there is the text alone, which ends with its code.
        told = re.search(r"\[(cluster\.[a-z-]+)\]\s*\Z", str(error))
        raise ClusterError(
            f"an actor could not begin: {error}", code=told[1] if told else "cluster.actor"
        ) from None
