"""What is asked of a fit."""

from collections.abc import Sequence
from enum import StrEnum
from typing import Any

from calibcli.errors import IdleOption, UsageProblem
from calibcli.names import (
    DEFAULT_FIT_BINS,
    DEFAULT_LEAST_CLASS_ROWS,
    DEFAULT_LEAST_ROWS,
    DEFAULT_SEED,
    BetaForm,
    Binning,
    ClassMethod,
    FitLoss,
    FitMethod,
    OutputSum,
    RecalibratorName,
    Split,
)
from calibcli.options.declaring import Section, option
from calibcli.options.rows import SEED, Columns, refuse_without_groups
from calibcli.values import dataclass

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
        Binning.EQUAL_MASS, "--binning", section=Section.BINS, help="How histogram cuts its bins."
    )
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
    split: Split = option(
        Split.NONE, "--split", section=Section.FIT,
        help="three-way: scaling-binning uses separate rows for its fit, its bins and their means.",
    )  # fmt: skip
    base: RecalibratorName = option(
        RecalibratorName.PLATT, "--base", section=Section.FIT, help="Method that scaling-binning bins."
    )
    form: BetaForm = option(
        BetaForm.ABM, "--beta-form", section=Section.FIT, name="beta_form", help="Which parameters of beta are free.",
    )  # fmt: skip
    folds: int | None = option(
        None, "--folds", section=Section.FIT, metavar="K", least=2,
        help="Folds of auto's cross-validation [default: 10], or of cross venn-abers.",
    )  # fmt: skip
    randomised: bool = option(
        False, "--randomised", section=Section.FIT,
        help="Let smooth first add seeded noise of its kernel to scores.",
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
        """Return which map is fitted."""
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
        of_classes = (self.multiclass, self.min_class_rows, self.output_sum)
        if not several and of_classes != (None, DEFAULT_LEAST_CLASS_ROWS, OutputSum.ONE):
            msg = (
                "--multiclass, --min-class-rows and --output-sum are for several classes, and there is one "
                "score"
            )
            idle = ("multiclass", "min-class-rows", "output-sum")
            raise IdleOption(msg, "name the columns of the classes, such as --probs 'p_*'", options=idle)
