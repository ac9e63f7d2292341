"""How the dialects of SQL write names and numbers, and what they call things."""

import math
from dataclasses import dataclass
from typing import assert_never

from calibcli.errors import UsageProblem
from calibcli.export_names import SqlDialect

# Postgres cuts longer names off, and might cut two to the same.
_LONGEST_OF_POSTGRES = 63
_CLASS_HINT = "use --to python or --to onnx, or fit again with classes of printable names"
_SPARK_HINT = "use --to python, or another dialect"
# Whatever str.strip takes off: the code points of which str.isspace holds.
BLANKS = (
    *range(0x09, 0x0E),
    *range(0x1C, 0x21),
    *(0x85, 0xA0, 0x1680),
    *range(0x2000, 0x200B),
    *(0x2028, 0x2029, 0x202F, 0x205F, 0x3000),
)


@dataclass(frozen=True, slots=True)
class Spelling:
    """
    The words of a dialect.

    Args:
        double: Its type of double precision.

        quote: What stands around a name.

        text: What stands around the number in a literal, with {} for its digits.

        infinity: The literal of infinity, with {} for its sign.

        most_bytes: How long a query may be; None where there is no limit that an export could reach.
    """

    double: str
    quote: str
    text: str
    infinity: str
    most_bytes: int | None = None


def spelling_of(dialect: SqlDialect) -> Spelling:
    """Return the words of a dialect."""
    match dialect:
        case SqlDialect.DUCKDB:
            return Spelling("DOUBLE", '"', "{}", "CAST('{}infinity' AS DOUBLE)")
        case SqlDialect.SPARK:
            return Spelling("DOUBLE", "`", "{}D", "CAST('{}Infinity' AS DOUBLE)")
        case SqlDialect.BIGQUERY:
            return Spelling("FLOAT64", "`", "{}", "CAST('{}inf' AS FLOAT64)", 1_000_000)
        case SqlDialect.SNOWFLAKE:
            return Spelling("DOUBLE", '"', "CAST('{}' AS DOUBLE)", "CAST('{}inf' AS DOUBLE)", 1_000_000)
        case SqlDialect.POSTGRES:
            infinity = "CAST('{}Infinity' AS DOUBLE PRECISION)"
            return Spelling("DOUBLE PRECISION", '"', "CAST('{}' AS DOUBLE PRECISION)", infinity)
        case _:
            assert_never(dialect)


def number(value: float, dialect: SqlDialect) -> str:
    """Return a literal that reads back as the same double, never as a decimal."""
    spelling = spelling_of(dialect)
    if math.isinf(value):
        return spelling.infinity.format("-" if value < 0.0 else "")
    written = spelling.text.format(digits(value))
    return f"({written})" if written.startswith("-") else written


def element(column: str, place: int, dialect: SqlDialect) -> str:
    """
    Return what stands at a place of a column of lists; NULL where the list ends before.

    Args:
        column: The column, as it is written.

        place: Which element, from 0.

        dialect: Whose SQL.
    """
    match dialect:
        case SqlDialect.DUCKDB | SqlDialect.POSTGRES:
            return f"{column}[{place + 1}]"
        case SqlDialect.SPARK:
            return f"try_element_at({column}, {place + 1})"
        case SqlDialect.BIGQUERY:
            return f"{column}[SAFE_OFFSET({place})]"
        case SqlDialect.SNOWFLAKE:
            return f"{column}[{place}]"
        case _:
            assert_never(dialect)


def digits(value: float) -> str:
    """Return the shortest digits of a double, always with an exponent."""
    text = repr(value + 0.0)
    return text if "e" in text else f"{text}e0"


def name(word: str, dialect: SqlDialect) -> str:
    """
    Return a name, quoted: whatever it holds, it is a name and nothing else.

    Raises:
        UsageProblem: If the dialect has no way to write it.
    """
    if not word or not word.isprintable():
        msg = f"{word!r} cannot be the name of a column or a table in SQL" if word else "a name is empty"
        raise UsageProblem(msg, "names are printable and not empty: rename it, or choose another")
    match dialect:
        case SqlDialect.DUCKDB | SqlDialect.SNOWFLAKE:
            pass
        case SqlDialect.POSTGRES:
            if len(word.encode()) > _LONGEST_OF_POSTGRES:
                msg = f"{word!r} has {len(word.encode())} bytes, and names in Postgres have at most 63"
                raise UsageProblem(msg, "choose a shorter name")
        case SqlDialect.SPARK:
            if "${" in word:
                msg = f"{word!r}: Spark replaces what stands in ${{...}} before it reads a query"
                raise UsageProblem(msg, "rename the column, or choose another")
        case SqlDialect.BIGQUERY:
            word = word.replace("\\", "\\\\").replace("`", "\\`")
            return f"`{word}`"
        case _:
            assert_never(dialect)
    quote = spelling_of(dialect).quote
    return f"{quote}{word.replace(quote, quote * 2)}{quote}"


def string(text: str, dialect: SqlDialect, *, what: str = "class", hint: str = _CLASS_HINT) -> str:
    """
    Return a text as a literal.

    Args:
        text: The text.

        dialect: Whose SQL.

        what: What the text is, for messages.

        hint: What to do where it is not printable.

    Raises:
        UsageProblem: If it is not printable, or the dialect has no way to write it.
    """
    if not text.isprintable():
        msg = f"the {what} {text!r} cannot be written in SQL"
        raise UsageProblem(msg, hint)
    match dialect:
        case SqlDialect.DUCKDB | SqlDialect.POSTGRES:
            pass
        case SqlDialect.SNOWFLAKE:
            text = text.replace("\\", "\\\\")
        case SqlDialect.SPARK | SqlDialect.BIGQUERY:
            if dialect is SqlDialect.SPARK and "${" in text:
                msg = f"the {what} {text!r}: Spark replaces what stands in ${{...}} before it reads a query"
                raise UsageProblem(msg, _SPARK_HINT)
            escaped = text.replace("\\", "\\\\").replace("'", "\\'")
            return f"'{escaped}'"
        case _:
            assert_never(dialect)
    return "'" + text.replace("'", "''") + "'"


def stripped_text(column: str, dialect: SqlDialect) -> str:
    """
    Return the text of a column's value without the blanks around it, which are those of str.strip.

    Args:
        column: The column, as it is written.

        dialect: Whose SQL.
    """
    match dialect:
        case SqlDialect.DUCKDB | SqlDialect.SNOWFLAKE:
            return f"TRIM(CAST({column} AS VARCHAR), {_blanks(dialect)})"
        case SqlDialect.BIGQUERY:
            return f"TRIM(CAST({column} AS STRING), {_blanks(dialect)})"
        case SqlDialect.SPARK:
            return f"BTRIM(CAST({column} AS STRING), {_blanks(dialect)})"
        case SqlDialect.POSTGRES:
            return f"BTRIM(CAST({column} AS TEXT), {_blanks(dialect)})"
        case _:
            assert_never(dialect)


def _blanks(dialect: SqlDialect) -> str:
    """Return a text of all blanks: Spark's CHR ends at 255, so that it is given their bytes."""
    if dialect is SqlDialect.SPARK:
        return f"DECODE(X'{''.join(map(chr, BLANKS)).encode().hex().upper()}', 'UTF-8')"
    return " || ".join(f"CHR({one})" for one in BLANKS)


def table_name(words: str, dialect: SqlDialect) -> str:
    """
    Return the name of a table; dots part a schema or a catalog from it.

    Raises:
        UsageProblem: If the dialect has no way to write it.
    """
    return ".".join(name(word, dialect) for word in words.split("."))
