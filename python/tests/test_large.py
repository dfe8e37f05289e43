"""Arrays of several ciphertexts: the same results as NumPy's, whatever lies where."""

import pickle

import numpy as np
import pytest

import everlevel
from everlevel import EncryptedArray, cluster

S = 128  # slots of the toy set


def check(party, x, expected):
    np.testing.assert_array_equal(
        party.client.decrypt(x, signed=False, wrapping=True), np.asarray(expected) % party.t
    )


@pytest.mark.parametrize("n", [S + 1, 2 * S, 300])
def test_arithmetic(toy, n):
    a, b, c = toy.random(n), toy.random(n), toy.random(n)
    x, y = toy.load(a), toy.load(b)
    assert (
        x.ciphertexts == -(-n // S) and x.size == n and f"in {x.ciphertexts} ciphertexts" in repr(x)
    )
    check(toy, x + y, a + b)
    check(toy, x - y, a - b)
    check(toy, 3 * x * (1 - y), 3 * a * (1 - b))
    check(toy, x**5, [pow(int(v), 5, toy.t) for v in a])
    check(toy, c - x, c - a)
    check(toy, x * c, a * c)
    check(toy, -x, -a)
    check(toy, x.sum(), a.sum())
    check(toy, (1 - x).sum(), (1 - a).sum())
    check(toy, x * (y - 3).sum(), a * (b - 3).sum())
    check(toy, x[n - 1].broadcast() * x, a[n - 1] * a)
    check(toy, x[0].broadcast() * c, a[0] * c)
    check(toy, x[0].broadcast() + c, a[0] + c)
    with pytest.raises(everlevel.ShapeError):
        x + toy.load(toy.random(n + 1))
    with pytest.raises(everlevel.ShapeError):
        x + np.zeros(S, int)


def test_shapes_and_broadcasting(toy):
    a = toy.random(20, 15)
    x = toy.load(a)
    check(
        toy, x * np.arange(15) + np.arange(20)[:, None], a * np.arange(15) + np.arange(20)[:, None]
    )
    check(toy, x.reshape(10, 30)[3:5], a.reshape(10, 30)[3:5])
    assert x.explain().splitlines()[-1].startswith("300 entries in 3 ciphertexts of 128 slots")
    assert x.capacity_bits == min(EncryptedArray._make([c], (S,)).capacity_bits for c in x._xs)


@pytest.mark.parametrize(
    "key",
    [
        np.s_[:5],
        np.s_[:S],
        np.s_[S:],
        np.s_[S : 2 * S],
        np.s_[100:290],
        np.s_[299],
        np.s_[-3:],
        np.s_[::2],
        np.s_[5:299:7],
        np.s_[::-1],
        np.s_[290:3:-3],
        np.s_[[4, 2, 299, 2]],
    ],
    ids=str,
)
def test_parts(toy, key):
    a = toy.random(300)
    check(toy, (toy.load(a) + 1)[key], (a + 1)[key])


def test_parts_of_several_axes(toy):
    a = toy.random(5, 6, 7)
    x = toy.load(a)
    for key in (
        np.s_[1, 2, 3],
        np.s_[:, 2],
        np.s_[..., 0],
        np.s_[::2, 1:, ::-3],
        np.s_[:, None, 4, 6],
        np.s_[a[:, 0, 0] % 2 == a[0, 0, 0] % 2],
    ):
        check(toy, x[key], a[key])
    assert [toy.client.decrypt(row).shape for row in x[:2]] == [(6, 7)] * 2


def test_what_is_free(toy):
    """No rotation, no level, no server even for the first entries."""
    x = toy.client.encrypt_modular(toy.random(300))
    for y in (x[:200], x[:5], toy.server.load(x)[S:], toy.server.load(x)[S : S + 3]):
        assert y.level == x.level and y.noise_bound_bits == x.noise_bound_bits
    with pytest.raises(everlevel.NoServerError):
        x[3]


def test_rotations_and_routes_take_their_levels(toy):
    a = toy.random(300)
    x = toy.load(a)
    for k in (1, -7, 150, 299):
        check(toy, x.rotate(k), np.roll(a, -k))
    from everlevel._moves import FEW, route

    # Steps: 300 distances in one move, or a few digits.
    source = np.arange(0, 300, 2)
    assert len(route(source, False)) == 2
    ways = route(source, True)
    assert len(ways) == 5 and all(len(np.unique(b - a)) <= 4 for a, b in zip(ways, ways[1:]))
    assert all(len(np.unique(places)) == len(places) for places in ways), "no two entries meet"
    backwards = route(np.arange(299, -1, -1), True)
    assert len(backwards) == 7 and all(
        len(np.unique(b - a)) <= 4 for a, b in zip(backwards, backwards[1:])
    )
    assert len(route(np.arange(5, 300), True)) == 2 and FEW >= 4


@pytest.mark.parametrize("shape", [(3, 4), (8, 8), (5, 25), (2, S), (30, 10), (3, 4, 25)], ids=str)
def test_sums_along_axes(toy, shape):
    a = toy.random(*shape)
    x = toy.load(a) + 1
    for axis in range(-1, len(shape)):
        check(toy, x.sum(axis=axis), (a + 1).sum(axis=axis))
    check(toy, x.sum(axis=0).sum(axis=0), (a + 1).sum(axis=0).sum(axis=0))
    check(toy, x.sum(axis=(-1,)), (a + 1).sum(axis=-1))
    for axis in (len(shape), -len(shape) - 1, True, False, np.True_, 0.0, (0, 0), "0"):
        with pytest.raises(everlevel.ShapeError) as caught:
            x.sum(axis=axis)
        assert caught.value.code == "python.axis"
    check(toy, x.sum(axis=np.int8(1)), (a + 1).sum(axis=1))


@pytest.mark.parametrize("axis", [1, -2, True, np.False_, 0.0, (1,)])
def test_axes_that_vectors_do_not_have(toy, axis):
    x = toy.load([1, 2, 3])
    with pytest.raises(everlevel.ShapeError) as caught:
        np.sum(x, axis=axis)
    assert caught.value.code == "python.axis"
    for known in (-1, (0,)):
        check(toy, x.sum(axis=known), 6)


@pytest.mark.parametrize("shape", [(1, 200), (200, 1), (70, 70), (150, 140), (3, 300)], ids=str)
def test_matrices_by_blocks(toy, shape):
    matrix = toy.rng.integers(-5, 6, shape)
    matrix[:, 64:128] = 0
    a = toy.random(shape[1])
    x = toy.load(a) + 1
    check(toy, matrix @ x, matrix @ (a + 1))
    check(toy, (matrix @ x).sum(), (matrix @ (a + 1)).sum())
    check(toy, (0 * matrix) @ x, np.zeros(shape[0], int))


def test_comparisons_digits_refreshes(toy):
    a = np.arange(-64, 86)
    x = toy.load(a % 100 - 50, bounds=(-50, 49))
    check(toy, x.less_than(7), a % 100 - 50 < 7)
    check(toy, x.equals(7).sum(), (a % 100 - 50 == 7).sum())
    seen = []
    fresh = x.refresh(progress=lambda done, total: seen.append((done, total)))
    check(toy, fresh, a % 100 - 50)
    assert seen[-1][0] == seen[-1][1] and [done for done, _ in seen] == list(
        range(1, len(seen) + 1)
    )


def test_bytes_and_pickles(toy, tmp_path):
    a = toy.random(2, 150)
    x = toy.client.encrypt_modular(a)
    back = EncryptedArray.from_bytes(x.to_bytes(), insecure_research=True)
    assert back.shape == a.shape and back.fingerprint == x.fingerprint != x[:1].fingerprint
    np.testing.assert_array_equal(toy.client.decrypt(back), a)
    np.testing.assert_array_equal(toy.client.decrypt(x.to_bytes()), a)
    y = toy.server.load(pickle.loads(pickle.dumps(x))) * 2 + 1
    y.save(tmp_path / "y.ct")
    check(toy, toy.server.read(tmp_path / "y.ct"), 2 * a + 1)
    check(toy, toy.server.read(tmp_path / "y.ct").sum(), (2 * a + 1).sum())
    np.testing.assert_array_equal(toy.client.decrypt(y.compact()), (2 * a + 1) % toy.t)
    np.testing.assert_array_equal(toy.client.decrypt_for_sharing(x), a)
    assert toy.client.decrypt(y, all_slots=True).shape == (3 * S,)
    public = toy.client.public_key().encrypt_modular(a)
    np.testing.assert_array_equal(toy.client.decrypt(public), a)
    # Shapes that do not go with the number of ciphertexts, and what is no array.
    for metadata in (
        {"shape": "128"},
        {"shape": "385"},
        {"shape": "5"},
        {"values": "7"},
        {"content": "aes-round-keys"},
    ):
        data = everlevel._everlevel.ciphertexts_to_bytes(list(x._xs), metadata)
        with pytest.raises(everlevel.FormatError):
            toy.server.read(data)
    plain = everlevel._everlevel.ciphertexts_to_bytes(list(x._xs), {})
    assert toy.server.read(plain).shape == (3 * S,)


def test_programs_and_maps(toy):
    a, b = toy.random(300), toy.random(300)
    x, y = toy.load(a), toy.load(b)
    seen = []
    found = toy.server.run(
        "z = x*y + 2; w = -z", x=x, y=y, progress=lambda done, total: seen.append((done, total))
    )
    check(toy, found["w"], -(a * b + 2))
    assert seen == [(i, 6) for i in range(1, 7)]
    check(toy, toy.server.run("z = x*s", x=x, s=y.sum())["z"], a * b.sum())
    for program in ("z = sum(x)", "z = rotate(x, 1)"):
        with pytest.raises(everlevel.ProgramError) as caught:
            toy.server.run(program, x=x)
        assert caught.value.code == "python.moves"
    with pytest.raises(everlevel.ShapeError):
        toy.server.run("z = x*y", x=x, y=toy.load(b[:5]))
    assert toy.server.explain("z = x*y", x=x, y=y).steps
    for result in cluster.map(
        lambda server, x: x * x + x[1].broadcast(), [x, x], server=toy.server
    ):
        check(toy, result, a * a + a[1])


def test_parts_without_bootstrapping():
    """A server that has no levels to spare takes one move, however many distances."""
    spec = everlevel.Params("insecure_bgv-257-n8", insecure_research=True).spec
    del spec["bootstrap"]
    params = everlevel.Params({**spec, "name": "insecure_moves"}, insecure_research=True)
    client = everlevel.Client(params)
    server = client.server()
    a = np.arange(150)
    x = server.load(client.encrypt_modular(a))
    y = x[::-2]
    np.testing.assert_array_equal(client.decrypt(y), a[::-2])
    np.testing.assert_array_equal(
        client.decrypt(x.reshape(15, 10).sum(axis=1)), a.reshape(15, 10).sum(axis=1) % 257
    )


def _odd():
    """48 slots modulo 211 in a hypercube of three dimensions, without bootstrapping."""
    spec = everlevel.Params("aes-bgv-leveled").spec
    spec.update(name="insecure_bgv-211-m105", index=105, plain_prime=211, extended_exponent=0)
    return spec


@pytest.mark.parametrize("spec", ["insecure_bgv-127-n8", _odd], ids=["one row", "a hypercube"])
def test_other_shapes_of_slots(spec):
    params = everlevel.Params(spec() if callable(spec) else spec, insecure_research=True)
    t, s = params.plain_modulus, params.slots
    client = everlevel.Client(params)
    server = client.server()
    a = np.random.default_rng(5).integers(0, t, (s // 4, 10))
    x, flat = server.load(client.encrypt_modular(a)), a.reshape(-1)

    def same(y, expected):
        np.testing.assert_array_equal(client.decrypt(y), expected % t)

    for axis in (0, 1, None):
        same(x.sum(axis), a.sum(axis))
    same(x[1:, 2], a[1:, 2])
    same(x.reshape(-1)[::3], flat[::3])
    same(x.reshape(-1)[::-1], flat[::-1])
    same(x.reshape(-1).rotate(7), np.roll(flat, -7))
    same(x.reshape(-1)[s : s + 5] * 2, flat[s : s + 5] * 2)
    matrix = np.arange(4 * flat.size).reshape(4, -1) % 7
    same(matrix @ x.reshape(-1), matrix @ flat)
