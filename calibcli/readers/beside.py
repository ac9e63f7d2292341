"""What is gathered beside one table per score: differences, slices, clusters and folds."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from calibcli.errors import InputProblem
from calibcli.readers.columns import ChosenColumns
from calibcli.readers.intake import Rows
from calibcli.table.score_table import Floats
from calibcli.table.sliced import RunningSlices

if TYPE_CHECKING:
    # Most readings gather nothing beside, and start-up should not pay for it.
    from calibcli.measures.clustered import ClusterSums
    from calibcli.measures.paired import PairedSums
    from calibcli.readers.class_aside import ClassAside
    from calibcli.readers.class_compared import ClassesCompared
    from calibcli.readers.identified import IdentifiedRows

MOST_SLICES = 1_000


@dataclass(frozen=True, slots=True)
class Beside:
    """
    What is gathered beside a table of the first score column for each transform.

    Args:
        columns: For keys whose transform is not given the first score column, the place of the one it is.

        pairs: Pairs of keys whose losses are compared row by row.

        folds: Folds that groups are shared out to by their hash, each with a table of raw scores; 0 for none.

        seed: Seed of the hash.

        sliced: Keys whose rows are tabled for each part by itself as well.

        clustered: Keys whose losses are added up by cluster.

        classes: Whether each of several classes is tabled by itself as well.

        identified: Key whose rows are kept one by one, each with its identity; None for none.

        compared: Whether rows of several classes are compared with what they were before their map.

        one_class: The one class that is compared, or None for all.

        part: Whether these rows are a part of more, so that the label that counts as 1 need not occur.
    """

    columns: Mapping[str, int] = field(default_factory=dict)
    pairs: tuple[tuple[str, str], ...] = ()
    folds: int = 0
    seed: int = 0
    sliced: tuple[str, ...] = ()
    clustered: tuple[str, ...] = ()
    classes: bool = False
    identified: str | None = None
    compared: bool = False
    one_class: str | None = None
    part: bool = False

    @property
    def fold_keys(self) -> tuple[str, ...]:
        """The keys of the tables of folds."""
        return tuple(f"fold {place}" for place in range(self.folds))


NOTHING = Beside()


@dataclass(frozen=True, slots=True)
class Aside:
    """
    What is gathered beside the tables of the transforms, under construction.

    Args:
        paired: Differences between two scores, for each pair.

        slices: For each sliced key its tables by part.

        clusters: For each clustered key its sums by cluster.

        classes: The views of several classes, or None.

        identified: Rows with their identities, or None.

        compared: Two sides of several classes, or None.
    """

    paired: "tuple[PairedSums, ...]" = ()
    slices: Mapping[str, RunningSlices] = field(default_factory=dict)
    clusters: "Mapping[str, ClusterSums]" = field(default_factory=dict)
    classes: "ClassAside | None" = None
    identified: "IdentifiedRows | None" = None
    compared: "ClassesCompared | None" = None

    @classmethod
    def start(cls, beside: Beside, *, limit: int | None, classes: tuple[str, ...] = ()) -> "Aside":
        """Return nothing yet of what is wanted; the slices of all keys share the limit."""
        share = None if limit is None else max(1, limit // max(1, len(beside.sliced)))
        aside = cls(slices={key: RunningSlices(share) for key in beside.sliced})
        if beside.pairs:
            from calibcli.measures.paired import PairedSums

            aside = replace(aside, paired=tuple(PairedSums() for _ in beside.pairs))
        if beside.clustered:
            from calibcli.measures.clustered import ClusterSums

            aside = replace(aside, clusters={key: ClusterSums() for key in beside.clustered})
        if beside.classes:
            from calibcli.readers.class_aside import ClassAside

            aside = replace(aside, classes=ClassAside.start(classes, limit=limit))
        if beside.identified is not None:
            from calibcli.readers.identified import IdentifiedRows

            aside = replace(aside, identified=IdentifiedRows())
        if beside.compared:
            from calibcli.readers.class_compared import ClassesCompared

            compared = ClassesCompared.start(classes, one_class=beside.one_class, limit=limit)
            aside = replace(aside, compared=compared)
        return aside

    def add(self, rows: Rows, seen: Mapping[str, Floats], *, beside: Beside, chosen: ChosenColumns) -> None:
        """
        Add rows.

        Args:
            rows: The rows.

            seen: For each key the scores they were tabled with.

            beside: What is wanted.

            chosen: The columns, for messages.

        Raises:
            InputProblem: If there are too many slices or clusters.
        """
        counts, weight = rows.counts, rows.weight
        for (one, two), paired in zip(beside.pairs, self.paired, strict=True):
            paired.add(seen[one], seen[two], rows.label, counts=counts, weight=weight)
        if rows.parts is not None:
            names, code = rows.parts.names, rows.parts.code
            for key, slices in self.slices.items():
                slices.add_rows(seen[key], rows.label, names=names, code=code, counts=counts, weight=weight)
                _refuse_many(slices, chosen)
        for key, clusters in self.clusters.items():
            _add_clusters(clusters, rows, seen[key])
        if self.classes is not None:
            self.classes.add(rows)
        if self.identified is not None and beside.identified is not None:
            self.identified.add(rows, seen[beside.identified])
        if self.compared is not None:
            self.compared.add(rows)

    def merge(self, later: "Aside", chosen: ChosenColumns) -> None:
        """
        Add what a later part of the rows gave.

        Raises:
            InputProblem: If together they have too many slices or clusters.
        """
        for mine, theirs in zip(self.paired, later.paired, strict=True):
            mine.merge(theirs)
        for key, clusters in self.clusters.items():
            clusters.add(later.clusters[key])
        for key, slices in self.slices.items():
            slices.add(later.slices[key])
            _refuse_many(slices, chosen)
        if self.classes is not None and later.classes is not None:
            self.classes.merge(later.classes)
        if self.identified is not None and later.identified is not None:
            self.identified.merge(later.identified)
        if self.compared is not None and later.compared is not None:
            self.compared.merge(later.compared)


def _refuse_many(slices: RunningSlices, chosen: ChosenColumns) -> None:
    many = len(slices.registry)
    if many > MOST_SLICES:
        msg = f"--by {' --by '.join(chosen.by)} makes over {MOST_SLICES:,} groups ({many:,} so far)"
        raise InputProblem(msg, "name columns of fewer different values; --cluster is for ids")


def _add_clusters(clusters: "ClusterSums", rows: Rows, score: Floats) -> None:
    """Add rows to the sums of their clusters, apart for each part of the rows."""
    if rows.cluster is None:
        return
    weight = rows.weight if rows.counts is None else rows.counts
    if rows.parts is None:
        clusters.add_rows(rows.cluster, score, rows.label, weight=weight)
    else:
        names, code = rows.parts.names, rows.parts.code
        clusters.add_rows(rows.cluster, score, rows.label, names=names, code=code, weight=weight)
