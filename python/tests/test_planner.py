"""Sets for a computation, and estimates."""

import pytest

import everlevel
from everlevel import planner


def test_a_set_for_a_depth():
    found = planner.plan(65537, 1000, depth=2, minimise="memory")
    best = found[0]
    assert best.params.security_bits >= 128 and best.params.slots >= 1000 and best.multiplications >= 2
    assert best.bytes <= min(c.bytes for c in found) and best.failure_log2 < -100
    client = everlevel.Client(best.params)
    server = client.server(program="y = x^4")
    y = server.load(client.encrypt([3, 5])) ** 4
    assert list(client.decrypt(y)) == [81, 625] and server.bootstraps == 0
    for wrong in (dict(plain_modulus=6, slots=1), dict(plain_modulus=65537, slots=1 << 30), dict(plain_modulus=257, slots=1, depth=0)):
        with pytest.raises(everlevel.ParameterError):
            planner.plan(**wrong)
    with pytest.raises(everlevel.RangeError):
        planner.plan(257, 1, minimise="cost")


def test_estimates():
    attacks = planner.estimate_security(1 << 15, 881)
    assert 120 < attacks[0]["bits"] < 140 and attacks[0]["bits"] == min(a["bits"] for a in attacks)
    assert planner.estimate_security(1 << 15, 881, sparse_weight=32)[0]["bits"] < attacks[0]["bits"]
    assert planner.estimate_security(1 << 15, 881, core_svp=True)[0]["bits"] != attacks[0]["bits"]
    assert planner.estimate_security(1 << 11, 1000, ntru=True)[0]["bits"] < 60
    with pytest.raises(everlevel.RangeError):
        planner.estimate_security(1 << 15, -1.0)
