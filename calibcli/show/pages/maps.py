"""The pages of what makes, applies and looks into maps: `fit`, `apply` and `inspect`."""

import math
from collections.abc import Sequence
from operator import attrgetter

from calibcli.errors import any_of
from calibcli.names import FitLoss, RecalibratorName
from calibcli.options.numerals import plural
from calibcli.reports.input import pooled_words
from calibcli.reports.maps import (
    ApplyReport,
    ClassesApplied,
    ClassFitReport,
    FitReport,
    FolderApplyReport,
    GroupFit,
    InspectReport,
)
from calibcli.show.answers import answer_of
from calibcli.show.blocks import Block, Cells, Column, Grid, Line, Listing, Page, Tone, grid_of, paragraph
from calibcli.show.pages import (
    clipped_lines,
    file_words,
    loss_words,
    note_lines,
    repair_lines,
    row_sum_lines,
    source_line,
)
from calibcli.show.words import between, count, four, listed, quoted, share
from calibcli.stats.recalibrators.segments import SegmentMap, StrengthTrial
from calibcli.stats.recalibrators.selection import CHEAP, NOTHING_CHANGED, RAW, Selection, Trial

_INFINITE = "infinite: gives 0 or 1 to rows that may have the other label"
_INDEPENDENT = "Rows are taken as independent: if several are of one person or day, "
_GROUP = f"{_INDEPENDENT}name that column with --group."
# Where there is no --group.
_TOO_LOW = f"{_INDEPENDENT}these losses are too low for others."
_PAIRED = "Standard errors are of the difference to the best method, paired by fold."

_RULE = (
    "Chosen: the simplest method whose loss exceeds the best by at most one standard error. "
    f"The raw score counts as simplest, unless {any_of(*CHEAP)} beats it by more than half a standard error: "
    "then only what beats it is chosen."
)


_PENALTY = (
    "Chosen: the strongest penalty whose loss exceeds the best by at most half a standard error. Scores stay "
    "raw unless it beats them by more than one standard error."
)


def fit_page(report: FitReport) -> Page:
    where = "standard output" if report.output is None else quoted(report.output)
    positive = f"{count(report.positive)} positive ({share(report.positive, report.rows)})"
    outputs = "many values" if report.outputs is None else plural(report.outputs, "distinct value")
    facts = (
        ("from", source_line(report.input)),
        ("rows", f"{count(report.rows)}, {positive}"),
        ("loss", loss_words(report.loss, report.loss_before, report.loss_after)),
        ("outputs", outputs),
    )
    if report.segments is not None:
        facts = (*facts[:-1], ("segments", _segments(report.segments)))
    noted = tuple(note for note in report.notes if report.answer is None or note != NOTHING_CHANGED)
    notes = [*repair_lines(report.input), *note_lines(noted)]
    by = "" if report.by is None else f" by {quoted(report.by)}"
    methods = dict.fromkeys((report.method, *(one.method for one in report.groups if one.method is not None)))
    title = [Line(f"fitted {listed(methods)}{by}, written to {where}", Tone.TITLE)]
    title += [Line(one) for one in answer_of(report)]
    trials = () if report.selection is None else (_trials(report.selection, by=bool(by)),)
    trials = trials if report.segments is None else (_strengths(report.segments),)
    groups = (_groups(report),) if report.groups else ()
    return (paragraph(*title), Listing(facts), *trials, *groups, *([paragraph(*notes)] if notes else []))


def _segments(found: SegmentMap) -> str:
    size = sum(len(term.coefficients) for term in found.terms)
    columns = listed([quoted(one.name) for one in found.columns])
    return f"{plural(size, 'coefficient')} for values of {columns} and their intersections"


def _strengths(found: SegmentMap) -> Grid:
    cells: Cells[StrengthTrial] = {
        "penalty": lambda one: _strength(one.strength),
        "log loss": lambda one: four(one.loss),
        "above best": lambda one: f"{one.difference:.3g}",
        "standard error": lambda one: "" if one.standard_error is None else f"{one.standard_error:.2g}",
        "": lambda one: _INFINITE if one.loss == math.inf else "chosen" if one.chosen else "",
    }
    said = f"Mean log loss of rows left out, {plural(found.folds, 'fold')}; new rows may gain less, or lose."
    return grid_of(found.trials, cells, (said, _TOO_LOW, _PAIRED, _PENALTY))


def _strength(strength: float | None) -> str:
    if strength is None:
        return "raw scores"
    return "one curve for all rows" if math.isinf(strength) else f"{strength:g}"


def _groups(report: FitReport) -> Grid:
    cells: Cells[GroupFit] = {
        Column(report.by or "", own=True): lambda one: quoted(one.key),
        Column("rows", numeric=True): lambda one: count(one.rows),
        "loss before": lambda one: "" if one.loss_before is None else four(one.loss_before),
        "after": lambda one: "" if one.loss_after is None else four(one.loss_after),
        "map": _map_of,
    }
    return grid_of(report.groups, cells)


def _map_of(group: GroupFit) -> str:
    if group.reason is not None:
        return f"that of all rows: {group.reason}"
    return "none: the raw score is as good" if group.method is RecalibratorName.IDENTITY else "its own"


def _trials(selection: Selection, *, by: bool) -> Grid:
    """Return what cross-validation found, from simple to complex."""
    loss = "squared error" if selection.loss is FitLoss.BRIER else "log loss"
    cells: Cells[Trial] = {
        "method": lambda one: one.method,
        loss: lambda one: "" if one.loss is None else four(one.loss),
        "above best": lambda one: "" if one.difference is None else f"{one.difference:.3g}",
        "standard error": lambda one: "" if one.standard_error is None else f"{one.standard_error:.2g}",
        "": _remark,
    }
    how = f"drawn with seed {selection.seed}"
    if selection.grouped_by is not None:
        how = f"by the hash of column {quoted(selection.grouped_by)}"
    folds = f"{plural(selection.folds, 'fold')} {how}{', one map for all groups' if by else ''}"
    said = f"Mean {loss} of rows that the fit had not seen, {folds}."
    apart = () if selection.grouped_by is not None else (_TOO_LOW if by else _GROUP,)
    return grid_of(selection.trials, cells, (said, *apart, _PAIRED, _RULE))


def _remark(trial: Trial) -> str:
    if trial.reason is not None:
        return f"not available: {trial.reason}"
    if trial.loss == math.inf:
        return _INFINITE
    if trial.chosen:
        return "chosen: identity" if trial.method == RAW else "chosen"
    return ""


def fit_classes_page(report: ClassFitReport) -> Page:
    where = "standard output" if report.output is None else quoted(report.output)
    method = report.method.value if report.inner is None else f"{report.method.value} of {report.inner}"
    facts = (
        ("from", source_line(report.input)),
        ("rows", f"{count(report.rows)} of {count(len(report.classes))} classes"),
        ("loss", loss_words("log loss", report.loss_before, report.loss_after)),
        ("accuracy", f"{four(report.accuracy_before)} before, {four(report.accuracy_after)} after"),
    )
    notes = [*repair_lines(report.input), *note_lines(report.notes)]
    title = Line(f"fitted {method}, written to {where}", Tone.TITLE)
    return (paragraph(title, *answer_of(report)), Listing(facts), *([paragraph(*notes)] if notes else []))


# Of so many columns and files it is said why rows have no probability.
_MOST_GAPS = 20
# More new columns than these are not all named.
_MOST_NAMES = 6


def apply_page(report: ApplyReport) -> Page:
    where = "standard output" if report.output == "-" else quoted(report.output)
    what = "score" if report.classes is None else "probs"
    source = ("from", f"{file_words(report.files)}  {what}={quoted(report.score)}")
    title = f"added {_column_words(report.columns)}, written to {where}"
    notes = _applied_lines(report, report.gaps, report.notes)
    return _page_of(title, (source, *_applied_facts(report)), notes)


def _applied_facts(report: ApplyReport) -> list[tuple[str, str]]:
    classes = report.classes
    of = "" if classes is None else f" of {count(len(classes.names))} classes"
    facts = [("rows", f"{count(report.rows)}{of}, as many as were read")]
    if report.lowest is not None and report.highest is not None:
        facts.append(("values", between(report.lowest, report.highest)))
    if report.prior is not None:
        rates = f"from {four(report.fitted_rate)} in the fit rows to {four(report.prior)}"
        facts.append(
            ("base rate", f"{rates}; assumes that the scores of each label are distributed as there")
        )
    if classes is not None:
        facts.append(("prediction", _applied_prediction(classes)))
    return facts


def _applied_lines(report: ApplyReport, gaps: Sequence[str], notes: tuple[str, ...]) -> list[Line]:
    pooled = (pooled_words(report.pooled_rows, report.pooled_groups),) if report.pooled_rows else ()
    return [
        *_without_probability(report.without_score, gaps),
        *clipped_lines(report.clipped),
        *note_lines(pooled),
        *([] if report.classes is None else row_sum_lines(report.classes)),
        *note_lines(notes),
    ]


def _page_of(title: str, facts: Sequence[tuple[str, str]], notes: Sequence[Line]) -> Page:
    top = paragraph(Line(title, Tone.TITLE))
    return (top, Listing(tuple(facts)), *([paragraph(*notes)] if notes else []))


def _without_probability(rows: int, gaps: Sequence[str]) -> list[Line]:
    if not rows:
        return []
    said = f"{plural(rows, 'row')} got no probability, as requested:"
    return [Line(said, Tone.NOTE), *(Line(f"  {one}", Tone.NOTE) for one in gaps)]


def _gaps_by_file(report: FolderApplyReport) -> list[str]:
    """Return what keeps rows from having a probability, file by file."""
    found = [f"{quoted(part.files[0])}, {gap}" for part in report.parts for gap in part.gaps]
    more = len(found) - _MOST_GAPS
    return [*found[:_MOST_GAPS], *([f"and {plural(more, 'more column')} of files"] if more > 0 else [])]


def _notes_by_file(report: FolderApplyReport) -> tuple[str, ...]:
    """Return what is said of all files, each sentence once, and with their names what is said of some."""
    files: dict[str, list[str]] = {}
    for part in report.parts:
        for note in part.notes:
            files.setdefault(note, []).extend(part.files)
    # Some name their file already.
    named = (
        one
        if len(names) == len(report.parts) or one.startswith((f"{names[0]}, ", f"{names[0]}: "))
        else f"{file_words(tuple(names))}: {one}"
        for one, names in files.items()
    )
    return tuple(dict.fromkeys((*report.found, *named)))


def _column_words(columns: tuple[str, ...]) -> str:
    names = [quoted(name) for name in columns]
    if len(names) <= _MOST_NAMES:
        return f"column{'s' * (len(names) != 1)} {listed(names)}"
    return f"{count(len(names))} columns, {', '.join(names[:2])} ... {listed(names[-2:])}"


def _applied_prediction(classes: ClassesApplied) -> str:
    if classes.keeps_prediction:
        return f"the same as before: {classes.method.value} keeps the predicted class of every row"
    return f"{plural(classes.changed, 'row', 'has')} another predicted class"


def apply_folder_page(report: FolderApplyReport) -> Page:
    below = f"below {quoted(report.folder)}"
    skipped = [("skipped", f"{count(len(report.skipped))} whose outputs were there already")]
    skipped = skipped if report.skipped else []
    if not report.parts:
        return _page_of(f"nothing left to do {below}", skipped, note_lines(report.found))
    total = report.total
    names = [quoted(name) for name in total.columns]
    columns = listed(names) if len(names) <= _MOST_NAMES else f"{count(len(names))} columns"
    title = f"added {columns} to {plural(len(report.parts), 'file')}, written {below}"
    notes = _applied_lines(total, _gaps_by_file(report), _notes_by_file(report))
    return _page_of(title, (*_applied_facts(total), *skipped), notes)


# A table takes much longer to lay out than to read; those that have a role are always among them.
_MOST_LISTED = 1_000


def inspect_page(report: InspectReport) -> Page:
    title = f"{quoted(report.path)}  {report.kind}" if report.path else report.kind
    blocks: list[Block] = [paragraph(Line(title, Tone.TITLE))]
    if report.facts:
        blocks.append(Listing(report.facts))
    if report.columns:
        shown = [one for k, one in enumerate(report.columns) if k < _MOST_LISTED or one.role]
        more = len(report.columns) - len(shown)
        notes = (Line(f"{plural(more, 'more column')}; --json lists all."),) if more else ()
        names = {"column": "name", "type": "kind", "taken for": "role"}
        blocks.append(grid_of(shown, {title: attrgetter(name) for title, name in names.items()}, notes))
    if report.suggestion is not None:
        blocks.append(Listing((("next", report.suggestion),)))
    return tuple(blocks)
