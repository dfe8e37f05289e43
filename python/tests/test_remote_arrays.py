"""Arrays and tables of a service, lazily: against NumPy, and against a server that is here."""

import pickle

import numpy as np
import pytest
from test_remote import refusal

import everlevel
from everlevel import tables as et

pytest.importorskip("blake3", reason="blake3 is not installed: pip install 'everlevel[remote]'")

ROWS = 60


class Job:
    """What was sent while something was done."""

    def __init__(self, remote):
        self.remote, self.before = remote, (remote.usage().objects, len(remote.jobs()))

    def seen(self):
        """Objects and jobs more than before; each job is an object of the quota, too."""
        jobs = len(self.remote.jobs()) - self.before[1]
        return self.remote.usage().objects - self.before[0], jobs


@pytest.fixture(scope="module")
def values():
    rng = np.random.default_rng(7)
    return {
        "x": rng.integers(0, 256, ROWS).astype(np.uint8),
        "y": rng.integers(-100, 100, ROWS).astype(np.int8),
        "b": rng.integers(0, 2, ROWS).astype(bool),
        "few": rng.integers(0, 5, ROWS).astype(np.uint8),
    }


@pytest.fixture(scope="module")
def encrypted(fermat, values):
    found = {name: fermat.client.encrypt(x) for name, x in values.items()}
    found["few"] = fermat.client.encrypt(values["few"], bounds=(0, 4))
    return found


#: Each operation that arrays have, as it is written with NumPy.
OPERATIONS = {
    "arithmetic": lambda x, y, b, few: 3 * x - 2 * y + 7 - few,
    "negative": lambda x, y, b, few: abs(-y) + (5 - x),
    "product": lambda x, y, b, few: x * y,
    "square": lambda x, y, b, few: y * y + few**3,
    "selected": lambda x, y, b, few: x * b,
    "quotient": lambda x, y, b, few: x // 7 + y % 5,
    "quotients": lambda x, y, b, few: x // (few + 1),
    "remainders": lambda x, y, b, few: 100 % (few + 1),
    "shifts": lambda x, y, b, few: (x << 3) + (x >> 2) + (few << few) + (x >> few),
    "compared": lambda x, y, b, few: (x > 100) & (y <= x) | ~b,
    "equal": lambda x, y, b, few: (few == 3) ^ (few != y),
    "bits": lambda x, y, b, few: (x & 0x5A) + (x | 15) + (x ^ few),
    "where": lambda x, y, b, few: np.where(x >= y, x, -y),
    "where_public": lambda x, y, b, few: np.where(b, 9, few),
    "extremes": lambda x, y, b, few: np.maximum(x, y) - np.minimum(few, 2),
    "clip": lambda x, y, b, few: np.clip(y, -20, 30) + x.clip(5, 200),
    "sign": lambda x, y, b, few: np.sign(y),
    "astype": lambda x, y, b, few: few.astype(bool),
    "isin": lambda x, y, b, few: np.isin(x, [3, 50, 77, 200]),
    "searchsorted": lambda x, y, b, few: np.searchsorted([0, 3, 50, 50, 200], x, side="right"),
    "digitize": lambda x, y, b, few: np.digitize(x, [3, 50, 200]),
    "table": lambda x, y, b, few: everlevel.Table([9, -3, 0, 70000, 1])[few],
    "sum": lambda x, y, b, few: (x * 2).sum(),
    "count": lambda x, y, b, few: np.count_nonzero(x > 99),
    "dot": lambda x, y, b, few: x.dot(np.arange(ROWS) - 20),
    "scalar product": lambda x, y, b, few: x @ y,
    "prefix": lambda x, y, b, few: np.cumsum(few),
    "greatest": lambda x, y, b, few: few.max(),
    "places": lambda x, y, b, few: few.argmin(),
    "any": lambda x, y, b, few: (few == 7).any(),
    "all": lambda x, y, b, few: (few < 5).all(),
}


@pytest.mark.parametrize("name", OPERATIONS)
def test_operations_are_those_of_numpy(remote, fermat, values, encrypted, name):
    function = OPERATIONS[name]
    wide = {key: x if x.dtype == bool else x.astype(np.int64) for key, x in values.items()}
    lazy = {key: remote.array(x) for key, x in encrypted.items()}
    job = Job(remote)
    found = function(**lazy)
    assert job.seen() == (0, 0)
    there = found.compute()
    assert job.seen()[1] == 1
    here = function(**{key: fermat.server.load(x) for key, x in encrypted.items()})
    expected = function(**wide)
    assert np.array_equal(fermat.client.decrypt(there), expected)
    # What was planned is what was computed, there and here.
    assert found.shape == there.shape == here.shape == np.shape(expected)
    assert found.interval == here.interval and found.dtype == here.dtype == there.dtype
    assert found.interval[0] <= there.interval[0] <= there.interval[1] <= found.interval[1]


def test_what_orders_entries(remote, fermat, values, encrypted):
    x, wide = remote.array(encrypted["x"]), values["x"].astype(np.int64)
    few = remote.array(encrypted["few"])
    asked = {
        "argsort": (x.argsort(take=3), np.argsort(wide, kind="stable")[:3]),
        "down": (x.argsort(take=3, descending=True), np.argsort(-wide, kind="stable")[:3]),
        "nlargest": (x.nlargest(2), np.sort(wide)[::-1][:2]),
        "sort": (np.sort(few), np.sort(values["few"])),
        "nth": (np.quantile(x, 0.25, method="lower"), np.sort(wide)[(ROWS - 1) // 4]),
        "mean": (x.mean(), wide.sum() // ROWS),
    }
    found = remote.compute(*(lazy for lazy, _ in asked.values()))
    for (lazy, expected), there in zip(asked.values(), found):
        assert np.array_equal(fermat.client.decrypt(there), expected) and type(there) is type(lazy)
    totals = remote.compute(*np.bincount(few), *np.histogram(few, bins=[0, 1, 4])[0])
    counts = np.bincount(values["few"], minlength=5)
    assert [fermat.client.decrypt(total) for total in totals] == [
        *counts,
        counts[0],
        counts[1:].sum(),
    ]


def test_one_job_for_all_and_none_before(remote, fermat, values, encrypted):
    x, y = (remote.array(encrypted[name]) for name in "xy")
    assert x.server is not None and x.params.name == fermat.params.name
    assert x.key_id == encrypted["x"].key_id and (x + y).key_id == x.key_id
    far = np.where(x > y, x - y, y - x)
    cost = far.estimate()
    assert cost.products > 0 and cost.seconds > 0
    job = Job(remote)
    near, total = remote.compute(far // 2, far.sum())
    assert job.seen()[1] == 1
    wide = abs(values["x"].astype(int) - values["y"])
    assert (fermat.client.decrypt(near) == wide // 2).all()
    assert fermat.client.decrypt(total) == wide.sum()
    # The secret key of the client asks for what it decrypts.
    assert (fermat.client.decrypt(x + 1) == values["x"].astype(int) + 1).all()
    assert job.seen()[1] == 2
    # What is here is itself.
    assert encrypted["x"].compute() is encrypted["x"]
    # One array twice, an input alone, and an integer alone.
    twice = remote.compute(total_of := far.sum(), total_of)
    assert [fermat.client.decrypt(x) for x in twice] == [wide.sum()] * 2
    assert (fermat.client.decrypt(remote.compute(x)[0]) == values["x"]).all()
    assert (fermat.client.decrypt(x * 0 + 5) == 5).all()


def test_long_arrays_and_rows(remote, fermat):
    rng = np.random.default_rng(3)
    debts = rng.integers(0, 200, (50, 100))
    debt = remote.array(fermat.client.encrypt(debts, dtype=np.uint8))
    assert debt.shape == (50, 100) and debt.ciphertexts
    late, total = remote.compute(np.where(debt > 150, debt * 2, 0), debt.sum())
    assert (fermat.client.decrypt(late) == np.where(debts > 150, debts * 2, 0)).all()
    assert fermat.client.decrypt(total) == debts.sum()
    with pytest.raises(everlevel.ShapeError):
        debt.ravel().max()
    # A list of weights would be cut.
    with pytest.raises(everlevel.NotHomomorphicError):
        debt.ravel().dot(np.ones(5000, dtype=int))
    # Entries that are the same in the first ciphertext only are not taken for the same everywhere.
    late = np.zeros((50, 100), dtype=int)
    late[49, 99] = 1
    for operation in (lambda: debt + late, lambda: debt * late, lambda: late // debt):
        with pytest.raises(everlevel.NotHomomorphicError):
            operation()
    several = rng.integers(0, 100, (3, 40))
    rows = remote.array(fermat.client.encrypt(several, dtype=np.uint8, rows=True))
    job = Job(remote)
    weights = np.array([[2], [1], [5]])
    sums, top, last, mixed = remote.compute(
        (rows * weights).sum(axis=0), rows.max(axis=0), rows[2] - rows[0], weights[:, 0] @ rows
    )
    assert job.seen() == (1 + 3 + 4, 1)
    assert (fermat.client.decrypt(sums) == (several * weights).sum(axis=0)).all()
    assert (fermat.client.decrypt(top) == several.max(axis=0)).all()
    assert (fermat.client.decrypt(last) == several[2] - several[0]).all()
    assert (fermat.client.decrypt(mixed) == weights[:, 0] @ several).all()
    # Public rows, with which more is computed than they are in the program.
    three = np.full((1, 40), 3)
    (found,) = remote.compute(rows[:1] - (np.concatenate([rows, three]) + 1))
    expected = several[:1] - (np.concatenate([several, three]) + 1)
    assert (fermat.client.decrypt(found) == expected).all()
    (again,) = remote.compute(rows + 1)
    assert again.shape == (3, 40) and (fermat.client.decrypt(again) == several + 1).all()


def test_public_rows_are_operands_as_a_whole(remote, fermat, values, encrypted):
    x, wide = remote.array(encrypted["x"]), values["x"].astype(np.int64)
    rows, expected = ((np.stack([a, np.full(ROWS, 3)]) + 1) * 2 for a in (x, wide))
    # The entries of the second row are in the text of the program: (3 + 1) * 2.
    found = remote.compute(rows, x * rows, x - rows)
    for there, right in zip(found, (expected, wide * expected, wide - expected)):
        assert np.array_equal(fermat.client.decrypt(there), right)


def test_an_index_is_sent_and_read(remote, fermat, values):
    wide, squares = values["x"].astype(np.int64), np.arange(256) ** 2
    plain, indexed = (fermat.client.encrypt(values["x"], index=index) for index in (False, True))
    x = remote.array(indexed)
    assert x.has_index and "with an index" in repr(x) and x.ciphertexts == 2 + 30
    digits = x.without_index()
    assert not digits.has_index and digits.ciphertexts == 2
    read, left = ((one >= 18).estimate().products for one in (x, digits))
    assert read < left == (remote.array(plain) >= 18).estimate().products
    found = remote.compute(x >= 18, everlevel.Table(squares)[x], digits >= 18, x + 1)
    for there, expected in zip(found, (wide >= 18, squares[wide], wide >= 18, wide + 1)):
        assert np.array_equal(fermat.client.decrypt(there), expected)
    # By its id, and by its name in a program.
    again = remote.array(remote.push(indexed), insecure_research=True)
    assert again.has_index
    assert np.array_equal(fermat.client.decrypt((again < 100).compute()), wide < 100)
    both = remote.run("y = x >= 18; z = without_index(x) >= 18", x=indexed)
    for name in "yz":
        assert np.array_equal(fermat.client.decrypt(both[name]), wide >= 18)


def test_wrapping_is_that_of_numpy(remote, fermat, values, encrypted):
    with np.errstate(over="ignore"):
        expected = values["x"] * values["x"] + np.uint8(200)
    x = remote.array(encrypted["x"]).wrapping()
    found = (x * x + 200).compute()
    assert found.dtype == np.uint8 and (fermat.client.decrypt(found) == expected).all()


def test_what_the_service_has(remote, fermat, values, encrypted, tmp_path):
    there = remote.push(encrypted["x"])
    x = remote.array(there, insecure_research=True)
    assert x.interval == (0, 255) and x.shape == (ROWS,)
    job = Job(remote)
    found = (x + remote.array(encrypted["y"])).compute()
    assert (fermat.client.decrypt(found) == values["x"].astype(int) + values["y"]).all()
    assert job.seen()[1] == 1
    # Columns of one object, by their names.
    data = everlevel.integers_to_bytes({"x": encrypted["x"], "e_few": encrypted["few"]})
    (tmp_path / "both.ct").write_bytes(data)
    both = remote.array(remote.push(tmp_path / "both.ct"), insecure_research=True)
    assert sorted(both) == ["e_few", "x"]
    found = (both["x"] * both["e_few"]).compute()
    assert (fermat.client.decrypt(found) == values["x"].astype(int) * values["few"]).all()
    # Names that a program cannot have, and one that means something else in it.
    path = tmp_path / "named.ct"
    path.write_bytes(everlevel.integers_to_bytes({"_x": encrypted["x"], "few": encrypted["few"]}))
    there = remote.push(path)
    refusal(everlevel.ProgramError, "python.input", remote.array, there, insecure_research=True)
    path = tmp_path / "others.ct"
    path.write_bytes(everlevel.integers_to_bytes({"sum": encrypted["x"], "ex1": encrypted["few"]}))
    named = remote.array(remote.push(path), insecure_research=True)
    (found,) = remote.compute(named["sum"] - named["ex1"] + remote.array(encrypted["few"]))
    assert (fermat.client.decrypt(found) == values["x"]).all()
    # Results of a job, without being sent again.
    before = {found["id"] for found in remote.objects() if found["computed"]}
    remote.run("y = x * x", x=encrypted["x"])
    (there,) = {found["id"] for found in remote.objects() if found["computed"]} - before
    squares = remote.array(there, insecure_research=True)
    (found,) = remote.compute(squares - 1)
    assert (fermat.client.decrypt(found) == values["x"].astype(int) ** 2 - 1).all()


def twice(x: everlevel.uint8):
    return x + x


def test_what_cannot_be_done_is_refused_before_anything_is_sent(
    service,
    remote,
    fermat,
    encrypted,
):
    error = everlevel
    x, few = remote.array(encrypted["x"]), remote.array(encrypted["few"])
    job = Job(remote)
    refusal(error.DtypeError, "integers.value", lambda: x * 0.5)
    refusal(error.NotHomomorphicError, "python.not-homomorphic", lambda: x / 2)
    refusal(error.NotHomomorphicError, "python.not-homomorphic", bool, x > 1)
    refusal(error.NotHomomorphicError, "python.not-homomorphic", x.normalized)
    refusal(error.NotHomomorphicError, "python.not-homomorphic", lambda: x + np.arange(ROWS))
    refusal(error.NotHomomorphicError, "python.not-homomorphic", np.average, x, weights=[2] * ROWS)
    pairs = x.reshape(-1, 2)
    for function, name in [
        (lambda: pairs.max(axis=-1), "max"),
        (lambda: pairs.argmin(axis=-1), "argmin"),
        (lambda: pairs.sum(axis=-1), "sums"),
        (lambda: np.quantile(pairs, 0.5, axis=-1, method="lower"), "a quantile"),
        (lambda: np.sort(pairs), "sorting"),
        (lambda: np.argsort(pairs), "places in order"),
    ]:
        with pytest.raises(error.NotHomomorphicError, match=f"{name} along the last axis"):
            function()
    refusal(error.RangeError, "integers.table", lambda: error.Table([1, 2])[x])
    refusal(error.RangeError, "integers.range", lambda: x**17)
    refusal(error.RangeError, "integers.range", lambda: x + (1 << 64))
    refusal(error.RangeError, "integers.range", lambda: x.astype(bool).astype(np.uint8) << 65)
    refusal(error.ShapeError, "python.shape", lambda: x + few.max())
    refusal(error.RangeError, "python.take", x.nlargest, 0)
    # Bytes, pickles and servers have what is computed.
    refusal(error.ParameterError, "python.remote", x.to_bytes)
    refusal(error.ParameterError, "python.remote", pickle.dumps, x)
    refusal(error.ParameterError, "python.remote", fermat.server.load, x)
    refusal(error.ParameterError, "python.remote", remote.push, x)
    refusal(error.ParameterError, "python.remote", encrypted["x"].estimate)
    refusal(error.DtypeError, "python.input", remote.array, x)
    refusal(error.DtypeError, "python.input", remote.array, [1, 2])
    refusal(error.DtypeError, "python.input", remote.array, fermat.client.encrypt_modular([1]))
    computed = fermat.server.load(encrypted["x"]) * 3
    refusal(error.FormatError, "wire.malformed", remote.array, computed)
    # Another key, another connection, nothing.
    other = remote.array(error.Client(fermat.params).encrypt([1] * ROWS, dtype=np.uint8))
    refusal(error.WrongKeyError, "scheme.wrong-key", lambda: x + other)
    url, token = service
    with error.Remote(url, token("acme")) as second:
        theirs = second.array(encrypted["x"])
        refusal(error.OtherParametersError, "python.other-server", lambda: x + theirs)
        refusal(error.OtherParametersError, "python.other-server", remote.compute, x, theirs)
        refusal(error.OtherParametersError, "python.other-server", remote.compute, theirs)
        refusal(error.KeyMissingError, "python.keys", theirs.compute)
    refusal(error.ShapeError, "python.empty", remote.compute)
    refusal(error.OtherParametersError, "python.other-server", remote.compute, encrypted["x"])
    assert job.seen() == (0, 0)
    # The planner knows what the server keys can: without bootstrapping levels end.
    leveled = error.Client(fermat.params)
    with error.Remote(url, token("leveled")) as remote:
        server = everlevel.program(twice).plan(2, params=fermat.params).server(leveled)
        assert not server.can_bootstrap
        remote.push(server)
        x = remote.array(leveled.encrypt([3, 4], dtype=np.uint8))
        refusal(error.NoiseError, "integers.depth", lambda: x * x // 256)
        assert remote.usage().objects == 1


def test_a_service_that_answers_something_else(remote, fermat, encrypted, monkeypatch):
    few = remote.array(encrypted["few"])
    wide = fermat.client.encrypt(np.full(ROWS, 200, dtype=np.uint8))
    short = fermat.client.encrypt([1, 2], bounds=(0, 4))
    total = fermat.server.load(encrypted["few"]).sum()
    for answer, kind in (
        (wide, everlevel.ServiceError),
        (short, everlevel.ServiceError),
        (total, everlevel.FormatError),
    ):
        data = answer.to_bytes()
        monkeypatch.setattr(everlevel.Remote, "fetch", lambda *_, data=data: data)
        with pytest.raises(kind):
            (few + 0).compute()


@pytest.fixture(scope="module")
def costs(fermat):
    schema = et.Schema(
        {
            "columns": [
                {"name": "cost", "type": "integer", "low": 0, "high": 200},
                {"name": "ward", "type": "category", "values": ["a", "b"]},
            ]
        }
    )
    data = {"cost": [10, 150, 90, 60], "ward": ["a", "b", "a", "b"]}
    return et.encrypt(fermat.client, data, schema)


def test_a_table_is_asked_lazily(remote, fermat, costs, tmp_path):
    job = Job(remote)
    t = remote.table(costs)
    asked = t.filter(t.cost > 50).group_by("ward").agg(n=et.count(), cost=t.cost.sum())
    assert isinstance(asked, type(t)) and asked.schema == costs.schema
    with pytest.raises(everlevel.TableError):
        t.filter(t.nothing > 50)
    with pytest.raises(everlevel.Error):
        t.agg(x=t.ward.sum()).collect()
    assert job.seen() == (0, 0)
    assert asked.estimate().products > 0
    found = asked.collect()
    assert job.seen()[1] == 1
    read = found.read(fermat.client, plan=asked.plan(), arrow=False)
    assert read == {"ward": ["a", "b"], "n": [1, 2], "cost": [90, 210]}
    # By its id, whose schema the service tells, and from its directory.
    costs.save(tmp_path / "costs")
    there = remote.push(tmp_path / "costs")
    for source in (there, tmp_path / "costs"):
        t = remote.table(source)
        most = t.agg(most=t.cost.sum(where=t.cost >= et.parameter("least")))
        plan = most.plan()
        bound = plan.bind(fermat.client, least=90)
        answer = most.collect(bound).read(fermat.client, plan=plan, constants=bound, arrow=False)
        assert answer == {"most": [240]}
    assert t.agg(n=et.count()).read(fermat.client, arrow=False) == {"n": [4]}
