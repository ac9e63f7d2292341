"""calibcli.compare"""

from typing import Any

from calibcli.options.comparing import CompareOptions
from calibcli.options.output import Artifacts
from calibcli.options.rows import (
    COMPARED_BY,
    COMPARED_MISSING,
    QUESTION,
    TWO_SCORES,
    Columns,
    Reading,
    RowRequest,
)
from calibcli.python.documents import pair_of
from calibcli.python.door import function
from calibcli.python.results import Compared, Ranked
from calibcli.python.rows import Inputs
from calibcli.reports.compare import CompareReport


def _two(given: dict[str, Any]) -> None:
    given["score"] = pair_of(given["rows"], given["labels"], score=given["score"], probs=given["probs"])


@function(
    "score label *classes artifact metric reference pairs by row_id cluster fail_if_worse allow_fit_rows "
    "bins binning confidence *values *rows seed *format *reading allow_edited",
    before=_two,
    score=TWO_SCORES,
    by=COMPARED_BY,
    row_id=QUESTION,
    on_missing=COMPARED_MISSING,
)
def compare(
    inputs: Inputs,
    columns: Columns,
    options: CompareOptions,
    reading: Reading,
    artifact: Artifacts = None,
) -> Compared | Ranked:
    """
    Compare two models on the same rows, as `calibcli compare` does: differences with intervals, row by row.

    The first score or artifact is the baseline; with one artifact, the raw score is. Intervals assume
    independent rows that neither model was trained on.

    Args:
        rows: A frame, a mapping of two names to scores, or paths; scores of shape (n,) or probabilities of
            shape (n, K) with an artifact: as for `measure`.
        labels: Beside arrays, shape (n,): as for `measure`.

    Returns:
        The comparison of two, by measure: `found["brier"].difference.interval`; of more, of models, or beside
        a reference a leaderboard: `found["brier"].standings`.

    Raises:
        UsageProblem: If there are not two things to compare.
        InputProblem: If something is wrong with a column or a value.
    """
    from calibcli.commands.compare import compare_files

    rows = RowRequest(inputs, columns, reading=reading)
    report = compare_files(rows, artifacts=artifact or (), options=options)
    return Compared(report) if isinstance(report, CompareReport) else Ranked(report)
