#!/usr/bin/env python3
"""The inputs that fuzzing begins with.

corpus.py unpack TARGET    writes them to corpus/TARGET, where cargo fuzz looks for them
corpus.py keep FILE...     adds files, such as a crash, to those that the tests run
"""

import hashlib
import pathlib
import sys

CORPUS = pathlib.Path(__file__).resolve().parent / "corpus"
OBJECTS = ("objects", "ltv", "found")
TARGETS = {
    "parse": OBJECTS,
    "conform": OBJECTS,
    "compute": OBJECTS,
    "params": OBJECTS,
    "expression": ("expression",),
    "tables": ("tables",),
    "indexes": ("indexes",),
}


def unpack(target):
    directory = CORPUS / target
    directory.mkdir(exist_ok=True)
    count = 0
    for corpus in TARGETS[target]:
        for line in (CORPUS / f"{corpus}.hex").read_text().splitlines():
            name, _, digits = line.partition(" ")
            (directory / name).write_bytes(bytes.fromhex(digits))
            count += 1
    print(f"{count} inputs in {directory}")


def keep(files):
    for file in map(pathlib.Path, files):
        data = file.read_bytes()
        own = (name for name in ("expression", "tables", "indexes") if name in file.parts)
        corpus = next(own, "found")
        path = CORPUS / f"{corpus}.hex"
        lines = set(path.read_text().splitlines(keepends=True))
        lines.add(f"{hashlib.sha256(data).hexdigest()[:16]} {data.hex()}\n")
        path.write_text("".join(sorted(lines)))
        print(f"{file}: in {path}")


def main(arguments):
    if len(arguments) == 2 and arguments[0] == "unpack" and arguments[1] in TARGETS:
        unpack(arguments[1])
    elif len(arguments) > 1 and arguments[0] == "keep":
        keep(arguments[1:])
    else:
        sys.exit(f"{__doc__}\nTARGET is one of {', '.join(TARGETS)}")


if __name__ == "__main__":
    main(sys.argv[1:])
