"""calibcli.plot"""

from typing import TYPE_CHECKING, Any

from calibcli.options.measuring import PLOTTED_THRESHOLDS, MeasureOptions
from calibcli.options.output import Artifact, Output
from calibcli.options.pictures import Kind, PictureOptions, PicturePath
from calibcli.options.rows import (
    PLOTTED_BY,
    PLOTTED_ON,
    PLOTTED_SCORES,
    ClassOptions,
    Columns,
    Reading,
    RowRequest,
)
from calibcli.options.segmenting import Segmenting
from calibcli.python.documents import plotted_document
from calibcli.python.door import function
from calibcli.python.rows import Inputs

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def _as_document(given: dict[str, Any]) -> None:
    given["rows"] = plotted_document(given["rows"]) or given["rows"]


@function(
    "path score label *classes kind artifact by min_group_rows sort on depth max_values categorical numeric "
    "min_segment_rows size theme axis attributes band benefit threshold smoother loss title bins binning "
    "confidence seed *values *rows *format *reading force allow_edited",
    rows="Rows | Measured | SavedReport | Recalibrator",
    before=_as_document,
    score=PLOTTED_SCORES,
    by=PLOTTED_BY,
    on=PLOTTED_ON,
    threshold=PLOTTED_THRESHOLDS,
)
def plot(
    inputs: Inputs,
    columns: Columns,
    classes: ClassOptions,
    segments: Segmenting,
    options: MeasureOptions,
    picture: PictureOptions,
    reading: Reading,
    out: Output,
    path: PicturePath = None,
    kind: Kind = None,
    artifact: Artifact = None,
) -> "Figure":
    """
    Draw a reliability diagram with the error in it, or another diagram, as `calibcli plot` does.

    What each diagram shows, its bands and what they assume is in `docs/pictures.md`.

    Args:
        rows: As for `measure`; or what `measure`, `fit` or `load` returned, a report on file, or the state of
            a gate, of which nothing is measured again.
        labels: Beside arrays, shape (n,): as for `measure`.

    Returns:
        A matplotlib `Figure` that pyplot knows nothing of; a notebook shows it, `.savefig` writes it.

    Raises:
        UsageProblem: If there is nothing to draw, or something was asked that would have no effect.
        InputProblem: If something is wrong with a column or a value.
        OutputProblem: If `path` exists or cannot be written.
    """
    from calibcli.commands.page import drawn_figure
    from calibcli.commands.pictures.diagram import PlotRequest

    rows = RowRequest(inputs, columns, artifact, reading)
    request = PlotRequest.of(rows, classes, segments, options, picture, kind)
    return drawn_figure(request, path, force=out.force)
