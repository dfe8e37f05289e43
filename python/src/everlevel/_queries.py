"""Queries on a table as Python expressions, which are translated to SQL."""

from __future__ import annotations

import dataclasses
import difflib
import functools
import operator
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from ._expressions import Aggregate, Column, Condition, condition, group_condition
from ._fragments import Expression, fault, quoted
from .errors import TableError

if TYPE_CHECKING:
    from ._expressions import GroupCondition
    from ._table_schema import Schema


class UnknownColumnError(TableError, AttributeError):
    """A name that a table does not have."""


class OrderKey(NamedTuple):
    """A key of ``order_by``, made by :func:`asc` or :func:`desc`."""

    #: The name of a column of the answer.
    name: str
    #: Whether the greatest comes first.
    descending: bool
    #: Where what is missing comes: ``"first"``, ``"last"``, or none for where it comes by default.
    nulls: str | None

    @property
    def _text(self) -> str:
        nulls = "" if self.nulls is None else f" nulls {self.nulls}"
        return (" desc" if self.descending else "") + nulls


def asc(column: str | Column, *, nulls: str | None = None) -> OrderKey:
    """A key for ``order_by``: the least value first, and missing values last, unless ``nulls`` is
    ``"first"``.
    """
    return _key(column, False, nulls)


def desc(column: str | Column, *, nulls: str | None = None) -> OrderKey:
    """A key for ``order_by``: the greatest value first, and missing values before it, unless
    ``nulls`` is ``"last"``.
    """
    return _key(column, True, nulls)


def _key(column: Any, descending: bool, nulls: str | None) -> OrderKey:
    if nulls not in (None, "first", "last"):
        raise fault(f"nulls={nulls!r}: expected 'first' or 'last'")
    return OrderKey(_name(column), descending, nulls)


def _name(column: Any) -> str:
    if isinstance(column, Column):
        return column._name
    if isinstance(column, str):
        return column
    told = column._text if isinstance(column, Expression) else repr(column)
    raise fault(f"{told}: expected a column, or its name")


def _unknown(name: str, known: Iterable[str], what: str) -> UnknownColumnError:
    names = list(known)
    lower = {n.lower(): n for n in names}
    close = difflib.get_close_matches(name.lower(), lower, 1)
    hint = f"; did you mean {lower[close[0]]!r}?" if close else ""
    return UnknownColumnError(
        f"no column is named {name!r}: {what} has {', '.join(names)}{hint}", code="table.name"
    )


@dataclasses.dataclass(frozen=True, repr=False, eq=False)
class Query:
    """A query on a table of a schema, :func:`table`, to be refined step by step: each step
    makes another query.

    ``t.cost`` is a column, ``t["cost"]`` one whose name is not Python's or is that of a method.
    Without sums the rows that meet the conditions are the answer.
    """

    _schema: Schema
    _table: str
    _filter: Condition | None = None
    _having: GroupCondition | None = None
    _groups: tuple[str, ...] = ()
    #: Names of the answer and their text; none: all columns.
    _outputs: tuple[tuple[str, str], ...] = ()
    _sums: bool = False
    _distinct: bool = False
    _order: tuple[OrderKey, ...] = ()
    _limit: int | None = None

    @functools.cached_property
    def _names(self) -> tuple[str, ...]:
        return tuple(self._schema.columns)

    def __getitem__(self, name: str) -> Column:
        name = _name(name)
        if name not in self._names:
            raise _unknown(name, self._names, "the table")
        return Column(name, self._schema)

    def __getattr__(self, name: str) -> Column:
        # Python asks for names of its own, also while an object is made.
        if name.startswith("__") or "_schema" not in self.__dict__:
            raise AttributeError(name)
        return self[name]

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *(name for name in self._names if name.isidentifier())]

    def _checked(self, *parts: Expression) -> None:
        for part in parts:
            if part._schema is not None and part._schema != self._schema:
                raise fault(f"{part._text} is of a table of another schema")

    def _unlimited(self, step: str) -> None:
        """Refuses a step after ``limit``, as it would be about all rows, and not about the first
        ones.
        """
        if self._limit is not None:
            raise fault(f"{step} after limit: limit the answer, after all other steps")

    def filter(self, *conditions: Condition) -> Query:
        """Keeps the rows that meet all of these conditions, in addition to earlier ones."""
        self._unlimited("filter")
        if self._sums:
            raise fault("filter after agg: filter before, or write having(...) about sums")
        found = self._filter
        for given in conditions:
            meant = condition(given, "filter")
            self._checked(meant)
            found = meant if found is None else found & meant
        return dataclasses.replace(self, _filter=found)

    def group_by(self, *columns: str | Column) -> Query:
        """Forms groups of rows that have the same value in each of these columns."""
        self._unlimited("group_by")
        if self._outputs:
            raise fault("group_by after agg or select: group before")
        names = tuple(self[_name(column)]._name for column in columns)
        if len(set(names)) < len(names):
            raise fault(f"group_by({', '.join(names)}): a column twice")
        return dataclasses.replace(self, _groups=names)

    def agg(
        self, aggregates: Mapping[str, Aggregate] | None = None, /, **named: Aggregate
    ) -> Query:
        """States the aggregates of each group, which follow the columns of ``group_by``:
        ``agg(n=et.count(), cost=t.cost.sum())``; a mapping for names that are not Python's.
        """
        self._unlimited("agg")
        if self._outputs:
            raise fault("agg after agg or select: name all sums in one agg")
        outputs = [(name, quoted(name)) for name in self._groups]
        for name, value in {**(aggregates or {}), **named}.items():
            if not isinstance(value, Aggregate):
                told = value._text if isinstance(value, Expression) else repr(value)
                raise fault(f"agg({name}={told}): expected a sum, such as t.x.sum() or et.count()")
            self._checked(value)
            outputs.append((name, value._text))
        return self._with(outputs, sums=True)

    def select(self, *columns: str | Column, **named: str | Column) -> Query:
        """Selects these columns of the rows, possibly under other names."""
        if self._outputs or self._groups:
            raise fault("select after agg, group_by or select: the answer has its columns already")
        outputs = [(name, name) for name in map(_name, columns)]
        outputs += [(name, _name(column)) for name, column in named.items()]
        for _, column in outputs:
            self[column]
        return self._with([(name, quoted(column)) for name, column in outputs], sums=False)

    def _with(self, outputs: list[tuple[str, str]], sums: bool) -> Query:
        names = [name.lower() for name, _ in outputs]
        if not names or not all(name.strip() for name in names):
            raise fault("an answer needs columns, and each of them a name")
        if len(set(names)) < len(names):
            twice = next(name for name in names if names.count(name) > 1)
            raise fault(f"two columns of the answer are named {twice!r}")
        kept = {name for name, text in outputs if text == quoted(name)}
        for key in self._order:
            if key.name not in kept:
                raise fault(
                    f"order_by({key.name!r}) before agg or select, whose answer does not have that "
                    "column: order the answer"
                )
        return dataclasses.replace(self, _outputs=tuple(outputs), _sums=sums)

    def distinct(self) -> Query:
        """Keeps one of equal rows of :meth:`select`."""
        self._unlimited("distinct")
        if self._sums or not self._outputs:
            raise fault("distinct without select: write select(...).distinct()")
        return dataclasses.replace(self, _distinct=True)

    def having(self, *conditions: GroupCondition) -> Query:
        """Keeps the groups that meet all of these conditions, such as ``et.count() > 2``."""
        self._unlimited("having")
        found = self._having
        for given in conditions:
            meant = group_condition(given)
            self._checked(meant)
            found = meant if found is None else found & meant
        return dataclasses.replace(self, _having=found)

    def order_by(self, *keys: str | Column | OrderKey) -> Query:
        """The order of the rows of the answer, by its columns: ``order_by("ward",
        et.desc("cost"))``. What is missing comes last, and first where the greatest does, unless a
        key says otherwise: ``et.desc("cost", nulls="last")``.
        """
        self._unlimited("order_by")
        order = []
        for given in keys:
            key = given if isinstance(given, OrderKey) else asc(given)
            if key.name not in self.columns:
                raise _unknown(key.name, self.columns, "the answer")
            order.append(key)
        return dataclasses.replace(self, _order=tuple(order))

    def limit(self, count: int) -> Query:
        """Keeps the first rows of the answer, the last step."""
        rows = operator.index(count)
        if rows < 0:
            raise fault(f"limit({rows}): expected 0 or more")
        least = rows if self._limit is None else min(rows, self._limit)
        return dataclasses.replace(self, _limit=least)

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of the columns of the answer."""
        return tuple(name for name, _ in self._outputs) or self._names

    @property
    def schema(self) -> Schema:
        """The schema of the table."""
        return self._schema

    @property
    def sql(self) -> str:
        """The query in SQL, from which a :class:`Plan` is made."""
        if self._groups and not self._sums:
            raise fault("group_by without agg: say what is made of each group")
        if self._having is not None and not self._sums:
            raise fault("having without agg: say what is made of each group")
        return self._written()

    def _written(self) -> str:
        outputs = ", ".join(f"{text} as {quoted(name)}" for name, text in self._outputs) or "*"
        text = f"select {'distinct ' if self._distinct else ''}{outputs} from {quoted(self._table)}"
        if self._filter is not None:
            text += f" where {self._filter._text}"
        if self._groups:
            text += f" group by {', '.join(map(quoted, self._groups))}"
        if self._having is not None:
            text += f" having {self._having._text}"
        if self._order:
            keys = [
                (str(self.columns.index(key.name) + 1) if self._outputs else quoted(key.name))
                + key._text
                for key in self._order
            ]
            text += f" order by {', '.join(keys)}"
        return text if self._limit is None else f"{text} limit {self._limit}"

    def __repr__(self) -> str:
        return f"<everlevel.tables.Query {self._written()}>"


def table(schema: Schema, name: str = "t") -> Query:
    """A table of a schema, to be queried: ``t = et.table(schema)``, then
    ``t.filter(t.cost > 100).group_by("ward").agg(n=et.count(), cost=t.cost.sum())``.

    The name stands in the text of the query and means nothing.
    """
    return Query(schema, name)
