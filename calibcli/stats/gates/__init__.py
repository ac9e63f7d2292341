"""Rules and what the rows say of them, rows needed, and plans."""

from collections.abc import Callable
from typing import TYPE_CHECKING

from calibcli.families import loaded
from calibcli.names import Bound
from calibcli.options.rules import Rule
from calibcli.stats.gates.claim import Ground, Verdict
from calibcli.stats.table import ScoreTable
from calibcli.stats.table.grid import GridTable, Table

if TYPE_CHECKING:
    from calibcli.stats.gates.segments import RowsBySegment

__all__ = ["judge"]


def judge(rows: "Table | RowsBySegment", rule: Rule, *, ground: Ground) -> Verdict:
    """Judge a rule by the rows of a table, or of its segments where the rule speaks of them.

    It goes by the bounds made for gates where the measure has some; otherwise, and with importance weights,
    by the interval of `measure`, one-sided; by the number itself where a rule names the value or a p-value.
    Each wrong verdict has probability at most delta, at any number of rows, unless the interval is
    approximate or the rule is on the value.
    """
    way = rule.subject.facts.gate
    if not rule.of_segments and rule.bound in (Bound.VALUE, Bound.P_VALUE):
        way = "other_rules.plain_rule"
    elif isinstance(rows, ScoreTable | GridTable) and rows.weighted:
        way = "other_rules.interval_rule"
    found: Callable[..., Verdict] = loaded(f"stats.gates.{way}")
    return found(rows, rule, ground=ground)
