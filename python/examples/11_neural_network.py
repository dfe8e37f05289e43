"""Example 11. A neural network: digits of 5 by 7 pixels, read by two layers of small integer
weights, ReLU and argmax, while the server sees no pixel.

The network is trained here, in NumPy, for the weights that it will have: -1, 0 and 1 in the first
layer, -3 to 3 in the second. The function that reads is one and the same for NumPy's arrays and for
encrypted ones: a row for each pixel, and an entry of it for each picture.

python python/examples/11_neural_network.py; with --secure at 128 bits: 32,768 pictures.
"""

import sys
import time

import numpy as np

import everlevel

GLYPHS = """
.###. ..#.. .###. .###. ...#. ##### ..##. ##### .###. .###.
#...# .##.. #...# #...# ..##. #.... .#... ....# #...# #...#
#..## ..#.. ....# ....# .#.#. ####. #.... ...#. #...# #...#
#.#.# ..#.. ...#. ..##. #..#. ....# ####. ..#.. .###. .####
##..# ..#.. ..#.. ....# ##### ....# #...# .#... #...# ....#
#...# ..#.. .#... #...# ...#. #...# #...# .#... #...# ...#.
.###. .###. ##### .###. ...#. .###. .###. .#... .###. .##..
""".split()
HIDDEN, CAP = 12, 3
SECURE = "--secure" in sys.argv
rng = np.random.default_rng(11)


def pictures(count: int) -> tuple[np.ndarray, np.ndarray]:
    """Pixels, one picture a column, one in 20 of them turned over; and which digits they are."""
    glyphs = np.array(
        [[c == "#" for row in range(7) for c in GLYPHS[10 * row + digit]] for digit in range(10)]
    )
    digits = rng.integers(0, 10, count)
    return glyphs[digits].T ^ (rng.random((35, count)) < 0.05), digits


def train(x: np.ndarray, digits: np.ndarray, steps: int = 600) -> list[np.ndarray]:
    """Adam on real weights, whose nearest integers are what is computed with."""
    real = [
        rng.normal(0, 0.5, (HIDDEN, 35)),
        np.zeros((HIDDEN, 1)),
        rng.normal(0, 1, (10, HIDDEN)),
        np.zeros((10, 1)),
    ]
    limits, targets = (1.4, 8, 3.4, 8), np.eye(10)[:, digits]
    mean, square = ([np.zeros_like(w) for w in real] for _ in range(2))
    for step in range(steps):
        w1, b1, w2, b2 = (np.rint(w) for w in real)
        chosen = rng.integers(0, x.shape[1], 500)
        sums = w1 @ x[:, chosen] + b1
        hidden = np.clip(sums, 0, CAP)
        scores = w2 @ hidden + b2
        odds = np.exp((scores - scores.max(axis=0)) / 2)
        error = odds / odds.sum(axis=0) - targets[:, chosen]
        back = (w2.T @ error) * ((sums > 0) & (sums < CAP))
        gradients = (
            back @ x[:, chosen].T,
            back.sum(axis=1, keepdims=True),
            error @ hidden.T,
            error.sum(axis=1, keepdims=True),
        )
        for w, m, v, gradient, limit in zip(real, mean, square, gradients, limits):
            m += 0.1 * (gradient - m)
            v += 0.01 * (gradient**2 - v)
            w -= 0.03 * (1 - step / steps) * m / (np.sqrt(v) + 1e-4)
            np.clip(w, -limit, limit, out=w)
    return [np.rint(w).astype(int) for w in real]


w1, b1, w2, b2 = train(*pictures(4_000))


@everlevel.program
def read(x: everlevel.rows(35, everlevel.bool_)):
    """Which digits they are."""
    hidden = np.clip(w1 @ x + b1, 0, CAP)
    return np.argmax(w2 @ hidden + b2, axis=0)


params = (
    everlevel.Params("bgv-65537-n15")
    if SECURE
    else everlevel.Params("insecure_bgv-65537-n11", insecure_research=True)
)
client = everlevel.Client(params)
plan = read.plan(params.slots, params=params)
print(plan)
server = plan.server(client)
pixels, digits = pictures(params.slots)
x = plan.encrypt(client, x=pixels)

start = time.monotonic()
found = plan.run(server, x)
seconds = time.monotonic() - start

expected = read(pixels)
np.testing.assert_array_equal(client.decrypt(found), expected)
print(
    f"{seconds:.1f} s, {server.bootstraps} ciphertexts refreshed; right for "
    f"{np.mean(expected == digits):.1%} of the pictures"
)
print(f"{len(digits)} pictures read by {HIDDEN} neurons and 10, all as in NumPy, all exact")
