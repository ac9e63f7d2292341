"""Rules and what the rows say of them, rows needed, and plans."""

from calibcli.names import Bound, MeasureName
from calibcli.options.rules import Rule
from calibcli.stats.gates.claim import Ground, Verdict
from calibcli.stats.table.grid import Table

__all__ = ["judge"]


def judge(table: Table, rule: Rule, *, ground: Ground) -> Verdict:  # noqa: PLR0911 - one return a family
    """
    Judge a rule by the rows of a table.

    Args:
        table: The rows; those that no bin of the partition cuts a cell of.
        rule: What is asked.
        ground: What was settled before a label was looked at.

    Returns:
        By the bounds made for gates where the measure has some, otherwise by the interval of `measure`,
        one-sided; by the number itself where the rule names the value or a p-value.
    """
    if rule.bound in (Bound.VALUE, Bound.P_VALUE):
        from calibcli.stats.gates.other_rules import plain_rule

        return plain_rule(table, rule, ground=ground)
    match rule.subject:
        case MeasureName.ECE:
            from calibcli.stats.gates.ece import ece_below

            return ece_below(table, rule, ground=ground)
        case MeasureName.L2:
            from calibcli.stats.gates.l2 import l2_below

            return l2_below(table, rule, ground=ground)
        case MeasureName.LINF:
            from calibcli.stats.gates.linf import linf_below

            return linf_below(table, rule, ground=ground)
        case MeasureName.SMECE:
            from calibcli.stats.gates.smece import smece_below

            return smece_below(table, rule, ground=ground)
        case MeasureName.DCE:
            from calibcli.stats.gates.dce import dce_below

            return dce_below(table, rule, ground=ground)
        case _:
            from calibcli.stats.gates.other_rules import interval_rule

            return interval_rule(table, rule, ground=ground)
