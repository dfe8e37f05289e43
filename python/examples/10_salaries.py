"""Example 10. Salaries: how many people earn above a threshold, what all of them earn, who earns
more than last year, what a board's highest and median
salaries and their quartiles are, and who earns the most, without anybody seeing a salary.

python python/examples/10_salaries.py; with --secure at 128 bits: 30,000 people.
"""

import sys

import numpy as np

import everlevel

SECURE = "--secure" in sys.argv
params = (
    everlevel.Params("bgv-65537-n15")
    if SECURE
    else everlevel.Params("insecure_bgv-65537-n11", insecure_research=True)
)
people = 30_000 if SECURE else 300
rng = np.random.default_rng(10)
before = rng.integers(20_000, 150_000, people)
now = before + rng.integers(-3_000, 9_000, people)


@everlevel.program
def statistics(board: everlevel.ranged(0, 200_000)):
    """Of few people: all pairs are compared at once. What it takes is planned, for the rotations of
    exactly that many entries.
    """
    quartiles = (np.quantile(board, q, method="lower") for q in (0.25, 0.75))
    return np.max(board), np.median(board), np.argmax(board), *quartiles


client = everlevel.Client(params)
server = client.server()
x, y = (server.load(client.encrypt(salaries, bounds=(0, 200_000))) for salaries in (before, now))

above = np.count_nonzero(y > 60_000)
paid = y.sum()
raised = np.count_nonzero(y > x)
gained = np.maximum(y - x, 0).sum()
capped = np.minimum(y, 100_000)
plan = statistics.plan(21, params=params)
board = plan.run(plan.server(client), plan.encrypt(client, board=now[:21]))

assert client.decrypt(above) == np.count_nonzero(now > 60_000)
assert client.decrypt(paid) == now.sum()
assert client.decrypt(raised) == np.count_nonzero(now > before)
assert client.decrypt(gained) == np.maximum(now - before, 0).sum()
np.testing.assert_array_equal(client.decrypt(capped), np.minimum(now, 100_000))
assert [client.decrypt(x) for x in board] == [int(x) for x in statistics(now[:21])]
mean = client.decrypt(paid) / people
print(
    f"{people} salaries of {mean:.0f} on average, {client.decrypt(above)} above 60,000, "
    f"{client.decrypt(raised)} raised, all exact"
)
