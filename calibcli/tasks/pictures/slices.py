"""The worst of many classes, or of many groups of rows, side by side."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from calibcli.codec import Node
from calibcli.curves.panels import CurvePanels
from calibcli.errors import UsageProblem
from calibcli.names import MeasureName
from calibcli.options.metrics import Metrics
from calibcli.picture_names import PlotKind
from calibcli.tasks.classes import KEYS
from calibcli.tasks.measure import measure_files
from calibcli.tasks.pictures.class_words import class_words_of_tree
from calibcli.tasks.pictures.diagram import Diagram, Drawn, PlotRequest, fit_rows_foot, rows_line
from calibcli.tasks.pictures.panels import Part, Stated, brief, of_report, panel_of, title_of_tree
from calibcli.view_names import ClassMeasure, ViewName

MOST = 9
_LISTED = 5
_JOINT = {ViewName.ONE_VS_REST: ClassMeasure.CLASSWISE_ECE, ViewName.TOP_LABEL: ClassMeasure.TOP_LABEL_ECE}


@dataclass(frozen=True, slots=True)
class _Said:
    """
    What there is many of, in words.

    Args:
        one: What a part is.

        many: The same of several.

        whole: The error of all together, or nothing.

        added: What the title says besides files and score.

        meaning: What label 1 is in these parts, where it is not that of the input.
    """

    one: str
    many: str
    whole: str
    added: str
    meaning: str = ""


@dataclass(frozen=True, slots=True)
class _Many:
    """
    What there is to choose the worst of.

    Args:
        said: What it is.

        parts: Those that were measured.

        left_out: Rows of each of the others, by name.

        least_rows: How many rows would have been enough.

        confidence: Of the interval of each.

        together: With which all of them hold together.
    """

    said: _Said
    parts: tuple[Part, ...]
    left_out: Mapping[str, int]
    least_rows: int
    confidence: float
    together: float


def classes_diagram(request: PlotRequest) -> Diagram:
    """
    Measure every class for diagrams of the worst, or take them from a report.

    Args:
        request: What was asked, with the view of the classes or one-vs-rest.

    Raises:
        UsageProblem: If no class has rows enough.

        CalibcliError: For input that cannot be measured.
    """
    if request.document is not None:
        return of_report(
            replace(request, view=None), request.document, lambda tree: classes_of_tree(tree, request.view)
        )
    view = request.view or ViewName.ONE_VS_REST
    several = request.columns.several
    columns = replace(request.columns, several=None if several is None else replace(several, view=view))
    return _measured(replace(request, columns=columns), view)


def groups_diagram(request: PlotRequest) -> Diagram:
    """
    Measure every group of rows for diagrams of the worst, or take them from a report.

    Args:
        request: What was asked.

    Raises:
        UsageProblem: If no group has rows enough.

        CalibcliError: For input that cannot be measured.
    """
    if request.document is not None:
        return of_report(request, request.document, groups_of_tree)
    return _measured(request, None)


def _measured(request: PlotRequest, view: ViewName | None) -> Diagram:
    """Measure what is drawn, and nothing that is drawn by chance."""
    joint = () if view is None else (_JOINT[view],)
    options = replace(
        request.options,
        metrics=Metrics((MeasureName.ECE,), (), joint, chosen=True),
        complete=False,
        drawn=False,
    )
    report = measure_files(
        request.inputs,
        request.columns,
        artifact=request.artifact,
        options=options,
        reading=request.reading,
    )
    tree = Node(report.to_dict())
    diagram = groups_of_tree(tree) if view is None else classes_of_tree(tree, view)
    return replace(diagram, notes=(*report.input.notes, *report.notes), source=report.input)


def classes_of_tree(tree: Node, view: ViewName | None) -> Diagram:
    """Return the diagram of the classes of a report, in the view asked for or the first there is."""
    members = tree.members()
    if "classes" not in members:
        msg = "has no 'classes'"
        raise tree.problem(msg, "write one with `calibcli measure ... --probs 'p_*' --json`")
    views = members["classes"].child("views").members()
    chosen = view or next((one for one in KEYS if one.value in views), ViewName.ONE_VS_REST)
    if chosen.value not in views:
        msg = f"has no {chosen.value!r}"
        raise members["classes"].child("views").problem(msg, "measure with --view of single classes, or none")
    summary = views[chosen.value]
    name = {one: one.removeprefix(f"{KEYS[chosen]}=") for one in _keys(summary)}
    joint = tree.child("measures").members().get(_JOINT[chosen].value)
    stated = None if joint is None else Stated.read(joint)
    if chosen is ViewName.ONE_VS_REST:
        word, added = "class-wise ECE", ", each class against the rest"
        meaning = "Label 1: the row is of the class."
    else:
        word, added = "top-label ECE", ", by predicted class"
        meaning = "Rows are those that predict the class; label 1: they are right."
    whole = "" if stated is None else f"{word} {stated.words()}{stated.at}"
    return _diagram(tree, _many(tree, summary, name, said=_Said("class", "classes", whole, added, meaning)))


def groups_of_tree(tree: Node) -> Diagram:
    """Return the diagram of the groups of a report."""
    if "groups" not in tree.members():
        msg = "has no 'groups'"
        raise tree.problem(msg, "write one with `calibcli measure ... --by COL --json`")
    summary = tree.child("groups")
    columns = summary.child("columns").texts()
    name = {one: _group_name(one, columns) for one in _keys(summary)}
    stated = Part("", tree).stated(MeasureName.ECE)
    whole = "" if stated is None else f"ECE of all rows {stated.words()}{stated.at}"
    seen = class_words_of_tree(tree).added
    said = _Said("group", "groups", whole, f"{seen} by {', '.join(columns)}")
    return _diagram(tree, _many(tree, summary, name, said=said))


def _keys(summary: Node) -> tuple[str, ...]:
    return (*summary.child("measured").texts(), *summary.child("left_out").members())


def _group_name(key: str, columns: Sequence[str]) -> str:
    """Return the values of a group without the names of their columns."""
    if len(columns) == 1:
        return key.removeprefix(f"{columns[0]}=")
    pairs = key.split("/")
    if len(pairs) != len(columns):
        return key
    values = (pair.removeprefix(f"{column}=") for pair, column in zip(pairs, columns, strict=True))
    return " · ".join(value.replace("%2F", "/") for value in values)


def _many(tree: Node, summary: Node, name: Mapping[str, str], *, said: _Said) -> _Many:
    curve = tree.child("curve")
    confidence = summary.child("confidence").number(0.0, 1.0)
    slices = tree.child("slices")
    return _Many(
        said,
        tuple(Part(name[key], slices.child(key)) for key in summary.child("measured").texts()),
        {name[key]: rows.whole() for key, rows in summary.child("left_out").members().items()},
        summary.child("least_rows").whole(),
        confidence,
        confidence if curve.value is None else curve.child("confidence").number(0.0, 1.0),
    )


def _diagram(tree: Node, found: _Many) -> Diagram:
    one, said = found.said.one, found.said
    ranked = sorted(found.parts, key=_goodness)
    if not ranked:
        msg = f"no {one} has {found.least_rows:,} rows"
        raise UsageProblem(msg, f"--min-group-rows says how many rows a {one} must have to be measured")
    panels = tuple(panel_of(part, PlotKind.BINNED) for part in ranked[:MOST])
    table = tree.child("table")
    rows, positive = table.child("rows").whole(), table.child("positive").whole()
    # Of all classes together, label 1 means that the predicted one was right.
    counted = f"{rows:,} row{'s' * (rows != 1)}" if said.meaning else rows_line(rows, positive)
    which = f"only {one} measured" if len(ranked) == 1 else f"worst of {len(ranked):,} {said.many}"
    worst = f"{which}: {brief(ranked[0].name)}"
    caption = (said.whole, f"{counted}; {worst}") if said.whole else (worst, counted)
    picture = CurvePanels(PlotKind.CLASSES if said.meaning else PlotKind.GROUPS, panels)
    foot = (*_foot(found, len(panels)), *fit_rows_foot(tree.child("notes").texts()))
    return Diagram(Drawn(picture, caption, foot), title_of_tree(tree, added=said.added))


def _goodness(part: Part) -> tuple[bool, float, float]:
    """Return what sorts the worst first: by the lower bound of ECE, then by its value."""
    found = part.stated(MeasureName.ECE)
    if found is None:
        return True, 0.0, 0.0
    return False, -(found.lower or 0.0), -found.value


def _foot(found: _Many, shown: int) -> tuple[str, ...]:
    """Return how many are shown, what their intervals mean together, and which are not measured."""
    count, many = len(found.parts), found.said.many
    lines, every = [], f"both {many}" if count == 2 else f"all {count:,} {many}"
    if count > 1:
        which = f"{every[:1].upper()}{every[1:]}" if shown == count else f"{shown} of {count:,} {many}"
        lines.append(f"{which}, the largest lower bound of the ECE first, then the largest ECE.")
    if found.said.meaning:
        lines.append(found.said.meaning)
    if found.confidence != found.together:
        lines.append(
            f"Every interval is at {100.0 * found.confidence:.6g} %, so that those of {every} "
            f"hold at once with {100.0 * found.together:g} % (Bonferroni)."
        )
    if found.left_out:
        few = sorted(found.left_out.items(), key=lambda one: (-one[1], one[0]))
        listed = ", ".join(f"{brief(name)} ({rows:,})" for name, rows in few[:_LISTED])
        more = f" and {len(few) - _LISTED:,} more" if len(few) > _LISTED else ""
        lines.append(f"Fewer than {found.least_rows:,} rows, so not measured: {listed}{more}.")
    return (" ".join(lines),) if lines else ()
