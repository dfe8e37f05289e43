"""Programs on typed integers as people write them, against the same lines on NumPy's arrays."""

import os

import numpy as np
import pytest
from conftest import Party

import everlevel
from everlevel import Table


@pytest.fixture(scope="module")
def party(request):
    """The toy set, or another one: `.ci/nightly` names one of 128 bits."""
    named = os.environ.get("EVERLEVEL_PARAMS")
    return Party(named) if named else request.getfixturevalue("fermat")


def on(party, **columns):
    """Encrypted columns, from (values, dtype or bounds)."""
    for values, kind in columns.values():
        how = {"bounds": kind} if isinstance(kind, tuple) else {"dtype": kind}
        yield party.server.load(party.client.encrypt(values, **how))


@pytest.fixture(scope="module")
def people():
    rng = np.random.default_rng(7)
    return {
        "age": rng.integers(18, 90, 200),
        "balance": rng.integers(0, 65_536, 200),
        "income": rng.integers(0, 120_000, 200),
        "limit": rng.integers(0, 10**6, 200),
    }


def same(party, x, expected):
    np.testing.assert_array_equal(party.client.decrypt(x), expected)


def test_filter_and_count(party, people):
    def program(age):
        return np.count_nonzero((age >= 18) & (age < 65))

    (age,) = on(party, age=(people["age"], np.uint8))
    assert party.client.decrypt(program(age)) == program(people["age"])


def test_sums_cannot_overflow(party):
    rng = np.random.default_rng(4)
    hours, rate = rng.integers(0, 256, 3_000), rng.integers(0, 65_536, 3_000)
    h, r = on(party, hours=(hours, np.uint8), rate=(rate, np.uint16))
    total = (h * r).sum()
    assert party.client.decrypt(total) == (hours * rate).sum() > 1 << 32
    assert total.interval[1] >= 3_000 * 255 * 65_535


def test_a_table(party):
    sbox = np.random.default_rng(1).permutation(256)
    values = np.arange(256)
    (x,) = on(party, x=(values, np.uint8))
    same(party, Table(sbox)[x], sbox[values])


def test_select(party, people):
    def program(balance):
        return np.where(balance < 1000, 12, np.where(balance < 50_000, 5, 0))

    (balance,) = on(party, balance=(people["balance"], np.uint16))
    same(party, program(balance), program(people["balance"]))


def test_order(party):
    scores = np.random.default_rng(8).permutation(1_000)[:15]
    (x,) = on(party, scores=(scores, (0, 1_000)))
    same(party, np.sort(x), np.sort(scores))
    same(party, np.argmax(x), np.argmax(scores))
    same(party, np.median(x), np.median(scores))


def test_a_layer(party):
    """A column for each pixel, a neuron for each row of weights; the largest by comparisons."""

    def layer(pixels):
        w1, b1, w2 = np.array([[1, -2, 3], [-1, 2, 1]]), [5, -7], np.array([[2, -1], [-1, 3]])
        hidden = [
            np.maximum(sum(int(w) * x for w, x in zip(row, pixels)) + b, 0) >> 6
            for row, b in zip(w1, b1)
        ]
        first, second = (sum(int(w) * h for w, h in zip(row, hidden)) for row in w2)
        return second > first

    images = np.random.default_rng(6).integers(0, 256, (3, 50))
    pixels = list(on(party, **{f"p{i}": (image, np.uint8) for i, image in enumerate(images)}))
    same(party, layer(pixels), layer(list(images)))


def test_wrapping_on_purpose(party):
    def fnv(h, columns):
        for c in columns:
            h = (h ^ c) * np.uint32(16777619)
        return h

    rng = np.random.default_rng(2)
    seed, letters = (
        np.full(50, 2166136261, np.uint32),
        [rng.integers(0, 256, 50).astype(np.uint8) for _ in range(1)],
    )
    encrypted = [party.server.load(party.client.encrypt(c)) for c in letters]
    same(
        party,
        fnv(party.server.load(party.client.encrypt(seed)).wrapping(), encrypted),
        fnv(seed, letters),
    )


def test_brackets(party, people):
    edges, rates = [10_000, 40_000, 90_000], [0, 10, 22, 35]
    (income,) = on(party, income=(people["income"], (0, 120_000)))
    rate = Table(rates)[np.searchsorted(edges, income)]
    same(party, rate, np.array(rates)[np.searchsorted(edges, people["income"])])


def test_shares(party):
    rng = np.random.default_rng(5)
    whole = rng.integers(0, 200, 40)
    part = rng.integers(0, whole + 1)
    p, w = on(party, part=(part, (0, 200)), whole=(whole, (0, 200)))
    expected = np.where(whole == 0, 0, part * 100 // np.maximum(whole, 1))
    same(party, p * 100 // w, expected)


def test_remainders(party, people):
    (ids,) = on(party, ids=(people["limit"], np.uint32))
    same(party, ids % 2 == 1, people["limit"] % 2 == 1)


@everlevel.program
def risk(age: everlevel.uint8, income: everlevel.uint32, limit: everlevel.ranged(0, 10**6)):
    return np.where((age < 25) & (income < 30_000), limit // 2, limit)


def test_planned_ahead(party, people):
    arguments = {name: people[name] for name in ("age", "income", "limit")}
    plan = risk.plan(rows=200, params=party.params)
    client = everlevel.Client(plan.params)
    server = plan.server(client)
    found = plan.run(server, plan.encrypt(client, **arguments))
    same_as = risk(**arguments)
    np.testing.assert_array_equal(client.decrypt(found), same_as)
    assert server.bootstraps == plan.bootstraps and not server.can_bootstrap
    assert plan.key_bytes < everlevel.plan_bytes(party.params)[1] / 2
    assert found.interval == plan.intervals[0]
    text = str(plan)
    for part in (f"risk on {plan.params.name}, 200 rows", "products", "bits left", "select"):
        assert part in text
    assert [stage.name for stage in plan.stages] == ["lt", "lt", "and", "div_public", "select"]
