"""What is asked of a fitted map: how it is applied to rows, and what it is written as."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import PurePath
from typing import Any, assert_never

from calibcli.errors import IdleOption, UsageProblem
from calibcli.names import NEW_COLUMN, DataFormat, ExportTarget, OnUnseen, SqlDialect, SqlForm
from calibcli.options.declaring import Option, Reach, Section, option
from calibcli.options.output import OUTPUT
from calibcli.options.rows import names_of
from calibcli.values import dataclass

PRIOR = Option(
    ("--prior",), section=Section.COLUMNS, metavar="P", help="Base rate of these rows, where it is not that of the fit rows.",
    doc="Base rate of these rows, where it is not that of the fit rows: assumes that scores given the "
    "label are "
    "distributed as there (label shift).",
)  # fmt: skip
NO_SCORE = Option(
    ("--on-missing",), metavar="error|null", help="Refuse rows whose score is missing or no number, or write null.",
    doc='Rows whose score is missing or no number: "error", or "null" for no probability either.',
)  # fmt: skip
OUT_OF_RANGE = Option(
    ("--on-range",), section=Section.COLUMNS, metavar="error|clip|null",
    help="Refuse scores outside [0,1], clip them, or write null; all are counted.",
    doc='Scores outside [0, 1]: "error", "clip", or "null" for no probability.',
)  # fmt: skip
OFF_SUM = Option(
    ("--on-sum",), section=Section.CLASSES, metavar="error|normalise|null",
    help="Refuse rows that do not sum to 1, divide them by their sum, or write null.",
    doc='Rows of several classes that do not sum to 1: "error", "normalise", or "null" for no probability.',
)  # fmt: skip
# Which other columns go along, unless the user says.
KEEP_ALL = "all"
KEEP_NONE = "none"


@dataclass(frozen=True, slots=True, repr=False)
class Shape:
    """What an output of `apply` looks like: its format, and which other columns go along."""

    to: DataFormat | None = option(
        None, "--to", section=Section.OUTPUT, metavar="csv|tsv|jsonl|parquet|arrow",
        help="Format of the output; else by its name, or that of the input.",
    )  # fmt: skip
    keep: str = option(
        KEEP_ALL, "--keep", section=Section.OUTPUT, metavar="COLS", shell=list[str] | None, shown=KEEP_ALL,
        help="Other columns to keep: all, none, or names and patterns such as id,'x_*'; repeatable.",
    )  # fmt: skip

    @classmethod
    def of(cls, to: DataFormat | None = None, keep: Sequence[str] | None = None) -> "Shape":
        """Return what was asked; columns may be named in several lists."""
        return cls(to, KEEP_ALL if not keep or KEEP_ALL in keep else ",".join(keep))


AS_IT_COMES = Shape()


@dataclass(frozen=True, slots=True, repr=False)
class ApplyOptions:
    """What `apply` adds to rows, and where it goes: to one file, or to a folder for any number."""

    output: str | None = option(
        None, like=OUTPUT, help="Where the rows of one file go.",
    )  # fmt: skip
    out_dir: str | None = option(
        None, "--out-dir", section=Section.OUTPUT, metavar="DIR", reach=Reach.WRITES,
        help="Directory for the outputs, one per file under its own name, instead of -o.",
    )  # fmt: skip
    skip_existing: bool = option(
        False, "--skip-existing", section=Section.OUTPUT, help="Leave out files whose output is in --out-dir already.",
    )  # fmt: skip
    name: str = option(
        NEW_COLUMN, "--name", section=Section.OUTPUT, metavar="COL", help="Name of the new column."
    )
    prior: float | None = option(None, like=PRIOR)


_BY_SUFFIX = {".sql": ExportTarget.SQL, ".onnx": ExportTarget.ONNX, ".py": ExportTarget.PYTHON}


@dataclass(frozen=True, slots=True, repr=False)
class ExportAsk:
    """What a map is written as, and what it calls columns; None for the usual names."""

    to: ExportTarget | None = option(
        None, "--to", section=Section.OUTPUT, help="What to write the map as. [default: by the suffix of -o]"
    )
    dialect: SqlDialect | None = option(
        None, "--dialect", section=Section.OUTPUT, shown=False, help="SQL dialect. [default: duckdb]",
    )  # fmt: skip
    form: SqlForm | None = option(
        None, "--as", section=Section.OUTPUT, shown=False, help="SQL as a query, a view or a dbt model. [default: select]",
    )  # fmt: skip
    view: str | None = option(
        None, "--view", section=Section.OUTPUT, metavar="NAME", help="What --as view makes. [default: calibrated]",
    )  # fmt: skip
    score: str | None = option(
        None, "-s", "--score", section=Section.COLUMNS, metavar="COL", help="The score in the SQL or ONNX. [default: in SQL that of the fit, else score]",
    )  # fmt: skip
    probs: tuple[str, ...] | None = option(
        None, "--probs", section=Section.CLASSES, metavar="A,B,...", shell=str | None,
        help="The columns of classes in the SQL: 'p_*', a,b,c, or one of lists. [default: those of the fit, else p_CLASS]",
    )  # fmt: skip
    name: str | None = option(
        None, "--name", section=Section.OUTPUT, metavar="COL", help="The new column in the SQL or ONNX. [default: calibrated]",
    )  # fmt: skip
    table: str | None = option(
        None, "--table", section=Section.OUTPUT, metavar="NAME",
        help="The table in the SQL, such as T or SCHEMA.T. [default: predictions]",
    )  # fmt: skip
    prior: float | None = option(None, like=PRIOR)
    single: bool = option(
        False, "--float32", section=Section.OUTPUT, name="float32", help="Let the ONNX model take scores in single precision.",
    )  # fmt: skip
    by: str | None = option(
        None, "--by", section=Section.GROUPS, metavar="COL", help="The column of groups in the SQL. [default: that of fit --by]",
    )  # fmt: skip
    unseen: OnUnseen = option(
        OnUnseen.ERROR, "--unseen", section=Section.GROUPS,
        help="Refuse groups that fit --by has not seen, or take the map of all rows.",
    )  # fmt: skip

    @classmethod
    def of(cls, probs: str | None = None, **more: Any) -> "ExportAsk":  # noqa: ANN401 - the other fields
        """Return what was asked, columns of classes parted by commas."""
        return cls(probs=names_of(probs), **more)

    @property
    def target(self) -> ExportTarget:
        """What to write."""
        if self.to is None:
            msg = "the format of the map is not given"
            raise UsageProblem(msg, "pass --to sql, onnx, python or sklearn, or an output such as -o map.sql")
        return self.to

    def for_output(self, name: str) -> "ExportAsk":
        """Return it with what the name of an output implies, where nothing was said."""
        implied = _BY_SUFFIX.get(PurePath(name).suffix.lower())
        return self if self.to is not None else replace(self, to=implied)

    def refuse_idle(self) -> None:
        """Refuse what the target has no use for."""
        sql = ("dialect", "form", "view", "table", "probs", "by")
        idle: tuple[str, ...]
        match self.target:
            case ExportTarget.SQL:
                idle = ("single",)
            case ExportTarget.ONNX:
                idle = sql
            case ExportTarget.PYTHON | ExportTarget.SKLEARN:
                idle = (*sql, "score", "name", "single")
            case _:
                assert_never(self.target)
        for one in idle:
            if getattr(self, one) not in (None, False):
                option = "float32" if one == "single" else one
                flag = "as" if one == "form" else option
                msg = f"--{flag} has no effect on --to {self.target.value}"
                raise IdleOption(msg, "leave it out", options=(option,))
        if self.view is not None and self.form is not SqlForm.VIEW:
            msg = "--view is for --as view"
            raise IdleOption(msg, "pass --as view too", options=("view",))
