"""A service, as arrays of it need one: what it answers and estimates."""

from __future__ import annotations

from typing import Any, NamedTuple, Protocol


class Estimate(NamedTuple):
    """The cost of a job, counted by the service without cryptography before it runs."""

    #: Seconds on a typical core, by a model that counts operations.
    seconds: float
    #: Products of ciphertexts.
    products: int
    #: Relinearizations and rotations.
    key_switches: int
    #: Bootstrappings.
    refreshes: int
    #: Bytes of memory that the server keys take, of the budget for those of all tenants.
    key_memory_bytes: int
    #: Bytes of the results, which count against the quota.
    result_bytes: int


# Where pickles name it.
Estimate.__module__ = "everlevel._remote"


class Service(Protocol):
    """What computes the arrays of a service: :class:`everlevel.Remote`."""

    def compute(
        self,
        *arrays: Any,
        server_keys: Any = None,
        job_name: str | None = None,
        progress: Any = None,
    ) -> tuple[Any, ...]:
        """Several arrays, computed by one job."""
        ...

    def estimate_arrays(self, *arrays: Any, server_keys: Any = None) -> Estimate:
        """The cost of that."""
        ...
