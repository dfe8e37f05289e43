"""Bytes, files and pickles, and the program beside the library."""

import copy
import os
import pickle
import shutil
import stat
import subprocess

import numpy as np
import pytest

import everlevel
from everlevel import EncryptedArray, _everlevel


def test_arrays_as_bytes(toy):
    a = toy.random(3, 4)
    x = toy.client.encrypt_modular(a)
    data = x.to_bytes()
    for buffer in (data, bytearray(data), memoryview(data), np.frombuffer(data, np.uint8)):
        back = EncryptedArray.from_bytes(buffer, insecure_research=True)
        assert back.shape == (3, 4) and back.fingerprint == x.fingerprint
        np.testing.assert_array_equal(toy.client.decrypt(back), a)
    np.testing.assert_array_equal(toy.client.decrypt(data), a)
    with pytest.raises(everlevel.InsecureError):
        EncryptedArray.from_bytes(data)
    # Nothing of the bound is trusted by default: enough to decrypt, not to compute.
    with pytest.raises(everlevel.NoiseError):
        toy.server.load(EncryptedArray.from_bytes(data, insecure_research=True)) + 1
    y = toy.server.read(data, bounds="fresh")
    y = y * y + 1
    with pytest.raises(everlevel.FormatError):
        toy.server.read(y.to_bytes(), bounds="fresh")
    z = toy.server.read(y.to_bytes())
    np.testing.assert_array_equal(toy.client.decrypt(z), (a * a + 1) % toy.t)
    assert toy.client.decrypt(z.sum()) == (a * a + 1).sum() % toy.t
    small = y.compact()
    assert len(small) < len(y.to_bytes()) / 3
    np.testing.assert_array_equal(toy.client.decrypt(small), (a * a + 1) % toy.t)
    with pytest.raises(everlevel.RangeError):
        toy.server.read(data, bounds="all")


def test_public_integers_are_as_many_as_their_array_has(fermat):
    # As the program writes "five = 5" beside arrays of this shape: integers of any length.
    five = _everlevel.IntegerServer(fermat.server._raw).apply("add", [2, 3])[0]
    assert five.length is None
    data = everlevel.EncryptedIntegers._make([five], (2, 3)).to_bytes()
    (x,) = everlevel.integers_from_bytes(data, params=fermat.params).values()
    x = fermat.server.load(x)
    np.testing.assert_array_equal(fermat.client.decrypt(x), np.full((2, 3), 5))
    assert fermat.client.decrypt(x.sum()) == 30
    assert fermat.client.decrypt(np.all(x.ravel()))


def test_damaged_bytes(toy):
    data = toy.client.encrypt_modular([1, 2, 3]).to_bytes()
    codes = set()
    for broken in (
        b"",
        b"hello",
        data[:50],
        data[:-1],
        data + b"x",
        data[:200] + bytes([data[200] ^ 1]) + data[201:],
    ):
        with pytest.raises(everlevel.FormatError) as caught:
            toy.server.read(broken)
        codes.add(caught.value.code)
    assert {"wire.not-ours", "wire.truncated", "wire.trailing", "wire.checksum"} <= codes
    with pytest.raises(everlevel.FormatError):
        toy.server.read(toy.params.to_bytes())
    for shape in ("0", "200", "-1", "a", "1," * 40 + "1", "9999999999999999999999"):
        raw = everlevel._everlevel.ciphertexts_to_bytes(
            list(toy.client.encrypt_modular([1])._xs), {"shape": shape}
        )
        with pytest.raises(everlevel.FormatError):
            toy.server.read(raw)


def test_files(toy, tmp_path):
    a = toy.random(9)
    keys = tmp_path / "keys"
    seen = []
    sizes = toy.client.save_keys(keys, progress=lambda done, total: seen.append(done))
    assert set(sizes) == {"params.json", "secret.key", "public.key", "server.keys"} and seen
    assert stat.S_IMODE(os.stat(keys / "secret.key").st_mode) == 0o600
    with pytest.raises(everlevel.FileError) as caught:
        toy.client.save_keys(keys)
    assert (
        caught.value.code == "wire.exists"
        and isinstance(caught.value, OSError)
        and "keys" in caught.value.path
    )
    with pytest.raises(everlevel.InsecureError):
        everlevel.Client.open(keys / "secret.key", params=everlevel.Params("insecure_bgv-257-n8"))
    client = everlevel.Client.open(keys / "secret.key", insecure_research=True)
    public = everlevel.PublicKey.open(keys / "public.key", insecure_research=True)
    server = everlevel.Server.open(keys / "server.keys", insecure_research=True)
    public.encrypt_modular(a).save(tmp_path / "x.ct")
    with pytest.raises(everlevel.FileError):
        public.encrypt_modular(a).save(tmp_path / "x.ct")
    y = server.read(tmp_path / "x.ct") ** 3 + 1
    np.testing.assert_array_equal(client.decrypt(y.rotate(2)), np.roll(a**3 + 1, -2) % toy.t)
    assert server.size_report()["bootstrapping"][0] == 1 and str(keys) in repr(server)
    server.verify_keys()
    memory = everlevel.Server.from_bytes((keys / "server.keys").read_bytes(), toy.params)
    assert (memory.read(tmp_path / "x.ct") ** 3 + 1).fingerprint == y.fingerprint
    memory.save_keys(tmp_path / "copy.keys")
    assert (tmp_path / "copy.keys").read_bytes() == (keys / "server.keys").read_bytes()
    for missing in (server.read, everlevel.Server.open, everlevel.Client.open, everlevel.Params):
        with pytest.raises(everlevel.FileError):
            missing(str(tmp_path / "none.json"))


def test_seeded_keys(toy, tmp_path):
    """Half of each key as a seed: less memory, and results of the same bits."""
    path = tmp_path / "server.keys"
    toy.server.save_keys(path)
    x = toy.client.encrypt_modular(toy.random(6))

    def computed(seeded_keys):
        file = everlevel.Server.open(path, params=toy.params, seeded_keys=seeded_keys)
        copy = pickle.loads(pickle.dumps(file))
        memory = everlevel.Server.from_bytes(path.read_bytes(), toy.params, seeded_keys=seeded_keys)
        servers = (file, copy, memory)
        results = {(server.load(x) ** 3).rotate(1).fingerprint for server in servers}
        return results, [server._raw.keys.memory_bytes for server in servers]

    (expected, whole), (found, seeded) = computed(False), computed(True)
    assert found == expected and len(found) == 1
    assert all(10 * less < 6 * more for less, more in zip(seeded, whole))

    servers = [toy.client.server(program="y = x*x", seeded_keys=how) for how in (False, True)]
    more, less = (server._raw.keys.memory_bytes for server in servers)
    assert 10 * less < 6 * more
    np.testing.assert_array_equal(
        toy.client.decrypt(servers[1].load(x) ** 2), toy.client.decrypt(servers[0].load(x) ** 2)
    )


def test_copies_are_on_the_same_server(toy):
    """They were made by way of a pickle, which has no server."""
    a = np.array([1, 2, 3], np.uint8)
    x, y = toy.load(a), toy.server.load(toy.client.encrypt(a))
    for z in (x, y):
        for again in (copy.copy(z), copy.deepcopy(z), copy.deepcopy({"z": [z]})["z"][0]):
            assert again.server is toy.server
            np.testing.assert_array_equal(toy.client.decrypt(again + 1), a + 1)
    assert toy.client.decrypt(copy.deepcopy(y.sum())) == 6


def test_pickles(toy, tmp_path):
    a = toy.random(6)
    assert pickle.loads(pickle.dumps(toy.params)) is toy.params
    x = toy.load(a) * 2
    back = pickle.loads(pickle.dumps(x))
    assert back.server is None and back.shape == (6,) and back.fingerprint == x.fingerprint
    np.testing.assert_array_equal(
        toy.client.decrypt(toy.server.load(back) + 1), (2 * a + 1) % toy.t
    )
    public = pickle.loads(pickle.dumps(toy.client.public_key()))
    np.testing.assert_array_equal(toy.client.decrypt(public.encrypt_modular(a)), a)
    with pytest.raises(everlevel.FileError):
        pickle.dumps(toy.server)
    toy.server.save_keys(tmp_path / "server.keys")
    server = pickle.loads(
        pickle.dumps(everlevel.Server.open(tmp_path / "server.keys", params=toy.params))
    )
    np.testing.assert_array_equal(toy.client.decrypt(server.load(x) + 1), (2 * a + 1) % toy.t)
    client = everlevel.Client(toy.params)
    with pytest.raises(everlevel.SecretKeyError, match="allow_pickle"):
        pickle.dumps(client)
    client.allow_pickle()
    np.testing.assert_array_equal(
        pickle.loads(pickle.dumps(client)).decrypt(client.encrypt_modular(a)), a
    )


@pytest.mark.skipif(
    not os.environ.get("EVERLEVEL_PROGRAM"), reason="EVERLEVEL_PROGRAM does not name the program"
)
def test_the_program_and_the_library_share_files(toy, tmp_path):
    program = shutil.which(os.environ["EVERLEVEL_PROGRAM"])

    def run(*args):
        subprocess.run(
            [program, *map(str, args), "--insecure-research"],
            check=True,
            capture_output=True,
            cwd=tmp_path,
        )

    a = toy.random(20)
    np.save(tmp_path / "a.npy", a)
    # Keys and data of the program, computed on here.
    run("keygen", "--params", "insecure_bgv-257-n8", "--out", "keys")
    run("encrypt", "--key", "keys/public.key", "--in", "a.npy", "--out", "x.ct")
    server = everlevel.Server.open(tmp_path / "keys/server.keys", insecure_research=True)
    x = server.read(tmp_path / "x.ct")
    assert x.shape == (20,)
    y = 3 * x * (1 - x)
    y.save(tmp_path / "y.ct")
    (tmp_path / "y.result").write_bytes(y.compact())
    for name in ("y.ct", "y.result"):
        run(
            "decrypt",
            "--key",
            "keys/secret.key",
            "--in",
            name,
            "--wrapping",
            "--out",
            f"{name}.npy",
        )
        np.testing.assert_array_equal(np.load(tmp_path / f"{name}.npy"), 3 * a * (1 - a) % toy.t)
    # Keys and data of the library, computed on by the program, to the same bytes.
    toy.client.save_keys(tmp_path / "mine")
    toy.client.encrypt_modular(a).save(tmp_path / "b.ct")
    run("eval", "--server-keys", "mine/server.keys", "y = 3*x*(1-x)", "x=b.ct", "--out", "out")
    client = everlevel.Client.open(tmp_path / "mine/secret.key", insecure_research=True)
    np.testing.assert_array_equal(
        client.decrypt((tmp_path / "out/y.ct").read_bytes()), 3 * a * (1 - a) % toy.t
    )
    mine = everlevel.Server.open(tmp_path / "mine/server.keys", insecure_research=True)
    here = mine.run("y = 3*x*(1-x)", x=mine.read(tmp_path / "b.ct"))["y"]
    assert here.fingerprint == mine.read(tmp_path / "out/y.ct").fingerprint
