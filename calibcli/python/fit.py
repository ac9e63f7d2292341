"""calibcli.fit"""

from calibcli.options.fitting import FitOptions, MapOptions
from calibcli.options.rows import FITTED_BY, FITTED_ON, Columns, Reading, RowRequest
from calibcli.options.segmenting import FitCutting
from calibcli.python.door import function
from calibcli.python.recalibrator import Recalibrator
from calibcli.python.rows import Inputs


@function(
    "score label method on depth max_values categorical numeric probs classes multiclass min_class_rows "
    "output_sum on_sum candidate group bins "
    "binning split base beta_form folds randomised loss smooth_targets step seed *values by "
    "min_group_rows *rows *format *reading allow_edited",
    by=FITTED_BY,
    on=FITTED_ON,
)
def fit(
    inputs: Inputs,
    columns: Columns,
    which: MapOptions,
    options: FitOptions,
    cutting: FitCutting,
    reading: Reading,
) -> Recalibrator:
    """
    Fit a recalibrator to labelled predictions, as `calibcli fit` does.

    The same rows give the same artifact, byte for byte, whatever holds them. Fit on rows that trained nothing
    before, and measure on others. Every method, with its paper and what it assumes, is in `docs/methods.md`.

    Args:
        rows: Scores, shape (n,), or probabilities of several classes, shape (n, K), with `labels` beside
            them; a frame; or one path or several: as for `measure`.
        labels: Beside arrays, shape (n,): as for `measure`.

    Returns:
        The map: `.predict(scores)`, `.save("cal.json")`, `.report`.

    Raises:
        UsageProblem: If the request cannot be what was meant.
        InputProblem: If the rows cannot be read or fitted.
        NotConverged: If the optimum does not exist or is out of reach.
    """
    from calibcli.commands.fit import fit_map
    from calibcli.documents.artifact import artifact_of_text

    report, text = fit_map(RowRequest(inputs, columns, reading=reading), which, options, cutting=cutting)
    name = f"{report.method.value} map{' by group' if columns.by else ''}"
    return Recalibrator(artifact_of_text(text), name, report)
