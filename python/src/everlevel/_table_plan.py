"""Plans of queries on encrypted tables."""

from __future__ import annotations

import decimal
import json
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from . import _everlevel as _rust
from ._answers import answer_of
from ._cells import NO_CELLS, text_of
from ._constants import Constants
from ._explained import Explanation
from ._params import Params
from ._public_key import PublicKey
from ._queries import Query
from ._roles import Client
from ._table_schema import Clear, Partners, Schema, _utf8, clear
from ._values import Path, Progress, counted, read_file, replaceable
from .errors import TableError

if TYPE_CHECKING:
    from ._server import Server


class Plan:
    """A query bound to a schema, for a server.

    No key is needed; what cannot be answered exactly is refused here.

    ``Plan("select sum(cost) from t where day >= date '2026-01-01'", schema)``, or, with ``t =
    table(schema)``, ``Plan(t.filter(t.day >= "2026-01-01").agg(cost=t.cost.sum()))``. Query,
    constants and schema are public.

    ``ordered_by``: who puts the rows in order that ``min``, ``max``, ``median`` and ``order by …
    limit`` are about. The ``"reader"`` does so with all rows that meet the condition, which the
    server lists; a ``"server"`` has to bootstrap, and tells the answer alone: least and greatest
    values of tables of any length, medians and first rows of tables of up to 128 rows, or of
    groups that public columns tell apart, of up to 128 rows in sequence each.
    """

    __slots__ = ("_text", "_facts")

    _text: str
    #: Query, schema, id, whether the server puts rows in order.
    _facts: tuple[str, str, str, bool]

    def __init__(
        self,
        query: str | Query,
        schema: Schema | None = None,
        *,
        ordered_by: Literal["reader", "server"] = "reader",
    ) -> None:
        if isinstance(query, Query):
            if schema is not None and schema != query.schema:
                raise TableError(
                    "the query is on a table of another schema: make it with "
                    "et.table(schema) of this one",
                    code="table.other-schema",
                )
            schema, query = query.schema, query.sql
        if schema is None:
            raise TypeError("a query in SQL needs the schema of its table: Plan(text, schema)")
        if ordered_by not in ("reader", "server"):
            raise ValueError(f'ordered_by={ordered_by!r}: expected "reader" or "server"')
        self._become(_rust.table_plan(query, schema._text, ordered_by == "server"))

    def _become(self, text: str) -> None:
        self._text, self._facts = text, _rust.table_plan_facts(text)

    @classmethod
    def from_json(cls, text: str) -> Plan:
        """From the text of :meth:`to_json`, of which nothing is trusted: its query is bound
        again.
        """
        self = cls.__new__(cls)
        query, schema, _, by_server = _rust.table_plan_facts(text)
        self._become(_rust.table_plan(query, schema, by_server))
        return self

    @classmethod
    def open(cls, path: Path) -> Plan:
        """From a file, also one of ``everlevel table ask``."""
        return cls.from_json(_utf8(read_file(path)))

    def to_json(self) -> str:
        """As text; equal plans have the same."""
        return self._text

    def save(self, path: Path, *, overwrite: bool = False) -> None:
        """Writes a file, in one step."""
        _rust.write_file(replaceable(path, overwrite), self._text.encode(), overwrite)

    @property
    def sql(self) -> str:
        """The text of the query."""
        return self._facts[0]

    @property
    def schema(self) -> Schema:
        """The schema that it is bound to."""
        return Schema(self._facts[1])

    @property
    def id(self) -> str:
        """A short name: equal plans have the same."""
        return self._facts[2]

    @property
    def ordered_by(self) -> str:
        """The party that puts rows in order, ``"reader"`` or ``"server"``."""
        return "server" if self._facts[3] else "reader"

    @property
    def parameters(self) -> dict[str, str]:
        """The encrypted constants, ``:name`` in the query: of each the column that it is
        compared with.
        """
        return dict(_rust.table_plan_parameters(self._text))

    @property
    def notes(self) -> tuple[str, ...]:
        """Comparisons that hold for no row of any table of the schema, such as one with a text that
        is no category, with the category that may be meant.
        """
        return tuple(_rust.table_plan_notes(self._text))

    def bind(self, key: Client | PublicKey, /, **constants: Any) -> Constants:
        """The constants that the query calls by ``:name``, encrypted for the owner of the table,
        so that the server does not see them: numbers, dates, truth values, texts.

        ``Plan("select sum(cost) from t where day >= :day", schema).bind(public_key,
        day=datetime.date(2026, 1, 1))``.
        """
        secret, public = (key._raw, None) if isinstance(key, Client) else (None, key._raw)
        return Constants.from_bytes(
            _rust.encrypt_table_constants(self._text, _texts(self, constants), secret, public)
        )

    def server(
        self,
        client: Client,
        rows: int,
        *,
        seeded_keys: bool = False,
        small_keys: bool = False,
        progress: Progress = None,
    ) -> Server:
        """A server with the keys that the plan takes for a table of ``rows`` rows, and no others: a
        tenth of general ones, and less, where nothing is bootstrapped. ``seeded_keys`` as for
        ``Server.open``. With ``small_keys`` there are fewer keys for products, which take fewer
        bytes; answers are the same, and relinearizations take up to 1.6 times as many transforms.
        Where that would save less than a tenth, keys stay as they are.
        """
        count = counted("rows", rows)
        keys = _rust.table_plan_keys([self._text], client.params._raw, count, small_keys)
        return client._server(keys, seeded_keys, progress)

    def cost(self, params: Params, rows: int | None = None) -> dict[str, Any]:
        """The cost of the query for ``rows`` rows, ``params.slots`` if none are given, counted
        without cryptography: products, key switches, refreshes, seconds of a typical core by a
        model, ciphertexts read and of the result, and the number of sums that the reader sees.
        """
        found: dict[str, Any] = json.loads(
            _rust.table_plan_cost(
                self._text, params._raw, params.slots if rows is None else counted("rows", rows)
            )
        )
        return found

    def explain(self, params: Params, rows: int | None = None) -> Explanation:
        """A report on the query for ``rows`` rows, ``params.slots`` if none are given: levels,
        products, refreshes, seconds by a model, bytes, what the server and the reader learn.
        """
        count = params.slots if rows is None else counted("rows", rows)
        return Explanation._of(self._text, params, count)

    def answer(
        self,
        data: Any,
        *,
        partners: Partners = None,
        arrow: bool | None = None,
        **constants: Any,
    ) -> Any:
        """The answer for a table in the clear, ``data`` as for :func:`encrypt`, computed in the
        clear: what :meth:`Result.read` gives of the same table under encryption.
        """
        return self._in_the_clear(clear(data, self.schema, partners), None, arrow, constants)

    def rehearse(
        self,
        params: Params,
        data: Any,
        *,
        partners: Partners = None,
        arrow: bool | None = None,
        **constants: Any,
    ) -> Any:
        """The same by the computation that a server does, operation by operation, on numbers
        instead of ciphertexts: without keys and without security, and with the same limits on
        levels, noise and ranges as under encryption. To test queries.
        """
        return self._in_the_clear(clear(data, self.schema, partners), params, arrow, constants)

    def _in_the_clear(
        self, data: Clear, params: Params | None, arrow: bool | None, constants: dict[str, Any]
    ) -> Any:
        told = _rust.table_plan_answer(
            self._text,
            data,
            _texts(self, constants),
            None if params is None else params._raw,
        )
        return answer_of(json.loads(told), arrow)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Plan) and self._text == other._text

    def __hash__(self) -> int:
        return hash(self._text)

    def __reduce__(self) -> Any:
        return Plan.from_json, (self._text,)

    def __repr__(self) -> str:
        return f"<everlevel.tables.Plan {self.sql!r}>"


def _texts(plan: Plan, constants: dict[str, Any]) -> list[tuple[str, str]]:
    """Encrypted constants by their names, as cells of their columns are written."""
    columns, compared = plan.schema.columns, plan.parameters
    texts = []
    for name, value in constants.items():
        if isinstance(value, NO_CELLS) or getattr(value, "shape", ()) != ():
            raise TableError(
                f"encrypted constants: :{name} is a {type(value).__name__}: give a number, a text, "
                "a date or a truth value",
                code="table.constants",
            )
        if _may_be_rounded(value):
            raise TableError(
                f"encrypted constants: :{name} is a floating-point number that may have been "
                f"rounded, {value!r}: give an integer, a decimal.Decimal or a text",
                code="table.constants",
            )
        # Midnight is a time of day, too.
        clock = columns.get(compared.get(name, ""), {}).get("type") == "timestamp"
        text = text_of(value, clock)
        if text is None:
            raise TableError(
                f"encrypted constants: :{name} has no value; write is null, or is not null",
                code="table.constants",
            )
        texts.append((name, text))
    return texts


def _may_be_rounded(value: Any) -> bool:
    """Whether it is a floating-point number of other digits than may have been written: at most 15
    of them, below 2^53, stay as they are.
    """
    text = text_of(value) if isinstance(value, (float, np.floating)) else None
    if text is None:
        return False
    shown = decimal.Decimal(text)
    return abs(shown) >= 1 << 53 or len(shown.normalize().as_tuple().digits) > 15
