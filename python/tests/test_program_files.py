"""Files of many ciphertexts, written by the program and read by Python, and the other way round."""

import subprocess
import sys

import numpy as np
import pytest

import everlevel

PROGRAM = [sys.executable, "-m", "everlevel"]


@pytest.fixture
def run(tmp_path):
    """The program ``everlevel`` in a directory of its own."""

    def run(*words):
        command = [*PROGRAM, *words, "--insecure-research"]
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        return done.stdout

    return run


@pytest.mark.parametrize(
    "words",
    [
        ["serve", "--demo"],
        ["remote", "jobs"],
        ["eval", "--remote", "http://127.0.0.1:1", "y = x", "x.ct", "--out", "out"],
    ],
)
def test_a_program_without_the_service_says_what_to_do(words):
    done = subprocess.run([*PROGRAM, *words], capture_output=True, text=True, check=False)
    assert done.returncode == 2 and "cargo install --path cli" in done.stderr, done.stderr


def column(path):
    return np.loadtxt(path, dtype=np.int64, skiprows=1)


def test_values_modulo_p(run, tmp_path, toy):
    """300 values in 3 ciphertexts of 128 slots."""
    toy.client.save_keys(tmp_path / "keys")
    x = np.arange(300) % 7 - 3
    sent = toy.client.encrypt_modular(x.reshape(20, 15), bounds=(-3, 3))
    sent.save(tmp_path / "x.ct")
    run("decrypt", "--key", "keys/secret.key", "--in", "x.ct", "--out", "x.csv")
    assert (column(tmp_path / "x.csv") == x).all()
    (tmp_path / "x.small").write_bytes(sent.compact())
    run("decrypt", "--key", "keys/secret.key", "--in", "x.small", "--out", "small.csv")
    assert (column(tmp_path / "small.csv") == x).all()

    keys = ["--server-keys", "keys/server.keys"]
    run("eval", *keys, "y = x*x + 1; s = sum(x)", "x=x.ct", "--out", "out")
    y = everlevel.EncryptedArray.from_bytes(
        (tmp_path / "out" / "y.ct").read_bytes(), params=toy.params, bounds="stated"
    )
    assert y.shape == (20, 15) and y.ciphertexts == 3 and y.range == (1, 10)
    assert (toy.client.decrypt(y) == (x * x + 1).reshape(20, 15)).all()
    s = (tmp_path / "out" / "s.ct").read_bytes()
    assert (toy.client.decrypt(s, signed=True, wrapping=True) == x.sum()).all()

    np.savetxt(tmp_path / "w.csv", x + 3, fmt="%d", header="w", comments="")
    encrypt = ["encrypt", "--key", "keys/public.key", "--in", "w.csv", "--out", "w.ct"]
    run(*encrypt, "--range", "0..6")
    w = (tmp_path / "w.ct").read_bytes()
    assert (toy.client.decrypt(w) == x + 3).all()
    loaded = everlevel.EncryptedArray.from_bytes(w, bounds="stated", server=toy.server)
    total = toy.client.decrypt(loaded.sum(), wrapping=True)
    assert total == (x + 3).sum() % toy.t


def test_typed_integers(run, tmp_path, fermat):
    """4500 rows in 3 blocks of 2048 slots."""
    fermat.client.save_keys(tmp_path / "keys")
    age, pay = np.arange(4500) % 90, np.arange(4500) * 37 % 5000
    arrays = {"age": age.astype(np.uint8), "pay": pay.astype(np.uint16)}
    sent = {name: fermat.client.encrypt(values) for name, values in arrays.items()}
    (tmp_path / "p.ct").write_bytes(everlevel.integers_to_bytes(sent))
    run("decrypt", "--key", "keys/secret.key", "--in", "p.ct", "--out", "p.csv")
    found = np.loadtxt(tmp_path / "p.csv", dtype=np.int64, skiprows=1, delimiter=",")
    assert (found == np.stack([age, pay], axis=1)).all()

    keys = ["--server-keys", "keys/server.keys"]
    run("eval", *keys, "old = age >= 65; n = count(old); total = sum(pay)", "p.ct", "--out", "out")
    old = fermat.client.decrypt((tmp_path / "out" / "old.ct").read_bytes())
    assert (old == (age >= 65)).all()
    for name, expected in (("n", (age >= 65).sum()), ("total", pay.sum())):
        assert fermat.client.decrypt((tmp_path / "out" / f"{name}.ct").read_bytes()) == expected

    # Reduced to what decryption needs, by the program and here.
    for name, expected in (("old", age >= 65), ("total", pay.sum())):
        run("compact", "--in", f"out/{name}.ct", "--out", f"{name}.small")
        data = (tmp_path / f"{name}.small").read_bytes()
        assert everlevel.inspect(data)["kind"] == "columns for decryption"
        assert (fermat.client.decrypt(data) == expected).all()
    (tmp_path / "pay.small").write_bytes(sent["pay"].compact("pay"))
    run("decrypt", "--key", "keys/secret.key", "--in", "pay.small", "--out", "pay.csv")
    assert (np.loadtxt(tmp_path / "pay.csv", dtype=np.int64, skiprows=1) == pay).all()

    rows = ["age,pay", *(f"{a},{p}" for a, p in zip(age, pay, strict=True))]
    (tmp_path / "people.csv").write_text("\n".join(rows) + "\n")
    types = ["--types", "age=u8,pay=u16"]
    key = ["--key", "keys/public.key"]
    run("encrypt", *key, "--in", "people.csv", *types, "--out", "people.ct")
    opened = fermat.client.decrypt((tmp_path / "people.ct").read_bytes())
    assert (opened["age"] == age).all() and (opened["pay"] == pay).all()
