"""Parts of queries as the text of SQL, and what Python may not ask of them.

Names stand in quotation marks and texts in apostrophes, with those inside of them written twice, so
that nothing that a name or a text holds is read as anything else.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from ._encrypted import not_homomorphic
from .errors import TableError

if TYPE_CHECKING:
    from ._table_schema import Schema

# How tightly the outermost operator of an expression binds.
OR, AND, COMPARE, ADD, MULTIPLY, ATOM = range(6)


def fault(what: str) -> TableError:
    """The refusal of an expression that no query has."""
    return TableError(what, code="python.question")


def quoted(name: str, mark: str = '"') -> str:
    """A name, or a text, that SQL reads as such whatever is in it."""
    try:
        name.encode()
    except UnicodeEncodeError as error:
        raise fault(f"{name!r} is no text of Unicode: {error.reason}") from None
    return mark + name.replace(mark, mark + mark) + mark


class Expression:
    """A part of a query: immutable."""

    __slots__ = ("_text", "_level", "_schema")

    _text: str
    _level: int
    #: Of the table whose columns it has; none: it has none.
    _schema: Schema | None

    #: NumPy's numbers leave operators to the expression.
    __array_ufunc__ = None
    # Equality makes a condition, so that there is no hash.
    __hash__ = None  # type: ignore[assignment]

    def __init__(self, text: str, level: int, schema: Schema | None) -> None:
        self._text, self._level, self._schema = text, level, schema

    def _at(self, level: int) -> str:
        """The text, in parentheses unless it binds so tightly."""
        return self._text if self._level >= level else f"({self._text})"

    def __bool__(self) -> bool:
        raise not_homomorphic(
            "the truth of an expression over encrypted columns is not known here",
            "join conditions with & | ~ instead of and, or, not, in parentheses; write "
            "x.between(a, b) for a <= x <= b, x.isin([...]) for in, and et.case(...) for if",
        )

    def __iter__(self) -> Any:
        raise not_homomorphic("rows of encrypted columns are not known here", "ask for their sums")

    def __repr__(self) -> str:
        return f"<everlevel.tables.{type(self).__name__} {self._text}>"


class Parameter:
    """A constant that the server does not see: compare a column with it, and give its value to
    ``Plan.bind``.
    """

    __slots__ = ("_name",)

    def __init__(self, name: str) -> None:
        if not re.fullmatch("[A-Za-z_][A-Za-z0-9_]*", name):
            raise fault(f"a parameter {name!r}: expected letters, digits and _, no digit first")
        self._name = name

    @property
    def name(self) -> str:
        """Its name."""
        return self._name

    def __repr__(self) -> str:
        return f"<everlevel.tables.Parameter :{self._name}>"


def shared(*parts: Expression) -> Schema | None:
    """The schema of the table that expressions are about."""
    found: Schema | None = None
    for part in parts:
        if part._schema is not None:
            if found is not None and found != part._schema:
                raise fault(f"{part._text} is a column of another table: ask about one at a time")
            found = part._schema
    return found


def joined(kind: type, sign: str, level: int, a: Expression, b: Expression) -> Any:
    """An operator between two expressions."""
    text = f"{a._at(level)} {sign} {b._at(level + 1)}"
    return kind(text, level, shared(a, b))
