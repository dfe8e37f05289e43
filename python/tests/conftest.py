import os
import pathlib
import re
import shutil
import subprocess
import threading
import warnings

import numpy as np
import pytest

import everlevel

ROOT = pathlib.Path(__file__).parent.parent.parent


class Party:
    """A parameter set with keys, once for all tests that ask for it."""

    def __init__(self, spec):
        self.params = everlevel.Params(spec, insecure_research=True)
        self.client = everlevel.Client(self.params)
        self.server = self.client.server()
        self.t = self.params.plain_modulus
        self.rng = np.random.default_rng(1)

    def random(self, *shape):
        return self.rng.integers(0, self.t, shape)

    def load(self, values, **how):
        return self.server.load(self.client.encrypt_modular(values, **how))


@pytest.fixture(scope="session")
def toy():
    """128 slots modulo 257 in two rows of 64, with bootstrapping."""
    return Party("insecure_bgv-257-n8")


@pytest.fixture(scope="session")
def fermat():
    """2048 slots modulo 65537."""
    return Party("insecure_bgv-65537-n11")


def program():
    """A program that has `serve`, which those of wheels do not have."""
    named = os.environ.get("EVERLEVEL_PROGRAM", "")
    for path in (shutil.which(named) if named else None, ROOT / "target/release/everlevel"):
        if path and pathlib.Path(path).exists():
            told = subprocess.run([path, "serve", "--help"], capture_output=True)
            if told.returncode == 0:
                return str(path)
    pytest.skip("no program with `serve`: EVERLEVEL_PROGRAM, target/release/everlevel")


@pytest.fixture(scope="module")
def service(tmp_path_factory):
    """Address and token of a service."""
    path, directory = program(), tmp_path_factory.mktemp("service")

    def token(tenant):
        add = [path, "serve", "token", "add", "--dir", directory, "--tenant", tenant]
        return subprocess.run(add, check=True, capture_output=True, text=True).stdout.strip()

    process = subprocess.Popen(
        [path, "serve", "--insecure-research", "--dir", directory, "--listen", "127.0.0.1:0"],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    url = None
    for line in process.stdout:
        if found := re.search(r"serving at \W*(http://)?([\d.]+:\d+)", line):
            url = f"http://{found[2]}"
            break
    assert url, "the service did not start"
    threading.Thread(target=process.stdout.read, daemon=True).start()
    yield url, token
    process.terminate()
    process.wait(300)


@pytest.fixture(scope="module")
def remote(service, fermat):
    url, token = service
    with everlevel.Remote(url, token("acme")) as remote:
        remote.push(fermat.server)
        yield remote


@pytest.fixture(scope="module")
def ray():
    """A cluster of this machine alone."""
    ray = pytest.importorskip("ray", reason="ray is not installed: pip install 'everlevel[ray]'")
    with pytest.MonkeyPatch.context() as patch, warnings.catch_warnings():
        # What a version of Ray says of its next ones is no fault here.
        warnings.simplefilter("ignore")
        # It would end actors where others have taken nearly all memory.
        patch.setenv("RAY_memory_monitor_refresh_ms", "0")
        # A new cluster, also where RAY_ADDRESS names another.
        ray.init(
            address="local",
            num_cpus=3,
            include_dashboard=False,
            log_to_driver=False,
            configure_logging=False,
        )
    yield ray
    ray.shutdown()
