"""Say what is in a file: an artifact, a report, or data with columns to guess."""

import json
import re
import shlex
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from calibcli.codec import Node, version_of
from calibcli.data.columns import A_TITLE, Header, resolve, separated_by, separator_hint
from calibcli.data.fault_words import NO_SIGN
from calibcli.data.files import file_word, found_in
from calibcli.data.formats import format_of
from calibcli.data.fragments import (
    DECIMAL_COMMA,
    are_named_otherwise,
    asking_for,
    guessed_classes,
    kinds_as_read,
    list_fragments,
    one_of_two,
)
from calibcli.data.pipes import hand_on
from calibcli.data.readers import Fragment, reader_of
from calibcli.documents.artifact import (
    Artifact,
    ClassArtifact,
    GroupArtifact,
    OneMap,
    SegmentArtifact,
    read_any_map,
)
from calibcli.documents.sealed import in_file, read_document
from calibcli.documents.summary import read_summary
from calibcli.errors import CalibcliError, DocumentProblem, IdleOption, InputProblem, UsageProblem
from calibcli.names import NEW_COLUMN, DataFormat, EndsOf, OnMissing, OnRange, Scale
from calibcli.options.declaring import options_given
from calibcli.options.numerals import agreeing, folded, in_full, plural
from calibcli.options.rows import (
    AS_FOUND,
    Columns,
    DocumentSource,
    InputFormat,
    Reading,
    RowRequest,
    SeveralClasses,
)
from calibcli.reports.compare import SCHEMA as COMPARE_SCHEMA
from calibcli.reports.compat import SCHEMA as COMPAT_SCHEMA
from calibcli.reports.drift import SCHEMA as DRIFT_SCHEMA
from calibcli.reports.leaderboard import SCHEMA as LEADERBOARD_SCHEMA
from calibcli.reports.maps import ColumnSummary, InspectReport
from calibcli.reports.measure import SCHEMA as REPORT_SCHEMA
from calibcli.reports.plan import SCHEMA as PLAN_SCHEMA
from calibcli.reports.segments import SCHEMA as SEGMENTS_SCHEMA
from calibcli.show.words import NONE, UNDEFINED, first_of, four, share
from calibcli.stats.recalibrators import Recalibrator, distinct_outputs
from calibcli.stats.recalibrators.classes import ClassRecalibrator
from calibcli.stats.recalibrators.segments import SegmentColumn
from calibcli.stats.recalibrators.selection import Selection
from calibcli.values import replace

if TYPE_CHECKING:
    from calibcli.commands.gathering import Gathered


# No column is named.
_GUESSED = Columns()


def inspect_file(
    path: str, columns: Columns = _GUESSED, *, input_format: InputFormat = AS_FOUND
) -> InspectReport:
    if path != "-" and input_format.format is None and _seems_document(path):
        found = _inspect_document(path)
        if idle := (*options_given(columns), *options_given(input_format)):
            msg = f"--{idle[0]} says how rows are read, and {path} has none"
            raise IdleOption(msg, "leave it out", options=idle)
        return found
    return inspect_columns(path, columns, input_format=input_format)


def _seems_document(path: str) -> bool:
    """Whether a file may be a document, not rows; a pipe is not asked, since it can be read once."""
    try:
        if not Path(path).is_file() or format_of(path) is DataFormat.JSONL:
            return False
        with Path(path).open("rb") as file:
            head = file.read(1 << 16).lstrip()
    except (OSError, ValueError):
        return False
    try:
        first = json.loads(head.partition(b"\n")[0])
    except (ValueError, RecursionError):
        return head[:1] == b"{"
    return isinstance(first, dict) and "schema" in first


def _inspect_document(path: str) -> InspectReport:
    try:
        root = read_document(path)
        if not root.has("schema"):
            msg = "is not a calibcli document: it has no 'schema'"
            raise root.problem(msg, "if it holds rows, an object a line, pass --input-format jsonl")
        match root.child("schema").text().partition("/")[0]:
            case "calibcli.artifact":
                return artifact_report(path)
            case "calibcli.gate":
                from calibcli.commands.gate import report_of
                from calibcli.documents.state import state_in

                return report_of(path, state_in(path))
            case "calibcli.summary":
                from calibcli.commands.summaries import summary_report

                return summary_report(path, read_summary(path))
            case kind if kind in _REPORTS:
                version_of(root, _REPORTS[kind][0])
            case _:
                found = root.child("schema").text()[:60]
                msg = f"is {found!r}, which is neither {Artifact.SCHEMA!r} nor {REPORT_SCHEMA!r}"
                raise root.child("schema").problem(msg)
        report, doubts = root.built(lambda node: saved_report_facts(path, node))
        return replace(report, facts=(*report.facts, *(("note", f"{path} {one}") for one in doubts)))
    except DocumentProblem as problem:
        raise problem if problem.path.startswith(path) else in_file(path, problem) from None


Facts = list[tuple[str, str]]


def artifact_report(source: DocumentSource) -> InspectReport:
    found, path = read_any_map(source), str(source)
    kind, what = "artifact", "score"
    match found:
        case Artifact():
            before, after = _of_one_score(found)
        case GroupArtifact():
            kind = "artifact by group"
            before, after = _of_groups(found)
        case SegmentArtifact():
            kind = "artifact by segments"
            before, after = _of_segments(found)
        case ClassArtifact():
            what = "columns"
            before, after = _of_classes(found)
    one = found.of_all_rows
    facts = (
        *before,
        *_fitted(one),
        (f"scale of the {what}", one.scale.value),
        *_phrases(one),
        ("digest of the fit rows", one.fit.table_digest),
        ("written by", f"calibcli {found.calibcli}"),
        *after,
        *(("note", note) for note in one.fit.notes),
    )
    following = f"calibcli apply {file_word(path)} preds.csv -o repaired.csv"
    return InspectReport(path, kind, facts, (), following)


def _phrases(artifact: OneMap | ClassArtifact) -> Facts:
    if isinstance(artifact, ClassArtifact) or artifact.score_map is None:
        return []
    return [
        (
            "scores in words",
            ", ".join(f"{phrase} = {in_full(number)}" for phrase, number in artifact.score_map.items()),
        )
    ]


def _fitted(artifact: OneMap | ClassArtifact) -> Facts:
    what = "score column" if artifact.classes is None else "columns of classes"
    return [] if artifact.columns is None else [(what, _listed(artifact.columns))]


def _of_one_score(artifact: Artifact) -> tuple[Facts, Facts]:
    fit, recalibrator = artifact.fit, artifact.recalibrator
    resolved = [] if fit.selection is None else [("chosen by", _choice(fit.selection))]
    before = [
        ("method", recalibrator.name.value),
        *resolved,
        ("fitted on", f"{fit.rows:,} rows, {fit.positive:,} with label 1 ({fit.table} table)"),
        ("options", _options(fit.options)),
        ("loss on fit rows", f"{fit.loss_before:.6g} before, {fit.loss_after:.6g} after"),
        ("outputs", _outputs(recalibrator)),
        ("increasing", _order(recalibrator)),
    ]
    bins = recalibrator.bins
    after = [_parameters(recalibrator)]
    if bins is not None:
        after = [
            (f"({one.lower:.6g}, {one.upper:.6g}]", f"{one.value:.6g} from {plural(one.rows, 'row')}")
            for one in bins[:50]
        ]
        after += [("...", f"{len(bins) - 50:,} more, in the file")] if len(bins) > 50 else []
    bounds = () if recalibrator.guarantee is None else recalibrator.guarantee.bounds
    return before, [*after, *(("guarantee", f"{one.value:.4g}: {one.statement}") for one in bounds)]


def _options(options: Mapping[str, object]) -> str:
    return ", ".join(f"{key}={value}" for key, value in options.items()) or "none"


def _parameters(recalibrator: Recalibrator | ClassRecalibrator) -> tuple[str, str]:
    text = json.dumps(recalibrator.to_dict(), sort_keys=True)
    return "parameters", text if len(text) <= _LONGEST else f"{text[:_LONGEST]} ..."


def _order(recalibrator: Recalibrator) -> str:
    return "yes, but for the last digit" if recalibrator.increasing else "no: a higher score can get less"


def _outputs(recalibrator: Recalibrator) -> str:
    count = distinct_outputs(recalibrator)
    return "many values" if count is None else plural(count, "value")


def _choice(selection: Selection) -> str:
    found = [
        f"{trial.method} {'none' if trial.loss is None else f'{trial.loss:.6g}'}"
        for trial in selection.trials
    ]
    folds = f"{selection.folds} folds" + (f" by {selection.grouped_by}" if selection.grouped_by else "")
    return f"cross-validated {selection.loss.value} loss, {folds}: {', '.join(found)}"


def _bounded(measure: Node) -> str:
    value, lower, upper = (_rounded(measure.child(name)) for name in ("value", "lower", "upper"))
    return f"{value} (no interval)" if lower == upper == NONE else f"{value} [{lower}, {upper}]"


def _rounded(found: Node) -> str:
    """Return a number as tables have it."""
    return four(found.number()) if isinstance(found.value, int | float) else _number(found)


def _number(found: Node) -> str:
    return NONE if found.value is None else UNDEFINED if found.value == "nan" else str(found.value)


def saved_report_facts(path: str, root: Node) -> InspectReport:
    _, kind, facts_of = _REPORTS[root.child("schema").text().partition("/")[0]]
    plotted = facts_of is _of_report and root.child("curve").value is not None
    suggestion = f"calibcli plot {file_word(path)} -o reliability.png" if plotted else None
    # Reports of the first versions have no answer.
    said = (("answer", root.child("answer").text()),) if root.has("answer") else ()
    return InspectReport(path, kind, (*said, *facts_of(root)), (), suggestion)


def _files(source: Node) -> str:
    return ", ".join(source.child("files").texts())


def _of_report(root: Node) -> Facts:
    source, table = root.child("input"), root.child("table")
    facts = [
        ("files", _files(source)),
        ("score", source.child("score").text()),
        ("rows", f"{table.child('rows').whole():,}, {table.child('positive').whole():,} with label 1"),
    ]
    measures, rules = root.child("measures").members(), root.child("rules").members()
    slices = list(root.child("slices").members())
    facts += [("parts", f"{len(slices):,}: {first_of(slices, 3)}")] if slices else []
    facts += [(name, _bounded(measure)) for name, measure in measures.items()]
    return facts + [
        ("rule", f"{rule.child('expr').text()}: {rule.child('status').text()}") for rule in rules.values()
    ]


def _of_comparison(root: Node) -> Facts:
    return [
        ("files", _files(root.child("input"))),
        ("first", root.child("first").child("name").text()),
        ("second", root.child("second").child("name").text()),
        *(
            (name, f"{_bounded(measure.child('difference'))} {measure.child('verdict').text()}")
            for name, measure in root.child("measures").members().items()
        ),
    ]


def _of_leaderboard(root: Node) -> Facts:
    return [
        ("files", _files(root.child("input"))),
        *(
            (f"{name} of {one.child('name').text()}", _bounded(one.child("estimate")))
            for name, ranking in root.child("measures").members().items()
            for one in ranking.child("standings").items()
        ),
    ]


def _of_segments_report(root: Node) -> Facts:
    return [
        ("files", _files(root.child("input"))),
        *((name, _rounded(root.child(name).child("value"))) for name in ("mce", "mce_sigma", "mce_p")),
        ("tested", plural(root.child("tested").whole(), "segment")),
    ]


def _of_drift(root: Node) -> Facts:
    return [
        *((side, _files(root.child(side)) or "the rows of one file") for side in ("old", "new")),
        *(
            (f"PSI of {one.child('name').text()}", _rounded(one.child("psi")))
            for one in root.child("columns").items()
        ),
    ]


def _of_compat(root: Node) -> Facts:
    source, peer = root.child("input"), root.child("peer")
    return [
        ("files", _files(source)),
        ("score", source.child("score").text()),
        ("as", f"{peer.child('package').text()} {peer.child('version').text()} gives it"),
        *((name, _number(one.child("value"))) for name, one in root.child("numbers").members().items()),
    ]


def _of_plan(root: Node) -> Facts:
    rows, power = root.child("rows").value, root.child("power").number(0.0, 1.0)
    return [
        ("gate", f"{root.child('measure').text()} <= {in_full(root.child('limit').number(0.0, 1.0))}"),
        ("rows", "more than a billion" if rows is None else f"{root.child('rows').whole():,}"),
        ("for", f"a {root.child('wanted').text()} with a power of {power:g}"),
        ("if", root.child("pattern").text()),
        ("scores", f"as {root.child('scores_from').text()}"),
    ]


_MOST_LISTED = 20

_LONGEST = 400


def _of_classes(artifact: ClassArtifact) -> tuple[Facts, Facts]:
    fit = artifact.fit
    before = [
        ("method", artifact.recalibrator.name.value),
        ("classes", _listed(artifact.classes)),
        ("fitted on", f"{fit.rows:,} rows of {len(artifact.classes):,} classes"),
        ("rows of a class", f"{min(fit.class_rows):,} to {max(fit.class_rows):,}"),
        ("options", _options(fit.options)),
        ("loss on fit rows", f"log loss {fit.loss_before:.6g} before, {fit.loss_after:.6g} after"),
        ("accuracy there", f"{fit.accuracy_before:.4g} before, {fit.accuracy_after:.4g} after"),
        ("prediction", _prediction(artifact)),
        ("ends", _ends(artifact)),
    ]
    return before, [_parameters(artifact.recalibrator)]


def _listed(names: Sequence[str]) -> str:
    listed = ", ".join(names[:_MOST_LISTED])
    more = len(names) - _MOST_LISTED
    return listed if more <= 0 else f"{listed} and {more:,} more"


def _prediction(artifact: ClassArtifact) -> str:
    if artifact.recalibrator.keeps_prediction:
        return "no row can change its predicted class"
    return f"rows may change their predicted class, as {artifact.fit.changed:,} of the fit rows did"


def _ends(artifact: ClassArtifact) -> str:
    match artifact.recalibrator.ends_of:
        case EndsOf.CLASSES:
            return "of every class"
        case EndsOf.PREDICTED:
            return "of the predicted class"
        case None:
            return "none"


def _of_groups(artifact: GroupArtifact) -> tuple[Facts, Facts]:
    pooled = artifact.pooled
    before = [
        ("method", f"{pooled.recalibrator.name.value}, by {artifact.by}"),
        ("fitted on", f"{pooled.fit.rows:,} rows, {pooled.fit.positive:,} with label 1"),
        ("groups", f"{len(artifact.members):,} with a map of their own, {len(artifact.shared):,} without"),
    ]
    own = {
        key: f"{one.recalibrator.name.value}, {one.fit.rows:,} rows, "
        f"loss {one.fit.loss_before:.6g} before, {one.fit.loss_after:.6g} after"
        for key, one in sorted(artifact.members.items())
    }
    shared = {
        key: f"{plural(one.rows, 'row')}, shares the map of all: {one.reason}"
        for key, one in sorted(artifact.shared.items())
    }
    return before, [(f"{artifact.by}={key}", text) for key, text in {**own, **shared}.items()]


# Of the coefficients of a map so many are listed, the largest first.
_MOST_COEFFICIENTS = 20


def _of_segments(artifact: SegmentArtifact) -> tuple[Facts, Facts]:
    """Say what a map does to which rows: log odds that are added, the largest first."""
    fit, found = artifact.fit, artifact.recalibrator
    before = [
        ("method", f"segments, on {', '.join(artifact.names)}"),
        ("fitted on", f"{fit.rows:,} rows, {fit.positive:,} with label 1 ({fit.table} table)"),
        ("options", _options(fit.options)),
        ("loss on fit rows", f"{fit.loss_before:.6g} before, {fit.loss_after:.6g} after"),
        *[(f"held-out loss, {said}", f"{loss:.6g}") for said, loss in found.losses],
        ("penalty", found.strength_words),
        ("optimum", f"proved: the penalised loss is at most {found.gap:.2g} a row above its least"),
    ]
    after = [(one.name, _cut_words(one)) for one in found.columns]
    if found.strength is not None:
        curve = f"logit {found.intercept:+.4g} {found.slope:+.4g} (logit {-found.centre:+.4g})"
        after.append(("all rows", curve))
    every = [
        (
            abs(value),
            found.conditions(term, level),
            f"{value:+.4g}{' a unit of the logit' if term.slope else ''}",
        )
        for term in found.terms
        for level, value in zip(term.levels, term.coefficients, strict=True)
    ]
    every.sort(key=lambda one: (-one[0], one[1], one[2]))
    after += [(segment, said) for _, segment, said in every[:_MOST_COEFFICIENTS]]
    if len(every) > _MOST_COEFFICIENTS:
        after.append(("...", f"{plural(len(every) - _MOST_COEFFICIENTS, 'smaller one')}, in the file"))
    return before, after


def _cut_words(column: SegmentColumn) -> str:
    words = column.words()[: column.own]
    if column.kind == "numbers" and len(words) > 1:
        ends = f"{len(words):,} intervals, from {words[0]} to {words[-1]}"
        return f"{ends}; {column.crossed_own:,} in intersections"
    return _listed(words)


# What reports are called and what is said of them, by the name of their schema.
_REPORTS = {
    one[0].partition("/")[0]: one
    for one in (
        (REPORT_SCHEMA, "report", _of_report),
        (COMPARE_SCHEMA, "comparison", _of_comparison),
        (LEADERBOARD_SCHEMA, "leaderboard", _of_leaderboard),
        (COMPAT_SCHEMA, "numbers of another tool", _of_compat),
        (PLAN_SCHEMA, "plan of a gate", _of_plan),
        (SEGMENTS_SCHEMA, "segments", _of_segments_report),
        (DRIFT_SCHEMA, "drift", _of_drift),
    )
}


def inspect_columns(
    path: str, named: Columns = _GUESSED, *, input_format: InputFormat = AS_FOUND
) -> InspectReport:
    found = found_in([path])
    fragments = list_fragments(found, input_format=input_format)
    first = fragments[0]
    header, hint, unread = _header_of(first)
    if (otherwise := _by_another_mark(path, first, header, hint, named, input_format)) is not None:
        return otherwise
    if unread is not None:
        raise unread
    hint = _of_one_line(header, hint)
    own = {folded(name) for name in header} if first.partitions else ()
    partitions = tuple(dict.fromkeys(name for name, _ in first.partitions if folded(name) not in own))
    repair: str | None = ""
    roles = _roles(Header(header, first.shown, partitions), named)
    small = _is_small(fragments)
    probs, roles, of_two = _score_or_classes(
        first,
        header,
        roles,
        named,
        lambda columns: _contents(path, columns, input_format)[1] if small else "",
    )
    by_name = {name: role for role, name in roles.items()}
    if NEW_COLUMN in header and "score" in roles and named.score is None:
        # What `apply` wrote is looked at next, and not once more what it was made of.
        roles = {**roles, "score": NEW_COLUMN}
    facts = [("format", first.format.value), *_size(fragments), ("columns", f"{len(header):,}")]
    facts += [("found", note) for note in found.notes()]
    labelled = "label" in roles and small
    of_score = labelled and not probs and "score" in roles
    more: Facts = []
    if of_score:
        more, repair = _contents(path, Columns(roles["score"], roles["label"]), input_format)
    # Only now: of a million columns it is as much as all that was needed before.
    kinds = kinds_as_read(first, header)
    lists = _lists_of_labels(first, roles.get("label", ""), kinds) if probs else []
    if probs and labelled and not lists:
        probs, more, repair = _contents_of_classes(path, probs, roles["label"], kinds, input_format)
    elif not of_score:
        label = roles["label"] if labelled and not probs else None
        more, repair = _labels(path, label, kinds, input_format)
    known = dict(facts)
    facts += [one for one in more if one[0] != "rows" or "rows" not in known]
    facts += [("in the path", ", ".join(partitions))] if partitions else []
    if refused := _refused(Header(header, first.shown), hint) or lists:
        facts, repair = [*facts, *refused], None
    elif hint is not None:
        facts.append(("note", hint))
    facts += of_two
    words = (
        f"{_requested(probs, roles)} -y {shlex.quote(roles.get('label', 'LABEL'))}{_as_said(input_format)}"
    )
    typed = (*kinds, *((name, "partition") for name in partitions))
    by_name |= dict.fromkeys(probs, "probs")
    columns = tuple(ColumnSummary(name, kind, by_name.get(name, "")) for name, kind in typed)
    following = None if repair is None else f"calibcli measure {file_word(path)} {words}{repair}"
    stuck = "" if refused or not of_score or named.score is not None else roles["score"]
    following = following or _of_another_score(path, Header(header, first.shown), stuck, input_format)
    if following is not None and repair == "" and small:
        by, models = _of_models(path, header, roles, input_format, words)
        following, facts = f"{following}{by}", [*facts, *models]
    return InspectReport(path, first.format.value, tuple(facts), columns, following)


def _contents_of_classes(
    path: str, probs: tuple[str, ...], label: str, kinds: Sequence[tuple[str, str]], form: InputFormat
) -> tuple[tuple[str, ...], Facts, str]:
    """Return the columns of classes, why `measure` would refuse their rows, and what it needs to be told.

    Nothing tells log odds of several models from those of classes but labels of 0 and 1 alone: then the
    columns are none of classes, as where such labels name no class.
    """
    several = SeveralClasses(shlex.split(asking_for(probs))[1])
    facts, repair = _contents(path, Columns(None, label, several=several), form)
    stuck = repair is None and dict(facts)["note"].rpartition(": column ")[2].startswith(repr(label))
    if stuck or ("--scale" in (repair or "") and are_named_otherwise(probs)):
        found, needed = _labels(path, label, kinds, form)
        if "base rate" in dict(found) or needed.strip() == "--on-missing drop":
            return (), found, needed
    return probs, facts, repair or ""


def _score_or_classes(
    first: Fragment,
    header: tuple[str, ...],
    roles: dict[str, str],
    named: Columns,
    needed: Callable[[Columns], str | None],
) -> tuple[tuple[str, ...], dict[str, str], Facts]:
    """Return the columns of classes, if these are looked at, what the others are, and what is said of it.

    Of two classes one column is the score, where none looks like it.

    Args:
        needed: What `measure` needs to be told of columns, None where it takes other ones.
    """
    if named.score is not None:
        return (), roles, []
    probs, score = guessed_classes(first, header), roles.get("score")
    if probs and score is not None and score not in probs:
        # Texts are the class that was predicted, beside the probabilities of all.
        if dict(kinds_as_read(first, header)).get(score) not in _TEXTS and not _name(roles, probs, needed):
            return (), roles, []
        roles = {role: name for role, name in roles.items() if role != "score"}
    one = None if "score" in roles else one_of_two(first, probs)
    if one is None:
        return probs, roles, []
    both = f"{asking_for(probs)} looks at the larger of both in each row"
    note = f"of two classes the probability of one is enough; {both}"
    return (), {**roles, "score": one}, [("note", note)]


def _name(roles: dict[str, str], probs: tuple[str, ...], needed: Callable[[Columns], str | None]) -> bool:
    """Return whether labels are names of classes: 0 and 1 beside a score say which came true."""
    label = roles.get("label")
    of_score = "" if label is None else needed(Columns(roles["score"], label))
    if of_score is not None and "--positive" not in of_score:
        return False
    several = SeveralClasses(shlex.split(asking_for(probs))[1])
    return needed(Columns(None, label, several=several)) is not None


def _header_of(fragment: Fragment) -> tuple[tuple[str, ...], str | None, InputProblem | None]:
    """Return the names in a header, what is said of the marks between them, and why it cannot be read."""
    try:
        header = reader_of(fragment).header()
    except InputProblem as problem:
        # Quoted names with another mark between them are no CSV where a comma is expected.
        return (), problem.hint, problem
    return header, separator_hint(header), None


def _of_one_line(header: Sequence[str], hint: str | None) -> str | None:
    """Return what is said of a header that no other mark divides: names may hold such marks, too, and blanks
    stand between the words of a title.
    """
    if len(header) > 1 and "--delimiter" in str(hint):
        return None
    return A_TITLE if hint == separated_by(" ") else hint


def _refused(header: Header, hint: str | None) -> Facts:
    """Return why no command would read a file: some of its columns have one name, or it has no header."""
    # Without another mark than the comma, what is wrong is the first line itself.
    found = [("note", hint)] if hint is not None and "--delimiter" not in hint else []
    try:
        header.refuse_repeated()
    except InputProblem as problem:
        found = [("note", f"`calibcli measure` would stop: {problem.message}; {problem.hint}"), *found]
    return found


def _by_another_mark(
    path: str,
    first: Fragment,
    header: Sequence[str],
    hint: str | None,
    named: Columns,
    input_format: InputFormat,
) -> InspectReport | None:
    """None unless there is a hint of a mark that divides the rows as well."""
    mark = re.search("--delimiter '?(tab|.)", hint or "")
    if mark is None or input_format.delimiter is not None:
        return None
    if first.pipe is not None:
        hand_on(first.path, first.pipe)
    with suppress(InputProblem):
        told = inspect_columns(path, named, input_format=replace(input_format, delimiter=mark[1]))
        divides = any(one.kind != "empty" for one in told.columns)
        if divides or (len(header) <= 1 and mark[1] != " "):
            return replace(told, facts=(*told.facts, ("note", str(hint))))
    return None


# Files of a machine up to this size are read to say what is in them; that takes a second or two.
_SMALL = 1 << 26


def _is_small(fragments: list[Fragment]) -> bool:
    """Whether files may be read in an instant, and a second time."""
    try:
        paths = [Path(name) for name in dict.fromkeys(str(one.path) for one in fragments)]
        return all(one.is_file() for one in paths) and sum(one.stat().st_size for one in paths) <= _SMALL
    except OSError:
        return False


# What hints offer where one option more is enough: of `measure`, as these rows are, with a value as the shell
# quotes it.
_REPAIRS = re.compile(
    r"(?<!`apply )(?<!fit )--(positive|scale|on-missing|on-range|decimal) ((?:'[^']*'|\"'\")+|\S*[^\s,:;]|,)"
)


def _offered(hint: str | None) -> list[tuple[str, str]]:
    """Return the options of `measure` that a hint offers, with their values."""
    return _REPAIRS.findall(hint or "")


def _read(path: str, columns: Columns, form: InputFormat) -> "Gathered":
    from calibcli.commands.reading import read_tables
    from calibcli.commands.slices import gather_request_of

    rows = RowRequest([path], columns, reading=Reading(input_format=form))
    return read_tables(rows, gather_request_of(rows))


def _stops(path: str, problem: CalibcliError) -> str:
    """Return why `measure` would stop, and what to do."""
    return "; ".join(filter(None, (problem.message.removeprefix(f"{path}, "), problem.hint)))


def _contents(path: str, sought: Columns, form: InputFormat) -> tuple[Facts, str | None]:
    """Return the range of the score and the base rate, and why `measure` would refuse the rows as they are;
    of several classes that alone.

    What it needs to be told then comes with it, as it is typed: None where an option is not enough.
    """
    facts: Facts = []
    refused: list[str] = []
    said: dict[str, str] = {}
    either: list[str] = []
    unlikely: list[str] = []
    while True:
        try:
            typed = _typed(said)
            form = replace(form, decimal=typed.pop("decimal", form.decimal))
            read = _read(path, replace(sought, **typed), form)
            break
        except CalibcliError as problem:
            refused.append(_stops(path, problem))
            facts = [("note", f"`calibcli measure` would stop: {'. Then: '.join(refused)}")]
            offered = _offered(problem.hint)
            repairs = dict(offered)
            if len(labels := [value for option, value in offered if option == "positive"]) == 2:
                either = labels
            if not repairs or not said.keys().isdisjoint(repairs):
                return facts, None
            option, value = next(iter(repairs.items()))
            if option == "scale":
                # Of several ways to read the same numbers the first is the likeliest.
                value, *unlikely = [value for option, value in offered if option == "scale"]
            said[option] = value
            if said.get("positive") == "VALUE":
                return facts, _options_of(said)
    table, dropped = read.table, read.input.dropped
    rows, positive = table.total_rows, table.total_positive_rows
    if not rows or sought.several is not None:
        return facts, _options_of(said)
    span = f"{table.score[0]:.6g} to {table.score[-1]:.6g}, {plural(table.distinct, 'distinct value')}"
    # Of scores on another scale, or beyond [0, 1], the column shows other numbers.
    span += ", as probabilities" * ("scale" in said) + ", clipped to [0, 1]" * ("on-range" in said)
    every = f"{rows + dropped:,}" + (f", {rows:,} of them with score and label" if dropped else "")
    if either:
        # Only the user knows which label is the event; of a score of use it is that of the higher scores.
        ones = table.positive_rows
        others = table.rows - ones
        higher = table.score @ ones / max(positive, 1) >= table.score @ others / max(rows - positive, 1)
        said["positive"], positive = (either[1], positive) if higher else (either[0], rows - positive)
        facts.append(("note", f"--positive {said['positive']} is a guess: its rows have the higher scores"))
        of_predicted = table.score[0] >= _HALF and not _RIGHT & {folded(one) for one in either}
        facts += [("note", _OF_THE_PREDICTED)] if of_predicted else []
    if unlikely:
        also = f"--scale {unlikely[0]} reads such numbers, too"
        facts.append(("note", f"--scale {said['scale']} is a guess: {also}"))
    facts += [("note", note) for note in read.input.notes if NO_SIGN in note]
    return [("rows", every), ("score", span), _base_rate(positive, rows), *facts], _options_of(said)


# The larger of two probabilities is no less.
_HALF = 0.5
_OF_THE_PREDICTED = (
    "no score is below 1/2: if each is the probability of the class predicted in its row, name a label that "
    "says whether that class was right, or write 1 - score in the rows that predict the other class"
)
# Labels that say it already.
_RIGHT = {"right", "wrong", "correct", "incorrect", "true", "false"}

# What columns of texts, and of numbers that may be scores, are called in CSV and in formats with types.
_TEXTS = ("text", "string", "large_string")
_NUMBERS = ("number", DECIMAL_COMMA, "whole number", "double", "float", "float64", "float32")


def _labels(
    path: str, label: str | None, kinds: Sequence[tuple[str, str]], form: InputFormat
) -> tuple[Facts, str]:
    """Return the base rate where no column looks like the score: any column of numbers stands in for it.

    With it come what `measure` needs to be told of labels that it would refuse, and of a decimal comma.
    """
    found = {kind for _, kind in kinds}
    comma = " --decimal ," * (DECIMAL_COMMA in found and "number" not in found)
    form = replace(form, decimal=",") if comma else form
    for name in (name for name, kind in kinds if label and kind in _NUMBERS and name != label):
        try:
            table = _read(path, Columns(name, label, on_range=OnRange.CLIP), form).table
        except CalibcliError as problem:
            if f"column {label!r}" not in problem.message:
                continue
            refused = f"`calibcli measure` would stop: {_stops(path, problem)}"
            offered = _offered(problem.hint)
            unknown = [option for option, _ in offered].count("positive") > 1
            said = dict(offered) | ({"positive": "VALUE"} if unknown else {})
            return [("note", refused)], _options_of(said) + comma
        rows, positive = table.total_rows, table.total_positive_rows
        return [("rows", f"{rows:,}"), _base_rate(positive, rows)], comma
    return [], comma


def _lists_of_labels(first: Fragment, label: str, kinds: Sequence[tuple[str, str]]) -> Facts:
    """Return why no rows are read where labels are several to a row, as in JSON of whole columns."""
    if not re.search("list|struct|object", dict(kinds).get(label, "")):
        return []
    hint = "a row has one label"
    if first.format is DataFormat.JSONL:
        from calibcli.data.readers.jsonl import BY_COLUMNS

        hint = BY_COLUMNS
    return [("note", f"`calibcli measure` would stop: column {label!r} holds no labels, but lists; {hint}")]


def _base_rate(positive: int, rows: int) -> tuple[str, str]:
    have = f"{positive:,} of {rows:,} rows {agreeing(positive, 'has')}"
    have = f"the only row has{'' if positive else ' not'}" if rows == 1 else have
    return "base rate", f"{share(positive, rows)} ({have} label 1)"


# Columns that are named so hold a model in each row, and the question that it answered.
_MODELS = ("model", "model_name", "model_id", "llm", "system")
_QUESTIONS = ("question", "question_id", "prompt", "prompt_id", "item", "item_id", "example", "id")
_MOST_MODELS = 20


def _of_models(
    path: str, header: tuple[str, ...], roles: Mapping[str, str], form: InputFormat, words: str
) -> tuple[str, Facts]:
    """Return what measures a few models in rows, and what compares them by their questions.

    Where a model answers questions several times these are clusters, and no ids that tell rows apart.
    """
    known, own = {*_MODELS, *_QUESTIONS}, set(roles.values())
    free = {word: name for name in header if (word := folded(name)) in known and name not in own}
    model, question = (
        next((free[name] for name in names if name in free), None) for names in (_MODELS, _QUESTIONS)
    )
    if model is None or not {"score", "label"} <= set(roles):
        return "", []
    columns = Columns(roles["score"], roles["label"], by=(model,), cluster=question)
    with suppress(CalibcliError):
        read = _read(path, columns, form)
        (models,) = (len(one.tables()) for one in read.extras.slices.values())
        asked = sum(one.whole().count for one in read.extras.clusters.values())
        if 2 <= models <= _MOST_MODELS:
            by = f" --by {shlex.quote(model)}"
            more = f"{by} -m observed_rate,mean_score,bias,auroc"
            if question is None:
                return more, []
            if read.table.total_rows > models * asked:
                return f"{more} --cluster {shlex.quote(question)}", []
            ids = f"{by} --id {shlex.quote(question)}"
            return more, [("models", f"calibcli compare {file_word(path)} {words}{ids} says which is better")]
    return "", []


def _typed(said: Mapping[str, str]) -> dict[str, Any]:
    """Return options that hints offered as they are read."""
    read: dict[str, Callable[[str], Any]] = {"scale": Scale, "on-missing": OnMissing, "on-range": OnRange}
    words = {name: shlex.split(value)[0] for name, value in said.items()}
    return {name.replace("-", "_"): read.get(name, str)(word) for name, word in words.items()}


def _options_of(said: Mapping[str, str]) -> str:
    return "".join(f" --{name} {value}" for name, value in said.items())


def _as_said(requested: InputFormat) -> str:
    """Return the options that said how the file is read."""
    said = {
        "--input-format": None if requested.format is None else requested.format.value,
        "--delimiter": requested.delimiter,
        "--encoding": requested.encoding,
        "--decimal": requested.decimal,
    }
    words = [f" {option} {shlex.quote(value)}" for option, value in said.items() if value is not None]
    return "".join(words).replace("'\t'", "tab")


def _requested(probs: tuple[str, ...], roles: dict[str, str]) -> str:
    """Return the option that names the probabilities."""
    if not probs or roles.get("score", probs[0]) not in probs:
        return f"-s {shlex.quote(roles.get('score', 'SCORE'))}"
    return asking_for(probs)


class _NoSuchColumn(IdleOption):
    """A column that is not there: another file than a default was meant for may well lack it."""

    exit_code = InputProblem.exit_code


@contextmanager
def _yielding(option: str) -> Iterator[None]:
    try:
        yield
    except InputProblem as problem:
        raise _NoSuchColumn(problem.message, problem.hint, options=(option,)) from None


def _roles(header: Header, named: Columns) -> dict[str, str]:
    """Return the columns that are named, or else would be taken unasked, by what for."""
    roles: dict[str, str] = {}
    with suppress(InputProblem) if named.score is None else _yielding("score"):
        roles["score"] = resolve(Columns(named.score, labelled=False), header).score
    if named.label is not None:
        with _yielding("label"):
            return {**roles, "label": header.wide.named(named.label)}
    # Any column may be the score while the label is looked for, but the label itself.
    for other in header.names[:2]:
        try:
            label = resolve(Columns(score=other), header).label
        except (InputProblem, UsageProblem):
            continue
        if label is not None:
            roles["label"] = label
            break
    return roles


def _of_another_score(path: str, header: Header, stuck: str, form: InputFormat) -> str | None:
    """Return how to look at another column with a usual name than one that was refused: pd beside points."""
    names = [name for name in header.names if name != stuck]
    with suppress(InputProblem):
        other = resolve(Columns(labelled=False), replace(header, names=names if stuck else [])).score
        return f"calibcli inspect {file_word(path)} -s {shlex.quote(other)}{_as_said(form)}"
    return None


def _size(fragments: list[Fragment]) -> list[tuple[str, str]]:
    """Return how many files, rows and row groups there are, as far as no rows are read for it."""
    files = list({one.path: one for one in fragments}.values())
    facts = [("files", f"{len(files):,}; types are those of {files[0].shown}")] if len(files) > 1 else []
    counts = [reader_of(one).row_count() for one in files]
    known = [rows for rows in counts if rows is not None]
    if len(known) == len(counts):
        facts.append(("rows", f"{sum(known):,}"))
    if all(one.format is DataFormat.PARQUET for one in files):
        groups = sum(len(reader_of(one).row_group_rows()) for one in files)
        facts.append(("row groups", f"{groups:,}"))
    return facts
