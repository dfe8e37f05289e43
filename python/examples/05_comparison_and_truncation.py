"""Example 5. Comparison and truncation: fixed-point numbers.

Areas of rectangles, rounded to the precision of their sides, and which of them are below a limit.

A number modulo p^4 has four digits to the base p = 17, one of them after the point. A product has
two after the point, so one has to go.

python python/examples/05_comparison_and_truncation.py [--secure]
"""

import pathlib
import sys
import tempfile

import numpy as np

import everlevel

ONE = 17  # numbers are multiples of 1/17
LIMIT = 65 * ONE // 2  # 32.5, rounded


class Surveyor:
    """Has the secret key."""

    def __init__(self, params: everlevel.Params) -> None:
        self.client = everlevel.Client(params)

    def upload(self, sides: np.ndarray) -> bytes:
        return self.client.encrypt_modular(sides, bounds=(0, 12 * ONE)).to_bytes()

    def read(self, answer: bytes) -> np.ndarray:
        return self.client.decrypt(answer)


def serve(
    params: everlevel.Params, keys: pathlib.Path, lengths: bytes, widths: bytes
) -> tuple[bytes, bytes]:
    """The server."""
    server = everlevel.Server.open(keys, params=params)
    product = server.read(lengths, bounds="fresh") * server.read(widths, bounds="fresh")
    # To the nearest multiple of 1/17, modulo 17^3 from here on; and less than 32.5, as 0 or 1
    # modulo 17.
    area = product.truncate(1)
    small = area.less_than(LIMIT)
    print(f"bits left: {area.capacity_bits:.0f}, {small.capacity_bits:.0f}")
    return area.compact(), small.compact()


if "--secure" in sys.argv:
    params = everlevel.Params("bgv-17e4-m38309")
else:
    # A toy ring of 56 slots.
    spec = everlevel.Params("bgv-17e4-m38309").spec
    del spec["bootstrap"]
    params = everlevel.Params(
        {**spec, "name": "insecure_bgv-17e4-m435", "index": 435}, insecure_research=True
    )
# Sides from 1 to 11.9: areas below 144.5, the largest number with three digits.
i = np.arange(params.slots)
lengths, widths = ONE + i * 21 % 186, ONE + i * 13 % 186

surveyor = Surveyor(params)
with tempfile.TemporaryDirectory() as directory:
    keys = pathlib.Path(directory) / "server.keys"
    surveyor.client.save_server_keys(keys)
    answer = serve(params, keys, surveyor.upload(lengths), surveyor.upload(widths))
areas, small = (surveyor.read(part) for part in answer)

expected = (2 * lengths * widths + ONE) // (2 * ONE)
assert (areas == expected).all()
assert (small == (expected < LIMIT)).all()
print(f"{len(areas)} areas, {small.sum()} of them below 32.5, all exact")
