"""calibcli.verify"""

from calibcli.errors import UsageProblem
from calibcli.options.gating import StateOptions, VerifyOptions
from calibcli.options.output import Artifact
from calibcli.options.rows import JUDGED_BY, JUDGED_ON, Columns, Reading, RowRequest
from calibcli.python.door import function
from calibcli.python.results import Verified
from calibcli.python.rows import Inputs


@function(
    "score label *classes max_ece max_l2 max_linf max_smece max_dce max_segment_bias rule artifact "
    "confidence bins binning min_rows inconclusive by min_group_rows sort on depth max_values categorical "
    "numeric min_segment_rows baseline baseline_score max_regression regression_metric state batch row_id "
    "planned_rows alarm allow_fit_rows *values unseen *rows seed *format *reading state_key_file "
    "allow_edited",
    rows="Rows | None",
    by=JUDGED_BY,
    on=JUDGED_ON,
)
def verify(
    inputs: Inputs,
    columns: Columns,
    options: VerifyOptions,
    state: StateOptions | None,
    reading: Reading,
    artifact: Artifact = None,
) -> Verified:
    """
    Gate on the calibration error, as `calibcli verify` does; a gate that fails is a value, not an exception.

    PASS if the error is shown to be at most the limit, FAIL if above, INCONCLUSIVE if the rows cannot tell;
    each wrong verdict has a probability of at most 1 - `confidence`, if rows are independent and none of them
    trained, chose or calibrated anything. Of several rules, and of groups or classes, all must pass. What
    each gate rests on is in `docs/gate.md`.

    Args:
        rows: As for `measure`; None for what a `state` holds.
        labels: Beside arrays, shape (n,): as for `measure`.

    Returns:
        The verdict: `.passed`, `.status`, `.rules`.

    Raises:
        UsageProblem: If there is no rule, or one for which such a score has no bound.
        InputProblem: If something is wrong with a value, or the rows are those the artifact was fitted on.
    """
    from calibcli.commands.verify import judge_rows

    if not inputs and state is None:
        msg = "no rows, and no state that holds some"
        raise UsageProblem(msg, "pass scores and labels, a frame, or paths")
    return Verified(judge_rows(RowRequest(inputs, columns, artifact, reading), options, state))
