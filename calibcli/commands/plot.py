"""Everything a diagram shows, computed from files or taken from documents."""

import math
from typing import TYPE_CHECKING, NoReturn

from calibcli.commands.pictures.diagram import Diagram, PlotRequest
from calibcli.commands.reading import with_scores
from calibcli.errors import IdleOption
from calibcli.families import loaded
from calibcli.names import DEFAULT_LEAST_ROWS, AxisScale, Band, Benefit, PlotKind, Smoother
from calibcli.options.declaring import options_given
from calibcli.options.pictures import PictureOptions
from calibcli.options.rows import refuse_without_groups
from calibcli.values import replace

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from calibcli.stats.curves import Picture

K = PlotKind

_OF_PARTS = (K.CLASSES, K.GROUPS, K.TREND)

_OF_SEGMENTS = (K.SEGMENTS, K.HEATMAP)

# Curves of which there is a simultaneous band, whatever the smoother.
_WITH_BANDS = (K.SMOOTH, K.ISOTONIC, K.RESIDUAL)

# Pictures without an interval of their own, and those that have none of several scores. Of `--by` there may
# be one group.
_WITHOUT_INTERVALS = (K.CUMULATIVE, K.MCB_DSC)
_WITH_ONE_INTERVAL = (K.MURPHY, K.RISK_COVERAGE)

_OF_RELIABILITY = (K.SMOOTH, K.BINNED, K.COMPARE, K.GROUPS, K.CLASSES)


def kind_meant(request: PlotRequest) -> PlotKind | None:
    """Return the diagram asked for, or that which scores, groups or a view of classes imply."""
    implied = _implied(request)
    kind = request.kind
    if kind is None:
        if len(implied) > 1:
            first, second = (option for option, _ in implied[:2])
            _refuse(f"{first} and {second} ask for different diagrams", "leave out one of them")
        kind = implied[0][1] if implied else None
    for option, meant in implied:
        if kind is not None and meant is not kind:
            either = _INSTEAD.get(meant, "leave out one of them")
            named = option[2:] if option in ("--by", "--on") else "kind"
            hint = f"{either}, or pass --kind {meant.value}"
            _refuse(f"{option} has no effect on --kind {kind.value}", hint, named)
    if request.document is None:
        _refuse_lacking(request, kind)
    elif kind is None:
        from calibcli.commands.pictures.reliability import kind_of_document

        kind = kind_of_document(request.document)
    _refuse_idle(request, kind)
    return kind


# What to do with an option that asks for another diagram than is named.
_INSTEAD = {K.CLASSES: "name one class with --class", K.COMPARE: "make one picture for each"}


def _implied(request: PlotRequest) -> list[tuple[str, PlotKind]]:
    """Return which options were given that ask for a diagram, and for which."""
    several, kind = request.columns.several, request.kind
    together = kind is not None and kind.facts.several
    found = []
    if request.columns.others and not together:
        found.append(("a second --score", K.COMPARE))
    if request.view is not None and (several is None or several.one_class is None):
        found.append((f"--view {request.view.value}", K.CLASSES))
    if request.columns.by and kind is not K.TREND and not together:
        found.append(("--by", K.GROUPS))
    if request.columns.on and request.kind is not K.HEATMAP:
        found.append(("--on", K.SEGMENTS))
    return found


def _refuse_lacking(request: PlotRequest, kind: PlotKind | None) -> None:
    several = request.columns.several
    if kind in (K.GROUPS, K.TREND) and not request.columns.by:
        _refuse(f"--kind {kind.value}, and no groups are named", "name the column that makes them with --by")
    if kind in _OF_SEGMENTS and not request.columns.on:
        _refuse(
            f"--kind {kind.value}, and no columns make segments", "name them, such as --on country,device"
        )
    if kind is K.CLASSES and several is None:
        _refuse("--kind classes, and --probs names none", "name their columns, such as --probs 'p_*'")
    if kind is K.CLASSES and several is not None and several.one_class is not None:
        _refuse(
            f"--kind classes shows all classes, and --class {several.one_class} looks at one",
            "leave out one of them",
        )


def _refuse_idle(request: PlotRequest, kind: PlotKind | None) -> None:
    """Refuse options that change nothing on this kind of diagram; a document refuses others by itself."""
    options, look, by = request.options, request.look, request.columns.by
    heeding: dict[str, tuple[bool, tuple[PlotKind | None, ...]]] = {
        "axis": (look.axis is AxisScale.LOGIT, (None, *(one for one in K if one.facts.logit))),
        "attributes": (look.attributes, (None, *_OF_RELIABILITY)),
    }
    if request.document is None:
        if request.columns.others and by:
            _refuse("a second --score and --by ask for different diagrams", "leave out one of them")
        least = options.least_rows != DEFAULT_LEAST_ROWS
        refuse_without_groups(by or kind in _OF_PARTS, min_group_rows=least)
        refuse_without_groups(by, sort=options.sort is not None)
        if kind not in _OF_SEGMENTS and (idle := options_given(request.segments)):
            _refuse(f"--{idle[0]} has no effect without segments", "name columns with --on", *idle)
        banded = (*_WITH_BANDS, K.CLINICAL) if options.smoother is Smoother.KERNEL else _WITH_BANDS
        bare = (*_WITHOUT_INTERVALS, *(_WITH_ONE_INTERVAL if request.columns.others else ()))
        with_bins = (None, *(one for one in K if one.facts.bins))
        heeding |= {
            "band": (look.band is not Band.POINTWISE, banded),
            "smoother": (options.smoother is not None, (K.CLINICAL,)),
            "benefit": (look.benefit is not Benefit.NET, (K.DECISION,)),
            "loss": (look.loss is not None, (K.MCB_DSC,)),
            "threshold": (bool(options.thresholds), (K.DECISION,)),
            "bins": (options.bins is not None, with_bins),
            "binning": (options.binning is not None, with_bins),
            "confidence": (
                "confidence" in options_given(options),
                (None, *(one for one in K if one not in bare)),
            ),
        }
    for option, (given, kinds) in heeding.items():
        if given and kind not in kinds:
            named = "|".join([one.value for one in kinds if one is not None][:3])
            on = "without --kind" if kind is None else f"on --kind {kind.value}"
            several = " of several scores" if request.columns.others else ""
            _refuse(
                f"--{option} has no effect {on}{several}", f"leave it out, or pass --kind {named}", option
            )


def _refuse(message: str, hint: str, *options: str) -> NoReturn:
    raise IdleOption(message, hint, options=options)


def diagram_of(request: PlotRequest) -> Diagram:
    if request.document is None:
        request = with_scores(request)
    kind = kind_meant(request)
    found: Diagram = loaded(f"commands.pictures.{(kind or K.SMOOTH).facts.made}")(request)
    if found.source is None:
        return found
    from calibcli.commands.pictures.reliability import event_words

    return replace(found, event=event_words(found.source.label, found.source.positive))


def _attributes(diagram: Diagram) -> "Picture":
    """Return a picture of reliability with what a forecast of the base rate alone would show."""
    from calibcli.stats.curves import CurvePanels, curves_of
    from calibcli.stats.curves.reliability import ReliabilityCurve

    picture = diagram.drawn.picture
    curves = [replace(one, attributes=True) for one in curves_of(picture, ReliabilityCurve)]
    if any(math.isnan(one.base) for one in curves):
        _refuse(
            "--attributes needs a base rate, which bins of weighted rows do not hold",
            "leave it out",
            "attributes",
        )
    if not isinstance(picture, CurvePanels):
        return curves[0]
    panels = zip(picture.panels, curves, strict=True)
    return replace(picture, panels=tuple(replace(panel, curve=one) for panel, one in panels))


def figure_of_diagram(diagram: Diagram, look: PictureOptions) -> "Figure":
    from calibcli.show.figures import figure_of
    from calibcli.show.figures.look import look_of
    from calibcli.show.figures.page import Words
    from calibcli.stats.curves import axis_for

    drawn = diagram.drawn if not look.attributes else replace(diagram.drawn, picture=_attributes(diagram))
    words = Words(look.title or diagram.title, drawn.caption, drawn.foot, diagram.event)
    scale = look.axis or axis_for(drawn.picture)
    return figure_of(drawn.picture, words, look=look_of(look.size, look.theme), scale=scale)
