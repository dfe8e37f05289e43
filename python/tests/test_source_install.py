"""Installing from source without Rust ends in one sentence that says what to do."""

import importlib.util
import os
import pathlib
import subprocess
import sys
import types

import pytest

SOURCES = pathlib.Path(__file__).parent.parent
BACKEND = SOURCES / "backend" / "everlevel_build.py"

pytestmark = pytest.mark.skipif(not BACKEND.is_file(), reason="the sources are not here")


@pytest.fixture
def backend(monkeypatch):
    """The build backend, on a PATH without Rust."""
    for name in ("CARGO", "RUSTC"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("PATH", str(SOURCES / "none"))
    spec = importlib.util.spec_from_file_location("everlevel_build", BACKEND)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def programs(folder, **versions):
    """Programs that tell a version, or fail where there is none."""
    for name, version in versions.items():
        path = folder / name
        does = f"echo '{name} {version}'" if version else "exit 1"
        path.write_text(f"#!/bin/sh\n{does}\n")
        path.chmod(0o755)
    return str(folder)


def test_pip_says_what_to_do():
    env = {name: value for name, value in os.environ.items() if name not in ("CARGO", "RUSTC")}
    env["PATH"] = str(SOURCES / "none")
    # Before anything is downloaded: there is no index.
    command = [sys.executable, "-m", "pip", "install", "--no-index", "--no-deps", str(SOURCES)]
    done = subprocess.run(command, env=env, capture_output=True, text=True)
    assert done.returncode == 1
    told = " ".join((done.stdout + done.stderr).split())
    assert "with Rust 1.89 or later, and cargo was not found: install Rust from" in told
    assert "pip install everlevel-*.whl" in told
    assert "[1 lines of output]" in told and "Traceback" not in told


@pytest.mark.skipif(os.name == "nt", reason="the programs are shell scripts")
def test_what_is_wrong_with_rust(backend, tmp_path, monkeypatch):
    assert backend.missing() == "cargo was not found"
    monkeypatch.setenv("PATH", programs(tmp_path, cargo="1.95.0 (f2d3ce0bd 2026-03-21)"))
    assert backend.missing() == "rustc was not found"
    programs(tmp_path, rustc="1.88.2")
    assert backend.missing() == "rustc is of version 1.88"
    programs(tmp_path, rustc=None)
    assert backend.missing() == "rustc --version failed"
    programs(tmp_path, rustc="2.0.0")
    assert backend.missing() is None
    assert backend.get_requires_for_build_wheel() == ["maturin>=1.9,<2"]
    monkeypatch.setenv("CARGO", str(tmp_path / "mine"))
    assert backend.missing() == f"{tmp_path / 'mine'} was not found"


def test_the_rest_is_maturins(backend, monkeypatch):
    def hook(name):
        return lambda *arguments: (name, *arguments)

    hooks = {name: hook(name) for name in ("build_wheel", "build_editable", "build_sdist")}
    monkeypatch.setitem(sys.modules, "maturin", types.SimpleNamespace(**hooks))
    with pytest.raises(SystemExit, match="cargo was not found"):
        backend.build_wheel("out")
    monkeypatch.setattr(backend, "missing", lambda: None)
    assert backend.build_wheel("out", {}, "about") == ("build_wheel", "out", {}, "about")
    assert backend.build_editable("out") == ("build_editable", "out", None, None)
    assert backend.build_sdist("out") == ("build_sdist", "out", None)
    # None stands for a module that cannot be imported.
    monkeypatch.setitem(sys.modules, "maturin", None)
    with pytest.raises(SystemExit, match="pip install 'maturin>=1.9,<2'"):
        backend.build_wheel("out")
