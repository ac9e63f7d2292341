"""What is asked of a gate: its rules, its baseline, its state, and a plan for it."""

from collections.abc import Sequence
from numbers import Integral
from typing import Any

from calibcli.errors import IdleOption, UsageProblem
from calibcli.names import (
    DEFAULT_CONFIDENCE,
    DEFAULT_LEAST_ROWS,
    DEFAULT_POWER,
    DEFAULT_SEED,
    Binning,
    GroupOrder,
    Inconclusive,
    MeasureName,
    SegmentMeasure,
    VerdictName,
)
from calibcli.options import measuring
from calibcli.options.declaring import (
    COLUMNS,
    Option,
    Reach,
    Section,
    is_share,
    nested,
    option,
    refuse_number,
)
from calibcli.options.numerals import in_full
from calibcli.options.output import KEY_FILE, Output
from calibcli.options.rows import SEED, DocumentSource, listed
from calibcli.options.rules import Rule, rules_of
from calibcli.options.segmenting import Segmenting
from calibcli.values import dataclass

GATE_BINS = measuring.BINS._replace(
    metavar="N|none|V,V,...", least=None, shell=str | None, python="int | str | Sequence[float] | None",
    help="Number of bins; none: each value of a few-valued score; V,V,...: each of these values, such as the PDs of a rating scale. "
    "[default: 15, or each value of few-valued scores]",
    doc='Number of equal-width bins, "none" for each value of a few-valued score, or every value that it can have.',
)  # fmt: skip
PLANNED_BINS = GATE_BINS._replace(
    metavar="N|none", python="int | str | None",
    help="Number of bins; none: each value of a few-valued score. [default: 15, or each value of few-valued scores]",
    doc='Number of equal-width bins, or "none" for each value of a few-valued score.',
)  # fmt: skip
MIN_ROWS = Option(
    ("--min-rows",), section=Section.GATE, name="min_rows", metavar="N", least=1,
    help="With fewer rows, or fewer than 10 of the rarer label, the verdict is INCONCLUSIVE.",
)  # fmt: skip


def _limit(flag: str, sentence: str, *, doc: str = "") -> Any:  # noqa: ANN401 - a field, as `option` returns it
    return option(None, flag, section=Section.GATE, metavar="EPS", help=sentence, doc=doc)


@dataclass(frozen=True, slots=True, repr=False)
class Limits:
    """The rules of a gate: measures that have an option of their own, and rules in words."""

    max_ece: float | None = _limit("--max-ece", "The largest calibration error that passes.")
    max_l2: float | None = _limit("--max-l2", "The largest l2 error; few-valued scores only.")
    max_linf: float | None = _limit("--max-linf", "The largest error of any value; few-valued scores only.")
    max_smece: float | None = _limit("--max-smece", "The largest smooth calibration error.")
    max_dce: float | None = _limit("--max-dce", "The largest distance to calibration.")
    max_cutoff: float | None = _limit(
        "--max-cutoff", "The largest |sum of label - score| in any range of scores, divided by the number of rows.",
    )  # fmt: skip
    max_segment_bias: float | None = _limit(
        "--max-segment-bias", "The largest |mean score - observed rate| of any segment (--on).",
        doc="The largest |mean score - observed rate| of any segment that the columns of `on` make.",
    )  # fmt: skip
    rule: tuple[str, ...] = option(
        (), "--rule", section=Section.GATE, metavar="RULE", shell=list[str] | None,
        help="MEASURE[.lower|.upper|.value] or TEST.p, then <= or >=, then a limit; repeatable.",
        doc='Further rules, such as "smece.upper<=0.03", "bias.lower>=-0.01" or "ks.p>=0.01".',
    )  # fmt: skip

    @classmethod
    def of(
        cls,
        rule: str | Sequence[str] | None = None,
        **limits: float | None,
    ) -> tuple[Rule, ...]:
        return rules_of({_LIMITED[name[4:]]: limit for name, limit in limits.items()}, listed(rule))


_LIMITED = {one.value: one for one in (*MeasureName, *SegmentMeasure)}


# The upper bound of smECE speaks of the population and the lower one of these scores, so that their difference
# would speak of neither: it is not among them.
COMPARED = tuple(name for name in MeasureName if name.facts.compared)
_HOW = "--baseline report.json --max-regression 0.01, or --baseline-score COL --max-regression 0.01"


@dataclass(frozen=True, slots=True, repr=False)
class Regression:
    """What is asked of a comparison with a baseline: a report of `measure`, or a score of the same rows."""

    limit: float = option(
        None, "--max-regression", section=Section.GATE, name="max_regression", metavar="D", shell=float | None,
        help="How much worse than the baseline a measure may be.",
    )  # fmt: skip
    measures: tuple[MeasureName, ...] = option(
        (), "--regression-metric", section=Section.GATE, name="regression_metric", metavar="NAME",
        shell=list[MeasureName] | None,
        help="Measure to compare with the baseline; repeatable. [default: ece]",
        doc='Measure to compare with the baseline; "ece" by default.',
    )  # fmt: skip
    report: DocumentSource | None = option(
        None, "--baseline", section=Section.GATE, name="baseline", metavar="REPORT", reach=Reach.READS, shell=str | None,
        python="ReportLike | None",
        help="A JSON report of `measure` to compare with.",
        doc="What `measure` returned, or a report it was saved to, to compare with.",
    )  # fmt: skip
    score: str | None = option(
        None, "--baseline-score", section=Section.GATE, name="baseline_score", metavar="COL", complete=COLUMNS,
        help="A score column to compare with row by row.",
    )  # fmt: skip

    @classmethod
    def of(
        cls,
        report: DocumentSource | None = None,
        score: str | None = None,
        *,
        limit: float | None = None,
        measures: Sequence[MeasureName] | None = None,
    ) -> "Regression | None":
        """Return what is asked, or None where no baseline is spoken of."""
        if report is None and score is None:
            if limit is not None or measures:
                option = "--max-regression" if limit is not None else "--regression-metric"
                msg = f"{option} without a baseline"
                raise UsageProblem(msg, f"compare with something: {_HOW}")
            return None
        if report is not None and score is not None:
            msg = "--baseline and --baseline-score are two baselines"
            raise UsageProblem(msg, f"take one: {_HOW}")
        if limit is None:
            msg = "a baseline without --max-regression"
            raise UsageProblem(msg, f"say how much worse is too much: {_HOW}")
        if not 0.0 <= limit < 1.0:
            msg = f"a regression of {in_full(limit)}"
            raise UsageProblem(msg, "--max-regression takes a number from 0 to below 1, such as 0.01")
        names = tuple(dict.fromkeys(measures or (MeasureName.ECE,)))
        for name in names:
            if name not in COMPARED:
                msg = f"--regression-metric {name.value}: it has no bounds, or more of it is not worse"
                raise UsageProblem(msg, f"take one of {', '.join(COMPARED)}")
        return cls(limit, names, report, score)


@dataclass(frozen=True, slots=True, repr=False)
class VerifyOptions:
    """What is asked of `verify`.

    Each wrong verdict has a probability of at most 1 - `confidence`. Without bins a score of few values is
    judged value by value, any other over 15 bins of equal width. `values` are all that the score can have, as
    they stand in its column; none where nobody knew them before the rows.
    """

    rules: tuple[Rule, ...] = nested((), Limits)
    confidence: float = option(
        DEFAULT_CONFIDENCE, like=measuring.CONFIDENCE, doc="1 - delta: the probability that a verdict is right.",
    )  # fmt: skip
    bins: int | None = option(None, like=GATE_BINS, otherwise={"report": measuring.BINS})
    binning: Binning | None = option(None, like=measuring.BINNING)
    least_rows: int = option(DEFAULT_LEAST_ROWS, like=MIN_ROWS)
    policy: Inconclusive = option(
        Inconclusive.ERROR, "--inconclusive", section=Section.GATE, name="inconclusive",
        help="Exit code of INCONCLUSIVE: error is 4, fail 1, pass 0.",
        doc='What INCONCLUSIVE means for `.passed`: True with "pass", else False ("error", "fail").',
    )  # fmt: skip
    allow_fit_rows: bool = option(False, like=measuring.ALLOW_FIT_ROWS)
    least_group_rows: int | None = option(
        None, like=measuring.MIN_GROUP_ROWS,
        help="Smaller groups are listed, not tested. [default: none is left out]",
        otherwise={"report": measuring.REPORTED_GROUPS},
    )  # fmt: skip
    sort: GroupOrder | None = option(None, like=measuring.SORT)
    values: tuple[float, ...] = ()
    regression: Regression | None = nested(None, Regression)
    segments: Segmenting = nested(Segmenting(), Segmenting)

    @classmethod
    def of(
        cls,
        bins: int | str | Sequence[float] | None = None,
        binning: Binning | None = None,
        **more: Any,  # noqa: ANN401 - the other fields
    ) -> "VerifyOptions":
        """Return what is asked, bins as `--bins` takes them."""
        count, cut, values = bins_of_gate(bins, binning)
        return cls(bins=count, binning=cut, values=values, **more)

    def __post_init__(self) -> None:
        measuring.check_confidence(self.confidence)
        _refuse_equal_mass(self.binning)

    @property
    def regressions(self) -> int:
        return 0 if self.regression is None else len(self.regression.measures)


def _refuse_equal_mass(binning: Binning | None) -> None:
    if binning is Binning.EQUAL_MASS:
        msg = "equal-mass bins depend on the rows that the gate evaluates"
        raise UsageProblem(msg, "pass --binning equal-width or --binning atoms, which are fixed in advance")


def bins_of_gate(
    bins: int | str | Sequence[float] | None, binning: Binning | None
) -> tuple[int | None, Binning | None, tuple[float, ...]]:
    """Return the number of bins, how they are cut, and the values declared, from what `--bins` says."""
    if bins is None:
        return None, binning, ()
    counted = bins.strip().isdecimal() if isinstance(bins, str) else isinstance(bins, Integral)
    if counted and not isinstance(bins, bool) and binning is not Binning.ATOMS:
        return int(bins), binning, ()  # type: ignore[arg-type]
    if binning is not None and (counted or binning is not Binning.ATOMS):
        shown = bins if isinstance(bins, str | Integral) else "of values"
        msg = f"--bins {shown} and --binning {binning.value}"
        raise IdleOption(msg, "leave out one of them", options=("binning", "bins"))
    if isinstance(bins, str) and bins.strip().lower() == "none":
        return None, Binning.ATOMS, ()
    if isinstance(bins, bool) or (isinstance(bins, str) and not {",", "."} & {*bins}):
        msg = f"{bins!r} bins"
        raise UsageProblem(msg, _TAKES)
    values = measuring.numbers_of(bins, what="--bins", hint=_TAKES) or ()
    return None, Binning.ATOMS, tuple(sorted({*values}))


_TAKES = "--bins takes a whole number, none for a score of few values, or these values: 0.0003,0.001,0.01"


@dataclass(frozen=True, slots=True, repr=False)
class StateOptions:
    """What is asked of a gate that keeps a state; the rows planned settle the bins of the distance."""

    path: str = option(
        None, "--state", section=Section.GATE, name="state", metavar="GATE.json", reach=Reach.WRITES, shell=str | None,
        python="str | os.PathLike[str] | None",
        help="Keep counts in this file, so that you may check again as rows come in.",
        doc="A file that keeps counts, so that you may check again as rows come in.",
    )  # fmt: skip
    batch: str | None = option(
        None, "--batch", section=Section.GATE, metavar="NAME",
        help="Name of this batch of rows in the state. [default: a digest of the rows]",
        doc="Name of this batch of rows in the state; by default a digest of the rows.",
    )  # fmt: skip
    id_column: str | None = None
    planned_rows: int | None = option(
        None, "--planned-rows", section=Section.GATE, metavar="N", least=1, most=10**12,
        help="Rows the state will hold in the end; fixes dce's bins.",
    )  # fmt: skip
    alarm: bool = option(
        False, "--alarm", section=Section.GATE,
        help="Raise an alarm (exit 1) once the score is no longer calibrated, whenever that began.",
    )  # fmt: skip
    key_file: str | None = option(None, like=KEY_FILE)

    @classmethod
    def of(cls, path: str | None = None, **more: Any) -> "StateOptions | None":  # noqa: ANN401
        """Return what is asked, None where no state is kept."""
        if path is not None:
            return cls(path, **more)
        for option_name, value in more.items():
            if value:
                refuse_without_state({"key_file": "state-key-file"}.get(option_name, option_name))
        return None


def refuse_without_state(option_name: str) -> None:
    key = option_name.replace("_", "-")
    msg = f"--{key} without --state"
    hint = "name a file to keep the counts in: --state gate.json"
    raise IdleOption(msg, hint, options=(key,))


_MOST_POWER = 0.99


def _is_power(number: float) -> bool:
    return 0.5 <= number <= _MOST_POWER


@dataclass(frozen=True, slots=True, repr=False)
class PlanOptions:
    """What is asked of `plan`: one rule, the true error, and how probable the verdict is to be."""

    rules: tuple[Rule, ...] = nested((), Limits)
    error: float = option(
        0.0, "--error", section=Section.GATE, metavar="E",
        help="The true error to plan for; 0 is calibrated.",
    )  # fmt: skip
    power: float = option(
        DEFAULT_POWER, "--power", section=Section.GATE, metavar="P", help="Probability with which the gate is to decide.",
    )  # fmt: skip
    confidence: float = option(DEFAULT_CONFIDENCE, like=measuring.CONFIDENCE)
    any_time: bool = option(
        False, "--any-time", section=Section.GATE,
        help="Plan for a gate that you check again as rows come in, as with --state.",
    )  # fmt: skip
    bins: int | None = option(None, like=PLANNED_BINS)
    binning: Binning | None = option(None, like=measuring.BINNING)
    least_rows: int = option(DEFAULT_LEAST_ROWS, like=MIN_ROWS)
    seed: int = option(DEFAULT_SEED, like=SEED)
    segments: Segmenting = nested(Segmenting(), Segmenting)

    @classmethod
    def of(
        cls,
        bins: int | str | Sequence[float] | None = None,
        binning: Binning | None = None,
        **more: Any,  # noqa: ANN401 - the other fields
    ) -> "PlanOptions":
        count, cut, values = bins_of_gate(bins, binning)
        if values:
            msg = "a plan takes the values of a score from the rows that it is made of"
            raise UsageProblem(msg, "pass --bins none to plan for each of them")
        return cls(bins=count, binning=cut, **more)

    def __post_init__(self) -> None:
        measuring.check_confidence(self.confidence)
        if not self.rules:
            msg = "no rule to plan"
            raise UsageProblem(msg, "try --max-ece 0.02, --max-smece 0.02 or --max-l2 0.02")
        if len(self.rules) > 1:
            msg = f"{len(self.rules)} rules to plan at once"
            raise UsageProblem(msg, "plan them one by one, and collect the largest number of rows")
        if not _is_power(self.power):
            refuse_number(
                "--power", self.power, _is_power, f"a number from 0.5 to {_MOST_POWER}, such as 0.9"
            )
        if not 0.0 <= self.error < 1.0:
            refuse_number("--error", self.error, is_share, "a number from 0 to 1, such as half the limit")
        if self.error == self.rule.limit:
            msg = f"a true error of {in_full(self.error)} is the limit itself: no number of rows can tell them apart"
            raise UsageProblem(msg, "--error takes a number below the limit for a pass, above it for a fail")
        _refuse_equal_mass(self.binning)
        if self.any_time and self.measure is not MeasureName.ECE:
            msg = f"plan --any-time is for ece, not for {self.measure.value}"
            raise UsageProblem(msg, "pass --max-ece, or leave out --any-time to plan a single check")

    @property
    def rule(self) -> Rule:
        """The rule of the gate: the limit of a measure."""
        (rule,) = self.rules
        return rule

    @property
    def measure(self) -> MeasureName | SegmentMeasure:
        subject = self.rule.subject
        return subject if isinstance(subject, SegmentMeasure) else MeasureName(subject)

    @property
    def wanted(self) -> VerdictName:
        """The verdict that is right under the true error."""
        return VerdictName.PASS if self.error < self.rule.limit else VerdictName.FAIL


@dataclass(frozen=True, slots=True, repr=False)
class GateOutput(Output):
    """The same of a gate, whose verdicts may be written for servers and monitors as well."""

    report: list[str] | None = option(
        None, "--report", section=Section.OUTPUT, metavar="KIND[=FILE]", reach=Reach.WRITES,
        help="Also write junit=F, github, md=F, json=F or openmetrics=F; repeatable.",
    )  # fmt: skip
