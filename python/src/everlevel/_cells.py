"""Tables in the clear: what PyArrow, pandas, Polars and CSV files hold, as texts of cells."""

from __future__ import annotations

import csv
import datetime
import decimal
import io
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from ._values import no_device, path_text, read_file
from .errors import DtypeError, FileError, TableError


def pyarrow_or_none() -> Any:
    try:
        import pyarrow as pa  # type: ignore[import-untyped, unused-ignore]
    except ImportError:
        return None
    return pa


def pyarrow() -> Any:
    pa = pyarrow_or_none()
    if pa is None:
        raise DtypeError(
            "this needs PyArrow: pip install 'everlevel[tables]', or give a CSV file or a mapping "
            "of columns",
            code="python.no-pyarrow",
        )
    return pa


#: What can be gone through, and is no column: columns of ``DataFrame.to_dict()`` are mappings.
NO_COLUMNS = (str, bytes, bytearray, Mapping, set, frozenset)
#: What has a text that is none of a cell.
NO_CELLS = (bytes, bytearray, memoryview, list, tuple, dict, set, frozenset)

#: How days are written.
DAY = "YYYY-MM-DD"

#: A column: its name, and texts of its cells, none where nothing is there.
Column = tuple[str, list["str | None"]]

#: The columns of a schema, as ``Schema.columns`` has them: what is stated of each, by its name.
Fields = Mapping[str, Mapping[str, Any]]


def columns_of(data: Any, fields: Fields | None) -> bytes | list[Column]:
    """A table as the bytes of a CSV file, or as columns of texts: with fields those that it has,
    in which nothing is missing unless it may be.
    """
    if isinstance(data, (str, os.PathLike)):
        path = path_text(data)
        if not path.endswith((".parquet", ".pq")):
            return read_file(path)
        pyarrow()
        import pyarrow.parquet as parquet  # type: ignore[import-untyped, unused-ignore]

        return _arrow_columns(parquet.read_table(path), fields, False)
    if isinstance(data, Mapping):
        return _mapping_columns(data, fields)
    if any(
        hasattr(data, name) for name in ("__arrow_c_stream__", "__dataframe__", "to_arrow", "arrow")
    ):
        pa = pyarrow()
        pandas = type(data).__module__.split(".")[0] == "pandas"
        if not hasattr(data, "__arrow_c_stream__") and hasattr(data, "arrow"):
            data = data.arrow()
        try:
            table = pa.Table.from_pandas(data, preserve_index=False) if pandas else pa.table(data)
        except pa.ArrowException as error:
            raise DtypeError(
                f"a table that PyArrow cannot read: {error}", code="python.table"
            ) from error
        return _arrow_columns(table, fields, pandas)
    raise DtypeError(
        f"a table of type {type(data).__name__}: expected the path of a CSV or Parquet file, a "
        "mapping of columns, or a data frame",
        code="python.table",
    )


#: How many bytes of a file are read at a time, and how many rows.
PIECE_BYTES = 1 << 20
PIECE_ROWS = 1 << 14


def pieces_of(data: Any, fields: Fields) -> Callable[[], Iterator[bytes]] | None:
    """What reads a file, which may be larger than memory, piece by piece as comma-separated values,
    each time from its beginning; none for other tables.
    """
    if not isinstance(data, (str, os.PathLike)):
        return None
    path = path_text(data)
    if path.endswith((".parquet", ".pq")):
        pyarrow()
        return lambda: _parquet_pieces(path, fields)
    return lambda: _file_pieces(path)


def _file_pieces(path: str) -> Iterator[bytes]:
    try:
        with open(path, "rb") as file:
            no_device(file, path)
            while piece := file.read(PIECE_BYTES):
                yield piece
    except FileError:
        raise
    except OSError as error:
        raise FileError(
            f"cannot read {path}: {error.strerror}", code="wire.io", path=path
        ) from None


def _parquet_pieces(path: str, fields: Fields) -> Iterator[bytes]:
    import pyarrow.parquet as parquet

    with parquet.ParquetFile(path) as file:
        names = file.schema_arrow.names
        kept = [names[i] for i in _kept(names, fields)]
        yield written([(name, []) for name in kept], True)
        first = 0
        for batch in file.iter_batches(batch_size=PIECE_ROWS, columns=kept):
            table = pyarrow().Table.from_batches([batch])
            yield written(_arrow_columns(table, fields, False, first), True, header=False)
            first += len(table)


def _fault(column: str, row: int, what: str) -> TableError:
    return TableError(f"row {row + 1}, column {column!r}: {what}", code="table.value")


def _kept(names: Sequence[str], fields: Fields | None) -> list[int]:
    lower = None if fields is None else {name.lower() for name in fields}
    return [
        i for i, name in enumerate(names) if lower is None or str(name).strip().lower() in lower
    ]


def _checked(
    name: str, values: Sequence[Any], fields: Fields | None, missing_nan: bool, first: int = 0
) -> Column:
    """A column of texts, of rows from a place in their table on.

    An empty text is no missing value, and the two are not told apart in CSV.
    """
    cells = [text_of(v) for v in values]
    field: Mapping[str, Any] = {}
    if fields is not None:
        field = next((f for n, f in fields.items() if n.lower() == name.strip().lower()), {})
    if field.get("type") == "timestamp" or (fields is None and any(map(_has_clock, values, cells))):
        # Midnight is a time of day, too.
        cells = [text_of(v, clock=True) for v in values]
    nullable = field.get("nullable", False)
    # Integers with missing values are floating-point numbers in pandas.
    whole = (
        fields is None
        and None in cells
        and all(
            c is None or (isinstance(v, (float, np.floating)) and float(v).is_integer())
            for v, c in zip(values, cells)
        )
    )
    for i, (value, cell) in enumerate(zip(values, cells)):
        row = first + i
        if isinstance(value, NO_CELLS) or getattr(value, "shape", ()) != ():
            what = f"{value!r:.80} is a {type(value).__name__}"
            raise _fault(name, row, f"{what}: give a number, a text, a date or a truth value")
        if cell is None:
            if not missing_nan and isinstance(value, (float, np.floating)):
                raise _fault(
                    name,
                    row,
                    "NaN is not a value, and in Arrow and Polars not a missing one: make it a "
                    "null first",
                )
            if fields is not None and not nullable:
                remedy = (
                    'fill it first, or say "nullable": true of the column in the schema, as '
                    "Schema.infer does"
                )
                raise _fault(name, row, f"nothing is there: {remedy}")
        elif nullable and not (cell if field.get("type") == "text" else cell.strip()):
            raise _fault(
                name,
                row,
                f"{cell!r} is an empty text, not a missing value: use None, or replace it",
            )
        elif isinstance(value, (float, np.floating)) and (field.get("type") == "integer" or whole):
            if abs(float(value)) >= 1 << 53:
                raise _fault(
                    name,
                    row,
                    f"{cell} is a floating-point number that may have been rounded: give "
                    "integers, such as those of dtype Int64",
                )
            if whole:
                cells[i] = str(int(value))
    return name, cells


def _mapping_columns(data: Mapping[str, Sequence[Any]], fields: Fields | None) -> list[Column]:
    names = [str(name) for name in data]
    columns = []
    for i in _kept(names, fields):
        column = list(data.values())[i]
        if isinstance(column, NO_COLUMNS):
            raise DtypeError(
                f"column {names[i]!r} is a {type(column).__name__}, which is no sequence of "
                'cells: expected a list or an array, as in frame.to_dict("list")',
                code="python.table",
            )
        dimensions = getattr(column, "ndim", 1)
        if dimensions != 1:
            raise DtypeError(
                f"column {names[i]!r} has {dimensions} dimensions: expected one",
                code="python.table",
            )
        foreign = type(column).__module__.split(".")[0] in ("pyarrow", "polars")
        values = [v.as_py() if hasattr(v, "as_py") else v for v in column]
        columns.append(_checked(names[i], values, fields, not foreign))
    if len({len(cells) for _, cells in columns}) > 1:
        lengths = ", ".join(f"{name}: {len(cells)}" for name, cells in columns)
        raise TableError(f"columns of different lengths: {lengths}", code="table.data")
    return columns


def written(columns: list[Column], padded: bool, *, header: bool = True) -> bytes:
    """Comma-separated values, which one reader reads."""
    if padded and len(columns) == 1:
        # A line of one empty cell would be an empty line. No column of a schema has no name.
        columns = [*columns, ("", [""] * len(columns[0][1]))]
    out = io.StringIO()
    writer = csv.writer(out)
    if header:
        writer.writerow([name for name, _ in columns])
    writer.writerows(zip(*(cells for _, cells in columns)))
    return out.getvalue().encode()


def _has_clock(value: Any, cell: str | None) -> bool:
    """Whether it is a point in time that is written with its time of day."""
    return isinstance(value, (datetime.datetime, np.datetime64)) and len(cell or "") > len(DAY)


def text_of(value: Any, clock: bool = False) -> str | None:
    """A cell as text; none if nothing is there. A point in time at midnight is a date, unless
    ``clock`` asks for its time of day.
    """
    if value is None or value is np.ma.masked or type(value).__name__ in ("NAType", "NaTType"):
        return None
    if isinstance(value, np.datetime64):
        # Of days or of microseconds, which datetime has; the others would be integers.
        exact, value = value, value.astype("datetime64[us]")
        if not np.isnat(value) and (
            value != exact or not isinstance(value.item(), datetime.datetime)
        ):
            return str(exact)
    if isinstance(value, np.timedelta64):
        # Durations of some units would be integers.
        return None if np.isnat(value) else str(value)
    if hasattr(value, "item") and getattr(value, "shape", None) == ():
        value = value.item()
    if (
        value is None
        or (isinstance(value, float) and value != value)
        or (isinstance(value, decimal.Decimal) and value.is_nan())
    ):
        return None
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        # Members of an enumeration are shown by their names.
        return str.__str__(value)
    if isinstance(value, datetime.datetime):
        if getattr(value, "nanosecond", 0):
            return str(value)
        # A point in time is of no day, whatever a clock shows somewhere.
        midnight = value.tzinfo is None and value.time() == datetime.time()
        return value.date().isoformat() if midnight and not clock else value.isoformat()
    if isinstance(value, datetime.date):
        return value.isoformat()
    if isinstance(value, float):
        value = decimal.Decimal(repr(value))
    return format(value, "f") if isinstance(value, decimal.Decimal) else str(value)


def _arrow_columns(
    table: Any, fields: Fields | None, missing_nan: bool, first: int = 0
) -> list[Column]:
    pa = pyarrow()
    table = table.select(_kept(table.column_names, fields))
    columns = []
    for name, column in zip(table.column_names, table.columns):
        kind = column.type
        if pa.types.is_dictionary(kind):
            # Not by a cast, which there is not for all that Polars has.
            kind = kind.value_type
            column = pa.chunked_array([pa.array(column.to_pylist(), kind)])
        if pa.types.is_timestamp(kind) and (kind.tz is not None or _holds_times(name, fields)):
            # Of a time zone the points in time are kept, and written in UTC: they are no days.
            utc = column if kind.tz is None else column.cast(pa.timestamp(kind.unit, "UTC"))
            column = utc.cast(pa.string())
        elif pa.types.is_timestamp(kind):
            days = column.cast(pa.date32(), safe=False)
            # Times of the day are no dates.
            column = days if days.cast(kind) == column else column.cast(pa.string())
        elif not (
            pa.types.is_floating(kind)
            or pa.types.is_boolean(kind)
            or pa.types.is_integer(kind)
            or pa.types.is_date32(kind)
            # The cast writes 0E-7 of seven places.
            or pa.types.is_decimal(kind)
        ):
            # Texts of all kinds; whatever has none is no cell.
            try:
                if _is_counted(pa, kind):
                    raise pa.ArrowInvalid("its text would be an integer")
                column = column.cast(pa.string())
            except pa.ArrowException as error:
                raise DtypeError(
                    f"column {name!r} of type {kind}: expected numbers, dates, truth values or "
                    "texts",
                    code="python.table",
                ) from error
        columns.append(_checked(name, column.to_pylist(), fields, missing_nan, first))
    return columns


def _is_counted(pa: Any, kind: Any) -> bool:
    """Whether values are stored as integers that are none: durations, and periods of pandas."""
    if not isinstance(kind, pa.BaseExtensionType):
        return bool(pa.types.is_duration(kind))
    stored = kind.storage_type
    return not (pa.types.is_string(stored) or pa.types.is_large_string(stored))


def _holds_times(name: str, fields: Fields | None) -> bool:
    """Whether a column of the schema holds dates with times of day."""
    columns = {} if fields is None else fields
    found = (f for n, f in columns.items() if n.lower() == name.strip().lower())
    return bool(next(found, {}).get("type") == "timestamp")
