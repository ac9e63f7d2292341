"""What `--metric` may ask for: a measure, a test, or a group of them."""

from collections.abc import Sequence

from calibcli.errors import UsageProblem
from calibcli.families.recalibrators import METHOD_ALIASES, FitMethod
from calibcli.names import (
    DEFAULT_MEASURES,
    DEFAULT_TESTS,
    ClassMeasure,
    MeasureName,
    SegmentMeasure,
    TestName,
)
from calibcli.options.declaring import nearest
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
    return name.strip().lower().replace("-", "_")


# What people type for them.
ALIASES: dict[str, Metric] = {
    "slope": M.COX_SLOPE,
    "citl": M.CITL_LOGIT,
    # As reports of clinical models and `-m clinical` call it; that of Cox's line has the slope beside it.
    "intercept": M.CITL_LOGIT,
    "calibration_intercept": M.CITL_LOGIT,
    "calibration_slope": M.COX_SLOPE,
    "mce": M.LINF,
    "auc": M.AUROC,
    "roc_auc": M.AUROC,
    "cstat": M.AUROC,
    "c_statistic": M.AUROC,
    "c_index": M.AUROC,
    "c": M.AUROC,
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
    "brier_score": M.BRIER,
    "bss": M.BRIER_SKILL,
    "skill": M.BRIER_SKILL,
    "brier_skill_score": M.BRIER_SKILL,
    "resolution": M.BRIER_RESOLUTION,
    "reliability": M.BRIER_RELIABILITY,
    "uncertainty": M.BRIER_UNCERTAINTY,
    "kolmogorov_smirnov": TestName.KS,
    "hl": TestName.HOSMER_LEMESHOW,
}
# What people ask for that is found elsewhere.
_METHOD = "it is a method: calibcli fit --method {}"
_ELSEWHERE = {
    "psi": "the population stability index compares two samples: see `calibcli drift --help`",
    **{_word(name): _METHOD.format(str(name)) for name in (*FitMethod, *METHOD_ALIASES)},
}
# Groups that hold the measures of several classes where there are several.
_OF_CLASSES_TOO = ("all", "default")


@dataclass(frozen=True, slots=True)
class Metrics:
    """
    What is to be measured.

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
    """Return the measures that names and groups stand for; None where there are none."""
    found = tuple(dict.fromkeys(member for name in requested for member in _members(name)))
    for one in found:
        if isinstance(one, TestName):
            msg = f"{one.value} cannot be compared: it is a test, and p-values do not compare scores"
            raise UsageProblem(msg, "name a measure, such as brier")
    return tuple(one for one in found if not isinstance(one, TestName)) or None


def one_metric(name: str) -> Metric | SegmentMeasure:
    """Return the one measure or test of this name, those of gates alone too."""
    for member in SegmentMeasure:
        if _word(name) == member.value:
            return member
    members = _members(name)
    if len(members) == 1:
        return members[0]
    msg = f"{name!r} is a group"
    raise UsageProblem(msg, f"name one of its members: {', '.join(members)}")


def known_metrics() -> tuple[str, ...]:
    """Return every name that `--metric` takes, groups last."""
    return (*MeasureName, *TestName, *ClassMeasure, *GROUPS)


def _members(name: str) -> tuple[Metric, ...]:
    if "," in name:
        return tuple(member for part in name.split(",") for member in _members(part))
    word = _word(name)
    if word in GROUPS:
        return GROUPS[word]
    if word in ALIASES:
        return (ALIASES[word],)
    for member in (*MeasureName, *TestName, *ClassMeasure):
        if word == member.value:
            return (member,)
    if word in set(SegmentMeasure):
        msg = f"{word} is a rule for segments, not a measure of all rows"
        raise UsageProblem(msg, "find them with `calibcli segments`, gate on them with `calibcli verify`")
    if word.endswith("net_benefit"):
        msg = f"{word} depends on the decision threshold, and has a table of its own"
        raise UsageProblem(msg, "leave it out of --metric, and pass --threshold 0.1,0.2")
    msg = f"there is no metric {name!r}"
    if word in _ELSEWHERE:
        raise UsageProblem(msg, _ELSEWHERE[word])
    raise UsageProblem(msg, nearest(word, known_metrics(), all_by="`calibcli measure --explain all`"))
