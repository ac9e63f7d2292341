"""Maps of several classes: the one step from a name to a class."""

from importlib import import_module
from typing import Annotated

from calibcli.codec import OneOf
from calibcli.names import ClassMethod
from calibcli.stats.recalibrators.classes import ClassRecalibrator


def class_recalibrator_class(method: ClassMethod) -> type[ClassRecalibrator]:
    """Return the class of a method; its module is imported here and not before."""
    module, _, made = method.facts.made.partition(".")
    room = import_module(f"calibcli.stats.recalibrators.classes.{module}")
    found: type[ClassRecalibrator] = getattr(room, made)
    return found


AnyClassMap = Annotated[
    ClassRecalibrator, OneOf("method", ClassMethod, class_recalibrator_class, "parameters")
]
