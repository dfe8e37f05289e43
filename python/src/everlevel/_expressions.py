"""Expressions over the columns of a table, and over sums of them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from ._encrypted import not_homomorphic
from ._fragments import (
    ADD,
    AND,
    ATOM,
    COMPARE,
    MULTIPLY,
    OR,
    Expression,
    Parameter,
    fault,
    joined,
    quoted,
    shared,
)
from ._literals import constant

if TYPE_CHECKING:
    from ._table_schema import Schema


def literal(value: Any) -> Value:
    """A value of Python's as an expression."""
    if isinstance(value, Value):
        return value
    if isinstance(value, Expression):
        raise fault(
            f"{value._text} is made of all rows of a group: compute with other sums, or compare "
            "it in having"
        )
    if isinstance(value, Parameter):
        return Value(f":{value._name}", ATOM, None)
    text, level = constant(value)
    if isinstance(value, (bool, np.bool_)):
        return Condition(text, level, None)
    return Value(text, level, None)


class Value(Expression):
    """A number, a date or a text of each row."""

    __slots__ = ()

    def __add__(self, other: Any) -> Value:
        return _number("+", ADD, self, other)

    def __radd__(self, other: Any) -> Value:
        return _number("+", ADD, other, self)

    def __sub__(self, other: Any) -> Value:
        return _number("-", ADD, self, other)

    def __rsub__(self, other: Any) -> Value:
        return _number("-", ADD, other, self)

    def __mul__(self, other: Any) -> Value:
        return _number("*", MULTIPLY, self, other)

    def __rmul__(self, other: Any) -> Value:
        return _number("*", MULTIPLY, other, self)

    def __neg__(self) -> Value:
        return Value(f"-{self._at(ATOM)}", ADD, self._schema)

    def __truediv__(self, other: Any) -> Value:
        raise not_homomorphic(
            "rows of encrypted columns are not divided", "divide sums: x.sum() / y.sum()"
        )

    __rtruediv__ = __floordiv__ = __rfloordiv__ = __mod__ = __rmod__ = __truediv__

    def _compared(self, sign: str, other: Any) -> Condition:
        other = literal(other)
        text = f"{self._at(ADD)} {sign} {other._at(ADD)}"
        return Condition(text, COMPARE, shared(self, other))

    def __eq__(self, other: Any) -> Condition:  # type: ignore[override]
        return self._compared("=", other)

    def __ne__(self, other: Any) -> Condition:  # type: ignore[override]
        return self._compared("<>", other)

    def __lt__(self, other: Any) -> Condition:
        return self._compared("<", other)

    def __le__(self, other: Any) -> Condition:
        return self._compared("<=", other)

    def __gt__(self, other: Any) -> Condition:
        return self._compared(">", other)

    def __ge__(self, other: Any) -> Condition:
        return self._compared(">=", other)

    def between(self, low: Any, high: Any) -> Condition:
        """True where it is in an interval, both ends included."""
        low, high = literal(low), literal(high)
        text = f"{self._at(ADD)} between {low._at(ADD)} and {high._at(ADD)}"
        return Condition(text, COMPARE, shared(self, low, high))

    def isin(self, values: Iterable[Any]) -> Condition:
        """True where it is one of several values."""
        if isinstance(values, (str, bytes, Mapping, Expression)):
            raise fault("isin takes a list of values: x.isin([...])")
        several = [literal(value) for value in values]
        if not several:
            return Condition("false", ATOM, self._schema)
        text = f"{self._at(ADD)} in ({', '.join(value._at(ADD) for value in several)})"
        return Condition(text, COMPARE, shared(self, *several))

    def like(self, pattern: str | Parameter) -> Condition:
        """True where a text matches a pattern, in which ``%`` stands for any text and ``_`` for a
        letter. An encrypted one, ``et.parameter(name)``, is a prefix and then ``%``.
        """
        text = f":{pattern.name}" if isinstance(pattern, Parameter) else quoted(pattern, "'")
        return Condition(f"{self._at(ADD)} like {text}", COMPARE, self._schema)

    def startswith(self, start: str) -> Condition:
        """True where a text begins with another one."""
        if "%" in start or "_" in start:
            raise fault(
                f"startswith({start!r}): % and _ would stand for other letters: list the texts "
                "with isin"
            )
        return self.like(start + "%")

    def isnull(self) -> Condition:
        """True where the value is missing."""
        return Condition(f"{self._at(ATOM)} is null", COMPARE, self._schema)

    def notnull(self) -> Condition:
        """True where the value is not missing."""
        return Condition(f"{self._at(ATOM)} is not null", COMPARE, self._schema)

    def _folded(self, name: str, where: Condition | None) -> Aggregate:
        return _call(f"{name}({self._text})", where, self)

    def sum(self, where: Condition | None = None) -> Aggregate:
        """The sum over the rows of a group that meet a condition; none of no values."""
        return self._folded("sum", where)

    def mean(self, where: Condition | None = None) -> Aggregate:
        """The average, a quotient with six more decimal places."""
        return self._folded("avg", where)

    def min(self, where: Condition | None = None) -> Aggregate:
        """The least."""
        return self._folded("min", where)

    def max(self, where: Condition | None = None) -> Aggregate:
        """The greatest."""
        return self._folded("max", where)

    def median(self, where: Condition | None = None) -> Aggregate:
        """The one in the middle, or halfway between the two in the middle."""
        return self._folded("median", where)

    def count(self, where: Condition | None = None) -> Aggregate:
        """The number of rows where the value is not missing."""
        return self._folded("count", where)

    def nunique(self, where: Condition | None = None) -> Aggregate:
        """The number of different values."""
        return _call(f"count(distinct {self._text})", where, self)


def _number(sign: str, level: int, a: Any, b: Any) -> Value:
    a, b = literal(a), literal(b)
    found: Value = joined(Value, sign, level, a, b)
    return found


def condition(x: Any, where: str) -> Condition:
    """The argument, if it is a condition on rows."""
    if isinstance(x, Condition):
        return x
    told = f"{x._text} in {where}" if isinstance(x, Expression) else f"{where}({x!r})"
    way = "having(...)" if isinstance(x, GroupCondition) else "a comparison such as t.x > 1"
    raise fault(f"{told}: expected a condition on rows: write {way}, and & | ~ between several")


class Condition(Value):
    """A condition on rows: true, false, or unknown where a value is missing."""

    __slots__ = ()

    def __and__(self, other: Condition) -> Condition:
        found: Condition = joined(Condition, "and", AND, self, condition(other, "&"))
        return found

    def __or__(self, other: Condition) -> Condition:
        found: Condition = joined(Condition, "or", OR, self, condition(other, "|"))
        return found

    def __invert__(self) -> Condition:
        return Condition(f"not {self._at(ATOM)}", COMPARE, self._schema)

    def __rand__(self, other: Any) -> Condition:
        return condition(other, "&")

    __ror__ = __rand__


class Column(Condition):
    """A column of the table. One of truth values is a condition."""

    __slots__ = ("_name",)

    _name: str

    def __init__(self, name: str, schema: Schema) -> None:
        super().__init__(quoted(name), ATOM, schema)
        self._name = name


def _call(call: str, where: Condition | None, *parts: Expression) -> Aggregate:
    if where is None:
        return Aggregate(call, ATOM, shared(*parts))
    meant = condition(where, "where")
    return Aggregate(f"{call} filter (where {meant._text})", ATOM, shared(*parts, meant))


def count(where: Condition | None = None) -> Aggregate:
    """The number of rows of a group, or of those that meet a condition."""
    return _call("count(*)", where)


def parameter(name: str) -> Parameter:
    """A constant that the server does not see, by its name: ``t.x >= et.parameter("lo")``; its
    value is given to ``Plan.bind(key, lo=...)``.
    """
    return Parameter(name)


def case(*cases: tuple[Condition, Any], default: Any = None) -> Value:
    """In each row the value of the first condition that it meets: ``et.case((t.x > 1, t.y), (t.z,
    0), default=t.x)``. Without a default nothing is there in other rows.
    """
    if not cases:
        raise fault("case() without a case: write et.case((condition, value), ...)")
    parts: list[Expression] = []
    text = "case"
    for pair in cases:
        if not isinstance(pair, tuple) or len(pair) != 2:
            raise fault("case takes pairs: et.case((condition, value), ..., default=value)")
        when, then = condition(pair[0], "case"), literal(pair[1])
        parts += [when, then]
        text += f" when {when._text} then {then._text}"
    if default is not None:
        otherwise = literal(default)
        parts.append(otherwise)
        text += f" else {otherwise._text}"
    return Value(text + " end", ATOM, shared(*parts))


class Aggregate(Expression):
    """A value computed from the rows of a group, and arithmetic with such values."""

    __slots__ = ()

    def __add__(self, other: Any) -> Aggregate:
        return _of_groups("+", ADD, self, other)

    def __radd__(self, other: Any) -> Aggregate:
        return _of_groups("+", ADD, other, self)

    def __sub__(self, other: Any) -> Aggregate:
        return _of_groups("-", ADD, self, other)

    def __rsub__(self, other: Any) -> Aggregate:
        return _of_groups("-", ADD, other, self)

    def __mul__(self, other: Any) -> Aggregate:
        return _of_groups("*", MULTIPLY, self, other)

    def __rmul__(self, other: Any) -> Aggregate:
        return _of_groups("*", MULTIPLY, other, self)

    def __truediv__(self, other: Any) -> Aggregate:
        return _of_groups("/", MULTIPLY, self, other)

    def __rtruediv__(self, other: Any) -> Aggregate:
        return _of_groups("/", MULTIPLY, other, self)

    def __neg__(self) -> Aggregate:
        return Aggregate(f"-{self._at(ATOM)}", ADD, self._schema)

    def _compared(self, sign: str, other: Any) -> GroupCondition:
        other = _aggregate(other)
        text = f"{self._at(ADD)} {sign} {other._at(ADD)}"
        return GroupCondition(text, COMPARE, shared(self, other))

    def __eq__(self, other: Any) -> GroupCondition:  # type: ignore[override]
        return self._compared("=", other)

    def __ne__(self, other: Any) -> GroupCondition:  # type: ignore[override]
        return self._compared("<>", other)

    def __lt__(self, other: Any) -> GroupCondition:
        return self._compared("<", other)

    def __le__(self, other: Any) -> GroupCondition:
        return self._compared("<=", other)

    def __gt__(self, other: Any) -> GroupCondition:
        return self._compared(">", other)

    def __ge__(self, other: Any) -> GroupCondition:
        return self._compared(">=", other)

    def between(self, low: Any, high: Any) -> GroupCondition:
        """True of a group if it is in an interval, both ends included."""
        low, high = _aggregate(low), _aggregate(high)
        text = f"{self._at(ADD)} between {low._at(ADD)} and {high._at(ADD)}"
        return GroupCondition(text, COMPARE, shared(self, low, high))


def _aggregate(x: Any) -> Aggregate:
    """A side of a computation with sums: another one, or a number."""
    if isinstance(x, Aggregate):
        return x
    found = literal(x)
    if isinstance(x, (Value, Parameter)):
        raise fault(f"{found._text} is of a row: make a sum of it, x.sum()")
    return Aggregate(found._text, found._level, None)


def _of_groups(sign: str, level: int, a: Any, b: Any) -> Aggregate:
    found: Aggregate = joined(Aggregate, sign, level, _aggregate(a), _aggregate(b))
    return found


class GroupCondition(Expression):
    """A condition on groups, for ``having``."""

    __slots__ = ()

    def __and__(self, other: GroupCondition) -> GroupCondition:
        found: GroupCondition = joined(GroupCondition, "and", AND, self, group_condition(other))
        return found

    def __or__(self, other: GroupCondition) -> GroupCondition:
        found: GroupCondition = joined(GroupCondition, "or", OR, self, group_condition(other))
        return found

    def __invert__(self) -> GroupCondition:
        return GroupCondition(f"not {self._at(ATOM)}", COMPARE, self._schema)


def group_condition(x: Any) -> GroupCondition:
    """The argument, if it is a condition on groups."""
    if isinstance(x, GroupCondition):
        return x
    told = x._text if isinstance(x, Expression) else repr(x)
    raise fault(
        f"having({told}): expected a condition on sums, such as et.count() > 2; one on rows "
        "stands in filter(...)"
    )
