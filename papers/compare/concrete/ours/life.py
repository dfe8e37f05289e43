"""A generation of the game of life: what cells become, from themselves and their neighbours."""

import numpy as np
from report import COUNT, report

import everlevel

# By the number of living neighbours, and 9 more if the cell lives.
NEXT = [int(n == 3 or n == 11 or n == 12) for n in range(18)]
BECOMES = everlevel.Table(NEXT)


def program(cell, around):
    return BECOMES[around.sum(axis=0) + 9 * cell]


rng = np.random.default_rng(5)
cell, around = rng.integers(0, 2, COUNT), rng.integers(0, 2, (8, COUNT))
expected = np.array(NEXT)[around.sum(axis=0) + 9 * cell]
report(program, [(cell, (0, 1)), (around, (0, 1))], expected)
