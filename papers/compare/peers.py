"""The other libraries: what each needs, how it is set up outside of the sources, and what it is
asked for.
"""

import os
import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

from work import integers, primitives, programs, queries, thin_bootstrap

HERE = Path(__file__).resolve().parent


class Absent(Exception):
    """A peer that cannot be set up here, and why."""


def found(program, advice):
    """The path of a program, or a reason to skip."""
    path = shutil.which(program)
    if path is None:
        raise Absent(f"{program} not found ({advice})")
    return path


def call(command, what, **options):
    """Runs one step of a set-up; its last lines are the reason to skip when it fails."""
    try:
        done = subprocess.run(
            command,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            **options,
        )
    except OSError as e:
        raise Absent(f"{what} failed: {e}") from e
    if done.returncode != 0:
        lines = [line.strip() for line in done.stdout.splitlines() if line.strip()]
        errors = [line for line in lines if "error" in line.lower()] or lines[-1:] or ["no output"]
        raise Absent(f"{what} failed: {errors[0][:300]}")
    return done.stdout


def copied(name, cache):
    """The sources of a benchmark, copied to where they are built; unchanged files keep their times,
    so that nothing is built twice.
    """
    target = cache / name
    target.mkdir(parents=True, exist_ok=True)
    for source in (HERE / name).rglob("*"):
        place = target / source.relative_to(HERE / name)
        if source.is_dir():
            place.mkdir(parents=True, exist_ok=True)
        elif not place.exists() or place.read_bytes() != source.read_bytes():
            shutil.copyfile(source, place)
    return target


class Peer:
    """A library to compare with. `prepare` sets it up and returns the command that measures one
    piece of work.
    """

    name = version = licence = needs = facts = ""
    threaded = False  # whether the library itself computes with several threads

    def prepare(self, cache):
        raise NotImplementedError

    def works(self, quick):
        return [primitives(form, quick) for form in ("bgv", "bfv")]

    def environment(self, threads):
        return dict(os.environ)


class OpenFhe(Peer):
    """OpenFHE through its Python package. The calls below take milliseconds, so that the time of
    the interpreter does not matter.
    """

    name, version, licence = "openfhe", "1.6.1.0.22.4", "BSD-2-Clause"
    needs = "Python 3.10 with venv and pip, Linux on x86-64"
    threaded = True

    def prepare(self, cache):
        python = self.interpreter()
        venv = cache / "openfhe"
        if not (venv / "done").exists():
            shutil.rmtree(venv, ignore_errors=True)
            call([python, "-m", "venv", str(venv)], "making a virtual environment")
            pip = [
                str(venv / "bin/python"),
                "-m",
                "pip",
                "install",
                "--quiet",
                "--disable-pip-version-check",
            ]
            call(pip + [f"openfhe=={self.version}"], "pip install openfhe")
            call([str(venv / "bin/python"), "-c", "import openfhe"], "import openfhe")
            (venv / "done").touch()
        return [str(venv / "bin/python"), str(HERE / "openfhe" / "bench.py")]

    def interpreter(self):
        """The extension module is built for one version of Python."""
        managed = sorted(Path.home().glob(".pyenv/versions/3.10.*/bin/python3.10"))
        for name in (
            os.environ.get("COMPARE_PYTHON"),
            sys.executable,
            "python3.10",
            *map(str, managed),
        ):
            path = shutil.which(name) if name else None
            if path is None:
                continue
            shown = subprocess.run(
                [path, "-c", "import sys; print(*sys.version_info[:2])"],
                capture_output=True,
                text=True,
            )
            if shown.stdout.split() == ["3", "10"]:
                return path
        raise Absent(
            "Python 3.10 not found (install it, or say where it is by COMPARE_PYTHON: the package "
            "is built for 3.10)"
        )

    def environment(self, threads):
        return {**os.environ, "OMP_NUM_THREADS": str(threads)}


class Lattigo(Peer):
    name, version, licence = "lattigo", "v6.2.0", "Apache-2.0"
    needs = "Go 1.24 or later"

    def prepare(self, cache):
        go = found("go", "install Go 1.24 or later")
        sources = copied("lattigo", cache)
        call([go, "build", "-o", "bench", "."], "go build", cwd=sources)
        return [str(sources / "bench")]

    def environment(self, threads):
        return {**os.environ, "GOMAXPROCS": str(threads)}


class CargoPeer(Peer):
    """A crate, built by Cargo as a package of its own."""

    toolchain = ""

    def prepare(self, cache):
        cargo = found("cargo", "install Rust from rustup.rs")
        self.check(cargo)
        sources = copied(self.name, cache)
        environment = {**os.environ, "CARGO_TARGET_DIR": str(cache / "cargo")}
        # The flags of the surrounding build are not the peer's: it is built for this machine, as
        # its users would build it.
        environment["RUSTFLAGS"] = "-C target-cpu=native"
        command = (
            [cargo]
            + ([self.toolchain] if self.toolchain else [])
            + ["build", "--release", "--locked", "--quiet"]
        )
        call(command, "cargo build", cwd=sources, env=environment)
        return [str(cache / "cargo" / "release" / f"compare-{self.name}"), str(sources / "cache")]

    def check(self, cargo):
        """Raises where the toolchain is missing."""


class Fheanor(CargoPeer):
    name, version, licence = "fheanor", "0.11.9", "MIT"
    needs = (
        "a nightly Rust, 2026-02-05 for certain "
        "(rustup toolchain install nightly-2026-02-05 --profile minimal)"
    )
    certain = "nightly-2026-02-05"

    def check(self, cargo):
        """The nightly that the crate names, else the one that there is: it need not compile."""
        rustup = shutil.which("rustup")
        there = (
            call([rustup, "toolchain", "list"], "rustup toolchain list").split() if rustup else []
        )
        for name in (self.certain, "nightly"):
            exact = [
                t
                for t in there
                if t == name
                or t.startswith(f"{name}-")
                and (name != "nightly" or not t[8:9].isdigit())
            ]
            if exact:
                self.toolchain = f"+{exact[0]}"
                return
        raise Absent(
            f"no nightly toolchain (rustup toolchain install {self.certain} --profile minimal)"
        )

    def works(self, quick):
        works = [primitives(form, quick) for form in ("bgv", "bfv")]
        return works + [work for form in ("bgv", "bfv") for work in thin_bootstrap(form, quick)]


class FheRs(CargoPeer):
    name, version, licence = "fhe-rs", "0.1.1", "MIT"
    needs = "Rust 1.85 or later"

    def works(self, quick):
        # It keeps a context for every level: n = 2^15 takes more memory than many machines have.
        return [replace(primitives("bfv", True), rounds=2 if quick else 3, runs=5 if quick else 15)]


class TfheRs(CargoPeer):
    name, version, licence = "tfhe-rs", "1.8.2", "BSD-3-Clause-Clear"
    needs = "Rust 1.91 or later"
    threaded = True
    facts = "2-bit digits, at most 2^-128 a bootstrapping, at least 128 bits by its documentation"

    def works(self, quick):
        return integers(quick)

    def environment(self, threads):
        return {**os.environ, "RAYON_NUM_THREADS": str(threads)}


class Concrete(Peer):
    """Programs in Python on both sides; our package is taken from an interpreter that has it."""

    name, version, licence = "concrete", "2.11.0", "BSD-3-Clause-Clear"
    needs = (
        "Python 3.10 to 3.12 with venv and pip, and one that has the package everlevel "
        "(EVERLEVEL_PYTHON)"
    )
    threaded = True

    def prepare(self, cache):
        command = [programs_python(), "-c", "import everlevel"]
        call(command, "importing everlevel (EVERLEVEL_PYTHON names a Python that has it)")
        venv = cache / "concrete"
        if not (venv / "done").exists():
            shutil.rmtree(venv, ignore_errors=True)
            call([sys.executable, "-m", "venv", str(venv)], "making a virtual environment")
            # It imports `pkg_resources`, which later versions of setuptools do not have.
            wanted = [f"concrete-python=={self.version}", "setuptools<70"]
            quiet = ["install", "--quiet", "--disable-pip-version-check"]
            call([str(venv / "bin/python"), "-m", "pip", *quiet, *wanted], "pip install")
            call([str(venv / "bin/python"), "-c", "import concrete.fhe"], "import concrete.fhe")
            (venv / "done").touch()
        return [str(venv / "bin/python"), str(HERE / "concrete" / "theirs" / "report.py")]

    def works(self, quick):
        return programs(quick)

    def environment(self, threads):
        return {**os.environ, "OMP_NUM_THREADS": str(threads)}


class Nshedb(Peer):
    """The programs of NSHEDB for queries derived from TPC-H, over SEAL. No registry has them."""

    name, version, licence = "nshedb", "b467da6", "none stated; SEAL: MIT"
    needs = (
        "its sources with the submodule SEAL (NSHEDB_SOURCES names a clone of "
        "https://github.com/escalab/ShaftDB), CMake, and a C++ compiler with OpenMP"
    )
    threaded = True

    def prepare(self, cache):
        sources = os.environ.get("NSHEDB_SOURCES")
        if not sources or not (Path(sources) / "thirdparty/SEAL/CMakeLists.txt").exists():
            raise Absent("NSHEDB_SOURCES names no clone of its sources with the submodule SEAL")
        cmake = found("cmake", "install CMake 3.13 or later")
        build = cache / "nshedb"
        # SEAL would download these, which only its files need.
        off = [f"-DSEAL_USE_{name}=OFF" for name in ("MSGSL", "ZLIB", "ZSTD")]
        # Differences of equal ciphertexts, which its programs compute, are refused otherwise.
        off.append("-DSEAL_THROW_ON_TRANSPARENT_CIPHERTEXT=OFF")
        configure = [cmake, "-S", sources, "-B", str(build), "-DCMAKE_BUILD_TYPE=Release", *off]
        call(configure, "configuring NSHEDB")
        targets = [f"tpch{work.asked['query'][1:]}_omp" for work in self.works(False)]
        call([cmake, "--build", str(build), "-j", "2", "--target", *targets], "building NSHEDB")
        return [sys.executable, str(HERE / "nshedb" / "report.py"), str(build / "bin")]

    def works(self, quick):
        return queries(quick)


def programs_python():
    """The interpreter that has the package of this repository."""
    return os.environ.get("EVERLEVEL_PYTHON", sys.executable)


PEERS = [OpenFhe(), Lattigo(), Fheanor(), FheRs(), TfheRs(), Concrete(), Nshedb()]
