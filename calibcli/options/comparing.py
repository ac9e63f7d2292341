"""What is asked of comparisons."""

from collections.abc import Sequence
from typing import Any

from calibcli.errors import UsageProblem
from calibcli.names import DEFAULT_CONFIDENCE, RANKED, Binning, ClassMeasure, MeasureName, ranked_in
from calibcli.options.declaring import COLUMNS, Section, option
from calibcli.options.measuring import ALLOW_FIT_ROWS, BINNING, BINS, CONFIDENCE, METRIC, check_confidence
from calibcli.options.metrics import compared_metrics
from calibcli.options.rows import listed
from calibcli.values import dataclass

# Measures that say which of two scores is better, those that are compared by default first.
SHOWN = (
    MeasureName.BRIER,
    MeasureName.LOG_LOSS,
    MeasureName.ECE,
    MeasureName.ECE_EQUAL_MASS,
    MeasureName.SMECE,
)
COMPARABLE = (*SHOWN, MeasureName.L2, *RANKED)
JOINT_SHOWN = tuple(name for name in ClassMeasure if name is not ClassMeasure.TOP_LABEL_ECE_UNWEIGHTED)
Compared = MeasureName | ClassMeasure
# A gate looks at these unless others were asked for: their differences are bounded row by row.
_GATED = (MeasureName.BRIER, MeasureName.LOG_LOSS)


@dataclass(frozen=True, slots=True, repr=False)
class CompareOptions:
    """What is asked of `compare`; `metrics` are None for the usual ones."""

    metrics: tuple[Compared, ...] | None = option(
        None, like=METRIC,
        help="Compare and gate on this measure only; repeatable. [default: five, gate on brier, log_loss]",
        doc="Only these measures; by default five.",
    )  # fmt: skip
    bins: int | None = option(None, like=BINS)
    binning: Binning | None = option(None, like=BINNING)
    confidence: float = option(DEFAULT_CONFIDENCE, like=CONFIDENCE)
    fail_if_worse: bool = option(
        False, "--fail-if-worse", section=Section.GATE, help="Exit 1 if the second is shown to be worse by a gated measure.",
        doc="Whether `worse_by` says by which of them the second is shown to be worse.",
    )  # fmt: skip
    allow_fit_rows: bool = option(False, like=ALLOW_FIT_ROWS)
    reference: str | None = option(
        None, "--reference", section=Section.MEASURE, metavar="COL", complete=COLUMNS,
        help="Compare every score with this one, such as climatology, and report skill; with --by, a model.",
        doc="Compare every score with this one, and report skill; with `by`, the name of a model.",
    )  # fmt: skip
    pairs: bool = option(
        False, "--pairs", section=Section.MEASURE, help="List every pair of scores as well.",
        doc="Whether every pair of scores is listed as well.",
    )  # fmt: skip

    @classmethod
    def of(cls, metrics: str | Sequence[str] | None = None, **more: Any) -> "CompareOptions":  # noqa: ANN401
        """Return what is asked, metrics by their names."""
        return cls(compared_metrics(listed(metrics)), **more)

    def __post_init__(self) -> None:
        check_confidence(self.confidence)
        for name in self.metrics or ():
            # Of models in rows it is the accuracy.
            known = name in COMPARABLE or name is MeasureName.OBSERVED_RATE
            if not known and not isinstance(name, ClassMeasure):
                msg = f"{name.value} cannot be compared: no bounds of its difference between two scores are known here"
                hint = f"--metric takes {', '.join((*COMPARABLE, *ClassMeasure))}"
                if name is MeasureName.BRIER_SKILL:
                    hint = "skill against another score: --metric brier --reference COL"
                raise UsageProblem(msg, hint)

    @property
    def shown(self) -> tuple[MeasureName, ...]:
        """The measures of one score that are compared."""
        if not self.metrics:
            return SHOWN
        return tuple(dict.fromkeys(name for name in self.metrics if isinstance(name, MeasureName)))

    @property
    def ranked(self) -> tuple[MeasureName, ...]:
        """The areas of ranks that are compared."""
        return ranked_in(self.shown)

    @property
    def joint(self) -> tuple[ClassMeasure, ...]:
        """The measures of several classes together that are compared where there are several."""
        if not self.metrics:
            return JOINT_SHOWN
        return tuple(dict.fromkeys(name for name in self.metrics if isinstance(name, ClassMeasure)))

    def gate(self, usual: tuple[Compared, ...] = _GATED) -> tuple[Compared, ...] | None:
        """Return the measures that a gate looks at, by default the usual ones, or None without a gate."""
        if not self.fail_if_worse:
            return None
        return (*self.shown, *self.joint) if self.metrics else usual
