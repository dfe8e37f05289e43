"""Functions of typed integers, whose arguments are annotated."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from typing import Any

from ._kinds import kinds_of
from .errors import ProgramError


class Function:
    """A function of typed integers, with what its annotations say of its arguments."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self._function = function
        self._signature = inspect.signature(function)
        #: The name of the function.
        self.name: str = function.__name__
        #: What its arguments may be, by name.
        self.kinds = kinds_of(function)

    def _named(self, arrays: Mapping[str, Any]) -> None:
        if set(arrays) != set(self.kinds):
            raise ProgramError(
                f"arguments {', '.join(arrays) or 'none'}: {self.name} takes "
                f"{', '.join(self.kinds)}",
                code="python.arguments",
            )
