"""What `compare` returns: how the second of two scores differs from the first, measure by measure."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from calibcli.api.shown import Tabled
from calibcli.reports.compare import CompareReport
from calibcli.reports.comparison import Comparison

if TYPE_CHECKING:
    from calibcli.render.blocks import Page


@dataclass(frozen=True, slots=True, repr=False)
class Compared(Tabled):
    """
    Two scores on the same rows.

    `found["brier"]` is a `Comparison`: `first`, `second`, and their `difference` with its `interval`; below 0
    the second is better.

    Args:
        report: What was compared, as every renderer of the command takes it.
    """

    report: CompareReport

    @property
    def measures(self) -> dict[str, Comparison]:
        """Each measure of both by its name, those of several classes together last."""
        classes = self.report.classes
        joint = () if classes is None else classes.comparisons
        return {one.name.value: one for one in (*self.report.comparisons, *joint)}

    @property
    def worse_by(self) -> tuple[str, ...]:
        """The gated measures by which the second is shown to be worse; none where no gate was asked for."""
        return tuple(one.value for one in self.report.worse_by)

    def __getitem__(self, name: str) -> Comparison:
        found = self.measures
        if name in found:
            return found[name]
        msg = f"{name!r} was not compared; there are {', '.join(found)}"
        raise KeyError(msg)

    def __iter__(self) -> Iterator[str]:
        return iter(self.measures)

    def __len__(self) -> int:
        return len(self.measures)

    def to_dict(self) -> dict[str, object]:
        """Return the document of `calibcli compare --json`, as `calibcli schema compare` describes it."""
        from calibcli.documents.sealed import sealed

        return sealed(self.report.to_dict())

    def page(self, *, verbose: bool = False) -> "Page":
        """Return what is said of the comparison."""
        from calibcli.render.pages.compare import compare_page

        return compare_page(self.report, verbose=verbose)

    def lines(self) -> list[Mapping[str, object]]:
        """Return a row for each measure."""
        return [_line(one) for one in self.measures.values()]


def _line(comparison: Comparison) -> dict[str, object]:
    difference = comparison.difference
    interval = difference.interval
    return {
        "measure": comparison.name.value,
        "first": comparison.first.value,
        "second": comparison.second.value,
        "difference": difference.value,
        "lower": None if interval is None else interval.lower,
        "upper": None if interval is None else interval.upper,
        "confidence": None if interval is None else interval.confidence,
        "method": None if interval is None else interval.method,
        "target": None if interval is None else interval.target.value,
        "verdict": difference.verdict.value,
        "assumptions": "; ".join(difference.assumptions),
    }
