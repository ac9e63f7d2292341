"""The closed vocabularies of more than two classes; the others are in `names.py`, and as cheap to import."""

from enum import StrEnum


class ViewName(StrEnum):
    """How predictions of several classes are seen as scores of a yes or no."""

    CONFIDENCE = "confidence"
    TOP_LABEL = "top-label"
    ONE_VS_REST = "one-vs-rest"


class OnSum(StrEnum):
    """What to do with rows whose probabilities do not sum to one."""

    ERROR = "error"
    NORMALISE = "normalise"
    ACCEPT = "accept"


class OutputSum(StrEnum):
    """Whether one-vs-rest divides the recalibrated probabilities of a row by their sum."""

    ONE = "one"
    FREE = "free"


class ClassMethod(StrEnum):
    """How predictions of several classes are recalibrated, as `fit --multiclass` takes it."""

    CONFIDENCE = "confidence"
    TOP_LABEL = "top-label"
    ONE_VS_REST = "one-vs-rest"
    ONE_VS_ONE = "one-vs-one"
    TEMPERATURE = "temperature"
    VECTOR = "vector"
    STRUCTURED = "structured"
    MATRIX = "matrix"


class EndsOf(StrEnum):
    """Which probabilities of a row a map of several classes puts ends around."""

    CLASSES = "classes"
    PREDICTED = "predicted"


class ClassMeasure(StrEnum):
    """Measures of several classes together, as `measure --metric` takes them beside those of one view."""

    ACCURACY = "accuracy"
    CLASS_LOG_LOSS = "class_log_loss"
    CLASS_BRIER = "class_brier"
    CLASSWISE_ECE = "classwise_ece"
    MARGINAL_L2 = "marginal_l2"
    TOP_LABEL_ECE = "top_label_ece"
    TOP_LABEL_L2 = "top_label_l2"
    TOP_LABEL_ECE_UNWEIGHTED = "top_label_ece_unweighted"


DEFAULT_LEAST_CLASS_ROWS = 50
