"""The client of a service, against a process of the program."""

import contextlib
import io
import logging
import pathlib
import pickle
import re
import socket
import threading

import numpy as np
import pytest

import everlevel
from everlevel import _objects, tables

pytest.importorskip("blake3", reason="blake3 is not installed: pip install 'everlevel[remote]'")
ROOT = pathlib.Path(__file__).parent.parent.parent


class Breaking:
    """A way to the service that breaks off the answers that were asked for."""

    def __init__(self, url, broken):
        host, port = url.removeprefix("http://").split(":")
        self.to, self.broken, self.seen = (host, int(port)), set(broken), 0
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self.listener.getsockname()[1]}"
        threading.Thread(target=self.serve, daemon=True).start()

    def serve(self):
        while True:
            try:
                here, _ = self.listener.accept()
            except OSError:
                return
            self.seen += 1
            threading.Thread(target=self.carry, args=(here, self.seen), daemon=True).start()

    def carry(self, here, number):
        # Either side may have gone before the other.
        with contextlib.suppress(OSError), here, socket.create_connection(self.to) as there:
            threading.Thread(target=self.forth, args=(here, there), daemon=True).start()
            while part := there.recv(1 << 16):
                if number in self.broken:
                    # The service has done what was asked, and its answer is cut.
                    here.sendall(part[: len(part) // 2])
                    break
                here.sendall(part)
            # Closing alone would not end the thread that reads.
            here.shutdown(socket.SHUT_RDWR)

    @staticmethod
    def forth(here, there):
        try:
            while part := here.recv(1 << 16):
                there.sendall(part)
        except OSError:
            pass


def test_a_program_modulo_p(remote, fermat):
    x = fermat.client.encrypt_modular([5, 0, 65536], signed=False)
    results = remote.run("y = 3*x*(1-x); z = x + 1", x=x)
    assert sorted(results) == ["y", "z"] and results["y"].shape == (3,)
    assert fermat.client.decrypt(results["y"]).tolist() == [
        (3 * v * (1 - v)) % 65537 for v in (5, 0, -1)
    ]
    assert fermat.client.decrypt(results["z"]).tolist() == [6, 1, 0]
    local = fermat.server.run("y = x^2", x=x)["y"]
    there = remote.run("y = x^2", {"x": x})["y"]
    assert (fermat.client.decrypt(there) == fermat.client.decrypt(local)).all()
    assert there.signed == local.signed and there.key_id == local.key_id


def test_a_program_on_typed_integers(remote, fermat):
    income = fermat.client.encrypt([60, 20, 90], dtype=np.uint8)
    debt = fermat.client.encrypt([5, 9, 70], dtype=np.uint8)
    text = "limit = if(3*income - 2*debt >= 100, 1000, 0)"
    cost = remote.estimate(text, income=income, debt=debt)
    assert cost.products > 0 and cost.key_memory_bytes > 0 and cost.seconds > 0
    steps = []
    found = remote.run(
        text, income=income, debt=debt, progress=lambda done, total: steps.append((done, total))
    )["limit"]
    assert isinstance(found, everlevel.EncryptedIntegers) and steps
    assert fermat.client.decrypt(found).tolist() == [1000, 0, 1000]
    squares = everlevel.Table([v * v for v in range(256)])
    looked = remote.run("y = table(x, squares)", x=debt, tables={"squares": squares})["y"]
    assert fermat.client.decrypt(looked).tolist() == [25, 81, 4900]


def test_arrays_of_several_ciphertexts(remote, fermat):
    values = np.arange(5000).reshape(50, 100)
    x, w = fermat.client.encrypt_modular(values), fermat.client.encrypt_modular(values[::-1])
    assert x.ciphertexts == 3
    found = remote.run("y = x*x + 7; z = w - x", x=x, w=w)
    local = fermat.server.run("y = x*x + 7; z = w - x", x=x, w=w)
    assert found["y"].shape == (50, 100) and found["y"].signed == local["y"].signed
    assert (fermat.client.decrypt(found["y"]) == (values**2 + 7) % 65537).all()
    assert (fermat.client.decrypt(found["z"]) == fermat.client.decrypt(local["z"])).all()
    pushed = remote.push(x)
    stored = everlevel.EncryptedArray.from_bytes(remote.fetch(pushed), params=fermat.params)
    assert stored.shape == (50, 100)
    debts = np.arange(3000) % 251
    debt = fermat.client.encrypt(debts, dtype=np.uint8)
    found = remote.run("high = debt > 200; all = sum(debt)", debt=debt)
    assert (fermat.client.decrypt(found["high"]) == (debts > 200)).all()
    assert fermat.client.decrypt(found["all"]) == debts.sum()


def test_a_query_on_a_table(remote, fermat, tmp_path):
    schema = tables.Schema(
        {"columns": [{"name": "cost", "type": "integer", "low": 0, "high": 200}]}
    )
    table = tables.encrypt(fermat.client, {"cost": [10, 150, 90]}, schema)
    plan = tables.Plan("select sum(cost), count(*) from t where cost > 50", schema)
    answer = remote.ask(table, plan)
    assert isinstance(answer, tables.Result) and answer.table_id == table.id
    assert list(answer.read(fermat.client, plan=plan, arrow=False).values()) == [[240], [2]]
    table.save(tmp_path / "table")
    there = remote.push(tmp_path / "table")
    assert there in {found["id"] for found in remote.tables()}
    hidden = tables.Plan("select sum(cost) from t where cost > :least", schema)
    bound = hidden.bind(fermat.client, least=100)
    assert remote.estimate_ask(there, hidden, bound).products > 0
    answer = remote.ask(there, hidden, bound)
    read = answer.read(fermat.client, plan=hidden, constants=bound, arrow=False)
    assert list(read.values()) == [[150]]
    remote.delete(there)
    assert there not in {found["id"] for found in remote.tables()}


def test_what_breaks_off_goes_on(service, remote, fermat):
    url, token = service
    x = fermat.client.encrypt_modular(np.arange(2048))
    expected = (np.arange(2048) ** 2 % 65537).tolist()
    # Each answer of an odd number is lost: those to announcements, parts, the job and downloads.
    way = Breaking(url, range(1, 1000, 2))
    mine = token("breaking")
    with everlevel.Remote(way.url, mine) as broken:
        keys = broken.push(fermat.server)
        found = broken.run("y = x*x", x=x)["y"]
        assert fermat.client.decrypt(found).tolist() == expected
    assert way.seen > 20
    way.listener.close()
    with everlevel.Remote(url, mine) as direct:
        # Nothing was done twice.
        assert len(direct.jobs()) == 1 and len(direct.objects()) == 3
        # What is there is not sent again.
        sent = []
        assert direct.push(fermat.server, progress=lambda done, size: sent.append(done)) == keys
        assert len(sent) == 1


def test_a_job_with_a_name_is_started_once(remote, fermat):
    x = fermat.client.encrypt_modular([2, 3])
    before = len(remote.jobs())
    for _ in range(2):
        found = remote.run("y = x + x", x=x, job_name="night-1")["y"]
        assert fermat.client.decrypt(found).tolist() == [4, 6]
    assert len(remote.jobs()) == before + 1
    with pytest.raises(everlevel.ServiceError) as refused:
        remote.run("y = x*x", x=x, job_name="night-1")
    assert refused.value.code == "service.conflict"


def test_an_exception_of_progress_cancels_the_job(remote, fermat):
    x = fermat.client.encrypt_modular(np.arange(2048))

    def stop(done, total):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        remote.run("y = " + "*".join(["x"] * 200), x=x, progress=stop)
    with pytest.raises(KeyboardInterrupt):
        remote.run("y = x^7", x=x, progress=stop, job_name="kept")
    assert fermat.client.decrypt(remote.run("y = x^7", x=x, job_name="kept")["y"])[2] == 128


def refusal(kind, code, call, *args, **named):
    with pytest.raises(kind) as refused:
        call(*args, **named)
    assert refused.value.code == code, refused.value
    return str(refused.value)


def test_refusals_are_those_of_the_library(service, remote, fermat, toy, tmp_path):
    error = everlevel
    x, y = fermat.client.encrypt_modular([1, 2]), fermat.client.encrypt([1, 2], dtype=np.uint8)
    refusal(error.ProgramError, "expression.syntax", remote.run, "y = lookup(", x=y)
    refusal(error.ProgramError, "python.input", remote.run, "y = 2*x", x=x, unread=x)
    refusal(error.ShapeError, "python.shape", remote.run, "y = rotate(x, 1)", x=x)
    refusal(error.DtypeError, "python.input", remote.run, "y = x + z", x=x, z=y)
    refusal(error.DtypeError, "python.input", remote.run, "y = x", x=[1])
    refusal(error.ShapeError, "python.empty", remote.run, "y = 1")
    long = fermat.client.encrypt_modular(np.arange(3000))
    refusal(error.ProgramError, "python.moves", remote.run, "y = sum(x)", x=long)
    refusal(error.ShapeError, "python.shape", remote.run, "y = x + z", x=x, z=long)
    bytes_ = fermat.client.encrypt(np.arange(3000) % 9, dtype=np.uint8)
    refusal(error.ServiceError, "service.malformed", remote.run, "y = median(x)", x=bytes_)
    rows = fermat.client.encrypt([[1, 2], [3, 4]], dtype=np.uint8)
    refusal(error.ShapeError, "python.shape", remote.run, "y = sort(x)", x=rows)
    wrapping = fermat.client.encrypt([1, 2], dtype=np.uint8).wrapping()
    refusal(error.DtypeError, "integers.type", remote.run, "y = x*x", x=wrapping)
    # Of another key.
    other = error.Client(fermat.params).encrypt_modular([1, 2])
    refusal(error.WrongKeyError, "scheme.wrong-key", remote.run, "y = 2*x", x=other)
    # Noise of operations, whose bound would have to be believed.
    computed = fermat.server.load(x) * fermat.server.load(x)
    refusal(error.FormatError, "wire.malformed", remote.run, "y = 2*x", x=computed)
    refusal(error.ServiceError, "service.not-found", remote.fetch, "0" * 64)
    refusal(error.ServiceError, "service.malformed", remote.fetch, "../../state")
    refusal(error.ServiceError, "service.malformed", remote.cancel, "1/2")
    named = {"x": x, "job_name": "two words\r\n"}
    refusal(error.ServiceError, "service.malformed", remote.run, "y = x", **named)
    # A secret key stays here, whatever its file is called.
    fermat.client.save_secret_key(tmp_path / "server.keys")
    used = remote.usage()
    refusal(error.SecretKeyError, "service.malformed", remote.push, tmp_path / "server.keys")
    assert remote.usage() == used and used.objects <= used.most_objects
    url, token = service
    with error.Remote(url, token("fresh")) as fresh:
        refusal(error.KeyMissingError, "python.keys", fresh.run, "y = x", x=x)
        assert fresh.usage().objects == 0


def test_the_token_is_shown_to_nobody(service, caplog):
    url, token = service
    secret = token("silent")
    caplog.set_level(logging.DEBUG)
    remote = everlevel.Remote(url, secret)
    remote.usage()
    assert secret not in repr(remote) and secret not in caplog.text
    with pytest.raises(everlevel.SecretKeyError):
        pickle.dumps(remote)
    for bad in (secret + "\r\nX: 1", "", secret + " ", None):
        with pytest.raises(everlevel.ServiceError) as refused:
            everlevel.Remote(url, bad)
        assert secret not in str(refused.value)
    wrong = everlevel.Remote(url, secret[:-1] + "!")
    assert secret[:-1] not in refusal(everlevel.ServiceError, "service.unauthorized", wrong.usage)
    remote.close()
    refusal(everlevel.ServiceError, "service.malformed", remote.usage)


@pytest.mark.parametrize(
    "url",
    [
        "http://example.com:8420",
        "http://192.168.0.7:8420",
        "http://localhost.example.com",
        "ftp://127.0.0.1:8420",
        "http://user:word@127.0.0.1:8420",
        "http://127.0.0.1:8420/path",
        "http://127.0.0.1:8420?a=b",
        "http://127.0.0.1:99999",
        "http://",
        "127.0.0.1:8420",
        "",
    ],
)
def test_addresses_that_are_refused(url):
    told = refusal(everlevel.ServiceError, "service.malformed", everlevel.Remote, url, "token")
    assert "word" not in told


def test_addresses_that_are_taken():
    for url in ("http://127.0.0.1:8420/", "http://localhost:1", "http://[::1]:8420"):
        everlevel.Remote(url, "token")
    remote = everlevel.Remote("https://example.com", "token")
    assert repr(remote) == "<everlevel.Remote at example.com:443>"
    everlevel.Remote("http://example.com:8420", "token", insecure_http=True)


def lying(answers):
    """A service that gives the same answers, one after the other."""
    listener = socket.create_server(("127.0.0.1", 0))

    def serve():
        for answer in answers:
            here, _ = listener.accept()
            # Whoever asked need not read to the end.
            with here, contextlib.suppress(OSError):
                here.recv(1 << 16)
                here.sendall(answer)

    threading.Thread(target=serve, daemon=True).start()
    return everlevel.Remote(f"http://127.0.0.1:{listener.getsockname()[1]}", "token")


def http(body, status="200 OK", more=b""):
    head = f"HTTP/1.1 {status}\r\nContent-Length: {len(body)}\r\n".encode()
    return head + more + b"\r\n" + body


@pytest.mark.parametrize(
    "answer, code",
    [
        (http(b"[]"), "service.malformed"),
        (http(b"[" * 100000), "service.malformed"),
        (http(b'{"bytes": true}'), "service.malformed"),
        (http(b'{"bytes": -1}'), "service.malformed"),
        (http(b"", "302 Found", b"Location: http://example.com/\r\n"), "service.unreachable"),
        (http(b'{"error": 1}', "400 Bad"), "service.malformed"),
        (http(b'{"error": {"code": "a b", "message": ""}}', "400 Bad"), "service.malformed"),
        (
            http(b'{"error": {"code": "table.later", "message": "no"}}', "422 No"),
            "table.later",
        ),
    ],
)
def test_answers_of_something_else(answer, code):
    refusal(everlevel.Error, code, lying([answer]).usage)


def test_other_bytes_than_were_asked_for():
    remote = lying([http(b'{"bytes": 3}'), http(b"abc")])
    refusal(everlevel.ServiceError, "service.checksum", remote.fetch, "0" * 64)
    remote = lying([http(b'{"bytes": 99999999999999}')])
    refusal(everlevel.ServiceError, "service.too-large", remote.fetch, "0" * 64)


def test_an_answer_whose_head_ends_early_is_asked_for_again(monkeypatch):
    monkeypatch.setattr("everlevel._http.PAUSE", 0.001)
    whole = http(b'{"items": []}')
    for cut in (9, 15, 17, 25):
        assert lying([whole[:cut], whole]).jobs() == []


def test_lists_of_jobs_come_in_parts():
    first, second = (
        http(b'{"items": [{"id": "a"}], "next": "%s"}' % (digit * 32)) for digit in (b"0", b"7")
    )
    last = http(b'{"items": [{"id": "b"}]}')
    assert lying([first, second, last]).jobs() == [{"id": "a"}, {"id": "a"}, {"id": "b"}]
    # Parts that do not end, and what would be a part of another address.
    other = http(b'{"items": [], "next": "/../objects"}')
    for answers in ([first, first], [second, first], [other]):
        refusal(everlevel.ServiceError, "service.malformed", lying(answers).jobs)


def test_a_removal_whose_answer_was_lost_has_happened(monkeypatch):
    monkeypatch.setattr("everlevel._http.PAUSE", 0.001)
    tables = http(b'{"items": []}')
    gone = http(b'{"error": {"code": "service.not-found", "message": "no"}}', "404 No")
    lying([tables, b"", gone]).delete("0" * 64)
    remote = lying([tables, gone])
    refusal(everlevel.ServiceError, "service.not-found", remote.delete, "0" * 64)


def test_a_part_that_is_being_stored_is_waited_for(monkeypatch):
    monkeypatch.setattr("everlevel._objects.PAUSE", 0)

    class Busy:
        """A service that is not done with the only part when it is sent again."""

        def __init__(self):
            self.asked = []

        def json(self, method, path, request=None, *, body=None):
            self.asked.append(method)
            sent = self.asked.count("PUT")
            if method == "PUT" and sent < 8:
                code = "service.timeout" if sent == 1 else "service.conflict"
                raise everlevel.ServiceError("not yet", code=code)
            return {"offset": 10 if sent else 0, "complete": method == "PUT"}

    busy = Busy()
    _objects._sent(busy, io.BytesIO(bytes(10)), "bytes", None)
    assert busy.asked == ["POST", *["PUT", "POST"] * 7, "PUT"]


def test_nobody_answers(monkeypatch):
    monkeypatch.setattr("everlevel._http.PAUSE", 0.001)
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
    remote = everlevel.Remote(f"http://127.0.0.1:{port}", "token")
    refusal(everlevel.ServiceError, "service.unreachable", remote.usage)
    # A job that may have begun is not lost.
    told = refusal(everlevel.ServiceError, "service.unreachable", remote._done, {}, None, None)
    assert re.search(r"job_name='[0-9a-f]{32}'", told)


def test_the_example_of_the_page(service, tmp_path):
    page = (ROOT / "docs/service.md").read_text(encoding="utf-8")
    (example,) = re.findall(r"^```python\n(.*?)^```", page, re.S | re.M)
    url, token = service
    (tmp_path / "token").write_text(token("page"))
    for written, here in (
        ("http://127.0.0.1:8421", url),
        ("target/service-try/token", str(tmp_path / "token")),
    ):
        assert written in example
        example = example.replace(written, here)
    exec(compile(example, "service.md", "exec"), {"__name__": "page"})
