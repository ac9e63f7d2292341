"""calibcli.measure"""

from calibcli.options.measuring import MeasureOptions
from calibcli.options.output import Artifact
from calibcli.options.rows import SEVERAL_SCORES, Columns, Reading, RowRequest
from calibcli.python.door import function
from calibcli.python.results import Measured
from calibcli.python.rows import Inputs


@function(
    "score label artifact *classes metric threshold power bandwidth class_weights by min_group_rows sort "
    "cluster bins binning edges bounds confidence seed *values unseen *rows raw *format *reading "
    "allow_edited",
    score=SEVERAL_SCORES,
)
def measure(
    inputs: Inputs,
    columns: Columns,
    options: MeasureOptions,
    reading: Reading,
    artifact: Artifact = None,
) -> Measured:
    """
    Measure miscalibration, each number with bounds that hold, as `calibcli measure` does.

    The same rows give the same bits as in the command, whatever holds them. What each measure estimates,
    under which assumptions its interval holds, and from which paper it is, stands in `docs/methods.md` and in
    the estimate's own `assumptions`; the first of them is mostly that rows are independent.

    Args:
        rows: Scores, shape (n,), with `labels` beside them; probabilities of several classes, shape (n, K);
            a frame of pandas, polars or Arrow, a mapping of names to arrays, or anything with
            `__arrow_c_stream__`; or one path or several, as the command takes them.
        labels: Beside arrays: 0 and 1, booleans, or any values with `positive`, shape (n,). For several
            classes their names, or their places counted from 0.

    Returns:
        The measures, by name: `report.ece.value`, `report["ece"].interval.upper`.

    Raises:
        UsageProblem: If the request cannot be what was meant.
        InputProblem: If something is wrong with a file, a column or a value: what, where, and how many.
        EmptyTable: If no row is left.
    """
    from calibcli.commands.measure import measure_files

    return Measured(measure_files(RowRequest(inputs, columns, artifact, reading), options=options))
