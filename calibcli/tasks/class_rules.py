"""Rules of a gate that speak of several classes together."""

from collections.abc import Sequence

from calibcli.errors import UsageProblem
from calibcli.names import Binning
from calibcli.options.measuring import MeasureOptions
from calibcli.options.metrics import Metrics
from calibcli.options.rows import Columns
from calibcli.options.rules import ClassRule, Rule
from calibcli.tasks.classes import class_groups, class_views
from calibcli.tasks.classes_asked import refuse_class_measures
from calibcli.tasks.judged import Judged
from calibcli.verdicts.claim import Ground, Verdict
from calibcli.verdicts.class_rule import class_rule
from calibcli.view_names import ViewName


def of_classes(rules: Sequence[Rule | ClassRule]) -> tuple[ClassRule, ...]:
    """Return the rules that speak of several classes together."""
    return tuple(rule for rule in rules if isinstance(rule, ClassRule))


def of_one_score(rules: Sequence[Rule | ClassRule]) -> tuple[Rule, ...]:
    """Return the rules that speak of one score: of every class where a view shows one by one."""
    return tuple(rule for rule in rules if isinstance(rule, Rule))


def refuse_class_rules(rules: Sequence[Rule | ClassRule], columns: Columns) -> None:
    """
    Refuse rules about several classes where there is one score, one class, or groups of rows.

    Raises:
        UsageProblem: If there is one.
    """
    found = of_classes(rules)
    refuse_class_measures(columns, Metrics((), (), tuple(rule.subject for rule in found)))
    if found and columns.by:
        msg = f"{found[0].subject.value} is judged over all rows, and --by asks for each group"
        raise UsageProblem(msg, "leave out --by, or gate groups on a measure of one score such as ece")


def class_verdicts(
    judged: Judged,
    rules: Sequence[ClassRule],
    *,
    ground: Ground,
    bins: int | None,
    binning: Binning | None,
) -> dict[str, Verdict]:
    """
    Judge rules about several classes by all rows.

    Args:
        judged: What was read, with every class tabled by itself.

        rules: What is asked.

        ground: The confidence, and how many claims are judged together.

        bins: Number of bins of every class, or None for 15.

        binning: How they are cut, or None for equal width.

    Raises:
        UsageProblem: If bins would cut the cells of grid tables, or rows carry importance weights.
    """
    classes = judged.gathered.aside.classes
    if classes is None or not rules:
        return {}
    both = class_groups(classes, ViewName.ONE_VS_REST), class_groups(classes, ViewName.TOP_LABEL)
    options = MeasureOptions(bins=bins, binning=binning, confidence=ground.confidence)
    views = class_views(judged.table, both, classes.sums, options=options)
    return {rule.key: class_rule(views, rule, ground=ground) for rule in rules}
