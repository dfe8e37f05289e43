"""A service over HTTPS."""

import contextlib
import itertools
import json
import os
import subprocess
import tempfile

import numpy as np
import pytest
from conftest import program
from test_remote import refusal

import everlevel

pytest.importorskip("blake3", reason="blake3 is not installed: pip install 'everlevel[remote]'")


@contextlib.contextmanager
def serving(*arguments):
    """What a service prints at its start."""
    command = [program(), "serve", "--json", "--listen", "127.0.0.1:0", *map(str, arguments)]
    with tempfile.TemporaryFile() as log:
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=log)
        try:
            lines = iter(process.stdout.readline, b"")
            # One object over several lines.
            told = [*itertools.takewhile(lambda line: line != b"}\n", lines), b"}"]
            if told == [b"}"]:
                log.seek(0)
                if b"service.no-tls" in log.read():
                    pytest.skip("the processor lacks instructions that TLS needs")
            yield json.loads(b"".join(told))
        finally:
            process.terminate()
            process.wait(300)


@pytest.fixture(scope="module")
def demo(tmp_path_factory):
    """The directory of a demonstration, and what its service has printed."""
    directory = tmp_path_factory.mktemp("demo")
    with serving("--demo", "--tls-self-signed", "--dir", directory) as told:
        yield directory, told


def test_a_job_goes_through_https(demo, fermat):
    directory, told = demo
    assert told["url"].startswith("https://127.0.0.1:")
    assert told["authority"] == str(directory / "authority.pem")
    token = (directory / "token").read_text()
    with everlevel.Remote(told["url"], token, ca=directory / "authority.pem") as remote:
        remote.push(fermat.server)
        x = fermat.client.encrypt_modular(np.arange(5))
        found = remote.run("y = 3*x", x=x)["y"]
        assert fermat.client.decrypt(found).tolist() == [0, 3, 6, 9, 12]
    # By name as well.
    port = told["url"].rpartition(":")[2]
    everlevel.Remote(f"https://localhost:{port}", token, ca=directory / "authority.pem").usage()


def test_only_the_service_that_was_meant_is_believed(demo, tmp_path, monkeypatch):
    directory, told = demo
    token = (directory / "token").read_text()
    with serving("--demo", "--tls-self-signed", "--dir", tmp_path) as other:
        assert other["fingerprint"] != told["fingerprint"]
        mine = {"ca": tmp_path / "authority.pem"}
        everlevel.Remote(other["url"], (tmp_path / "token").read_text(), **mine).usage()
    # It is not tried again, for which there would be no pause.
    monkeypatch.setattr("everlevel._http.PAUSE", None)
    for trust in (mine, {}):
        remote = everlevel.Remote(told["url"], token, **trust)
        assert token not in refusal(everlevel.ServiceError, "service.certificate", remote.usage)


def test_clients_prove_who_they_are(demo, tmp_path):
    directory, _ = demo
    with serving("--demo", "--tls-self-signed", "--dir", tmp_path / "member"):
        pass
    service, member = tmp_path / "service", tmp_path / "member"
    add = [program(), "serve", "token", "add", "--dir", service, "--tenant", "acme"]
    token = subprocess.run(add, check=True, capture_output=True, text=True).stdout.strip()
    files = ["--tls-certificate", directory / "certificate.pem"]
    files += ["--tls-key", directory / "certificate.key", "--tls-client-ca"]
    with serving("--dir", service, *files, member / "authority.pem") as told:
        ca = directory / "authority.pem"
        shown = {"certificate": member / "certificate.pem", "key": member / "certificate.key"}
        assert everlevel.Remote(told["url"], token, ca=ca, **shown).usage().objects == 0
        others = {
            "certificate": directory / "certificate.pem",
            "key": directory / "certificate.key",
        }
        for wrong in ({}, others):
            remote = everlevel.Remote(told["url"], token, ca=ca, **wrong)
            refusal(everlevel.ServiceError, "service.certificate", remote.usage)


def test_files_that_cannot_be_used(demo, tmp_path):
    directory, told = demo
    kind, remote = everlevel.ServiceError, everlevel.Remote
    certificate, key = directory / "certificate.pem", directory / "certificate.key"
    none, junk = tmp_path / "none", tmp_path / "junk"
    junk.write_text("-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----\n")
    for wrong in (
        {"ca": none},
        {"ca": junk},
        {"ca": key},
        {"certificate": certificate},
        {"key": key},
        {"certificate": certificate, "key": none},
        {"certificate": certificate, "key": junk},
        {"certificate": none, "key": key},
        {"certificate": directory / "authority.pem", "key": key},
    ):
        refusal(kind, "service.tls", remote, told["url"], "token", **wrong)
    shown = tmp_path / "shown.key"
    shown.write_bytes(key.read_bytes())
    shown.chmod(0o644)
    if os.name == "posix":
        files = {"certificate": certificate, "key": shown}
        assert "other users" in refusal(kind, "service.tls", remote, told["url"], "token", **files)
    refusal(kind, "service.malformed", remote, "http://127.0.0.1:1", "token", ca=certificate)
