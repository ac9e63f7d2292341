"""Find the segments of the rows in which scores are wrong by more than chance."""

import math
from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations

import numpy as np

from calibcli.commands.bins import summary_of
from calibcli.commands.cutting import Cut, refuse_segments, segments_in
from calibcli.commands.gathering import Gathered
from calibcli.commands.reading import one_label, read_evaluation, with_scores
from calibcli.data.files import refuse_read_once
from calibcli.data.tally import TWICE
from calibcli.errors import IdleOption, UsageProblem
from calibcli.options.rows import RowRequest
from calibcli.options.segmenting import SegmentOptions
from calibcli.reports.segments import Ends, Found, Segment, SegmentColumn, SegmentsReport, WrongFor
from calibcli.stats.measures.segments import (
    ANY,
    LEAST_SPREAD,
    ByCells,
    Crossed,
    Level,
    Segments,
    are_tested,
    beyond,
    bias_bounds,
    in_probability,
    joint,
    smallest_detectable,
    stretch_of,
    without,
)
from calibcli.stats.table import Floats
from calibcli.values import dataclass, replace

# Of the first so many that are listed it is said for which scores they are wrong.
_LOCATED = 20
SIGMA = "range of cumulative residuals over the score, by the root of the sum of f (1 - f)"


def segments_files(rows: RowRequest, *, options: SegmentOptions | None = None) -> SegmentsReport:
    """Test every segment that the values of some columns make; of several scores each by itself."""
    requested = options or SegmentOptions()
    refuse_segments(rows, requested.cut)
    if (view := rows.columns.each_in) is not None:
        msg = f"--view {view.value} has a score for each class, and segments are of one"
        hint = "name the class with --class, or leave out --view for the confidence"
        raise IdleOption(msg, hint, options=("view",))
    rows = with_scores(rows)
    if rows.columns.others:
        return _of_several(rows, requested)
    evaluation = read_evaluation(rows, TWICE)
    return segments_report(evaluation, segments_in(evaluation, rows, requested.cut), requested)


def _of_several(rows: RowRequest, options: SegmentOptions) -> SegmentsReport:
    """Read the rows for each score; further scores are slices of the first."""
    columns = rows.columns
    names = [one for one in (columns.score, *columns.others) if one is not None]
    if rows.artifact is not None:
        msg = f"{len(names)} scores and an artifact, which recalibrates one"
        raise UsageProblem(msg, "name one score, or leave out --artifact")
    if len(set(names)) < len(names):
        msg = f"column {max(names, key=names.count)!r} is named twice as the score"
        raise UsageProblem(msg, "--score takes different columns")
    refuse_read_once(rows.inputs, f"segments of {len(names)} scores take a pass each")
    first, *further = (
        segments_files(replace(rows, columns=replace(columns, score=name, others=())), options=options)
        for name in names
    )
    return replace(first, slices={f"score={one.input.score}": one for one in further})


def segments_report(evaluation: Gathered, cut: Cut, requested: SegmentOptions) -> SegmentsReport:
    found, entries = cut.found, cut.entries
    evaluated = _evaluated(cut, requested)
    listed = _reported(cut, evaluated)
    mce_sigma = float(np.max(found.sigma[evaluated.tested], initial=-math.inf))
    some = bool(evaluated.tested.any())
    return SegmentsReport(
        input=evaluation.input,
        table=summary_of(evaluation.table, discrete=False, fingerprint=False),
        artifact=evaluation.through,
        confidence=requested.confidence,
        columns=tuple(
            SegmentColumn(one.name, "numbers" if one.ends else "categories", one.words) for one in cut.levels
        ),
        depth=min(requested.cut.depth, len(cut.levels)),
        least_rows=requested.least_rows,
        least_spread=LEAST_SPREAD,
        mce=Found(
            in_probability(mce_sigma, entries) if some else None,
            f"largest {SIGMA}; times that root over all rows, by their number",
        ),
        mce_sigma=Found(mce_sigma if some else None, f"largest {SIGMA}"),
        mce_p=Found(
            float(evaluated.p_value[evaluated.tested].min()) if some else None,
            evaluated.method,
        ),
        tested=int(evaluated.tested.sum()),
        segments=listed,
        notes=(*evaluation.notes, *one_label(evaluation), *evaluation.fit_notes, *cut.notes),
        grid=cut.is_grid,
    )


@dataclass(frozen=True, slots=True, eq=False)
class _Evaluated:
    """What is said of each segment; values of those that are not tested mean nothing.

    Args:
        explained: For segments that stand out the larger one that explains it, if there is one.
        because: For the first that are listed the part of it that explains it, if there is one.
    """

    tested: "np.typing.NDArray[np.bool_]"
    reasons: list[str | None]
    p_value: Floats
    method: str
    lower: Floats
    upper: Floats
    smallest: Floats
    stands_out: "np.typing.NDArray[np.bool_]"
    explained: Mapping[int, Level]
    because: Mapping[int, Level]


def _evaluated(cut: Cut, requested: SegmentOptions) -> _Evaluated:
    found, entries, names = cut.found, cut.entries, [one.name for one in cut.levels]
    tested = are_tested(found, least_rows=requested.least_rows)
    many, error = max(int(tested.sum()), 1), 1.0 - requested.confidence
    p_value = np.ones(found.size)
    together = joint(entries, found, tested, names=names, depth=requested.cut.depth, error=error)
    p_value[tested] = together.p_values
    stands_out = tested & (p_value <= error)
    ends = bias_bounds(found, delta=0.5 * error / many)
    cells = ByCells(entries, requested.cut.depth)
    explained = _explained(found, cells, stands_out, error=error / many)
    shown = [place for place in np.argsort(-found.sigma).tolist() if stands_out[place]]
    shown = [place for place in shown if place not in explained]
    return _Evaluated(
        tested,
        _reasons(found, requested),
        p_value,
        together.method,
        ends.lower,
        ends.upper,
        smallest_detectable(found, error=together.each),
        stands_out,
        explained,
        _wrong_by_parts(found, entries, shown, error=together.each),
    )


def _reasons(found: Segments, requested: SegmentOptions) -> list[str | None]:
    few = f"fewer than {requested.least_rows:,} rows"
    return [
        "the same rows as a larger segment"
        if same
        else few
        if rows < requested.least_rows
        else "too few events or non-events expected"
        if spread < LEAST_SPREAD
        else None
        for same, rows, spread in zip(found.same, found.rows, found.variance, strict=True)
    ]


def _explained(
    found: Segments, cells: ByCells, stands_out: "np.typing.NDArray[np.bool_]", *, error: float
) -> dict[int, Level]:
    """Return for segments from which larger ones that stand out the error is not told apart."""
    keys = [tuple(level) for level in found.level[stands_out].tolist()]
    places = dict(zip(keys, np.flatnonzero(stands_out).tolist(), strict=True))
    # All parts of a segment that add the same columns are compared at once.
    parts: dict[Level, dict[tuple[int, ...], list[Level]]] = {}
    for small in keys:
        for added in _some_columns(small):
            large = tuple(ANY if k in added else one for k, one in enumerate(small))
            if large in places:
                parts.setdefault(large, {}).setdefault(added, []).append(small)
    explained: dict[int, Level] = {}
    for large, by_columns in parts.items():
        different = beyond(cells, large, list(by_columns))
        for small in (one for inside in by_columns.values() for one in inside):
            if different[small] > error:
                explained.setdefault(places[small], large)
    return explained


def _some_columns(level: Level) -> Iterator[tuple[int, ...]]:
    """Yield every choice of the columns that a segment is told by, fewest first."""
    own = [k for k, one in enumerate(level) if one != ANY]
    for many in range(1, len(own) + 1):
        yield from combinations(own, many)


def _wrong_by_parts(
    found: Segments, entries: Crossed, shown: Sequence[int], *, error: float
) -> dict[int, Level]:
    """Return for the first segments of the list a part, listed too, without which no error is shown."""
    levels = {place: tuple(found.level[place].tolist()) for place in shown[:_LOCATED]}
    because: dict[int, Level] = {}
    for place, large in levels.items():
        for small in levels.values():
            inside = small != large and all(
                one in (ANY, other) for one, other in zip(large, small, strict=True)
            )
            if inside and place not in because and without(entries, large, small, least=error) > error:
                because[place] = small
    return because


def _reported(cut: Cut, evaluated: _Evaluated) -> tuple[Segment, ...]:
    """Return the segments, those that stand out first, then the tested ones, the worst first."""
    rank = np.lexsort((-cut.found.rows, -cut.found.sigma, ~evaluated.tested, ~evaluated.stands_out))
    located = [
        place for place in rank.tolist() if evaluated.stands_out[place] and place not in evaluated.explained
    ]
    located = located[:_LOCATED]
    return tuple(_segment(cut, evaluated, place, locate=place in located) for place in rank.tolist())


def _segment(cut: Cut, evaluated: _Evaluated, place: int, *, locate: bool) -> Segment:
    found = cut.found
    level: Level = tuple(found.level[place].tolist())
    larger, smaller = evaluated.explained.get(place), evaluated.because.get(place)
    tested = bool(evaluated.tested[place])
    rows, positive = int(found.rows[place]), int(found.positive[place])
    wrong_for = None
    if locate:
        part = stretch_of(cut.entries, level)
        wrong_for = WrongFor(part.lower, part.upper, part.rows, part.gap)
    return Segment(
        where=cut.where(level),
        rows=rows,
        positive=positive,
        # Sums of scores round beyond what their mean can be.
        mean_score=min(max(float(found.score[place]), 0.0), 1.0),
        observed_rate=positive / rows,
        bias=float(found.bias[place]),
        sigma=float(found.sigma[place]),
        not_tested=evaluated.reasons[place],
        p_value=float(evaluated.p_value[place]) if tested else None,
        bias_interval=Ends(float(evaluated.lower[place]), float(evaluated.upper[place])) if tested else None,
        smallest_detectable=float(evaluated.smallest[place]) if tested else None,
        stands_out=bool(evaluated.stands_out[place]),
        explained_by=None if larger is None else cut.where(larger),
        because_of=None if smaller is None else cut.where(smaller),
        wrong_for=wrong_for,
    )
