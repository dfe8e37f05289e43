"""Tests that need no peer: `python3 -m unittest discover -s papers/compare`."""

import contextlib
import io
import os
import stat
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path
from unittest import mock

import harness
import peers
import records
import work

HERE = Path(__file__).resolve().parent

# What a program that looks like everlevel prints: 2 ms for everything, or as told by the file
# beside it.
FAKE_EVERLEVEL = f"""#!{sys.executable}
import json, sys
a = sys.argv
log = open(sys.argv[0] + ".log", "a")
if a[1] == "version":
    print(json.dumps({{"version": "0", "cpu_flags": "none", "backend": "portable"}}))
elif a[2] == "integers":
    log.write("ours\\n")
    seconds = 4.0 if "--exhausted" in a else 2.0
    wrong = 1 if a[a.index("--op") + 1] == "wrong" else 0
    print(json.dumps({{"set": "s", "values": 1000, "wrong_values": wrong, "seconds": seconds,
                       "refreshes": int(seconds) - 2, "security_bits": 128.4,
                       "failure_log2": -130.0, "op": a[a.index("--op") + 1]}}))
elif a[1] == "table":
    query = {{"name": a[a.index("--only") + 1], "rows": 32768, "seconds": 0.5}}
    exact = a[a.index("--params") + 1] != "wrong"
    print(json.dumps({{"queries": [{{**query, "exact": exact}}], "security_bits": 128.4}}))
elif a[1] == "security":
    print(json.dumps({{"security_bits": 100.0}}))
else:
    log.write("ours\\n")
    spec = json.load(open(a[a.index("--params") + 1]))
    row = {{"set": spec["name"], "n": spec["index"] // 2, "log_q": 100.0, "log_p": 50.0,
            "digits": 3, "ms": 2.0}}
    names = ("rotate", "add", "multiply_relinearize")
    print(json.dumps({{"results": [{{"name": name, **row}} for name in names]}}))
"""

FAKE_PEER = f"""#!{sys.executable}
import json, sys
asked = json.loads(sys.argv[1])
open(sys.argv[0].replace("peer", "everlevel") + ".log", "a").write("theirs\\n")
if asked["kind"] == "integers":
    print(json.dumps({{"version": "7", "seconds": {{asked["op"]: [0.5, 1.0, 9.0]}},
                       "verified": asked["type"] == "u8"}}))
    sys.exit()
if asked["kind"] == "programs":
    print(json.dumps({{"version": "7", "seconds": 2.0, "keys": 1.5, "values": 4, "error": 2**-17,
                       "bootstraps": 12, "verified": True}}))
    sys.exit()
if asked["kind"] == "queries":
    print(json.dumps({{"seconds": 5.0, "verified": asked["query"] == "Q6", "rows": 9,
                       "log_qp": 881, "n": 32768}}))
    sys.exit()
seconds = {{"rotate": [0.001, 0.008, 0.003], "add": [0.002], "of no concern": [1.0]}}
print(json.dumps({{"version": "7", "log_q": 90.0, "log_p": 40.0, "facts": "3 digits",
                   "notes": {{"add": "in place"}}, "seconds": seconds,
                   "verified": asked["t"] == 65537}}))
"""

# What an interpreter with the package prints for a program.
FAKE_PYTHON = f"""#!{sys.executable}
import json, sys
print(json.dumps({{"seconds": 2.0, "keys": 1.0, "values": 1000, "bootstraps": 3,
                   "verified": "wrong" not in sys.argv[-1]}}))
"""


def program(directory, name, text):
    path = Path(directory) / name
    path.write_text(text)
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return str(path)


class FakePeer(peers.Peer):
    name, version, licence, needs, facts = "fake", "6", "MIT", "nothing", "none"

    def __init__(self, command, works):
        self.command, self.asked = [command], works

    def prepare(self, cache):
        return self.command

    def works(self, quick):
        return self.asked


def run(arguments, of=None):
    """Exit code and standard output of the harness, with other peers if given."""
    out = io.StringIO()
    with mock.patch.object(harness, "PEERS", of or peers.PEERS), contextlib.redirect_stdout(out):
        with contextlib.redirect_stderr(io.StringIO()):
            code = harness.main(arguments)
    return code, out.getvalue()


class Compare(unittest.TestCase):
    def setUp(self):
        self.directory = tempfile.TemporaryDirectory()
        self.addCleanup(self.directory.cleanup)
        self.path = Path(self.directory.name)
        self.everlevel = program(self.path, "everlevel", FAKE_EVERLEVEL)
        self.peer = program(self.path, "peer", FAKE_PEER)
        self.places = [
            "--everlevel",
            self.everlevel,
            "--cache",
            str(self.path / "cache"),
            "--out",
            str(self.path / "out"),
        ]

    def test_every_peer_is_listed_and_the_script_runs(self):
        done = subprocess.run(
            [sys.executable, str(HERE / "run"), "--list"],
            capture_output=True,
            text=True,
            check=True,
        )
        lines = done.stdout.splitlines()
        self.assertEqual(
            [line.split()[0] for line in lines],
            ["openfhe", "lattigo", "fheanor", "fhe-rs", "tfhe-rs", "concrete", "nshedb"],
        )
        known = r"MIT|Apache-2\.0|BSD-2-Clause|BSD-3-Clause-Clear|none stated; SEAL: MIT"
        for line in lines:
            self.assertRegex(line, rf"^\S+ \S+, ({known}): needs \S")

    def test_absent_toolchains_are_one_line_each(self):
        with (
            mock.patch.dict(os.environ, {"PATH": "", "HOME": str(self.path), "NSHEDB_SOURCES": ""}),
            mock.patch.object(sys, "executable", ""),
        ):
            code, out = run(self.places)
        self.assertEqual(code, 1, out)
        lines = out.splitlines()
        self.assertRegex(lines[0], r"^skipped: openfhe: Python 3\.10 not found \(.+\)$")
        self.assertRegex(lines[1], r"^skipped: lattigo: go not found \(install Go .+\)$")
        self.assertRegex(lines[2], r"^skipped: fheanor: cargo not found \(install Rust .+\)$")
        self.assertRegex(lines[3], r"^skipped: fhe-rs: cargo not found \(install Rust .+\)$")
        self.assertRegex(lines[4], r"^skipped: tfhe-rs: cargo not found \(install Rust .+\)$")
        self.assertRegex(lines[5], r"^skipped: concrete: importing everlevel \(.+\) failed: .+$")
        self.assertRegex(lines[6], r"^skipped: nshedb: NSHEDB_SOURCES names no clone .+$")
        self.assertEqual(lines[7:], ["nothing was compared: no peer could be set up"])
        self.assertFalse((self.path / "out").exists())

    def test_a_failed_set_up_is_skipped_and_others_run(self):
        broken = FakePeer(self.peer, [work.primitives("bgv", True)])
        broken.prepare = lambda cache: peers.call(
            [sys.executable, "-c", "import no_such_module_at_all"], "set-up"
        )
        code, out = run(
            [*self.places, "--quick"], [broken, FakePeer(self.peer, [work.primitives("bgv", True)])]
        )
        self.assertEqual(code, 0, out)
        self.assertRegex(
            out.splitlines()[0], r"^skipped: fake: set-up failed: .*no_such_module_at_all"
        )
        self.assertIn("written:", out)

    def test_rows(self):
        asked = work.primitives("bgv", quick=False)
        code, out = run(self.places, [FakePeer(self.peer, [asked])])
        self.assertEqual(code, 0, out)
        report = records.read(self.path / "out")["compare-fake"]
        self.assertEqual(
            {"name", "peer", "version", "licence", "rows", "circumstances"}, set(report)
        )
        self.assertEqual(
            {"date", "cpu", "cpu_flags", "backend", "threads", "version", "commit"},
            set(report["circumstances"]),
        )
        rows = {row["what"]: row for row in report["rows"]}
        self.assertEqual(set(rows), {"rotate", "add"}, "what both sides have, and nothing else")
        fields = {
            "what",
            "form",
            "params",
            "peer",
            "version",
            "seconds",
            "ours_seconds",
            "ratio",
            "runs",
            "note",
        }
        self.assertEqual(set(rows["rotate"]), fields)
        self.assertEqual(
            (rows["rotate"]["seconds"], rows["rotate"]["ours_seconds"]), (0.003, 0.002)
        )
        self.assertAlmostEqual(rows["rotate"]["ratio"], 1.5)
        self.assertEqual(rows["rotate"]["runs"], asked.runs * asked.rounds)
        self.assertEqual((rows["rotate"]["peer"], rows["rotate"]["version"]), ("fake", "7"))
        self.assertIn("in place", rows["add"]["note"])
        # Each round begins with the side that the one before ended with.
        self.assertEqual(
            Path(self.everlevel + ".log").read_text().split(),
            ["ours", "theirs", "theirs", "ours", "ours", "theirs"],
        )

    def test_threads_that_a_peer_does_not_have_are_told(self):
        run([*self.places, "--threads", "2"], [FakePeer(self.peer, [work.primitives("bgv", True)])])
        report = records.read(self.path / "out")["compare-fake"]
        self.assertTrue(all("fake has one thread" in row["note"] for row in report["rows"]))

    def test_wrong_results_are_a_failure(self):
        wrong = work.primitives("bgv", True, t=257)
        code, out = run([*self.places, "--quick"], [FakePeer(self.peer, [wrong])])
        self.assertEqual(code, 1)
        self.assertRegex(out, r"failed: fake: .*not verified by decryption")
        self.assertFalse((self.path / "out").exists())

    def test_integers_are_compared_by_value_and_alone(self):
        def of(op, kind):
            return work.Work("integers", "s", {"kind": "integers", "op": op, "type": kind}, 2, 3)

        code, out = run(self.places, [FakePeer(self.peer, [of("lt", "u8")])])
        self.assertEqual(code, 0, out)
        rows = records.read(self.path / "out")["compare-fake"]["rows"]
        found = {
            row["what"]: (row["seconds"], row["ours_seconds"], row["ratio"], row["note"])
            for row in rows
        }
        expected = {
            "lt u8, fresh, of 1000 values, each": (1.0, 0.002, 500.0, "no refresh"),
            "lt u8, fresh, of one value": (1.0, 2.0, 0.5, "no refresh"),
            "lt u8, exhausted, of 1000 values, each": (1.0, 0.004, 250.0, "2 refreshes"),
            "lt u8, exhausted, of one value": (1.0, 4.0, 0.25, "2 refreshes"),
        }
        self.assertEqual(found, expected)
        for wrong in (of("wrong", "u8"), of("lt", "u16")):
            code, out = run(self.places, [FakePeer(self.peer, [wrong])])
            self.assertEqual(code, 1, out)
            self.assertRegex(out, "2 wrong values|not verified by decryption")

    def test_programs_are_compared_by_value_and_alone(self):
        asked = work.Work("programs", "s", {"kind": "programs", "program": "table"}, 2, 1)
        python = program(self.path, "python", FAKE_PYTHON)
        with mock.patch.dict(os.environ, {"EVERLEVEL_PYTHON": python}):
            code, out = run(self.places, [FakePeer(self.peer, [asked])])
            self.assertEqual(code, 0, out)
            each, one = records.read(self.path / "out")["compare-fake"]["rows"]
            self.assertEqual(each["what"], "table, of 1000 values, each")
            self.assertEqual(
                [(row["seconds"], row["ours_seconds"], row["ratio"]) for row in (each, one)],
                [(0.5, 0.002, 250.0), (0.5, 2.0, 0.25)],
            )
            self.assertRegex(each["note"], r"^table: lines \d+ here and \d+ there, keys 1.0 and")
            asked.asked["program"] = "wrong"
            code, out = run(self.places, [FakePeer(self.peer, [asked])])
            self.assertEqual(code, 1, out)
            self.assertIn("wrong: results were not verified", out)

    def test_queries_are_compared_on_full_ciphertexts(self):
        def of(query, params="s"):
            return work.Work("queries", params, {"kind": "queries", "query": query}, 2, 1)

        code, out = run(self.places, [FakePeer(self.peer, [of("Q6")])])
        self.assertEqual(code, 0, out)
        (row,) = records.read(self.path / "out")["compare-fake"]["rows"]
        self.assertEqual(row["what"], "Q6, 32768 rows")
        self.assertEqual((row["seconds"], row["ours_seconds"], row["ratio"]), (5.0, 0.5, 10.0))
        self.assertIn("checked with 9 rows", row["note"])
        for wrong in (of("Q1"), of("Q6", "wrong")):
            code, out = run(self.places, [FakePeer(self.peer, [wrong])])
            self.assertEqual(code, 1, out)
            self.assertRegex(out, "the answer of Q6 is wrong|not verified by decryption")

    def test_both_sides_have_every_program(self):
        for side in ("ours", "theirs"):
            found = {path.stem for path in (HERE / "concrete" / side).glob("*.py")}
            self.assertEqual(found, {*work.PROGRAMS, "report"})

    def test_parameters_match(self):
        for form in ("bgv", "bfv"):
            for quick in (False, True):
                one = work.primitives(form, quick)
                bits = one.params["base_bits"] + one.params["word_bits"] * (
                    one.params["words"] + one.params["special"]
                )
                self.assertEqual(
                    bits, one.asked["log_qp"], "ours has the modulus that is asked for"
                )
                theirs = one.asked["word_bits"] * (one.asked["words"] + one.asked["special"])
                self.assertLess(abs(theirs - bits), 25, "log QP of both sides")
                self.assertEqual(one.params["index"], 2 << one.asked["log_n"])
                self.assertEqual(
                    (one.params["plain_prime"], one.params["form"]), (one.asked["t"], form)
                )
                digits = -(-(one.params["words"] + 1) // one.params["digit_size"])
                self.assertEqual(digits, one.asked["digits"])

    def test_copied_sources_keep_their_times(self):
        cache = self.path / "cache"
        cache.mkdir()
        first = peers.copied("lattigo", cache) / "main.go"
        before = first.stat().st_mtime_ns
        peers.copied("lattigo", cache)
        self.assertEqual(first.stat().st_mtime_ns, before)
        self.assertEqual(first.read_bytes(), (HERE / "lattigo" / "main.go").read_bytes())


if __name__ == "__main__":
    unittest.main()
