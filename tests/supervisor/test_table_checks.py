import random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import JsonValue
from workshop import Workshop

from uniclaw.supervisor.checks.matching import matched_rows
from uniclaw.supervisor.checks.table import parse_table
from uniclaw.supervisor.checks.values import EXACT, Tolerance

PLAIN = 'id,Name,amount\n1,Ann,10.50\n2,Bo,"1,200"\n007,Cy,\n'


def csv_check(**statements: JsonValue) -> dict[str, JsonValue]:
    return {"kind": "csv", "path": "t.csv", **statements}


@pytest.mark.parametrize(
    "data",
    [
        PLAIN.encode(),
        b"\xef\xbb\xbf" + PLAIN.encode(),
        PLAIN.replace("\n", "\r\n").encode(),
        b"\n\n" + PLAIN.encode() + b"\n,,\n",
        PLAIN.encode("utf-16"),
        b"id;Name;amount\n1;Ann;10.50\n2;Bo;1,200\n007;Cy;\n",
        PLAIN.replace('"1,200"', "1200").replace(",", "\t").encode(),
        PLAIN.replace('"1,200"', "1200").replace(",", "|").encode(),
    ],
)
def test_tables_are_read_however_they_were_written(shop: Workshop, data: bytes):
    check = csv_check(
        columns=["amount", "NAME", " id "],
        rows=3,
        unique=["id"],
        cells=[
            {"where": {"id": 1}, "column": "amount", "value": 10.5},
            {"where": {"name": "Bo"}, "column": "Amount", "value": 1200},
            {"where": {"id": "007"}, "column": "amount", "value": None},
        ],
    )
    result = shop.run(check, shop.evidence({"t.csv": data}))
    assert result.value == 1.0, result.reason


@pytest.mark.parametrize(
    ("statement", "value"),
    [
        ({"columns": ["id", "total"]}, 0.0),
        ({"rows": 2}, 0.0),
        ({"cells": [{"where": {"id": 7}, "column": "Name", "value": "Cy"}]}, 0.0),
        ({"cells": [{"where": {"id": 1}, "column": "amount", "value": 10}]}, 0.0),
        ({"cells": [{"where": {"id": 1}, "column": "amount", "value": 10, "abs_tol": 0.5}]}, 1.0),
        ({"cells": [{"where": {"id": 1}, "column": "amount", "value": 10, "rel_tol": 0.1}]}, 1.0),
        ({"cells": [{"where": {"id": 9}, "column": "amount", "value": 1}]}, 0.0),
        ({"cells": [{"where": {"no": 1}, "column": "amount", "value": 1}]}, 0.0),
        ({"cells": [{"where": {"id": 1}, "column": "no", "value": 1}]}, 0.0),
        ({"cells": [{"where": {"id": "007"}, "column": "amount", "value": 0}]}, 0.0),
        ({"rows": 2, "columns": ["id"], "partial": True}, 0.5),
    ],
)
def test_statements(shop: Workshop, statement: dict[str, JsonValue], value: float):
    evidence = shop.evidence({"t.csv": PLAIN})
    assert shop.run(csv_check(**statement), evidence).value == value


def test_fault_7_an_empty_or_nan_cell_is_not_zero(shop: Workshop):
    for cell in ("", "null", "NaN", "nan", "-", "#REF!", '__import__("os")'):
        evidence = shop.evidence({"t.csv": f"id;v\n1;{cell}\n"})
        check = csv_check(cells=[{"where": {"id": 1}, "column": "v", "value": 0}])
        assert shop.run(check, evidence).value == 0.0


@pytest.mark.parametrize(
    "data",
    [b"", b"\n\n", b"\x00\x01", b"a" * 200_000, b"PK\x03\x04binary\x00"],
)
def test_what_is_no_table_is_not_met(shop: Workshop, data: bytes):
    assert shop.run(csv_check(rows=1, columns=["a"]), shop.evidence({"t.csv": data})).value == 0.0


def test_rows_that_contradict_each_other_do_not_hedge(shop: Workshop):
    evidence = shop.evidence({"t.csv": "id,v\n1,10\n1,20\n"})
    check = csv_check(cells=[{"where": {"id": 1}, "column": "v", "value": 10}])
    assert shop.run(check, evidence).value == 0.0
    assert shop.run(csv_check(unique=["id"]), evidence).value == 0.0


def test_a_header_alone_has_no_unique_rows_and_a_doubled_column_is_none(shop: Workshop):
    assert shop.run(csv_check(unique=["id"]), shop.evidence({"t.csv": "id,v\n"})).value == 0.0
    doubled = shop.evidence({"t.csv": "id,v,V\n1,2,3\n"})
    assert shop.run(csv_check(columns=["v"]), doubled).value == 0.0


def test_equality_with_a_reference_table(shop: Workshop):
    shop.reference("key.csv", "id,v,name\n1,10.0,Ann\n2,20.0,Bo\n3,30.0,Cy\n")
    equals: JsonValue = {"ref": "references/key.csv"}
    shuffled = shop.evidence({"t.csv": "name,extra,v,id\nCy,x,30,3\nAnn,x,10.004,1\nBo,x,20,2\n"})
    assert shop.run(csv_check(equals=equals, abs_tol=0.005), shuffled).value == 1.0
    assert shop.run(csv_check(equals=equals), shuffled).value == 0.0
    assert shop.run(csv_check(equals=equals, partial=True), shuffled).value == pytest.approx(2 / 3)
    assert shop.run(csv_check(equals=equals, abs_tol=0.005, ordered=True), shuffled).value == 0.0
    assert shop.run(csv_check(equals=equals, columns=["id", "name"]), shuffled).value == 1.0
    more = shop.evidence({"t.csv": "id,v,name\n1,10,Ann\n2,20,Bo\n3,30,Cy\n3,30,Cy\n"})
    assert shop.run(csv_check(equals=equals), more).value == 0.0
    assert shop.run(csv_check(equals=equals, partial=True), more).value == 0.75
    without = shop.evidence({"t.csv": "id,v\n1,10\n"})
    assert "name" in shop.run(csv_check(equals=equals), without).reason


rows = st.lists(
    st.tuples(st.sampled_from("ab"), st.integers(0, 5).map(str), st.just("x")), max_size=12
)


@given(rows, st.randoms(use_true_random=False))
def test_a_table_agrees_with_itself_in_any_order(
    table: list[tuple[str, str, str]], shuffle: random.Random
):
    other = [*table]
    shuffle.shuffle(other)
    assert matched_rows(other, table, EXACT, ordered=False) == len(table)


@given(rows, rows)
def test_no_row_is_paired_twice(
    left: list[tuple[str, str, str]], right: list[tuple[str, str, str]]
):
    matched = matched_rows(left, right, Tolerance(absolute=1), ordered=False)
    assert matched <= min(len(left), len(right))


def test_large_tables_are_paired_in_the_order_of_their_numbers():
    large = [("x", str(i), str(i / 7)) for i in range(30_000)]
    assert matched_rows(large[::-1], large, Tolerance(absolute=1e-6), ordered=False) == len(large)


def test_quoted_delimiters_in_a_header_do_not_mislead():
    table = parse_table('"a;b;c;d",x,y\n1,2,3\n', None)
    assert table.header == ("a;b;c;d", "x", "y")
