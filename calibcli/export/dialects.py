"""The words of each dialect of SQL, and queries in those that sqlglot writes."""

import math
import re
from enum import Enum, auto
from functools import partial
from typing import TYPE_CHECKING, cast

from calibcli.errors import UsageProblem
from calibcli.names import SqlDialect
from calibcli.values import dataclass

if TYPE_CHECKING:
    from sqlglot.expressions import Expr, Select

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
_BLANKS = "".join(map(chr, BLANKS))
_LETTERS = " || ".join(f"CHR({one})" for one in BLANKS)
_WIDE_LETTERS = " + ".join(f"NCHAR({one})" for one in BLANKS)
# The same for engines whose TRIM takes off a whole text, or single bytes.
_SET = "".join(f"\\\\x{{{one:04x}}}" for one in BLANKS)
_PATTERN = f"'^[{_SET}]+|[{_SET}]+$'"
# What `apply` reads as a number, without backslashes, which engines read in their own ways.
_NUMERAL = "'^[+-]?(([0-9]+[.]?[0-9]*|[.][0-9]+)([eE][+-]?[0-9]+)?|[iI][nN][fF]([iI][nN][iI][tT][yY])?)$'"


class Lookup(Enum):
    """How many steps are looked up."""

    JOIN = auto()
    SEARCH = auto()
    BUCKETS = auto()
    RANGES = auto()
    BRANCHES = auto()
    OWN = auto()


@dataclass(frozen=True, slots=True)
class Lists:
    """How lists of numbers are worked on.

    Args:
        at: The number at a place, counted from 1.
        place: The place of `x` in `each`, counted from 1.
        each: A list of an expression of each number `x` of another.
        position: The place of the first element that equals a number, counted from 1.
        product: The sum of the products of two lists.
        level: What numbers `of`, one of them 0, are multiplied by so that they add up to `left` where none of
            the `count` comes above `most`: of all ways to put the largest at the limit, what gives most.
    """

    listed: str
    at: str
    place: str
    each: str
    position: str
    total: str
    largest: str
    product: str
    level: str


@dataclass(frozen=True, slots=True)
class Spelling:
    """The words of a dialect.

    Args:
        literal: What stands around the digits of a number.
        infinity: What is read as infinity.
        element: What stands at a place of a list, NULL where it ends before; `next` counts places from 1.
            Empty where no list is read.
        stripped: The text of a value without the blanks around it.
        numeral: Whether such a text is a number, empty ones left aside.
        ways: Into how many parts each of nested comparisons divides the steps.
        own: Of `Lookup.OWN`, what stands at the place of a score in `values`, by `starts`.
        array: A list of numbers that stand in one text.
        doubled: Whether a quote in a text is written twice, and not after a backslash.
        slashed: Whether a backslash in a text is written twice.
        substituted: Whether the engine replaces ${...} before it reads a query.
        guarded: Whether a product that is too small for a double may be an error.
        limits: The least and the largest number above 0 that the dialect can write, where these are not
            those of doubles.
        lateral: Whether a join may speak of the row at hand.
        lists: The words of lists of numbers, where many classes are worked out in such.
        longest_name: Bytes of a name; longer ones are cut off, perhaps two to the same.
        most_bytes: How long a query may be, or what an engine that says nothing takes without trouble.
        read_bytes: How long it may be unless `max_query_size` says otherwise.
        translated: Whether all this is Postgres's, but for what holds a `%s`, and sqlglot writes the rest.
    """

    double: str
    text: str
    quote: str
    literal: str
    infinity: str
    element: str
    stripped: str
    numeral: str
    steps: Lookup
    ways: int = 32
    own: str = ""
    array: str = ""
    doubled: bool = True
    slashed: bool = False
    substituted: bool = False
    guarded: bool = False
    limits: tuple[float, float] | None = None
    lateral: bool = True
    lists: Lists | None = None
    longest_name: int | None = None
    most_bytes: int = 32_000_000
    read_bytes: int | None = None
    translated: bool = False


_DOUBLE, _PRECISE = "CAST('{}' AS DOUBLE)", "CAST('{}' AS DOUBLE PRECISION)"
_AT = "{column}[{next}]"
LEAST = 5e-324
_LARGEST, _LEAST_NORMAL = 1.7976931348623157e308, 2.2250738585072014e-308


def _of_spark() -> Spelling:
    # Spark's CHR ends at 255, so that it is given the bytes of blanks.
    blanks = f"DECODE(X'{_BLANKS.encode().hex().upper()}', 'UTF-8')"
    return Spelling(
        *("DOUBLE", "STRING", "`", "{}D", "Infinity"),
        "try_element_at({column}, {next})",
        f"BTRIM(CAST(%s AS STRING), {blanks})",
        f"%s RLIKE {_NUMERAL}",
        Lookup.SEARCH,
        doubled=False,
        slashed=True,
        substituted=True,
        array="CAST(split('{}', ',') AS ARRAY<DOUBLE>)",
        lists=Lists(
            listed="array({})",
            at="element_at({of}, {next})",
            place="i + 1",
            each="transform({of}, (x, i) -> {to})",
            position="CAST(array_position({of}, {number}) AS INT)",
            total="aggregate({}, 0.0e0D, (a, x) -> a + x)",
            largest="array_max({})",
            product="aggregate(zip_with({}, {}, (x, y) -> x * y), 0.0e0D, (a, x) -> a + x)",
            level="aggregate(array_sort({of}), named_struct('t', 0.0e0D, 'i', 0, 's', 0.0e0D), (a, x) ->"
            " named_struct('t', a.t + x, 'i', a.i + 1, 's', greatest(a.s, if(a.t + x > 0.0e0D,"
            " greatest({left} - ({count} - a.i - 1) * {most}, 0.0e0D) / (a.t + x), 0.0e0D))), a -> a.s)",
        ),
    )


_translated = partial(
    Spelling, double="DOUBLE PRECISION", text="TEXT", quote='"', infinity="Infinity", translated=True
)
SPELLINGS = {
    SqlDialect.DUCKDB: Spelling(
        *("DOUBLE", "VARCHAR", '"', "{}", "infinity", _AT),
        f"TRIM(CAST(%s AS VARCHAR), {_LETTERS})",
        f"REGEXP_FULL_MATCH(%s, {_NUMERAL})",
        Lookup.JOIN,
        array="CAST('[{}]' AS DOUBLE[])",
        lists=Lists(
            listed="[{}]",
            at="{of}[{next}]",
            place="i",
            each="[{to} FOR x, i IN {of}]",
            position="LIST_POSITION({of}, {number})",
            total="LIST_SUM({})",
            largest="LIST_MAX({})",
            product="LIST_DOT_PRODUCT({}, {})",
            level="LIST_REDUCE([{{'t': x, 'i': 1, 's': 0.0e0}} FOR x IN LIST_SORT({of})], lambda a, b:"
            " {{'t': a.t + b.t, 'i': a.i + 1, 's': GREATEST(a.s,"
            " GREATEST({left} - ({count} - a.i - 1) * {most}, 0.0e0) / (a.t + b.t))}}).s",
        ),
    ),
    SqlDialect.SPARK: _of_spark(),
    SqlDialect.BIGQUERY: Spelling(
        *("FLOAT64", "STRING", "`", "{}", "inf", "{column}[SAFE_OFFSET({place})]"),
        f"TRIM(CAST(%s AS STRING), {_LETTERS})",
        f"REGEXP_CONTAINS(%s, {_NUMERAL})",
        Lookup.RANGES,
        doubled=False,
        slashed=True,
        most_bytes=1_000_000,
    ),
    SqlDialect.SNOWFLAKE: Spelling(
        *("DOUBLE", "VARCHAR", '"', _DOUBLE, "inf", "{column}[{place}]"),
        f"TRIM(CAST(%s AS VARCHAR), {_LETTERS})",
        f"REGEXP_LIKE(%s, {_NUMERAL})",
        Lookup.BRANCHES,
        ways=2,
        slashed=True,
        most_bytes=1_000_000,
    ),
    SqlDialect.POSTGRES: Spelling(
        *("DOUBLE PRECISION", "TEXT", '"', _PRECISE, "Infinity", _AT),
        f"BTRIM(CAST(%s AS TEXT), {_LETTERS})",
        f"%s ~ {_NUMERAL}",
        Lookup.BUCKETS,
        guarded=True,
        array="CAST('{{{}}}' AS DOUBLE PRECISION[])",
        lists=Lists(
            listed="ARRAY[{}]",
            at="({of})[{next}]",
            place="CAST(i AS INT)",
            position="ARRAY_POSITION({of}, {number})",
            each="ARRAY(SELECT {to} FROM UNNEST({of}) WITH ORDINALITY AS u(x, i) ORDER BY i)",
            total="(SELECT SUM(x) FROM UNNEST({}) AS u(x))",
            largest="(SELECT MAX(x) FROM UNNEST({}) AS u(x))",
            product="(SELECT SUM(x * y) FROM UNNEST({}, {}) AS u(x, y))",
            level="(SELECT MAX(GREATEST({left} - ({count} - i) * {most}, 0) / NULLIF(t, 0)) FROM"
            " (SELECT SUM(x) OVER w AS t, ROW_NUMBER() OVER w AS i FROM UNNEST({of}) AS u(x)"
            " WINDOW w AS (ORDER BY x ROWS UNBOUNDED PRECEDING)) AS s)",
        ),
        longest_name=63,
    ),
    SqlDialect.DATABRICKS: _of_spark(),
    SqlDialect.TRINO: _translated(
        literal="{}",
        element="ELEMENT_AT({column}, {next})",
        stripped=f"TRIM({_LETTERS} FROM CAST(%s AS VARCHAR))",
        numeral=f"REGEXP_LIKE(%s, {_NUMERAL})",
        steps=Lookup.OWN,
        own="ELEMENT_AT(CAST(SPLIT('{values}', ',') AS ARRAY(DOUBLE)),"
        " WIDTH_BUCKET({score}, CAST(SPLIT('{starts}', ',') AS ARRAY(DOUBLE))))",
        most_bytes=1_000_000,
    ),
    SqlDialect.REDSHIFT: _translated(
        literal=_PRECISE,
        element=_AT,
        stripped=f"BTRIM(CAST(%s AS VARCHAR(MAX)), '{_BLANKS}')",
        numeral=f"%s ~ {_NUMERAL}",
        steps=Lookup.BRANCHES,
        guarded=True,
        lateral=False,
        longest_name=127,
        most_bytes=16_000_000,
    ),
    SqlDialect.TSQL: _translated(
        literal="{}",
        element="",
        stripped=f"TRIM({_WIDE_LETTERS} FROM CAST(%s AS NVARCHAR(MAX))) COLLATE Latin1_General_100_BIN2",
        numeral="TRY_CAST(%s AS FLOAT) IS NOT NULL",
        steps=Lookup.BRANCHES,
        guarded=True,
        limits=(_LEAST_NORMAL, _LARGEST),
        most_bytes=1_000_000,
    ),
    SqlDialect.CLICKHOUSE: _translated(
        literal="{}",
        element="arrayElementOrNull({column}, {next})",
        stripped=f"replaceRegexpAll(CAST(%s AS Nullable(String)), {_PATTERN}, '')",
        numeral=f"match(%s, {_NUMERAL})",
        steps=Lookup.OWN,
        own="transform(roundDown({score}, CAST('[{starts}]', 'Array(Float64)')),"
        " CAST('[{starts}]', 'Array(Float64)'), CAST('[{values}]', 'Array(Float64)'), nan)",
        most_bytes=16_000_000,
        read_bytes=262_144,
    ),
    SqlDialect.MYSQL: _translated(
        literal="{}",
        element="",
        stripped=f"REGEXP_REPLACE(CONVERT(%s USING utf8mb4), {_PATTERN}, '') COLLATE utf8mb4_bin",
        numeral=f"(%s) REGEXP {_NUMERAL}",
        steps=Lookup.BRANCHES,
        limits=(LEAST, _LARGEST),
        most_bytes=16_000_000,
    ),
}


def number(value: float, dialect: SqlDialect) -> str:
    """Return a literal that reads back as the same double, never as a decimal."""
    spelling = SPELLINGS[dialect]
    if spelling.limits is not None and value:
        least, most = spelling.limits
        value = math.copysign(min(max(abs(value), least), most), value)
    if math.isinf(value):
        return f"CAST('{'-' if value < 0.0 else ''}{spelling.infinity}' AS {spelling.double})"
    written = spelling.literal.format(digits(value))
    return f"({written})" if written.startswith("-") else written


def digits(value: float) -> str:
    """Return the shortest digits of a double, always with an exponent."""
    text = repr(value + 0.0)
    return text if "e" in text else f"{text}e0"


def name(word: str, dialect: SqlDialect) -> str:
    """Return a name, quoted: whatever it holds, it is a name and nothing else."""
    if not word or not word.isprintable():
        msg = f"{word!r} cannot be the name of a column or a table in SQL" if word else "a name is empty"
        raise UsageProblem(msg, "names are printable and not empty: rename it, or choose another")
    spelling = SPELLINGS[dialect]
    if spelling.longest_name is not None and len(word.encode()) > spelling.longest_name:
        most = f"names in {dialect.value.title()} have at most {spelling.longest_name}"
        msg = f"{word!r} has {len(word.encode())} bytes, and {most}"
        raise UsageProblem(msg, "choose a shorter name")
    if dialect is SqlDialect.MYSQL and word.endswith(" "):
        msg = f"{word!r} ends in a blank, which no name in MySQL or MariaDB does"
        raise UsageProblem(msg, "choose a name without it")
    if spelling.substituted and "${" in word:
        msg = f"{word!r}: Spark replaces what stands in ${{...}} before it reads a query"
        raise UsageProblem(msg, "rename the column, or choose another")
    if dialect is SqlDialect.BIGQUERY:
        word = word.replace("\\", "\\\\").replace("`", "\\`")
        return f"`{word}`"
    return f"{spelling.quote}{word.replace(spelling.quote, spelling.quote * 2)}{spelling.quote}"


def string(text: str, dialect: SqlDialect, *, what: str = "class", hint: str = _CLASS_HINT) -> str:
    if not text.isprintable():
        msg = f"the {what} {text!r} cannot be written in SQL"
        raise UsageProblem(msg, hint)
    spelling = SPELLINGS[dialect]
    if spelling.substituted and "${" in text:
        msg = f"the {what} {text!r}: Spark replaces what stands in ${{...}} before it reads a query"
        raise UsageProblem(msg, _SPARK_HINT)
    slashed = text.replace("\\", "\\\\") if spelling.slashed else text
    quoted = slashed.replace("'", "''" if spelling.doubled else "\\'")
    return f"'{quoted}'"


def table_name(words: str, dialect: SqlDialect) -> str:
    """Return the name of a table; dots part a schema or a catalog from it."""
    if re.fullmatch(r"\w+\(.*\)", words):
        msg = f"{words} is no name of a table, and would be quoted as one"
        raise UsageProblem(msg, "make a view of it (CREATE VIEW predictions AS ...), and name that")
    return ".".join(name(word, dialect) for word in words.split("."))


def stripped_text(column: str, dialect: SqlDialect) -> str:
    """Return the text of a column's value without the blanks around it, which are those of str.strip."""
    spelling = SPELLINGS[dialect]
    return f"{_STRIPPED}({column})" if spelling.translated else spelling.stripped % column


def is_numeral(text: str, dialect: SqlDialect) -> str:
    """Return whether a text without blanks around it is a number; an empty one may count as one."""
    spelling = SPELLINGS[dialect]
    return f"{_IS_NUMERAL}({text})" if spelling.translated else spelling.numeral % text


def own_lookup(score: str, starts: str, values: str) -> str:
    """Return what `translated` writes as the dialect's own lookup of a score among numbers in one text."""
    return f"{_LOOKED_UP}({score}, '{starts}', '{values}')"


class TooLong(UsageProblem):
    """A query is longer than an engine takes."""


def too_long(dialect: SqlDialect, most: int) -> TooLong:
    msg = f"as a query for {dialect.value} the map takes more than {most:,} characters"
    # Whatever the map is, these have the joins that it may need.
    able = ((one.value, words) for one, words in SPELLINGS.items() if words.lateral)
    longer = ", ".join(one for one, words in able if words.most_bytes > SPELLINGS[dialect].most_bytes)
    other = f"; longer queries are taken by --dialect {longer}" if longer else ""
    return TooLong(msg, f"use --to python, or fit a map of fewer parameters{other}")


# Calls that stand for what a dialect has words of its own for.
_STRIPPED, _IS_NUMERAL, _LOOKED_UP = "STRIPPED_TEXT", "IS_NUMERAL", "LOOKED_UP"


def translated_name(name: str, dialect: SqlDialect) -> str:
    """Return a quoted name, or several parted by dots, in its dialect."""
    if not SPELLINGS[dialect].translated:
        return name
    from sqlglot.expressions import to_table

    return str(to_table(name, dialect="postgres").sql(dialect.value))


def translated(query: str, dialect: SqlDialect) -> str:
    """Return a query in its dialect, where it was written in Postgres's words for sqlglot to translate."""
    if not SPELLINGS[dialect].translated:
        return query
    try:
        import sqlglot
    except ImportError:
        msg = f"sqlglot is not installed, which writes SQL for {dialect.value}"
        raise UsageProblem(msg, "pip install '.[sql]'") from None
    parsed = sqlglot.parse_one(query, into=sqlglot.exp.Select, read="postgres")
    # Nobody else holds the tree: copies of every part took a fifth of the time.
    tree = cast("Select", parsed.transform(partial(_own_words, dialect=dialect), copy=False))

    def text(part: "Expr") -> str:
        return str(
            part.sql(dialect.value, copy=False, comments=False, unsupported_level=sqlglot.ErrorLevel.RAISE)
        )

    def joined(join: "Expr") -> str:
        beside = join.this
        if dialect is SqlDialect.TSQL and isinstance(beside, sqlglot.exp.Lateral):
            return f"CROSS APPLY {text(beside.this)} AS {beside.alias}"
        if dialect is SqlDialect.CLICKHOUSE and isinstance(beside, sqlglot.exp.Lateral):
            # A list of one number is a number worked out once; its name has a dot, as the others say it.
            parts = beside.this.this.selects
            named = (f'[{text(one.this)}] AS "{beside.alias}.{one.alias}"' for one in parts)
            return f"ARRAY JOIN {f',{chr(10)}  '.join(named)}"
        return text(join)

    definitions = ",\n".join(text(one) for one in tree.ctes)
    lines = [f"WITH {definitions}"] if definitions else []
    lines += ["SELECT", ",\n".join(f"  {text(one)}" for one in tree.selects)]
    return "\n".join(
        [*lines, *map(text, tree.find_all(sqlglot.exp.From)), *map(joined, tree.args.get("joins") or ())]
    )


def _own_words(node: "Expr", *, dialect: SqlDialect) -> "Expr":
    """Return a part of a query, in words of the dialect that sqlglot has none for."""
    from sqlglot import exp

    spelling = SPELLINGS[dialect]
    for called, words in ((_STRIPPED, spelling.stripped), (_IS_NUMERAL, spelling.numeral)):
        if isinstance(node, exp.Anonymous) and node.name == called:
            of = node.expressions[0].transform(partial(_own_words, dialect=dialect))
            return exp.Var(this=words % of.sql(dialect.value))
    if isinstance(node, exp.Anonymous) and node.name == _LOOKED_UP:
        score, starts, values = node.expressions
        found = spelling.own.format(score=score.sql(dialect.value), starts=starts.name, values=values.name)
        return exp.Var(this=found)
    if dialect is SqlDialect.TSQL and isinstance(node, exp.Literal) and node.is_string:
        return exp.National(this=node.name)
    return node
