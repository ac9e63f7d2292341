"""The closed vocabularies of exports; the others are in `names.py`, and as cheap to import."""

from enum import StrEnum


class ExportTarget(StrEnum):
    """What a fitted map is written as, as `export --to` takes it."""

    SQL = "sql"
    ONNX = "onnx"
    PYTHON = "python"
    SKLEARN = "sklearn"


class SqlDialect(StrEnum):
    """Whose SQL is written, as `export --dialect` takes it."""

    DUCKDB = "duckdb"
    SPARK = "spark"
    BIGQUERY = "bigquery"
    SNOWFLAKE = "snowflake"
    POSTGRES = "postgres"
