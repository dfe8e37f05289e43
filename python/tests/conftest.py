import numpy as np
import pytest

import everlevel


class Party:
    """A parameter set with keys, once for all tests that ask for it."""

    def __init__(self, spec):
        self.params = everlevel.Params(spec, insecure_research=True)
        self.client = everlevel.Client(self.params)
        self.server = self.client.server()
        self.t = self.params.plain_modulus
        self.rng = np.random.default_rng(1)

    def random(self, *shape):
        return self.rng.integers(0, self.t, shape)

    def load(self, values, **how):
        return self.server.load(self.client.encrypt_modular(values, **how))


@pytest.fixture(scope="session")
def toy():
    """128 slots modulo 257 in two rows of 64, with bootstrapping."""
    return Party("insecure_bgv-257-n8")


@pytest.fixture(scope="session")
def fermat():
    """2048 slots modulo 65537."""
    return Party("insecure_bgv-65537-n11")
