"""The page of `fit`: what was fitted, on what, and what it did."""

import math

from calibcli.names import FitLoss
from calibcli.recalibrators.selection import Selection, Trial
from calibcli.render.blocks import Column, Grid, Line, Listing, Page, Tone, paragraph
from calibcli.render.pages.header import loss_words, note_lines, repair_lines, source_line
from calibcli.render.words import count, four, plural, quoted, share
from calibcli.reports.fit import FitReport

_PAIRED = "The standard error is that of the difference to the best, fold by fold."
_RULE = "Chosen: the simplest method whose loss exceeds the best by at most one standard error."


def fit_page(report: FitReport) -> Page:
    """Return the summary of a fit."""
    where = "standard output" if report.output is None else quoted(report.output)
    positive = f"{count(report.positive)} positive ({share(report.positive, report.rows)})"
    outputs = "many values" if report.outputs is None else plural(report.outputs, "distinct value")
    facts = (
        ("from", source_line(report.input)),
        ("rows", f"{count(report.rows)}, {positive}"),
        ("loss", loss_words(report.loss, report.loss_before, report.loss_after)),
        ("outputs", outputs),
    )
    notes = [*repair_lines(report.input), *note_lines(report.notes)]
    by = "" if report.by is None else f" by {quoted(report.by)}"
    title = paragraph(Line(f"fitted {report.method.value}{by}, written to {where}", Tone.TITLE))
    trials = () if report.selection is None else (_trials(report.selection),)
    groups = (_groups(report),) if report.groups else ()
    return (title, Listing(facts), *trials, *groups, *([paragraph(*notes)] if notes else []))


def _groups(report: FitReport) -> Grid:
    """Return what became of each group."""
    columns = (
        Column(report.by or ""),
        Column("rows", numeric=True),
        Column("loss before"),
        Column("after"),
        Column("map"),
    )
    rows = tuple(
        (
            quoted(one.key),
            count(one.rows),
            "" if one.loss_before is None else four(one.loss_before),
            "" if one.loss_after is None else four(one.loss_after),
            "its own" if one.reason is None else f"that of all rows: {one.reason}",
        )
        for one in report.groups
    )
    return Grid(columns, rows)


def _trials(selection: Selection) -> Grid:
    """Return what cross-validation found, from simple to complex."""
    loss = "squared error" if selection.loss is FitLoss.BRIER else "log loss"
    columns = (Column("method"), Column(loss), Column("above best"), Column("standard error"), Column(""))
    rows = tuple(
        (
            trial.method,
            "" if trial.loss is None else four(trial.loss),
            _above(trial),
            "" if trial.standard_error is None else f"{trial.standard_error:.2g}",
            _remark(trial),
        )
        for trial in selection.trials
    )
    how = f"drawn with seed {selection.seed}"
    if selection.grouped_by is not None:
        how = f"by the hash of column {quoted(selection.grouped_by)}"
    said = f"Mean {loss} of rows that the fit had not seen, {plural(selection.folds, 'fold')} {how}."
    return Grid(columns, rows, tuple(Line(text, Tone.FAINT) for text in (said, _PAIRED, _RULE)))


def _above(trial: Trial) -> str:
    if trial.difference is None:
        return ""
    return f"{trial.difference:.3g}"


def _remark(trial: Trial) -> str:
    if trial.reason is not None:
        return f"not available: {trial.reason}"
    if trial.loss == math.inf:
        return "gave 0 or 1 to rows where that was wrong"
    return "chosen" if trial.chosen else ""
