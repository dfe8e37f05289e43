"""Example 14. Payroll: wages from hours and rates, overtime, a progressive tax, shares in percent,
and totals, computed by an office that sees no wage.

Nothing overflows: what a product or a sum can be follows from what its operands can be, and is
printed.

python python/examples/14_payroll.py; with --secure at 128 bits: 20,000 people.
"""

import sys
import time

import numpy as np

import everlevel

#: Wages in units of 5 cents, above each of which an eighth more of what exceeds it is taken.
LIMITS = [8_000, 18_000, 40_000]
#: The percentage of overtime, by the number of hours.
SHARES = everlevel.Table([max(h - 40, 0) * 100 // max(h, 1) for h in range(64)])
SECURE = "--secure" in sys.argv
people = 20_000 if SECURE else 500


def payroll(hours, rate):
    """Wages, taxes and shares of overtime, which is paid half as much again: of NumPy's arrays and
    of encrypted ones.
    """
    wage = (2 * hours + np.maximum(hours - 40, 0)) * rate
    tax = sum(np.maximum(wage - limit, 0) for limit in LIMITS) // 8
    return wage, tax, SHARES[hours]


rng = np.random.default_rng(14)
hours, rates = rng.integers(0, 61, people), rng.integers(120, 900, people)  # in tenths

params = (
    everlevel.Params("bgv-65537-n15")
    if SECURE
    else everlevel.Params("insecure_bgv-65537-n11", insecure_research=True)
)
client = everlevel.Client(params)
server = client.server()
h, r = (
    server.load(client.encrypt(hours, bounds=(0, 63))),
    server.load(client.encrypt(rates, bounds=(0, 899))),
)

start = time.monotonic()
wage, tax, share = payroll(h, r)
paid, taken, most = (wage - tax).sum(), tax.sum(), np.count_nonzero(share >= 25)
print(f"{time.monotonic() - start:.1f} s, {server.bootstraps} refreshes")
for name, x in (("wage", wage), ("tax", tax), ("share", share), ("all taxes", taken)):
    print(f"{name}: {x.interval[0]:,} to {x.interval[1]:,}")

expected = payroll(hours, rates)
for found, known in zip((wage, tax, share), expected):
    np.testing.assert_array_equal(client.decrypt(found), known)
assert client.decrypt(paid) == (expected[0] - expected[1]).sum()
assert client.decrypt(taken) == expected[1].sum()
assert client.decrypt(most) == np.count_nonzero(expected[2] >= 25)
print(
    f"{people} people are paid {client.decrypt(paid) / 20:,.2f} and taxed "
    f"{client.decrypt(taken) / 20:,.2f}, all exact"
)
