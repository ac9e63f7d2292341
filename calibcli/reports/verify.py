"""What `verify` hands back."""

from collections.abc import Iterable, Mapping
from typing import Annotated, ClassVar, Self

from calibcli.codec import ABSENT, HIDDEN, Declared, Key
from calibcli.names import GroupOrder, Inconclusive, VerdictName
from calibcli.reports.input import ArtifactPath, InputSummary, KeptReport, Notes, readable_keys
from calibcli.reports.measure import SCHEMA, TableSummary
from calibcli.stats.gates.claim import BOUNDS, Claim, OwnError, Verdict
from calibcli.values import dataclass, field, replace


@dataclass(frozen=True, slots=True)
class GroupVerdicts:
    """Verdicts on the rows of one group, one per rule by its id."""

    table: TableSummary
    verdicts: dict[str, Verdict]


@dataclass(frozen=True, slots=True)
class StateSummary(Declared):
    """What a gate that keeps a state has counted."""

    path: Annotated[str, "The state file."]
    batches: Annotated[int, "Batches it holds."]
    rows: Annotated[int, "Rows it holds."]
    new_rows: Annotated[int, "Rows that this call brought."]
    known: Annotated[
        tuple[str, ...],
        "Batches of this call that were counted before, and so are not counted again.",
    ] = ()
    known_rows: Annotated[int, "Rows of this call that were counted before."] = 0
    own_errors: Annotated[
        Mapping[str, OwnError],
        ABSENT,
        "The binned ECE of batches by themselves, by name: of all that stand out, and of the last one, "
        "unless the state is merged and none came last.",
    ] = field(default_factory=dict)


class Unmeasured:
    """What a report of a gate has in common with one of measures, and does not say."""

    __slots__ = ()

    @property
    def measures(self) -> Annotated[Mapping[str, object], "By name: none in the report of `verify`."]:
        return {}

    @property
    def tests(self) -> Annotated[Mapping[str, object], "By name: none in the report of `verify`."]:
        return {}

    @property
    def curve(self) -> Annotated[None, "The reliability diagram: none in the report of `verify`."]:
        return


@dataclass(frozen=True, slots=True)
class Overall(Declared):
    """One answer for all rules."""

    status: VerdictName
    inconclusive_counts_as: Inconclusive


@dataclass(frozen=True, slots=True)
class JudgedGroup(Unmeasured, Declared):
    """A group of rows in a report, in the shape of the whole."""

    input: InputSummary
    table: TableSummary
    artifact: ArtifactPath
    rules: Mapping[str, Verdict]
    verdict: Overall
    notes: tuple[str, ...] = ()
    slices: Annotated[Mapping[str, object], "None: groups have no groups."] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class JudgedGroups(Declared):
    """The groups of rows that a gate judged by themselves."""

    columns: Annotated[tuple[str, ...], "The columns whose values make them."]
    judged: Annotated[tuple[str, ...], "Keys of the groups among the slices."]
    left_out: Annotated[Mapping[str, int], "Rows of each group that has too few to be tested, by key."]
    least_rows: Annotated[int | None, "How many are enough; null where every group was tested."]
    claims: Annotated[
        int, "Claims tested together: each passes at delta, and fails at delta divided by their number."
    ]


@dataclass(frozen=True, slots=True)
class VerifyReport(KeptReport, Unmeasured):
    """Verdicts on every rule, and one for all of them."""

    SCHEMA: ClassVar = SCHEMA

    page: ClassVar[str] = "verify"
    input: InputSummary
    table: TableSummary
    artifact: ArtifactPath
    verdicts: Annotated[dict[str, Verdict], Key("rules"), "What was asked, by id."]
    # What an inconclusive gate counts as.
    policy: Annotated[Inconclusive, HIDDEN]
    notes: Notes = ()
    by: Annotated[tuple[str, ...], HIDDEN] = ()
    groups: Annotated[dict[str, GroupVerdicts], HIDDEN] = field(default_factory=dict)
    left_out: Annotated[dict[str, int], HIDDEN] = field(default_factory=dict)
    state: Annotated[
        StateSummary | None, ABSENT, "What the gate has counted; absent where it keeps no state."
    ] = None
    # How many rows of a group are enough to judge it, or None where every group was.
    least_group_rows: Annotated[int | None, HIDDEN] = None
    order: Annotated[GroupOrder, HIDDEN] = GroupOrder.WORST

    def readable(self) -> Self:
        names = readable_keys((*self.groups, *self.left_out), self.by)
        if not names:
            return self
        groups = {names[key]: one for key, one in self.groups.items()}
        return replace(self, groups=groups, left_out={names[key]: one for key, one in self.left_out.items()})

    @property
    def verdict(self) -> Annotated[Overall, "One answer for all rules."]:
        return Overall(self.outcome, self.policy)

    @property
    def slices(self) -> Annotated[Mapping[str, JudgedGroup], "Groups of rows, by key such as `country=US`."]:
        return {
            key: JudgedGroup(
                self.input,
                one.table,
                self.artifact,
                one.verdicts,
                Overall(outcome_of_all(one.verdicts.values()), self.policy),
            )
            for key, one in self.groups.items()
        }

    @property
    def judged_groups(
        self,
    ) -> Annotated[
        JudgedGroups | None,
        ABSENT,
        "The groups among the slices of a gate; absent where none were asked for.",
    ]:
        if not self.by:
            return None
        judged, claims = tuple(self.groups), len(self.claims)
        return JudgedGroups(self.by, judged, self.left_out, self.least_group_rows, claims)

    @property
    def every_verdict(self) -> tuple[tuple[str, str, Verdict], ...]:
        """Group (empty for all rows), rule and verdict of everything judged."""
        whole = [("", key, verdict) for key, verdict in self.verdicts.items()]
        parts = [
            (group, key, verdict)
            for group, one in self.groups.items()
            for key, verdict in one.verdicts.items()
        ]
        return (*whole, *parts)

    @property
    def rules(self) -> tuple[str, ...]:
        """The ids of the rules: those of the whole, and those that every group was judged by."""
        first = next(iter(self.groups.values()), None)
        return tuple(dict.fromkeys((*self.verdicts, *(() if first is None else first.verdicts))))

    @property
    def claims(self) -> tuple[Claim, ...]:
        """The claims that are judged together: all with a confidence, in all groups."""
        return tuple(verdict.claim for _, _, verdict in self.every_verdict if verdict.claim.bound in BOUNDS)

    @property
    def outcome(self) -> VerdictName:
        return outcome_of_all(verdict for _, _, verdict in self.every_verdict)


def outcome_of_all(verdicts: Iterable[Verdict]) -> VerdictName:
    """Return fail if any verdict is one, pass if all are, inconclusive otherwise."""
    outcomes = {verdict.outcome for verdict in verdicts}
    if VerdictName.FAIL in outcomes:
        return VerdictName.FAIL
    return VerdictName.PASS if outcomes == {VerdictName.PASS} else VerdictName.INCONCLUSIVE
