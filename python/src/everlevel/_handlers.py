"""What NumPy's functions do with encrypted arrays. The modules that do it are above the arrays, and
enter themselves here when they are imported, which ``everlevel`` does.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np


class Handlers(NamedTuple):
    """What answers for a kind of encrypted arrays."""

    #: A universal function: its method, the operands, ``out`` and the options.
    ufunc: Callable[[np.ufunc, str, Sequence[Any], Any, dict[str, Any]], Any]
    #: Another function: its arguments and options.
    function: Callable[[Any, Any, dict[str, Any]], Any]
    #: The advice instead of a function or a method, by its name.
    way: Callable[[str], str]


#: The kinds of arrays: typed integers, and integers modulo p^r.
INTEGERS, MODULAR = "integers", "modular"

HANDLERS: dict[str, Handlers] = {}
