"""calibcli.drift"""

from calibcli.errors import UsageProblem
from calibcli.options.rows import DRIFTED_BY, DRIFTED_ON, Columns, Reading
from calibcli.options.segmenting import DriftOptions
from calibcli.python.door import function
from calibcli.python.results import Drifted
from calibcli.python.rows import Inputs


@function(
    "score by on sort bins max_values categorical numeric confidence weight weights_are scale score_map "
    "on_missing on_range *rows seed *format *reading",
    both=("old", "new"),
    rows="Rows | None",
    by=DRIFTED_BY,
    on=DRIFTED_ON,
)
def drift(old: Inputs, new: Inputs, columns: Columns, options: DriftOptions, reading: Reading) -> Drifted:
    """
    Say whether scores, and further columns, have shifted from old rows to new ones, as `calibcli drift` does.

    Args:
        old: A frame, a path, or scores of shape (n,): the rows that others are compared with.
        new: The same of the rows that may have shifted; none for the groups of the old ones.

    Returns:
        The population stability index of each column: `found.psi`, `found.p_value`, `found.shifted`,
        `found["country"].levels`.

    Raises:
        UsageProblem: If weights are not frequencies, or an input is several files.
        InputProblem: If a column is not there, or a value is missing or out of range.
    """
    from calibcli.commands.drift import drift_files

    if len(old) != 1 or len(new) > 1:
        msg = "old and new rows are one path each"
        raise UsageProblem(msg, "name a folder, or a pattern such as 'jan/*.csv'")
    return Drifted(drift_files(old[0], new[0] if new else None, columns, options=options, reading=reading))
