"""Example 13. Edit distance: how many letters have to be inserted, deleted or exchanged to make a
searched name of each name of an encrypted list, and which are near.

The searched name is encrypted, too; names have six letters. The distance is that of Levenshtein, by
the usual table over prefixes. Instead of its cells their differences from their neighbors are
kept, which are -1, 0 or 1: both new ones follow from the two old ones and from whether the letters
differ, by a table of 18 entries.

python python/examples/13_edit_distance.py; with --secure at 128 bits: 32,768 names.
"""

import sys
import time

import numpy as np

import everlevel

SECURE = "--secure" in sys.argv
SEARCHED = "martin"
NAMES = (
    "martin marten marvin morten merlin dustin justin austin marlin norton barton carmen".split()
)
rng = np.random.default_rng(13)


def letters(names: list[str]) -> np.ndarray:
    """A row for each place of a letter, from 0 to 25."""
    return np.array([[ord(c) - ord("a") for c in name] for name in names]).T


def step(down: int, right: int, differ: int) -> tuple[int, int]:
    """The differences of a cell from the one above and the one on the left, from those of the cells
    on its left and above it.
    """
    cell = min(down + 1, right + 1, differ)  # less what is in the cell on its upper left
    return cell - right, cell - down


# Differences from -1 to 1 and whether letters differ, as digits of the place in the table.
STEPS = [step(i % 3 - 1, i // 3 % 3 - 1, i // 9) for i in range(18)]
DOWN, RIGHT = (everlevel.Table([both[k] for both in STEPS]) for k in (0, 1))


def distance(a, b):
    """The distance of words a and b, a row for each letter."""
    down, right = [1] * len(a), [1] * len(b)
    for i, x in enumerate(a):
        for j, y in enumerate(b):
            place = (down[i] + 1) + 3 * (right[j] + 1) + 9 * (x != y)
            down[i], right[j] = DOWN[place], RIGHT[place]
    return len(a) + np.stack(right).sum(axis=0)


params = (
    everlevel.Params("bgv-65537-n15")
    if SECURE
    else everlevel.Params("insecure_bgv-65537-n11", insecure_research=True)
)
client = everlevel.Client(params)
server = client.server()
listed = letters([NAMES[i] for i in rng.integers(0, len(NAMES), params.slots)])
typing = rng.random(listed.shape) < 0.05
listed[typing] = rng.integers(0, 26, typing.sum())
searched = letters([SEARCHED] * params.slots)
a, b = (server.load(client.encrypt(x, bounds=(0, 25), rows=True)) for x in (listed, searched))

start = time.monotonic()
found = distance(a, b)
near = np.count_nonzero(found <= 1)
seconds = time.monotonic() - start


def plain(a: str, b: str) -> int:
    """The usual table, row by row."""
    row = list(range(len(b) + 1))
    for i, x in enumerate(a, 1):
        last, row[0] = row[0], i
        for j, y in enumerate(b, 1):
            last, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, last + (x != y))
    return row[-1]


names = ["".join(chr(ord("a") + c) for c in column) for column in listed.T]
expected = np.array([plain(name, SEARCHED) for name in names])
np.testing.assert_array_equal(client.decrypt(found), expected)
assert client.decrypt(near) == np.count_nonzero(expected <= 1)
print(f"{seconds:.1f} s, {server.bootstraps} refreshes")
print(
    f"{len(names)} names, {client.decrypt(near)} of them at most a letter from {SEARCHED}, all "
    "exact"
)
