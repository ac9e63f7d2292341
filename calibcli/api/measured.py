"""What `measure` returns: estimates by their names, and of groups, classes and further scores by theirs."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from calibcli.api.shown import Tabled
from calibcli.measures.estimate import ClassEstimate, Estimate, TestResult
from calibcli.reports.measure import MeasureReport

if TYPE_CHECKING:
    from calibcli.render.blocks import Page

_WHOLE = "all"


@dataclass(frozen=True, slots=True, repr=False)
class Measured(Tabled):
    """
    Measures with their intervals, as `measure` returns them.

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
        classes = self.report.classes
        of_classes: tuple[ClassEstimate, ...] = () if classes is None else classes.measures
        found: tuple[Estimate | ClassEstimate, ...] = (*self.report.measures, *of_classes)
        return {one.name.value: one for one in found}

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
    def slices(self) -> "dict[str, Measured]":
        """Measures of groups, classes and further scores by key, such as `country=US` and `score=new`."""
        return {key: Measured(one) for key, one in self.report.slices.items()}

    @property
    def rows(self) -> int:
        """How many rows were measured."""
        return self.report.table.rows

    @property
    def notes(self) -> tuple[str, ...]:
        """Sentences that the reader should not miss."""
        return (*self.report.input.notes, *self.report.notes)

    def __getitem__(self, name: str) -> Estimate | ClassEstimate:
        found = self.measures
        if name in found:
            return found[name]
        raise KeyError(self._lacking(name))

    def __getattr__(self, name: str) -> Estimate | ClassEstimate:
        # Asked for whatever else an object may have; before there is a report, and by copy and pickle, too.
        if name.startswith("_") or name == "report":
            raise AttributeError(name)
        found = self.measures
        if name in found:
            return found[name]
        raise AttributeError(self._lacking(name))

    def __iter__(self) -> Iterator[str]:
        return iter(self.measures)

    def __len__(self) -> int:
        return len(self.measures)

    def __contains__(self, name: object) -> bool:
        return name in self.measures

    def __dir__(self) -> list[str]:
        return sorted({*object.__dir__(self), *self.measures})

    def to_dict(self) -> dict[str, object]:
        """Return the document of `calibcli measure --json`, as `calibcli schema report` describes it."""
        from calibcli.documents.sealed import sealed

        return sealed(self.report.to_dict())

    def page(self, *, verbose: bool = False) -> "Page":
        """Return what is said of the measures."""
        from calibcli.render.pages.measure import measure_page

        return measure_page(self.report, verbose=verbose)

    def lines(self) -> list[Mapping[str, object]]:
        """Return a row for each measure of all rows, and of each slice."""
        parts = {_WHOLE: self, **self.slices}
        return [line_of(key, one) for key, part in parts.items() for one in part.measures.values()]

    def _lacking(self, name: str) -> str:
        return f"{name!r} was not measured; there are {', '.join(self.measures)}"


def line_of(key: str, estimate: Estimate | ClassEstimate) -> dict[str, object]:
    """Return an estimate as a row of `to_frame`; `key` is that of its slice."""
    interval = estimate.interval
    return {
        "slice": key,
        "measure": estimate.name.value,
        "value": estimate.value,
        "lower": None if interval is None else interval.lower,
        "upper": None if interval is None else interval.upper,
        "confidence": None if interval is None else interval.confidence,
        "method": None if interval is None else interval.method,
        "target": None if interval is None else interval.target.value,
        "if_calibrated": estimate.null,
        "if_calibrated_lower": None if estimate.null_range is None else estimate.null_range[0],
        "if_calibrated_upper": None if estimate.null_range is None else estimate.null_range[1],
        "rows": estimate.rows,
        "assumptions": "; ".join(estimate.assumptions),
    }
