"""Whether measures of several classes can be asked for, and what they need."""

from calibcli.errors import UsageProblem
from calibcli.options.metrics import Metrics
from calibcli.options.rows import Columns
from calibcli.view_names import ClassMeasure, OnSum

# Losses of whole rows, which are only those of the label's distribution where rows sum to one.
OF_DISTRIBUTIONS = (ClassMeasure.CLASS_LOG_LOSS, ClassMeasure.CLASS_BRIER)


def sees_all_classes(columns: Columns) -> bool:
    """Whether there are several classes, and none of them is the only one that is looked at."""
    return columns.several is not None and columns.several.one_class is None


def refuse_class_measures(columns: Columns, metrics: Metrics) -> None:
    """
    Refuse measures of several classes where there is one score, or one class, or no distribution.

    Raises:
        UsageProblem: If one was asked for by name.
    """
    needing = [name for name in metrics.of_classes or () if name in OF_DISTRIBUTIONS]
    if needing and not summing(columns):
        msg = f"{needing[0].value} needs rows that sum to 1, and --on-sum accept takes them as they are"
        raise UsageProblem(msg, f"pass --on-sum normalise, or ask for {ClassMeasure.CLASSWISE_ECE.value}")
    if not metrics.of_classes or (sees_all_classes(columns) and columns.cluster is None):
        return
    name = metrics.of_classes[0].value
    if columns.cluster is not None:
        msg = f"{name} is not measured where rows depend on each other"
        raise UsageProblem(msg, "leave out --cluster, or ask for ece")
    if columns.several is None:
        msg = f"{name} is a measure of several classes, and --probs names none"
        raise UsageProblem(msg, "name their columns, such as --probs 'p_*'")
    msg = f"{name} is a measure of all classes, and --class {columns.several.one_class} looks at one"
    raise UsageProblem(msg, "leave out --class, or ask for ece")


def summing(columns: Columns) -> bool:
    """Whether rows of several classes are known to sum to one."""
    return columns.several is None or columns.several.on_sum is not OnSum.ACCEPT
