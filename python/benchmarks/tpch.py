"""Queries derived from TPC-H on encrypted line items, compared with DuckDB row by row: not
comparable with published TPC-H results.

    pip install 'everlevel[tables]' duckdb tpchgen-cli
    python python/benchmarks/tpch.py --scale 0.0055 --scale 0.1667 --out tpch.json

Scale 0.0055 has 33,206 line items, 0.1667 a million. The columns of orders and parts that the
queries need are added to each line item before it is encrypted. Seconds are those of the server,
which reads the columns from files; keys, encryption and decryption are not in them.
"""

import argparse
import datetime
import decimal
import json
import os
import pathlib
import platform
import shutil
import subprocess
import sys
import tempfile
import time
from fractions import Fraction

import everlevel
from everlevel import tables as et

D = decimal.Decimal
REMARK = "derived from TPC-H, not comparable with published TPC-H results"
TABLES = ("lineitem", "orders", "part")
DATES = {"type": "date", "low": "1992-01-01", "high": "1998-12-31"}
SIZES = ("STANDARD", "SMALL", "MEDIUM", "LARGE", "ECONOMY", "PROMO")
COATINGS = ("ANODIZED", "BURNISHED", "PLATED", "POLISHED", "BRUSHED")
METALS = ("TIN", "NICKEL", "BRASS", "STEEL", "COPPER")


def money(low, high):
    return {"type": "decimal", "scale": 2, "low": low, "high": high}


def category(*values):
    return {"type": "category", "values": list(values)}


#: The ranges that the specification states, whatever the data.
COLUMNS = {
    "l_quantity": {"type": "integer", "low": 1, "high": 50},
    "l_extendedprice": money("900.00", "104950.00"),
    "l_discount": money("0.00", "0.10"),
    "l_tax": money("0.00", "0.08"),
    "l_returnflag": category("A", "N", "R"),
    "l_linestatus": category("F", "O"),
    "l_shipdate": DATES,
    "l_commitdate": DATES,
    "l_receiptdate": DATES,
    "l_shipmode": category("REG AIR", "AIR", "RAIL", "SHIP", "TRUCK", "MAIL", "FOB"),
    "o_orderpriority": category("1-URGENT", "2-HIGH", "3-MEDIUM", "4-NOT SPECIFIED", "5-LOW"),
    "p_type": category(*(f"{a} {b} {c}" for a in SIZES for b in COATINGS for c in METALS)),
}


def schema():
    return et.Schema({"columns": [{"name": name, **told} for name, told in COLUMNS.items()]})


def queries():
    """The queries as they are run here."""
    t = et.table(schema(), "lineitem")
    price = t.l_extendedprice * (1 - t.l_discount)
    urgent = t.o_orderpriority.isin(["1-URGENT", "2-HIGH"])
    year = datetime.date(1994, 1, 1), datetime.date(1995, 1, 1)
    return {
        "Q1": t.filter(t.l_shipdate <= "1998-09-02")
        .group_by("l_returnflag", "l_linestatus")
        .agg(
            sum_qty=t.l_quantity.sum(),
            sum_base_price=t.l_extendedprice.sum(),
            sum_disc_price=price.sum(),
            sum_charge=(price * (1 + t.l_tax)).sum(),
            avg_qty=t.l_quantity.mean(),
            avg_price=t.l_extendedprice.mean(),
            avg_disc=t.l_discount.mean(),
            count_order=et.count(),
        )
        .order_by("l_returnflag", "l_linestatus"),
        "Q6": t.filter(
            t.l_shipdate >= year[0],
            t.l_shipdate < year[1],
            t.l_discount.between(D("0.05"), D("0.07")),
            t.l_quantity < 24,
        ).agg(revenue=(t.l_extendedprice * t.l_discount).sum()),
        "Q12": t.filter(
            t.l_shipmode.isin(["MAIL", "SHIP"]),
            t.l_commitdate < t.l_receiptdate,
            t.l_shipdate < t.l_commitdate,
            t.l_receiptdate >= year[0],
            t.l_receiptdate < year[1],
        )
        .group_by("l_shipmode")
        .agg(
            high_line_count=et.case((urgent, 1), default=0).sum(),
            low_line_count=et.case((~urgent, 1), default=0).sum(),
        )
        .order_by("l_shipmode"),
        "Q14": t.filter(t.l_shipdate >= "1995-09-01", t.l_shipdate < "1995-10-01").agg(
            promo_revenue=100
            * et.case((t.p_type.startswith("PROMO"), price), default=0).sum()
            / price.sum()
        ),
    }


# The same of DuckDB, over the tables as they are: sums and counts in the place of averages and
# quotients, which it computes in floating point.
REFERENCE = {
    "Q1": """select l_returnflag, l_linestatus, sum(l_quantity), sum(l_extendedprice),
        sum(l_extendedprice * (1 - l_discount)),
        sum(l_extendedprice * (1 - l_discount) * (1 + l_tax)), sum(l_discount), count(*)
        from lineitem where l_shipdate <= date '1998-12-01' - interval 90 day
        group by l_returnflag, l_linestatus order by l_returnflag, l_linestatus""",
    "Q6": """select sum(l_extendedprice * l_discount) from lineitem
        where l_shipdate >= date '1994-01-01' and l_shipdate < date '1995-01-01'
        and l_discount between 0.05 and 0.07 and l_quantity < 24""",
    "Q12": """select l_shipmode,
        sum(case when o_orderpriority in ('1-URGENT', '2-HIGH') then 1 else 0 end),
        sum(case when o_orderpriority not in ('1-URGENT', '2-HIGH') then 1 else 0 end)
        from orders join lineitem on o_orderkey = l_orderkey
        where l_shipmode in ('MAIL', 'SHIP') and l_commitdate < l_receiptdate
        and l_shipdate < l_commitdate and l_receiptdate >= date '1994-01-01'
        and l_receiptdate < date '1995-01-01' group by l_shipmode order by l_shipmode""",
    "Q14": """select sum(case when p_type like 'PROMO%' then l_extendedprice * (1 - l_discount)
        else 0 end), sum(l_extendedprice * (1 - l_discount))
        from lineitem join part on l_partkey = p_partkey
        where l_shipdate >= date '1995-09-01' and l_shipdate < date '1995-10-01'""",
}


def quotient(a, b, places):
    """a / b to a number of decimal places, halves away from zero; None if b is 0."""
    if not b:
        return None
    scaled = Fraction(a) / Fraction(b) * 10**places
    nearest = (2 * abs(scaled.numerator) + scaled.denominator) // (2 * scaled.denominator)
    return D(nearest if scaled >= 0 else -nearest).scaleb(-places)


def expected(connection, name):
    """The rows of an answer by DuckDB."""
    rows = connection.execute(REFERENCE[name]).fetchall()
    if name == "Q1":
        made = []
        for *flags, quantity, price, discounted, charge, discount, count in rows:
            averages = (quotient(quantity, count, 6), quotient(price, count, 8))
            averages += (quotient(discount, count, 8),)
            made.append((*flags, quantity, price, discounted, charge, *averages, count))
        return made
    if name == "Q14":
        return [(quotient(100 * promotion, whole, 10),) for promotion, whole in rows]
    return rows


def generate(scale, directory):
    """Parquet files of the tables."""
    beside = pathlib.Path(sys.executable).with_name("tpchgen-cli")
    program = str(beside) if beside.exists() else shutil.which("tpchgen-cli")
    if program is None:
        sys.exit("tpchgen-cli is not installed: pip install tpchgen-cli")
    command = [program, "parquet", "-s", str(scale), f"--tables={','.join(TABLES)}"]
    subprocess.run([*command, f"--output-dir={directory}"], check=True, capture_output=True)


def load(directory, rows=None):
    """A connection of DuckDB with the tables, the first ``rows`` line items, and these with the
    columns of orders and parts.
    """
    import duckdb

    connection = duckdb.connect()
    for table in TABLES:
        path = str(pathlib.Path(directory) / f"{table}.parquet").replace("'", "''")
        first = " order by l_orderkey, l_linenumber"
        first = first + (f" limit {rows}" if rows else "") if table == "lineitem" else ""
        connection.execute(f"create table {table} as select * from '{path}'{first}")
    items = connection.sql(
        f"select {', '.join(COLUMNS)} from lineitem join orders on o_orderkey = l_orderkey "
        "join part on p_partkey = l_partkey"
    )
    return connection, items.to_arrow_table()


def measure(params, scale, rows, repeat, work):
    """Encrypts line items, runs all queries, and compares."""
    generate(scale, work)
    connection, items = load(work, rows)
    client = everlevel.Client(params)
    started = time.perf_counter()
    et.encrypt(client, items, schema(), directory=work / "lineitem.evt")
    encrypting = time.perf_counter() - started
    table = et.EncryptedTable.open(work / "lineitem.evt", params=params)
    asked = []
    for name, query in queries().items():
        plan = et.Plan(query)
        server = plan.server(client, table.rows)
        seconds, exact = [], True
        for _ in range(repeat):
            started = time.perf_counter()
            result = table.run(server, plan)
            seconds.append(time.perf_counter() - started)
            answer = result.read(client, plan=plan, table_id=table.id, arrow=False)
            exact &= list(zip(*answer.values())) == expected(connection, name)
        told = plan.explain(params, table.rows)
        asked.append(
            {
                "name": name,
                "rows": table.rows,
                "seconds": sorted(seconds)[len(seconds) // 2],
                "runs": seconds,
                "seconds_by_model": told.seconds,
                "exact": exact,
                "constants": "public",
                "refreshes": told.refreshes,
                "result_bytes": len(result.to_bytes()),
            }
        )
        print(f"{name}: {asked[-1]['seconds']:.2f} s, exact: {exact}", file=sys.stderr)
    return {
        "scale": scale,
        "rows": table.rows,
        "blocks": table.blocks,
        "table_bytes": table.nbytes,
        "seconds_of_encryption": encrypting,
        "queries": asked,
    }


def main():
    parser = argparse.ArgumentParser(description=f"Encrypted line items: {REMARK}")
    parser.add_argument("--scale", type=float, action="append", help="scale factor, default 0.0055")
    parser.add_argument("--rows", type=int, help="take the first line items only")
    parser.add_argument("--params", default="bgv-65537-n15", help="parameter set")
    parser.add_argument("--insecure-research", action="store_true")
    parser.add_argument("--repeat", type=int, default=3, help="runs of each query")
    parser.add_argument("--threads", type=int, default=0, help="default: one a core")
    parser.add_argument("--out", help="where the record is written; default: standard output")
    given = parser.parse_args()
    everlevel.set_num_threads(given.threads)
    params = everlevel.Params(given.params, insecure_research=given.insecure_research)
    record = {
        "what": REMARK,
        "params": params.name,
        "security_bits": params.security_bits,
        "failure_log2": params.failure_log2,
        "threads": everlevel.get_num_threads(),
        "machine": platform.processor() or platform.machine(),
        "cores": os.cpu_count(),
        "everlevel": everlevel.__version__,
        "date": datetime.date.today().isoformat(),
        "tables": [],
    }
    for scale in given.scale or [0.0055]:
        with tempfile.TemporaryDirectory() as work:
            work = pathlib.Path(work)
            found = measure(params, scale, given.rows, given.repeat, work)
            record["tables"].append(found)
    text = json.dumps(record, indent=2)
    if given.out:
        pathlib.Path(given.out).write_text(text + "\n", encoding="utf-8")
    else:
        print(text)
    if not all(asked["exact"] for table in record["tables"] for asked in table["queries"]):
        sys.exit("a wrong answer: please report this")


if __name__ == "__main__":
    main()
