"""One sentence of plain English for every measure and test."""

from calibcli.names import ClassMeasure, MeasureName, Target, TestName

NULL_REFERENCE = (
    '"if calibrated": nine in ten calibrated scores would lie in this range on these rows; '
    "below it is no better than above."
)
SMALL_P = "A small p-value speaks against calibration; a large one is no proof of it."


MEANING_OF_MEASURE: dict[MeasureName, str] = {
    MeasureName.ECE: "How far the observed rate is from the mean score, bin by bin, on average over rows.",
    MeasureName.ECE_EQUAL_MASS: "The same as ece, over bins that hold about equally many rows each.",
    MeasureName.ACE: "The same as ece_equal_mass, but every bin counts alike.",
    MeasureName.ECE_SWEEP: "The same as ece_equal_mass, over as many bins as keep rates from falling.",
    MeasureName.L1_DEBIASED: "The same as ece less what chance makes of it.",
    MeasureName.L2: "Root mean square distance of observed rate and mean score, less what chance makes.",
    MeasureName.L2_PLUG_IN: "Root mean square distance of observed rate and mean score, chance included.",
    MeasureName.LP: "The p-th mean of the distance of observed rate and mean score, for the p of --power.",
    MeasureName.LINF: "How far the observed rate is from the mean score in the worst bin.",
    MeasureName.OVERCONFIDENCE: "The part of ece from scores that claim too much for the likelier label.",
    MeasureName.UNDERCONFIDENCE: "The part of ece from scores that claim too little for the likelier label.",
    MeasureName.SMECE: "Calibration error without bins: rates are smoothed over neighbouring scores.",
    MeasureName.SMECE_LOGIT: "smece along the logit of the score, which looks closer at scores near 0 and 1.",
    MeasureName.SMECE_PROBIT: "smece along the normal quantile of the score, between smece and smece_logit.",
    MeasureName.DCE: "At most how far scores must move, on average, until they are calibrated.",
    MeasureName.DCE_LOWER: (
        "How far scores must move at the least, on average, if the move may know the label and be random."
    ),
    MeasureName.SMCE: "How much label - score goes with the score, by the worst smooth weighting of rows.",
    MeasureName.MMCE: "How alike the errors label - score of neighbouring scores are.",
    MeasureName.ICI: "How far a smooth curve of the observed rate is from the score, on average over rows.",
    MeasureName.E50: "How far the smooth curve of ici is from the score for the middle row.",
    MeasureName.E90: "How far the smooth curve of ici is from the score at most, for nine rows in ten.",
    MeasureName.EMAX: "How far the smooth curve of ici is from the score where that is worst.",
    MeasureName.BIAS: "Observed rate minus mean score over all rows: above 0, scores are too low overall.",
    MeasureName.BRIER: (
        "Mean squared distance of score and label: 0 is perfect foresight. It also rewards "
        "telling labels apart, so compare it on the same rows only."
    ),
    MeasureName.LOG_LOSS: (
        "Mean of -ln(probability given to what happened): 0 is perfect foresight, and one certain "
        "score that is wrong makes it infinite. Compare it on the same rows only."
    ),
    MeasureName.CITL_LOGIT: "By how much log odds are too low overall: 0 is right, below 0 too high.",
    MeasureName.COX_INTERCEPT: "Log odds of label 1 where the score is 1/2, by the best line: 0 is right.",
    MeasureName.COX_SLOPE: (
        "Slope of log odds over the logit of the score: 1 is right, below 1 scores are too extreme."
    ),
    MeasureName.SPHERICAL: (
        "1 less the mean spherical score: 0 is perfect foresight. Compare it on the same rows only."
    ),
    MeasureName.BRIER_SKILL: (
        "Share saved of the Brier score of always saying the overall rate: 1 is perfect foresight."
    ),
    MeasureName.LOG_LOSS_SKILL: (
        "Share saved of the log loss of always saying the overall rate: 1 is perfect foresight."
    ),
    MeasureName.BRIER_RELIABILITY: "Miscalibration in the Brier score: mean square gap of a bin.",
    MeasureName.BRIER_RESOLUTION: "What telling bins apart takes off the Brier score; more is better.",
    MeasureName.BRIER_UNCERTAINTY: "Brier score of always saying the overall rate.",
    MeasureName.BRIER_WITHIN_VARIANCE: "Mean square distance of a score from its bin's mean: what bins hide.",
    MeasureName.BRIER_WITHIN_COVARIANCE: "What scores tell apart inside bins; more is better.",
    MeasureName.BRIER_RELIABILITY_CORRECTED: "brier_reliability less what chance makes; may be below 0.",
    MeasureName.BRIER_RESOLUTION_CORRECTED: "brier_resolution less what chance makes; may be below 0.",
    MeasureName.BRIER_UNCERTAINTY_CORRECTED: "brier_uncertainty without its bias.",
    MeasureName.BRIER_MCB: "What the best increasing map of the scores would take off the Brier score.",
    MeasureName.BRIER_DSC: "What the scores so mapped take off brier_unc; more is better.",
    MeasureName.BRIER_UNC: "The same as brier_uncertainty: Brier score of always saying the overall rate.",
    MeasureName.LOG_LOSS_MCB: "What the best increasing map of the scores would take off the log loss.",
    MeasureName.LOG_LOSS_DSC: "What the scores so mapped take off log_loss_unc; more is better.",
    MeasureName.LOG_LOSS_UNC: "Log loss of always saying the overall rate.",
}

MEANING_OF_TEST: dict[TestName, str] = {
    TestName.KS: "How far the running sum of label - score, from low to high scores, strays from 0.",
    TestName.KUIPER: "The largest rise or fall of the same running sum: errors over any range of scores.",
    TestName.SPIEGELHALTER: (
        "Whether the Brier score is what the scores themselves announce: over- or underconfidence."
    ),
    TestName.T: "Whether rates differ from mean scores in the bins by more than chance, errors of any shape.",
    TestName.HOSMER_LEMESHOW: "Whether gaps of rate and mean score, bin by bin, exceed chance.",
    TestName.U: "Whether log odds are the logit of the score: sees shifts and overconfidence.",
}

MEANING_OF_CLASS_MEASURE: dict[ClassMeasure, str] = {
    ClassMeasure.ACCURACY: "How often the most probable class is the right one.",
    ClassMeasure.CLASS_LOG_LOSS: (
        "Mean of -ln(probability of the right class): 0 is perfect foresight, and a right class with "
        "probability 0 makes it infinite. Compare it on the same rows only."
    ),
    ClassMeasure.CLASS_BRIER: (
        "Mean squared distance of probabilities and label, summed over classes: 0 is perfect foresight, 2 "
        "the worst. Compare it on the same rows only."
    ),
    ClassMeasure.CLASSWISE_ECE: "The ece of one class against the rest, on average over classes.",
    ClassMeasure.MARGINAL_L2: (
        "The l2 of one class against the rest, as root mean square over classes; chance is taken off before."
    ),
    ClassMeasure.TOP_LABEL_ECE: "The ece of the rows that predict a class, on average over rows.",
    ClassMeasure.TOP_LABEL_L2: "The l2 of the rows that predict a class, as root mean square over rows.",
    ClassMeasure.TOP_LABEL_ECE_UNWEIGHTED: "The same as top_label_ece, but every class counts alike.",
}


def meaning_of_class_measure(name: ClassMeasure) -> str:
    """Return what a measure of several classes says, for a reader who has not met it."""
    return MEANING_OF_CLASS_MEASURE[name]


def meaning_of_measure(name: MeasureName) -> str:
    """Return what a measure says, for a reader who has not met it."""
    return MEANING_OF_MEASURE[name]


def meaning_of_compared(name: MeasureName | ClassMeasure) -> str:
    """Return what a measure of one score, or of several classes, says."""
    return meaning_of_class_measure(name) if isinstance(name, ClassMeasure) else meaning_of_measure(name)


def meaning_of_test(name: TestName) -> str:
    """Return what a test looks for, for a reader who has not met it."""
    return MEANING_OF_TEST[name]


def whose(target: Target) -> str:
    """Return for whom a bound speaks."""
    match target:
        case Target.POPULATION:
            return "in the population these rows come from"
        case Target.MIXED:
            return "in the population these rows come from (upper bound) and for these very scores (lower)"
        case Target.FIXED_DESIGN:
            return "for these very scores"
