"""What reading several classes found, as reports state it."""

from calibcli.readers.columns import ChosenColumns
from calibcli.readers.faults import Findings
from calibcli.reports.input import ClassesRead


def classes_read(chosen: ChosenColumns, findings: Findings) -> ClassesRead | None:
    """
    Return how several classes were seen, or None where there is one score.

    Args:
        chosen: The columns.

        findings: What was found in them.
    """
    several = chosen.asked.several
    if several is None:
        return None
    return ClassesRead(
        len(chosen.classes),
        several.view,
        several.one_class,
        findings.tied,
        findings.normalised,
        findings.elsewhere,
    )
