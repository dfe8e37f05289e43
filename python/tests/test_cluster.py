"""One program on many ciphertexts, here and on Ray; an actor dies half-way."""

import itertools
import os
import signal

import numpy as np
import pytest

import everlevel
from everlevel import cluster


def polynomial(server, x):
    return 3 * x**3 * (1 - x) + x.rotate(1)


def test_here(toy):
    columns = [toy.random(20) for _ in range(5)]
    arrays = [toy.client.encrypt_modular(a) for a in columns]
    seen = []
    found = cluster.map(
        "y = x*x + 1",
        arrays,
        server=toy.server,
        progress=lambda done, total: seen.append((done, total)),
    )
    for a, y in zip(columns, found):
        np.testing.assert_array_equal(toy.client.decrypt(y), (a * a + 1) % toy.t)
    assert seen[-1] == (5, 5)
    endless = (toy.client.encrypt_modular([i]) for i in iter(int, 1))
    assert toy.client.decrypt(next(cluster.imap("y = x + 5", endless, server=toy.server)))[0] == 5
    for program in ("y = x*z", "y = x; z = x + 1"):
        with pytest.raises(everlevel.ClusterError):
            cluster.map(program, arrays, server=toy.server)
    with pytest.raises(everlevel.DtypeError):
        cluster.map(lambda server, x: 3, arrays, server=toy.server)
    with pytest.raises(everlevel.ClusterError):
        cluster.map(polynomial, arrays)


def test_work_that_would_never_begin(toy):
    for wrong in (dict(workers=0), dict(workers=-1), dict(threads=0), dict(in_flight=0)):
        with pytest.raises(everlevel.ClusterError) as caught:
            cluster.map("y = x", [], keys=b"", params=toy.params, ray=True, **wrong)
        assert caught.value.code == "python.workers"


def test_nodes_of_another_version(toy):
    with pytest.raises(everlevel.ClusterError, match="0.0.0") as caught:
        cluster._Worker(b"", toy.params, "none", None, 0, False, False, 1, "0.0.0")
    assert caught.value.code == "cluster.version"


class Unborn(Exception):
    """What Ray raises for an actor whose beginning raised something: its traceback as text."""

    actor_init_failed = True


class Refusing:
    """Of Ray what answers for such an actor."""

    class exceptions:
        RayTaskError = ZeroDivisionError
        RayError = Unborn

    @staticmethod
    def get(reference):
        raise reference


def test_actors_that_could_not_begin():
    for told, code in (
        ("Traceback:\nClusterError: this node has 1.0 [cluster.version]\n", "cluster.version"),
        ("Traceback:\nFormatError: no file [wire.io]", "cluster.actor"),
        ("[cluster.version] is in the text before: MemoryError", "cluster.actor"),
    ):
        with pytest.raises(everlevel.ClusterError, match="could not begin") as caught:
            cluster.result_of(Refusing, Unborn(told))
        assert caught.value.code == code


def test_files_of_keys_are_no_links(tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    path, other = cluster._key_file(b"keys", "digest"), tmp_path / "other"
    other.write_bytes(b"of somebody else")
    os.remove(path)
    os.symlink(other, path)
    assert cluster._key_file(b"keys", "digest") == path and not os.path.islink(path)
    assert (tmp_path / os.path.basename(path)).read_bytes() == b"keys"
    assert other.read_bytes() == b"of somebody else"


def test_files_of_keys_that_fail_leave_nothing(tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))

    def full(source, destination):
        raise OSError("no space")

    with monkeypatch.context() as patched:
        patched.setattr("os.replace", full)
        with pytest.raises(OSError, match="no space"):
            cluster._key_file(b"keys", "digest")
    # Of bytes a text is none.
    with pytest.raises(TypeError):
        cluster._key_file("keys", "digest")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("by", ["path", "object store"])
def test_on_ray_with_a_death(toy, ray, tmp_path, by):
    toy.server.save_keys(tmp_path / "server.keys")
    keys = (
        str(tmp_path / "server.keys") if by == "path" else (tmp_path / "server.keys").read_bytes()
    )
    log = str(tmp_path / "log")
    columns = [toy.random(20) for _ in range(40)]
    arrays = [toy.client.encrypt_modular(a) for a in columns]

    def program(server, x):
        """Takes a number that no other has, and says who it is; the fifth dies without a word."""
        for number in itertools.count(1):
            try:
                handle = os.open(f"{log}.{number}", os.O_WRONLY | os.O_CREAT | os.O_EXCL)
                break
            except FileExistsError:
                pass
        os.write(handle, b"%d" % os.getpid())
        os.close(handle)
        if number == 5:
            os.kill(os.getpid(), signal.SIGKILL)
        return 3 * x**3 * (1 - x) + x.rotate(1)

    found = cluster.map(program, arrays, keys=keys, params=toy.params, ray=True, workers=3)
    expected = cluster.map(polynomial, arrays, server=toy.server)
    assert [y.to_bytes() for y in found] == [y.to_bytes() for y in expected]
    for a, y in zip(columns, found):
        np.testing.assert_array_equal(
            toy.client.decrypt(y), (3 * a**3 * (1 - a) + np.roll(a, -1)) % toy.t
        )
    began = [file.read_text() for file in tmp_path.glob("log.*")]
    assert len(set(began)) >= 3 + 1, "three actors and a successor"
    assert len(began) >= len(arrays) + 1


def test_exceptions_of_the_program_come_back(toy, ray, tmp_path):
    toy.server.save_keys(tmp_path / "server.keys")
    server = everlevel.Server.open(tmp_path / "server.keys", params=toy.params)

    def program(server, x):
        return x**0

    with pytest.raises(everlevel.RangeError, match="exponent"):
        cluster.map(program, [toy.client.encrypt_modular([1])], server=server, ray=True, workers=1)
    with pytest.raises(everlevel.ClusterError):
        cluster.map(program, [toy.client.encrypt_modular([1])], server=toy.server, ray=True)


def test_what_ray_adds(ray):
    from everlevel import bench

    try:
        found = bench.cluster("insecure_bgv-257-n8", 6, [1, 2], insecure_research=True)
    finally:
        everlevel.set_num_threads(0)
    assert (found["wrong_slots"], found["different_results"]) == (0, 0)
    assert [run["actors"] for run in found["runs"]] == [0, 1, 2]
