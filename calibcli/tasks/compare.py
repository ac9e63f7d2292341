"""Compare two scores, or two recalibrations of one score, on the same rows."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from calibcli.documents.artifact import Artifact
from calibcli.documents.store import read_artifact
from calibcli.errors import InputProblem, UsageProblem
from calibcli.measures import measure_named
from calibcli.measures.paired import PAIRED, Compared, PairedSums, reach_of_maps
from calibcli.measures.settings import Settings
from calibcli.measures.unpaired import difference_of_intervals
from calibcli.names import DEFAULT_BINS, Binning
from calibcli.options.comparing import CompareOptions
from calibcli.options.metrics import Metrics
from calibcli.options.rows import Columns, Reading
from calibcli.readers.beside import Beside
from calibcli.readers.tally import AtPlaces, Transform
from calibcli.recalibrators.interface import Recalibrator, values_of
from calibcli.reports.compare import CompareReport, Side
from calibcli.reports.comparison import Comparison
from calibcli.table.bins import ATOMS, Bins, binned, bins_of, looks_discrete
from calibcli.table.digest import digest
from calibcli.table.grid import Table
from calibcli.tasks.classes_asked import refuse_class_measures
from calibcli.tasks.gather import RAW, Gathered
from calibcli.tasks.judged import as_fitted, as_transform, refuse_applied_twice
from calibcli.tasks.partition import chosen_bins, parted, shared_bins_notes, summary_of
from calibcli.tasks.reading import read_tables
from calibcli.tasks.right_scale import table_scale_notes

_FIRST, _SECOND = "first", "second"


@dataclass(frozen=True, slots=True)
class Seen:
    """
    One side of the comparison.

    Args:
        name: What it is called.

        score: The score column.

        artifact: Path of its recalibrator, or None.

        table: The rows by what it says of them.

        discrete: Whether it is the output of a discrete recalibrator.
    """

    name: str
    score: str
    artifact: str | None
    table: Table
    discrete: bool


def compare_files(
    inputs: Sequence[str],
    columns: Columns,
    *,
    artifacts: Sequence[str] = (),
    options: CompareOptions | None = None,
    reading: Reading | None = None,
) -> CompareReport:
    """
    Compare two scores of the same rows; the first is the baseline.

    Args:
        inputs: Files, "-" for standard input.

        columns: Which column is which; a second score is among the `others`.

        artifacts: Paths of recalibrators of one score, or of several classes: two, or one to be compared with
            the raw score.

        options: What is asked.

        reading: How to read.

    Raises:
        UsageProblem: Unless there are exactly two to compare.

        CalibcliError: For input that cannot be compared, with what, where and how many.
    """
    asked = options or CompareOptions()
    if asked.metrics and asked.joint:
        refuse_class_measures(columns, Metrics((), (), asked.joint))
    _require_two(columns, artifacts)
    if columns.several is not None:
        from calibcli.tasks.compare_classes import compare_classes

        return compare_classes(inputs, columns, artifacts, options=asked, reading=reading or Reading())
    loaded = {path: read_artifact(path) for path in artifacts}
    said, columns = columns.scale is not None, _as_all_fitted(columns, loaded)
    gathered = _gathered(inputs, columns, list(loaded.values()), reading=reading or Reading())
    notes: list[str] = []
    paired = gathered.paired or PairedSums()
    if loaded:
        paired.reach = reach_between([one.recalibrator for one in loaded.values()], gathered.tables[RAW])
    for path, artifact in loaded.items():
        notes += artifact.doubts
        refuse_applied_twice(gathered, values_of(artifact.recalibrator.bins), path)
        if digest(gathered.tables[RAW]) == artifact.fit.table_digest:
            notes.append(fit_note(path, artifact.fit.rows, asked))
        notes += () if said else table_scale_notes(gathered, artifact)
    first, second = _sides(gathered, loaded)
    for one, other in ((first, second), (second, first)):
        notes += _shared_bins(one, other, asked)
    return CompareReport(
        input=gathered.input,
        first=side_of(first, second, asked),
        second=side_of(second, first, asked),
        confidence=asked.confidence,
        chosen=bool(asked.metrics),
        comparisons=comparisons(first, second, paired, options=asked),
        gate=asked.gate(),
        notes=tuple(dict.fromkeys(notes)),
    )


def reach_between(recalibrators: Sequence[Recalibrator], raw: Table) -> dict[Compared, tuple[float, float]]:
    """Return how far apart losses can be by two maps, or by a score and its map; {} where maps have noise."""
    maps = [as_transform(one) for one in recalibrators]
    plain = [one for one in maps if not isinstance(one, AtPlaces)]
    if len(plain) < len(maps) or not raw.total_rows:
        return {}
    return reach_of_maps(plain[0] if len(plain) > 1 else np.asarray, plain[-1], raw.score)


def fit_note(path: str, rows: int, asked: CompareOptions) -> str:
    """
    Return what is said of rows that an artifact was fitted on.

    Raises:
        InputProblem: If they are those of a gate, unless that was allowed.
    """
    if asked.fail_if_worse and not asked.allow_fit_rows:
        msg = f"these are the {rows:,} rows that {path} was fitted on"
        raise InputProblem(msg, "judge it by rows it has not seen, or pass --allow-fit-rows to insist")
    return f"these are the rows that {path} was fitted on: the comparison flatters it"


def _require_two(columns: Columns, artifacts: Sequence[str]) -> None:
    scores = len(columns.others) + 1
    if scores > 1 and artifacts:
        msg = "two scores and an artifact: which are to be compared?"
        raise UsageProblem(msg, "name two scores, or one score and one or two artifacts")
    if scores > 2 or len(artifacts) > 2:
        many = f"{scores} scores" if scores > 2 else f"{len(artifacts)} artifacts"
        msg = f"{many} are named, and two are compared"
        raise UsageProblem(msg, "name the baseline first, then the other; run once for each pair")
    if scores == 1 and not artifacts:
        two = "" if columns.several is not None else "name two scores (-s a -s b), or "
        msg = "nothing to compare with"
        raise UsageProblem(msg, f"{two}add --artifact cal.json")
    if len(set(artifacts)) < len(artifacts):
        msg = f"{artifacts[0]} would be compared with itself"
        raise UsageProblem(msg, "--artifact takes two different files")


def _as_all_fitted(columns: Columns, loaded: Mapping[str, Artifact]) -> Columns:
    """Read the columns as the fits did where the user does not say otherwise."""
    ways = {path: as_fitted(columns, artifact) for path, artifact in loaded.items()}
    if len(set(ways.values())) > 1:
        (one, here), (two, there) = ways.items()
        what = "scale" if here.read_as is not there.read_as else "positive label"
        msg = f"{one} and {two} were fitted to another {what}"
        raise UsageProblem(msg, "only maps of one score column, read in one way, can be compared")
    return next(iter(ways.values()), columns)


def _gathered(
    inputs: Sequence[str], columns: Columns, loaded: Sequence[Artifact], *, reading: Reading
) -> Gathered:
    """Read both sides at once, and the differences of their losses row by row."""
    transforms: dict[str, Transform | AtPlaces | None] = {RAW: None}
    if not loaded:
        transforms[_SECOND] = None
        beside = Beside(columns={_SECOND: 1}, pairs=((RAW, _SECOND),))
    elif len(loaded) == 1:
        transforms[_SECOND] = as_transform(loaded[0].recalibrator)
        beside = Beside(pairs=((RAW, _SECOND),))
    else:
        transforms[_FIRST], transforms[_SECOND] = (as_transform(one.recalibrator) for one in loaded)
        beside = Beside(pairs=((_FIRST, _SECOND),))
    return read_tables(inputs, columns, reading=reading, transforms=transforms, beside=beside)


def _sides(gathered: Gathered, loaded: Mapping[str, Artifact]) -> tuple[Seen, Seen]:
    """Return the baseline and the other."""
    score, tables = gathered.input.score, gathered.tables
    recalibrated = [
        Seen(path, score, path, tables[key], discrete=artifact.recalibrator.bins is not None)
        for (path, artifact), key in zip(loaded.items(), (_FIRST, _SECOND)[-len(loaded) :], strict=False)
    ]
    raw = Seen(score, score, None, tables[RAW], discrete=False)
    if not recalibrated:
        other = gathered.others[0]
        return raw, Seen(other, other, None, tables[_SECOND], discrete=False)
    return recalibrated[0] if len(recalibrated) == 2 else raw, recalibrated[-1]


def side_of(one: Seen, other: Seen, options: CompareOptions) -> Side:
    """Return one side as reports have it."""
    summary = summary_of(one.table, discrete=_bins(one, other, options) is ATOMS)
    return Side(one.name, one.score, one.artifact, summary)


def _shared_bins(one: Seen, other: Seen, options: CompareOptions) -> tuple[str, ...]:
    asked = (options.bins, options.binning) != (None, None)
    return shared_bins_notes(one.table, _bins(one, other, options), asked=asked, measures=options.shown)


def _bins(one: Seen, other: Seen, options: CompareOptions) -> Bins:
    """Return the partition of one side: each value by itself only where both sides have few."""
    few_valued = all(side.discrete or looks_discrete(side.table) for side in (one, other))
    binning = options.binning
    if binning is None and options.bins is None and not few_valued:
        binning = Binning.EQUAL_WIDTH
    bins = chosen_bins(one.table, bins=options.bins, binning=binning, discrete=one.discrete)
    # Refuses bins that would cut the cells of a grid table: two scores are not read a second time.
    parted(one.table, bins, again=None)
    return bins


def comparisons(
    first: Seen, second: Seen, paired: PairedSums | None, *, options: CompareOptions
) -> tuple[Comparison, ...]:
    """Return every measure of both sides, and how they differ; `paired` is None where rows are others."""
    plain = [_settings(*sides, options) for sides in ((first, second), (second, first))]
    # Each of two intervals may miss half as often as both together.
    safer = [replace(settings, confidence=1.0 - (1.0 - options.confidence) / 2.0) for settings in plain]
    found = []
    for name in options.shown:
        tables = (first.table, second.table)
        one, two = (measure_named(name, table, settings=s) for table, s in zip(tables, plain, strict=True))
        if name in PAIRED and paired is not None:
            difference = paired.difference(name, confidence=options.confidence)
        else:
            wide = [measure_named(name, table, settings=s) for table, s in zip(tables, safer, strict=True)]
            difference = difference_of_intervals(*wide, confidence=options.confidence)
        found.append(Comparison(one, two, difference))
    return tuple(found)


def _settings(one: Seen, other: Seen, options: CompareOptions) -> Settings:
    table, count = one.table, options.bins or DEFAULT_BINS
    return Settings(
        bins=binned(table, _bins(one, other, options)),
        equal_mass=binned(table, bins_of(Binning.EQUAL_MASS, count, table=table)),
        confidence=options.confidence,
        calibrated=None,
    )
