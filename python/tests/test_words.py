"""A set with the plaintext modulus 2^64, and one modulo 3^40: arrays of ``uint64``."""

import numpy as np
import pytest

import everlevel
from everlevel._values import centred, of_range

WORD = 1 << 64


def party(prime, exponent, index):
    spec = everlevel.Params("insecure_bgv-257-n8", insecure_research=True).spec
    del spec["bootstrap"]
    spec |= {
        "name": f"insecure_words-{prime}-m{index}",
        "index": index,
        "plain_prime": prime,
        "plain_exponent": exponent,
    }
    client = everlevel.Client(everlevel.Params(spec, insecure_research=True))
    return client, client.server()


@pytest.fixture(scope="module")
def words():
    return party(2, 64, 127)


def refused(code, work):
    with pytest.raises(everlevel.Error) as error:
        work()
    assert error.value.code == code


def test_words_wrap_as_those_of_numpy(words):
    client, server = words
    assert client.params.plain_modulus == WORD
    x = np.array([WORD - 1, 0, 1 << 63, 1, 0x0123456789ABCDEF], dtype=np.uint64)
    y = np.array([WORD - 1, 5, 3, (1 << 63) + 1, 0xFEDCBA9876543210], dtype=np.uint64)
    a, b = (server.load(client.encrypt_modular(v)) for v in (x, y))
    assert a.dtype == np.uint64
    found = client.decrypt(a)
    assert found.dtype == np.uint64 and (found == x).all()
    for made, expected in [
        (a + b, x + y),
        (a - b, x - y),
        (a * b, x * y),
        (-a, np.uint64(0) - x),
        (a * 3 - 7, x * np.uint64(3) - np.uint64(7)),
        (a * y.view(np.int64), x * y),
        (a + y.view(np.int64)[::-1], x + y[::-1]),
    ]:
        assert (client.decrypt(made, wrapping=True) == expected).all()
        signed = client.decrypt(made, wrapping=True, signed=True)
        assert signed.dtype == np.int64 and (signed == expected.view(np.int64)).all()


def test_ranges_of_words(words):
    client, server = words
    whole = client.encrypt_modular(np.array([0, WORD - 1], np.uint64), bounds=(0, WORD - 1))
    assert client.decrypt(whole).tolist() == [0, WORD - 1]
    small = server.load(client.encrypt_modular([-5, 5], bounds=(-5, 5)))
    cubes = client.decrypt(small**3)
    assert cubes.dtype == np.int64 and cubes.tolist() == [-125, 125]
    refused("circuit.range", lambda: client.decrypt(server.load(whole) * 2))
    negative = client.encrypt_modular(np.array([-1, -(1 << 63)]), reduce=True)
    assert client.decrypt(negative, wrapping=True).tolist() == [WORD - 1, 1 << 63]
    assert client.decrypt(negative, wrapping=True, signed=True).tolist() == [-1, -(1 << 63)]


def test_what_words_do_not_hold(words):
    client, server = words
    refused("python.value-range", lambda: client.encrypt_modular([-1]))
    x = server.load(client.encrypt_modular([1]))
    refused("python.value-range", lambda: x + np.array([WORD - 1], np.uint64))
    refused("python.value-range", lambda: x - np.array([-(1 << 63)]))
    refused("python.value-range", lambda: x + (1 << 63))
    other = everlevel.Client(everlevel.Params("insecure_bgv-257-n8", insecure_research=True))
    refused("python.value-range", lambda: other.encrypt_modular(np.array([1 << 63], np.uint64)))


def test_an_odd_modulus_of_64_bits():
    t = 3**40
    client, server = party(3, 40, 128)
    x, y = np.array([t - 1, t // 2 + 1], np.uint64), np.array([t - 2, 12345], np.uint64)
    a, b = (server.load(client.encrypt_modular(v)) for v in (x, y))
    expected = [int(u) * int(v) % t for u, v in zip(x, y)]
    assert client.decrypt(a * b, wrapping=True).tolist() == expected
    refused("python.value-range", lambda: client.encrypt_modular(np.array([t], np.uint64)))
    again = client.encrypt_modular(np.array([t, WORD - 1], np.uint64), reduce=True)
    assert client.decrypt(again, wrapping=True).tolist() == [0, WORD - 1 - t]


@pytest.mark.parametrize("modulus", [257, 3**39, 1 << 62, 1 << 63, 3**40, WORD])
def test_residues_stand_for_the_integers_of_a_range(modulus):
    edges = [0, 1, modulus // 2, modulus // 2 + 1, modulus - 1]
    for low in [0, 1, -(modulus // 4), -min(modulus, 1 << 63) + 1]:
        high = min(low + modulus - 1, (WORD if low >= 0 else 1 << 63) - 1)
        wanted = [low + (v - low) % modulus for v in edges]
        kept = [v for v, integer in zip(edges, wanted) if integer <= high]
        found = of_range(np.array(kept, np.uint64), modulus, (low, high), None)
        assert found.tolist() == [integer for integer in wanted if integer <= high]
    centre = centred(np.array(edges, np.uint64), modulus).tolist()
    assert all((c - v) % modulus == 0 and abs(2 * c) <= modulus for c, v in zip(centre, edges))
