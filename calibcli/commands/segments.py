"""Find the segments of the rows in which scores are wrong by more than chance."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import combinations

import numpy as np

from calibcli.commands.evaluation import as_transform, of_members
from calibcli.commands.gathering import Gathered
from calibcli.commands.partition import summary_of
from calibcli.commands.reading import read_judged
from calibcli.documents.artifact import Artifact, GroupArtifact
from calibcli.errors import InputProblem, UsageProblem
from calibcli.names import WeightMeaning
from calibcli.options.rows import Columns, Reading
from calibcli.options.segmenting import SegmentOptions
from calibcli.options.sources import DocumentSource, RowSource
from calibcli.reports.segments import (
    Ends,
    Found,
    Segment,
    SegmentColumn,
    SegmentsReport,
    WrongFor,
)
from calibcli.stats.measures.segments import (
    ANY,
    LEAST_SPREAD,
    Entries,
    Level,
    Segments,
    are_tested,
    beyond,
    bias_bounds,
    joint,
    segments_of,
    smallest_detectable,
    stretch_of,
    without,
)
from calibcli.stats.table.levels import Levels
from calibcli.stats.table.score_table import Floats
from calibcli.stats.table.sliced import Leaves
from calibcli.values import dataclass

# More would be no list that anybody reads, and pay dearly for being many.
MOST_SEGMENTS = 20_000
# Of the first so many that are listed it is said for which scores they are wrong.
_LOCATED = 20
SIGMA = "range of cumulative residuals over the score, by the root of the sum of f (1 - f)"
HOLM = "law of the range of a Brownian motion, corrected for skewed labels; Holm over all tested segments"


def segments_files(
    inputs: Sequence[RowSource],
    columns: Columns,
    *,
    artifact: DocumentSource | None = None,
    options: SegmentOptions | None = None,
    reading: Reading | None = None,
) -> SegmentsReport:
    """Test every segment that the values of some columns make."""
    asked, how = options or SegmentOptions(), reading or Reading()
    _refuse(columns, artifact)
    kinds = asked.kinds(columns.on)
    judged = read_judged(inputs, columns, artifact=artifact, reading=how, twice=True)
    levels = tuple(
        values.levels(most=asked.most_values, categorical=kinds[place])
        for place, values in sorted(judged.aside.values.items())
    )
    leaves, grid = _leaves(judged, levels, limit=how.limit)
    entries = _entries(leaves, levels)
    found = segments_of(entries, depth=asked.depth)
    if found.size > MOST_SEGMENTS:
        msg = f"--on {','.join(columns.on)} makes {found.size:,} segments"
        raise UsageProblem(msg, f"at most {MOST_SEGMENTS:,}: lower --depth or --max-values, or name fewer")
    evaluated = _evaluated(found, entries, asked)
    listed = _reported(found, evaluated, entries, levels)
    mce_sigma = float(np.max(found.sigma[evaluated.tested], initial=-math.inf))
    every = float(entries.variance.sum()), float(entries.rows.sum())
    some = bool(evaluated.tested.any())
    return SegmentsReport(
        input=judged.input,
        table=summary_of(judged.table, discrete=False, fingerprint=False),
        artifact=judged.through,
        confidence=asked.confidence,
        columns=tuple(
            SegmentColumn(one.name, "numbers" if one.ends else "categories", one.words) for one in levels
        ),
        depth=min(asked.depth, len(levels)),
        least_rows=asked.least_rows,
        least_spread=LEAST_SPREAD,
        mce=Found(
            mce_sigma * math.sqrt(every[0]) / every[1] if some else None,
            f"largest {SIGMA}; times that root over all rows, by their number",
        ),
        mce_sigma=Found(mce_sigma if some else None, f"largest {SIGMA}"),
        mce_p=Found(float(evaluated.p_value[evaluated.tested].min()) if some else None, HOLM),
        tested=int(evaluated.tested.sum()),
        segments=listed,
        notes=(*judged.notes, *judged.fit_notes, *_notes(leaves, grid=grid)),
        grid=grid,
    )


def _refuse(columns: Columns, artifact: DocumentSource | None) -> None:
    """Refuse what segments cannot be found for, before anything is read."""
    if not columns.on:
        msg = "no column is named whose values make segments"
        raise UsageProblem(msg, "name some, such as --on country,device")
    if columns.weight is not None and columns.weights_are is not WeightMeaning.FREQUENCY:
        msg = "segments are tested by rows, and importance weights are none"
        raise UsageProblem(msg, "pass --weights-are frequency for repeated rows, or leave out --weight")
    if columns.several is not None and artifact is not None:
        msg = "segments of several classes are found without an artifact"
        raise UsageProblem(msg, "write the recalibrated rows with `calibcli apply` first")


def _leaves(judged: Gathered, levels: tuple[Levels, ...], *, limit: int | None) -> tuple[Leaves, bool]:
    """Return the rows by level and score, and whether scores are kept to cells."""
    again, loaded = judged.again, judged.artifact
    if again is None:
        msg = "these rows can be read only once"
        raise InputProblem(msg, "write them to a file first")
    if isinstance(loaded, GroupArtifact):
        again = replace(again, change=of_members(loaded))
    elif isinstance(loaded, Artifact):
        again = replace(again, change=as_transform(loaded.recalibrator))
    return again.in_leaves(levels, limit=limit)


def _entries(leaves: Leaves, levels: tuple[Levels, ...]) -> Entries:
    """Return the rows with a level for each column."""
    part, columns = leaves.part, []
    for one in reversed(levels):
        part, place = np.divmod(part, len(one.words))
        columns.append(place)
    sizes = [len(one.words) for one in levels]
    return Entries.of_table(
        np.stack(columns[::-1]),
        sizes,
        leaves.at,
        rows=leaves.rows,
        positive=leaves.positive,
        scores=leaves.scores,
    )


def _notes(leaves: Leaves, *, grid: bool) -> list[str]:
    """Return what the reader should not miss."""
    notes = []
    if grid:
        notes.append(
            "over the memory allowed: within segments scores are kept to 1/5,040 (counts and sums of "
            "residuals stay exact); --exact keeps all"
        )
    ones, others = leaves.positive, leaves.rows - leaves.positive
    wrong = int(ones[(leaves.scores[0] == 0.0)].sum() + others[leaves.scores[1] == others].sum())
    if wrong:
        have = "row has" if wrong == 1 else "rows have"
        notes.append(f"{wrong:,} {have} a score of exactly 0 or 1 and the other label: that score is refuted")
    return notes


@dataclass(frozen=True, slots=True, eq=False)
class _Evaluated:
    """
    What is said of each segment; values of those that are not tested mean nothing.

    Args:
        explained: For segments that stand out the larger one that explains it, if there is one.
        because: For the first that are listed the part of it that explains it, if there is one.
    """

    tested: "np.typing.NDArray[np.bool_]"
    reasons: list[str | None]
    p_value: Floats
    lower: Floats
    upper: Floats
    smallest: Floats
    stands_out: "np.typing.NDArray[np.bool_]"
    explained: Mapping[int, Level]
    because: Mapping[int, Level]


def _evaluated(found: Segments, entries: Entries, asked: SegmentOptions) -> _Evaluated:
    tested = are_tested(found, least_rows=asked.least_rows)
    many, error = max(int(tested.sum()), 1), 1.0 - asked.confidence
    p_value = np.ones(found.size)
    p_value[tested] = joint(found.p_values()[tested])
    stands_out = tested & (p_value <= error)
    ends = bias_bounds(found, delta=0.5 * error / many)
    explained = _explained(found, entries, stands_out, error=error / many)
    shown = [place for place in np.argsort(-found.sigma).tolist() if stands_out[place]]
    shown = [place for place in shown if place not in explained]
    return _Evaluated(
        tested,
        _reasons(found, asked),
        p_value,
        ends.lower,
        ends.upper,
        smallest_detectable(found, error=error / many),
        stands_out,
        explained,
        _wrong_by_parts(found, entries, shown, error=error / many),
    )


def _reasons(found: Segments, asked: SegmentOptions) -> list[str | None]:
    """Return why each segment is not tested."""
    few = f"fewer than {asked.least_rows:,} rows"
    return [
        "the same rows as a larger segment"
        if same
        else few
        if rows < asked.least_rows
        else "too few events or non-events expected"
        if spread < LEAST_SPREAD
        else None
        for same, rows, spread in zip(found.same, found.rows, found.variance, strict=True)
    ]


def _explained(
    found: Segments, entries: Entries, stands_out: "np.typing.NDArray[np.bool_]", *, error: float
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
        different = beyond(entries, large, list(by_columns))
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
    found: Segments, entries: Entries, shown: Sequence[int], *, error: float
) -> dict[int, Level]:
    """Return for the first segments of the list a part, listed too, without which no error is shown."""
    levels = {place: tuple(found.level[place].tolist()) for place in shown[:_LOCATED]}
    because: dict[int, Level] = {}
    for place, large in levels.items():
        for small in levels.values():
            inside = small != large and all(
                one in (ANY, other) for one, other in zip(large, small, strict=True)
            )
            if inside and place not in because and without(entries, large, small) > error:
                because[place] = small
    return because


def _reported(
    found: Segments, evaluated: _Evaluated, entries: Entries, levels: tuple[Levels, ...]
) -> tuple[Segment, ...]:
    """Return the segments, those that stand out first, then the tested ones, the worst first."""
    rank = np.lexsort((-found.rows, -found.sigma, ~evaluated.tested, ~evaluated.stands_out))
    located = [
        place for place in rank.tolist() if evaluated.stands_out[place] and place not in evaluated.explained
    ]
    located = located[:_LOCATED]
    return tuple(
        _segment(found, evaluated, place, levels, entries if place in located else None)
        for place in rank.tolist()
    )


def _segment(
    found: Segments, evaluated: _Evaluated, place: int, levels: tuple[Levels, ...], entries: Entries | None
) -> Segment:
    level: Level = tuple(found.level[place].tolist())
    larger, smaller = evaluated.explained.get(place), evaluated.because.get(place)
    tested = bool(evaluated.tested[place])
    rows, positive = int(found.rows[place]), int(found.positive[place])
    wrong_for = None
    if entries is not None:
        part = stretch_of(entries, level)
        wrong_for = WrongFor(part.lower, part.upper, part.rows, part.gap)
    # Sums of scores round beyond what their mean can be.
    score = min(max(float(found.score[place]), 0.0), 1.0)
    return Segment(
        where=_where(level, levels),
        rows=rows,
        positive=positive,
        mean_score=score,
        observed_rate=positive / rows,
        bias=float(found.bias[place]),
        sigma=float(found.sigma[place]),
        not_tested=evaluated.reasons[place],
        p_value=float(evaluated.p_value[place]) if tested else None,
        bias_interval=Ends(float(evaluated.lower[place]), float(evaluated.upper[place])) if tested else None,
        smallest_detectable=float(evaluated.smallest[place]) if tested else None,
        stands_out=bool(evaluated.stands_out[place]),
        explained_by=None if larger is None else _where(larger, levels),
        because_of=None if smaller is None else _where(smaller, levels),
        wrong_for=wrong_for,
    )


def _where(level: Level, levels: tuple[Levels, ...]) -> tuple[str, ...]:
    return tuple(one.words[at] for one, at in zip(levels, level, strict=True) if at != ANY)
