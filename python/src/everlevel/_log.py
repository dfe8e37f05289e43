"""Messages for ``logging.getLogger("everlevel")``: names, sizes, seconds and refreshes, never
values or keys.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, cast

from . import _everlevel as _rust

logger = logging.getLogger("everlevel")
logger.addHandler(logging.NullHandler())

#: Of a server: what computes nothing.
_SILENT = frozenset({"check", "comparison_range", "explain"})


@contextmanager
def timed(what: str) -> Iterator[list[str]]:
    """Logs how long the work took, and the texts that are added to the list meanwhile."""
    added: list[str] = []
    started = time.perf_counter()
    yield added
    logger.info("%s: %.3f s", ", ".join([what, *added]), time.perf_counter() - started)


class _Told:
    """A compiled server whose operations are told: those that refreshed at INFO, others at DEBUG.

    Refreshes are counted by the server: those of another thread meanwhile are counted, too.
    """

    __slots__ = ("_bootstraps", "_inner")

    def __init__(self, inner: Any, bootstraps: Callable[[], int]) -> None:
        self._inner, self._bootstraps = inner, bootstraps

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._inner, name)
        if not callable(found) or name in _SILENT:
            return found

        def operation(*arguments: Any) -> Any:
            before, started = self._bootstraps(), time.perf_counter()
            result = found(*arguments)
            seconds, refreshes = time.perf_counter() - started, self._bootstraps() - before
            # Operations on typed integers are named by their first argument.
            what = arguments[0] if name in ("apply", "totals") else name
            if name == "refresh":
                logger.info("refresh: %.3f s", seconds)
            else:
                level = logging.INFO if refreshes else logging.DEBUG
                logger.log(level, "%s: %.3f s, %d automatic refreshes", what, seconds, refreshes)
            return result

        return operation


def told_server(inner: _rust.Server) -> _rust.Server:
    """The server, with logging if the logger is enabled."""
    if not logger.isEnabledFor(logging.INFO):
        return inner
    return cast(_rust.Server, _Told(inner, lambda: inner.bootstraps))


def told_integers(inner: _rust.IntegerServer, server: _rust.Server) -> _rust.IntegerServer:
    """The same for typed integers on this server."""
    if not logger.isEnabledFor(logging.INFO):
        return inner
    return cast(_rust.IntegerServer, _Told(inner, lambda: server.bootstraps))
