"""calibcli.segments"""

from calibcli.options.output import Artifact, Inputs
from calibcli.options.rows import SEGMENTED_SCORES, Columns, Reading, RowRequest
from calibcli.options.segmenting import SegmentOptions
from calibcli.python.door import function
from calibcli.python.results import Segmented


@function(
    "score label on artifact *classes depth max_values min_rows categorical numeric confidence *values "
    "unseen *rows seed *format *reading allow_edited",
    score=SEGMENTED_SCORES,
)
def segments(
    inputs: Inputs,
    columns: Columns,
    options: SegmentOptions,
    reading: Reading,
    artifact: Artifact = None,
) -> Segmented:
    """
    Find the segments of the rows in which scores are wrong, as `calibcli segments` does.

    Segments are the intersections of the values of some columns. Which there are never depends on a label;
    what is said of them holds for all of them at once.

    Args:
        rows: A frame, paths, or scores of shape (n,): as for `measure`.
        labels: Beside arrays, shape (n,): as for `measure`.

    Returns:
        The segments, those that stand out first: `found.segments[0].where`, `found.mce_p`.

    Raises:
        UsageProblem: If no column is named, or they make more segments than can be told.
        InputProblem: If something is wrong with a column or a value.
    """
    from calibcli.commands.segments import segments_files

    return Segmented(segments_files(RowRequest(inputs, columns, artifact, reading), options=options))
