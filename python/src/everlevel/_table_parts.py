"""Answers from encrypted tables by several processes on a Ray cluster, each of which computes some
blocks of rows.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from . import _everlevel as _rust
from ._values import Progress, stepper
from .cluster import Actor, _ray, actors, result_of
from .errors import ClusterError

if TYPE_CHECKING:
    from ._server import Server

#: How many parts an actor computes one after the other, if there are enough blocks: what is lost
#: with it is one of them, and each takes the end of an answer once more.
PARTS = 4
#: How many parts wait at an actor.
WAITING = 2


class Blocks(Actor):
    """An actor that computes blocks of a table, and joins parts of answers."""

    def _begin(self, given: tuple[str, str, str, bytes | None]) -> None:
        path, table, plan, constants = given
        self._table = _rust.Table.open(path, self._server.params._raw, True)
        if self._table.id != table:
            raise ClusterError(
                f"the table in {path} was changed since it was opened: open it again",
                code="cluster.table",
            )
        self._plan, self._constants = plan, constants

    def part(self, first: int, end: int) -> tuple[bytes, int]:
        made = self._table.run_part(self._server._compiled, self._plan, first, end, self._constants)
        return made, end - first

    def joined(self, first: bytes, second: bytes) -> bytes:
        return _rust.join_table_parts(self._server._compiled, first, second)

    def result(self, part: bytes) -> bytes:
        return _rust.table_part_result(self._server._compiled, part)


def parts_of(blocks: int, workers: int) -> list[tuple[int, int]]:
    """Neighboring blocks, in parts of nearly equal length."""
    count = min(blocks, PARTS * workers)
    ends = [blocks * (i + 1) // count for i in range(count)]
    return list(zip([0, *ends], ends))


def run_on_ray(
    table: _rust.Table,
    path: str,
    server: Server,
    plan: str,
    constants: bytes | None,
    workers: int | None,
    threads: int,
    retries: int,
    progress: Progress,
) -> bytes:
    """The bytes of a result for a table in a directory that all actors can read."""
    ray, step = _ray(), stepper(progress)
    given = (path, table.id, plan, constants)
    with actors(Blocks, given, server, None, None, workers, threads, retries) as made:
        parts = parts_of(table.blocks, len(made))
        found = _computed(ray, made, parts, table.blocks, step)
        # Neighbors are joined where they are, until one is left.
        while len(found) > 1:
            pairs = [found[i : i + 2] for i in range(0, len(found), 2)]
            found = [
                made[i % len(made)].joined.remote(*pair) if len(pair) > 1 else pair[0]
                for i, pair in enumerate(pairs)
            ]
        result: bytes = result_of(ray, made[0].result.remote(found[0]))
        return result


def _computed(
    ray: Any, made: list[Any], parts: list[tuple[int, int]], blocks: int, step: Any
) -> list[Any]:
    """References to all parts, in order, once they are computed."""
    found: list[Any] = [None] * len(parts)
    waiting = dict.fromkeys(range(len(made)), WAITING)
    under_way: dict[Any, int] = {}
    given, done = 0, 0
    while given < len(parts) or under_way:
        while given < len(parts) and any(waiting.values()):
            who = max(waiting, key=waiting.__getitem__)
            waiting[who] -= 1
            found[given], count = made[who].part.options(num_returns=2).remote(*parts[given])
            under_way[count] = who
            given += 1
        ready, _ = ray.wait(list(under_way), num_returns=1)
        for count in ready:
            waiting[under_way.pop(count)] += 1
            done += result_of(ray, count)
            if step is not None:
                step(done, blocks)
    return found
