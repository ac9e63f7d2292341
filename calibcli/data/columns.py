"""Which column is which: names as users write them, and what a file's header makes of them."""

import difflib
import os
import re
import shlex
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from fnmatch import fnmatchcase
from typing import Literal

from calibcli.data.formats import format_of
from calibcli.data.selection import EVERY_ROW, FileSelection
from calibcli.errors import InputProblem, UsageProblem
from calibcli.names import NEW_COLUMN, DataFormat, OnMissing, OnRange, OnSum, Scale, WeightMeaning
from calibcli.options.numerals import agreeing, composed, folded, in_full, reads_as_number
from calibcli.options.rows import Columns, MapColumns, SeveralClasses, as_one, names_of
from calibcli.values import dataclass, replace

SCORE_NAMES = ("score", "prob", "p", "probability", "y_prob", "proba", "prediction", "confidence")
LABEL_NAMES = ("label", "y", "target", "outcome", "correct")
# Names of some trades: they count where no column has one of those above.
_TRADE_NAMES = {
    "score": ("pd", "risk", "y_proba"),
    "label": ("y_true", "default", "default_flag", "death", "rain"),
}
_LISTED = 20
# What forecasts are held against, where no column has it.
_REFERENCES = frozenset({"climatology", "base_rate", "base rate", "prevalence"})
NAME_THE_SCORE, NAME_THE_LABEL = "name it with --score", "name it with --label"


@dataclass(frozen=True, slots=True)
class Header:
    """The columns of a file, and how refusals call it; `outside` are those that its path stands for."""

    names: Sequence[str]
    path: str
    outside: tuple[str, ...] = ()

    @property
    def wide(self) -> "Header":
        """The columns of the file and those outside of it."""
        return Header((*self.names, *self.outside), self.path) if self.outside else self

    def named(self, name: str, *, alone: bool = False) -> str:
        """Return the column a name means, but for case and blanks; `alone` if one takes no other."""
        if name in self.names:
            return name
        same = [column for column in self.names if composed(column) == composed(name)]
        alike = same or [column for column in self.names if folded(column) == folded(name)]
        if len(alike) == 1:
            return alike[0]
        if alike:
            msg = f"{self.path}: {name!r} could be any of {listing(alike)}"
            points = "these names look the same but use different Unicode characters: rename all but one"
            one_text = len({composed(column) for column in alike}) == 1
            raise InputProblem(msg, points if one_text else "spell it as the file does")
        msg = f"{self.path}: there is no column {name!r}; the columns are {listing(self.names)}"
        spelled = {folded(column): column for column in self.names}
        close = difflib.get_close_matches(folded(name), spelled, n=1)
        hint = f"did you mean {spelled[close[0]]!r}?" if close else None
        if hint is None and folded(name) in _REFERENCES:
            hint = (
                "make one; `calibcli measure -m brier_skill` is the skill against the base rate of these rows"
            )
        several = [one.strip() for one in name.split(",")]
        if len(several) > 1 and set(several) <= set(self.names):
            ways = "join them first, or name one of" if alone else "repeat the option for each,"
            hint = f"these are several columns: {ways} {listing(several)}"
            hint += "" if alone else "; where a command takes one, name one"
        readable = is_score_pattern(name) and len(name) <= _LONGEST_PATTERN
        fitting = [column for column in self.names if fnmatchcase(column, name)] if readable else ()
        if fitting:
            hint = f"patterns are not read here; name one of those that fit: {listing(fitting)}"
        separated = separator_hint(self.names, lambda column: folded(column) == folded(name))
        raise InputProblem(msg, separated or _nested_hint(name, self) or hint)

    def all_named(self, names: Iterable[str]) -> tuple[str, ...]:
        """Return the columns that names mean, of which there may be as many as the header has."""
        known = frozenset(self.names)
        return tuple(name if name in known else self.named(name) for name in names)

    def refuse_repeated(self) -> None:
        if len(set(self.names)) < len(self.names):
            repeated = [name for name, times in Counter(self.names).items() if times > 1]
            msg = f"{self.path}: the header has {listing(repeated)} more than once"
            hint = "give every column a name of its own"
            if repeated == [""]:
                titled = sum(map(bool, self.names)) == 1
                hint = A_TITLE if titled else "name these columns, or take them out"
            raise InputProblem(msg, hint)

    def named_or_usual(
        self, requested: str | None, role: Literal["score", "label"], *, fitted: str | None = None
    ) -> str:
        """Return the column asked for, or that of a fit, or the only one with a usual name."""
        if requested is not None:
            if role == "label" and requested not in self.names and is_score_pattern(requested):
                msg = f"{self.path}: --label {requested!r} is a pattern"
                msg += ", and all scores are compared with one label"
                own = "models with labels of their own belong in rows: compare --by MODEL --id QUESTION"
                raise InputProblem(msg, f"name one column; {own}")
            return self.named(requested, alone=role == "label")
        if fitted is not None:
            with suppress(InputProblem):
                return self.named(fitted)
        usual = SCORE_NAMES if role == "score" else LABEL_NAMES
        candidates = [name for name in self.names if folded(name) in usual]
        candidates = candidates or [name for name in self.names if folded(name) in _TRADE_NAMES[role]]
        # Of the state of a gate `confidence` is that of its verdict.
        candidates = [] if {"schema", "digest", "batches"} <= set(self.names) else candidates
        if len(candidates) == 1:
            return candidates[0]
        if candidates:
            msg = f"{self.path}: {listing(candidates)} could each be the {role} column"
        else:
            lacking = f"no column looks like the {role}; the columns are {listing(self.names)}"
            if fitted is not None:
                lacking = f"there is no column {fitted!r}, which the map was fitted to, and {lacking}"
            msg = f"{self.path}: {lacking}"
        apart = separator_hint(self.names, lambda name: folded(name) in {*usual, *_TRADE_NAMES[role]})
        raise InputProblem(msg, apart or (NAME_THE_SCORE if role == "score" else NAME_THE_LABEL))


def _nested_hint(name: str, header: Header) -> str | None:
    """Return how to make a column of what a name such as answer.confidence means within a column."""
    outer, _, inner = name.partition(".")
    if not inner or outer not in header.names:
        return None
    inner = "NAME" if _PATTERN.search(inner) else inner
    path = [jq_key(one) for one in (outer, *inner.split("."))]
    within = ".".join(path)
    how = f"for JSON lines, {jq(f'.{path[-1]} = .{within}')}"
    if format_of(header.path) is DataFormat.PARQUET:
        column = f"{within} AS {path[-1]}"
        how = f"in DuckDB, COPY (SELECT *, {column} FROM 'FILE') TO 'NEW.parquet'"  # noqa: S608 - a sentence
    return f"what is within {outer!r} is no column: {how} makes it one"


def jq_key(name: str) -> str:
    """Return how jq has a key behind a point."""
    plain = re.fullmatch(r"[A-Za-z_]\w*", name, re.ASCII)
    return name if plain else '"{}"'.format(name.replace("\\", "\\\\").replace('"', '\\"'))


def jq(program: str) -> str:
    return f"jq -c {shlex.quote(program)} FILE"


def jq_beside(name: str) -> str:
    """Return what puts the keys within an object beside it; of two keys with one name the outer one stays."""
    return jq(f".{jq_key(name)} + del(.{jq_key(name)})")


def separator_hint(header: Sequence[str], sought: Callable[[str], bool] | None = None) -> str | None:
    """Say that a header seems to be none, or that of a document, or to have fields apart otherwise.

    Names of a comma file may hold more of another mark than there are commas: that the other mark divides is
    said where a column sought is found by it.
    """
    numbers = len(header) > 1 and all(map(reads_as_number, header))
    kinds = {
        "numbers: add a line above it": numbers,
        "a comment: take it out": len(header) == 1 and header[0].lstrip().startswith("#"),
        "the separator, for Excel: take it out": "".join(header[:1]).lower().startswith("sep="),
    }
    holds = next((what for what, is_so in kinds.items() if is_so), None)
    if holds is not None:
        return f"the first line must hold the column names, and here it holds {holds}"
    if {"schema", "digest"} <= set(header):
        return "calibcli wrote it, and it has no rows: maps go to --artifact; see `calibcli inspect FILE`"
    text = ",".join(header)
    if len(header) != 1:
        # Names with commas in them, of a file that separates its fields otherwise.
        often = next((one for one in (";", "|", "\t") if text.count(one) > text.count(",")), None)
        told = often is not None and (sought is None or any(map(sought, text.split(often))))
        return separated_by(str(often)) if told else None
    if "\t" in header[0]:
        return separated_by("\t")
    found = next((one for one in (";", "|", ",", " ") if one in header[0].strip()), None)
    if found is None or (found == " " and header[0].count(" ") < 2):
        return None
    return separated_by(found)


def separated_by(mark: str) -> str:
    """Return what to type of a file whose fields stand between such marks."""
    if mark == "\t":
        return "the file separates its fields by tabs: pass --delimiter tab"
    title = "; if this line is a title, take it out" if mark == " " else ""
    return f"the file seems to separate its fields by {mark!r}: pass --delimiter {mark!r}{title}"


A_TITLE = "the first line must hold the column names: take what stands above them out, such as a title"


def alike_notes(column: str, values: Iterable[str]) -> tuple[str, ...]:
    """Return which values differ in capitals, blanks, or how numbers and dates are written alone."""
    found: dict[str, list[str]] = {}
    for value in values:
        found.setdefault(_written_alike(value), []).append(value)
    alike = [one for several in found.values() if len(several) > 1 for one in several]
    dates: dict[tuple[bool, str], str] = {}
    for value in (one for several in found.values() for one in several):
        if _DATE.fullmatch(value) is not None:
            dates.setdefault((value[:4].isdigit(), re.sub("[0-9]+", "", value)[0]), value)
    alike += [one for one in dates.values() if len(dates) > 1 and one not in alike]
    is_so = f"{listing(alike)} are groups of their own; are some meant to be the same?"
    return (f"column {column!r}: {is_so}",) if alike else ()


# A day or a month by numbers, its year first or last.
_DATE = re.compile(r"[0-9]{4}(?:[-/.][0-9]{1,2}){1,2}|(?:[0-9]{1,2}[-/.]){1,2}[0-9]{4}")
# Of numbers that stand by themselves, as in dates; those within a word are part of a code, and those behind
# a point or a comma of a fraction.
_ZEROS_IN_FRONT = re.compile(r"(?<![\w.,])0+(?=[0-9]+(?!\w))")
_WHOLE = re.compile(r"([+-]?[0-9]+)\.0*")


# A time on a day, where it is said in UTC or in no zone; at midnight it is the day.
_MOMENT = re.compile(r"([0-9]{4}-[0-9]{2}-[0-9]{2})[t ](?:00:00(?::00(?:\.0+)?)?|(.+?))(?:z|[+-]00:?00)?")


def _written_alike(value: str) -> str:
    """Return the text that 01, 1.0 and 1, 2024-1 and 2024-01, or a day and its midnight share."""
    found = folded(value)
    moment = _MOMENT.fullmatch(found)
    if moment is not None:
        found = " ".join(filter(None, moment.groups()))
    whole = _WHOLE.fullmatch(found)
    return _ZEROS_IN_FRONT.sub("", found if whole is None else whole[1])


def listing(names: Sequence[str]) -> str:
    """Return the first names, quoted, and how many more there are."""
    shown = ", ".join(repr(name) for name in names[:_LISTED])
    return shown if len(names) <= _LISTED else f"{shown} and {len(names) - _LISTED} more"


_PATTERN = re.compile(r"[*?\[]")
_SEPARATOR = re.compile(r".*[^0-9A-Za-z]", re.DOTALL)
MOST_CLASSES = 10_000
_LONGEST_PATTERN = 1_000


def is_score_pattern(name: str | None) -> bool:
    """Whether a name of a score has what patterns are made of; a column may be called so all the same."""
    return name is not None and _PATTERN.search(name) is not None


_NUMBERS = re.compile(
    r"(?:dictionary<values=)?(?:u?int\d+|float|double|halffloat|decimal|null|number|whole number|empty)"
)
# As Arrow and numpy say it.
_TEXT = re.compile(r"string|^[<>|]?[US]\d")


def fitting_scores(columns: Columns, kinds: Mapping[str, str], header: Header) -> Columns:
    """Return columns with the scores that fit a pattern in its place, in the order of the file.

    A column that fits and is something else, or holds no numbers, is left out and said. `kinds` are what
    each column of the file holds, as readers name types.
    """
    label = columns.label
    with suppress(InputProblem):
        label = header.wide.named_or_usual(label, "label")
    single = _named(label, columns.weight, columns.group, columns.cluster, columns.identity)
    roles = {*single, *columns.by, *columns.on}
    found: list[str] = []
    left_out: dict[str, str] = {}
    patterns: dict[str, tuple[str, ...]] = {}
    for requested in (columns.score, *columns.others):
        if requested is None or requested in kinds or not is_score_pattern(requested):
            found += [] if requested is None else [requested]
            continue
        fitting = fitting_pattern(requested, header.names, option="--score")
        patterns[requested] = tuple(fitting)
        taken = [
            name
            for name in fitting
            if name not in roles and (columns.in_words or _NUMBERS.match(kinds[name]))
        ]
        left_out |= {
            name: "it is the label"
            if name == label
            else "it is no score"
            if name in roles
            else f"it holds {'text' if _TEXT.search(kinds[name]) else kinds[name]}"
            for name in fitting
            if name not in taken
        }
        if not taken:
            raise _nothing_fits(requested, header, left_out)
        found += [name for name in taken if name not in found]
    notes = tuple(
        f"column {name!r} fits the pattern and is left out: {why}" for name, why in left_out.items()
    )
    chosen = replace(columns, score=found[0], others=tuple(found[1:]), pattern_notes=notes)
    return replace(chosen, fitting=tuple(patterns.items()))


def fitting_pattern(pattern: str, header: Iterable[str], *, option: str) -> list[str]:
    if len(pattern) > _LONGEST_PATTERN:
        msg = f"{option} is a pattern of {len(pattern):,} characters"
        raise UsageProblem(msg, f"use at most {_LONGEST_PATTERN:,}, as in {option} 'p_*'")
    return [name for name in header if fnmatchcase(name, pattern)]


def _nothing_fits(pattern: str, header: Header, left_out: Mapping[str, str]) -> InputProblem:
    only = [f"{name!r} does, and {why}" for name, why in left_out.items()]
    msg = f"{header.path}: no score column fits --score {pattern!r}" + (
        f" ({'; '.join(only[:3])})" if only else ""
    )
    near = difflib.get_close_matches(_PATTERN.sub("", pattern), header.names, n=3, cutoff=0.0)
    names = f"the nearest names are {listing(near)}; `calibcli inspect` lists all"
    return InputProblem(msg, separator_hint(header.names, lambda name: fnmatchcase(name, pattern)) or names)


@dataclass(frozen=True, slots=True)
class ClassColumns:
    """The columns that hold the probabilities of the classes, in the order of the classes.

    Args:
        names: One column for each class, or a single one that holds a list for every row.
        classes: What the classes are called; empty for a list column whose length is not known yet.
        left_out: Columns that fit a pattern, and that `apply` wrote beside those of the classes.
    """

    names: tuple[str, ...]
    classes: tuple[str, ...]
    left_out: tuple[str, ...] = ()

    @property
    def in_list(self) -> bool:
        return len(self.names) == 1


def classes_of_apply(header: Sequence[str]) -> tuple[str, ...]:
    """Return the columns of classes that `apply` wrote: NAME_CLASS beside NAME_class and NAME_confidence."""
    there = set(header)
    for name in header:
        start = name.removesuffix("class")
        if start != name and start.endswith("_") and f"{start}confidence" in there:
            alike = [one for one in header if one.startswith(start) and one[len(start) :] not in _BESIDE]
            ends = {f"{one}_{end}" for one in (*alike, f"{start}confidence") for end in ("lower", "upper")}
            return tuple(one for one in alike if one not in ends)
    return ()


# What `apply` writes of the most probable class.
_BESIDE = ("class", "confidence")


def class_columns(several: SeveralClasses, header: Header) -> ClassColumns:
    probs, classes = several.probs, several.classes
    left_out: tuple[str, ...] = ()
    if probs in header.names or not (_PATTERN.search(probs) or "," in probs):
        column = header.named(probs)
        return ClassColumns((column,), checked_classes(tuple(classes or ()), None))
    if _PATTERN.search(probs):
        every = columns = tuple(fitting_pattern(probs, header.names, option="--probs"))
        own = set(classes_of_apply(columns))
        if len(own) > 1:
            columns = tuple(name for name in columns if name in own)
            left_out = tuple(name for name in every if name not in own)
        if len(columns) < 2:
            fitting = f"only {columns[0]!r} fits" if columns else "no column fits"
            msg = f"{header.path}: {fitting} --probs {probs!r}; the columns are {listing(header.names)}"
            quoted = "quote the pattern so that the shell leaves it alone: --probs 'p_*'"
            apart = separator_hint(header.names, lambda name: fnmatchcase(name, probs))
            raise InputProblem(msg, apart or _nested_hint(probs, header) or quoted)
    else:
        columns = header.all_named(names_of(probs) or ())
        _refuse_repeated(columns, "--probs names column")
    ends = _ends(columns)
    found = checked_classes(tuple(classes or ends), len(columns))
    if found != ends and {*found} == {*ends}:
        column, named = next(
            (one, name) for one, name, end in zip(columns, found, ends, strict=True) if name != end
        )
        msg = f"--classes names the column {column!r} {named!r}, and another ends in that name"
        raise UsageProblem(
            msg,
            f"leave --classes out, or name them in the order of the columns: {','.join(map(as_one, ends))}",
        )
    _refuse_absent(several.one_class, found, path=header.path)
    return ClassColumns(columns, found, left_out)


def counted(probs: ClassColumns, length: int | None, *, several: SeveralClasses, path: str) -> ClassColumns:
    """Return the columns of the classes, those of lists without names called by their places from 0."""
    found = probs.classes
    if not found and length is not None:
        if not 2 <= length <= MOST_CLASSES:
            msg = f"{path}, column {probs.names[0]!r}: its first list holds {length:,} numbers"
            raise InputProblem(msg, f"lists need one number per class, for 2 to {MOST_CLASSES:,} classes")
        found = tuple(str(place) for place in range(length))
    if not found:
        msg = f"{path}, column {probs.names[0]!r}: no list of numbers shows how many classes there are"
        way = "name a column for each class, such as --probs 'p_*' or --probs a,b,c"
        if format_of(path) is DataFormat.JSONL:
            way += f"; of an object in JSON lines {jq_beside(probs.names[0])} makes columns"
        raise InputProblem(msg, way)
    _refuse_absent(several.one_class, found, path=path)
    return ClassColumns(probs.names, found)


def _refuse_absent(one: str | None, classes: tuple[str, ...], *, path: str) -> None:
    if one is not None and one not in classes:
        msg = f"{path}: there is no class {one!r}; the classes are {listing(classes)}"
        raise UsageProblem(msg, "name one of them with --class")


def checked_classes(classes: tuple[str, ...], count: int | None) -> tuple[str, ...]:
    if count is not None and len(classes) != count:
        msg = f"--classes names {len(classes):,} classes, and there are {count:,} probabilities to a row"
        raise UsageProblem(msg, "name every class once, in the order of the columns")
    if len(classes) > MOST_CLASSES:
        msg = f"{len(classes):,} classes"
        raise UsageProblem(msg, f"at most {MOST_CLASSES:,} are read")
    _refuse_repeated(classes, "two columns stand for class")
    return classes


def _refuse_repeated(names: Sequence[str], what: str) -> None:
    name, times = Counter(names).most_common(1)[0] if names else ("", 1)
    if times > 1:
        msg = f"{what} {name!r}" + (" more than once" if what.startswith("--") else "")
        raise UsageProblem(msg, "name the classes with --classes a,b,c in the order of their columns")


def _ends(columns: Sequence[str]) -> tuple[str, ...]:
    """Return the names of columns without what all begin with, up to its last separator."""
    start = os.path.commonprefix(columns)  # noqa: RUF071 - of letters, not of folders
    cut = _SEPARATOR.match(start)
    prefix = cut.group() if cut else ""
    if not prefix and start and all(name[len(start) :].isdigit() for name in columns):
        prefix = start
    ends = tuple(name[len(prefix) :] for name in columns)
    return ends if all(ends) else tuple(columns)


def refuse_two_roles(resolved: "ResolvedColumns") -> None:
    # Scores that are grades make groups of their own, and a cluster may be part of the ids of its rows.
    free = Counter({*resolved.by} & {*resolved.scores})
    if len(resolved.identity) > 1:
        free += Counter({*resolved.identity} & {*resolved.by, *resolved.on, resolved.cluster})
    repeated = Counter(resolved.roles) - free
    name, times = repeated.most_common(1)[0]
    if times == 1:
        return
    if resolved.scores.count(name) == times:
        msg = f"column {name!r} is named twice as the score"
        hint = "--score takes different columns; `compare --artifact` sets one beside its repair"
        raise UsageProblem(msg, hint)
    for option, columns in (("--by", resolved.by), ("--on", resolved.on), ("--id", resolved.identity)):
        if columns.count(name) == times:
            msg = f"column {name!r} is named twice with {option}"
            raise UsageProblem(msg, f"{option} takes different columns")
    held = {
        "--score" if resolved.probs is None else "--probs": resolved.scores,
        "--label": (resolved.label,),
        "--weight": (resolved.weight,),
        "--group": (resolved.group,),
        "--by": resolved.by,
        "--on": resolved.on,
        "--cluster": (resolved.cluster,),
        "--id": resolved.identity,
    }
    options = [option for option, columns in held.items() if name in columns]
    msg = f"column {name!r} cannot be {', '.join(options[:-1])} and {options[-1]} at once"
    raise UsageProblem(msg, f"name another column with {', '.join(options[:-1])} or {options[-1]}")


def _named(*names: str | None) -> tuple[str, ...]:
    return tuple(name for name in names if name is not None)


@dataclass(frozen=True, slots=True)
class ResolvedColumns:
    """The columns of one file, by the names in its header.

    Args:
        requested: What the user said; the rules for values are there.
        label: Name of the label column, or None where no label is read.
        by: Names of the columns that part the rows.
        on: Names of the columns whose values make segments.
        probs: The columns of several classes, which are the score columns too; None where there is one score.
        identity: Names of the columns that tell rows apart together.
        from_path: Columns that stand in the path of the file, each with its value or None.
        carried: Columns of the file that are read where all would be (`batches_of_all`); None for all.
        members: Names of the columns that a map looks at beside the score.
        decimal: What stands before the decimals of numbers that are text.
    """

    requested: Columns
    score: str
    label: str | None
    weight: str | None = None
    notes: tuple[str, ...] = ()
    others: tuple[str, ...] = ()
    group: str | None = None
    by: tuple[str, ...] = ()
    on: tuple[str, ...] = ()
    cluster: str | None = None
    probs: ClassColumns | None = None
    identity: tuple[str, ...] = ()
    from_path: tuple[tuple[str, str | None], ...] = ()
    rows: FileSelection = EVERY_ROW
    carried: tuple[str, ...] | None = None
    members: tuple[str, ...] = ()
    decimal: str = "."

    def carries(self, header: Iterable[str]) -> tuple[str, ...]:
        return tuple(name for name in header if self.carried is None or name in self.carried)

    @property
    def scores(self) -> tuple[str, ...]:
        return (self.score, *self.others)

    @property
    def shown_score(self) -> str:
        return self.score if self.requested.several is None else self.requested.several.probs

    @property
    def classes(self) -> tuple[str, ...]:
        return () if self.probs is None else self.probs.classes

    @property
    def own_scores(self) -> tuple[str, ...]:
        """The score columns that are scores of their own, and not those of several classes."""
        return self.scores if self.probs is None else ()

    @property
    def further(self) -> tuple[str, ...]:
        """Those beside the first."""
        return self.own_scores[1:]

    @property
    def roles(self) -> tuple[str, ...]:
        """The columns that are something, once for each thing that they are."""
        single = _named(self.label, self.weight, self.group, self.cluster)
        return (*self.scores, *single, *self.by, *self.on, *self.identity)

    @property
    def shown_identity(self) -> str:
        return self.identity[0] if len(self.identity) == 1 else ",".join(map(as_one, self.identity))

    @property
    def member(self) -> str | None:
        """The column that says which member of a map a row goes through, or None."""
        return self.members[0] if self.members else None

    @property
    def needed(self) -> tuple[str, ...]:
        """The columns that `apply` makes new ones of."""
        outside = dict(self.from_path)
        return (*self.scores, *(name for name in self.members if name not in outside))

    @property
    def names(self) -> tuple[str, ...]:
        return (*dict.fromkeys(self.roles), *self._looked_at)

    @property
    def _looked_at(self) -> tuple[str, ...]:
        """The columns that conditions or the members of a map look at, and that are nothing else."""
        own = (*self.rows.columns, *self.members)
        return tuple(name for name in dict.fromkeys(own) if name not in self.roles)

    @property
    def stored(self) -> tuple[str, ...]:
        """The columns that are read and stand in the file."""
        if not self.from_path:
            return self.names
        outside = dict(self.from_path)
        return tuple(name for name in self.names if name not in outside)

    @property
    def numbers(self) -> tuple[str, ...]:
        """The columns of numbers: weights, and scores that are no words."""
        return (*(() if self.requested.takes_texts else self.scores), *_named(self.weight))

    @property
    def words(self) -> tuple[str, ...]:
        """The columns that are seen as text of few different values."""
        single = _named(self.label, self.group, self.cluster)
        scores = self.scores if self.requested.in_words else ()
        by = (name for name in self.by if name not in self.numbers)
        return (*scores, *single, *by, *self.on, *self._looked_at)

    @property
    def telling(self) -> tuple[str, ...]:
        """The columns that tell rows or groups apart."""
        single = _named(self.group, self.cluster)
        return tuple(dict.fromkeys((*single, *self.identity, *self.members, *self.by, *self.on)))

    @property
    def other_than_fitted(self) -> tuple[str, ...]:
        return _other_than_fitted(self.requested, self.score)

    @property
    def weights_are(self) -> WeightMeaning | None:
        if self.weight is None:
            return None
        return self.requested.weights_are or WeightMeaning.IMPORTANCE


def refuse_null(columns: Columns) -> None:
    """Refuse null for what is missing where no rows are written, and pairs where none are compared."""
    if columns.on_missing is OnMissing.PAIRWISE and not columns.in_pairs:
        msg = "--on-missing pairwise is for `compare` with several score columns"
        raise UsageProblem(msg, "pass --on-missing drop: rows without a value are left out and counted")
    if columns.on_missing is OnMissing.NULL:
        msg = "--on-missing null writes rows without a probability, which only apply does"
        raise UsageProblem(msg, "pass --on-missing drop: rows without a value are left out and counted")
    if columns.on_range is OnRange.NULL:
        msg = "--on-range null writes rows without a probability, which only apply does"
        raise UsageProblem(msg, "pass --on-range clip, or select the rows with --where")
    if columns.several is not None and columns.several.on_sum is OnSum.NULL:
        msg = "--on-sum null writes rows without a probability, which only apply does"
        raise UsageProblem(msg, "pass --on-sum normalise: such rows are divided by their sum and counted")


def resolve(columns: Columns, header: Header) -> ResolvedColumns:
    """Find the columns in a header.

    A name matches exactly, or as the same letters in other code points, or else without regard to case and
    outer blanks, if one column does so.
    """
    header.refuse_repeated()
    if columns.labelled:
        refuse_null(columns)
    wide = header.wide
    probs, others = None, columns.others
    if columns.several is None:
        score = header.named_or_usual(columns.score, "score", fitted=columns.fitted)
    else:
        probs = class_columns(columns.several, header)
        score, *rest = probs.names
        others = tuple(rest)
    label = None
    if columns.labelled:
        every = header if columns.label is None else wide
        label = every.named_or_usual(columns.label, "label")
    single = (columns.weight, columns.group, columns.cluster)
    weight, group, cluster = (None if name is None else wide.named(name, alone=True) for name in single)
    identity = () if columns.identity is None else _telling_apart(columns.identity, wide)
    others = header.all_named(others)
    by, on = wide.all_named(columns.by), wide.all_named(columns.on)
    conditions = columns.rows.where
    rows = FileSelection(tuple(replace(one, column=wide.named(one.column)) for one in conditions))
    guessed = (("score", None if probs else score, columns.score), ("label", label, columns.label))
    notes = tuple(
        f"column {name!r} was taken as the {role}; --{role} names another"
        for role, name, requested in guessed
        if name is not None and requested is None
    )
    notes += _other_than_fitted(columns, score, header.names)
    notes += _shares_as_percentages(columns)
    if columns.score is None and probs is None and NEW_COLUMN in header.names:
        notes += (
            f"column {NEW_COLUMN!r}, as `apply` writes it, is there too: --score {NEW_COLUMN} looks at it",
        )
    fitted = set(columns.fitted_classes)
    if probs is not None and fitted and not fitted & set(probs.names) and fitted <= set(header.names):
        of_fit = f"the map was fitted to columns {listing(columns.fitted_classes)}"
        notes += (f"{of_fit}, which these rows have too: --probs names others",)
    notes += columns.pattern_notes
    if probs is not None and probs.left_out:
        beside = f"columns {listing(probs.left_out)} fit the pattern of --probs and are left out"
        notes += (f"{beside}: `apply` wrote them beside the classes",)
    if label is not None and label in rows.columns:
        notes += ("--where selects rows by their labels: the results say nothing about other rows",)
    resolved = ResolvedColumns(
        columns,
        score,
        label,
        weight,
        notes,
        others,
        group,
        by,
        on,
        cluster,
        probs,
        identity,
        rows=rows,
        members=() if columns.member is None else _members_named(columns.member, wide),
    )
    refuse_two_roles(resolved)
    return resolved


def _telling_apart(requested: str, header: Header) -> tuple[str, ...]:
    """Return the column of ids, or those whose values tell rows apart together; a name may hold a comma."""
    if "," not in requested or folded(requested) in map(folded, header.names):
        return (header.named(requested),)
    return header.all_named(names_of(requested) or ())


def _shares_as_percentages(columns: Columns) -> tuple[str, ...]:
    """Say so where numbers of phrases look like probabilities and are read as percentages."""
    phrase, number = max(columns.score_map or (("", 0.0),), key=lambda one: one[1])
    if columns.read_as is not Scale.PERCENT or not 0.0 < number <= 1.0:
        return ()
    reads = f"--scale percent reads the numbers of phrases as percentages: {phrase!r} is {in_full(number)} %"
    return (f"{reads}; without it numbers are probabilities, and 85% is read as well",)


def _members_named(member: MapColumns, header: Header) -> tuple[str, ...]:
    found = []
    for name in member.names:
        try:
            found.append(header.named(name))
        except InputProblem as problem:
            fitted = f"the map was fitted by the column {name!r} (fit {member.option}): rows need it too"
            hint = "; ".join(filter(None, (fitted, problem.hint)))
            raise InputProblem(problem.message, hint) from None
    return tuple(found)


def _other_than_fitted(columns: Columns, score: str, names: Iterable[str] = ()) -> tuple[str, ...]:
    """Say that a score was guessed since that of the fit is not there, or named though it is."""
    fitted = columns.fitted
    if fitted is None or folded(fitted) == folded(score):
        return ()
    if columns.score is None:
        return (f"the map was fitted to column {fitted!r}, which these rows do not have",)
    if fitted not in names:
        return ()
    return (f"the map was fitted to column {fitted!r}, which these rows have too: --score names {score!r}",)


def same_again(resolved: ResolvedColumns, header: Header) -> ResolvedColumns:
    """Find the columns of the first file in a further one; its notes are on what else fits a pattern."""
    again = replace(
        resolved.requested,
        score=None if resolved.probs else resolved.score,
        label=resolved.label,
        labelled=resolved.label is not None,
        weight=resolved.weight,
        others=() if resolved.probs else resolved.others,
        group=resolved.group,
        by=resolved.by,
        on=resolved.on,
        cluster=resolved.cluster,
        identity=resolved.shown_identity or None,
    )
    found = resolve(again, header)
    notes = tuple(
        f"column {name!r} fits --score {pattern!r}, and is left out: the first file does not have it"
        for pattern, known in again.fitting
        for name in header.names
        if fnmatchcase(name, pattern) and name not in (*known, *found.roles)
    )
    found = replace(found, notes=notes)
    return found if resolved.probs is None else _in_order_of(resolved.probs, found, header)


def _in_order_of(first: ClassColumns, found: ResolvedColumns, header: Header) -> ResolvedColumns:
    """Return the columns of the classes in the order of the first file, which must have the same ones."""
    names = header.all_named(first.names)
    own = frozenset(names)
    further = [] if found.probs is None else [name for name in found.probs.names if name not in own]
    if further:
        msg = f"{header.path}: {listing(further)} would be classes that the first file does not have"
        raise InputProblem(msg, "give all files the same classes, or list their columns with --probs a,b,c")
    probs = ClassColumns(names, first.classes)
    return replace(found, score=names[0], others=names[1:], probs=probs)


def columns_of_classes(
    classes: tuple[str, ...],
    columns: Columns,
    header: Header,
    *,
    lists: Sequence[str],
    fitted: tuple[str, ...] | None = None,
) -> ResolvedColumns:
    """Find the columns of classes whose names are known.

    They are those of the fit, if all are there; else the columns whose names are those of the classes behind
    one common beginning, or else the one column of lists.
    """
    header.refuse_repeated()
    shown, probs = _as_in_fit(classes, fitted or (), header.names, lists) or _found(classes, header, lists)
    ends = probs.in_list or is_score_pattern(shown)
    several = columns.several or SeveralClasses(shown)
    several = replace(several, probs=shown, classes=several.classes if ends else probs.classes)
    score, *others = probs.names
    taken = f"column {shown!r} was" if probs.in_list else f"columns {shown!r} were"
    return ResolvedColumns(
        replace(columns, several=several),
        score,
        None,
        notes=(f"{taken} taken as the classes; --probs names others",),
        others=tuple(others),
        probs=probs,
    )


def _as_in_fit(
    classes: tuple[str, ...], fitted: tuple[str, ...], header: Sequence[str], lists: Sequence[str]
) -> tuple[str, ClassColumns] | None:
    """Return the columns of the fit, if all are there, in the order of the file, and how they are said."""
    there = set(lists if len(fitted) == 1 else header)
    if not fitted or not there.issuperset(fitted) or any(set("*?[") & set(name) for name in fitted):
        return None
    if len(fitted) == 1:
        return fitted[0], ClassColumns(fitted, classes)
    class_of = dict(zip(fitted, classes, strict=True))
    names = tuple(name for name in header if name in class_of)
    start = os.path.commonprefix(names)  # noqa: RUF071 - of letters, not of folders
    alike = start and all(start + one == name for name, one in class_of.items())
    shown = f"{start}*" if alike else ",".join(map(as_one, names))
    return shown, ClassColumns(names, tuple(class_of[name] for name in names))


def _found(classes: tuple[str, ...], header: Header, lists: Sequence[str]) -> tuple[str, ClassColumns]:
    lacking = _lacking(classes, header.names)
    fitting = [start for start, missing in lacking.items() if not missing]
    if len(fitting) == 1:
        # In the order in which the file has them.
        wanted = {fitting[0] + one: one for one in classes}
        names = [name for name in header.names if name in wanted]
        found = ClassColumns(tuple(names), tuple(wanted[name] for name in names))
        return f"{fitting[0]}*", found
    if fitting:
        msg = f"{header.path}: the columns of the classes may begin with {listing(fitting)}"
        raise UsageProblem(msg, f"name them, such as --probs '{fitting[0]}*'")
    if len(lists) == 1:
        return lists[0], ClassColumns((lists[0],), classes)
    best = min(lacking, key=lambda start: len(lacking[start]), default=None)
    if best is not None and len(lacking[best]) < len(classes) - 1:
        absent = [best + one for one in lacking[best]]
        what = f"column {absent[0]!r}" if len(absent) == 1 else f"columns {listing(absent)}"
        msg = f"{header.path}: {what} of {len(classes):,} classes {agreeing(len(absent), 'is')} missing"
        raise InputProblem(msg, "the map needs every class that it was fitted to")
    several = f", and {listing(lists)} all hold lists" if lists else ""
    what = f"no columns end in the names of the classes {listing(classes)}{several}"
    msg = f"{header.path}: {what}; the columns are {listing(header.names)}"
    raise InputProblem(msg, "name them with --probs, and what they stand for with --classes")


def _lacking(classes: tuple[str, ...], header: Sequence[str]) -> dict[str, list[str]]:
    """Return for each beginning of a column's name the classes that no column has behind it."""
    there = set(header)
    starts = dict.fromkeys(
        name[: len(name) - len(one)] for one in classes for name in header if name.endswith(one)
    )
    return {start: [one for one in classes if start + one not in there] for start in starts}
