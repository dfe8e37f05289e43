"""Tests of suite/run, with a small harness of our own in the place of a clone."""

import json
import os
import re
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
REPOSITORY = "https://github.com/everlevel/everlevel"

# Writes what a harness writes, without any stage: {passes} says whether its check does.
HARNESS = """
import json, os, sys
from pathlib import Path
size, runs = int(sys.argv[1]), int(sys.argv[3])
name = {names}[size]
counting = "--count_only" in sys.argv
task = sys.argv[sys.argv.index("--mini_workload") + 1] if "--mini_workload" in sys.argv else None
assert os.environ.get("EVERLEVEL_MINI_WORKLOAD") == task
measured = "count_" + name if counting else "ip_" + name if task == "1" else name
assert Path("scripts/build_task.sh").stat().st_mode & 0o100
print(Path("scripts/build_task.sh").read_text())
print("link:", os.readlink("everlevel-programs/client_key_generation"))
print("program:", os.readlink("everlevel-programs/client_key_generation").split("/")[-1])
more = "everlevel-programs/server_preprocess_dataset"
if os.path.islink(more):
    print("more:", os.readlink(more).split("/")[-1])
assert not Path("submission/reference").exists() and not Path("measurements", name).exists()
Path("io", name).mkdir(parents=True)
Path("io", name, "server_reported_steps.json").write_text("{{}}")
Path("measurements", measured).mkdir(parents=True)
for run in range(1, runs + 1):
    print("{before}[harness] {says}")
    Path("measurements", measured, f"results-{{run}}.json").write_text(json.dumps({{"run": run}}))
labels = Path("datasets", name, "intermediate", "test_labels.txt")
labels.parent.mkdir(parents=True)
if name != "medium":
    labels.write_text("7\\n1\\n4\\n9\\n")
Path("io", name, "encrypted_model_predictions.txt").write_text("7\\n1\\n4\\n4\\n")
Path("io", name, "harness_model_predictions.txt").write_text("7\\n1\\n0\\n0\\n")
"""
NAMES = ["single", "small", "medium", "large"]


class RunTest(unittest.TestCase):
    """Each test has a clone of its own."""

    def setUp(self) -> None:
        self.temporary = tempfile.TemporaryDirectory()
        self.addCleanup(self.temporary.cleanup)
        self.root = Path(self.temporary.name)
        self.clone = self.root / "clone"
        self.results = self.root / "results"
        self.harness("PASS")

    def git(self, *arguments: str) -> str:
        """Runs git in the clone."""
        # Whatever the user's own configuration asks of commits.
        identity = ["-c", "user.name=a", "-c", "user.email=a@example.org"]
        identity += ["-c", "commit.gpgSign=false", "-c", "core.hooksPath=/dev/null"]
        command = ["git", "-C", str(self.clone), *identity, *arguments]
        return subprocess.run(command, check=True, capture_output=True, text=True).stdout

    def harness(self, says: str, before: str = "", names: list[str] = NAMES) -> None:
        """Commits a harness whose check says this, after something else."""
        for path in ["harness", "scripts", "submission", "measurements/single"]:
            (self.clone / path).mkdir(parents=True, exist_ok=True)
        text = HARNESS.format(names=names, says=says, before=before)
        (self.clone / "harness" / "run_submission.py").write_text(text)
        (self.clone / "submission" / "reference").write_text("the reference")
        (self.clone / "measurements" / "single" / "results-1.json").write_text("the reference's")
        (self.clone / "scripts" / "build_task.sh").write_text("exit 1\n")
        self.git("init", "-q")
        self.git("add", "-A")
        self.git("commit", "-q", "-m", says)

    def run_suite(
        self, *arguments: str, workload: str = "zn-multiplication", **variables: str
    ) -> "subprocess.CompletedProcess[str]":
        """Starts suite/run for a workload, with these variables in its environment."""
        command = [sys.executable, str(HERE / "run"), workload, *arguments]
        environment = {**os.environ, "TMPDIR": str(self.root), **variables}
        return subprocess.run(command, capture_output=True, text=True, env=environment)

    def test_the_commit_is_checked(self) -> None:
        done = self.run_suite("--harness", str(self.clone))
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("expected commit", done.stderr)
        (self.clone / "harness" / "run_submission.py").write_text("changed")
        done = self.run_suite("--harness", str(self.clone), "--any-commit")
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("without changes", done.stderr)

    def measured(
        self, *more: str, workload: str = "zn-multiplication", **variables: str
    ) -> "subprocess.CompletedProcess[str]":
        """Runs the harness as it is."""
        place = ["--harness", str(self.clone), "--results", str(self.results), "--any-commit"]
        return self.run_suite(*place, *more, workload=workload, **variables)

    def test_only_what_was_measured_is_kept(self) -> None:
        done = self.measured("--sizes", "0,2", "--runs", "2")
        self.assertEqual(done.returncode, 0, done.stderr)
        files = sorted(p.relative_to(self.results).parts[1:] for p in self.results.rglob("*.json"))
        expected = [
            ("zn-multiplication", size, file)
            for size in ["medium", "single"]
            for file in [
                "about.json",
                "results-1.json",
                "results-2.json",
                "server_reported_steps-last.json",
            ]
        ]
        self.assertEqual(files, expected)
        about = json.loads(next(self.results.rglob("about.json")).read_text())
        self.assertEqual(about["harness"], self.git("rev-parse", "HEAD").strip())
        # The clone is as it was, and nothing is left beside it.
        self.assertEqual(self.git("status", "--porcelain"), "")
        self.assertEqual(len(self.git("worktree", "list").splitlines()), 1)
        self.assertEqual(sorted(p.name for p in self.root.iterdir()), ["clone", "results"])

    def test_runs_that_fail_leave_no_result(self) -> None:
        self.harness("FAIL")
        done = self.measured("--sizes", "0", "--runs", "1")
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("0 of 1 runs passed", done.stderr)
        self.assertFalse(self.results.exists())
        self.assertEqual(len(self.git("worktree", "list").splitlines()), 1)

    def test_programs_are_built_where_they_are_started(self) -> None:
        """What is relative in the environment is so to where suite/run was started."""
        done = self.measured("--sizes", "0", "--runs", "1", CARGO_TARGET_DIR="some-target")
        self.assertEqual(done.returncode, 0, done.stderr)
        target = Path("some-target").resolve()
        self.assertIn(f" --target-dir '{target}'\n", done.stdout)
        self.assertIn(f"link: {target}/release/zn_client_key_generation\n", done.stdout)

    def test_arguments(self) -> None:
        for sizes in ["4", "-1", "one", ""]:
            done = self.measured(f"--sizes={sizes}")
            self.assertEqual(done.returncode, 2, sizes)

    def test_batches_of_images_pass_by_their_accuracy(self) -> None:
        """The harness of ml-inference checks the label of a single image only."""
        for says, passed in [("Encrypted model: 0.9712", True), ("Harness model: 0.9712", False)]:
            self.harness(says)
            done = self.measured("--sizes", "1", "--runs", "2", workload="ml-inference")
            self.assertEqual(done.returncode == 0, passed, done.stderr)
            if passed:
                about = json.loads(next(self.results.rglob("about.json")).read_text())
                self.assertEqual(about["accuracy"], {"ours": 0.75, "harness": 0.5})
        done = self.measured("--sizes", "1", "--runs", "1")
        self.assertIn("0 of 1 runs passed", done.stderr)

    def test_accuracies_are_those_of_their_size(self) -> None:
        """The harness of these tests has no labels of the size `medium`."""
        self.harness("Encrypted model: 0.9712")
        done = self.measured("--sizes", "1,2", "--runs", "1", workload="ml-inference")
        self.assertEqual(done.returncode, 0, done.stderr)
        for name, known in [("small", True), ("medium", False)]:
            (out,) = self.results.glob(f"*/ml-inference/{name}")
            about = json.loads((out / "about.json").read_text())
            self.assertEqual("accuracy" in about, known, name)

    def test_counts_have_a_directory_of_their_own(self) -> None:
        """The harness of fetch-by-similarity indents and colors its lines."""
        names = ["toy", "small", "medium", "large"]
        self.harness("PASS (All 3 payload vectors match)", "\\033[32m         ", names)
        for options, directory in [([], "toy"), (["--count-only"], "count_toy")]:
            done = self.measured(
                "--sizes", "0", "--runs", "2", *options, workload="fetch-by-similarity"
            )
            self.assertEqual(done.returncode, 0, done.stderr)
            (out,) = self.results.glob(f"*/fetch-by-similarity/{directory}")
            self.assertEqual(len(list(out.glob("results-?.json"))), 2)
            about = json.loads((out / "about.json").read_text())
            self.assertEqual(about["count_only"], bool(options))
        done = self.measured("--sizes", "0", "--count-only")
        self.assertEqual(done.returncode, 2)

    def test_a_server_that_stays_is_a_variant(self) -> None:
        """It has a program for one more stage, and results of its own."""
        names = ["toy", "small", "medium", "large"]
        self.harness("PASS (All 3 payload vectors match)", names=names)
        for variant, directory in [("direct", ""), ("resident", "-resident")]:
            options = ["--sizes", "0", "--runs", "1", "--variant", variant]
            done = self.measured(*options, workload="fetch-by-similarity")
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertIn("program: fetch_client_key_generation\n", done.stdout)
            more = "more: fetch_resident_server_preprocess_dataset\n"
            self.assertEqual(more in done.stdout, variant == "resident")
            (out,) = self.results.glob(f"*/fetch-by-similarity{directory}/toy")
            self.assertEqual(json.loads((out / "about.json").read_text())["variant"], variant)

    def test_stages_are_told_the_mini_workload(self) -> None:
        """The harness of transciphering passes it to none of them, and checks two results a run."""
        names = ["toy", "small", "medium", "large"]
        both = "PASS AES Decryption\\n         [harness] {}  (expected=[1], got=[1])"
        for options, second, passed, directory in [
            ([], "PASS IP", True, "ip_large"),
            ([], "FAIL IP", False, "ip_large"),
            ([], "PASS MAX", False, "ip_large"),
            (["--mini-workload", "1"], "PASS IP", True, "ip_large"),
            (["--mini-workload", "0"], "PASS MAX", True, "large"),
            (["--mini-workload", "0"], "PASS IP", False, "large"),
        ]:
            self.harness(both.format(second), "\\033[32m         ", names)
            done = self.measured("--sizes", "3", "--runs", "2", *options, workload="transciphering")
            self.assertEqual(done.returncode == 0, passed, done.stderr)
            (out,) = self.results.glob(f"*/transciphering/{directory}")
            self.assertEqual(len(list(out.glob("results-?.json"))), 2)
            about = json.loads((out / "about.json").read_text())
            self.assertEqual(about["mini_workload"], 0 if directory == "large" else 1)
        for workload, task in [("transciphering", "2"), ("zn-multiplication", "0")]:
            done = self.measured("--mini-workload", task, workload=workload)
            self.assertEqual(done.returncode, 2)

    def test_variants_have_programs_and_results_of_their_own(self) -> None:
        for options, variant, program, directory in [
            ([], "digits", "zn_client_key_generation", "zn-multiplication"),
            (["--variant", "digits"], "digits", "zn_client_key_generation", "zn-multiplication"),
            (
                ["--variant", "whole"],
                "whole",
                "zn_whole_client_key_generation",
                "zn-multiplication-whole",
            ),
        ]:
            done = self.measured("--sizes", "0", "--runs", "1", *options)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertIn(f"program: {program}\n", done.stdout)
            (out,) = self.results.glob(f"*/{directory}/single")
            about = json.loads((out / "about.json").read_text())
            self.assertEqual(about["variant"], variant)
        for workload, variant in [("zn-multiplication", "other"), ("ml-inference", "whole")]:
            done = self.measured("--variant", variant, workload=workload)
            self.assertEqual(done.returncode, 2)

    def test_a_submission_is_a_crate_of_its_own(self) -> None:
        for workload, place in [
            ("zn-multiplication", "submission/target/release"),
            ("ml-inference", "submission/build"),
            ("fetch-by-similarity", "submission/build"),
            ("transciphering", "submission/target/release"),
        ]:
            self.exported(workload, place)
        for workload, variant in [
            ("zn-multiplication", "whole"),
            ("fetch-by-similarity", "resident"),
        ]:
            manifest = self.root / workload / "submission" / "Cargo.toml"
            self.assertNotIn(variant, manifest.read_text())

    def test_a_variant_is_a_submission(self) -> None:
        for workload, place, variant, own in [
            ("zn-multiplication", "submission/target/release", "whole", 4),
            ("fetch-by-similarity", "submission/build", "resident", 2),
        ]:
            self.exported(workload, place, "--variant", variant)
            submission = self.root / workload / "submission"
            manifest = (submission / "Cargo.toml").read_text()
            self.assertEqual(manifest.count(f'path = "{workload}/{variant}/'), own)
            readme = HERE / workload / variant / "README.md"
            self.assertTrue((submission / "README.md").read_text().startswith(readme.read_text()))

    @unittest.skipUnless(os.environ.get("EVERLEVEL_BUILD_EXPORT"), "builds for minutes")
    def test_a_submission_builds(self) -> None:
        """With its own lock file, from the commits of this repository, be they published or not."""
        out = self.root / "fork"
        done = self.run_suite("--export", str(out))
        self.assertEqual(done.returncode, 0, done.stderr)
        environment = {
            **os.environ,
            "CARGO_NET_GIT_FETCH_WITH_CLI": "true",
            "GIT_CONFIG_COUNT": "1",
            "GIT_CONFIG_KEY_0": f"url.{HERE.parent.as_uri()}.insteadOf",
            "GIT_CONFIG_VALUE_0": REPOSITORY,
        }
        subprocess.run(["scripts/build_task.sh"], cwd=out, check=True, env=environment)
        programs = out / "submission" / "target" / "release"
        for name, *_ in json.loads((HERE / "pins.json").read_text())["zn-multiplication"]["stages"]:
            ran = subprocess.run([programs / name], capture_output=True, text=True)
            self.assertEqual(ran.returncode, 1)
            self.assertIn("[suite.usage]", ran.stderr)

    def exported(self, workload: str, place: str, *options: str) -> None:
        """Writes a submission, whose programs its script puts at this place."""
        out = self.root / workload
        done = self.run_suite("--export", os.path.relpath(out), *options, workload=workload)
        self.assertEqual(done.returncode, 0, done.stderr)
        manifest = out / "submission" / "Cargo.toml"
        command = ["cargo", "metadata", "--no-deps", "--offline", "--format-version", "1"]
        command += ["--manifest-path", str(manifest)]
        found = subprocess.run(command, check=True, capture_output=True, text=True).stdout
        (package,) = json.loads(found)["packages"]
        pins = json.loads((HERE / "pins.json").read_text())[workload]
        programs = [program for program in package["targets"] if program["kind"] == ["bin"]]
        names = {program["name"] for program in programs}
        more = pins["variants"][options[1]]["programs"] if options else []
        self.assertEqual(names, {stage[0] for stage in pins["stages"]} | set(more))
        for program in programs:
            self.assertTrue(Path(program["src_path"]).is_file())
        ours = {known["name"]: known for known in package["dependencies"]}
        self.assertTrue(ours["everlevel-bgv"]["source"].startswith("git+https://"))
        self.assertTrue(ours["rayon"]["source"].startswith("registry+"))
        self.assertFalse(any("path" in known for known in ours.values()))
        self.check_lock(out / "submission" / "Cargo.lock", set(ours))
        self.check_readme(out / "submission", workload, pins)
        for script in ["build_task.sh", *pins["replaced_scripts"]]:
            self.assertEqual((out / "scripts" / script).stat().st_mode & 0o777, 0o755)
        # Its script, with a cargo that makes one empty program.
        path = self.root / "bin"
        path.mkdir(exist_ok=True)
        built = "submission/target/release"
        (path / "cargo").write_text(f"#!/bin/sh\nmkdir -p {built} && touch {built}/program\n")
        (path / "cargo").chmod(0o755)
        environment = {**os.environ, "PATH": f"{path}:{os.environ['PATH']}"}
        subprocess.run(["scripts/build_task.sh"], cwd=out, check=True, env=environment)
        self.assertTrue((out / place / "program").is_file())
        done = self.run_suite("--export", str(out), workload=workload)
        self.assertIn("empty directory", done.stderr)

    def check_lock(self, path: Path, needed: set[str]) -> None:
        """It has what this repository has been tested with, and nothing of its other crates."""
        command = ["git", "-C", str(HERE), "rev-parse", "HEAD"]
        asked = subprocess.run(command, check=True, capture_output=True, text=True)
        revision = asked.stdout.strip()
        tested, found = locked(HERE.parent / "Cargo.lock"), locked(path)
        (root,) = [fields for fields, _ in found if "source" not in fields]
        self.assertEqual(root["name"], "everlevel-suite")
        for fields, dependencies in found:
            if fields == root:
                self.assertEqual(dependencies, needed)
            elif fields["name"].startswith("everlevel"):
                source = f"git+{REPOSITORY}?rev={revision}#{revision}"
                self.assertEqual(fields["source"], source)
            else:
                self.assertIn(fields, [known for known, _ in tested])
        names = {fields["name"] for fields, _ in found}
        self.assertLessEqual(needed, names)
        self.assertFalse(names & {"clap", "everlevel-cli", "everlevel-service", "sqlparser"})

    def check_readme(self, submission: Path, workload: str, pins: dict[str, Any]) -> None:
        """What it says of building is what is there."""
        text, manifest = [(submission / name).read_text() for name in ["README.md", "Cargo.toml"]]
        (rust,) = re.findall(r'^rust-version = "(.*)"', manifest, re.M)
        for said in [
            f"- Rust {rust} or later",
            f"[{workload}]({pins['repository']}) at commit `{pins['commit']}`",
            "\nscripts/build_task.sh\n",
            "python3 harness/run_submission.py 1 --num_runs 3",
        ]:
            self.assertIn(said, text)
        self.assertEqual("--count_only" in text.split("## How to build")[1], "count_only" in pins)
        for name in re.findall(r"\]\((LICENSE-[A-Z]+)\)", text):
            self.assertEqual((submission / name).read_text(), (HERE.parent / name).read_text())
        self.assertEqual(text.count("](LICENSE-"), 2)
        self.assertEqual((submission / ".gitignore").read_text(), "/target\n/build\n")


class StandingsTest(unittest.TestCase):
    """The page that compares submissions."""

    def test_core_seconds_are_seconds_times_cores(self) -> None:
        checked = 0
        for line in (HERE / "README.md").read_text().splitlines():
            cells = [cell.strip().replace(",", "") for cell in line.split("|")[1:-1]]
            if len(cells) != 8 or not cells[3].isdigit():
                continue
            for seconds, product in [(cells[4], cells[6]), (cells[5], cells[7])]:
                known = re.fullmatch(r"[0-9.]+", seconds) is not None
                self.assertEqual(known, product != "–", line)
                if known:
                    expected = float(seconds) * int(cells[3])
                    self.assertAlmostEqual(float(product) / expected, 1, delta=0.05, msg=line)
                    checked += 1
        self.assertGreater(checked, 40)


def locked(path: Path) -> list[tuple[dict[str, str], set[str]]]:
    """The packages of a lock file: fields, and names of what they depend on."""
    parts = path.read_text().split("[[package]]\n")[1:]
    fields = [dict(re.findall(r'^(\w+) = "(.*)"$', part, re.M)) for part in parts]
    return [
        (known, set(re.findall(r'^ "([^ "]+)', part, re.M))) for known, part in zip(fields, parts)
    ]


if __name__ == "__main__":
    unittest.main()
