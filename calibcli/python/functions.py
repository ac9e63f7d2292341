"""The functions of `import calibcli` whose keywords are the options of the commands of the same names."""

from typing import TYPE_CHECKING, Any

from calibcli.errors import IdleOption, UsageProblem
from calibcli.options.fitting import FitOptions, MapOptions
from calibcli.options.gating import StateOptions, VerifyOptions
from calibcli.options.measuring import CompareOptions, MeasureOptions
from calibcli.options.output import Artifacts, Output
from calibcli.options.pictures import Kind, PictureOptions, PicturePath
from calibcli.options.rows import ClassOptions, RowRequest
from calibcli.options.segmenting import DriftOptions, FitCutting, Segmenting, SegmentOptions
from calibcli.python.documents import plotted_document, scores_of
from calibcli.python.door import function
from calibcli.python.results import Compared, Drifted, Measured, Ranked, Segmented, Verified
from calibcli.python.rows import Inputs
from calibcli.reports.compare import CompareReport
from calibcli.values import replace

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from calibcli.python.recalibrator import Recalibrator


@function(
    "score label method by on *FitCutting probs classes on_sum *MapOptions group *FitOptions seed *values "
    "*RowSelection *InputFormat *Reading allow_edited"
)
def fit(rows: RowRequest, which: MapOptions, options: FitOptions, cutting: FitCutting) -> "Recalibrator":
    """Fit a recalibrator to labelled predictions, as `calibcli fit` does.

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
    from calibcli.python.recalibrator import Recalibrator

    report, text = fit_map(rows, which, options, cutting)
    name = f"{report.method.value} map{' by group' if rows.columns.by else ''}"
    return Recalibrator(artifact_of_text(text), name, report)


@function(
    "score label artifact *ClassOptions metric threshold by *MeasureOptions seed cluster *values unseen "
    "*RowSelection *InputFormat *Reading allow_edited"
)
def measure(rows: RowRequest, options: MeasureOptions) -> Measured:
    """Measure miscalibration, each number with bounds that hold, as `calibcli measure` does.

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

    if options.beside_raw and rows.artifact is None:
        msg = "raw=True without an artifact: no other scores are measured"
        raise IdleOption(msg, "leave it out, or name the artifact", options=("raw",))
    return Measured(measure_files(rows, options=options))


@function(
    "score label *ClassOptions *Limits artifact by *VerifyOptions on *Cutting *Segmenting *Regression "
    "row_id *StateOptions *values unseen *RowSelection *InputFormat *Reading state_key_file allow_edited",
    rows="Rows | None",
)
def verify(rows: RowRequest, options: VerifyOptions, state: StateOptions | None) -> Verified:
    """Gate on the calibration error, as `calibcli verify` does; a gate that fails is a value, not an
    exception.

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

    if not rows.inputs and state is None:
        msg = "no rows, and no state that holds some"
        raise UsageProblem(msg, "pass scores and labels, a frame, or paths")
    return Verified(judge_rows(rows, options, state))


def _each_a_score(given: dict[str, Any]) -> None:
    given["score"] = scores_of(given)


@function(
    "score label *ClassOptions artifact metric reference by row_id cluster *CompareOptions *values "
    "*RowSelection *InputFormat *Reading allow_edited",
    before=_each_a_score,
)
def compare(rows: RowRequest, options: CompareOptions, artifact: Artifacts = None) -> Compared | Ranked:
    """Compare two models on the same rows, as `calibcli compare` does: differences with intervals, row by
    row.

    The first score or artifact is the baseline; with one artifact, the raw score is. Intervals assume
    independent rows that neither model was trained on.

    Args:
        rows: A frame, a mapping of names to scores, or paths; scores of shape (n,) or probabilities of
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

    report = compare_files(rows, artifacts=artifact or (), options=options)
    return Compared(report) if isinstance(report, CompareReport) else Ranked(report)


@function(
    "score label on artifact *ClassOptions *Cutting *SegmentOptions *values unseen *RowSelection "
    "*InputFormat *Reading allow_edited"
)
def segments(rows: RowRequest, options: SegmentOptions) -> Segmented:
    """Find the segments of the rows in which scores are wrong, as `calibcli segments` does.

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

    return Segmented(segments_files(rows, options=options))


@function(
    "score by on max_values categorical numeric *DriftOptions weight weights_are scale score_map on_missing "
    "on_range *RowSelection seed *InputFormat *Reading",
    both=("old", "new"),
    rows="Rows | None",
)
def drift(old: Inputs, new: Inputs, rows: RowRequest, options: DriftOptions) -> Drifted:
    """Say whether scores, and further columns, have shifted from old rows to new ones, as `calibcli drift`
    does.

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
    return Drifted(drift_files(replace(rows, inputs=(*old, *new)), options))


def _as_document(given: dict[str, Any]) -> None:
    given["rows"] = plotted_document(given["rows"]) or given["rows"]


@function(
    "path score label *ClassOptions kind artifact by min_group_rows sort on *Cutting *Segmenting "
    "*PictureOptions threshold smoother bins binning confidence seed *values *RowSelection *InputFormat "
    "*Reading force allow_edited",
    rows="Rows | Measured | SavedReport | Recalibrator",
    before=_as_document,
)
def plot(
    rows: RowRequest,
    classes: ClassOptions,
    segments: Segmenting,
    options: MeasureOptions,
    picture: PictureOptions,
    out: Output,
    path: PicturePath = None,
    kind: Kind = None,
) -> "Figure":
    """Draw a reliability diagram with the error in it, or another diagram, as `calibcli plot` does.

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

    request = PlotRequest.of(rows, classes, segments, options, picture, kind)
    return drawn_figure(request, path, force=out.force)
