"""Recorded runs: a directory has a file for each topic, JSON Lines with the records by name."""

import json
import os
import pathlib
import tempfile


def lines(path):
    """The lines of a file as they are, by name."""
    if not path.exists():
        return {}
    text = path.read_text(encoding="utf-8")
    return {json.loads(line)["name"]: line for line in text.split("\n") if line}


def read(directory):
    """All records of a directory, by name."""
    found = {}
    for path in sorted(pathlib.Path(directory).glob("*.jsonl")):
        found |= {name: json.loads(line)["record"] for name, line in lines(path).items()}
    return found


def enter(directory, topic, name, record):
    """Enters a record into the file of its topic, in place of the one with its name.

    The file is replaced whole or not at all. Returns its path.
    """
    directory = pathlib.Path(directory)
    directory.mkdir(parents=True, exist_ok=True)
    path = directory / f"{topic}.jsonl"
    line = {"name": name, "record": record}
    text = json.dumps(line, ensure_ascii=False, separators=(",", ":"))
    found = lines(path) | {name: text}
    handle, partial = tempfile.mkstemp(dir=directory, prefix=f".{topic}.", suffix=".partial")
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.writelines(found[name] + "\n" for name in sorted(found))
        os.chmod(partial, 0o644)
        os.replace(partial, path)
    except BaseException:
        os.unlink(partial)
        raise
    return path
