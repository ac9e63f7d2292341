"""Table and rule to a verdict with its evidence."""

from calibcli.gate_names import Bound
from calibcli.names import MeasureName
from calibcli.options.rules import Rule
from calibcli.table.grid import Table
from calibcli.verdicts.claim import Ground, Verdict

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

    Raises:
        UsageProblem: If no bound exists for such a score, such as the l2 error of a continuous one.
    """
    if rule.bound in (Bound.VALUE, Bound.P_VALUE):
        from calibcli.verdicts.plain_rule import plain_rule

        return plain_rule(table, rule, ground=ground)
    match rule.subject:
        case MeasureName.ECE:
            from calibcli.verdicts.ece_below import ece_below

            return ece_below(table, rule, ground=ground)
        case MeasureName.L2:
            from calibcli.verdicts.l2_below import l2_below

            return l2_below(table, rule, ground=ground)
        case MeasureName.LINF:
            from calibcli.verdicts.linf_below import linf_below

            return linf_below(table, rule, ground=ground)
        case MeasureName.SMECE:
            from calibcli.verdicts.smece_below import smece_below

            return smece_below(table, rule, ground=ground)
        case MeasureName.DCE:
            from calibcli.verdicts.dce_below import dce_below

            return dce_below(table, rule, ground=ground)
        case _:
            from calibcli.verdicts.interval_rule import interval_rule

            return interval_rule(table, rule, ground=ground)
