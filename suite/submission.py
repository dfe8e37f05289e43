"""A submission to a workload, as a fork of its repository has it, from this directory."""

import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any, NoReturn

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
# Whatever directory cargo is told to build in elsewhere.
BUILD = """#!/bin/sh
set -e
cargo build --release --locked --manifest-path submission/Cargo.toml --target-dir submission/target
"""
# Where cargo puts programs, from the root of a fork.
BUILT = "submission/target/release"
README = """
## How to build and run it
This directory was exported from commit `{revision}` of [everlevel]({repository}).
It belongs to a fork of [{workload}]({harness}) at commit `{commit}`, \
as do the files of `scripts/` beside it; nothing else of the fork is changed.

- Rust {rust} or later, with cargo, and git are needed: `rustup toolchain install stable` \
installs the first two ([rustup](https://rustup.rs)).
- The first build fetches everlevel at that commit, and other crates at the versions of \
`Cargo.lock`, which is part of the fork.
- The harness needs Python with the packages that its own README names.

Start these in the root of the fork; 1 is the size, out of {sizes}:

```text
scripts/build_task.sh
{commands}
```

## Licence
MIT or Apache 2.0, as you choose: [LICENSE-MIT](LICENSE-MIT), [LICENSE-APACHE](LICENSE-APACHE).
"""


def fail(message: str) -> NoReturn:
    """Ends with a message."""
    sys.exit(f"suite/run: {message}")


def git(directory: Path, *arguments: str) -> str:
    """What a command of git prints."""
    command = ["git", "-C", str(directory), *arguments]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        fail(f"{directory}: {done.stderr.strip()}")
    return done.stdout.strip()


def programs_of(pin: dict[str, Any], variant: str | None) -> dict[str, str]:
    """Our program of each stage; a variant has its own for some of them, and for some others."""
    programs = {name: pin["prefix"] + name for name, *_ in pin["stages"]}
    if variant is not None:
        own = pin["variants"][variant]
        programs.update({name: own["prefix"] + name for name in own["programs"]})
    return programs


def write_scripts(directory: Path, pin: dict[str, Any], build: str) -> None:
    """Writes the script that builds, and empty ones for what the reference needs and we do not."""
    directory.mkdir(parents=True, exist_ok=True)
    scripts = dict.fromkeys(pin["replaced_scripts"], "#!/bin/sh\n")
    for name, text in {**scripts, "build_task.sh": build}.items():
        script = directory / name
        script.write_text(text)
        script.chmod(0o755)


def own_package() -> dict[str, Any]:
    """What cargo knows of our crate, the fields of the workspace filled in."""
    command = ["cargo", "metadata", "--no-deps", "--offline", "--format-version", "1"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    if done.returncode != 0:
        fail(done.stderr.strip())
    packages: list[dict[str, Any]] = json.loads(done.stdout)["packages"]
    return next(package for package in packages if package["name"] == "everlevel-suite")


def dependency(known: dict[str, Any], ours: dict[str, Any]) -> str:
    """A line of the manifest of a submission: others by version, our crates by these fields, with
    their path where that is asked for."""
    name = known["name"]
    if name.startswith("everlevel"):
        fields: dict[str, Any] = {key: value or known["path"] for key, value in ours.items()}
    else:
        fields = {"version": known["req"]}
    if known["features"]:
        fields["features"] = known["features"]
    values = [f"{key} = {json.dumps(value)}" for key, value in fields.items()]
    if not known["uses_default_features"]:
        values.append("default-features = false")
    return f"{name} = {{ {', '.join(values)} }}"


def lock(submission: Path, source: str) -> None:
    """Writes Cargo.lock: the versions that our own has, for what the submission needs of them.
    Cargo leaves the others out while our crates are those of this repository; then their source
    becomes this one, which need not be there yet."""
    path = submission / "Cargo.lock"
    shutil.copy(ROOT / "Cargo.lock", path)
    manifest = str((submission / "Cargo.toml").resolve())
    command = ["cargo", "update", "--workspace", "--manifest-path", manifest]
    # What was built here needs no network; somewhere else the index of the registry may.
    for options in [["--offline"], []]:
        done = subprocess.run([*command, *options], cwd=ROOT, capture_output=True, text=True)
        if done.returncode == 0:
            break
    else:
        fail(done.stderr.strip())
    head, *packages = path.read_text().split("[[package]]\n")
    for i, package in enumerate(packages):
        if "\nsource = " not in package and not package.startswith('name = "everlevel-suite"\n'):
            name, version, rest = package.split("\n", 2)
            packages[i] = f'{name}\n{version}\nsource = "{source}"\n{rest}'
    path.write_text("[[package]]\n".join([head, *packages]))


def how_to_run(workload: str, pin: dict[str, Any], package: dict[str, Any], revision: str) -> str:
    """The end of a submission's README."""
    start = "python3 harness/run_submission.py 1 --num_runs 3"
    tasks = range(len(pin.get("mini_workloads", [])))
    told = [f"EVERLEVEL_MINI_WORKLOAD={task} {start} --mini_workload {task}" for task in tasks]
    commands = told or [start]
    if pin.get("count_only"):
        commands.append(f"{start} --count_only")
    names = [f"{size} ({known['name']})" for size, known in enumerate(pin["instances"])]
    return README.format(
        revision=revision,
        repository=package["repository"],
        workload=workload,
        harness=pin["repository"],
        commit=pin["commit"],
        rust=package["rust_version"],
        sizes=", ".join(names),
        commands="\n".join(commands),
    )


def export(workload: str, pin: dict[str, Any], variant: str | None, directory: Path) -> None:
    """Writes submission/ and scripts/ of a fork."""
    if directory.exists() and any(directory.iterdir()):
        fail(f"{directory}: expected an empty directory")
    package = own_package()
    submission = directory / "submission"
    shutil.copytree(HERE / "src", submission / "src")
    unwanted = shutil.ignore_patterns("__pycache__")
    shutil.copytree(HERE / workload, submission / workload, ignore=unwanted)
    revision, repository = git(ROOT, "rev-parse", "HEAD"), package["repository"]
    readme = "README.md" if variant is None else pin["variants"][variant]["readme"]
    text = (submission / workload / readme).read_text()
    (submission / workload / readme).unlink()
    text += how_to_run(workload, pin, package, revision)
    (submission / "README.md").write_text(text)
    for license_file in ["LICENSE-APACHE", "LICENSE-MIT"]:
        shutil.copy(ROOT / license_file, submission / license_file)
    # What is built there: the programs, and the name by which a harness may have them.
    (submission / ".gitignore").write_text("/target\n/build\n")
    needed = [known for known in package["dependencies"] if known["kind"] is None]
    lines = ["[package]"]
    for field in ["name", "version", "edition", "rust_version", "license"]:
        lines.append(f"{field.replace('_', '-')} = {json.dumps(package[field])}")
    lines += ["autobins = false", "", "[workspace]"]
    names = {program: name for name, program in programs_of(pin, variant).items()}
    for program in package["targets"]:
        if program["kind"] == ["bin"] and program["name"] in names:
            name = names[program["name"]]
            path = Path(program["src_path"]).relative_to(HERE)
            lines += ["", "[[bin]]", f'name = "{name}"', f'path = "{path}"']
    # As in our workspace, where the crates with loops over residues are compiled as one part.
    lines += ["", "[profile.release]", "codegen-units = 1", "", "[dependencies]"]

    def write_manifest(ours: dict[str, Any]) -> None:
        text = "\n".join(lines + [dependency(known, ours) for known in needed]) + "\n"
        (submission / "Cargo.toml").write_text(text)

    write_manifest({"path": None})
    lock(submission, f"git+{repository}?rev={revision}#{revision}")
    write_manifest({"git": repository, "rev": revision})
    build = BUILD
    if pin["programs"] != BUILT:
        build += f'ln -sfn "$PWD/{BUILT}" {pin["programs"]}\n'
    write_scripts(directory / "scripts", pin, build)
    note = ""
    if git(ROOT, "status", "--porcelain", "--untracked-files=no"):
        note = ", with changes that are not in it"
    print(f"submission: {directory}, of commit {revision}{note}")
    if not git(ROOT, "branch", "--remotes", "--contains", revision):
        print(f"It is built once this commit is at {repository}: no remote branch has it yet.")
