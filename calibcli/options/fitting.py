"""What is asked of a fit."""

from collections.abc import Sequence
from enum import StrEnum
from pathlib import PurePath
from typing import Any, assert_never

from calibcli.errors import IdleOption, UsageProblem
from calibcli.names import (
    DEFAULT_FIT_BINS,
    DEFAULT_LEAST_CLASS_ROWS,
    DEFAULT_LEAST_ROWS,
    DEFAULT_SEED,
    NEW_COLUMN,
    BetaForm,
    Binning,
    ClassMethod,
    DataFormat,
    ExportTarget,
    FitLoss,
    FitMethod,
    OnUnseen,
    OutputSum,
    RecalibratorName,
    Split,
    SqlDialect,
    SqlForm,
)
from calibcli.options.declaring import Option, Reach, Section, option
from calibcli.options.output import OUTPUT
from calibcli.options.rows import SEED, Columns, names_of, refuse_without_groups
from calibcli.values import dataclass, replace

MOST_FIT_BINS = 100_000
MOST_FOLDS = 100
# What scaling-binning may bin: maps that form a continuum, the default first.
BASES = (
    RecalibratorName.PLATT,
    *(one for one in RecalibratorName if one.facts.base and one.value != "platt"),
)


@dataclass(frozen=True, slots=True, repr=False)
class FitOptions:
    """Options of every method: each reads its own part."""

    bins: int = option(
        DEFAULT_FIT_BINS, "--bins", section=Section.BINS, metavar="N", least=1,
        help="Maximum number of bins of histogram and scaling-binning.",
    )  # fmt: skip
    binning: Binning = option(
        Binning.EQUAL_MASS, "--binning", section=Section.BINS, metavar="equal-width|equal-mass",
        help="How histogram cuts its bins.",
    )  # fmt: skip
    split: Split = option(
        Split.NONE, "--split", section=Section.FIT,
        help="three-way: scaling-binning uses separate rows for its fit, its bins and their means.",
    )  # fmt: skip
    base: RecalibratorName = option(
        RecalibratorName.PLATT, "--base", section=Section.FIT, metavar=f"<{'|'.join(BASES)}>",
        help="Method that scaling-binning bins.",
    )  # fmt: skip
    form: BetaForm = option(
        BetaForm.ABM, "--beta-form", section=Section.FIT, name="beta_form", help="Which parameters of beta are free.",
    )  # fmt: skip
    folds: int | None = option(
        None, "--folds", section=Section.FIT, metavar="K", least=2,
        help="Folds of cross-validation [default: 10 of auto, 5 of segments, structured and matrix], or of cross venn-abers.",
    )  # fmt: skip
    randomised: bool = option(
        False, "--randomised", section=Section.FIT,
        help="Let smooth first add seeded noise of its kernel to scores.",
    )  # fmt: skip
    loss: FitLoss = option(
        FitLoss.LOG, "--loss", section=Section.FIT,
        help="Loss that the logistic methods minimise and auto compares.",
    )  # fmt: skip
    smooth_targets: bool = option(
        False, "--smooth-targets", section=Section.FIT,
        help="Aim the logistic methods at Platt's smoothed targets instead of 0 and 1.",
    )  # fmt: skip
    step: bool = option(
        False, "--step", section=Section.FIT, help="Make isotonic a step function, without interpolation.",
    )  # fmt: skip
    seed: int = option(DEFAULT_SEED, like=SEED)

    def __post_init__(self) -> None:
        if not 1 <= self.bins <= MOST_FIT_BINS:
            msg = f"{self.bins:,} bins requested"
            raise UsageProblem(msg, f"--bins takes a number from 1 to {MOST_FIT_BINS:,}")
        if self.binning is Binning.ATOMS:
            msg = "a fit cannot bin each distinct score by itself"
            raise UsageProblem(msg, "use --binning equal-mass or equal-width")
        if self.base not in BASES:
            msg = f"scaling-binning cannot be based on {self.base.value}"
            raise UsageProblem(msg, f"--base is one of {', '.join(BASES)}")
        if self.folds is not None and not 2 <= self.folds <= MOST_FOLDS:
            msg = f"{self.folds:,} folds requested"
            raise UsageProblem(msg, f"--folds takes a number from 2 to {MOST_FOLDS}")

    def used_by(self, method: RecalibratorName) -> dict[str, object]:
        """Return the options that the method reads, in plain values."""
        heeds = method.facts.heeds
        own: dict[str, object] = {}
        if not method.facts.logistic and self.loss is not FitLoss.LOG:
            # The losses in the record are of this kind, also where the fit minimised none.
            own |= {"loss": self.loss.value}
        if "base" in heeds:
            own |= self.used_by(self.base)
        for name in heeds:
            value = getattr(self, name)
            own[name] = value.value if isinstance(value, StrEnum) else value
        return own


DEFAULT_FIT = FitOptions()


@dataclass(frozen=True, slots=True, repr=False)
class MapOptions:
    """Which map is fitted: of one score, of each group, or of several classes."""

    method: FitMethod | None = option(
        None, "-m", "--method", section=Section.FIT, help="How to recalibrate. [default: platt]",
        doc='How to recalibrate, by default "platt"; "auto" is the one of these that cross-validation chooses. '
        "With several classes, the method of the maps that `multiclass` is made of.",
    )  # fmt: skip
    candidate: tuple[RecalibratorName, ...] = option(
        (), "--candidate", section=Section.FIT, metavar="METHOD", shell=list[RecalibratorName] | None,
        help="What auto chooses from; repeatable. [default: all but histogram and scaling-binning]",
        doc='What "auto" chooses from; by default all but histogram and scaling-binning.',
    )  # fmt: skip
    multiclass: ClassMethod | None = option(
        None, "--multiclass", section=Section.CLASSES,
        help="How to recalibrate several classes; some take --method for each class. [default: temperature]",
        doc='How several classes are recalibrated; by default "temperature".',
    )  # fmt: skip
    min_class_rows: int = option(
        DEFAULT_LEAST_CLASS_ROWS, "--min-class-rows", section=Section.CLASSES, metavar="N", least=1,
        help="Classes with fewer fit rows share a map.",
    )  # fmt: skip
    output_sum: OutputSum = option(
        OutputSum.ONE, "--output-sum", section=Section.CLASSES,
        help="one-vs-rest: divide rows by their sum, or leave each class as it is.",
        doc="For one-vs-rest: divide rows by their sum, or leave each class as it is.",
    )  # fmt: skip
    min_group_rows: int = option(
        DEFAULT_LEAST_ROWS, "--min-group-rows", section=Section.GROUPS, metavar="N", least=1,
        help="Smaller groups share the map of all rows.",
    )  # fmt: skip

    @classmethod
    def of(
        cls,
        candidate: Sequence[RecalibratorName] | None = None,
        **more: Any,  # noqa: ANN401 - the other fields
    ) -> "MapOptions":
        return cls(candidate=tuple(candidate or ()), **more)

    @property
    def of_one_score(self) -> FitMethod:
        """The method of a map of one score, also where none was named."""
        return self.method or FitMethod.PLATT

    def refuse_idle(self, columns: Columns) -> None:
        """Refuse what has no effect on a fit to these columns."""
        several = columns.several is not None
        if several and columns.by:
            msg = "--by fits a map of one score to each group, and there are several classes"
            hint = "fit each group apart, with --where 'COL==GROUP', and apply each map to its rows alone"
            raise IdleOption(msg, hint, options=("by",))
        refuse_without_groups(columns.by, min_group_rows=self.min_group_rows != DEFAULT_LEAST_ROWS)
        if several and self.candidate:
            msg = "--candidate is what --method auto chooses from, and it chooses for one score"
            raise IdleOption(msg, "leave it out", options=("candidate",))
        if self.candidate and self.of_one_score is not FitMethod.AUTO:
            msg = "--candidate without --method auto"
            raise IdleOption(msg, "pass --method auto, or leave out --candidate", options=("candidate",))
        of_classes = (self.multiclass, self.min_class_rows, self.output_sum)
        if not several and of_classes != (None, DEFAULT_LEAST_CLASS_ROWS, OutputSum.ONE):
            msg = (
                "--multiclass, --min-class-rows and --output-sum are for several classes, and there is one "
                "score"
            )
            idle = ("multiclass", "min-class-rows", "output-sum")
            raise IdleOption(msg, "name the columns of the classes, such as --probs 'p_*'", options=idle)


PRIOR = Option(
    ("--prior",), section=Section.COLUMNS, metavar="P", help="Base rate of these rows, where it is not that of the fit rows.",
    doc="Base rate of these rows, where it is not that of the fit rows: assumes that the scores of each "
    "label are "
    "distributed as there (label shift).",
)  # fmt: skip
# Which other columns go along, unless the user says.
KEEP_ALL = "all"
KEEP_NONE = "none"


@dataclass(frozen=True, slots=True, repr=False)
class Shape:
    """What an output of `apply` looks like: its format, and which other columns go along."""

    to: DataFormat | None = option(
        None, "--to", section=Section.OUTPUT, metavar="|".join(one for one in DataFormat if one.is_written),
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
        if self.to is None:
            msg = "the format of the map is not given"
            raise UsageProblem(msg, "pass --to sql, onnx, python or sklearn, or an output such as -o map.sql")
        return self.to

    def for_output(self, name: str) -> "ExportAsk":
        """Return it with what the name of an output implies, where nothing was said."""
        implied = _BY_SUFFIX.get(PurePath(name).suffix.lower())
        return self if self.to is not None else replace(self, to=implied)

    def refuse_idle(self) -> None:
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
