"""Slots that hold whole elements of GR(p^r, d)."""

import pickle

import numpy as np
import pytest

import everlevel
from everlevel import EncryptedArray


@pytest.fixture(scope="module")
def parties():
    """64 slots in GR(127^2, 4), with bootstrapping for elements and for integers."""
    params = everlevel.Params("insecure_bfv-127e2-n8", insecure_research=True)
    client = everlevel.Client(params)
    return params, client, client.server(elements=True), client.server()


def modulus_polynomial(client, server, d):
    """X^d by X, .., from a product of encrypted elements: what the coefficients of X^d are in the
    basis 1, X, .., X^(d - 1).
    """
    x = np.zeros((1, d), int)
    x[0, 1] = 1
    y = server.load(client.encrypt_modular(x, elements=True))
    return client.decrypt(y**d)[0]


def product(a, b, top, t):
    """Of elements as polynomials of degree below d, X^d being ``top``."""
    d = len(top)
    c = np.zeros(2 * d - 1, object)
    for i, v in enumerate(a):
        for j, w in enumerate(b):
            c[i + j] += int(v) * int(w)
    for k in range(2 * d - 2, d - 1, -1):
        for j in range(d):
            c[k - d + j] += c[k] * int(top[j])
        c[k] = 0
    return [int(v) % t for v in c[:d]]


def test_arithmetic_at_any_depth(parties):
    params, client, server, _ = parties
    t, d, rng = params.plain_modulus, params.slot_degree, np.random.default_rng(3)
    assert d == 4 and server.elements
    top = modulus_polynomial(client, server, d)
    a, b = rng.integers(0, t, (5, d)), rng.integers(0, t, (5, d))
    x, y = (server.load(client.encrypt_modular(v, elements=True)) for v in (a, b))
    assert x.shape == (5,) and x.elements and "of elements of degree 4" in repr(x)
    np.testing.assert_array_equal(client.decrypt(x), a)
    np.testing.assert_array_equal(client.decrypt(x + y), (a + b) % t)
    np.testing.assert_array_equal(client.decrypt(x - b), (a - b) % t)
    np.testing.assert_array_equal(client.decrypt(7 * x), 7 * a % t)
    plus_one = a.copy()
    plus_one[:, 0] += 1
    np.testing.assert_array_equal(client.decrypt(x + 1), plus_one % t)
    expected = np.array([product(v, w, top, t) for v, w in zip(a, b)])
    np.testing.assert_array_equal(client.decrypt(x * y), expected)
    np.testing.assert_array_equal(client.decrypt(x * b), expected)
    np.testing.assert_array_equal(client.decrypt(x.refresh()), a)
    k = rng.integers(0, t, 5)
    integers = server.load(client.encrypt_modular(k))
    np.testing.assert_array_equal(client.decrypt(x * integers), a * k[:, None] % t)
    before, z = server.bootstraps, x
    for _ in range(25):
        z, a = z * y, np.array([product(v, w, top, t) for v, w in zip(a, b)])
    assert server.bootstraps > before
    np.testing.assert_array_equal(client.decrypt(z), a)


def test_shapes_bytes_signs(parties):
    params, client, server, _ = parties
    t, d, s = params.plain_modulus, params.slot_degree, params.slots
    rng = np.random.default_rng(4)
    a = rng.integers(-t // 2 + 1, t // 2, (2, 50, d))
    x = client.encrypt_modular(a, signed=True, elements=True)
    assert x.shape == (2, 50) and x.ciphertexts == 2
    back = EncryptedArray.from_bytes(x.to_bytes(), insecure_research=True)
    assert back.elements
    for y in (x, back, x.to_bytes(), x.compact(), pickle.loads(pickle.dumps(x))):
        np.testing.assert_array_equal(client.decrypt(y), a)
    np.testing.assert_array_equal(client.decrypt_for_sharing(x), a)
    np.testing.assert_array_equal(
        client.decrypt(client.public_key().encrypt_modular(a, signed=True, elements=True)), a
    )
    assert client.decrypt(x, all_slots=True).shape == (2 * s, d)
    flat = server.load(x.reshape(-1))
    np.testing.assert_array_equal(client.decrypt(flat[:7]), a.reshape(-1, d)[:7])
    np.testing.assert_array_equal(client.decrypt(flat[s : s + 7]), a.reshape(-1, d)[s : s + 7])
    one = client.encrypt_modular(a[0, 0], signed=True, elements=True)
    assert one.shape == () and (client.decrypt(one) == a[0, 0]).all()


def test_refusals(parties, tmp_path):
    params, client, server, thin = parties
    d = params.slot_degree
    x = client.encrypt_modular(np.ones((70, d), int), elements=True)
    for wrong in (np.ones(70, int), np.ones((70, d + 1), int), 3):
        with pytest.raises(everlevel.ShapeError):
            client.encrypt_modular(wrong, elements=True)
    with pytest.raises(everlevel.ShapeError):
        toy = everlevel.Params("insecure_bgv-65537-n11", insecure_research=True)
        everlevel.Client(toy).encrypt_modular(np.ones((2, 1), int), elements=True)
    # Bootstrapping for integers would lose them, and nobody would see it.
    assert not thin.elements
    for refused in (
        thin.load,
        lambda x: thin.read(x.to_bytes()),
        lambda x: thin.load(client.encrypt_modular(np.ones(70, int))) * x,
    ):
        with pytest.raises(everlevel.ParameterError) as caught:
            refused(x)
        assert caught.value.code == "python.elements"
    y = server.load(x)
    for moved in (
        lambda: y[3],
        lambda: y[::2],
        lambda: y.rotate(1),
        y.sum,
        y.swap_rows,
        lambda: y.rotate_columns(1),
        y.sign,
        lambda: y.equals(1),
    ):
        with pytest.raises(everlevel.ParameterError, match="elements"):
            moved()
    for wrong in (np.ones(70, int), np.ones((70, d + 1), int)):
        with pytest.raises(everlevel.ShapeError):
            y + wrong
    with pytest.raises(everlevel.ProgramError):
        server.run("z = sum(x)", x=y[:5])
    np.testing.assert_array_equal(
        client.decrypt(server.run("z = x + x", x=y)["z"]), np.full((70, d), 2)
    )
    # Servers on files are told.
    client.save_server_keys(tmp_path / "full.keys", elements=True)
    again = everlevel.Server.open(tmp_path / "full.keys", params=params, elements=True)
    np.testing.assert_array_equal(client.decrypt(again.load(x).refresh()), np.ones((70, d)))
    assert pickle.loads(pickle.dumps(again)).elements
    assert everlevel.plan_bytes(params, elements=True) != everlevel.plan_bytes(params)
    with pytest.raises(everlevel.ParameterError):
        client.server(program="y = x*x", elements=True)
