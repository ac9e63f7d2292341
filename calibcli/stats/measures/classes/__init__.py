"""Measures of several classes together: the one step from a name to a function."""

from calibcli.names import ClassMeasure
from calibcli.stats.measures import ClassEstimate
from calibcli.stats.measures.classes import binned, scores
from calibcli.stats.measures.classes.binned import ClassViews

__all__ = ["ClassViews", "class_measure"]

MEASURES = {**binned.MEASURES, **scores.MEASURES}


def class_measure(name: ClassMeasure, views: ClassViews) -> ClassEstimate:
    return MEASURES[name](views)
