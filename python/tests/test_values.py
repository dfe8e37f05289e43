"""What is taken, what is refused, and how refusals look."""

import os
import pickle
import subprocess
import sys
import threading

import numpy as np
import pytest

import everlevel
from everlevel import _values, tables


def test_dtypes_and_ranges(toy):
    client, t = toy.client, toy.t
    for dtype in (
        np.int8,
        np.uint8,
        np.int16,
        np.uint16,
        np.int32,
        np.uint32,
        np.int64,
        np.uint64,
        bool,
    ):
        values = np.array([0, 1, 1, 0], dtype)
        np.testing.assert_array_equal(
            client.decrypt(client.encrypt_modular(values)), values.astype(int)
        )
    np.testing.assert_array_equal(
        client.decrypt(client.encrypt_modular(np.arange(20).reshape(4, 5).T)),
        np.arange(20).reshape(4, 5).T,
    )
    np.testing.assert_array_equal(
        client.decrypt(client.encrypt_modular(np.arange(40)[::2])), np.arange(0, 40, 2)
    )
    assert client.decrypt(client.encrypt_modular(7)) == 7
    for bad in ([0.5], np.zeros(3), ["a"], [1j], np.array([None])):
        with pytest.raises(everlevel.DtypeError):
            client.encrypt_modular(bad)
    for bad in ([t], [-1], [2**70], np.array([2**64 - 1], np.uint64), [-(2**63)]):
        with pytest.raises(everlevel.RangeError):
            client.encrypt_modular(bad)
    with pytest.raises(everlevel.ShapeError):
        client.encrypt_modular([])
    with pytest.raises(everlevel.RangeError) as caught:
        client.encrypt_modular([-5])
    assert (caught.value.code, caught.value.found, caught.value.low, caught.value.high) == (
        "python.value-range",
        -5,
        0,
        t - 1,
    )
    assert "signed=True" in str(caught.value)
    np.testing.assert_array_equal(
        client.decrypt(client.encrypt_modular([-5, 300], reduce=True)), [t - 5, 300 - t]
    )
    x = client.encrypt_modular([-128, 128], signed=True)
    np.testing.assert_array_equal(client.decrypt(x), [-128, 128])
    np.testing.assert_array_equal(client.decrypt(x, signed=False), [129, 128])
    with pytest.raises(everlevel.RangeError):
        client.encrypt_modular([129], signed=True)
    y = toy.server.load(x)
    for bad in (t, -t, 2**80):
        with pytest.raises(everlevel.RangeError):
            y * bad
        with pytest.raises(everlevel.RangeError):
            y + bad
    for bad in (0, -1):
        with pytest.raises(everlevel.RangeError):
            y**bad
    with pytest.raises(everlevel.DtypeError):
        y * 0.5
    with pytest.raises(everlevel.DtypeError):
        y + np.array([0.5, 1])


def test_the_tree_of_errors(toy):
    with pytest.raises(everlevel.InsecureError) as caught:
        everlevel.Params("insecure_bgv-257-n8")
    assert (
        caught.value.code == "scheme.insecure"
        and caught.value.bits < 128
        and isinstance(caught.value, ValueError)
    )
    spec = everlevel.Params("insecure_bgv-65537-n11", insecure_research=True).spec
    spec["bootstrap"]["overflow_bound"] = 4
    with pytest.raises(everlevel.FrequentFailuresError) as caught:
        everlevel.Params(spec, insecure_research=True)
    assert caught.value.code == "scheme.frequent-failures" and -40 < caught.value.failure_log2 <= 0
    often = everlevel.Params(spec, insecure_research=True, allow_failures=True)
    assert pickle.loads(pickle.dumps(often)) == often
    with pytest.warns(everlevel.FailureWarning, match="wrong values"):
        owner = everlevel.Client(often)
    with pytest.warns(everlevel.FailureWarning, match="wrong values"):
        assert owner.decrypt(owner.encrypt_modular([1, 2])).tolist() == [1, 2]
    with pytest.raises(everlevel.ParameterError) as caught:
        everlevel.Params("no-such-set")
    assert caught.value.code == "scheme.unknown-params"
    for bad in ("{", "{}", {"name": "x", "index": 1 << 40}):
        with pytest.raises(everlevel.Error):
            everlevel.Params(bad, insecure_research=True)
    x = toy.client.encrypt_modular([1, 2])
    with pytest.raises(everlevel.NoServerError):
        x + x
    other = everlevel.Params("insecure_bgv-127-n8", insecure_research=True)
    with pytest.raises(everlevel.OtherParametersError):
        toy.server.load(everlevel.Client(other).encrypt_modular([1]))
    with pytest.raises(everlevel.OtherParametersError):
        everlevel.Client(other).decrypt(x)
    # Keys for one program only.
    spec = toy.params.spec
    del spec["bootstrap"]
    owner = everlevel.Client(
        everlevel.Params({**spec, "name": "insecure_leveled"}, insecure_research=True)
    )
    few = owner.server(program="y = x*x")
    z = few.load(owner.encrypt_modular([1, 2]))
    with pytest.raises(everlevel.KeyMissingError) as caught:
        z.refresh()
    assert caught.value.code == "circuit.no-bootstrapping"
    with pytest.raises(everlevel.NoiseError):
        owner.server().load(z) ** (1 << 40)
    with pytest.raises(everlevel.KeyMissingError) as caught:
        z.rotate(1)
    assert caught.value.code == "circuit.no-route" and isinstance(caught.value, LookupError)
    again = pickle.loads(pickle.dumps(caught.value))
    assert (type(again), again.code, str(again), again.fields) == (
        type(caught.value),
        caught.value.code,
        str(caught.value),
        caught.value.fields,
    )
    for cls in vars(everlevel).values():
        if isinstance(cls, type) and issubclass(cls, Exception) and not issubclass(cls, Warning):
            assert issubclass(cls, everlevel.Error)


def test_parameters(toy):
    params = toy.params
    assert (params.slots, params.dimensions, params.plain_modulus, params.bootstraps) == (
        128,
        (2, 64),
        257,
        True,
    )
    same = everlevel.Params(params.spec, insecure_research=True)
    assert same == params and hash(same) == hash(params) and same.id == params.id
    assert everlevel.Params.from_bytes(params.to_bytes(), insecure_research=True) == params
    with pytest.raises(everlevel.InsecureError):
        everlevel.Params.from_bytes(params.to_bytes())
    assert "bgv-65537-n15" in everlevel.names()
    facts = params.facts()
    assert facts["slots"] == 128 and facts["bootstrap"]["failure_log2"] < -60
    assert "bootstrapping" in params.explain()
    number, size = everlevel.plan_bytes(params)
    assert number > 10 and size > 10_000
    default = everlevel.Params("bgv-65537-n15")
    assert default.security_bits >= 128 and default.slots == 32768 and " bits>" in repr(default)
    fewer = everlevel.Params("bgv-65537-n15-s1024")
    assert fewer.slots == 1024 and fewer.security_bits == default.security_bits
    assert fewer.spec["bootstrap"]["used_slots"] == 1024
    with pytest.raises(everlevel.ParameterError):
        everlevel.Params("bgv-65537-n15-s1000")


def test_progress_and_interrupts(toy):
    seen = []
    toy.client.server(program="y = x*x", progress=lambda done, total: seen.append((done, total)))
    assert (
        seen
        and [done for done, _ in seen] == list(range(1, len(seen) + 1))
        and seen[-1][0] == seen[-1][1]
    )

    class Bar:
        total, n = None, 0

        def update(self, k):
            self.n += k

    bar = Bar()
    toy.load([1, 2]).refresh(progress=bar)
    assert bar.n == bar.total and bar.total > 3

    class Stop(Exception):
        pass

    def stop(done, total):
        if done == 3:
            raise Stop

    with pytest.raises(Stop):
        toy.client.server(progress=stop)
    with pytest.raises(Stop):
        toy.load([1]).refresh(progress=stop)


def test_what_is_told_of_progress_may_compute():
    """On a single thread it waited for that thread without end."""
    lines = [
        "import everlevel",
        "everlevel.set_num_threads(1)",
        "params = everlevel.Params('insecure_bgv-257-n8', insecure_research=True)",
        "client, seen = everlevel.Client(params), []",
        "def told(done, total):",
        "    seen.append(client.decrypt(client.encrypt_modular([done]))[0])",
        "server = client.server(progress=told)",
        "assert seen == list(range(1, len(seen) + 1)) and seen",
        "x = server.load(client.encrypt_modular([3]))",
        "x.refresh(progress=lambda done, total: seen.append(client.decrypt(x * x)[0]))",
        "assert seen[-1] == 9",
    ]
    subprocess.run([sys.executable, "-c", "\n".join(lines)], check=True, timeout=600)


def interrupt():
    import os
    import signal

    os.kill(os.getpid(), signal.SIGINT)


def test_ctrl_c_ends_key_generation(fermat, tmp_path):
    seen = []

    def progress(done, total):
        seen.append((done, total))
        if done == 2:
            interrupt()

    for make in (
        lambda: fermat.client.server(progress=progress),
        lambda: fermat.client.save_keys(tmp_path / "keys", progress=progress),
        lambda: fermat.client.save_server_keys(tmp_path / "server.keys", progress=progress),
    ):
        seen.clear()
        with pytest.raises(KeyboardInterrupt):
            make()
        assert 2 <= len(seen) < seen[0][1]
    assert [path.name for path in tmp_path.rglob("*")] == ["keys"], "nothing half-made is left"


def test_ctrl_c_ends_a_computation(fermat):
    """Between the key switches of a power that would take many bootstrappings."""
    import threading

    x = fermat.load([3, 4])
    timer = threading.Timer(0.3, interrupt)
    with pytest.raises(KeyboardInterrupt):
        timer.start()
        for _ in range(1000):
            x = x ** (2**62 + 1)
    timer.join()
    np.testing.assert_array_equal(fermat.client.decrypt(fermat.load([3]) * 2), [6])


def test_the_lock_is_released(fermat):
    """While one thread bootstraps, another one runs Python."""
    import threading

    counted = []
    done = threading.Event()

    def count():
        while not done.is_set():
            counted.append(1)
            done.wait(0.001)

    thread = threading.Thread(target=count)
    x = fermat.load([1, 2, 3])
    thread.start()
    most = 0
    # A busy machine may leave the other thread no time during one of them.
    for _ in range(50):
        before = len(counted)
        fermat_refresh = x.refresh()
        most = max(most, len(counted) - before)
        if most > 3:
            break
    done.set()
    thread.join()
    assert most > 3
    np.testing.assert_array_equal(fermat.client.decrypt(fermat_refresh), [1, 2, 3])


def test_config(capsys):
    assert everlevel.__version__ == everlevel.config()["everlevel"]
    everlevel.show_config()
    assert "instruction set" in capsys.readouterr().out
    with pytest.raises(everlevel.RangeError):
        everlevel.set_num_threads(100000)


def test_decryption_for_sharing(toy):
    x = toy.client.encrypt_modular([-3, 5], signed=True)
    np.testing.assert_array_equal(toy.client.decrypt_for_sharing(x), [-3, 5])
    with pytest.raises(everlevel.NoiseError):
        toy.client.decrypt_for_sharing(x, statistical_bits=2000)


@pytest.mark.skipif(not os.path.exists("/dev/zero"), reason="no such devices")
def test_devices_are_not_read(toy, fermat, tmp_path):
    for read in (
        toy.server.read,
        tables.Result.open,
        tables.Plan.open,
        tables.Schema,
        tables.Schema.infer,
    ):
        with pytest.raises(everlevel.FileError) as caught:
            read("/dev/zero")
        assert caught.value.code == "wire.io" and caught.value.path == "/dev/zero"
    schema = tables.Schema({"columns": [{"name": "n", "type": "integer", "low": 0, "high": 9}]})
    with pytest.raises(everlevel.FileError) as caught:
        tables.encrypt(fermat.client, "/dev/zero", schema, directory=tmp_path / "t")
    assert caught.value.code == "wire.io"


def test_paths_with_nul(toy):
    for read in (
        toy.server.read,
        everlevel.Server.open,
        everlevel.Client.open,
        everlevel.inspect,
        tables.Result.open,
        tables.Schema,
    ):
        with pytest.raises(everlevel.FileError) as caught:
            read("a\0b")
        assert caught.value.code == "wire.io" and "NUL" in str(caught.value)


def test_files_have_a_longest(tmp_path, monkeypatch):
    monkeypatch.setattr(_values, "FILE_BYTES", 10)
    path = tmp_path / "file"
    for size in (0, 9, 10):
        path.write_bytes(b"x" * size)
        assert _values.read_file(path) == b"x" * size
    path.write_bytes(b"x" * 11)
    with pytest.raises(everlevel.FileError) as caught:
        _values.read_file(path)
    assert caught.value.code == "wire.limit" and caught.value.path == str(path)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes with names")
def test_pipes_are_read(tmp_path, monkeypatch):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)

    def read(data):
        writer = threading.Thread(target=pipe.write_bytes, args=(data,))
        writer.start()
        try:
            return _values.read_file(pipe)
        finally:
            writer.join()

    assert read(b"") == b"" and read(b"x" * 3_000) == b"x" * 3_000
    monkeypatch.setattr(_values, "FILE_BYTES", 10)
    assert read(b"x" * 10) == b"x" * 10
    with pytest.raises(everlevel.FileError) as caught:
        read(b"x" * 11)
    assert caught.value.code == "wire.limit"
