"""Everything that a figure can be drawn of."""

from typing import TypeAlias

from calibcli.curves.cumulative import CumulativeCurve
from calibcli.curves.decision import DecisionCurve
from calibcli.curves.isotonic import IsotonicCurve
from calibcli.curves.map import MapCurve
from calibcli.curves.monitor import MonitorCurve
from calibcli.curves.murphy import MurphyCurve
from calibcli.curves.panels import CurvePanels
from calibcli.curves.reliability import ReliabilityCurve
from calibcli.curves.residual import ResidualCurve

Picture: TypeAlias = (
    CumulativeCurve
    | CurvePanels
    | DecisionCurve
    | IsotonicCurve
    | MapCurve
    | MonitorCurve
    | MurphyCurve
    | ReliabilityCurve
    | ResidualCurve
)
