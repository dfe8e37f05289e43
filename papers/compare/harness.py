"""Runs both sides alternately and writes what was found."""

import argparse
import datetime
import json
import math
import os
import platform
import shutil
import statistics
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import records
from peers import PEERS, Absent, programs_python
from work import NOTES, OPERATIONS

ROOT = Path(__file__).resolve().parent.parent.parent
PROGRAMS = ROOT / "papers" / "compare" / "concrete"
OURS = PROGRAMS / "ours"


class Failed(Exception):
    """A measurement that did not come off."""


def main(arguments):
    options = parse(arguments)
    chosen = [p for p in PEERS if not options.only or p.name in options.only]
    if options.list:
        for peer in chosen:
            print(f"{peer.name} {peer.version}, {peer.licence}: needs {peer.needs}")
        return 0
    cache = Path(options.cache) if options.cache else ROOT / "target" / "compare"
    out = Path(options.out)
    try:
        program = everlevel(options.everlevel)
        circumstances = describe(program, options.threads)
    except Failed as e:
        print(f"failed: {e}")
        return 1
    cache.mkdir(parents=True, exist_ok=True)
    written, failed = 0, 0
    for peer in chosen:
        try:
            progress(f"{peer.name}: setting up")
            command = peer.prepare(cache)
            report = compare(peer, command, program, options, cache)
        except Absent as e:
            print(f"skipped: {peer.name}: {e}", flush=True)
            continue
        except Failed as e:
            print(f"failed: {peer.name}: {e}", flush=True)
            failed += 1
            continue
        report["circumstances"] = circumstances
        path = records.enter(out, "compare", f"compare-{peer.name}", report)
        print(table(report), flush=True)
        print(f"written: {path}\n", flush=True)
        written += 1
    if not written and not failed:
        print("nothing was compared: no peer could be set up")
    return 0 if written and not failed else 1


def parse(arguments):
    parser = argparse.ArgumentParser(
        prog="papers/compare/run", description="The same work on everlevel and on other libraries."
    )
    parser.add_argument(
        "--quick", action="store_true", help="small rings: does it work, in minutes"
    )
    parser.add_argument(
        "--out",
        default=str(ROOT / "target/compare/results"),
        help="where compare.jsonl goes [target/compare/results of the repository]",
    )
    parser.add_argument(
        "--only",
        action="append",
        choices=[p.name for p in PEERS],
        help="this peer only; may be repeated",
    )
    parser.add_argument(
        "--threads", type=int, default=1, help="threads on both sides, where the peer can [1]"
    )
    parser.add_argument(
        "--everlevel", help="the program to measure [EVERLEVEL_PROGRAM, else built by cargo]"
    )
    parser.add_argument("--cache", help="where peers are built [target/compare of the repository]")
    parser.add_argument(
        "--list", action="store_true", help="the peers and what each needs; nothing is run"
    )
    options = parser.parse_args(arguments)
    if options.threads < 1:
        parser.error("--threads: expected at least 1")
    return options


def progress(text):
    print(text, file=sys.stderr, flush=True)


def everlevel(given):
    """The program of this repository, built if it has to be."""
    given = given or os.environ.get("EVERLEVEL_PROGRAM")
    if given:
        path = shutil.which(given)
        if path is None:
            raise Failed(f"no program at {given}")
        return path
    if shutil.which("cargo") is None:
        raise Failed("cargo not found: install Rust, or give a built program by --everlevel")
    progress("everlevel: building (EVERLEVEL_PROGRAM names a program that is there already)")
    if (
        subprocess.run(
            ["cargo", "build", "--release", "--quiet", "-p", "everlevel-cli"], cwd=ROOT
        ).returncode
        != 0
    ):
        raise Failed("cargo build of everlevel-cli failed")
    target = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
    return str(ROOT / target / "release" / "everlevel")


def run(command, what, **options):
    """The JSON object that a program prints as its last line or as all of its output."""
    done = subprocess.run(
        command,
        capture_output=True,
        text=True,
        errors="replace",
        **options,
    )
    if done.returncode != 0:
        last = [line for line in done.stderr.splitlines() if line.strip()][-1:]
        raise Failed(f"{what}: exit code {done.returncode}: {' '.join(last)[:400]}")
    try:
        return json.loads(done.stdout[done.stdout.index("{") :])
    except ValueError as e:
        raise Failed(f"{what}: expected a JSON object, found {done.stdout[:200]!r}") from e


def describe(program, threads):
    """When, on what, and what of ours."""
    version = run([program, "version", "--json"], "everlevel version")
    commit = "unknown"
    if shutil.which("git"):
        found = subprocess.run(
            ["git", "rev-parse", "--short=10", "HEAD"], cwd=ROOT, capture_output=True, text=True
        )
        commit = found.stdout.strip() or commit
    cpu = platform.processor() or "unknown"
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
        fields = dict(
            reversed(
                [
                    tuple(part.strip() for part in line.split(":", 1))
                    for line in lines
                    if ":" in line
                ]
            )
        )
        family, model = fields.get("cpu family"), fields.get("model")
        cpu = f"{fields.get('model name', cpu)} (family {family}, model {model})"
    except OSError:
        pass  # Another system than Linux: what Python knows of the processor has to do.
    return {
        "date": datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%d"),
        "cpu": cpu,
        "cpu_flags": version["cpu_flags"],
        "backend": version["backend"],
        "threads": threads,
        "version": version["version"],
        "commit": commit,
    }


def compare(peer, command, program, options, cache):
    """All work with one peer: one side, then the other, and round again in the other order."""
    rows = []
    environment = peer.environment(options.threads)
    for work in peer.works(options.quick):
        params = work.params
        if not isinstance(params, str):
            path = cache / f"{work.name}.json"
            path.write_text(json.dumps(params, indent=2) + "\n")
            params = str(path)
        asked = json.dumps({**work.asked, "runs": work.runs, "threads": options.threads})
        ours, theirs = [], []
        for turn in range(work.rounds):
            progress(f"{peer.name}: {work.label}, round {turn + 1} of {work.rounds}")
            for side in (ours, theirs) if turn % 2 == 0 else (theirs, ours):
                if side is ours:
                    ours.append(measure_ours(program, work, params, options.threads))
                else:
                    theirs.append(run(command + [asked], peer.name, env=environment, cwd=cache))
        rows += make_rows(peer, work, ours, theirs, options.threads, program)
    return {
        "name": peer.name,
        "peer": peer.name,
        "version": peer.version,
        "licence": peer.licence,
        "rows": rows,
    }


def measure_ours(program, work, params, threads):
    """Seconds by operation, and what the set is, from the benchmarks of the program."""
    if work.kind == "integers":
        return measure_integers(program, work, params, threads)
    if work.kind == "programs":
        environment = {**os.environ, "COMPARE_SET": params, "RAYON_NUM_THREADS": str(threads)}
        command = [programs_python(), str(OURS / "report.py"), json.dumps(work.asked)]
        return run(command, "everlevel in Python", env=environment)
    if work.kind == "queries":
        return measure_query(program, work, params, threads)
    command = [
        program,
        "bench",
        work.kind,
        "--params",
        params,
        "--threads",
        str(threads),
        "--runs",
        str(work.runs),
        "--json",
    ]
    found = run(command + ["--insecure-research"], "everlevel bench")
    if work.kind == "bootstrap":
        if found["wrong_slots"]:
            raise Failed(f"everlevel: {found['wrong_slots']} wrong slots")
        # Checked above and by the program itself, slot by slot.
        facts = f"{found['slots']} slots, {found['capacity_bits_after']:.0f} bits left"
        return {
            "seconds": {"thin bootstrapping": [found["seconds_median"]]},
            "facts": facts,
            "security": found["security_bits"],
        }
    entries = {e["name"]: e for e in found["results"] if e["set"] == work.name}
    seconds = {
        what: [entries[name]["ms"] / 1e3] for what, name in OPERATIONS.items() if name in entries
    }
    one = entries["rotate"]
    digits = "" if one["digits"] == 1 else f", {one['digits']} digits"
    log_qp = one["log_q"] + one["log_p"]
    return {
        "seconds": seconds,
        "facts": f"log Q + log P = {one['log_q']:.0f} + {one['log_p']:.0f}{digits}",
        "n": one["n"],
        "log_qp": log_qp,
    }


def measure_integers(program, work, params, threads):
    """Seconds of one operation on a whole vector: fresh operands, and exhausted ones, which are
    refreshed first.
    """
    command = [
        program,
        "bench",
        "integers",
        "--params",
        params,
        "--threads",
        str(threads),
        "--json",
        "--insecure-research",
    ]
    command += ["--op", work.ours or work.asked["op"], "--type", work.asked["type"]]
    found = {
        state: run(command + more, "everlevel bench")
        for state, more in (("fresh", []), ("exhausted", ["--exhausted"]))
    }
    wrong = sum(one["wrong_values"] for one in found.values())
    if wrong:
        raise Failed(f"everlevel: {wrong} wrong values")
    return found


def measure_query(program, work, params, threads):
    """Seconds of a query on as many rows as a ciphertext has slots, and what is known of it."""
    command = [program, "table", "demo", "--only", work.asked["query"], "--params", params]
    command += ["--threads", str(threads), "--json", "--insecure-research"]
    found = run(command, "everlevel table demo")
    (query,) = found["queries"]
    if not query["exact"]:
        raise Failed(f"everlevel: the answer of {query['name']} is wrong")
    return {**query, "security_bits": found["security_bits"]}


def security(program, n, log_qp, secret="ternary"):
    """What a key of this ring and modulus is worth by one estimator for both sides."""
    command = [
        program,
        "security",
        "estimate",
        "--n",
        str(n),
        "--log-qp",
        f"{log_qp:.1f}",
        "--secret",
        secret,
        "--json",
    ]
    return run(command, "everlevel security estimate")["security_bits"]


def integer_rows(peer, work, ours, theirs):
    """An operation on integers: for each value of whole vectors, and for one value by itself."""
    if not all(t.get("verified") is True for t in theirs):
        raise Failed(
            f"{work.asked['op']} {work.asked['type']}: results were not verified by decryption"
        )
    single = statistics.median(statistics.median(t["seconds"][work.asked["op"]]) for t in theirs)
    rows = []
    for state in ("fresh", "exhausted"):
        own = ours[0][state]
        vector = statistics.median(o[state]["seconds"] for o in ours)
        params = (
            f"{own['set']}, {own['security_bits']:.0f} bits, "
            f"failure 2^{own['failure_log2']:.0f}; {peer.name}: {peer.facts}"
        )
        for what, count in (
            (f"of {own['values']} values, each", own["values"]),
            ("of one value", 1),
        ):
            rows.append(
                {
                    "what": f"{work.asked['op']} {work.asked['type']}, {state}, {what}",
                    "form": "bgv",
                    "params": params,
                    "peer": peer.name,
                    "version": theirs[0]["version"],
                    "seconds": single,
                    "ours_seconds": vector / count,
                    "ratio": single * count / vector,
                    "runs": work.runs * work.rounds,
                    "note": f"{own['refreshes']} refreshes" if own["refreshes"] else "no refresh",
                    # A figure of all would be too long.
                    "figure": state == "fresh" and count > 1,
                }
            )
    return rows


def lines_of(side, name):
    """The lines of a program that are neither empty nor comments."""
    lines = map(str.strip, (PROGRAMS / side / f"{name}.py").read_text().splitlines())
    return sum(1 for line in lines if line and not line.startswith("#"))


def program_rows(peer, work, ours, theirs):
    """A program: for each of the values of a whole vector, and for one value by itself."""
    name = work.asked["program"]
    if not all(side.get("verified") is True for side in ours + theirs):
        raise Failed(f"{name}: results were not verified by decryption")
    own, their = ours[0], theirs[0]
    single = statistics.median(t["seconds"] / t["values"] for t in theirs)
    vector = statistics.median(o["seconds"] for o in ours)
    keys = [statistics.median(side["keys"] for side in sides) for sides in (ours, theirs)]
    note = (
        f"{name}: lines {lines_of('ours', name)} here and {lines_of('theirs', name)} there, keys "
        f"{keys[0]:.1f} and {keys[1]:.1f} s, bootstrappings {own['bootstraps']} for all here and "
        f"{their['bootstraps'] / their['values']:g} for each there"
    )
    return [
        {
            "what": f"{name}, {what}",
            "form": "bgv",
            "params": f"{work.params}; {peer.name}: an error of 2^{math.log2(their['error']):.0f}",
            "peer": peer.name,
            "version": their["version"],
            "seconds": single,
            "ours_seconds": vector / count,
            "ratio": single * count / vector,
            "runs": work.runs * work.rounds,
            "note": note,
            "figure": count > 1,
        }
        for what, count in (
            (f"of {own['values']} values, each", own["values"]),
            ("of one value", 1),
        )
    ]


def query_rows(peer, work, ours, theirs, program):
    """A query on the rows of one ciphertext a column."""
    if not all(t.get("verified") is True for t in theirs):
        raise Failed(f"{work.asked['query']}: results were not verified by decryption")
    own, their = ours[0], theirs[0]
    seconds = statistics.median(t["seconds"] for t in theirs)
    mine = statistics.median(o["seconds"] for o in ours)
    bits = security(program, their["n"], their["log_qp"])
    return [
        {
            "what": f"{own['name']}, {own['rows']} rows",
            "form": "bgv",
            "params": (
                f"{work.params}, {own['security_bits']:.0f} bits, decimals to the cent; "
                f"{peer.name}: BFV, n = 2^15, log QP = {their['log_qp']}, {bits:.0f} bits, small "
                "random integers"
            ),
            "peer": peer.name,
            "version": peer.version,
            "seconds": seconds,
            "ours_seconds": mine,
            "ratio": seconds / mine,
            "runs": work.runs * work.rounds,
            "note": (
                f"its sums wrap around modulo 65537: they were checked with {their['rows']} rows, "
                "which take it as long as all"
            ),
        }
    ]


def make_rows(peer, work, ours, theirs, threads, program):
    """One row for each operation that both sides have measured."""
    if work.kind == "queries":
        return query_rows(peer, work, ours, theirs, program)
    if work.kind == "integers":
        return integer_rows(peer, work, ours, theirs)
    if work.kind == "programs":
        return program_rows(peer, work, ours, theirs)
    their, own = theirs[0], ours[0]
    n = 1 << work.asked["log_n"]
    if not all(t.get("verified") is True for t in theirs):
        raise Failed(f"{work.name}: results were not verified by decryption")
    their_bits = security(program, n, their["log_q"] + their["log_p"])
    own_bits = own["security"] if "security" in own else security(program, n, own["log_qp"])
    log_n = work.asked["log_n"]
    their_facts = (
        f"log Q + log P = {their['log_q']:.0f} + {their['log_p']:.0f}, {their['facts']}, "
        f"{their_bits:.0f} bits"
    )
    params = (
        f"{work.asked['form'].upper()}, n = 2^{log_n}, t = {work.asked['t']}; "
        f"{peer.name}: {their_facts}; "
        f"everlevel: {own['facts']}, {own_bits:.0f} bits"
    )
    rows = []
    for what, mine in own["seconds"].items():
        if what not in their["seconds"]:
            continue
        seconds = statistics.median(statistics.median(t["seconds"][what]) for t in theirs)
        mine = statistics.median(statistics.median(o["seconds"][what]) for o in ours)
        notes = [
            work.note,
            NOTES.get(what, ""),
            their.get("notes", {}).get(what, ""),
            their.get("notes", {}).get("", ""),
        ]
        if threads > 1 and not peer.threaded:
            notes.append(f"{peer.name} has one thread")
        rows.append(
            {
                "what": what,
                "form": work.asked["form"],
                "params": params,
                "peer": peer.name,
                "version": their.get("version") or peer.version,
                "seconds": seconds,
                "ours_seconds": mine,
                "ratio": seconds / mine,
                "runs": work.runs * work.rounds,
                "note": "; ".join(note for note in notes if note),
            }
        )
    if not rows:
        raise Failed(f"{work.name}: no operation that both sides measured")
    return rows


def significant(number):
    """Two decimal places, or three digits of what is less than 1."""
    return f"{number:.2f}" if number >= 1 else f"{number:.3g}"


def table(report):
    """For the eye: milliseconds, and how many times longer the peer takes."""
    lines = [["", "form", report["name"] + ", ms", "everlevel, ms", "ratio"]]
    notes = []
    for row in report["rows"]:
        cells = [
            significant(row["seconds"] * 1e3),
            significant(row["ours_seconds"] * 1e3),
            significant(row["ratio"]),
        ]
        if row["params"] not in notes:
            notes.append(row["params"])
        lines.append([row["what"] + f" [{notes.index(row['params']) + 1}]", row["form"], *cells])
    widths = [max(len(line[i]) for line in lines) for i in range(len(lines[0]))]
    shown = [
        "  ".join(
            c.ljust(w) if i < 2 else c.rjust(w) for i, (c, w) in enumerate(zip(line, widths))
        ).rstrip()
        for line in lines
    ]
    sets = [f"[{i + 1}] {note}" for i, note in enumerate(notes)]
    remarks = {}
    for row in report["rows"]:
        for part in filter(None, row["note"].split("; ")):
            remarks.setdefault(part, []).append(f"{row['what']} {row['form']}")
    told = [
        note if len(of) == len(report["rows"]) else f"{note} ({', '.join(of)})"
        for note, of in remarks.items()
    ]
    return "\n".join([*shown, *sets, *told])
