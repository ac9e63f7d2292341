"""Every option of several classes, once; the others are in `options.py`."""

from typing import TYPE_CHECKING, Annotated

import typer

from calibcli.cli.completion import column_names
from calibcli.view_names import ClassMethod, OnSum, OutputSum, ViewName

if TYPE_CHECKING:
    from calibcli.options.rows import SeveralClasses

_PROBS = typer.Option(
    "--probs",
    metavar="COLS",
    autocompletion=column_names,
    help="Columns of several classes: 'p_*', a,b,c, or one column of lists.",
)
Probs = Annotated[str | None, _PROBS]
ComparedProbs = Annotated[list[str] | None, _PROBS]
Classes = Annotated[
    str | None,
    typer.Option("--classes", metavar="A,B,...", help="Their names in order. [default: ends of columns]"),
]
View = Annotated[
    ViewName,
    typer.Option(
        "--view", help="Seen as the largest probability, by class predicted, or each class against the rest."
    ),
]
OneClass = Annotated[
    str | None, typer.Option("--class", metavar="NAME", help="Only this class, with --view.")
]
HowSummed = Annotated[
    OnSum,
    typer.Option(
        "--on-sum", help="Refuse rows that do not sum to 1, divide and count them, or take them as they are."
    ),
]

Multiclass = Annotated[
    ClassMethod | None,
    typer.Option(
        "--multiclass",
        help="How several classes are recalibrated, those of one score with --method. [default: temperature]",
    ),
]
LeastClassRows = Annotated[
    int,
    typer.Option("--min-class-rows", metavar="N", min=1, help="Classes with fewer fit rows share a map."),
]
HowOutputSums = Annotated[
    OutputSum,
    typer.Option(
        "--output-sum", help="one-vs-rest: divide rows by their sum, or leave classes by themselves."
    ),
]


def several_classes(
    probs: str | None, classes: str | None, *, on_sum: OnSum, view: ViewName, one_class: str | None
) -> "SeveralClasses | None":
    """
    Return what was said of several classes, or None where there is one score.

    Args:
        probs: Their columns.

        classes: Their names, parted by commas.

        on_sum: What becomes of rows that do not sum to one.

        view: How rows are seen.

        one_class: The one class that is looked at.

    Raises:
        UsageProblem: If something was said of classes and there are none.
    """
    from calibcli.errors import IdleOption
    from calibcli.options.rows import SeveralClasses

    if probs is None:
        if (classes, on_sum, view, one_class) != (None, OnSum.ERROR, ViewName.CONFIDENCE, None):
            msg = "--classes, --class, --view and --on-sum speak of several classes, and --probs names none"
            idle = ("classes", "class", "view", "on-sum")
            raise IdleOption(msg, "name their columns, such as --probs 'p_*'", options=idle)
        return None
    names = None if classes is None else tuple(name.strip() for name in classes.split(","))
    return SeveralClasses(probs, names, on_sum, view, one_class)


def only_probs(named: list[str] | None) -> str | None:
    """
    Return the columns of several classes, named once.

    Raises:
        UsageProblem: If two sets of columns are named.
    """
    from calibcli.errors import UsageProblem

    if named and len(named) > 1:
        msg = f"--probs {named[0]} and --probs {named[1]}: two sets of classes are not compared"
        raise UsageProblem(msg, "compare one set with --artifact CAL.json, or two artifacts on it")
    return named[0] if named else None


def refuse_prior(prior: float | None) -> None:
    """
    Refuse a base rate for several classes.

    Raises:
        UsageProblem: If one was given.
    """
    from calibcli.errors import UsageProblem

    if prior is not None:
        msg = "--prior is the base rate of one label, and the map was fitted to several classes"
        raise UsageProblem(msg, "leave it out, or fit again on rows of the population meant")
