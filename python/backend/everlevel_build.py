"""Builds the package by maturin; where Rust is missing, one sentence says what to do.

Nothing is asked of PyPI before Rust is found, and no Rust is installed without a word: maturin by
itself would download a toolchain.
"""

from __future__ import annotations

import os
import pathlib
import re
import subprocess
import sys
from types import ModuleType
from typing import Any

MATURIN = "maturin>=1.9,<2"
MANIFEST = pathlib.Path(__file__).resolve().parent.parent / "Cargo.toml"


def oldest() -> str:
    """The oldest Rust that builds the package."""
    found = re.search(r'^rust-version = "([^"]+)"', MANIFEST.read_text(encoding="utf-8"), re.M)
    return found[1] if found else "1.89"


def missing() -> str | None:
    """What is wrong with the Rust on the PATH."""
    cargo = os.environ.get("CARGO", "cargo")
    for program in (cargo, os.environ.get("RUSTC", "rustc")):
        try:
            told = subprocess.run([program, "--version"], capture_output=True, text=True)
        except OSError:
            return f"{program} was not found"
        # The first line of `cargo 1.95.0 (f2d3ce0bd 2026-03-21)`; rustup may have no toolchain.
        version = re.match(r"\w+ (\d+)\.(\d+)", told.stdout)
        if told.returncode or version is None:
            return f"{program} --version failed"
        if (int(version[1]), int(version[2])) < tuple(map(int, oldest().split(".")[:2])):
            return f"{program} is of version {version[1]}.{version[2]}"
    return None


def require_rust() -> None:
    wrong = missing()
    if wrong is not None:
        sys.exit(
            f"everlevel is built from source with Rust {oldest()} or later, and {wrong}: "
            "install Rust from https://rustup.rs and try again in a new shell, or install a "
            "wheel, which needs no Rust (pip install everlevel-*.whl)."
        )


def maturin() -> ModuleType:
    require_rust()
    try:
        import maturin
    except ModuleNotFoundError:
        sys.exit(f"everlevel is built by maturin, which is not installed: pip install '{MATURIN}'.")
    return maturin


def requirements(config_settings: Any = None) -> list[str]:
    require_rust()
    return [MATURIN]


get_requires_for_build_wheel = requirements
get_requires_for_build_editable = requirements
get_requires_for_build_sdist = requirements


def prepare_metadata_for_build_wheel(directory: str, config_settings: Any = None) -> str:
    return maturin().prepare_metadata_for_build_wheel(directory, config_settings)


def prepare_metadata_for_build_editable(directory: str, config_settings: Any = None) -> str:
    return maturin().prepare_metadata_for_build_editable(directory, config_settings)


def build_wheel(directory: str, config_settings: Any = None, metadata: str | None = None) -> str:
    return maturin().build_wheel(directory, config_settings, metadata)


def build_editable(directory: str, config_settings: Any = None, metadata: str | None = None) -> str:
    return maturin().build_editable(directory, config_settings, metadata)


def build_sdist(directory: str, config_settings: Any = None) -> str:
    return maturin().build_sdist(directory, config_settings)
