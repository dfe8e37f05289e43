"""Example 3. Private statistics: the owner of a table uploads two encrypted columns; a server
returns five encrypted sums, and never sees a number.

Owner and server share nothing but bytes and the file of server keys. The parameter set is planned
for the purpose, at 128 bits of security, and the server's keys are those of one program.

python python/examples/03_private_statistics.py
"""

import pathlib
import tempfile

import numpy as np

import everlevel
from everlevel import planner

PROGRAM = "sx = sum(x); sy = sum(y); sxx = sum(x^2); syy = sum(y^2); sxy = sum(x * y)"
NAMES = ["sx", "sy", "sxx", "syy", "sxy"]


class Owner:
    """Has the secret key."""

    def __init__(self, params: everlevel.Params) -> None:
        self.client = everlevel.Client(params)

    def introduce(self, keys: pathlib.Path) -> bytes:
        """Once: server keys to a file, parameters as bytes."""
        self.client.save_server_keys(keys, program=PROGRAM)
        return self.client.params.to_bytes()

    def upload(self, column: np.ndarray) -> bytes:
        return self.client.encrypt_modular(column).to_bytes()

    def read(self, answer: list[bytes]) -> list[int]:
        return [int(self.client.decrypt(result, all_slots=True)[0]) for result in answer]


def serve(params: bytes, keys: pathlib.Path, x: bytes, y: bytes) -> list[bytes]:
    """The server.

    A set below 128 bits is refused here, whatever the sender says; inputs are taken for fresh
    encryptions, or refused.
    """
    server = everlevel.Server.open(keys, params=everlevel.Params.from_bytes(params))
    found = server.run(PROGRAM, x=server.read(x, bounds="fresh"), y=server.read(y, bounds="fresh"))
    return [found[name].compact() for name in NAMES]


# Ages, and monthly incomes in hundreds. Sums of squares stay below 65537^2, the plaintext modulus.
i = np.arange(1000)
ages = 18 + i * 37 % 60
incomes = 8 * ages + i * i % 500

params = planner.plan(65537**2, len(i), depth=1)[0].params
print(f"{params.name}: {params.slots} slots, {params.security_bits:.1f} bits of security")
owner = Owner(params)
with tempfile.TemporaryDirectory() as directory:
    keys = pathlib.Path(directory) / "server.keys"
    introduction = owner.introduce(keys)
    answer = serve(introduction, keys, owner.upload(ages), owner.upload(incomes))
sums = owner.read(answer)

assert sums == [
    int(s) for s in (ages.sum(), incomes.sum(), ages @ ages, incomes @ incomes, ages @ incomes)
]
sx, sy, sxx, syy, sxy = (s / len(i) for s in sums)
dx, dy = (sxx - sx**2) ** 0.5, (syy - sy**2) ** 0.5
print(
    f"age {sx:.1f} ± {dx:.1f}, income {sy:.1f} ± {dy:.1f}, correlation "
    f"{(sxy - sx * sy) / (dx * dy):.3f}: five sums, all exact"
)
