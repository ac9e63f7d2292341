"""The page of `plan`: how many rows to collect, and what that number supposes."""

from calibcli.options.numerals import in_full, percent, plural
from calibcli.reports.plan import PlanReport, give_or_take
from calibcli.show.answers import answer_of
from calibcli.show.blocks import Line, Listing, Page, Paragraph, Tone, paragraph
from calibcli.show.pages import artifact_lines, note_lines, repair_lines, source_line
from calibcli.show.words import about, count


def plan_page(report: PlanReport, *, verbose: bool) -> Page:
    """Return the page of a plan; `verbose` adds the assumptions of the gate."""
    assumed = Listing(tuple(("assumes", one) for one in report.assumptions))
    return (
        _answer(report),
        _grounds(report, verbose=verbose),
        *([assumed] if verbose else []),
        _bottom(report),
    )


def _answer(report: PlanReport) -> Paragraph:
    first, *more = answer_of(report)
    return paragraph(Line(first, Tone.TITLE), *more, *_simulated(report), *_theorem(report))


def _simulated(report: PlanReport) -> list[str]:
    verdict = report.wanted.value
    if report.rows is None:
        return []
    lines = [f"Found by {_error(report)}; the requested power is {percent(report.power)}."]
    # Where that is all a gate asks for, fewer decide nothing; and where labels are certain, none or all pass.
    half = report.rows_for_half
    if half is not None and half > report.least_rows and about(half) != about(report.rows):
        lines.append(f"Half of such gates {verdict} with roughly {count(round(float(f'{half:.2g}')))} rows.")
    return lines


def _error(report: PlanReport) -> str:
    """Return how many gates were simulated, and how far their share may be from the probability."""
    times = report.simulations
    off = give_or_take(report.reached or 0.0, times)
    return f"{count(times)} simulated gates, give or take {100.0 * round(off, 3):.4g} percentage points"


def _theorem(report: PlanReport) -> list[str]:
    theorem = report.rows_by_theorem_12_4
    if theorem is None or report.rows is None:
        return []
    times = theorem / report.rows
    more = f"{count(round(times))}" if times >= 10.0 else f"{times:.2g}"
    more = "as many" if more == "1" else f"{more} times as many"
    textbook = "The textbook bound (Theorem 12.4 in docs/methods.md)"
    return [f"{textbook} would need about {about(theorem)} rows, {more}."]


def _grounds(report: PlanReport, *, verbose: bool) -> Listing:
    error = "none: calibrated" if report.error == 0.0 else in_full(report.error)
    partition = f"{report.partition}; " if report.partition else ""
    gate = f"{partition}{percent(report.confidence)} confidence"
    return Listing(
        (
            ("gate", f"{gate}; always INCONCLUSIVE below {plural(report.least_rows, 'row')}"),
            *((("method", report.method),) if verbose else ()),
            ("scores", f"as {report.scores_from}"),
            ("true error", f"{error}; {report.pattern}"),
            ("seed", str(report.seed)),
        )
    )


def _bottom(report: PlanReport) -> Paragraph:
    source = []
    if report.input is not None:
        source = [Line(source_line(report.input)), *repair_lines(report.input)]
    promise = Line(
        "If the error or the scores turn out differently, you will need more or fewer rows.", Tone.FAINT
    )
    return paragraph(*source, *artifact_lines(report.artifact), *note_lines(report.notes), promise)
