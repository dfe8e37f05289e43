"""Tables by several processes: parts of an answer, here and on Ray, where an actor dies."""

import decimal
import os
import signal

import pytest

import everlevel
from everlevel import _table_parts
from everlevel import tables as et

SCHEMA = et.Schema(
    {
        "columns": [
            {"name": "ward", "type": "category", "values": ["north", "south", "west"]},
            {"name": "cost", "type": "decimal", "scale": 2, "low": "0", "high": "999.99"},
            {"name": "name", "type": "text", "bytes": 10},
        ]
    }
)
ROWS = 4 * 2048 + 100
DATA = {
    "ward": [("north", "south", "west")[i % 3] for i in range(ROWS)],
    "cost": [decimal.Decimal(i * 7 % 100_000) / 100 for i in range(ROWS)],
    "name": [f"n{i}" for i in range(ROWS)],
}
#: The first block of the third of the five parts that two actors are given.
DEADLY = 2
QUERIES = (
    "select ward, count(*) as n, sum(cost) as cost from t where cost > 12.50 group by ward "
    "order by ward",
    "select name, cost from t where cost < 0.05",
)


@pytest.fixture(scope="module")
def directory(fermat, tmp_path_factory):
    path = tmp_path_factory.mktemp("tables") / "t"
    et.encrypt(fermat.client, DATA, SCHEMA, directory=path)
    fermat.server.save_keys(path.parent / "server.keys")
    return path


def opened(fermat, directory):
    table = et.EncryptedTable.open(directory, params=fermat.params)
    return table, everlevel.Server.open(directory.parent / "server.keys", params=fermat.params)


def answers(fermat, plan):
    expected = plan.answer(DATA, arrow=False)
    assert any(expected.values())
    return lambda result: result.read(fermat.client, plan=plan, arrow=False) == expected


class Now:
    """What Ray does, at once and in this process."""

    class exceptions:
        RayTaskError = RayError = ZeroDivisionError

    def __init__(self, actor):
        self.actor = actor
        self.calls = []

    def __getattr__(self, name):
        return Call(self, name)

    @staticmethod
    def wait(references, num_returns):
        return references[-num_returns:], references[:-num_returns]

    @staticmethod
    def get(reference):
        return reference.value


class Held:
    def __init__(self, value):
        self.value = value


class Call:
    def __init__(self, owner, name, several=False):
        self.owner, self.name, self.several = owner, name, several

    def options(self, num_returns):
        return Call(self.owner, self.name, True)

    def remote(self, *given):
        given = [x.value if isinstance(x, Held) else x for x in given]
        self.owner.calls.append((self.name, given))
        value = getattr(self.owner.actor, self.name)(*given)
        return [Held(x) for x in value] if self.several else Held(value)


def test_parts():
    for blocks in range(1, 40):
        for workers in (1, 2, 3, 7):
            parts = _table_parts.parts_of(blocks, workers)
            assert [i for first, end in parts for i in range(first, end)] == list(range(blocks))
            assert all(first < end for first, end in parts)
            assert len(parts) == min(blocks, 4 * workers)


def actors_here(monkeypatch, server, workers):
    """Those that a run makes, in this process."""
    made = []

    class Actors:
        def __init__(self, kind, given, of_server, *rest):
            assert of_server is server
            for _ in range(workers):
                actor = object.__new__(kind)
                actor._server = server
                actor._begin(given)
                made.append(Now(actor))

        def __enter__(self):
            return made

        def __exit__(self, *error):
            pass

    monkeypatch.setattr(_table_parts, "actors", Actors)
    monkeypatch.setattr(_table_parts, "_ray", lambda: Now)
    return made


@pytest.mark.parametrize("query", QUERIES)
@pytest.mark.parametrize("workers", [1, 3])
def test_here(fermat, directory, monkeypatch, query, workers):
    table, server = opened(fermat, directory)
    plan = et.Plan(query, SCHEMA)
    made, seen = actors_here(monkeypatch, server, workers), []
    result = table.run(
        server, plan, ray=True, progress=lambda done, blocks: seen.append((done, blocks))
    )
    assert answers(fermat, plan)(result)
    assert answers(fermat, plan)(table.run(server, plan))
    assert seen[-1] == (5, 5) and len(seen) == min(5, 4 * workers)
    calls = [name for one in made for name, _ in one.calls]
    parts = min(5, 4 * workers)
    assert [calls.count(name) for name in ("part", "joined", "result")] == [parts, parts - 1, 1]
    if workers == 3:
        assert all(any(name == "part" for name, _ in one.calls) for one in made)


def test_encrypted_constants_here(fermat, directory, monkeypatch):
    table, server = opened(fermat, directory)
    plan = et.Plan("select ward, count(*) as n from t where cost > :cost group by ward", SCHEMA)
    cost = decimal.Decimal("560.00")
    constants, others = (plan.bind(fermat.client, cost=cost) for _ in range(2))
    expected = plan.answer(DATA, arrow=False, cost=cost)
    assert sum(expected["n"]) == sum(x > cost for x in DATA["cost"]) > 0
    made = actors_here(monkeypatch, server, 2)
    result = table.run(server, plan, constants=constants, ray=True)
    assert [name for one in made for name, _ in one.calls].count("part") == 5
    assert result.read(fermat.client, plan=plan, constants=constants, arrow=False) == expected
    with pytest.raises(everlevel.TableError) as caught:
        result.read(fermat.client, plan=plan, constants=others, arrow=False)
    assert caught.value.code == "table.other-result"


def test_what_is_refused(fermat, directory, tmp_path):
    table, server = opened(fermat, directory)
    memory = et.encrypt(fermat.client, {k: v[:9] for k, v in DATA.items()}, SCHEMA)
    with pytest.raises(everlevel.ClusterError) as caught:
        memory.run(server, QUERIES[0], ray=True)
    assert caught.value.code == "cluster.table"
    actor = object.__new__(_table_parts.Blocks)
    actor._server = server
    plan = et.Plan(QUERIES[0], SCHEMA)
    with pytest.raises(everlevel.ClusterError) as caught:
        actor._begin((str(directory), memory.id, plan.to_json(), None))
    assert caught.value.code == "cluster.table"
    actor._begin((str(directory), table.id, plan.to_json(), None))
    first, third = actor.part(0, 1)[0], actor.part(2, 3)[0]
    with pytest.raises(everlevel.TableError) as caught:
        actor.joined(first, third)
    assert caught.value.code == "table.other-result"
    with pytest.raises(everlevel.TableError) as caught:
        actor.result(first)
    assert caught.value.code == "table.other-result"


class Dying(_table_parts.Blocks):
    """The process that is the first to begin the third part ends without a word."""

    def part(self, first, end):
        there = os.path.dirname(self._path)
        handle = os.open(os.path.join(there, "log"), os.O_WRONLY | os.O_APPEND | os.O_CREAT)
        os.write(handle, b"%d\n" % first)
        os.close(handle)
        if first == DEADLY:
            # One process alone makes this file, whatever the order of what they do.
            mark = os.path.join(there, "died")
            try:
                os.close(os.open(mark, os.O_WRONLY | os.O_CREAT | os.O_EXCL))
            except FileExistsError:
                pass
            else:
                os.kill(os.getpid(), signal.SIGKILL)
        return super().part(first, end)

    def _begin(self, given):
        self._path = given[0]
        super()._begin(given)


def test_on_ray_with_a_death(fermat, ray, directory, monkeypatch):
    # Actors have this file's classes by value: they import nothing of the tests.
    from ray import cloudpickle

    cloudpickle.register_pickle_by_value(__import__(__name__))
    table, server = opened(fermat, directory)
    plan = et.Plan(QUERIES[0], SCHEMA)
    monkeypatch.setattr(_table_parts, "Blocks", Dying)
    seen = []
    result = table.run(
        server, plan, ray=True, workers=2, progress=lambda done, blocks: seen.append(done)
    )
    assert answers(fermat, plan)(result)
    assert seen[-1] == 5
    assert (directory.parent / "died").exists(), "no process died"
    # What else the dead one had computed may be begun again, too.
    log = [int(first) for first in open(directory.parent / "log")]
    assert log.count(DEADLY) >= 2 and set(log) == set(range(5))


def test_rows_on_ray(fermat, ray, directory):
    table, server = opened(fermat, directory)
    plan = et.Plan(QUERIES[1], SCHEMA)
    assert answers(fermat, plan)(table.run(server, plan, ray=True, workers=2))
    with pytest.raises(everlevel.ClusterError) as caught:
        table.run(fermat.server, plan, ray=True)
    assert caught.value.code == "python.keys"
