"""Measures of several classes together: the one step from a name to a function."""

from typing import assert_never

from calibcli.names import ClassMeasure
from calibcli.stats.measures.classes.binned import ClassViews
from calibcli.stats.measures.estimate import ClassEstimate

__all__ = ["ClassViews", "class_measure"]


def class_measure(name: ClassMeasure, views: ClassViews) -> ClassEstimate:  # noqa: PLR0911 - one branch a name
    """Return the named measure of several classes."""
    from calibcli.stats.measures.classes import binned as ece
    from calibcli.stats.measures.classes import binned as l2
    from calibcli.stats.measures.classes import scores

    match name:
        case ClassMeasure.ACCURACY:
            return scores.accuracy(views)
        case ClassMeasure.CLASS_LOG_LOSS:
            return scores.class_log_loss(views)
        case ClassMeasure.CLASS_BRIER:
            return scores.class_brier(views)
        case ClassMeasure.CLASSWISE_ECE:
            return ece.classwise_ece(views)
        case ClassMeasure.MARGINAL_L2:
            return l2.marginal_l2(views)
        case ClassMeasure.TOP_LABEL_ECE:
            return ece.top_label_ece(views)
        case ClassMeasure.TOP_LABEL_L2:
            return l2.top_label_l2(views)
        case ClassMeasure.TOP_LABEL_ECE_UNWEIGHTED:
            return ece.top_label_ece_unweighted(views)
        case _:
            assert_never(name)
