"""What `measure`, `compare` and `verify` return, how it shows itself, and reports that were saved."""

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Generic, TypeVar

from calibcli.codec import ANY_NUMBER, Node
from calibcli.documents.sealed import canonical_text
from calibcli.names import Inconclusive, VerdictName
from calibcli.options.measuring import usual_metric
from calibcli.python.problems import said
from calibcli.reports.compare import CompareReport, Comparison
from calibcli.reports.drift import DriftColumn, DriftReport
from calibcli.reports.leaderboard import LeaderboardReport, Ranking, Standing
from calibcli.reports.maps import InspectReport
from calibcli.reports.measure import MeasureReport, measures_in
from calibcli.reports.segments import Segment, SegmentsReport
from calibcli.reports.verify import VerifyReport
from calibcli.show.blocks import Page
from calibcli.stats.bounds import Interval
from calibcli.stats.curves.net_benefit import NetBenefit
from calibcli.stats.gates.claim import Verdict
from calibcli.stats.measures import ClassEstimate, Estimate, TestResult, TopError
from calibcli.values import dataclass

if TYPE_CHECKING:
    import pandas as pd


class Shown(ABC):
    """A result that knows its page; the command shows the same."""

    __slots__ = ()

    @abstractmethod
    def page(self, *, verbose: bool = False) -> "Page":
        """Return what is said of the result, with a sentence on every number where `verbose`."""

    @abstractmethod
    def to_dict(self) -> dict[str, object]:
        """Return the document that the command writes with `--json`, as plain values."""

    def to_json(self) -> str:
        """Return the document as the command writes it, byte for byte."""
        from calibcli.documents.sealed import sealed_text

        return sealed_text(self.to_dict())

    def text(self, *, verbose: bool = False) -> str:
        """Return the report that the command prints."""
        from calibcli.show.blocks import IN_FILE
        from calibcli.show.terminal import TerminalRenderer

        return TerminalRenderer(IN_FILE, verbose).text(self.page(verbose=verbose))

    def __repr__(self) -> str:
        return self.text().rstrip("\n")

    def _repr_html_(self) -> str:
        from calibcli.python.notebook import html_of_page

        return html_of_page(self.page())


class Tabled(Shown):
    """A result that has a line for each of its numbers."""

    __slots__ = ()

    @abstractmethod
    def lines(self) -> list[Mapping[str, object]]:
        """Return one mapping of column to value for each row of `to_frame`."""

    def to_frame(self) -> "pd.DataFrame":
        """Return a tidy `pandas.DataFrame`: one row for each number, none of them rounded."""
        import pandas as pd

        return pd.DataFrame(self.lines())


Number = TypeVar("Number")


class Named(Generic[Number]):
    """What has its measures by name."""

    __slots__ = ()

    @property
    @abstractmethod
    def measures(self) -> Mapping[str, Number]:
        """Each measure by its name."""

    def _lacking(self, name: str) -> str:
        return f"{name!r} was not compared; there are {', '.join(self.measures)}"

    def __getitem__(self, name: str) -> Number:
        found = self._called(name)
        if found is None:
            raise KeyError(self._lacking(name))
        return found

    def __contains__(self, name: object) -> bool:
        return self._called(name) is not None

    def _called(self, name: object) -> Number | None:
        """Return a measure by its name, or by another that `metric` takes for it."""
        if not isinstance(name, str):
            return None
        return self.measures.get(name) or self.measures.get(usual_metric(name))

    def __iter__(self) -> Iterator[str]:
        return iter(self.measures)

    def __len__(self) -> int:
        return len(self.measures)


class Reported(Tabled):
    """A result that is a report of a command."""

    __slots__ = ()

    report: MeasureReport | CompareReport | LeaderboardReport | VerifyReport | SegmentsReport | DriftReport

    @property
    def notes(self) -> tuple[str, ...]:
        """Sentences that the reader should not miss, each once, with options as keywords."""
        report = self.report
        read = (report.old, report.new) if isinstance(report, DriftReport) else (report.input,)
        found = (*(note for one in read for note in one.notes), *report.notes)
        return tuple(dict.fromkeys(map(said, found)))

    def to_dict(self) -> dict[str, object]:
        """Return the document that the command writes with `--json`, as `calibcli schema` describes it."""
        from calibcli.documents.sealed import sealed
        from calibcli.show.answers import document_of

        return sealed(document_of(self.report))

    def page(self, *, verbose: bool = False) -> "Page":
        """Return what is said of the report."""
        from calibcli.show.pages import page_of

        return page_of(self.report, verbose=verbose)


_WHOLE = "all"


@dataclass(frozen=True, slots=True, repr=False)
class Measured(Named[Estimate | ClassEstimate], Reported):
    """Measures with their intervals, as `measure` returns them.

    `report["ece"]` and `report.ece` are the same `Estimate`: its `value`, its `interval` (None, or an
    `Interval` with `lower`, `upper`, `confidence`, `method`, `target`, `finite_sample`), what a calibrated
    score would show on these rows (`null` on average, `null_range` in nine of ten), and the `assumptions`
    under which these mean what they say.

    Args:
        report: What was measured, as every renderer of the command takes it.
    """

    report: MeasureReport

    @property
    def measures(self) -> dict[str, Estimate | ClassEstimate]:
        """Every measure by its name, those of several classes together last."""
        return {one.name.value: one for one in self.report.every_measure}

    @property
    def tests(self) -> dict[str, TestResult]:
        """Every test of calibration by its name, with its `p_value`."""
        return {one.name.value: one for one in self.report.tests}

    @property
    def p_value(self) -> float | None:
        """The p-value of Kuiper, Spiegelhalter and t together; None where not all of them were asked for."""
        combined = self.report.combined
        return None if combined is None else combined.p_value

    @property
    def net_benefit(self) -> tuple[NetBenefit, ...]:
        """What acting on the score is worth at each of the thresholds asked for."""
        return self.report.net_benefit

    @property
    def top(self) -> tuple[TopError, ...]:
        """The errors of the k largest probabilities of a row together, where `top` asked for them."""
        return () if self.report.classes is None else self.report.classes.top

    @property
    def slices(self) -> "dict[str, Measured]":
        """Measures of groups, classes and further scores by key, such as `country=US` and `score=new`."""
        return {key: Measured(one) for key, one in self.report.slices.items()}

    @property
    def rows(self) -> int:
        """How many rows were measured."""
        return self.report.table.rows

    def __getattr__(self, name: str) -> Estimate | ClassEstimate:
        # Asked for whatever else an object may have; before there is a report, and by copy and pickle, too.
        if name.startswith("_") or name == "report":
            raise AttributeError(name)
        found = self._called(name)
        if found is None:
            raise AttributeError(self._lacking(name))
        return found

    def __eq__(self, other: object) -> bool:
        # Curves in the report hold arrays, of which there is no one answer.
        return self.to_dict() == other.to_dict() if isinstance(other, Measured) else NotImplemented

    __hash__ = None  # type: ignore[assignment]

    def __dir__(self) -> list[str]:
        return sorted({*object.__dir__(self), *self.measures})

    def lines(self) -> list[Mapping[str, object]]:
        """Return a row for each measure of all rows, and of each slice."""
        parts = {_WHOLE: self, **self.slices}
        return [line_of(key, one) for key, part in parts.items() for one in part.measures.values()]

    def _lacking(self, name: str) -> str:
        if name in self.tests:
            return f"{name!r} is a test: its p-value is in .tests[{name!r}]"
        return f"{name!r} was not measured; there are {', '.join(self.measures)}"


def line_of(key: str, estimate: Estimate | ClassEstimate) -> dict[str, object]:
    """Return an estimate as a row of `to_frame`; `key` is that of its slice."""
    return {
        "slice": key,
        "measure": estimate.name.value,
        "value": estimate.value,
        **_interval_cells(estimate.interval),
        "if_calibrated": estimate.null,
        "if_calibrated_lower": None if estimate.null_range is None else estimate.null_range[0],
        "if_calibrated_upper": None if estimate.null_range is None else estimate.null_range[1],
        "rows": estimate.rows,
        "assumptions": "; ".join(estimate.assumptions),
    }


def _interval_cells(interval: Interval | None) -> dict[str, object]:
    target = None if interval is None else interval.target.value
    names = ("lower", "upper", "confidence", "method")
    return {**{name: getattr(interval, name, None) for name in names}, "target": target}


def _ends_of(name: str, interval: object) -> dict[str, object]:
    """Return both ends of an interval as columns, None where there is none."""
    return {f"{name}_{end}": getattr(interval, end, None) for end in ("lower", "upper")}


@dataclass(frozen=True, slots=True, repr=False)
class Compared(Named[Comparison], Reported):
    """Two scores on the same rows.

    `found["brier"]` is a `Comparison`: `first`, `second`, and their `difference` with its `interval`; below 0
    the second is better.

    Args:
        report: What was compared, as every renderer of the command takes it.
    """

    report: CompareReport

    @property
    def measures(self) -> dict[str, Comparison]:
        """Each measure of both by its name, those of several classes together last."""
        return {one.name.value: one for one in self.report.every_comparison}

    @property
    def worse_by(self) -> tuple[str, ...]:
        """The gated measures by which the second is shown to be worse; none where no gate was asked for."""
        return tuple(one.value for one in self.report.worse_by)

    def lines(self) -> list[Mapping[str, object]]:
        """Return a row for each measure."""
        return [_line(one) for one in self.measures.values()]


@dataclass(frozen=True, slots=True, repr=False)
class Ranked(Named[Ranking], Reported):
    """Several scores as a leaderboard.

    `found["brier"]` is a `Ranking`: its `standings`, the best first, each with its `estimate`, its `contrast`
    to the best or the reference, and its `skill` where there is a reference.

    Args:
        report: What was compared, as every renderer of the command takes it.
    """

    report: LeaderboardReport

    @property
    def measures(self) -> dict[str, Ranking]:
        """The ranking by each measure, by its name."""
        return {one.name.value: one for one in self.report.rankings}

    @property
    def worse_by(self) -> tuple[str, ...]:
        """Scores shown to be worse than the reference by a gated measure; none without a gate."""
        return self.report.worse_by

    @property
    def groups(self) -> dict[str, dict[str, Ranking]]:
        """The ranking by each measure in each group of rows; none without `by`."""
        found = () if self.report.groups is None else self.report.groups.boards
        return {group.name: {one.name.value: one for one in group.rankings} for group in found}

    def lines(self) -> list[Mapping[str, object]]:
        """Return a row for each score and measure, and then for those of each group."""
        boards = [(None, self.measures), *self.groups.items()]
        return [
            {**({"group": group} if self.groups else {}), **_standing_line(name, ranking.against, one)}
            for group, board in boards
            for name, ranking in board.items()
            for one in ranking.standings
        ]


def _standing_line(measure: str, against: str, one: Standing) -> dict[str, object]:
    contrast, skill = one.contrast, one.skill
    own = None if contrast is None else contrast.difference.interval
    return {
        "measure": measure,
        "score": one.name,
        "rows": one.rows,
        "value": one.estimate.value,
        **_interval_cells(one.estimate.interval),
        "against": against,
        "difference": None if contrast is None else contrast.difference.value,
        **_ends_of("difference", own),
        "common_rows": None if contrast is None else contrast.rows,
        "skill": None if skill is None else skill.value,
        **_ends_of("skill", None if skill is None else skill.interval),
        "verdict": None if contrast is None else contrast.verdict.value,
    }


def _line(comparison: Comparison) -> dict[str, object]:
    difference = comparison.difference
    return {
        "measure": comparison.name.value,
        "first": comparison.first.value,
        "second": comparison.second.value,
        "difference": difference.value,
        **_interval_cells(difference.interval),
        "verdict": difference.verdict.value,
        "assumptions": "; ".join(difference.assumptions),
    }


@dataclass(frozen=True, slots=True, repr=False)
class Segmented(Reported):
    """Segments of the rows, those in which scores are shown to be wrong first.

    Args:
        report: What was found, as every renderer of the command takes it.
    """

    report: SegmentsReport

    @property
    def segments(self) -> tuple[Segment, ...]:
        """Every segment, also those that are not tested."""
        return self.report.segments

    @property
    def shown(self) -> tuple[Segment, ...]:
        """The segments that stand out by more than a larger one explains, worst first."""
        return self.report.shown

    @property
    def mce(self) -> float | None:
        """Multicalibration error; None where no segment was tested."""
        return self.report.mce.value

    @property
    def mce_sigma(self) -> float | None:
        """The largest range of cumulative residuals in standard deviations."""
        return self.report.mce_sigma.value

    @property
    def mce_p(self) -> float | None:
        """The smallest p-value, for all segments at once."""
        return self.report.mce_p.value

    @property
    def slices(self) -> "dict[str, Segmented]":
        """The segments of further scores, by key such as "score=b"."""
        return {key: Segmented(one) for key, one in self.report.slices.items()}

    def lines(self) -> list[Mapping[str, object]]:
        """Return a row for each segment, of each score."""
        own = [_segment_line(one, self.report.input.score) for one in self.segments]
        return [*own, *(line for one in self.slices.values() for line in one.lines())]


@dataclass(frozen=True, slots=True, repr=False)
class Drifted(Reported):
    """How far the score and further columns have shifted; `found["country"]` is one of these columns.

    Args:
        report: What was found, as every renderer of the command takes it.
    """

    report: DriftReport

    def __iter__(self) -> Iterator[str]:
        return (one.name for one in self.report.columns)

    def __getitem__(self, name: str) -> DriftColumn:
        for one in self.report.columns:
            if one.name == name:
                return one
        msg = f"{name!r} was not compared; there are {', '.join(one.name for one in self.report.columns)}"
        raise KeyError(msg)

    @property
    def columns(self) -> tuple[DriftColumn, ...]:
        """The score, then the other columns."""
        return self.report.columns

    @property
    def psi(self) -> float:
        """The population stability index of the score."""
        return self.columns[0].psi

    @property
    def p_value(self) -> float:
        """The p-value of "the scores have not shifted", for all columns at once."""
        return self.columns[0].p_joint

    @property
    def shifted(self) -> tuple[str, ...]:
        """The names of the columns of which a shift is shown."""
        return tuple(one.name for one in self.report.shifted)

    @property
    def failed_by(self) -> tuple[str, ...]:
        """The names of those whose PSI is above `max_psi`; none without one."""
        return () if self.report.gate is None else self.report.gate.failed_by

    def lines(self) -> list[Mapping[str, object]]:
        """Return a row for each level of each column."""
        return [
            {"column": one.name, **level.to_dict(), "column_psi": one.psi, "p_joint": one.p_joint}
            for one in self.columns
            for level in one.levels
        ]


def _segment_line(one: Segment, score: str) -> dict[str, object]:
    return {
        "segment": " and ".join(one.where) or _WHOLE,
        "rows": one.rows,
        "positive": one.positive,
        "mean_score": one.mean_score,
        "observed_rate": one.observed_rate,
        "bias": one.bias,
        **_ends_of("bias", one.bias_interval),
        "observed_by_expected": one.observed_by_expected,
        **_ends_of("ratio", one.ratio_interval),
        "sigma": one.sigma,
        "p_value": one.p_value,
        "smallest_detectable": one.smallest_detectable,
        "stands_out": one.stands_out,
        "explained_by": None if one.explained_by is None else " and ".join(one.explained_by) or _WHOLE,
        "not_tested": one.not_tested,
        "score": score,
    }


@dataclass(frozen=True, slots=True, repr=False)
class Verified(Reported):
    """Verdicts on every rule, and one for all of them.

    It is true where the gate passed, so that `assert calibcli.verify(...)` is no trap; `.passed` says it in
    words.

    Args:
        report: What was judged, as every renderer of the command takes it.
    """

    report: VerifyReport

    @property
    def status(self) -> str:
        """What was found: "pass", "fail", or "inconclusive" where the rows cannot tell."""
        return self.report.outcome.value

    @property
    def passed(self) -> bool:
        """Whether the gate passed; an inconclusive one did where `inconclusive="pass"` was asked for."""
        outcome = self.report.outcome
        if outcome is VerdictName.INCONCLUSIVE:
            return self.report.policy is Inconclusive.PASS
        return outcome is VerdictName.PASS

    @property
    def rules(self) -> dict[str, Verdict]:
        """The verdict on each rule over all rows, by its id, with `outcome`, `value`, `lower`, `upper`."""
        return dict(self.report.verdicts)

    @property
    def groups(self) -> dict[str, dict[str, Verdict]]:
        """The same for each group that was judged, by its key."""
        return {key: dict(one.verdicts) for key, one in self.report.groups.items()}

    def __bool__(self) -> bool:
        return self.passed

    def lines(self) -> list[Mapping[str, object]]:
        """Return a row for each rule over all rows, and in each group."""
        return [_verified_line(group or _WHOLE, rule, one) for group, rule, one in self.report.every_verdict]


def _verified_line(group: str, rule: str, verdict: Verdict) -> dict[str, object]:
    claim = verdict.claim
    return {
        "slice": group,
        "rule": rule,
        "claim": claim.expression,
        "outcome": verdict.outcome.value,
        "value": verdict.value,
        "lower": verdict.lower,
        "upper": verdict.upper,
        "limit": claim.limit,
        "confidence": claim.confidence,
        "method": verdict.method,
        "target": None if verdict.target is None else verdict.target.value,
        "rows": verdict.rows,
        "reason": verdict.reason,
        "assumptions": "; ".join(verdict.assumptions),
    }


@dataclass(frozen=True, slots=True, repr=False)
class SavedReport(Named[Estimate | ClassEstimate], Tabled):
    """A report of `measure` or `verify` that was loaded: its numbers by name, nothing measured again.

    As what `verify` returned it is false where the gate did not pass.
    """

    document: dict[str, object]
    facts: InspectReport

    @property
    def measures(self) -> dict[str, Estimate | ClassEstimate]:
        """Every measure by its name, as `Measured` has it; none of a report of `verify`."""
        return measures_in(Node(self.document))

    @property
    def slices(self) -> "dict[str, dict[str, Estimate | ClassEstimate]]":
        """The measures of groups, classes and further scores by key."""
        return {key: measures_in(one) for key, one in Node(self.document).child("slices").members().items()}

    @property
    def status(self) -> str | None:
        """What the gate found: "pass", "fail" or "inconclusive"; None of a report of `measure`."""
        verdict = Node(self.document).child("verdict")
        return None if verdict.value is None else verdict.child("status").text()

    def __bool__(self) -> bool:
        if self.status == VerdictName.INCONCLUSIVE:
            policy = Node(self.document).child("verdict").child("inconclusive_counts_as")
            return policy.choice(Inconclusive) is Inconclusive.PASS
        return self.status in (None, VerdictName.PASS)

    def _lacking(self, name: str) -> str:
        return f"the report does not have {name!r}; there are {', '.join(self.measures) or 'no measures'}"

    def to_dict(self) -> dict[str, object]:
        """Return the document as it was read, with its digest."""
        return self.document

    def to_json(self) -> str:
        """Return the text of the document."""
        return canonical_text(self.document)

    def page(self, *, verbose: bool = False) -> "Page":
        """Return what `calibcli inspect` says of the file."""
        from calibcli.show.pages import page_of

        return page_of(self.facts, verbose=verbose)

    def lines(self) -> list[Mapping[str, object]]:
        """Return a row for each measure of all rows, and of each slice; of `verify` one for each rule."""
        root, parts = Node(self.document), {_WHOLE: self.measures, **self.slices}
        bodies = {_WHOLE: root, **root.child("slices").members()}
        return [
            *(line_of(key, one) for key, part in parts.items() for one in part.values()),
            *(
                _saved_verdict(key, rule, one)
                for key, body in bodies.items()
                if body.has("rules")
                for rule, one in body.child("rules").members().items()
            ),
        ]


def _saved_verdict(group: str, rule: str, node: Node) -> dict[str, object]:
    """Return a verdict of a document as the row that `Verified` has for it."""
    numbers = {name: node.optional(name) for name in ("value", "lower", "upper")}
    texts = {name: node.optional(name) for name in ("target", "reason")}
    words = {name: None if one is None else one.text() for name, one in texts.items()}
    return {
        "slice": group,
        "rule": rule,
        "claim": node.child("expr").text(),
        "outcome": node.child("status").choice(VerdictName).value,
        **{name: None if one is None else ANY_NUMBER.read(one) for name, one in numbers.items()},
        "limit": node.child("limit").number(),
        "confidence": node.child("confidence").number(0.0, 1.0),
        "method": node.child("method").text(),
        "target": words["target"],
        "rows": node.child("rows").whole(),
        "reason": words["reason"],
        "assumptions": "; ".join(node.child("assumptions").texts()),
    }
