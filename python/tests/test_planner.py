"""Sets for a computation, and estimates."""

import numpy as np
import pytest

import everlevel
from everlevel import planner


def test_a_set_for_a_depth():
    found = planner.plan(65537, 1000, depth=2, minimize="memory")
    best = found[0]
    assert (
        best.params.security_bits >= 128 and best.params.slots >= 1000 and best.multiplications >= 2
    )
    assert best.bytes <= min(c.bytes for c in found) and best.failure_log2 < -100
    client = everlevel.Client(best.params)
    server = client.server(program="y = x^4")
    y = server.load(client.encrypt_modular([3, 5])) ** 4
    assert list(client.decrypt(y)) == [81, 625] and server.bootstraps == 0
    for wrong in (
        dict(plain_modulus=6, slots=1),
        dict(plain_modulus=65537, slots=1 << 30),
        dict(plain_modulus=257, slots=1, depth=0),
    ):
        with pytest.raises(everlevel.ParameterError):
            planner.plan(**wrong)
    with pytest.raises(everlevel.RangeError):
        planner.plan(257, 1, minimize="cost")


def test_bootstrapping_plans():
    params = everlevel.Params("insecure_bgv-65537-n11", insecure_research=True)
    best = planner.tune(params, by="capacity")
    assert (
        best.params.id != params.id and best.params.slots == params.slots and best.params.bootstraps
    )
    assert (
        best.params.spec["bootstrap"]["coeff_to_slot"]
        and best.capacity_bits > 0
        and best.seconds > 0
        and best.key_bytes > 0
    )
    assert best.capacity_bits >= planner.tune(params, by="latency").capacity_bits
    client = everlevel.Client(best.params)
    assert list(client.decrypt(client.server().load(client.encrypt_modular([1, 2])).refresh())) == [
        1,
        2,
    ]
    with pytest.raises(everlevel.RangeError):
        planner.tune(params, by="cost")
    with pytest.raises(everlevel.ParameterError):
        planner.tune(everlevel.Params("aes-bgv-leveled"))


def test_rings():
    found = planner.rings(2, slots=1000, degree_of=8, index_below=30000)
    assert [(ring.index, ring.slots) for ring in found] == [(21845, 1024)] and 430 < found[
        0
    ].log_qp < 433
    assert found[0].factors == (5, 17, 257) and [size for size, _ in found[0].dimensions] == [
        4,
        16,
        16,
    ]
    many = planner.rings(2, slots=60, security=100.0, index_below=1 << 13, limit=3)
    assert len(many) == 3 and [ring.degree for ring in many] == sorted(ring.degree for ring in many)
    assert all(ring.slots * ring.slot_degree == ring.degree for ring in many)
    for wrong in (
        dict(p=15),
        dict(p=2, degree_of=0),
        dict(p=2, security=0.0),
        dict(p=2, index_below=1 << 40),
    ):
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
    # Of these a ternary secret was estimated, or one of the two.
    for how in (
        dict(sparse_weight=0),
        dict(sparse_weight=-1),
        dict(sparse_weight=32, ntru=True),
        dict(sparse_weight=32, gaussian_deviation=3.2),
        dict(gaussian_deviation=0.0),
        dict(gaussian_deviation=-1.0, ntru=True),
        dict(gaussian_deviation=float("nan")),
        dict(error_deviation=-1.0),
        dict(error_deviation=8.0, ntru=True),
        dict(rotations=False, ntru=True),
    ):
        with pytest.raises(everlevel.RangeError) as refused:
            planner.estimate_security(1 << 15, 881, **how)
        assert refused.value.code == "security.out-of-range"


TOY = dict(insecure_research=True)


def test_a_set_by_values():
    found = planner.plan(max_value=1_000_000, signed=True, rows=100_000, ops=["compare", "sum"])
    assert (found.way, found.params.name, found.bounds) == (
        "tables",
        "bgv-65537-n15",
        (-1_000_000, 1_000_000),
    )
    assert (
        found.ciphertexts == 24
        and found.refreshes_automatically
        and found.seconds > 0
        and set(found.others) == {"modular", "integers"}
    )
    assert found.params.security_bits >= 128 and found.key_bytes > 0 and found.ciphertext_bytes > 0
    assert planner.plan(max_value=1e6, signed=True, rows=100_000, ops="compare,sum") == found
    assert "bgv-65537-n15" in str(found)
    mul = planner.plan(max_value=np.uint8(255), rows=30_000, ops=["mul"])
    assert (mul.way, mul.operations[0].interval) == ("modular", (0, 255**2))
    assert set(planner.operations()) >= {"add", "compare", "sum", "group-by", "table"}


def test_few_rows_are_planned_for_fewer_slots():
    found = planner.plan(max_value=1e6, signed=True, rows=300, ops=["compare", "max"])
    fewer, every = found.compared
    assert found.params.name == fewer.set == "bgv-65537-n15-s512"
    assert (fewer.slots, every.slots, every.set) == (512, 32768, "bgv-65537-n15")
    assert fewer.key_bytes < every.key_bytes and fewer.memory_bytes < every.memory_bytes
    assert fewer.refresh_seconds < every.refresh_seconds
    assert fewer.exhausted_seconds < every.exhausted_seconds
    assert "512 slots, a bootstrapping" in str(found) and found.params.slots == 512
    query = planner.plan(max_value=1e6, signed=True, rows=300, ops=["compare", "sum"])
    assert query.params.name == "bgv-65537-n15" and query.compared == ()


def test_what_is_recommended_is_not_refused():
    """Every operation, with its lines in Python, on a toy."""
    values = {"x_values": np.array([-900, 1000, 7, 600]), "y_values": np.array([5, 1000, -7, 0])}
    expected = {
        "compare": [0, 0, 1, 1],
        "equal": [0, 1, 0, 0],
        "add": [-895, 2000, 0, 600],
        "sub": [-905, 0, 14, 600],
        "min": [-900, 1000, -7, 0],
        "max": [5, 1000, 7, 600],
        "abs": [900, 1000, 7, 600],
        "clip": [0, 500, 7, 500],
        "select": [5, 1000, -7, 600],
        "sum": 707,
        "count": 2,
        "mul": [-4500, 1000000, -49, 0],
        "dot": 995451,
        "sort": [-900, 7, 600, 1000],
        "shift": [-113, 125, 0, 75],
        "divide": [-129, 142, 1, 85],
    }
    found = planner.plan(max_value=1000, signed=True, rows=4, ops=list(expected), **TOY)
    assert found.way == "integers" and found.params.name.startswith("insecure_")
    scope = dict(values)
    exec("\n".join(found.python), scope)
    for operation, result in expected.items():
        assert np.array_equal(scope[f"{operation}_result"], result), operation
    low_high = {cost.operation: cost.interval for cost in found.operations}
    assert low_high["mul"] == (-1_000_000, 1_000_000) and low_high["compare"] == (0, 1)
    modular = planner.plan(max_value=100, signed=True, rows=3, ops=["+", "-", "*"], **TOY)
    scope = {"x_values": np.array([-100, 100, 7]), "y_values": np.array([100, 100, -6])}
    exec("\n".join(modular.python), scope)
    assert (
        modular.way == "modular"
        and list(scope["mul_result"]) == [-10000, 10000, -42]
        and list(scope["sub_result"]) == [-200, 0, 13]
    )


def test_a_query_is_recommended_with_its_lines(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "data.csv").write_text("x\n-900000\n1000000\n7\n600000\n")
    found = planner.plan(max_value=1e6, signed=True, rows=4, ops=["<", "sum", "count"], **TOY)
    scope: dict = {}
    exec("\n".join(found.python), scope)
    assert found.way == "tables" and scope["answer"] == {"sum(x)": [1600000], "count(*)": [2]}


@pytest.mark.parametrize(
    "code, wrong",
    [
        ("workload.value", dict(max_value=0)),
        ("workload.value", dict(max_value=1.5)),
        ("workload.value", dict(max_value=True)),
        ("workload.value", dict(max_value=float("nan"))),
        ("workload.value", dict(max_value=-3)),
        ("workload.value", dict(max_value=2**64)),
        ("workload.value", dict(max_value=2**63, signed=True)),
        ("workload.rows", dict(rows=0)),
        ("workload.rows", dict(rows=2**70)),
        ("workload.operation", dict(ops=["smu"])),
        ("workload.no-operations", dict(ops=[])),
        ("workload.unsupported", dict(max_value=65_536, ops=["table"])),
        ("python.plan", dict(plain_modulus=257)),
        ("python.plan", dict(depth=2)),
        ("python.plan", dict(max_value=None)),
        ("python.plan", dict(ops=None)),
    ],
)
def test_values_that_cannot_be_planned_for(code, wrong):
    with pytest.raises(everlevel.Error) as refused:
        planner.plan(**{**dict(max_value=10, rows=10, ops=["add"]), **wrong})
    assert refused.value.code == code
    with pytest.raises(everlevel.RangeError):
        planner.plan()
    with pytest.raises(everlevel.RangeError):
        planner.plan(257)
