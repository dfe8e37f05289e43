"""Plans of programs on typed integers: what they say, what they choose and what they refuse."""

import numpy as np
import pytest

import everlevel


@everlevel.program
def risk(age: everlevel.uint8, income: everlevel.uint32, limit: everlevel.ranged(0, 10**6)):
    return np.where((age < 25) & (income < 30_000), limit // 2, limit)


def test_short_arrays_are_compared_side_by_side(fermat):
    @everlevel.program
    def chosen(x: everlevel.int32, y: everlevel.int32):
        least = np.minimum(x, y)
        return {"least": least, "far": np.where(least - x < -7, y, least) >= x}

    a = np.array([5, -70_000, 2**31 - 1, -(2**31), 0, 12])
    b = np.array([4, -70_001, -(2**31), 2**31 - 1, 0, -12])
    assert not chosen.plan(rows=1500, params=fermat.params).side_by_side
    plan = chosen.plan(rows=6, params=fermat.params)
    assert plan.side_by_side and "side by side" in str(plan)
    client = everlevel.Client(plan.params)
    server = plan.server(client)
    found = plan.run(server, plan.encrypt(client, x=a, y=b))
    for name, expected in chosen._function(a, b).items():
        np.testing.assert_array_equal(client.decrypt(found[name]), expected)
        assert found[name].server is server
    assert server.bootstraps == plan.bootstraps


def test_plans_with_bootstrapping_are_exact(fermat):
    @everlevel.program
    def deep(x: everlevel.uint8, y: everlevel.uint8):
        for _ in range(6):
            x = np.minimum(x, y) ^ y
        return x, x.sum()

    a, b = np.arange(100) % 256, np.arange(100) * 7 % 256
    expected = a
    for _ in range(6):
        expected = np.minimum(expected, b) ^ b
    plan = deep.plan(rows=100, params=fermat.params)
    assert plan.bootstraps > 0
    client = everlevel.Client(plan.params)
    server = plan.server(client)
    found, total = plan.run(server, plan.encrypt(client, x=a, y=b))
    np.testing.assert_array_equal(client.decrypt(found), expected)
    assert client.decrypt(total) == expected.sum()
    assert server.bootstraps == plan.bootstraps


def test_orders_of_one_array_share_its_ranks(fermat):
    @everlevel.program
    def several(x: everlevel.uint8):
        return np.argmax(x), x.max(), np.median(x), np.sort(x)

    @everlevel.program
    def largest(x: everlevel.uint8):
        return x.max()

    @everlevel.program
    def middle(x: everlevel.uint8):
        return np.median(x)

    @everlevel.program
    def ordered(x: everlevel.uint8):
        return np.sort(x)

    a = np.array([7, 200, 31, 200, 9, 7, 0])
    plan = several.plan(rows=a.size, params=fermat.params)
    apart = [x.plan(rows=a.size, params=fermat.params) for x in (largest, middle, ordered)]
    assert plan.products < sum(one.products for one in apart)
    client = everlevel.Client(plan.params)
    server = plan.server(client)
    found = plan.run(server, plan.encrypt(client, x=a))
    for own, expected in zip(found, (a.argmax(), a.max(), np.median(a), np.sort(a)), strict=True):
        np.testing.assert_array_equal(client.decrypt(own), expected)
        assert own.server is server
    assert server.bootstraps == plan.bootstraps
    # The next run does the same.
    again = plan.run(server, plan.encrypt(client, x=a))
    assert client.decrypt(again[0]) == 1
    assert server.bootstraps == 2 * plan.bootstraps


def test_plans_read_no_indexes(fermat):
    """What a plan counts is what is done, also on arguments that have an index."""

    @everlevel.program
    def older(age: everlevel.uint16, other: everlevel.uint16):
        return (age >= 18_000) & (other == 7)

    a, b = np.array([5, 18_000, 65_535, 17_999]), np.array([7, 7, 7, 8])
    plan = older.plan(rows=4, params=fermat.params)
    client = everlevel.Client(plan.params)
    server = plan.server(client)
    plain = plan.run(server, plan.encrypt(client, age=a, other=b))
    given = {"age": a, "other": b}
    indexed = {
        name: client.encrypt(x, dtype=np.uint16, index=True, level=plan.inputs[name].level)
        for name, x in given.items()
    }
    found = plan.run(server, indexed)
    np.testing.assert_array_equal(client.decrypt(found), [False, True, True, False])
    assert found.capacity_bits == plain.capacity_bits
    assert indexed["age"].has_index


def test_plans_count_indexes(fermat):
    """Arguments that are annotated with an index are encrypted with it, and it is read."""
    squares = np.arange(256) ** 2 // 7

    def function(age, other):
        return (age >= 18) & (other == 7), everlevel.Table(squares)[age]

    @everlevel.program
    def plain(age: everlevel.uint8, other: everlevel.uint16):
        return function(age, other)

    @everlevel.program
    def fast(age: everlevel.indexed(everlevel.uint8), other: everlevel.uint16):
        return function(age, other)

    assert "age: uint8 with an index" in repr(fast)
    a, b = np.array([5, 18, 255, 17]), np.array([7, 7, 8, 7])
    without, plan = (one.plan(rows=4, params=fermat.params) for one in (plain, fast))
    assert (without.input_ciphertexts, plan.input_ciphertexts) == (2 + 4, 2 + 30 + 4)
    assert plan.products < without.products and plan.seconds < without.seconds
    assert plan.input_bytes > without.input_bytes
    client = everlevel.Client(plan.params)
    server = plan.server(client)
    given = plan.encrypt(client, age=a, other=b)
    assert given["age"].has_index and not given["other"].has_index
    adult, rate = plan.run(server, given)
    np.testing.assert_array_equal(client.decrypt(adult), [False, True, False, False])
    np.testing.assert_array_equal(client.decrypt(rate), squares[a])
    assert server.bootstraps == plan.bootstraps
    # Under the public key, whose keys are in the plan, and in the clear.
    public = plan.encrypt(client.public_key(), age=a, other=b)
    np.testing.assert_array_equal(client.decrypt(plan.run(server, public)[1]), squares[a])
    np.testing.assert_array_equal(fast(a, b)[1], squares[a])
    with pytest.raises(everlevel.DtypeError, match="no index") as caught:
        plan.run(server, age=client.encrypt(a, dtype=np.uint8), other=given["other"])
    assert caught.value.code == "integers.type"


def test_indexes_of_rows_and_of_bounds(fermat):
    kind = everlevel.indexed(everlevel.rows(2, everlevel.ranged(0, 30)))
    assert kind == everlevel.rows(2, everlevel.indexed(everlevel.ranged(0, 30)))

    @everlevel.program
    def late(x: kind):
        return (x > 20).sum(axis=0)

    plan = late.plan(rows=3, params=fermat.params)
    assert plan.input_ciphertexts == 2 * (2 + 15 + 1)
    values = np.array([[1, 21, 30], [20, 25, 3]])
    server = plan.server(fermat.client)
    found = plan.run(server, plan.encrypt(fermat.client, x=values))
    np.testing.assert_array_equal(fermat.client.decrypt(found), [0, 2, 1])
    # As bounds within it, and of what has no index.
    narrow = fermat.client.encrypt([3, 4], dtype=everlevel.indexed(everlevel.uint8), bounds=(0, 9))
    assert narrow.has_index and narrow.interval == (0, 9)

    @everlevel.program
    def inverted(x: everlevel.indexed(everlevel.bool_)):
        return ~x

    with pytest.raises(everlevel.Error) as caught:
        inverted.plan(rows=3, params=fermat.params)
    assert caught.value.code == "integers.type"


def test_plans_for_few_rows_use_fewer_slots():
    @everlevel.program
    def deep(x: everlevel.uint8, y: everlevel.uint8):
        for _ in range(24):
            x = np.minimum(x, y)
        return x

    plan = deep.plan(rows=300)
    name, slots = plan.params.name.rsplit("-s", 1)
    assert plan.params.slots == int(slots) <= 8192
    every = deep.plan(rows=300, params=everlevel.Params(name))
    assert plan.bootstraps > 0 and plan.seconds < every.seconds
    assert deep.plan(rows=300, candidates=[name]).params == every.params
    assert deep.plan(rows=20_000, candidates=("bgv-65537-n15",)).params.slots == 32768


def test_fewer_keys_for_products(fermat):
    @everlevel.program
    def powers(x: everlevel.ranged(0, 15), y: everlevel.ranged(0, 15)):
        return x * y, np.where(x < 9, y, 3)

    x, y = np.array([2, 3, 15, 0]), np.array([1, 9, 8, 14])
    plan = powers.plan(4, params=fermat.params)
    small = powers.plan(4, params=fermat.params, small_keys=True)
    given = plan.encrypt(fermat.client, x=x, y=y)
    servers = [
        plan.server(fermat.client),
        plan.server(fermat.client, small_keys=True),
        small.server(fermat.client),
    ]
    for server in servers:
        product, chosen = plan.run(server, given)
        np.testing.assert_array_equal(fermat.client.decrypt(product), x * y)
        np.testing.assert_array_equal(fermat.client.decrypt(chosen), np.where(x < 9, y, 3))
    sizes = [sum(size for _, size in server.size_report().values()) for server in servers]
    # Of either plan they are what it says, whether or not there is something to save.
    assert sizes[1] == sizes[2] <= sizes[0]
    assert (small.key_bytes < plan.key_bytes) == (sizes[1] < sizes[0])
    assert small.products == plan.products and small.seconds < 1.6 * plan.seconds
    assert small.memory_bytes <= plan.memory_bytes


def test_small_keys_are_planned_without_any():
    """Of a set with a key for products at each of several levels."""

    @everlevel.program
    def larger(x: everlevel.uint16, y: everlevel.uint16):
        return np.where(x > y, x, y)

    params = everlevel.Params("bgv-65537-n15")
    plan, small = (larger.plan(64, params=params, small_keys=small) for small in (False, True))
    assert small.key_bytes < 0.7 * plan.key_bytes
    assert small.seconds < 1.6 * plan.seconds
    assert small.memory_bytes < plan.memory_bytes


def test_plans_for_time_or_for_keys(fermat):
    """Short arrays, whose digits lie apart, which takes fewer keys, or side by side."""

    @everlevel.program
    def least(x: everlevel.int32, y: everlevel.int32):
        return np.minimum(x, y)

    def planned(**goal):
        plan = least.plan(rows=6, params=fermat.params, **goal)
        return plan.seconds, plan.key_bytes, plan.side_by_side

    fast, small = planned(), planned(minimize="keys")
    assert fast[0] < small[0] and fast[1] > small[1] and fast[2] and not small[2]
    assert planned(minimize="time") == planned(minimise="time") == fast
    # The name that it had, and both.
    assert planned(minimise="keys") == planned(minimize="keys", minimise="keys") == small


def test_plans_within_memory(fermat):
    """The figures of plans, and the limit that they are held to."""

    @everlevel.program
    def least(x: everlevel.int32, y: everlevel.int32):
        return np.minimum(x, y), (x < y).sum()

    def planned(rows=6, **how):
        return least.plan(rows=rows, params=fermat.params, **how)

    fast, small = planned(), planned(minimize="memory")
    assert fast.memory_bytes == 2 * fast.key_bytes + fast.working_bytes
    # Arguments and results are there at the end, and more before that; with a word for a residue.
    assert fast.working_bytes > fast.input_bytes + fast.result_bytes
    # Half of each key as a seed.
    seeded = planned(seeded_keys=True)
    assert (seeded.key_bytes, seeded.seconds) == (fast.key_bytes, fast.seconds)
    assert seeded.memory_bytes == fast.memory_bytes - fast.key_bytes
    within = planned(seeded_keys=True, memory_bytes=seeded.memory_bytes)
    # What fits only at lower levels is looked for, and may take less than the best without a limit.
    assert within.memory_bytes <= seeded.memory_bytes
    assert "stay seeds" in str(seeded) and "stay seeds" not in str(fast)
    more, less = (x.server(fermat.client)._raw.keys.memory_bytes for x in (fast, seeded))
    assert 10 * less < 6 * more
    # Digits of the minimum, and a sum; at lower levels than the arguments.
    assert fast.result_ciphertexts > 1 and 0 < fast.result_bytes < fast.input_bytes
    many = planned(rows=5_000)
    one = planned(rows=2_000)
    assert many.result_ciphertexts == 3 * one.result_ciphertexts
    # Other blocks wait for their turn.
    assert many.working_bytes > one.working_bytes + 2 * (one.input_bytes + one.result_bytes)
    assert "of memory" in str(fast) and "of memory" in repr(fast) and "of results" in str(fast)
    # Side by side it takes more keys, fewer ciphertexts, and less time.
    assert small.memory_bytes <= fast.memory_bytes
    assert planned(memory_bytes=fast.memory_bytes).memory_bytes <= fast.memory_bytes
    if small.memory_bytes < fast.memory_bytes:
        fewer = planned(memory_bytes=fast.memory_bytes - 1)
        assert small.memory_bytes <= fewer.memory_bytes < fast.memory_bytes
    with pytest.raises(everlevel.ParameterError, match="at most .* MiB") as caught:
        planned(memory_bytes=small.memory_bytes - 1)
    assert caught.value.code == "integers.memory"
    assert caught.value.needed == -(-small.memory_bytes // 2**20) > caught.value.limit


def test_memory_chooses_blocks(fermat):
    """Products that take too much memory otherwise hold fewer powers at a time."""

    @everlevel.program
    def product(x: everlevel.uint16, y: everlevel.uint16):
        return x * y

    usual = product.plan(rows=4, params=fermat.params)
    assert not usual.in_blocks and "in blocks" not in str(usual)
    limit = usual.memory_bytes - usual.working_bytes // 8
    plan = product.plan(rows=4, params=fermat.params, memory_bytes=limit)
    assert plan.in_blocks and "products in blocks" in str(plan)
    assert plan.memory_bytes <= limit and plan.working_bytes < usual.working_bytes
    assert plan.products > usual.products
    x, y = np.array([0, 65535, 65535, 777], np.uint16), np.array([9, 65535, 1, 40000], np.uint16)
    server = plan.server(fermat.client)
    found = fermat.client.decrypt(plan.run(server, plan.encrypt(fermat.client, x=x, y=y)))
    assert (found == x.astype(object) * y.astype(object)).all()


def test_small_keys_are_those_of_blocks():
    """Smaller keys are tried on what the plan runs, which in blocks takes other products."""

    @everlevel.program
    def product(x: everlevel.uint8, y: everlevel.uint8):
        return x * y

    params = everlevel.Params("bgv-65537-n15")
    usual = product.plan(64, params=params)
    limit = usual.memory_bytes - usual.working_bytes // 8
    plan, small = (
        product.plan(64, params=params, memory_bytes=limit, small_keys=small)
        for small in (False, True)
    )
    assert plan.in_blocks and small.in_blocks and small.key_bytes < plan.key_bytes
    assert small.products == plan.products > usual.products


def test_memory_chooses_the_set():
    """What bootstraps on whole sets takes more memory than on those with fewer used slots."""

    @everlevel.program
    def deep(x: everlevel.uint8, y: everlevel.uint8):
        for _ in range(24):
            x = np.minimum(x, y)
        return x

    whole = deep.plan(rows=300, params=everlevel.Params("bgv-65537-n15"))
    plan = deep.plan(rows=300, memory_bytes=whole.memory_bytes - 1)
    assert plan.memory_bytes < whole.memory_bytes and "-s" in plan.params.name
    with pytest.raises(everlevel.ParameterError) as caught:
        deep.plan(rows=300, memory_bytes=2**20)
    assert caught.value.code == "integers.memory"


def test_blocks_are_counted(fermat):
    @everlevel.program
    def twice(x: everlevel.uint16):
        return (x > 5).sum()

    few, many = (twice.plan(rows=rows, params=fermat.params) for rows in (2048, 6000))
    assert many.products == 3 * few.products and many.input_bytes == 3 * few.input_bytes
    assert many.intervals[0][1] >= 6000 and many.key_bytes == few.key_bytes


def test_what_plans_refuse(fermat):
    plan = risk.plan(rows=10, params=fermat.params)
    client = fermat.client
    ten = np.arange(10)
    for refused, error in [
        (lambda: plan.encrypt(client, age=ten, income=ten), everlevel.ProgramError),
        (lambda: plan.encrypt(client, age=ten[:5], income=ten, limit=ten), everlevel.ShapeError),
        (lambda: plan.encrypt(client, age=ten + 250, income=ten, limit=ten), everlevel.RangeError),
        (
            lambda: plan.run(
                fermat.server, {name: client.encrypt(ten, dtype=np.uint8) for name in risk.kinds}
            ),
            everlevel.RangeError,
        ),
        (lambda: risk.plan(rows=0), everlevel.RangeError),
        (lambda: risk.plan(rows=1, minimize="luck"), everlevel.RangeError),
        (lambda: risk.plan(rows=1, minimise="luck"), everlevel.RangeError),
        (lambda: risk.plan(rows=1, minimize="time", minimise="keys"), everlevel.RangeError),
        (lambda: risk.plan(rows=1, minimize=""), everlevel.RangeError),
        (lambda: risk.plan(rows=1, params=fermat.params, memory_bytes=1e9), TypeError),
        (
            lambda: risk.plan(rows=1, params=fermat.params, memory_bytes=-1),
            everlevel.ParameterError,
        ),
        (lambda: everlevel.program(lambda x: x), everlevel.DtypeError),
    ]:
        with pytest.raises(error):
            refused()

    @everlevel.program
    def branch(x: everlevel.uint8):
        return x + 1 if x < 3 else x

    with pytest.raises(everlevel.NotHomomorphicError, match="np.where"):
        branch.plan(rows=1, params=fermat.params)


def test_plans_are_not_run_on_arrays_that_wrap(fermat):
    @everlevel.program
    def doubled(x: everlevel.uint8):
        return x + x

    plan = doubled.plan(rows=3, params=fermat.params)
    given = plan.encrypt(fermat.client, x=np.array([1, 200, 255], np.uint8))
    with pytest.raises(everlevel.DtypeError, match=r"x\.checked\(\)") as caught:
        plan.run(fermat.server, x=given["x"].wrapping())
    assert caught.value.code == "integers.type"
    with pytest.raises(everlevel.ProgramError) as caught:
        plan.run(fermat.server, given, x=given["x"])
    assert caught.value.code == "python.arguments"
    found = plan.run(fermat.server, x=given["x"].wrapping().checked())
    np.testing.assert_array_equal(fermat.client.decrypt(found), [2, 400, 510])


def test_products_compute_nothing_else(fermat):
    @everlevel.program
    def squared(x: everlevel.uint8, y: everlevel.uint8, z: everlevel.bool_):
        return x * x, x * y, x * z, z * x

    plan = squared.plan(4, params=fermat.params)
    assert [stage.name for stage in plan.stages] == ["square", "mul", "select", "select"]


def test_scalar_products_take_no_products_of_entries(fermat):
    @everlevel.program
    def scalar(x: everlevel.uint8, y: everlevel.uint8):
        return x @ y, x @ x

    plan = scalar.plan(rows=100, params=fermat.params)
    told = [(stage.name, stage.products) for stage in plan.stages]
    assert told == [("sum_of_products", 4), ("sum_of_products", 3)]
    assert plan.bootstraps == 0
    client = everlevel.Client(plan.params)
    a, b = np.arange(100) * 7 % 256, 255 - np.arange(100)
    found = plan.run(plan.server(client), plan.encrypt(client, x=a, y=b))
    assert [client.decrypt(total) for total in found] == [a @ b, a @ a]
