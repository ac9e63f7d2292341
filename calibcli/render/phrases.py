"""One sentence of plain English for every measure and test."""

from calibcli.names import MeasureName, Target, TestName

NULL_REFERENCE = '"if calibrated": the average value if the scores were the true probabilities of these rows.'
SMALL_P = "A small p-value speaks against calibration; a large one is no proof of it."


def meaning_of_measure(name: MeasureName) -> str:  # noqa: PLR0911 - one return a measure
    """Return what a measure says, for a reader who has not met it."""
    match name:
        case MeasureName.ECE:
            return "How far the observed rate is from the mean score, bin by bin, on average over rows."
        case MeasureName.ECE_EQUAL_MASS:
            return "The same over bins that hold about equally many rows each."
        case MeasureName.L2:
            return "Root mean square distance of observed rate and mean score, less what chance alone makes."
        case MeasureName.SMECE:
            return "Calibration error without bins: rates are smoothed over neighbouring scores."
        case MeasureName.BIAS:
            return "Observed rate minus mean score over all rows: above 0, scores are too low on the whole."
        case MeasureName.BRIER:
            return (
                "Mean squared distance of score and label: 0 is perfect foresight. It also rewards "
                "telling labels apart, so compare it on the same rows only."
            )
        case MeasureName.LOG_LOSS:
            return (
                "Mean of -ln(probability given to what happened): 0 is perfect foresight, and one certain "
                "score that is wrong makes it infinite. Compare it on the same rows only."
            )


def meaning_of_test(name: TestName) -> str:
    """Return what a test looks for, for a reader who has not met it."""
    match name:
        case TestName.KS:
            return "How far the running sum of label - score, from low to high scores, strays from 0."
        case TestName.KUIPER:
            return "The largest rise or fall of the same running sum: errors over any range of scores."
        case TestName.SPIEGELHALTER:
            return "Whether the Brier score is what the scores themselves announce: over- or underconfidence."
        case TestName.T:
            return (
                "Whether rates differ from mean scores in the bins by more than chance, errors of any shape."
            )


def whose(target: Target) -> str:
    """Return for whom a bound speaks."""
    match target:
        case Target.POPULATION:
            return "in the population these rows come from"
        case Target.MIXED:
            return "in the population these rows come from (upper bound) and for these very scores (lower)"
        case Target.FIXED_DESIGN:
            return "for these very scores"
