"""What all encrypted arrays refuse: Python asks for values that are not known here."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from .errors import MissingMethodError, NoServerError, NotHomomorphicError

if TYPE_CHECKING:
    from typing_extensions import Self


def not_homomorphic(what: str, way: str) -> NotHomomorphicError:
    """The refusal of what encrypted entries cannot do."""
    return NotHomomorphicError(f"{what}: {way}", code="python.not-homomorphic")


def no_server() -> NoServerError:
    """The refusal of what takes server keys."""
    return NoServerError(
        "no server holds this array, and computing takes server keys: load it with "
        "Server.load first",
        code="python.no-server",
    )


class Encrypted:
    """An encrypted value, which has no value here: whatever asks Python for one says what to do
    instead.
    """

    __slots__ = ()

    def __bool__(self) -> bool:
        raise not_homomorphic(
            "the truth value of encrypted data is not known here",
            "choose with np.where(condition, a, b), join conditions with & and |, or decrypt",
        )

    def _no_number(self, *_: Any) -> NoReturn:
        """Refuses to be a number, or a list of them."""
        raise not_homomorphic(
            "encrypted data are not a number here", "decrypt it: client.decrypt(x)"
        )

    __int__ = __float__ = __complex__ = __round__ = __trunc__ = __floor__ = __ceil__ = _no_number
    item = tolist = _no_number

    def __array__(self, *_: Any, **__: Any) -> NoReturn:
        raise not_homomorphic(
            "encrypted data are not a NumPy array",
            "decrypt it, with client.decrypt(x); for table[x] there is everlevel.Table(table)[x]",
        )

    def __index__(self) -> int:
        raise not_homomorphic(
            "encrypted data cannot be an index",
            "for a table of public integers there is everlevel.Table(table)[x]",
        )

    def __hash__(self) -> int:
        raise not_homomorphic(
            "encrypted data have no hash, as == is encrypted, too", "use id(x), or a list"
        )

    def __contains__(self, value: Any) -> bool:
        raise not_homomorphic(
            "whether an entry is there is not known here",
            "x == value is an encrypted answer for each entry",
        )

    def __copy__(self) -> Self:
        # Encrypted data are not changed. Pickles, of which Python would make a copy, have no
        # server.
        return self

    def __deepcopy__(self, memo: Any) -> Self:
        return self


def missing(x: object, name: str, what: str, way: str) -> Exception:
    """What is said of a missing attribute: of one of NumPy's arrays, what to do instead."""
    if not name.startswith("_") and hasattr(np.ndarray, name):
        return MissingMethodError(f"{name} of {what}: {way}", code="python.not-homomorphic")
    return AttributeError(f"{type(x).__name__!r} object has no attribute {name!r}")
