"""The closed vocabularies of pictures; as cheap to import as the others in `names.py`."""

from enum import StrEnum


class PlotKind(StrEnum):
    """Diagrams that `plot` draws."""

    SMOOTH = "smooth"
    BINNED = "binned"
    ISOTONIC = "isotonic"
    CUMULATIVE = "cumulative"
    MAP = "map"
    RESIDUAL = "residual"
    MURPHY = "murphy"
    DECISION = "decision"
    COMPARE = "compare"
    CLASSES = "classes"
    GROUPS = "groups"
    MONITOR = "monitor"


class FigureSize(StrEnum):
    """What a picture is to fit: one column of a journal, a page, or a slide of 16 by 9."""

    COLUMN = "column"
    PAGE = "page"
    SLIDE = "slide"


class Theme(StrEnum):
    """The ground a picture stands on."""

    LIGHT = "light"
    DARK = "dark"


class AxisScale(StrEnum):
    """How scores and rates are laid out along the axes."""

    LINEAR = "linear"
    LOGIT = "logit"
