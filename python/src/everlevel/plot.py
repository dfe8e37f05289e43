"""Plots of noise (``pip install everlevel[plot]``).

They show bounds, which follow from the operations, and not measurements, which depend on the key.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from ._array import EncryptedArray

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def plot_noise(
    arrays: EncryptedArray | Mapping[str, EncryptedArray], *, ax: Axes | None = None
) -> Axes:
    """A bar for each array: the modulus in bits, of it the noise bound, the rest being capacity.

    Returns the axes.
    """
    if ax is None:
        import matplotlib.pyplot as plt

        ax = plt.subplots()[1]
    named: Mapping[str, Any] = arrays if isinstance(arrays, Mapping) else {"": arrays}
    names = list(named)
    noise = [x.noise_bound_bits for x in named.values()]
    capacity = [x.capacity_bits for x in named.values()]
    places = range(len(names))
    ax.barh(places, noise, label="noise bound")
    ax.barh(places, capacity, left=noise, label="capacity")
    ax.set_yticks(places, names)
    ax.invert_yaxis()
    ax.set_xlabel("bits of the modulus")
    ax.legend()
    return ax
