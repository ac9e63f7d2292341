"""Which values a view of recalibrated rows takes, where they are few enough to be judged one by one."""

from calibcli.recalibrators.classes.interface import ClassRecalibrator
from calibcli.recalibrators.classes.one_vs_rest import OneVsRest
from calibcli.recalibrators.classes.top_label import TopLabel
from calibcli.recalibrators.interface import values_of
from calibcli.view_names import OutputSum, ViewName


def outputs_of(
    recalibrator: ClassRecalibrator, classes: tuple[str, ...], *, view: ViewName, one_class: str | None
) -> tuple[float, ...] | None:
    """
    Return every score that a view of recalibrated rows can have, ascending; None where they form a continuum.

    The largest probability is one of the outputs of the maps where no row can change its predicted class; a
    class's own probability where rows are not divided by their sums.

    Args:
        recalibrator: The map.

        classes: What the classes are called, in its order.

        view: How rows are seen.

        one_class: The class that is looked at, or None for all.
    """
    match recalibrator:
        case TopLabel() if view is not ViewName.ONE_VS_REST and recalibrator.keeps_prediction:
            if one_class is None or view is ViewName.CONFIDENCE:
                return recalibrator.members.values
            bins = recalibrator.members.of(classes.index(one_class)).bins
        case OneVsRest(output_sum=OutputSum.FREE) if view is ViewName.ONE_VS_REST and one_class is not None:
            bins = recalibrator.members.of(classes.index(one_class)).bins
        case _:
            return None
    return values_of(bins)
