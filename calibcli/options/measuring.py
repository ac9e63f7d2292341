"""What is asked of measures and of comparisons: which, over which bins, with which confidence."""

import math
import re
from collections.abc import Mapping, Sequence
from itertools import pairwise
from numbers import Real
from typing import Any

from calibcli.errors import IdleOption, UsageProblem
from calibcli.families.recalibrators import METHOD_ALIASES, FitMethod
from calibcli.names import (
    DEFAULT_BINS,
    DEFAULT_CONFIDENCE,
    DEFAULT_LEAST_ROWS,
    DEFAULT_LP_POWER,
    DEFAULT_MEASURES,
    DEFAULT_SEED,
    DEFAULT_TESTS,
    MOST_LP_POWER,
    RANKED,
    Band,
    Binning,
    ClassMeasure,
    GroupOrder,
    MeasureName,
    SegmentMeasure,
    Smoother,
    TestName,
    ranked_in,
)
from calibcli.options.declaring import (
    COLUMNS,
    METRICS,
    Option,
    Section,
    is_share,
    nearest,
    option,
    refuse_number,
)
from calibcli.options.numerals import in_full
from calibcli.options.rows import SEED, listed, names_of
from calibcli.values import dataclass

M = MeasureName
Metric = MeasureName | TestName | ClassMeasure
MURPHY = (
    M.BRIER,
    M.BRIER_RELIABILITY,
    M.BRIER_RESOLUTION,
    M.BRIER_UNCERTAINTY,
    M.BRIER_WITHIN_VARIANCE,
    M.BRIER_WITHIN_COVARIANCE,
)
FERRO_FRICKER = (
    M.BRIER_RELIABILITY_CORRECTED,
    M.BRIER_RESOLUTION_CORRECTED,
    M.BRIER_UNCERTAINTY_CORRECTED,
)
CORP = (M.BRIER_MCB, M.BRIER_DSC, M.BRIER_UNC, M.LOG_LOSS_MCB, M.LOG_LOSS_DSC, M.LOG_LOSS_UNC)
COX = (M.CITL_LOGIT, M.COX_INTERCEPT, M.COX_SLOPE)
# What a paper on a prediction model reports, by the levels of Van Calster et al. (2016), J. Clin. Epidemiol. 74:
# mean, weak, moderate; then how well the score tells labels apart, and all together.
CLINICAL = (M.OE, M.CITL_LOGIT, M.COX_SLOPE, M.ICI, M.E50, M.E90, M.EMAX, M.AUROC, M.BRIER)
GROUPS: dict[str, tuple[Metric, ...]] = {
    "all": (*MeasureName, *TestName),
    "default": (*DEFAULT_MEASURES, *DEFAULT_TESTS),
    "classes": tuple(ClassMeasure),
    "tests": tuple(TestName),
    "murphy": MURPHY,
    "ferro_fricker": FERRO_FRICKER,
    "corp": CORP,
    "cox": (*COX, TestName.U),
    "clinical": CLINICAL,
}


def _word(name: str) -> str:
    return name.strip().lower().replace("-", "_").replace(" ", "_")


# What people type for them.
ALIASES: dict[str, Metric] = {
    "slope": M.COX_SLOPE,
    "citl": M.CITL_LOGIT,
    "calibration_in_the_large": M.CITL_LOGIT,
    # As reports of clinical models and `-m clinical` call it; that of Cox's line has the slope beside it.
    "intercept": M.CITL_LOGIT,
    "calibration_intercept": M.CITL_LOGIT,
    "calibration_slope": M.COX_SLOPE,
    "mce": M.LINF,
    "maximum_calibration_error": M.LINF,
    "expected_calibration_error": M.ECE,
    "smooth_ece": M.SMECE,
    "auc": M.AUROC,
    "roc_auc": M.AUROC,
    "roc_auc_score": M.AUROC,
    "cstat": M.AUROC,
    "c_statistic": M.AUROC,
    "c_index": M.AUROC,
    "c": M.AUROC,
    "risk_coverage": M.AURC,
    "selective_risk": M.AURC,
    "selective_accuracy": M.AURC,
    "gini_coefficient": M.GINI,
    "accuracy_ratio": M.GINI,
    "ar": M.GINI,
    "somers_d": M.GINI,
    "dxy": M.GINI,
    "oe_ratio": M.OE,
    "o/e": M.OE,
    "o:e": M.OE,
    "base_rate": M.OBSERVED_RATE,
    "prevalence": M.OBSERVED_RATE,
    "confidence": M.MEAN_SCORE,
    "mean_confidence": M.MEAN_SCORE,
    "nll": M.LOG_LOSS,
    "logloss": M.LOG_LOSS,
    "cross_entropy": M.LOG_LOSS,
    "log_score": M.LOG_LOSS,
    "logarithmic_score": M.LOG_LOSS,
    "brier_score": M.BRIER,
    "brier_score_loss": M.BRIER,
    "bss": M.BRIER_SKILL,
    "skill": M.BRIER_SKILL,
    "brier_skill_score": M.BRIER_SKILL,
    # As clinical papers call it: the index of prediction accuracy.
    "scaled_brier": M.BRIER_SKILL,
    "ipa": M.BRIER_SKILL,
    "resolution": M.BRIER_RESOLUTION,
    "reliability": M.BRIER_RELIABILITY,
    "uncertainty": M.BRIER_UNCERTAINTY,
    "mcb": M.BRIER_MCB,
    "dsc": M.BRIER_DSC,
    "unc": M.BRIER_UNC,
    "eavg": M.ICI,
    "kolmogorov_smirnov": TestName.KS,
    "hl": TestName.HOSMER_LEMESHOW,
}
# What people ask for that is found elsewhere.
_METHOD = "it is a method: `calibcli fit --method {}`"
_ELSEWHERE = {
    "psi": "the population stability index compares two samples: see `calibcli drift --help`",
    **dict.fromkeys(("eo", "e/o", "e:o"), "E/O is 1 divided by the O/E ratio: -m oe"),
    "traffic_light": "groups have one beside -m jeffreys and -m binomial",
    **{_word(name): _METHOD.format(str(name)) for name in (*FitMethod, *METHOD_ALIASES)},
}
_OF_A_THRESHOLD = "net_benefit"
# Groups that hold the measures of several classes where there are several.
_OF_CLASSES_TOO = ("all", "default")


@dataclass(frozen=True, slots=True)
class Metrics:
    """What is to be measured.

    Args:
        measures: In the order asked for, each once.
        of_classes: Measures of several classes together, likewise; None for all of them where there are
            several classes.
        selected: Whether somebody asked, so that nothing is left out.
    """

    measures: tuple[MeasureName, ...] = DEFAULT_MEASURES
    tests: tuple[TestName, ...] = DEFAULT_TESTS
    of_classes: tuple[ClassMeasure, ...] | None = None
    selected: bool = False


def metrics_of(requested: Sequence[str]) -> Metrics:
    """Return what names and groups stand for; the defaults where there are none."""
    if not requested:
        return Metrics()
    found = dict.fromkeys(member for name in requested for member in _members(name))
    of_classes = tuple(one for one in found if isinstance(one, ClassMeasure))
    wide = any(_word(part) in _OF_CLASSES_TOO for name in requested for part in name.split(","))
    return Metrics(
        tuple(one for one in found if isinstance(one, MeasureName)),
        tuple(one for one in found if isinstance(one, TestName)),
        None if wide else of_classes,
        selected=True,
    )


def compared_metrics(requested: Sequence[str]) -> tuple[MeasureName | ClassMeasure, ...] | None:
    """Return the measures that names and groups stand for; None where there are none.

    `all` and `default` are those of them that can be compared.
    """
    names = [name for one in requested for name in one.split(",")]
    of_each = [(_word(name) in ("all", "default"), _members(name)) for name in names]
    found = tuple(
        dict.fromkeys(one for wide, many in of_each for one in many if not wide or one in COMPARABLE)
    )
    for one in found:
        if isinstance(one, TestName):
            msg = f"{one.value} cannot be compared: it is a test, and p-values do not compare scores"
            raise UsageProblem(msg, "name a measure, such as brier")
    return tuple(one for one in found if not isinstance(one, TestName)) or None


def one_metric(name: str) -> Metric | SegmentMeasure:
    """Return the one measure or test of this name, those of gates alone too."""
    for member in SegmentMeasure:
        # The p-value of segments is explained with what it is of.
        if _called(member, _word(name).removesuffix("_p")):
            return member
    if _word(name).endswith(_OF_A_THRESHOLD):
        msg = f"{name} depends on the decision threshold, and is no metric"
        raise UsageProblem(msg, "its table says what it is: `calibcli measure ... --threshold 0.1,0.2`")
    members = _members(name)
    if len(members) == 1:
        return members[0]
    msg = f"{name!r} is a group"
    raise UsageProblem(msg, f"name one of its members: {', '.join(members)}")


def _called(member: Metric | SegmentMeasure, word: str) -> bool:
    """Whether a member has this name, or reports call it so."""
    return word in (member.value, _word(member.called))


def usual_metric(name: str) -> str:
    """Return what a measure is called that is typed by another of its names."""
    word = _word(name)
    return ALIASES.get(word, word)


def known_metrics() -> tuple[str, ...]:
    """Return every name that `--metric` takes, groups last."""
    return (*MeasureName, *TestName, *ClassMeasure, *GROUPS)


def _members(name: str) -> tuple[Metric, ...]:
    word = _word(name)
    for member in (*MeasureName, *TestName, *ClassMeasure):
        if _called(member, word):
            return (member,)
    if "," in name:
        return tuple(member for part in name.split(",") for member in _members(part))
    if word in GROUPS:
        return GROUPS[word]
    if word in ALIASES:
        return (ALIASES[word],)
    if word.removesuffix("_p") in set(SegmentMeasure):
        msg = f"{word} is a rule for segments, not a measure of all rows"
        raise UsageProblem(msg, "find them with `calibcli segments`, gate on them with `calibcli verify`")
    if word.endswith(_OF_A_THRESHOLD):
        msg = f"{word} depends on the decision threshold, and has a table of its own"
        raise UsageProblem(msg, "leave it out of --metric, and pass --threshold 0.1,0.2")
    msg = f"there is no metric {name!r}"
    if word in _ELSEWHERE:
        raise UsageProblem(msg, _ELSEWHERE[word])
    raise UsageProblem(
        msg, nearest(word, (*known_metrics(), *ALIASES), all_by="`calibcli measure --explain all`")
    )


MOST_BINS = 100_000
MOST_TOP = 10
# Of a bandwidth: the kernel resolves no less, and scores that are told apart by less are few.
LEAST_SMOOTHING = 0.001
MOST_CONFIDENCE = 0.999999
_EDGES = "--edges takes numbers that ascend from 0 to 1, such as 0,0.1,0.5,1"
# One percentage, or several.
_SHARES = r"\s*\d+(\.\d+)?\s*%(\s*,\s*\d+(\.\d+)?\s*%)*\s*"
_MOST_BITS = 62
_THRESHOLDS = "--threshold takes probabilities between 0 and 1, such as 0.1,0.2"
BINS = Option(
    ("--bins",), section=Section.BINS, metavar="N", least=1,
    help="Number of bins. [default: 15, or each value of few-valued scores]",
)  # fmt: skip
BINNING = Option(
    ("--binning",), section=Section.BINS, help="How bins are cut. [default: equal-width, or atoms of few-valued scores]",
)  # fmt: skip
CONFIDENCE = Option(
    ("--confidence",),
    section=Section.MEASURE,
    metavar="C",
    help="Probability that an interval or verdict is right.",
)
MIN_GROUP_ROWS = Option(
    ("--min-group-rows",), section=Section.GROUPS, name="min_group_rows", metavar="N", least=1,
    help="Smaller groups are listed, not measured.",
)  # fmt: skip
REPORTED_GROUPS = MIN_GROUP_ROWS._replace(
    help="Smaller groups are only listed. [default: 100 to be measured, 1 to be tested]"
)
THRESHOLD = Option(
    ("--threshold",), section=Section.MEASURE, name="threshold", metavar="T,T,...", shell=list[str] | None,
    python="float | Sequence[float] | None",
    help="Decision thresholds, such as 0.1,0.2: net benefit against all, none and other scores.",
    doc="Decision thresholds, each with the net benefit of acting on scores from there on.",
)  # fmt: skip
PLOTTED_THRESHOLDS = THRESHOLD._replace(
    section=Section.PICTURE,
    help="Mark these thresholds in --kind decision; from two on its axis ends at the outer ones.",
    doc='Thresholds marked in `kind="decision"`; from two on its axis ends at the outer ones.',
)
ALLOW_FIT_ROWS = Option(
    ("--allow-fit-rows",), section=Section.GATE,
    help="Evaluate an artifact on its own fit rows anyway; the numbers flatter it.",
)  # fmt: skip
SORT = Option(
    ("--sort",), section=Section.GROUPS,
    help="Order of groups: worst, name (2 before 10), time (Jan 2024, 2024-Q2, 2024-07), rows or mean score. [default: worst]",
    doc='Order of groups: the "worst" first, or by "name", "time", number of "rows" or mean "score".',
)  # fmt: skip
METRIC = Option(
    ("-m", "--metric"), section=Section.MEASURE, name="metric", metavar="NAME", shell=list[str] | None,
    help="Only these measures, tests or groups, such as ece,brier or all; repeatable.",
    doc='Only these measures, tests or groups of them, such as "ece", "corp" or "all".',
)  # fmt: skip


@dataclass(frozen=True, slots=True, repr=False)
class MeasureOptions:
    """What is asked of `measure`.

    `complete` reports carry what tables of text do not show: the smooth part of the curve, and the digest
    of the table. In `brief` ones groups and classes carry no more than a table of them shows, as
    groups do wherever there are very many. Labels are `drawn` from the
    scores for tests, and for what measures would be if calibrated.
    """

    metrics: Metrics = option(Metrics(), like=METRIC, complete=METRICS)
    bins: int | None = option(None, like=BINS)
    binning: Binning | None = option(None, like=BINNING)
    confidence: float = option(DEFAULT_CONFIDENCE, like=CONFIDENCE)
    seed: int = option(DEFAULT_SEED, like=SEED)
    beside_raw: bool = option(
        False, name="raw",
        doc="With an artifact, whether the raw scores are measured as well, as with `--verbose`.",
    )  # fmt: skip
    power: float = option(
        DEFAULT_LP_POWER, "--power", section=Section.MEASURE, metavar="P", help="The p of the metric lp.",
        doc='The p of the metric "lp", at least 1.',
    )  # fmt: skip
    bandwidth: float | None = option(
        None, "--bandwidth", section=Section.MEASURE, metavar="S",
        help="Bandwidth of smece, such as 0.05, instead of the one it finds.",
        doc="The bandwidth of smece, instead of the one it finds.",
    )  # fmt: skip
    smoother: Smoother | None = option(
        None, "--smoother", section=Section.MEASURE,
        help="Curve of ici, e50, e90 and emax, and of plot --kind clinical. [default: spline]",
        doc='The curve of "ici", "e50", "e90" and "emax", and of the picture "clinical"; by default a spline. Those of '
        "others have no interval.",
    )  # fmt: skip
    class_weights: Mapping[str, float] | None = option(
        None, "--class-weights", section=Section.MEASURE, metavar="A=W,...", shell=str | None, python="Mapping[str, float] | None",
        help="Weights of classes in marginal_l2, such as cat=3,dog=0; others weigh 1.",
        doc="Weights of classes in marginal_l2; those that are not named weigh 1.",
    )  # fmt: skip
    top: int | None = option(
        None, "--top", section=Section.MEASURE, metavar="K", least=1,
        help="Also the l2 error of the k largest probabilities of a row together, for k = 1 to K.",
        doc="How many of the largest probabilities of a row are measured together as well, by their l2 error.",
    )  # fmt: skip
    complete: bool = True
    brief: bool = False
    least_rows: int = option(DEFAULT_LEAST_ROWS, like=MIN_GROUP_ROWS)
    sort: GroupOrder | None = option(None, like=SORT)
    bounds: bool = option(
        False, "--bounds", section=Section.MEASURE,
        help="Also list the alternative bounds of ece, ece_equal_mass and l2.",
        doc='Whether "ece", "ece_equal_mass" and "l2" list every other bound.',
    )  # fmt: skip
    edges: tuple[float, ...] | None = option(
        None, "--edges", section=Section.BINS, metavar="E,E,...", shell=str | None, python="Sequence[float] | None",
        help="Edges of the bins, such as 0,0.1,0.5,1, instead of --bins.",
        doc="Edges of the bins from 0 to 1, in place of both.",
    )  # fmt: skip
    thresholds: tuple[float, ...] = option((), like=THRESHOLD, otherwise={"plot": PLOTTED_THRESHOLDS})
    drawn: bool = True
    band: Band = Band.POINTWISE

    @classmethod
    def of(
        cls,
        metrics: str | Sequence[str] | None = None,
        edges: str | Sequence[float] | None = None,
        thresholds: str | float | Sequence[str | float] | None = None,
        class_weights: str | Mapping[str, float] | None = None,
        **more: Any,  # noqa: ANN401 - the other fields
    ) -> "MeasureOptions":
        return cls(
            metrics_of(listed(metrics)),
            edges=edges_of(edges),
            thresholds=tuple(
                dict.fromkeys(numbers_of(_one_text(thresholds), what="--threshold", hint=_THRESHOLDS) or ())
            ),
            class_weights=class_weights_of(class_weights),
            **more,
        )

    @property
    def cut(self) -> bool:
        """Whether somebody said how bins are cut."""
        return (self.bins, self.binning, self.edges) != (None, None, None)

    def __post_init__(self) -> None:
        check_confidence(self.confidence)
        check_edges(self.edges, bins=self.bins, binning=self.binning)
        for one in self.thresholds:
            if not is_share(one):
                refuse_number("--threshold", one, is_share, "probabilities between 0 and 1, such as 0.1,0.2")
        if self.top is not None:
            _check_top(self.top, bins=self.bins, binning=self.binning, edges=self.edges)
        if self.bandwidth is not None:
            if not LEAST_SMOOTHING <= self.bandwidth <= 1.0:
                msg = f"--bandwidth {in_full(self.bandwidth)} is out of range"
                raise UsageProblem(
                    msg, f"a bandwidth is a number from {LEAST_SMOOTHING:g} to 1, such as 0.05"
                )
            if MeasureName.SMECE not in self.metrics.measures:
                msg = "--bandwidth without the metric smece"
                raise IdleOption(msg, "add --metric smece, or leave it out", options=("bandwidth",))
        if not 1.0 <= self.power <= MOST_LP_POWER:
            msg = f"--power {in_full(self.power)} is out of range"
            raise UsageProblem(
                msg, f"--power takes a number from 1 to {MOST_LP_POWER:.0f}; for the worst bin ask for linf"
            )


def _check_top(
    top: int, *, bins: int | None, binning: Binning | None, edges: tuple[float, ...] | None
) -> None:
    """Refuse more probabilities than are looked at together, and bins that are not settled before rows are read."""
    if top > MOST_TOP:
        msg = f"--top {top} is more than are looked at together"
        raise UsageProblem(msg, f"take at most {MOST_TOP}")
    if binning not in {None, Binning.EQUAL_WIDTH}:
        msg = f"--top counts cells while rows are read, and {binning} bins follow from the rows"
        raise IdleOption(msg, "leave out --binning, or take --edges", options=("top", "binning"))
    cut = bins or DEFAULT_BINS if edges is None else len(edges) - 1
    if top * math.log2(cut) > _MOST_BITS:
        msg = f"--top {top} over {cut:,} bins makes more cells than have numbers"
        raise UsageProblem(msg, "take fewer --bins, or a smaller --top")


def class_weights_of(weights: str | Mapping[str, float] | None) -> Mapping[str, float] | None:
    """Return weights of classes, which may be written in a text such as "cat=3,dog=0"."""
    if weights is None:
        return None
    hint = "write classes with their weights, such as cat=3,dog=0"
    if isinstance(weights, str):
        pairs = [part.rpartition("=") for part in names_of(weights) or ()]
        try:
            found = {name.strip(): float(number) for name, _, number in pairs}
        except ValueError as error:
            msg = f"--class-weights {weights!r} is no list of classes with weights"
            raise UsageProblem(msg, hint) from error
        if len(found) < len(pairs):
            msg = f"--class-weights {weights!r} names a class twice"
            raise UsageProblem(msg, hint)
    else:
        try:
            found = {str(name): float(number) for name, number in weights.items()}
        except (AttributeError, TypeError, ValueError) as error:
            msg = f"--class-weights {weights!r} is no mapping of classes to weights"
            raise UsageProblem(msg, hint) from error
    for name, number in found.items():
        if not (name and 0.0 <= number < math.inf):
            msg = f"--class-weights gives {name!r} the weight {in_full(number)}"
            raise UsageProblem(msg, "a weight is a number of at least 0")
    return found


def _one_text(words: str | float | Sequence[str | float] | None) -> str | float | None:
    """Return what was said once or repeated as one text, or as the one number that it is."""
    if words is None or isinstance(words, str):
        return words
    if isinstance(words, int | float | Real):
        return float(words)
    try:
        return ",".join(one if isinstance(one, str) else repr(float(one)) for one in words) or None
    except TypeError as error:
        msg = f"--threshold {words!r} is no number, and no list of them"
        raise UsageProblem(msg, _THRESHOLDS) from error


def edges_of(edges: str | Sequence[float] | None) -> tuple[float, ...] | None:
    """Return edges, which may be written in a text such as "0,0.1,0.5,1"."""
    return numbers_of(edges, what="--edges", hint=_EDGES)


def numbers_of(
    numbers: str | float | Sequence[float] | None, *, what: str, hint: str
) -> tuple[float, ...] | None:
    """Return numbers, which may be written in a text with commas between them."""
    if numbers is None:
        return None
    if isinstance(numbers, int | float | Real):
        return (float(numbers),)
    try:
        return tuple(float(part) for part in (numbers.split(",") if isinstance(numbers, str) else numbers))
    except (TypeError, ValueError) as error:
        msg = f"{what} {numbers!r} is no number, or numbers with commas between them"
        if isinstance(numbers, str) and re.fullmatch(_SHARES, numbers):
            meant = ",".join(f"{float(one) / 100.0:.10g}" for one in re.findall(r"[0-9.]+", numbers))
            raise UsageProblem(msg, f"did you mean {meant}?") from error
        raise UsageProblem(msg, hint) from error


def check_edges(edges: tuple[float, ...] | None, *, bins: int | None, binning: Binning | None) -> None:
    """Refuse edges that do not ascend from 0 to 1, are too many, or stand beside another choice of bins."""
    if edges is None:
        return
    if bins is not None or binning is not None:
        msg = "--edges says how bins are cut, and --bins or --binning does as well"
        raise IdleOption(msg, "leave out one of them", options=("bins", "binning", "edges"))
    ascending = all(low < high for low, high in pairwise(edges))
    if not ascending or len(edges) < 2 or (edges[0], edges[-1]) != (0.0, 1.0):
        shown = f"{','.join(map(in_full, edges[:10]))}{',...' if len(edges) > 10 else ''}"
        msg = f"--edges {shown} does not ascend from 0 to 1"
        raise UsageProblem(msg, _EDGES)
    if len(edges) > MOST_BINS + 1:
        msg = f"--edges makes {len(edges) - 1:,} bins"
        raise UsageProblem(msg, f"--edges takes at most {MOST_BINS + 1:,} numbers")


def refuse_fit_rows(artifacts: object, *, allowed: bool, gate: bool = True) -> None:
    """Refuse to allow the rows of a fit where no artifact has any, or no gate refuses them."""
    if allowed and artifacts and not gate:
        msg = "--allow-fit-rows without --fail-if-worse: a comparison that is no gate takes any rows"
        raise IdleOption(msg, "leave it out, or pass --fail-if-worse", options=("allow-fit-rows",))
    if allowed and not artifacts:
        msg = "--allow-fit-rows without --artifact"
        raise IdleOption(msg, "name the artifact, or leave it out", options=("allow-fit-rows",))


def check_confidence(confidence: float) -> None:
    if not _is_confidence(confidence):
        takes = f"a number from 0.5 to {MOST_CONFIDENCE}, such as 0.95"
        refuse_number("--confidence", confidence, _is_confidence, takes)


def _is_confidence(number: float) -> bool:
    return 0.5 <= number <= MOST_CONFIDENCE


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
        return cls(compared_metrics(listed(metrics)), **more)

    def __post_init__(self) -> None:
        check_confidence(self.confidence)
        for name in self.metrics or ():
            # Of models in rows it is the accuracy.
            known = name in COMPARABLE or name is MeasureName.OBSERVED_RATE
            if not known and not isinstance(name, ClassMeasure):
                msg = f"{name.value} cannot be compared: no bounds of its difference between two scores are known here"
                hint = f"`measure` shows it of each; --metric takes {', '.join((*COMPARABLE, *ClassMeasure))}"
                if name is MeasureName.BRIER_SKILL:
                    hint = "skill against another score: --metric brier --reference COL"
                if name in CORP:
                    hint = (
                        "`plot --kind mcb-dsc` draws the parts of several scores together, without a verdict"
                    )
                raise UsageProblem(msg, hint)

    @property
    def shown(self) -> tuple[MeasureName, ...]:
        """The measures of one score that are compared."""
        if not self.metrics:
            return SHOWN
        return tuple(dict.fromkeys(name for name in self.metrics if isinstance(name, MeasureName)))

    @property
    def ranked(self) -> tuple[MeasureName, ...]:
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
