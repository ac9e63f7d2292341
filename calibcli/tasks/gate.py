"""Judge a claim by the rows of this call and of all calls before, which a state has counted."""

from collections.abc import Sequence
from dataclasses import replace

from calibcli.documents.sealed import trust
from calibcli.documents.state_store import locked, read_state, refuse_state, save_state
from calibcli.errors import InputProblem, UsageProblem
from calibcli.gates.cells import table_of
from calibcli.gates.growth import Growth, Incoming, Rows, grown
from calibcli.gates.state import GateState, Terms
from calibcli.gates.verdict import verdict_of
from calibcli.options.gating import StateOptions, VerifyOptions
from calibcli.options.rows import Columns, Reading
from calibcli.options.rules import ClassRule, Rule
from calibcli.readers.files import found_in
from calibcli.reports.input import ClassesRead, InputSummary
from calibcli.reports.measure import TableSummary
from calibcli.reports.verify import StateSummary, VerifyReport
from calibcli.table.bins import looks_discrete
from calibcli.tasks.classes import judged_view
from calibcli.tasks.gate_batches import ReadBatches, read_batches
from calibcli.tasks.gate_map import gate_map
from calibcli.tasks.gate_terms import as_before, refuse_other_terms, terms_of
from calibcli.tasks.partition import summary_of


def judge_with_state(
    inputs: Sequence[str],
    columns: Columns,
    *,
    rule: Rule | ClassRule | None,
    options: VerifyOptions,
    state: StateOptions,
    artifact: str | None,
    reading: Reading,
) -> VerifyReport:
    """
    Count the rows of the inputs that a state does not know yet, and judge by all it holds.

    Every file is a batch. All files are read before the state is locked, and all are counted or none:
    whatever goes wrong, the state is what it was before or what it is after.

    Args:
        inputs: Files, "-" for standard input; none to judge by what the state holds.

        columns: Which column is which; the score is the raw one where an artifact is given.

        rule: The claim; None for an alarm on any error at all.

        options: Confidence, bins and how few rows conclude nothing.

        state: Where the state is and what is asked of it.

        artifact: Path of a recalibrator to apply first, or None.

        reading: How to read.

    Raises:
        UsageProblem: If the state was begun on other terms, or the rule has no bet that holds at any time.

        InputProblem: If the state is damaged, a batch has the name of one with other rows, or rows repeat an
            identity.

        OutputProblem: If the state cannot be locked or written.
    """
    _refuse_options(columns, options, state)
    found = found_in(inputs)
    files = found.files
    given = [file.path for file in files] + ([] if artifact is None else [artifact])
    refuse_state(state.path, inputs=given)
    loaded = gate_map(artifact, columns.several)
    before = read_state(state.path)
    terms = terms_of(rule, options, state, artifact=loaded, several=columns.several, before=before)
    if before is not None:
        terms = as_before(terms, before.terms)
        refuse_other_terms(state.path, before.terms, terms)
    elif not files:
        msg = f"{state.path}: there is no state yet, and no rows to begin one"
        raise InputProblem(msg, "name the files to count")
    read = ReadBatches(terms)
    if files:
        read = read_batches(files, columns, terms, asked=state, artifact=artifact, reading=reading)
        if read.source is not None:
            read = replace(read, source=replace(read.source, notes=(*found.notes(), *read.source.notes)))
    growth, rows_before = update_state(state.path, read, least_rows=options.least_rows)
    report = _report(growth, read, rule, options=options, state=state, artifact=artifact, before=rows_before)
    # Where rows were read, what is said of the artifact stands beside them.
    doubts = loaded.doubts if loaded is not None and not files else ()
    return replace(report, notes=(*doubts, *report.notes))


def _refuse_options(columns: Columns, options: VerifyOptions, state: StateOptions) -> None:
    if state.batch is not None and not (state.batch and state.batch.isprintable()):
        msg = f"a batch named {state.batch!r}"
        raise UsageProblem(msg, "--batch takes a name that can be printed")
    if columns.cluster is not None or columns.by:
        msg = "--state with --cluster or --by"
        raise UsageProblem(msg, "a state counts independent rows of one score: keep one for each")
    view = judged_view(columns)
    if view is not None:
        msg = f"--state with --view {view.value} of every class"
        raise UsageProblem(msg, "name one with --class, and keep a state for each: all of them must pass")
    if options.allow_fit_rows:
        msg = "--state with --allow-fit-rows"
        raise UsageProblem(msg, "a state keeps what it counts: give it rows that the artifact has not seen")


def update_state(path: str, read: ReadBatches, *, least_rows: int) -> tuple[Growth, int]:
    """
    Add batches to a state while nobody else does.

    Args:
        path: The state; it need not exist yet.

        read: The batches, and the terms of a state that is begun with them.

        least_rows: Below so many rows, or ten of the rarer label, nothing is concluded.

    Returns:
        What became of them, and how many rows there were before.

    Raises:
        UsageProblem: If the state was begun on other terms.

        InputProblem: If the state is damaged, or a batch does not go with it.

        OutputProblem: If the state cannot be locked or written.
    """
    with locked(path):
        # What is read now is what is replaced, and not what others make of it meanwhile without the lock.
        refuse_state(path)
        before = read_state(path)
        if before is not None:
            refuse_other_terms(path, before.terms, read.terms)
        start = GateState(read.terms) if before is None else before
        if start.terms.label is None:
            # A state of version 1 did not say which columns it counts.
            named = replace(start.terms, label=read.terms.label, weight=read.terms.weight)
            start = replace(start, terms=named)
        if start.since == 1 and start.ids.size:
            _refuse_renamed(path, read.batches)
        growth = grown(start, read.batches, least_rows=least_rows)
        found = growth.state
        _refuse_never_positive(found)
        same = before is not None and (found.rows, found.passed_at, found.failed_at) == (
            before.rows,
            before.passed_at,
            before.failed_at,
        )
        # What was edited, or signed otherwise, is taken over where that was asked for.
        if not same or trust().allow_edited:
            save_state(path, found)
    return growth, start.rows


def _refuse_renamed(path: str, batches: Sequence[Incoming]) -> None:
    """Refuse ids that had other names when a state was begun, by which no row would be known again."""
    other = next((batch.shown for batch in batches if batch.ids_renamed), None)
    if other is not None:
        msg = f"{other}: state {path} was begun by a calibcli that named such ids otherwise"
        hint = "begin a new state: floats, decimals, times and durations are known again in that one"
        raise InputProblem(msg, hint)


def _refuse_never_positive(state: GateState) -> None:
    """Refuse a label that is to count as 1 and that no row has had so far: it may be misspelt."""
    positive = state.terms.positive
    if positive is not None and not state.sums.total_positive:
        msg = f"no label is {positive!r}, as --positive says"
        raise InputProblem(msg, "begin the state with rows that have it")


def _report(
    growth: Growth,
    read: ReadBatches,
    rule: Rule | ClassRule | None,
    *,
    options: VerifyOptions,
    state: StateOptions,
    artifact: str | None,
    before: int,
) -> VerifyReport:
    found = growth.state
    verdict = verdict_of(found, least_rows=options.least_rows)
    summary = StateSummary(
        state.path, len(found.batches), found.rows, found.rows - before, growth.known, growth.known_rows
    )
    return VerifyReport(
        input=read.source or _no_input(found.terms),
        table=_table(found),
        artifact=artifact,
        verdicts={"alarm" if rule is None else rule.key: verdict},
        policy=options.policy,
        notes=(*found.notes, *growth.notes, *_few_values(read, found.terms)),
        state=summary,
    )


def _table(state: GateState) -> TableSummary:
    """Return what is said of all rows counted: outputs are known exactly, other scores to a cell."""
    partition = state.terms.partition
    summary = summary_of(table_of(state.sums, partition), discrete=bool(partition.outputs), fingerprint=False)
    return summary if partition.outputs else replace(summary, kind="cells", resolution=partition.width)


def _few_values(read: ReadBatches, terms: Terms) -> tuple[str, ...]:
    """Say that values which look like all there are were not taken for them."""
    if terms.partition.outputs or terms.artifact is not None:
        return ()
    few = [batch for batch in read.batches if not isinstance(batch.rows, Rows) and looks_discrete(batch.rows)]
    if not few:
        return ()
    over = terms.partition.described
    return (f"the score takes few values, but not ones known before the rows: it is judged over {over}",)


def _no_input(terms: Terms) -> InputSummary:
    seen = terms.classes
    classes = None if seen is None else ClassesRead(len(seen.names), seen.view, seen.one_class, 0, 0, 0)
    return InputSummary((), terms.score, None, None, 0, 0, 0, classes=classes)
