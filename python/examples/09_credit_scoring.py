"""Example 9. Credit scoring: points by brackets and tables, a limit that the points decide, and
what it takes, said before it runs.

The plan chooses whether the server bootstraps, and which keys it gets; the bank's tables are
public, the applicants' data are not.

python python/examples/09_credit_scoring.py; with --secure at 128 bits: 20,000 applicants.
"""

import sys

import numpy as np

import everlevel

INCOMES = [15_000, 30_000, 50_000, 80_000]
INCOME_POINTS = np.array([0, 35, 60, 80, 95])
AGE_POINTS = np.array([min(3 * max(age - 18, 0), 60) - max(age - 65, 0) for age in range(128)])
LIMITS = np.array([0, 500, 2_000, 10_000])


@everlevel.program
def score(
    age: everlevel.ranged(18, 127),
    income: everlevel.ranged(0, 200_000),
    debt: everlevel.ranged(0, 200_000),
    defaults: everlevel.ranged(0, 15),
):
    points = (
        everlevel.Table(AGE_POINTS)[age]
        + everlevel.Table(INCOME_POINTS)[np.searchsorted(INCOMES, income)]
    )
    points = points - np.where(debt * 2 > income, 40, 0) - 20 * defaults
    limit = everlevel.Table(LIMITS)[np.digitize(points, [30, 80, 120])]
    return {"limit": limit, "granted": np.count_nonzero(points >= 30)}


SECURE = "--secure" in sys.argv
params = (
    everlevel.Params("bgv-65537-n15")
    if SECURE
    else everlevel.Params("insecure_bgv-65537-n11", insecure_research=True)
)
rows = 20_000 if SECURE else 500
plan = score.plan(rows, params=params)
print(plan)

rng = np.random.default_rng(9)
applicants = {
    "age": rng.integers(18, 90, rows),
    "income": rng.integers(0, 120_000, rows),
    "debt": rng.integers(0, 60_000, rows),
    "defaults": rng.binomial(15, 0.05, rows),
}
client = everlevel.Client(plan.params)
found = plan.run(plan.server(client), plan.encrypt(client, **applicants))


def plain(age, income, debt, defaults):
    points = (
        AGE_POINTS[age]
        + INCOME_POINTS[np.searchsorted(INCOMES, income)]
        - np.where(debt * 2 > income, 40, 0)
        - 20 * defaults
    )
    return LIMITS[np.digitize(points, [30, 80, 120])], np.count_nonzero(points >= 30)


limits, granted = plain(**applicants)
np.testing.assert_array_equal(client.decrypt(found["limit"]), limits)
assert client.decrypt(found["granted"]) == granted
print(f"{rows} applicants, {granted} of them with a limit, all exact")
