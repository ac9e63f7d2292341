"""Everything that a figure can be drawn of."""

from typing import TypeAlias

from calibcli.stats.curves.clinical import ClinicalCurve
from calibcli.stats.curves.cumulative import CumulativeCurve
from calibcli.stats.curves.isotonic import IsotonicCurve
from calibcli.stats.curves.map import MapCurve
from calibcli.stats.curves.monitor import MonitorCurve
from calibcli.stats.curves.reliability import CurvePanels, ReliabilityCurve, ResidualCurve
from calibcli.stats.curves.risk_coverage import RiskCoverageCurve
from calibcli.stats.curves.segments import SegmentCells, SegmentPoints
from calibcli.stats.curves.thresholds import DecisionCurve, MurphyCurve
from calibcli.stats.curves.trend import TrendCurve

Picture: TypeAlias = (
    ClinicalCurve
    | CumulativeCurve
    | CurvePanels
    | DecisionCurve
    | IsotonicCurve
    | MapCurve
    | MonitorCurve
    | MurphyCurve
    | ReliabilityCurve
    | ResidualCurve
    | RiskCoverageCurve
    | SegmentCells
    | SegmentPoints
    | TrendCurve
)
