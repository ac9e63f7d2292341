"""The state of a gate that is asked again as rows come in: its terms, what it adds up, and what it says."""

import base64
import math
from collections import Counter
from collections.abc import Mapping
from functools import reduce
from operator import add
from typing import Annotated, ClassVar, Self
from zlib import crc32

import numpy as np
import numpy.typing as npt

from calibcli.codec import (
    ABSENT,
    DIFFERENT,
    HIDDEN,
    INLINE,
    LOOSE,
    Among,
    Between,
    Declared,
    Fraction,
    In,
    Key,
    Node,
    OrInfinite,
    Since,
    Size,
    With,
)
from calibcli.names import (
    DEFAULT_LEAST_ROWS,
    Bound,
    IdKind,
    MeasureName,
    Purpose,
    Scale,
    SegmentMeasure,
    Target,
    VerdictName,
    ViewName,
)
from calibcli.options.numerals import in_full, phrases_said
from calibcli.stats.bounds.betting import Stakes
from calibcli.stats.gates import any_time
from calibcli.stats.gates.cells import SPARSE, Partition, Sums, sums_of, table_of
from calibcli.stats.gates.claim import (
    Change,
    Claim,
    Evidence,
    Ground,
    JudgedSegments,
    OwnError,
    RowsNeeded,
    Verdict,
    too_few_counted,
)
from calibcli.stats.gates.rows_needed import rows_needed
from calibcli.stats.gates.segments import (
    RowsBySegment,
    SegmentBets,
    bets_on,
    judged_segments,
    segments_of_sums,
)
from calibcli.stats.measures import HELD_OUT
from calibcli.stats.measures.segments import ANY
from calibcli.stats.numerics import Floats, Integers, stream
from calibcli.stats.table.bins import binned, segment_sums
from calibcli.stats.table.grid import Table
from calibcli.values import dataclass, field, replace


@dataclass(frozen=True, slots=True)
class SeenClasses(Declared):
    """How rows of several classes become scores of a yes or no."""

    view: ViewName
    one_class: Annotated[
        str | None, Key("class"), "The class that is looked at; null for the largest probability."
    ]
    # Empty before a file is read.
    names: Annotated[
        tuple[str, ...],
        Size(2, expected="two different classes or more"),
        DIFFERENT,
        "What the classes are called, in the order of their columns.",
    ] = ()

    def check(self, node: Node) -> None:
        """Refuse a class that does not go with the view."""
        one = self.one_class
        if (one is None) != (self.view is ViewName.CONFIDENCE) or (one is not None and one not in self.names):
            msg = f"does not go with the view {self.view.value!r} of these classes"
            raise node.child("class").problem(msg)

    @property
    def words(self) -> str:
        return self.view.value if self.one_class is None else f"{self.view.value} of {self.one_class!r}"


Fingerprints = npt.NDArray[np.uint64]


@dataclass(frozen=True, slots=True)
class Terms(Declared):
    """What is settled when a state is begun, and the same in every call and every shard."""

    measure: Annotated[
        Annotated[MeasureName, Among(tuple(one for one in MeasureName if one.facts.any_time))]
        | SegmentMeasure,
        In("rule"),
        "What is bounded.",
    ]
    limit: Annotated[
        float | None,
        Between(0.0, 1.0),
        In("rule"),
        "The tolerance: measure <= limit; null for an alarm on any error at all.",
    ]
    confidence: Annotated[
        float,
        Between(0.5, 0.999999),
        "1 - delta; a wrong verdict ever has probability at most delta on each side.",
    ]
    partition: Annotated[
        Partition,
        "What rows are counted by: the outputs of a discrete artifact, or equal cells of equal-width bins.",
    ]
    stakes: Annotated[Stakes, "The bets: settled when the state was begun."]
    alarm: Annotated[bool, "Whether the question is: is the score still calibrated?"] = False
    artifact: Annotated[str | None, "Fingerprint of the map of the recalibrator applied first."] = None
    score: Annotated[str, In("input"), "Name of the score column, or what --probs named."] = "score"
    label: Annotated[
        str | None,
        In("input"),
        Since(2),
        "Name of the label column; null where it is not known: before rows came, or in a state of version 1.",
    ] = None
    weight: Annotated[str | None, In("input"), Since(2), "Name of the column that counts rows, or null."] = (
        None
    )
    scale: Annotated[Scale, In("input"), "What the score column holds."] = Scale.PROB
    positive: Annotated[str | None, In("input"), "The label that counts as 1, where labels are not 0/1."] = (
        None
    )
    score_map: Annotated[
        Mapping[str, float] | None,
        In("input"),
        ABSENT,
        "The numbers of scores in words, by phrase; absent where scores are numbers.",
    ] = None
    by_id: Annotated[bool, HIDDEN] = False
    classes: Annotated[
        SeenClasses | None,
        In("input"),
        ABSENT,
        "How several classes are seen; absent where there is one score.",
    ] = None

    where: Annotated[
        tuple[str, ...],
        In("input"),
        ABSENT,
        "Conditions of the rows that are counted, ascending; absent where every row is.",
    ] = ()

    def check(self, node: Node) -> None:
        """Refuse a rule about segments that rows were not counted by, and the contrary."""
        if isinstance(self.measure, SegmentMeasure) != (self.partition.segments is not None):
            msg = f"does not go with the rule about {self.measure.value}"
            raise node.child("partition").problem(msg)

    @property
    def threshold(self) -> float:
        """log(1 / delta)."""
        return -math.log(1.0 - self.confidence)

    def bets_on(self, sums: Sums) -> any_time.Bets:
        return bets_on(sums, self.partition, measure=self.measure)


@dataclass(frozen=True, slots=True)
class Look(Declared):
    """What the gate said after a batch."""

    rows: Annotated[int, Between(1), "Rows counted by then."]
    value: Annotated[Fraction, "The estimate over them."]
    log_pass: Annotated[
        float | None,
        "Natural logarithm of the e-value against: at least the limit; null in an alarm.",
    ]
    log_fail: Annotated[
        OrInfinite,
        "Natural logarithm of the e-value against: at most the limit; in an alarm, against: calibrated "
        "throughout.",
    ]
    lower: Annotated[
        float | None,
        Between(0.0, 1.0),
        ABSENT,
        With("upper"),
        "Lower bound of the error then, at the confidence and at any time; absent in an alarm and in older "
        "states. For pictures: no verdict uses it.",
    ] = None
    upper: Annotated[float | None, Between(0.0, 1.0), ABSENT, With("lower"), "Upper bound, likewise."] = None
    positive: Annotated[
        int | None, ABSENT, Since(2), "Rows with label 1 counted by then; not in looks of version 1."
    ] = None
    least: Annotated[
        int | None,
        ABSENT,
        Since(2),
        With("positive"),
        "Below so many rows nothing was to be concluded; not in looks of version 1.",
    ] = None


# An error above all of these draws is one that a calibrated batch shows once in a thousand times at most.
_DRAWS = 999


def own_error(sums: Sums, partition: Partition) -> OwnError:
    """Return the error of some rows, beside those of as many with labels drawn from the scores."""
    table = table_of(sums, partition)
    starts, rows, expected = binned(table, partition.as_bins).starts, table.rows, table.rows * table.score

    def errors(ones: Integers | Floats) -> Floats:
        gaps = np.abs(segment_sums(ones - expected, starts))
        return np.asarray(np.minimum(gaps.sum(axis=-1) / table.total_rows, 1.0))

    # Numbers that all batches share would make those of one kind stand out too often, or too seldom.
    generator = stream(0, Purpose.BATCH, crc32(np.stack((rows, table.positive_rows)).tobytes()))
    drawn = np.sort(errors(generator.binomial(rows, table.score, size=(_DRAWS, rows.size))))
    # Of a calibrated batch every rank among its own draws is as probable as any other.
    usual = drawn[round(0.95 * (_DRAWS + 1)) - 1]
    return OwnError(float(errors(table.positive)), float(usual), float(drawn[-1]))


@dataclass(frozen=True, slots=True)
class Batch(Declared):
    """Rows that came together."""

    key: Annotated[str, "The name given, or the digest."]
    digest: Annotated[str, "Of the rows, raw scores and labels; with their identities where they have some."]
    rows: Annotated[int, Between(1), "How many of them were counted."]
    look: Annotated[Look | None, "What the gate said then; null in a merged state, which has no order."] = (
        None
    )
    content: Annotated[
        str | None,
        ABSENT,
        "Of raw scores and labels alone, where rows have identities; not in states that were begun before it "
        "was kept.",
    ] = None
    file: Annotated[
        str | None, ABSENT, "The name of the file it came from, where nothing else names it; see `chance`."
    ] = None
    chance: Annotated[
        float | None,
        ABSENT,
        Between(0.0, 1.0),
        "At most how probably other rows have the same scores and labels; not in older states.",
    ] = None
    own: Annotated[
        OwnError | None,
        ABSENT,
        "The binned ECE of the batch by itself; absent in gates on other errors and in older states.",
    ] = None

    @property
    def called(self) -> str:
        """What a reader knows it by: the name given, else its file, else its digest."""
        return self.key if self.key != self.digest else self.file or self.key

    @property
    def stands_out(self) -> bool:
        """Whether chance hardly explains its error by itself."""
        return self.own is not None and self.own.stands_out


@dataclass(frozen=True, slots=True, eq=False)
class GateState(Declared):
    """What a gate has counted and found."""

    SCHEMA: ClassVar = "calibcli.gate/2"
    ORIGIN: ClassVar = {
        "what": "the state of a gate",
        "hint": "a gate's state is what `calibcli verify --state` writes",
    }

    terms: Annotated[Terms, INLINE]
    epochs: Annotated[
        tuple[any_time.Epoch, ...],
        Size(0, any_time.MOST_EPOCHS),
        "The rows: one sum in a gate, one for each starting point in an alarm.",
    ] = ()
    batches: Annotated[tuple[Batch, ...], "What was counted, in order; in a merged state by name."] = ()
    passed_at: Annotated[
        int | None, Between(1), "Rows counted when the evidence for a pass was first enough."
    ] = None
    failed_at: Annotated[
        int | None, Between(1), "Rows counted when the evidence for a fail, or an alarm, was first enough."
    ] = None
    passed_on: Annotated[
        Sums | None,
        SPARSE,
        Since(2),
        "The rows that the pass was shown on, of which it is derived anew; null in an alarm.",
    ] = None
    failed_on: Annotated[Sums | None, SPARSE, Since(2), "The same of a fail."] = None
    changed: Annotated[
        Change | None,
        ABSENT,
        Since(2),
        "Since when the alarm saw a change when it was raised; absent before.",
    ] = None
    # Fingerprints of the rows counted, ascending; empty where rows have no identity.
    ids: Annotated[Fingerprints, HIDDEN] = field(default_factory=lambda: np.zeros(0, np.uint64))
    since: Annotated[int, Between(1, 2), Since(2), "The schema version that the state was begun in."] = 2
    notes: Annotated[
        tuple[str, ...],
        Since(2),
        "What must be said of the state wherever it is used, such as that it was edited.",
    ] = ()
    id_kinds: Annotated[
        frozenset[IdKind],
        ABSENT,
        Since(2),
        Size(1),
        DIFFERENT,
        "What the identities were written as, so that a number is not counted again as other text; only "
        "where rows have identities.",
    ] = frozenset()

    @property
    def ids_text(
        self,
    ) -> Annotated[
        str | None,
        Key("ids"),
        LOOSE,
        "Fingerprints of the rows counted: ascending unsigned integers of eight bytes, little-endian, in "
        "base64; null where rows have no identity.",
    ]:
        if not self.terms.by_id:
            return None
        return base64.b64encode(self.ids.astype("<u8").tobytes()).decode("ascii")

    def doubted(self, doubts: tuple[str, ...]) -> Self:
        """Return the state with what must be said of its document, for good."""
        new = (f"the state {one}" for one in doubts)
        return replace(self, notes=tuple(dict.fromkeys((*self.notes, *new))))

    @property
    def sums(self) -> Sums:
        return reduce(add, [epoch.sums for epoch in self.epochs] or [Sums.none(self.terms.partition.size)])

    @property
    def bets(self) -> any_time.Bets:
        return self.terms.bets_on(self.sums)

    @property
    def rows(self) -> int:
        return sum(batch.rows for batch in self.batches)

    @property
    def looks(self) -> int:
        """How often the gate was asked after new rows."""
        return sum(batch.look is not None for batch in self.batches)

    @property
    def starts(self) -> list[any_time.Start]:
        """What each starting point of an alarm has made, the latest first."""
        terms = self.terms
        return any_time.starts_of(
            self.epochs, terms.partition, terms.stakes, bets=terms.bets_on, limit=terms.limit
        )

    @property
    def change(self) -> Change:
        """When the score ceased to be calibrated: as told when the alarm was raised, else as seen by now."""
        if self.changed is not None:
            return self.changed
        confidence, batches = self.terms.confidence, self.batches
        first, earliest, latest = any_time.changed_since(
            self.starts, batches=len(batches), confidence=confidence
        )
        return Change(first, batches[first - 1].called, earliest, latest, confidence)

    @property
    def by_name(self) -> Mapping[str, Batch]:
        """The batches in order, by their names; those of files of one name have their numbers beside it."""
        names = [one.called for one in self.batches]
        times = Counter(names)
        return {
            name if times[name] == 1 else f"{name} (batch {number:,})": one
            for number, (name, one) in enumerate(zip(names, self.batches, strict=True), 1)
        }

    def knows(self, key: str) -> Batch | None:
        """Return the batch of a name, or None."""
        return next((batch for batch in self.batches if batch.key == key), None)

    def counted(
        self,
        rows: Table | Sums,
        batch: Batch | None = None,
        *,
        key: str = "",
        ids: Fingerprints | None = None,
        least_rows: int = DEFAULT_LEAST_ROWS,
    ) -> Self:
        """Return the state after a batch that it does not know, and a look at it."""
        sums = rows if isinstance(rows, Sums) else sums_of(rows, self.terms.partition)
        number = len(self.batches) + 1
        epochs = self.epochs
        if self.terms.alarm or not epochs:
            epochs = any_time.thinned((*epochs, any_time.Epoch(number, sums)))
        else:
            epochs = (any_time.Epoch(epochs[0].first, epochs[0].sums + sums),)
        known = self.ids if ids is None else np.sort(np.concatenate((self.ids, ids)))
        new = batch or Batch(key, "", sums.total_rows)
        if self.terms.measure is MeasureName.ECE:
            new = replace(new, own=own_error(sums, self.terms.partition))
        grown = replace(self, epochs=epochs, ids=known, batches=(*self.batches, new))
        look = replace(grown.look(), positive=grown.sums.total_positive, least=least_rows)
        grown = replace(grown, batches=(*self.batches, replace(grown.batches[-1], look=look)))
        return grown.latched(look, least_rows=least_rows)

    def look(self) -> Look:
        """Return what the rows say now; there are some."""
        bets, terms = self.bets, self.terms
        if terms.alarm:
            return Look(self.rows, bets.value, None, any_time.log_evidence(self.starts))
        limit = terms.limit or 0.0
        return Look(
            self.rows, bets.value, bets.log_pass(limit, terms.stakes), bets.log_fail(limit, terms.stakes)
        )

    def bounded(self) -> Self:
        """Return the state with the bounds of its last look; an alarm has none."""
        *before, last = self.batches
        if self.terms.alarm or last.look is None:
            return self
        bets, stakes, delta = self.bets, self.terms.stakes, 1.0 - self.terms.confidence
        lower, upper = bets.lower_bound(stakes, delta=delta), bets.upper_bound(stakes, delta=delta)
        look = replace(last.look, lower=lower, upper=upper)
        return replace(self, batches=(*before, replace(last, look=look)))

    def latched(self, look: Look, *, least_rows: int = DEFAULT_LEAST_ROWS) -> Self:
        """Return the state with what a look shows for good.

        Evidence that has ever reached 1 / delta stays: Ville's inequality is about the largest value there
        ever is. Too few rows for a verdict show nothing, but an alarm is as rarely false with few.
        """
        if not self.terms.alarm and self.too_few(least_rows) is not None:
            return self
        level, passed, failed = self.terms.threshold, self.passed_at, self.failed_at
        found, sums = self, None if self.terms.alarm else self.sums
        if passed is None and look.log_pass is not None and look.log_pass >= level:
            found = replace(found, passed_at=look.rows, passed_on=sums)
        if failed is None and look.log_fail >= level:
            # Later batches may be of a third population, and would only blur the date.
            changed = self.change if self.terms.alarm else None
            found = replace(found, failed_at=look.rows, failed_on=sums, changed=changed)
        return found

    def too_few(self, least_rows: int) -> str | None:
        sums = self.sums
        return too_few_counted(sums.total_rows, sums.total_positive, least=least_rows)


def differences(mine: Terms, other: Terms) -> list[str]:
    """Return what differs between terms, as `what: mine, not other`; rows under both could not be added."""
    pairs = zip(_agreed(mine).items(), _agreed(other).values(), strict=True)
    found = [
        f"{what}: {one}, not {two}" for (what, one), two in pairs if one != two and None not in (one, two)
    ]
    if not found and mine.partition != other.partition:
        of = "values of the score" if mine.partition.outputs else "values that make segments"
        found.append(f"{of}: others")
    if not found and mine.stakes != other.stakes:
        found.append("bets: other sizes")
    return found


def _agreed(terms: Terms) -> dict[str, str | None]:
    """Return what states must agree on in words, None where it is not known or there is none."""
    partition, classes = terms.partition, terms.classes
    return {
        "measure": terms.measure.value,
        "limit": "none" if terms.limit is None else f"{terms.limit!r}",
        "confidence": in_full(terms.confidence),
        "question": "an alarm" if terms.alarm else "a gate",
        "artifact": terms.artifact or "none",
        "score column": _folded(terms.score),
        # A state of version 1 does not say these.
        "label column": None if terms.label is None else _folded(terms.label),
        "weight column": None if terms.label is None else _folded(terms.weight),
        "scale": terms.scale.value,
        "numbers of phrases": phrases_said(terms.score_map),
        "rows": " and ".join(terms.where) or "all",
        "scores": "of two classes" if classes is None else "of several classes",
        "view": None if classes is None else classes.words,
        "classes": None if classes is None else ", ".join(classes.names),
        "segments": "none" if partition.segments is None else partition.segments.words,
        "label that counts as 1": "none" if terms.positive is None else repr(terms.positive),
        "bins": "each value of the score" if partition.outputs else f"{partition.bins}",
        "identities": "of rows" if terms.by_id else "of batches",
    }


def _folded(name: str | None) -> str:
    return "none" if name is None else name.strip().casefold()


NO_ALARM = "no alarm so far, which is no proof of calibration"

TWO_POPULATIONS = (
    "the evidence was enough for a pass at one time and a fail at another: the population has changed, or "
    "batches hold different rows, such as a group each"
)

_EARLY = "no alarm is no proof of it"

_INDEPENDENT = "rows are independent draws from the population that the verdict is about"

_KEPT = "a FAIL is final, and a PASS stands while the estimate is at most the limit"


def verdict_of(state: GateState, *, least_rows: int = DEFAULT_LEAST_ROWS) -> Verdict:
    """Judge by what a state holds; each wrong verdict has probability at most delta, however often one looks.

    A fail that the evidence was once enough for stands, whatever comes later; a pass stands only while the
    estimate over all rows is at most the limit: one more condition, which can only make passes rarer. Bounds
    speak of all rows counted by now, and where they no longer show what was shown, the reason says so. An
    alarm fails, or passes with the words that this proves nothing.
    """
    look = state.look()
    return _said(state.latched(look, least_rows=least_rows), look, least_rows=least_rows)


def verdict_on_file(state: GateState) -> Verdict:
    """Return what a state says as it stands: nothing is concluded now that was not when it was written."""
    return _said(state, state.look(), least_rows=1)


def _said(state: GateState, look: Look, *, least_rows: int) -> Verdict:
    terms = state.terms
    since = state.change if terms.alarm and state.failed_at is not None else None
    passed, failed = state.passed_at, state.failed_at
    plain = Verdict(
        claim=_claim(terms),
        outcome=VerdictName.PASS,
        value=look.value,
        lower=None,
        upper=None,
        method="betting, any time",
        target=Target.POPULATION,
        partition=terms.partition.described,
        any_time=True,
        assumptions=_assumptions(state),
        rows=look.rows,
        evidence=Evidence(look.log_pass, look.log_fail, terms.threshold, passed, failed, state.looks, since),
    )
    return _alarm(state, plain, since) if terms.alarm else _gate(state, look, plain, least_rows=least_rows)


def measure_word(measure: MeasureName | SegmentMeasure, partition: Partition) -> str:
    """Return the name of a measure in reports: "ece" only where each value is judged by itself."""
    return measure.value if partition.outputs or measure is not MeasureName.ECE else "binned_ece"


def _gate(state: GateState, look: Look, plain: Verdict, *, least_rows: int) -> Verdict:
    terms, bets = state.terms, state.bets
    outcome, reason = _outcome(state, look, least_rows=least_rows)
    lower = bets.lower_bound(terms.stakes, delta=1.0 - terms.confidence)
    upper = bets.upper_bound(terms.stakes, delta=1.0 - terms.confidence)
    needed = None
    if outcome is VerdictName.INCONCLUSIVE and reason is None and terms.measure is MeasureName.ECE:
        needed = _needed(state, least_rows, width=upper - lower).unless_above(look.value, plain.claim)
    judged = _judged(state)
    return replace(
        plain, outcome=outcome, lower=lower, upper=upper, needed=needed, reason=reason, segments=judged
    )


def _judged(state: GateState) -> JudgedSegments | None:
    """Return what the bets on each segment say now, and how many segments are not judged."""
    terms, segments = state.terms, state.terms.partition.segments
    if segments is None:
        return None
    entries, found = segments_of_sums(state.sums, terms.partition, segments)
    words = [one.words() for one in segments.columns]
    names = [
        tuple(own[at] for own, at in zip(words, level, strict=True) if at != ANY)
        for level in found.level.tolist()
    ]
    table = table_of(state.sums, terms.partition)
    rows = RowsBySegment(table, found, entries, names, segments.on, segments.depth, segments.least_rows)
    where = {tuple(level): place for place, level in enumerate(found.level.tolist())}
    bets = SegmentBets(state.sums, terms.partition, segments)
    ends = bets.each(terms.stakes, delta=1.0 - terms.confidence)
    places = np.array([where[level] for level in segments.judged])
    return judged_segments(rows, places, _claim(terms), ends=(ends.lower, ends.upper))


def _needed(state: GateState, least_rows: int, *, width: float) -> RowsNeeded:
    """Return the rows that would decide: those of a gate without a state, whose bets are nearly the same."""
    bins, table = state.terms.partition.as_bins, table_of(state.sums, state.terms.partition)
    ground = Ground(bins, least_rows=least_rows, confidence=state.terms.confidence)
    return rows_needed(table, binned(table, bins), _claim(state.terms), ground=ground, width=width)


def _outcome(state: GateState, look: Look, *, least_rows: int) -> tuple[VerdictName, str | None]:
    passed, failed, level = state.passed_at, state.failed_at, state.terms.threshold
    if failed is not None:
        then = None if look.log_fail >= level else _shown_then(failed, look, "lower bound is not")
        both = None if passed is None else TWO_POPULATIONS
        return VerdictName.FAIL, "; ".join(one for one in (both, then) if one is not None) or None
    if passed is None:
        return VerdictName.INCONCLUSIVE, state.too_few(least_rows)
    if look.value > (state.terms.limit or 0.0):
        still = (
            f"it passed at {passed:,} rows, but over all {look.rows:,} rows the estimate is above the limit"
        )
        why = "the population may have changed; --alarm watches for that"
        return VerdictName.INCONCLUSIVE, f"{still}: {why}"
    shown = look.log_pass is not None and look.log_pass >= level
    return VerdictName.PASS, None if shown else _shown_then(passed, look, "upper bound is")


def _shown_then(then: int, look: Look, bound_is: str) -> str:
    """Return when a verdict was shown that the bounds over all rows no longer show."""
    return f"shown at {then:,} rows; over all {look.rows:,} rows the {bound_is} above the limit"


def _alarm(state: GateState, plain: Verdict, since: Change | None) -> Verdict:
    limit = state.terms.limit
    within = "calibrated" if limit is None else f"calibrated within {in_full(limit)}"
    reason = NO_ALARM
    if since is not None:
        reason = f"no longer {within}: shown after {state.failed_at:,} rows; {since.words}"
    return replace(
        plain,
        outcome=VerdictName.PASS if since is None else VerdictName.FAIL,
        method="betting from every starting point, any time",
        assumptions=(f"the alarm tests whether the score is {within}; {_EARLY}", *plain.assumptions),
        reason=reason,
    )


def _claim(terms: Terms) -> Claim:
    """Return the claim; that of an alarm is never shown, only not refuted."""
    bound = Bound.LOWER if terms.alarm else Bound.UPPER
    return Claim(measure_word(terms.measure, terms.partition), terms.limit or 0.0, terms.confidence, bound)


def _assumptions(state: GateState) -> tuple[str, ...]:
    terms = state.terms
    if terms.partition.segments is not None:
        rows = f"{terms.partition.segments.least_rows:,} rows at the first look"
        what = f"{terms.partition.described}, those of {rows}; others are not tested"
    elif terms.measure is MeasureName.DCE:
        what = "the bounds hold for the lower and for the upper distance"
    elif terms.partition.outputs:
        of = (
            "the artifact has few outputs"
            if terms.artifact
            else "the values of the score were named beforehand"
        )
        what = f"{of}, so each is measured by itself, without bins"
    else:
        what = f"{terms.partition.described}, fixed in advance"
    kept = "an ALARM is final" if terms.alarm else _KEPT
    looks = f"you may check after every batch; once shown, {kept}"
    by = "bins" if terms.partition.segments is None else "segments"
    frozen = f"the limit, the {by} and the method are fixed in the state file"
    # An alarm speaks of the population of any rows there were.
    batches = "however they are batched" if terms.alarm else "in batches that follow no label, score or group"
    return f"{_INDEPENDENT}, {batches}", HELD_OUT, what, frozen, looks
