"""Sets for a computation, and estimates."""

import pytest

import everlevel
from everlevel import planner


def test_a_set_for_a_depth():
    found = planner.plan(65537, 1000, depth=2, minimize="memory")
    best = found[0]
    assert best.params.security_bits >= 128 and best.params.slots >= 1000 and best.multiplications >= 2
    assert best.bytes <= min(c.bytes for c in found) and best.failure_log2 < -100
    client = everlevel.Client(best.params)
    server = client.server(program="y = x^4")
    y = server.load(client.encrypt_modular([3, 5])) ** 4
    assert list(client.decrypt(y)) == [81, 625] and server.bootstraps == 0
    for wrong in (dict(plain_modulus=6, slots=1), dict(plain_modulus=65537, slots=1 << 30), dict(plain_modulus=257, slots=1, depth=0)):
        with pytest.raises(everlevel.ParameterError):
            planner.plan(**wrong)
    with pytest.raises(everlevel.RangeError):
        planner.plan(257, 1, minimize="cost")


def test_bootstrapping_plans():
    params = everlevel.Params("insecure_bgv-65537-n11", insecure_research=True)
    best = planner.tune(params, by="capacity")
    assert best.params.id != params.id and best.params.slots == params.slots and best.params.bootstraps
    assert best.params.spec["bootstrap"]["coeff_to_slot"] and best.capacity_bits > 0 and best.seconds > 0 and best.key_bytes > 0
    assert best.capacity_bits >= planner.tune(params, by="latency").capacity_bits
    client = everlevel.Client(best.params)
    assert list(client.decrypt(client.server().load(client.encrypt_modular([1, 2])).refresh())) == [1, 2]
    with pytest.raises(everlevel.RangeError):
        planner.tune(params, by="cost")
    with pytest.raises(everlevel.ParameterError):
        planner.tune(everlevel.Params("aes-bgv-leveled"))


def test_rings():
    found = planner.rings(2, slots=1000, degree_of=8, index_below=30000)
    assert [(ring.index, ring.slots) for ring in found] == [(21845, 1024)] and 430 < found[0].log_qp < 433
    assert found[0].factors == (5, 17, 257) and [size for size, _ in found[0].dimensions] == [4, 16, 16]
    many = planner.rings(2, slots=60, security=100.0, index_below=1 << 13, limit=3)
    assert len(many) == 3 and [ring.degree for ring in many] == sorted(ring.degree for ring in many)
    assert all(ring.slots * ring.slot_degree == ring.degree for ring in many)
    for wrong in (dict(p=15), dict(p=2, degree_of=0), dict(p=2, security=0.0), dict(p=2, index_below=1 << 40)):
        with pytest.raises(everlevel.RangeError):
            planner.rings(**wrong)


def test_estimates():
    attacks = planner.estimate_security(1 << 15, 881)
    assert 120 < attacks[0]["bits"] < 140 and attacks[0]["bits"] == min(a["bits"] for a in attacks)
    assert planner.estimate_security(1 << 15, 881, sparse_weight=32)[0]["bits"] < attacks[0]["bits"]
    assert planner.estimate_security(1 << 15, 881, core_svp=True)[0]["bits"] != attacks[0]["bits"]
    assert planner.estimate_security(1 << 11, 1000, ntru=True)[0]["bits"] < 60
    with pytest.raises(everlevel.RangeError):
        planner.estimate_security(1 << 15, -1.0)
