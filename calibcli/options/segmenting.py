"""What is asked of segments: how columns are cut, how deep, and which are tested."""

import math
from collections.abc import Sequence
from typing import Any

from calibcli.errors import UsageProblem
from calibcli.names import DEFAULT_CONFIDENCE, DEFAULT_LEAST_ROWS, DEFAULT_SEED, GroupOrder
from calibcli.options.declaring import COLUMNS, Option, Section, nested, option
from calibcli.options.measuring import BINS, CONFIDENCE, SORT, check_confidence
from calibcli.options.rows import SEED, listed, names_of
from calibcli.values import dataclass

MOST_DEPTH, MOST_VALUES = 4, 1_000
# So large a PSI no one means to pass: above 0.25 it is much by convention.
_PERCENT = 5.0
_KIND = Option((), section=Section.GROUPS, metavar="COLS", complete=COLUMNS, shell=list[str] | None)


@dataclass(frozen=True, slots=True, repr=False)
class Cutting:
    """How the values of columns make segments."""

    depth: int = option(
        2, "--depth", section=Section.GROUPS, metavar="N", least=1, most=MOST_DEPTH,
        help="Cross the values of up to N columns.",
    )  # fmt: skip
    most_values: int = option(
        10, "--max-values", section=Section.GROUPS, name="max_values", metavar="N", least=1, most=MOST_VALUES,
        help="Make segments of the N most frequent values of a column; the rest is (other).",
    )  # fmt: skip
    categorical: tuple[str, ...] = option(
        (), like=_KIND._replace(flags=("--categorical",)),
        help="Columns of numbers that stand for categories, such as codes.",
    )  # fmt: skip
    numeric: tuple[str, ...] = option(
        (), like=_KIND._replace(flags=("--numeric",)),
        help="Columns to cut at their quartiles although they have few whole numbers.",
    )  # fmt: skip

    @classmethod
    def of(
        cls,
        categorical: str | Sequence[str] | None = None,
        numeric: str | Sequence[str] | None = None,
        **more: Any,  # noqa: ANN401 - the other fields
    ) -> "Cutting":
        return cls(categorical=_columns(categorical), numeric=_columns(numeric), **more)

    def __post_init__(self) -> None:
        both = set(self.categorical) & set(self.numeric)
        if both:
            msg = f"--categorical and --numeric both name {min(both)!r}"
            raise UsageProblem(msg, "leave out one of them")

    def kinds(self, columns: Sequence[str]) -> tuple[bool | None, ...]:
        """Return whether each column is one of categories; None where its values tell."""
        for option_name, names in (("--categorical", self.categorical), ("--numeric", self.numeric)):
            unknown = [name for name in names if name not in columns]
            if unknown:
                msg = f"{option_name} names {unknown[0]!r}, and --on does not"
                raise UsageProblem(msg, f"--on names {', '.join(columns) or 'no column'}")
        known = {**dict.fromkeys(self.categorical, True), **dict.fromkeys(self.numeric, False)}
        return tuple(known.get(name) for name in columns)


MIN_SEGMENT_ROWS = Option(
    ("--min-segment-rows",), section=Section.GROUPS, name="min_segment_rows", metavar="N", least=1,
    help="Smaller segments are counted, but not tested.",
)  # fmt: skip


@dataclass(frozen=True, slots=True, repr=False)
class Segmenting:
    """Which segments there are beside whatever else is asked of rows."""

    cut: Cutting = nested(Cutting(), Cutting)
    least_rows: int = option(DEFAULT_LEAST_ROWS, like=MIN_SEGMENT_ROWS)


def _columns(words: str | Sequence[str] | None) -> tuple[str, ...]:
    return tuple(name for one in listed(words) for name in names_of(one) or () if name)


@dataclass(frozen=True, slots=True, repr=False)
class FitCutting(Cutting):
    """The same for a repair, which more values only help: what few rows say of them counts little."""

    depth: int = option(
        3, "--depth", section=Section.GROUPS, metavar="N", least=1, most=MOST_DEPTH,
        help="Use intersections of up to N columns.",
    )  # fmt: skip
    most_values: int = option(
        50, "--max-values", name="max_values", section=Section.GROUPS, metavar="N", least=1, most=MOST_VALUES,
        help="Use the N most frequent values of a column; the rest is (other).",
    )  # fmt: skip
    numeric: tuple[str, ...] = option(
        (), like=_KIND._replace(flags=("--numeric",)),
        help="Columns to cut into intervals although they have few whole numbers.",
    )  # fmt: skip


@dataclass(frozen=True, slots=True, repr=False)
class SegmentOptions:
    cut: Cutting = nested(Cutting(), Cutting)
    least_rows: int = option(
        DEFAULT_LEAST_ROWS, "--min-rows", section=Section.GROUPS, name="min_rows", metavar="N", least=1,
        help="Smaller segments are listed, not tested.",
    )  # fmt: skip
    confidence: float = option(DEFAULT_CONFIDENCE, like=CONFIDENCE)

    def __post_init__(self) -> None:
        check_confidence(self.confidence)


@dataclass(frozen=True, slots=True, repr=False)
class DriftCutting(Cutting):
    """The same for `drift`, whose levels are categories and quantiles of the old rows."""

    numeric: tuple[str, ...] = option(
        (), like=_KIND._replace(flags=("--numeric",)),
        help="Columns to cut at quantiles although they have few whole numbers.",
    )  # fmt: skip
    most_values: int = option(
        20, "--max-values", name="max_values", section=Section.GROUPS, metavar="N", least=1, most=MOST_VALUES,
        help="Compare the N most frequent values of a column; the rest is (other).",
    )  # fmt: skip


@dataclass(frozen=True, slots=True, repr=False)
class DriftOptions:
    """What is asked of `drift`; `bins` are None for ten, and for the values of a score of few."""

    cut: Cutting = nested(DriftCutting(), DriftCutting)
    bins: int | None = option(
        None, like=BINS._replace(
            most=MOST_VALUES, help="Number of quantile bins, cut in OLD. [default: 10, or each value of a score with up to 50]",
        ),
    )  # fmt: skip
    sort: GroupOrder | None = option(
        None, like=SORT._replace(
            help="Order of the values of further columns: worst (largest PSI), name, time, rows or mean score. "
            "[default: name]",
            doc='Order of the values of further columns: "worst" (largest PSI), "name", "time", "rows" or mean '
            '"score".',
        ),
    )  # fmt: skip
    confidence: float = option(
        DEFAULT_CONFIDENCE,
        like=CONFIDENCE._replace(help="One minus the probability of a false alarm over all columns."),
    )
    max_psi: float | None = option(
        None, "--max-psi", section=Section.GATE, metavar="PSI",
        help="Exit 1 if a shift is shown and its PSI is above this, such as 0.1; 0: any shift.",
        doc="The largest PSI that passes where a shift is shown; `failed_by` names the columns beyond.",
    )  # fmt: skip
    seed: int = option(DEFAULT_SEED, like=SEED)

    def __post_init__(self) -> None:
        check_confidence(self.confidence)
        if self.max_psi is not None and not 0.0 <= self.max_psi < math.inf:
            msg = f"--max-psi {self.max_psi:g} is no limit of a PSI"
            raise UsageProblem(msg, "take a number from 0 on, such as 0.1 or 0.25")
        if self.max_psi is not None and self.max_psi >= _PERCENT:
            msg = f"--max-psi {self.max_psi:g} seems to be in per cent"
            raise UsageProblem(msg, f"did you mean {self.max_psi / 100.0:.10g}?")
