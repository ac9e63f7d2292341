"""Which rows are read, which column is which, and how files are read: options of every command with rows."""

import codecs
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias, TypeGuard

from calibcli.ahead import Progress, unseen
from calibcli.errors import IdleOption, UsageProblem
from calibcli.names import (
    DEFAULT_MEMORY,
    DEFAULT_SEED,
    EXACT_LIMIT,
    DataFormat,
    EngineName,
    OnMissing,
    OnRange,
    OnSum,
    OnUnseen,
    Scale,
    ViewName,
    WeightMeaning,
)
from calibcli.options.declaring import COLUMNS, Option, Reach, Section, nested, option, options_given
from calibcli.values import dataclass, field

if TYPE_CHECKING:
    from calibcli.codec import Declared
    from calibcli.options.conditions import Condition


@dataclass(frozen=True, slots=True, eq=False)
class RowsInMemory:
    """Rows of a frame or of arrays, which are read as a file of them would be.

    Args:
        columns: What gives each column by its name, as one of Arrow; called whenever it is read.
        nameless: Columns that were arrays, and are called by what they are.
    """

    name: str
    rows: int
    columns: Mapping[str, Callable[[], Any]]
    nameless: frozenset[str] = frozenset()

    def __str__(self) -> str:
        return self.name


@dataclass(frozen=True, slots=True, eq=False)
class DocumentInMemory:
    """An artifact or a report that was made or loaded before."""

    name: str
    content: "Declared | dict[str, object]"

    def __str__(self) -> str:
        return self.name


DocumentSource: TypeAlias = str | DocumentInMemory
RowSource: TypeAlias = str | RowsInMemory | DocumentInMemory
"""A file, a directory, a pattern, an address, - for standard input; or what is in memory."""


def is_json(source: RowSource) -> TypeGuard[DocumentSource]:
    """Whether a source is a document by its name, or is one in memory."""
    return isinstance(source, DocumentInMemory) or (isinstance(source, str) and source.endswith(".json"))


ScoreMap = tuple[tuple[str, float], ...]
"""Phrases that stand for scores, each with its number on the scale of the column."""

ClassChange = Callable[[Any, tuple[str, ...]], Any]
"""From rows of probabilities, shape (n, K), and the names of their classes to rows of probabilities."""

SEVERAL_SCORES = Option(
    ("-s", "--score"), section=Section.COLUMNS, metavar="COL", complete=COLUMNS, shell=list[str] | None,
    help="Score column, else the one with a usual name; repeat or 'fc_*' to compare further ones with the first.",
    doc='Score column of a frame or of files, or a pattern such as "fc_*"; several are measured one by one and '
    "compared with the first.",
)  # fmt: skip
SEGMENTED_SCORES = SEVERAL_SCORES._replace(
    help="Score column, else the one with a usual name; repeat or 'fc_*' for further ones, each by itself.",
    doc='Score column of a frame or of files, or a pattern such as "fc_*"; several are looked at one by one.',
)  # fmt: skip
PROBS = Option(
    ("--probs",), section=Section.CLASSES, metavar="COLS", complete=COLUMNS, python="Names | None",
    help="Columns of several classes: 'p_*', a,b,c, or one column of lists.",
    doc='Columns of several classes in a frame or in files: names, a pattern such as "p_*", or a column of '
    "lists.",
)  # fmt: skip
TWO_SETS = PROBS._replace(shell=list[str] | None)
TWO_SCORES = SEVERAL_SCORES._replace(
    help="Score column; twice for two scores, the baseline first; 'fc_*' or more of them for a leaderboard.",
    doc='The score columns of a frame or of files, or a pattern such as "fc_*"; those of a mapping of two are '
    "known.",
)  # fmt: skip
PLOTTED_SCORES = SEVERAL_SCORES._replace(
    help="Score column, else the one with a usual name; several or 'fc_*' are drawn in one picture.",
    doc='Score column of a frame or of files, or a pattern such as "fc_*"; several are drawn in one picture.',
)  # fmt: skip
BY = Option(
    ("--by",), section=Section.GROUPS, metavar="COL", complete=COLUMNS, shell=list[str] | None, python="Groups | None",
    help="Measure each group of equal values by itself too; of several columns each combination.",
    doc="What makes groups, each measured by itself too: names of columns, or beside arrays an array, a "
    "frame, or "
    "a mapping of names to arrays.",
)  # fmt: skip
JUDGED_BY = BY._replace(
    help="Apply every rule to each group of equal values too; with --state each is a batch, by time or name.",
    doc="Every rule holds in each of these groups too: as for `measure`; with `state` each is a batch, in order.",
)  # fmt: skip
PLOTTED_BY = BY._replace(
    help="Draw the worst groups of equal values, or all in one picture by --kind; repeatable.",
    doc="What makes groups, of which the worst are drawn, or all in one picture by `kind`: as for `measure`.",
)  # fmt: skip
COMPARED_BY = BY._replace(
    help="Column of model names, where each row holds one model's answer to a question (--id); without --id, of groups to compare several scores in.",
    doc="What names the models of rows in long form, each with an answer to the questions of `row_id`: a "
    "column, or beside arrays an array. Without `row_id`, the column whose values make groups, in which several scores are compared.",
)  # fmt: skip
QUESTION = Option(
    ("--id",), section=Section.COLUMNS, name="row_id", metavar="COLS", complete=COLUMNS, python="Column | None",
    help="Column of question ids, or several as task,question: models in --by are compared on the questions they share.",
    doc="What tells questions apart, by which the rows of `by` are matched: a name, several as 'task,question', or an array.",
)  # fmt: skip
ON = Option(
    ("--on",), section=Section.GROUPS, metavar="COLS", complete=COLUMNS, shell=list[str] | None, python="Groups | None",
    help="Columns whose values make segments: a,b,c, or repeat.",
    doc="Columns whose values make segments: names of columns, or beside arrays an array, a frame, or a "
    "mapping of names to arrays.", needed=True,
)  # fmt: skip
JUDGED_ON = ON._replace(
    needed=False, help="Columns whose values make segments, for rules on them: a,b,c, or repeat.",
)  # fmt: skip
PLOTTED_ON = JUDGED_ON._replace(help="Draw the segments that values of these columns make: a,b,c, or repeat.")
REPORTED_ON = JUDGED_ON._replace(
    help="Find the segments, made by the values of these columns, where the score is wrong."
)
DRIFTED_ON = JUDGED_ON._replace(
    help="Further columns to compare: a,b,c, or repeat.", doc="Further columns to compare."
)
DRIFTED_BY = BY._replace(
    help="Compare the scores of each value, such as month, with those of the first; in one file.",
    doc="Without new rows: compare the scores of each value of this column, such as month, with those of the first.",
)  # fmt: skip
FITTED_BY = BY._replace(
    python="Column | None", help="Fit a map to each group of equal values.",
    doc="Fit a map to each group of equal values of this, a name or an array, and one to all rows.",
)  # fmt: skip
FITTED_ON = ON._replace(
    section=Section.GROUPS, needed=False,
    help="Columns that --method segments uses in addition to the score: a,b,c.",
    doc='Columns that the method "segments" looks at beside the score: names, or beside arrays an array, a '
    "frame, or a mapping of names to arrays.",
)  # fmt: skip
MISSING = Option(
    ("--on-missing",), section=Section.COLUMNS, run="values", metavar="error|drop",
    help="Refuse missing values, or drop and count.",
)  # fmt: skip
COMPARED_MISSING = MISSING._replace(
    metavar="error|drop|pairwise",
    help="Refuse missing values, drop and count, or use for each pair the rows that both have.",
)  # fmt: skip
NO_SCORE = Option(
    ("--on-missing",), metavar="error|null", help="Refuse rows whose score is missing or no number, or write null.",
    doc='Rows whose score is missing or no number: "error", or "null" for no probability either.',
)  # fmt: skip
OUT_OF_RANGE = Option(
    ("--on-range",), section=Section.COLUMNS, metavar="error|clip|null",
    help="Refuse scores outside [0,1], clip them, or write null; all are counted.",
    doc='Scores outside [0, 1]: "error", "clip", or "null" for no probability.',
)  # fmt: skip
OFF_SUM = Option(
    ("--on-sum",), section=Section.CLASSES, metavar="error|normalise|null",
    help="Refuse rows that do not sum to 1, divide them by their sum, or write null.",
    doc='Rows of several classes that do not sum to 1: "error", "normalise", or "null" for no probability.',
)  # fmt: skip
FIT_SUM = Option(
    ("--on-sum",), section=Section.CLASSES, metavar="error|normalise",
    help="Refuse rows that do not sum to 1, or divide them by their sum.",
)  # fmt: skip
SEED = Option(
    ("--seed",), metavar="S", least=0, help="Seed of all random draws.",
    doc="Seed of all random draws; the same seed gives the same bits.",
)  # fmt: skip


def listed(words: str | Sequence[str] | None) -> tuple[str, ...]:
    """Return one word or several as several, none for None."""
    if words is None:
        return ()
    return (words,) if isinstance(words, str) else tuple(words)


def names_of(values: str | Sequence[str] | None) -> tuple[str, ...] | None:
    """Return names given as a list, or in one text with commas, as CSV quotes them; or None."""
    if values is None:
        return None
    if not isinstance(values, str):
        return tuple(map(str, values))
    parts = values.split(",")
    if '"' in values and not {"\n", "\r"}.intersection(values):
        import csv

        parts = next(csv.reader([values], skipinitialspace=True))
    return tuple(one.strip() for one in parts)


def as_one(name: str) -> str:
    """Return a name as a text that `names_of` does not take apart."""
    return '"{}"'.format(name.replace('"', '""')) if "," in name or '"' in name else name


@dataclass(frozen=True, slots=True, repr=False)
class ClassOptions:
    probs: str | None = option(None, like=PROBS, otherwise={"compare": TWO_SETS})
    classes: str | tuple[str, ...] | None = option(
        None, "--classes", section=Section.CLASSES, metavar="A,B,...", shell=str | None, python="Classes | None",
        help="Names of the classes in the order of the columns. [default: ends of column names]",
        doc="Names of the classes in the order of the columns, if column names do not end in them.",
    )  # fmt: skip
    view: ViewName = option(
        ViewName.CONFIDENCE, "--view", section=Section.CLASSES,
        help="Evaluate the largest probability, rows by predicted class, or each class against the rest.",
    )  # fmt: skip
    one_class: str | None = option(
        None, "--class", section=Section.CLASSES, metavar="NAME", help="Only this class, with --view.",
        doc='Only this class, with another view than "confidence".',
    )  # fmt: skip
    on_sum: OnSum = option(
        OnSum.ERROR, "--on-sum", section=Section.CLASSES, metavar="error|normalise|accept",
        help="Refuse rows that do not sum to 1, divide them by their sum, or use them as they are.",
        otherwise={"apply": OFF_SUM, "fit": FIT_SUM},
    )  # fmt: skip


@dataclass(frozen=True, slots=True, repr=False)
class SeveralClasses:
    """What was asked of several classes, where there are some; no classes are named where columns say them.

    `change` is the map that probabilities go through before they are seen, `base` the one that they go
    through to be seen as they were before; both are None where there is none. `mapped` says that a map is
    fitted to the rows, or applied to them.
    """

    probs: str
    classes: tuple[str, ...] | None = None
    on_sum: OnSum = OnSum.ERROR
    view: ViewName = ViewName.CONFIDENCE
    one_class: str | None = None
    change: ClassChange | None = None
    base: ClassChange | None = None
    mapped: bool = False

    @classmethod
    def of(cls, said: ClassOptions) -> "SeveralClasses | None":
        """Return what was said of several classes, None where there is one score."""
        probs = _one_set(said.probs)
        if probs is not None:
            return cls(probs, names_of(said.classes), said.on_sum, said.view, said.one_class)
        if said != ClassOptions():
            msg = "--classes, --class, --view and --on-sum speak of several classes, and --probs names none"
            idle = ("classes", "class", "view", "on-sum")
            raise IdleOption(msg, "name their columns, such as --probs 'p_*'", options=idle)
        return None

    def __post_init__(self) -> None:
        if self.one_class is not None and self.view is ViewName.CONFIDENCE:
            msg = f"--class {self.one_class} without a view of single classes"
            raise UsageProblem(msg, "pass --view one-vs-rest or --view top-label")
        if self.mapped and self.on_sum is OnSum.ACCEPT:
            msg = "a map of several classes is one of rows that sum to 1, and --on-sum accept takes any"
            raise UsageProblem(msg, "pass --on-sum normalise, or measure the rows without a map")


def _one_set(probs: str | Sequence[str] | None) -> str | None:
    """Return the columns of several classes, which `compare` may be given twice."""
    if probs is None or isinstance(probs, str):
        return probs
    if len(probs) > 1:
        msg = f"--probs {probs[0]} and --probs {probs[1]}: two sets of classes are not compared"
        rows = "models in rows of their own are compared: --by MODEL --id QUESTION"
        raise UsageProblem(msg, f"compare one set with --artifact CAL.json, or two artifacts on it; {rows}")
    return probs[0] if probs else None


@dataclass(frozen=True, slots=True, repr=False)
class RowSelection:
    """Which rows are read; `seed` is that of the draw, and nothing else depends on it."""

    where: tuple["Condition", ...] = option(
        (), "--where", section=Section.INPUT, metavar="COND", shell=list[str] | None,
        help="Only rows with COLUMN==VALUE, != < <= > >=, or COLUMN in A,B; repeated: all of them.",
        doc='Only rows that satisfy these conditions on columns, such as "country==US" or "age>=18".',
    )  # fmt: skip
    limit: int | None = option(
        None, "--limit", section=Section.INPUT, metavar="N", least=1, help="Only the first N of these rows.",
        doc="Only the first so many of them.",
    )  # fmt: skip
    sample: int | None = option(
        None, "--sample", section=Section.INPUT, metavar="N", least=1, help="Only N of these rows, drawn with --seed.",
        doc="Only so many of them, drawn with `seed`.",
    )  # fmt: skip
    seed: int = option(
        DEFAULT_SEED,
        like=SEED._replace(
            help="Seed of --sample; nothing else is drawn with it.",
            doc="Seed of `sample`; nothing else is drawn with it.",
        ),
    )

    @classmethod
    def of(
        cls,
        where: str | Sequence[str] | None = None,
        limit: int | None = None,
        sample: int | None = None,
        seed: int = DEFAULT_SEED,
    ) -> "RowSelection":
        drawn = DEFAULT_SEED if sample is None else seed
        if where is None:
            return cls((), limit, sample, drawn)
        from calibcli.options.conditions import condition_of

        return cls(tuple(condition_of(text) for text in listed(where)), limit, sample, drawn)

    def __post_init__(self) -> None:
        if self.limit is not None and self.sample is not None:
            msg = f"--limit {self.limit} takes the first rows, --sample {self.sample} random ones"
            raise UsageProblem(msg, "leave out one of them")

    @property
    def counted(self) -> bool:
        """Whether rows must be counted before it is known which are meant."""
        return self.limit is not None or self.sample is not None

    @property
    def options(self) -> tuple[str, ...]:
        """The options that were given, without dashes."""
        given = {"where": self.where, "limit": self.limit, "sample": self.sample}
        return tuple(name for name, value in given.items() if value)


ALL_ROWS = RowSelection()


class MapColumns(Protocol):
    """The columns that a map looks at beside the score, as the readers know them."""

    @property
    def names(self) -> tuple[str, ...]:
        """Their names."""

    @property
    def option(self) -> str:
        """The option that named them to the fit."""


@dataclass(frozen=True, slots=True, repr=False)
class Columns:
    """Which column is which, and what becomes of values; `member` is found in the artifact."""

    score: str | None = option(
        None, "-s", "--score", section=Section.COLUMNS, metavar="COL", complete=COLUMNS,
        help="Score column; else the one with a usual name.", doc="Score column of a frame or of files.",
        otherwise={
            "measure": SEVERAL_SCORES, "report": SEVERAL_SCORES, "segments": SEGMENTED_SCORES, "compare": TWO_SCORES,
            "plot": PLOTTED_SCORES,
        },
    )  # fmt: skip
    label: str | None = option(
        None, "-y", "--label", section=Section.COLUMNS, metavar="COL", complete=COLUMNS,
        help="Label column; else the one with a usual name.", doc="Label column of a frame or of files.",
    )  # fmt: skip
    weight: str | None = option(
        None, "-w", "--weight", section=Section.COLUMNS, run="values", metavar="COL", complete=COLUMNS, python="Column | None",
        help="Weight column.", doc="Weights: a name or an array.",
    )  # fmt: skip
    weights_are: WeightMeaning | None = option(
        None, "--weights-are", section=Section.COLUMNS, run="values", help="What weights mean. [default: importance]",
    )  # fmt: skip
    positive: str | None = option(
        None, "--positive", section=Section.COLUMNS, run="values", metavar="VALUE", python="object",
        help="The label that counts as 1, the same text or number, where labels are not 0/1.",
        doc="The label that counts as 1, where labels are not 0 and 1.",
    )  # fmt: skip
    scale: Scale | None = option(
        None, "--scale", section=Section.COLUMNS, run="values",
        help="What the score column holds. [default: prob, or what the artifact was fitted to]",
        doc='What the scores are; by default what the map was fitted to, else "prob".',
    )  # fmt: skip
    score_map: ScoreMap | None = option(
        None, "--score-map", section=Section.COLUMNS, run="values", metavar="MAP", reach=Reach.READS, shell=str | None, python="Mapping[str, float] | str | os.PathLike[str] | None",
        help="Numbers of scores in words: 'very likely=.9,likely=.7', or a CSV or JSON file of them. [default: those of "
        "the artifact]",
        doc='The numbers of scores in words: a mapping such as {"very likely": 0.9}, or a CSV or JSON file of them; by '
        "default those of the map.",
    )  # fmt: skip
    on_missing: OnMissing = option(
        OnMissing.ERROR, like=MISSING, otherwise={"compare": COMPARED_MISSING, "apply": NO_SCORE}
    )
    on_range: OnRange = option(
        OnRange.ERROR, "--on-range", section=Section.COLUMNS, run="values", metavar="error|clip",
        help="Refuse scores outside [0,1], or clip and count.", otherwise={"apply": OUT_OF_RANGE},
    )  # fmt: skip
    others: tuple[str, ...] = ()
    group: str | None = option(
        None, "-g", "--group", section=Section.GROUPS, metavar="COL", complete=COLUMNS, python="Column | None",
        help="Rows with equal values stay in one fold of auto.",
        doc='Rows with equal values stay in one fold of "auto": a name or an array.',
    )  # fmt: skip
    by: tuple[str, ...] = option(
        (), like=BY, otherwise={
            "verify": JUDGED_BY, "plot": PLOTTED_BY, "compare": COMPARED_BY, "drift": DRIFTED_BY, "fit": FITTED_BY,
        },
    )  # fmt: skip
    on: tuple[str, ...] = option(
        (), like=ON, otherwise={
            "verify": JUDGED_ON, "plan": JUDGED_ON, "plot": PLOTTED_ON, "report": REPORTED_ON, "drift": DRIFTED_ON,
            "fit": FITTED_ON,
        },
    )  # fmt: skip
    cluster: str | None = option(
        None, "--cluster", section=Section.GROUPS, metavar="COL", complete=COLUMNS, python="Column | None",
        help="Column of clusters, such as patient: rows of one cluster are dependent.",
        doc="Clusters, such as patients: rows of one cluster are dependent; a name or an array.",
    )  # fmt: skip
    several: SeveralClasses | None = nested(None, ClassOptions, SeveralClasses.of)
    identity: str | None = option(
        None, "--id", section=Section.COLUMNS, name="row_id", metavar="COL", complete=COLUMNS, python="Column | None",
        help="Column of row ids: no row is counted twice in the state.",
        doc="Identity of each row, so that none is counted twice in the state: a name or an array.",
        otherwise={"compare": QUESTION},
    )  # fmt: skip
    rows: RowSelection = nested(ALL_ROWS, RowSelection)
    member: MapColumns | None = None
    # The score column that a map was fitted to, which is taken where none is named.
    fitted: str | None = None
    # The columns of the classes that a map was fitted to.
    fitted_classes: tuple[str, ...] = ()
    # Whether a map's fit, and not the user, says which label counts as 1.
    positive_of_fit: bool = False
    # The label whose probability a map gives, where the user names another one.
    given_by_map: str | None = None
    # Whether labels are read; where none is, all count as 0.
    labelled: bool = True
    # Whether a row may lack some of its scores: who compares them takes the rows that each pair has.
    in_pairs: bool = False
    # What is said of columns that fit a pattern of scores.
    pattern_notes: tuple[str, ...] = ()
    # Patterns of scores, each with the columns of the first file that fit it.
    fitting: tuple[tuple[str, tuple[str, ...]], ...] = ()
    on_unseen: OnUnseen = option(
        OnUnseen.ERROR, "--unseen", section=Section.GROUPS, name="unseen",
        help="Refuse groups that fit --by has not seen, or take the map of all rows.",
        doc="Rows of groups that an artifact by groups has not seen: refuse them, or take the map of all "
        "rows.",
    )  # fmt: skip

    @classmethod
    def of(
        cls,
        score: str | Sequence[str] | None = None,
        by: Sequence[str] | None = None,
        on: Sequence[str] | None = None,
        **more: Any,  # noqa: ANN401 - the other fields
    ) -> "Columns":
        """Return which column is which: the first score is the score, further ones are others."""
        scores = listed(score)
        names = tuple(name for one in on or () for name in names_of(one) or ())
        # A comma at the end names nothing; an empty text alone is a column that is not there.
        several = tuple(filter(None, names)) or names
        return cls(scores[0] if scores else None, others=scores[1:], by=tuple(by or ()), on=several, **more)

    def refuse_unseen(self) -> None:
        """Refuse to be told about groups where no map has members."""
        if self.on_unseen is not OnUnseen.ERROR:
            msg = f"--unseen {self.on_unseen.value} is for maps fitted by group, and none is applied here"
            hint = "leave it out, or apply what `calibcli fit --by` wrote"
            raise IdleOption(msg, hint, options=("unseen",))

    @property
    def sees_all_classes(self) -> bool:
        """Whether there are several classes, and none of them is the only one that is looked at."""
        return self.several is not None and self.several.one_class is None

    @property
    def each_in(self) -> ViewName | None:
        """The view in which every class was asked for by itself; None where rows have one score."""
        view = None if self.several is None or not self.sees_all_classes else self.several.view
        return None if view is ViewName.CONFIDENCE else view

    @property
    def sums_to_one(self) -> bool:
        """Whether rows of several classes are known to."""
        return self.several is None or self.several.on_sum is not OnSum.ACCEPT

    def __post_init__(self) -> None:
        if self.weights_are is not None and self.weight is None:
            msg = f"--weights-are {self.weights_are} without weights"
            raise IdleOption(msg, "name the weight column with --weight", options=("weights-are",))
        if self.several is not None and self.score_map is not None:
            msg = "--score-map is for one score, and --probs names those of several classes"
            raise IdleOption(msg, "leave out one of them", options=("score-map", "probs"))
        if self.several is not None and (self.score is not None or self.others or self.positive is not None):
            msg = "--probs names the scores of several classes: --score and --positive are for two"
            raise IdleOption(msg, "leave out one of them", options=("score", "positive", "probs"))

    @property
    def read_as(self) -> Scale:
        """The scale that scores are read on: probabilities where nobody said otherwise."""
        return self.scale or Scale.PROB

    @property
    def in_words(self) -> bool:
        """Whether scores are words: phrases with a number, or percentages with their sign."""
        return self.score_map is not None or (self.read_as is Scale.PERCENT and self.several is None)

    @property
    def takes_texts(self) -> bool:
        """Whether scores may be texts: words, or what is no number and gets no probability."""
        return self.in_words or self.on_missing is OnMissing.NULL


_TAB = {"tab", "\\t"}
_DECIMALS = {".", ","}
_NO_DELIMITERS = '"\r\n\x00'
# What every reader takes for granted.
_UTF8 = {"utf-8", "utf-8-sig"}
# Of the names of hosts and of literals in programs: no file is text of them.
_NO_FILES = {"idna", "punycode", "unicode-escape", "raw-unicode-escape"}


@dataclass(frozen=True, slots=True, repr=False)
class InputFormat:
    """What was said of all inputs; None to look, and for commas, UTF-8 and points."""

    format: DataFormat | None = option(
        None, "-f", "--input-format", section=Section.INPUT, name="input_format", help="Format of the inputs; else by content.",
    )  # fmt: skip
    delimiter: str | None = option(
        None, "--delimiter", section=Section.INPUT, metavar="CHAR", help="Separator of CSV, such as ';' or tab; else a comma.",
    )  # fmt: skip
    encoding: str | None = option(
        None, "--encoding", section=Section.INPUT, metavar="NAME", help="Encoding of text, such as latin-1; else UTF-8.",
    )  # fmt: skip
    decimal: str | None = option(
        None, "--decimal", section=Section.INPUT, metavar="CHAR", help="Decimal mark of numbers in CSV: a comma; else a point.",
    )  # fmt: skip

    def __post_init__(self) -> None:
        if self.delimiter is not None:
            object.__setattr__(self, "delimiter", _delimiter(self.delimiter))
        if self.encoding is not None:
            object.__setattr__(self, "encoding", _encoding(self.encoding))
        if self.decimal is not None and self.decimal not in _DECIMALS:
            msg = f"--decimal {self.decimal!r} is not a decimal mark"
            raise UsageProblem(msg, "write ',' for numbers such as 0,5; a point is usual")


AS_FOUND = InputFormat()


def _delimiter(text: str) -> str:
    one = "\t" if text.casefold() in _TAB else text
    if len(one) != 1 or not one.isascii() or one in _NO_DELIMITERS:
        msg = f"--delimiter {text!r} is not one ASCII character"
        raise UsageProblem(msg, "write it like ';', '|' or tab")
    if one in "0123456789+-.eE":
        msg = f"--delimiter {text!r} is part of numbers"
        raise UsageProblem(msg, "write it like ';', '|' or tab")
    return one


def _encoding(text: str) -> str | None:
    """Return Python's name of an encoding, None for UTF-8."""
    try:
        "a".encode(text).decode(text)
        name = codecs.lookup(text).name
    except (LookupError, UnicodeError, ValueError):
        name = ""
    if not name or name in _NO_FILES:
        msg = f"--encoding {text!r} is not an encoding of text"
        raise UsageProblem(msg, "write it like latin-1, cp1252 or utf-16")
    return None if name in _UTF8 else name


def refuse_without_groups(parts: object, **said: bool) -> None:
    """Refuse options of groups, by their names and whether they were given, where nothing makes groups."""
    for name in (name.replace("_", "-") for name, is_said in said.items() if is_said and not parts):
        msg = f"--{name} without groups"
        raise IdleOption(msg, "name the column that makes them with --by", options=(name,))


@dataclass(frozen=True, slots=True, repr=False)
class Reading:
    """How files are read, where, and with how much memory; `progress` is told how far the reading is."""

    input_format: InputFormat = nested(AS_FOUND, InputFormat)
    exact: bool = option(
        False, "--exact", help="Keep every distinct score, whatever memory that takes.",
    )  # fmt: skip
    memory: str = option(
        DEFAULT_MEMORY, "--memory", metavar="SIZE",
        help="Memory for distinct scores; if more is needed, they are rounded to 1.4e-6, and those of groups and "
        "classes to 0.0002.",
    )  # fmt: skip
    jobs: int | None = option(
        None, "-j", "--jobs", least=1, metavar="N", help="Workers; else one per processor.",
        doc="Threads; by default one per processor. They never change a digit.",
    )  # fmt: skip
    engine: EngineName = option(
        EngineName.LOCAL, "--engine", section=Section.ENGINES, reach=Reach.CONNECTS,
        help="Where files are read: here, or on a cluster that exists.",
    )  # fmt: skip
    engine_address: str | None = option(
        None, "--engine-address", section=Section.ENGINES, metavar="ADDR", reach=Reach.CONNECTS,
        help="tcp://HOST:8786 or a scheduler file of dask; local[N], spark://HOST:7077, sc://HOST of spark.",
        doc="Where that engine is.",
    )  # fmt: skip
    progress: Progress = field(default=unseen, compare=False)

    def __post_init__(self) -> None:
        bytes_of(self.memory)
        if self.engine is EngineName.LOCAL and self.engine_address is not None:
            msg = f"--engine-address {self.engine_address} without an engine elsewhere"
            raise IdleOption(msg, "pass --engine dask or --engine spark", options=("engine-address",))
        if self.engine is not EngineName.LOCAL and self.jobs is not None:
            msg = f"--jobs is for this machine, and --engine {self.engine.value} has workers of its own"
            raise IdleOption(msg, "leave out one of them", options=("jobs", "engine"))

    @property
    def limit(self) -> int | None:
        """Most distinct scores of an exact table; None for no limit."""
        return None if self.exact else scores_within(self.memory)


_UNITS = {"": 1, "B": 1, "K": 1024, "M": 1024**2, "G": 1024**3}


def scores_within(memory: str) -> int:
    """Return how many distinct scores are kept exact in so much memory."""
    return max(1, round(EXACT_LIMIT * bytes_of(memory) / bytes_of(DEFAULT_MEMORY)))


def bytes_of(size: str) -> int:
    """Return the number of bytes in words like "256MiB", "1G" or "4096"; K, M and G are powers of 1,024."""
    text = size.strip().upper().removesuffix("IB").removesuffix("B")
    unit = text[-1:] if text[-1:] in _UNITS and not text[-1:].isdigit() else ""
    number = text.removesuffix(unit) if unit else text
    try:
        count = float(number) * _UNITS[unit]
    except ValueError:
        count = 0.0
    if not 0 < count < 2**60:
        msg = f"{size!r} is not an amount of memory"
        raise UsageProblem(msg, "write it like 256MiB or 2G")
    return int(count)


_FILES = "Data files, directories, patterns in quotes, or - for stdin"
# Arguments: what stands on the line without a flag.
INPUTS = Option((), metavar="INPUT...", shell=list[str], help=f"{_FILES}.", needed=True)
MAYBE_INPUTS = INPUTS._replace(shell=list[str] | None, needed=False)
GATE_INPUTS = MAYBE_INPUTS._replace(help=f"{_FILES}; none for what --state holds.")
PLOTTED_INPUTS = INPUTS._replace(
    metavar="INPUT...|REPORT", help="Files as for measure, a report, or a gate's state."
)
# Of commands whose inputs have names of their own.
NAMED_APART = INPUTS._replace(metavar=None, needed=False)
ARTIFACT = Option(
    ("--artifact",), section=Section.MEASURE, metavar="CAL.json", reach=Reach.READS, shell=str | None,
    python="ArtifactLike | None",
    help="Recalibrate the score with this artifact first.",
    doc="A `Recalibrator`, or the path of one, that scores go through first.",
)  # fmt: skip


@dataclass(frozen=True, slots=True, repr=False)
class RowRequest:
    """Which rows are meant, which column is which, what recalibrates them first, and how files are read."""

    inputs: Sequence[RowSource] = option(
        (), like=INPUTS, otherwise={
            "measure": MAYBE_INPUTS, "verify": GATE_INPUTS, "plot": PLOTTED_INPUTS, "drift": NAMED_APART,
        },
    )  # fmt: skip
    columns: Columns = nested(Columns(), Columns)
    artifact: DocumentSource | None = option(None, like=ARTIFACT)
    reading: Reading = nested(Reading(), Reading)

    @property
    def options_given(self) -> tuple[str, ...]:
        """What was said of columns and of how files are read.

        Limits on what the machine may use are none of it, and may be defaults from a file.
        """
        probs = () if self.columns.several is None else ("probs",)
        every = (*options_given(self.columns), *probs, *options_given(self.reading))
        return tuple(name for name in every if name not in ("jobs", "memory"))
