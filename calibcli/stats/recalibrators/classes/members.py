"""One map of a single score for each class, and one that classes with too few rows share."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Annotated, ClassVar, Self

import numpy as np

from calibcli.codec import HIDDEN, Declared, Node
from calibcli.errors import InputProblem
from calibcli.names import ClassMethod, EndsOf, OutputSum, ViewName
from calibcli.options.numerals import plural
from calibcli.stats.recalibrators import AnyMap, Recalibrator, fit_recalibrator, values_of
from calibcli.stats.recalibrators.classes import (
    ClassFitOptions,
    ClassRecalibrator,
    ClassTables,
    ProbabilityEnds,
    summing_to_one,
)
from calibcli.stats.table import Floats, Indices, Integers
from calibcli.stats.table.grid import Table
from calibcli.stats.table.running import RunningTable
from calibcli.values import dataclass

LEAST_RARER = 10
_LISTED = 10


@dataclass(frozen=True, slots=True)
class Members(Declared):
    """Maps of single scores by class."""

    classes: Annotated[tuple[str, ...], HIDDEN]
    own: Annotated[Mapping[str, AnyMap], "The maps of classes with enough rows."]
    shared: Annotated[AnyMap | None, "The map of all others; null if every class has its own."]

    def __post_init__(self) -> None:
        in_order = {name: self.own[name] for name in self.classes if name in self.own}
        object.__setattr__(self, "own", in_order)

    @classmethod
    def fit(
        cls, classes: tuple[str, ...], tables: Mapping[str, Table], *, options: ClassFitOptions, spare: Table
    ) -> Self:
        """Fit a map to the table of each class.

        Classes with fewer than `least_rows` rows, or ten of the rarer label, share one, fitted to their rows
        together, or to the spare table where these are still too few.

        Args:
            tables: The table of each class that has rows.
            options: The method of the maps, and how few rows are too few.
        """
        alone = [name for name in classes if name in tables and enough(tables[name], options.least_rows)]
        few = [name for name in classes if name not in alone]
        own = {name: fit_named(tables[name], options, f"class {name!r}") for name in alone}
        if not few:
            return cls(classes, own, None)
        together = _together([tables[name] for name in few if name in tables])
        if together is None or not enough(together, options.least_rows):
            together = _of_both_labels(spare)
        return cls(classes, own, fit_named(together, options, "the shared map"))

    def check(self, node: Node) -> None:
        """Refuse maps of what is no class, and classes without a map."""
        for name, member in node.child("own").members().items():
            if name not in self.classes:
                msg = "is none of the classes"
                raise member.problem(msg)
        if self.shared is None and self.sharing:
            msg = f"has no map for class {self.sharing[0]!r}, and there is none that classes share"
            raise node.problem(msg)

    def of(self, place: int) -> Recalibrator:
        found = self.own.get(self.classes[place], self.shared)
        if found is None:
            msg = f"no map for class {self.classes[place]!r}"
            raise KeyError(msg)
        return found

    @property
    def sharing(self) -> tuple[str, ...]:
        """The classes that share a map."""
        return tuple(name for name in self.classes if name not in self.own)

    @property
    def all(self) -> tuple[Recalibrator, ...]:
        return (*self.own.values(), *(() if self.shared is None else (self.shared,)))

    @property
    def with_ends(self) -> bool:
        """Whether every map brackets its probabilities."""
        return all(one.brackets for one in self.all)

    @property
    def values(self) -> tuple[float, ...] | None:
        """Every value that a map gives, ascending, or None where those of one are too many to list."""
        found = [one.bins for one in self.all]
        return None if None in found else values_of([fitted for bins in found for fitted in bins or ()])

    def least(self, score: float) -> float | None:
        """Return the least probability that a score from this one on gets; None where that is not known."""
        values = self.values
        if values is not None:
            return values[0]
        if not all(one.increasing for one in self.all):
            return None
        # Logarithms round the last digits.
        return min(float(one.predict(np.array([score]))[0]) for one in self.all) * (1.0 - 1e-12)

    def notes(self) -> tuple[str, ...]:
        """Say which classes share a map, and what is to be read of single maps."""
        maps = {f"class {name!r}": one for name, one in self.own.items()}
        each = notes_of(maps if self.shared is None else {"the shared map": self.shared, **maps})
        if not self.sharing:
            return each
        listed = ", ".join(repr(name) for name in self.sharing[:_LISTED])
        more = len(self.sharing) - _LISTED
        names = f"{listed} and {more:,} more" if more > 0 else listed
        have = plural(len(self.sharing), "class", "has")
        sentence = f"{have} too few fit rows for a map of their own and share one: {names}"
        return (sentence, *each)

    def apart(self, score: Floats, place: Integers) -> Floats:
        """Return recalibrated scores, each by the map of its class."""
        result = np.empty(score.size)
        for one, rows in _by_place(place):
            result[rows] = self.of(one).predict(score[rows])
        return result

    def ends_apart(self, score: Floats, place: Integers) -> tuple[Floats, Floats]:
        """Return the ends of recalibrated scores, each by the map of its class."""
        lower, upper = np.empty(score.size), np.empty(score.size)
        for one, rows in _by_place(place):
            lower[rows], upper[rows] = self.of(one).ends(score[rows])
        return lower, upper


def notes_of(maps: Mapping[str, Recalibrator]) -> tuple[str, ...]:
    """Return what is to be read of maps, by what they are called, and how many more have such notes."""
    noted = [(name, note) for name, one in maps.items() for note in one.notes]
    said = [f"{name}: {note}" for name, note in noted[:_LISTED]]
    others = len({name for name, _ in noted[_LISTED:]})
    if others:
        said.append(f"{plural(others, 'more map', 'has')} such notes")
    return tuple(said)


def _by_place(place: Integers) -> Iterator[tuple[int, Indices]]:
    order = np.argsort(place, kind="stable")
    found, starts = np.unique(place[order], return_index=True)
    yield from zip(found.tolist(), np.split(order, starts[1:]), strict=False)


def enough(table: Table, least: int) -> bool:
    """Whether a map of its own can be fitted to a table: so many rows, and ten of the rarer label."""
    positive = table.total_positive_rows
    return table.total_rows >= least and min(positive, table.total_rows - positive) >= LEAST_RARER


def _together(tables: Sequence[Table]) -> Table | None:
    if not tables:
        return None
    running = RunningTable(None)
    for table in tables:
        running.add(table)
    return running.table()


def _of_both_labels(confidence: Table) -> Table:
    """Refuse largest probabilities that are right in every row, or in none."""
    right, rows = confidence.total_positive_rows, confidence.total_rows
    if rows and right in (0, rows):
        always, hint = "right", "fit on more rows, or on rows the model has not been trained on"
        if not right:
            always, hint = "wrong", "are the columns in the order of the classes? --classes names them"
        msg = f"the most probable class is {always} in every row, so that no map of its probability is best"
        raise InputProblem(msg, hint)
    return confidence


def fit_named(table: Table, options: ClassFitOptions, name: str) -> Recalibrator:
    """Fit a map, and say of which one it is that there is none."""
    try:
        return fit_recalibrator(options.inner, table, options=options.inner_options)
    except InputProblem as problem:
        msg = f"{name}: {problem.message}"
        raise InputProblem(msg, problem.hint) from problem


@dataclass(frozen=True, slots=True)
class OneVsRest(ClassRecalibrator):
    """Each class's probability recalibrated by itself.

    References:
        Zadrozny & Elkan (2002), KDD, section 4; marginal calibration in Kumar, Liang & Ma (2019).
    """

    name: ClassVar = ClassMethod.ONE_VS_REST
    members: Members
    output_sum: Annotated[
        OutputSum,
        "Whether rows are divided by their sum, which is what makes them probabilities of the classes, or "
        "left as they are, each class calibrated by itself.",
    ]

    @classmethod
    def fit(cls, method: ClassMethod, seen: ClassTables, *, options: ClassFitOptions) -> Self:  # noqa: ARG003
        members = Members.fit(seen.rows.classes, seen.rest, options=options, spare=seen.confidence)
        return cls(members, options.output_sum)

    @property
    def notes(self) -> tuple[str, ...]:
        return self.members.notes()

    @property
    def ends_of(self) -> EndsOf | None:
        """Every class, where its map has ends."""
        return EndsOf.CLASSES if self.members.with_ends else None

    def ends(self, probability: Floats, after: Floats) -> ProbabilityEnds | None:  # noqa: ARG002 - the face of all
        """Return the ends that each class's own map gives, before rows are divided by their sums.

        Dividing would take from them what is known of them, so that the probability of a row that was divided
        may lie outside.
        """
        if self.ends_of is None:
            return None
        lower, upper = np.empty_like(probability), np.empty_like(probability)
        for place in range(probability.shape[1]):
            lower[:, place], upper[:, place] = self.members.of(place).ends(probability[:, place])
        return ProbabilityEnds(lower, upper)

    def predict(self, probability: Floats) -> Floats:
        """Return recalibrated rows, shape (n, K).

        A row that every map sends to 0 stays as it was where rows are divided by their sum.
        """
        result = np.empty_like(probability)
        for place in range(probability.shape[1]):
            result[:, place] = self.members.of(place).predict(probability[:, place])
        return result if self.output_sum is OutputSum.FREE else summing_to_one(result, probability)

    def outputs(self, view: ViewName, place: int | None) -> tuple[float, ...] | None:
        """Return the outputs of a class's own map where rows are not divided by their sums, else None."""
        if self.output_sum is not OutputSum.FREE or view is not ViewName.ONE_VS_REST or place is None:
            return None
        return values_of(self.members.of(place).bins)
