"""A report that was written to a file, as the document it is."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from calibcli.api.shown import Tabled
from calibcli.codec import Node
from calibcli.documents.sealed import canonical_text
from calibcli.measures.estimate import ClassEstimate, Estimate
from calibcli.names import MeasureName
from calibcli.reports.inspect import InspectReport
from calibcli.view_names import ClassMeasure

if TYPE_CHECKING:
    from calibcli.render.blocks import Page

_WHOLE = "all"


@dataclass(frozen=True, slots=True, repr=False)
class SavedReport(Tabled):
    """
    A report of `measure` or `verify` that was loaded: its numbers by name, nothing measured again.

    Args:
        document: The document.

        facts: What `calibcli inspect` says of it.
    """

    document: dict[str, object]
    facts: InspectReport

    @property
    def measures(self) -> dict[str, Estimate | ClassEstimate]:
        """Every measure by its name, as `Measured` has it; none of a report of `verify`."""
        return _measures(Node(self.document))

    @property
    def slices(self) -> "dict[str, dict[str, Estimate | ClassEstimate]]":
        """The measures of groups, classes and further scores by key."""
        return {key: _measures(one) for key, one in Node(self.document).child("slices").members().items()}

    @property
    def status(self) -> str | None:
        """What the gate found: "pass", "fail" or "inconclusive"; None of a report of `measure`."""
        verdict = Node(self.document).child("verdict")
        return None if verdict.value is None else verdict.child("status").text()

    def __getitem__(self, name: str) -> Estimate | ClassEstimate:
        found = self.measures
        if name in found:
            return found[name]
        msg = f"the report does not have {name!r}; there are {', '.join(found) or 'no measures'}"
        raise KeyError(msg)

    def __iter__(self) -> Iterator[str]:
        return iter(self.measures)

    def __len__(self) -> int:
        return len(self.measures)

    def to_dict(self) -> dict[str, object]:
        """Return the document as it was read, with its digest."""
        return self.document

    def to_json(self) -> str:
        """Return the text of the document."""
        return canonical_text(self.document)

    def page(self, *, verbose: bool = False) -> "Page":  # noqa: ARG002 - as every page
        """Return what `calibcli inspect` says of the file."""
        from calibcli.render.pages.inspect import inspect_page

        return inspect_page(self.facts)

    def lines(self) -> list[Mapping[str, object]]:
        """Return a row for each measure of all rows, and of each slice."""
        from calibcli.api.measured import line_of

        parts = {_WHOLE: self.measures, **self.slices}
        return [line_of(key, one) for key, part in parts.items() for one in part.values()]


def _measures(body: Node) -> dict[str, Estimate | ClassEstimate]:
    rows = body.child("table").child("rows").whole()
    return {name: _estimate(name, one, rows) for name, one in body.child("measures").members().items()}


def _estimate(name: str, node: Node, rows: int) -> Estimate | ClassEstimate:
    known = node.knowing(rows=rows, null_range=_null_range(node))
    if name in set(ClassMeasure):
        return ClassEstimate.from_dict(known.knowing(name=ClassMeasure(name)))
    return Estimate.from_dict(known.knowing(name=Node(name).choice(MeasureName)))


def _null_range(node: Node) -> tuple[float, float] | None:
    """Return the range if calibrated, which reports of earlier versions do not have."""
    ends = [node.members().get(end) for end in ("null_lower", "null_upper")]
    low, high = (None if end is None or end.value is None else end.number() for end in ends)
    return None if low is None or high is None else (low, high)
