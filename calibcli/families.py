"""Members of the closed vocabularies that belong together, and those that are taken by default."""

from typing import Literal

from calibcli.names import MeasureName, RecalibratorName, TestName

# The methods that fit a logistic curve.
Logistic = Literal[
    RecalibratorName.INTERCEPT,
    RecalibratorName.TEMPERATURE,
    RecalibratorName.PLATT,
    RecalibratorName.BETA,
    RecalibratorName.QUADRATIC,
    RecalibratorName.SPLINE,
]

# The families of measures: each has a module that knows its members.
BinnedMeasure = Literal[
    MeasureName.ECE,
    MeasureName.ECE_EQUAL_MASS,
    MeasureName.ACE,
    MeasureName.ECE_SWEEP,
    MeasureName.L1_DEBIASED,
    MeasureName.L2,
    MeasureName.L2_PLUG_IN,
    MeasureName.LP,
    MeasureName.LINF,
    MeasureName.OVERCONFIDENCE,
    MeasureName.UNDERCONFIDENCE,
]
SmoothMeasure = Literal[
    MeasureName.SMECE,
    MeasureName.SMECE_LOGIT,
    MeasureName.SMECE_PROBIT,
    MeasureName.DCE,
    MeasureName.DCE_LOWER,
    MeasureName.SMCE,
    MeasureName.MMCE,
    MeasureName.ICI,
    MeasureName.E50,
    MeasureName.E90,
    MeasureName.EMAX,
]
RegressionMeasure = Literal[
    MeasureName.BIAS,
    MeasureName.CITL_LOGIT,
    MeasureName.COX_INTERCEPT,
    MeasureName.COX_SLOPE,
]
ScorePart = Literal[
    MeasureName.BRIER_RELIABILITY,
    MeasureName.BRIER_RESOLUTION,
    MeasureName.BRIER_UNCERTAINTY,
    MeasureName.BRIER_WITHIN_VARIANCE,
    MeasureName.BRIER_WITHIN_COVARIANCE,
    MeasureName.BRIER_RELIABILITY_CORRECTED,
    MeasureName.BRIER_RESOLUTION_CORRECTED,
    MeasureName.BRIER_UNCERTAINTY_CORRECTED,
    MeasureName.BRIER_MCB,
    MeasureName.BRIER_DSC,
    MeasureName.BRIER_UNC,
    MeasureName.LOG_LOSS_MCB,
    MeasureName.LOG_LOSS_DSC,
    MeasureName.LOG_LOSS_UNC,
]
ScoreMeasure = Literal[
    MeasureName.BRIER,
    MeasureName.BRIER_SKILL,
    MeasureName.LOG_LOSS,
    MeasureName.LOG_LOSS_SKILL,
    MeasureName.SPHERICAL,
    ScorePart,
]
DEFAULT_MEASURES = (
    MeasureName.ECE,
    MeasureName.ECE_EQUAL_MASS,
    MeasureName.L2,
    MeasureName.SMECE,
    MeasureName.DCE,
    MeasureName.BIAS,
    MeasureName.BRIER,
    MeasureName.LOG_LOSS,
)
DEFAULT_TESTS = (TestName.KS, TestName.KUIPER, TestName.SPIEGELHALTER, TestName.T)
# Measures that never have an interval: a gate can ask for their value alone.
WITHOUT_INTERVAL = (
    MeasureName.ECE_SWEEP,
    MeasureName.L1_DEBIASED,
    MeasureName.MMCE,
    MeasureName.ICI,
    MeasureName.E50,
    MeasureName.E90,
    MeasureName.EMAX,
    MeasureName.BRIER_RELIABILITY,
    MeasureName.BRIER_RESOLUTION,
    MeasureName.BRIER_WITHIN_VARIANCE,
    MeasureName.BRIER_WITHIN_COVARIANCE,
    MeasureName.BRIER_RESOLUTION_CORRECTED,
    MeasureName.BRIER_MCB,
    MeasureName.BRIER_DSC,
    MeasureName.LOG_LOSS_MCB,
    MeasureName.LOG_LOSS_DSC,
)
