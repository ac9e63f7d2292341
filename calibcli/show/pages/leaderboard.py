"""The page of `compare` for more than two scores: a table for each measure, the best score first."""

import math
from collections.abc import Sequence

from calibcli.names import GAVE_ZERO
from calibcli.options.numerals import agreeing, percent, plural
from calibcli.reports.leaderboard import PAIRWISE, Contrast, GroupBoards, LeaderboardReport, Ranking, Standing
from calibcli.show import pages
from calibcli.show.blocks import Block, Cells, Column, Grid, Line, Page, Paragraph, Tone, grid_of, paragraph
from calibcli.show.pages.measure import cluster_lines
from calibcli.show.words import (
    NO_PROOF,
    NONE,
    UNDECIDED,
    count,
    field_name,
    first_of,
    four,
    from_both,
    interval_words,
    listed,
    quoted,
    share,
    standing,
    valid_for,
)
from calibcli.stats.measures.differences import Compared
from calibcli.values import replace


def leaderboard_page(report: LeaderboardReport, *, verbose: bool) -> Page:
    """Return the page of a leaderboard; `verbose` adds the assumptions of every difference."""
    source, total = report.input, report.input.rows
    if report.positive is None:
        rows = plural(total, "row")
    else:
        # Rows that count several times do so here as well.
        total = report.rankings[0].standings[0].rows if report.rankings else total
        events = round(report.positive * total)
        rows = f"{plural(total, 'row')}, {count(events)} positive ({share(events, total)})"
    # Of scores in columns no one is that of the page.
    many = len(report.rankings[0].standings) if report.rankings else 0
    label = f"{plural(many, 'score')} for {quoted(source.label or '')}"
    label += "" if source.weight is None else f" weight={quoted(source.weight)}"
    head = (
        f"{pages.file_words(source.files)}  {label}" if report.models is None else pages.source_line(source)
    )
    what = "Rows" if report.models is None else "Questions"
    # Of scores that are missing on different rows there are no intervals over clusters.
    how = "" if PAIRWISE in "".join(report.notes) else "; --cluster COL names those that depend on each other"
    alone = f"{what} are taken as independent{how}."
    independent = [] if report.clusters else [Line(alone, Tone.FAINT)]
    top = paragraph(
        head,
        rows,
        *pages.view_lines(source),
        *cluster_lines(report.clusters),
        *independent,
        *_repairs(report),
        *pages.note_lines(report.notes),
    )
    blocks = [block for one in report.rankings for block in _ranking(one, report, verbose=verbose)]
    gate = () if report.gate is None else (_gate(report),)
    groups = () if report.groups is None else _group_blocks(report, report.groups)
    return (*gate, pages.answer_paragraph(report), top, *blocks, *groups)


def _group_blocks(report: LeaderboardReport, groups: GroupBoards) -> tuple[Block, ...]:
    blocks: list[Block] = [paragraph(Line(f"By {quoted(groups.column)}", Tone.TITLE))]
    for place, whole in enumerate(report.rankings):
        rankings = [((quoted(one.name),), one.rankings[place]) for one in groups.boards]
        heads = (Column(groups.column, own=True), Column("score", key=True))
        against = "the best" if report.reference is None else quoted(whole.against)
        notes = _group_notes(report, groups) if whole is report.rankings[-1] else []
        blocks.append(_table(report, whole.name, rankings, heads, against, groups.confidence, notes))
    return tuple(blocks)


def _group_notes(report: LeaderboardReport, groups: GroupBoards) -> list[str]:
    """Return what the intervals of all groups mean together, and which groups are not there."""
    notes, many = [], len(groups.boards)
    if many > 1:
        own, each, sure = (
            percent(one) for one in (groups.confidence, groups.boards[0].each, report.confidence)
        )
        levels = f"Intervals and differences are at {own}"
        if own != each:
            levels = f"Intervals are at {own} and differences at {each}"
        hold = f"the differences of one measure hold in all {many} groups at once with {sure}"
        notes.append(f"{levels}, so that {hold} (Bonferroni).")
    if groups.left_out:
        few = [f"{quoted(name)} ({count(rows)})" for name, rows in groups.left_out.items()]
        listing = first_of(few, pages.MOST_LISTED)
        notes.append(f"Fewer than {groups.least_rows:,} rows, so not compared: {listing}.")
    return notes


def _repairs(report: LeaderboardReport) -> list[Line]:
    """Return what became of rows, by the option that said so."""
    lines = pages.repair_lines(report.input)
    if not any(PAIRWISE in one for one in report.notes):
        return lines
    return [Line(one.text.replace("--on-missing drop", PAIRWISE), one.tone) for one in lines]


def _ranking(ranking: Ranking, report: LeaderboardReport, *, verbose: bool) -> list[Block]:
    """Return the table of a measure, and every pair where that was asked for."""
    heads = (Column(report.models or "score", own=report.models is not None),)
    notes, against = _notes(ranking, report), quoted(ranking.against)
    table = _table(report, ranking.name, [((), ranking)], heads, against, report.confidence, notes)
    blocks: list[Block] = [replace(table, caption=f"Ranking by {field_name(ranking.name)}")]
    if ranking.pairs is not None:
        blocks.append(_pairs(ranking, ranking.pairs, _jointly(report, report.confidence)))
    if verbose:
        blocks.append(_assumptions(ranking))
    return blocks


def _jointly(report: LeaderboardReport, confidence: float) -> str:
    return f"{percent(confidence)} {'jointly' if report.family > 1 else 'interval'}"


def _table(
    report: LeaderboardReport,
    name: Compared,
    rankings: Sequence[tuple[tuple[str, ...], Ranking]],
    heads: tuple[Column, ...],
    against: str,
    confidence: float,
    notes: Sequence[str],
) -> Grid:
    """Return the scores of rankings by one measure, each with what its rows begin with."""
    skilled = any(one.skill is not None for _, ranking in rankings for one in ranking.standings)
    jointly = _jointly(report, confidence)
    columns = (
        *heads,
        Column("rows", numeric=True),
        Column(name.value),
        Column(f"{percent(confidence)} interval", beside=True),
        Column(f"less {against}"),
        Column(jointly, beside=True),
        *((Column("skill"), Column(jointly, beside=True)) if skilled else ()),
        Column("verdict"),
    )
    referred = report.reference is not None
    rows = tuple(
        (*first, *_cells(one, ranking, skilled=skilled, reference=referred))
        for first, ranking in rankings
        for one in ranking.standings
    )
    return Grid(columns, rows, tuple(Line(one, Tone.FAINT) for one in notes))


def _cells(one: Standing, ranking: Ranking, *, skilled: bool, reference: bool) -> tuple[str, ...]:
    own = (quoted(one.name), count(one.rows), four(one.estimate.value), interval_words(one.estimate.interval))
    if one.contrast is None:
        role = "the best" if ranking.names_the_best() else "the others are compared with it"
        role = "the reference" if reference else role
        return (*own, "", "", *(("", "") if skilled else ()), role)
    found = one.contrast.difference
    skill = (NONE, NONE) if one.skill is None else (four(one.skill.value), interval_words(one.skill.interval))
    alike = one.contrast.rows == one.rows or found.reasons
    common = "" if alike else f" on {plural(one.contrast.rows, 'row')} of both"
    verdict = f"{_verdict(one.contrast)}{common}"
    return (*own, four(found.value), interval_words(found.interval), *(skill if skilled else ()), verdict)


def _verdict(contrast: Contrast) -> str:
    difference = contrast.difference
    if not contrast.rows:
        return "not compared: there is no row of both"
    reasons = "; ".join(difference.reasons)
    if difference.value is None and GAVE_ZERO in reasons:
        reasons = f"not compared: {'one' if difference.chance else 'both'} {GAVE_ZERO} in some rows"
        reasons += ", and the other says 0 or 1 too" if difference.chance else ""
    elif difference.value is not None and math.isinf(difference.value):
        reasons = f"some rows {GAVE_ZERO}"
    return ": ".join(filter(None, (standing(difference), reasons)))


def _notes(ranking: Ranking, report: LeaderboardReport) -> list[str]:
    contrasts = [one.contrast for one in ranking.standings if one.contrast is not None]
    found = next((one.difference.interval for one in contrasts if one.difference.interval is not None), None)
    best = ", the best of these rows" if ranking.names_the_best() else ""
    which = ", the reference" if report.reference is not None else best
    worse = "below" if ranking.name.facts.more_is_better else "above"
    who = "score" if report.models is None else "model"
    notes = [f"Differences are from {quoted(ranking.against)}{which}; a {who} {worse} 0 is worse."]
    rows = {one.rows for one in ranking.standings} | {one.rows for one in contrasts}
    if len(rows) > 1:
        best_so = ", and they say which is the best" if best and report.reference is None else ""
        alone = f"Each difference uses only the rows that both have{best_so}"
        notes.append(f"{alone}; values over other rows are not comparable.")
    skilled = any(one.skill is not None for one in ranking.standings)
    if report.family > 1:
        of = "scores" if report.reference is not None and ranking.pairs is None else "pairs"
        spent = "spent on the skill" if skilled else "set aside for skills, which this measure does not have"
        kept = f"; a tenth of the error rate is {spent}" if report.reference is not None else ""
        over = f"Bonferroni over {count(report.family)} {of}{kept}"
        each = f"each is at {percent(report.each)} ({over})"
        valid = "" if found is None else f"; {valid_for(found)}"
        notes.append(f"They hold all at once with {percent(report.confidence)}: {each}{valid}.")
    if skilled:
        wide = "its interval allows for chance in that loss, too"
        notes.append(f"Skill: the share saved of the reference's loss, 1 is perfect foresight; {wide}.")
    partitions = [one.estimate.details.get("partition") for one in ranking.standings]
    bins = dict.fromkeys(str(one) for one in partitions if one is not None)
    notes += [f"Over {listed(bins)}."] if bins else []
    notes += from_both([one.difference for one in contrasts][:1])
    if any(one.rows and one.difference.undecided for one in contrasts):
        notes.append(UNDECIDED)
    return notes


def _pairs(ranking: Ranking, pairs: tuple[Contrast, ...], jointly: str) -> Grid:
    cells: Cells[Contrast] = {
        "first": lambda one: quoted(one.first),
        Column("second", key=True): lambda one: quoted(one.second),
        Column("rows", numeric=True): lambda one: count(one.rows),
        f"{ranking.name.value}, second less first": lambda one: four(one.difference.value),
        Column(jointly, beside=True): lambda one: interval_words(one.difference.interval),
        "the second is": _verdict,
    }
    return grid_of(pairs, cells)


def _assumptions(ranking: Ranking) -> Paragraph:
    said = dict.fromkeys(
        text
        for one in ranking.standings
        if one.contrast is not None
        for text in one.contrast.difference.assumptions
    )
    intervals = [one.contrast.difference.interval for one in ranking.standings if one.contrast is not None]
    intervals += [one.skill.interval for one in ranking.standings if one.skill is not None]
    ways = dict.fromkeys(one.method for one in intervals if one is not None)
    how = f" Intervals: {'; '.join(ways)}." if ways else ""
    return paragraph(f"{ranking.name.value}: {ranking.name.meaning} Assumes: {'; '.join(said)}.{how}")


def _gate(report: LeaderboardReport) -> Paragraph:
    """Return what --fail-if-worse found."""
    reference = quoted(report.reference or "")
    if report.worse_by:
        worse = listed(map(quoted, report.worse_by))
        verb = agreeing(len(report.worse_by), "is")
        each = percent((1.0 - report.confidence) / 2.0)
        error = f"If none is worse, each gated measure still fails with probability at most about {each}."
        line = f"FAIL  {worse} {verb} shown to be worse than {reference}."
        return paragraph(Line(line, Tone.FAIL), error)
    line = f"PASS  no score is shown to be worse than {reference}."
    without = {
        field_name(one.name): [*one.not_judged, *one.of_verdict(None)]
        for one in report.rankings
        if one.name in (report.gate or ())
    }
    said = "; ".join(f"{listed(map(quoted, names))} by {name}" for name, names in without.items() if names)
    blind = [f"Without an interval, and so no part of this verdict: {said}."] if said else []
    return paragraph(Line(line, Tone.PASS), *blind, NO_PROOF)
