"""Several scores of the same rows side by side, or one score raw and recalibrated."""

from collections.abc import Sequence
from dataclasses import replace

from calibcli.codec import Node
from calibcli.curves.panels import CurvePanels
from calibcli.errors import UsageProblem
from calibcli.measures.paired import PAIRED, Difference
from calibcli.names import MeasureName
from calibcli.options.comparing import CompareOptions
from calibcli.options.measuring import MeasureOptions
from calibcli.options.metrics import Metrics
from calibcli.picture_names import PlotKind
from calibcli.readers.beside import Beside
from calibcli.reports.measure import MeasureReport
from calibcli.table.bins import looks_discrete
from calibcli.tasks.gather import RAW
from calibcli.tasks.judged import RECALIBRATED, Judged, read_judged
from calibcli.tasks.one_table import measure_table
from calibcli.tasks.pictures.class_words import class_words_of_tree
from calibcli.tasks.pictures.diagram import Diagram, Drawn, PlotRequest, fit_rows_foot, rows_line
from calibcli.tasks.pictures.panels import (
    WORDS,
    Part,
    Stated,
    brief,
    of_report,
    panel_of,
    title_of_tree,
    wordings,
)
from calibcli.tasks.slices import View, beside_of, differences_to, views_of

MOST = 6
_RAW, _THROUGH = "raw", "recalibrated"


def compare_diagram(request: PlotRequest) -> Diagram:
    """
    Measure scores of the same rows for diagrams side by side, or take them from a report.

    Args:
        request: What was asked.

    Raises:
        UsageProblem: Unless there are two to six to compare.

        CalibcliError: For input that cannot be measured.
    """
    if request.document is not None:
        return of_report(request, request.document, scores_of_tree)
    _refuse_number(request)
    judged = read_judged(
        request.inputs,
        request.columns,
        artifact=request.artifact,
        reading=request.reading,
        beside=_beside(request),
    )
    report = _report(judged, request)
    diagram = scores_of_tree(Node(report.to_dict()))
    notes = (*report.input.notes, *report.notes, *judged.notes, *judged.fit_notes)
    drawn = replace(diagram.drawn, foot=(*diagram.drawn.foot, *fit_rows_foot(notes)))
    return replace(diagram, drawn=drawn, notes=notes, source=report.input)


def _refuse_number(request: PlotRequest) -> None:
    scores = 1 + len(request.columns.others)
    if scores == 1 and request.artifact is None:
        msg = "nothing to compare with"
        raise UsageProblem(msg, "name two scores (-s a -s b), or add --artifact cal.json")
    if scores > MOST:
        msg = f"{scores} scores are named, and a picture shows at most {MOST} beside each other"
        raise UsageProblem(msg, "leave some out; the first is what the others are compared with")


def _beside(request: PlotRequest) -> Beside:
    """Return what is gathered beside the first score: the others, and losses row by row."""
    beside = beside_of(request.columns, artifact=request.artifact)
    # Classes seen by the one that is predicted are other rows once they are recalibrated.
    alone = request.artifact is None or request.columns.several is not None
    return beside if alone else replace(beside, pairs=((RAW, RECALIBRATED),))


def _views(judged: Judged) -> tuple[View, ...]:
    """Return every score, the one that others are compared with first."""
    views = views_of(judged)
    if not judged.recalibrated:
        return views
    raw = replace(views[0], table=judged.gathered.tables[RAW], key=_RAW)
    return raw, replace(views[0], key=_THROUGH)


def _report(judged: Judged, request: PlotRequest) -> MeasureReport:
    """Measure each score by the error that its diagram shows, and how the others differ from the first."""
    views = _views(judged)
    others = views[1:]
    asked = request.options
    few_valued = all(looks_discrete(one.table) for one in views)
    smooth = not few_valued and asked.bins is None and asked.binning is None
    name = MeasureName.SMECE if smooth else MeasureName.ECE
    options = replace(asked, metrics=Metrics((name,), ()), complete=smooth, drawn=False)
    reports = [measure_table(one.table, one.source, options=options) for one in views]
    return replace(
        reports[0],
        artifact=request.artifact,
        slices={one.key: report for one, report in zip(others, reports[1:], strict=True)},
        differences=_differences(judged, views, name, asked),
    )


def _differences(
    judged: Judged, views: tuple[View, ...], name: MeasureName, asked: MeasureOptions
) -> dict[str, tuple[Difference, ...]]:
    """Return how each further score differs from the first: by its error, and by the Brier score."""
    from calibcli.measures.paired import PairedSums

    first, *others = views
    paired = judged.gathered.aside.paired
    names = (name, MeasureName.BRIER) if paired else (name,)
    options = CompareOptions(names, asked.bins, asked.binning, asked.confidence)
    sums = paired or tuple(PairedSums() for _ in others)
    return {
        one.key: differences_to(first, one, each, options=options)
        for one, each in zip(others, sums, strict=True)
    }


def scores_of_tree(tree: Node) -> Diagram:
    """Return the diagram of a report of several scores, or of one raw and recalibrated."""
    parts = _parts(tree)
    smooth = all(one.smooth for one in parts) and not all(one.discrete for one in parts)
    kind = PlotKind.SMOOTH if smooth else PlotKind.BINNED
    name = MeasureName.SMECE if smooth else MeasureName.ECE
    apart, paired = (_stated(tree, parts, one) for one in (name, PAIRED[0]))
    panels = [panel_of(one, kind) for one in parts]
    if len(parts) > 2:
        panels = [
            replace(one, against=wordings(found, "differs by ", signed=True))
            for one, found in zip(panels, (None, *apart), strict=True)
        ]
    score, through = tree.child("input").child("score").text(), tree.optional("artifact") is not None
    scores, classes = (
        [f"{score}, raw and"] if through else [one.name for one in parts],
        class_words_of_tree(tree),
    )
    title = title_of_tree(tree, scores, added=classes.added)
    picture, foot = CurvePanels(PlotKind.COMPARE, tuple(panels)), (*_foot(parts, paired), *classes.meaning)
    return Diagram(Drawn(picture, _caption(tree, parts, name), foot), title)


def _parts(tree: Node) -> list[Part]:
    """Return the report and its slices of other scores, that which others are compared with first."""
    slices = tree.child("slices").members()
    score, through = tree.child("input").child("score").text(), tree.optional("artifact")
    compared = [] if "differences" not in tree.members() else [*tree.child("differences").members()]
    if through is not None and _THROUGH in compared:
        return [Part(_RAW, tree), Part(_THROUGH, slices[_THROUGH])]
    if through is not None and f"score={score}" in slices:
        return [Part(_RAW, slices[f"score={score}"]), Part(_THROUGH, tree)]
    parts = [Part(score, tree)]
    for key in compared[: MOST - 1]:
        part = tree.child("slices").child(key)
        parts.append(Part(part.child("input").child("score").text(), part))
    if len(parts) == 1:
        msg = "holds one score"
        hint = "write one with `calibcli measure ... -s a -s b --json`, or with --artifact cal.json -v"
        raise tree.child("slices").problem(msg, hint)
    return parts


def _stated(tree: Node, parts: Sequence[Part], name: MeasureName) -> list[Stated | None]:
    """Return by how much each further score differs from the first, as the report states it."""
    members = tree.members()
    found = [*members["differences"].members().values()] if "differences" in members else []
    measures = [one.members().get(name.value) for one in found[: len(parts) - 1]]
    stated = [None if one is None else Stated.read(one) for one in measures]
    return stated or [None for _ in parts[1:]]


def _caption(tree: Node, parts: Sequence[Part], name: MeasureName) -> tuple[str, ...]:
    """Return the error with what it differs by, and for two scores their paired difference."""
    table, word, first = tree.child("table"), WORDS[name], brief(parts[0].name)
    rows = rows_line(table.child("rows").whole(), table.child("positive").whole())
    apart, paired = _stated(tree, parts, name)[0], _stated(tree, parts, PAIRED[0])[0]
    if apart is None:
        errors = [(brief(one.name), one.stated(name)) for one in parts]
        said = "; ".join(f"{who} {found.words()}" for who, found in errors if found is not None)
        return f"{word}: {said}", rows
    if len(parts) > 2:
        return f"{word} of {len(parts)} scores, and how each differs from {first}{apart.at}", rows
    both = f"{brief(parts[1].name)} less {first}"
    line = () if paired is None else (f"Brier score, row by row, {both}: {paired.words(signed=True)}",)
    return f"{word}, {both}: {apart.words(signed=True)}{apart.at}", *line, rows


def _foot(parts: Sequence[Part], paired: Sequence[Stated | None]) -> tuple[str, ...]:
    """Return the paired differences of several scores."""
    if len(parts) == 2:
        return ()
    said = [
        f"{brief(part.name)} {found.words(signed=True)}"
        for part, found in zip(parts[1:], paired, strict=True)
        if found is not None
    ]
    return (
        (f"Brier score less that of {brief(parts[0].name)}, row by row: {'; '.join(said)}.",) if said else ()
    )
