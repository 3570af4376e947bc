"""Flat rows as a Parquet file, through pyarrow, which is optional."""

# pyarrow has no types of its own; this module is where they end.
# pyright: reportMissingImports=false, reportUnknownMemberType=false
# pyright: reportUnknownVariableType=false, reportUnknownArgumentType=false

from collections.abc import Mapping, Sequence

from pydantic import JsonValue


def table_bytes(rows: Sequence[Mapping[str, JsonValue]], columns: Sequence[str]) -> bytes:
    """The rows as one Parquet file; a missing value is null."""
    import pyarrow
    import pyarrow.parquet

    table = pyarrow.table({name: [row.get(name) for row in rows] for name in columns})
    sink = pyarrow.BufferOutputStream()
    pyarrow.parquet.write_table(table, sink)
    return bytes(sink.getvalue().to_pybytes())
