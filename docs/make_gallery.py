"""Write docs/gallery.md and docs/gallery.png: every recalibration method on four of the sample data sets.

    python docs/make_gallery.py

Each method is fitted to the calibration half and measured on the evaluation half. Nothing but `sample_data/`
is read, and the same versions give the same bytes. The words are in `gallery_words.py`.
"""

import math
import os
import tempfile
import textwrap
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from gallery_picture import Panel, draw_maps
from gallery_words import DOTS, ENDS, FIRST, GATE, HEAD, INTERVALS, LEGEND, LIMIT, PICTURE, PORTRAITS, WHICH

from calibcli.commands.compare import compare_files
from calibcli.commands.fit import fit_files
from calibcli.commands.measure import measure_files
from calibcli.commands.verify import verify_files
from calibcli.documents.artifact import read_artifact
from calibcli.names import ComparisonName, FitMethod, MeasureName, RecalibratorName
from calibcli.options.fitting import FitOptions, MapOptions
from calibcli.options.gating import VerifyOptions
from calibcli.options.measuring import CompareOptions, MeasureOptions, Metrics
from calibcli.options.rows import Columns, RowRequest
from calibcli.options.rules import largest
from calibcli.reports.measure import MeasureReport
from calibcli.show.words import field_name, four, interval_words
from calibcli.stats.measures import Estimate
from calibcli.stats.recalibrators import Recalibrator

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
SHOWN = (MeasureName.SMECE, MeasureName.BRIER, MeasureName.LOG_LOSS)
WIDTH = 118
# What every logistic fit says of scores at 0 and 1; the page says it once.
COMMON = "it was limited inside the logit."


@dataclass(frozen=True, slots=True)
class Sample:
    """A data set.

    Args:
        name: What the tables call it.

        stem: Its files, without the half.

        suffix: Their ending.

        columns: Score and label.

        words: The same as command line options.
    """

    name: str
    stem: str
    suffix: str
    columns: Columns
    words: str

    def half(self, which: str) -> str:
        """Return the path of one half, from the root of the repository."""
        return f"sample_data/{self.stem}_{which}{self.suffix}"


BINARY = (Columns("score", "label"), "-s score -y label")
EIGHT = (Columns("p_8", "label", positive="8"), "-s p_8 -y label --positive 8")
CANCER = Sample("breast cancer, naive Bayes", "breast_cancer", ".csv", *BINARY)
CHURN = Sample("churn, boosted trees", "churn", ".parquet", *BINARY)
SAMPLES = (
    CANCER,
    Sample("is it an 8, naive Bayes", "digits_naive_bayes", ".parquet", *EIGHT),
    Sample("is it an 8, forest", "digits_forest", ".csv", *EIGHT),
    CHURN,
)


@dataclass(frozen=True, slots=True)
class Shown:
    """One method on one data set.

    Args:
        artifact: Path of its artifact.

        chosen: The method, also where auto chose it.

        notes: What the fit said.

        before: Measures of the raw scores.

        after: Measures of the recalibrated ones.
    """

    artifact: str
    chosen: RecalibratorName
    notes: tuple[str, ...]
    before: MeasureReport
    after: MeasureReport

    @property
    def recalibrator(self) -> Recalibrator:
        """The map."""
        return read_artifact(self.artifact).recalibrator

    @property
    def log_loss(self) -> float:
        """Log loss after."""
        return of(self.after, MeasureName.LOG_LOSS).value


# The map by segments needs columns to look at: docs/segments.md shows it.
METHODS = tuple(method for method in FitMethod if method is not FitMethod.SEGMENTS)
Hall = dict[tuple[FitMethod, Sample], Shown]


def of(report: MeasureReport, name: MeasureName) -> Estimate:
    """Return one measure of a report."""
    return next(estimate for estimate in report.measures if estimate.name is name)


def shown(method: FitMethod, sample: Sample, *, folder: str) -> Shown:
    """Fit to the calibration half and measure on the evaluation half, from the root of the repository."""
    path = str(Path(folder) / f"{sample.stem}_{method.value}.json")
    rows = RowRequest([sample.half("calibration")], sample.columns)
    fitted, text = fit_files(rows, MapOptions(method), FitOptions())
    Path(path).write_text(text, encoding="utf-8")
    judging = [sample.half("evaluation")]
    options = MeasureOptions(metrics=Metrics(SHOWN, ()), complete=False, beside_raw=True)
    after = measure_files(RowRequest(judging, sample.columns, artifact=path), options=options)
    (before,) = after.slices.values()
    return Shown(path, fitted.method, fitted.notes, before, after)


def value_words(estimate: Estimate) -> str:
    """Return a value; where it is infinite, with the number of rows that made it so."""
    if math.isfinite(estimate.value):
        return four(estimate.value)
    rows = int(estimate.details["certain_and_wrong"])
    return f"inf ({rows:,} row{'s' if rows > 1 else ''})"


def with_interval(estimate: Estimate) -> str:
    """Return a value and its 95 % interval, where it has one."""
    words = value_words(estimate)
    return words if estimate.interval is None else f"{words} ({interval_words(estimate.interval)})"


def method_row(sample: Sample, one: Shown) -> str:
    """Return a method's row for one data set: before → after (interval), and what becomes of 0 and 1."""
    pairs = [(of(one.before, name), of(one.after, name)) for name in SHOWN]
    cells = [f"{value_words(before)} → {with_interval(after)}" for before, after in pairs]
    low, high = one.recalibrator.predict(np.array([0.0, 1.0])).tolist()
    return table_row(sample.name, *cells, probability(low), probability(high))


def probability(value: float) -> str:
    """Return a probability with as many digits as tell it from 1."""
    if 0.9995 <= value < 1.0:
        return f"1 - {1.0 - value:.1e}"
    return f"{value:.1e}" if 0.0 < value < 1e-4 else f"{value:.4g}"


def table_row(*cells: str) -> str:
    """Return a row of a Markdown table."""
    return f"| {' | '.join(cells)} |"


def table(head: Sequence[str], rows: Sequence[str]) -> list[str]:
    """Return a Markdown table."""
    return [table_row(*head), "|" + "---|" * len(head), *rows]


def told_apart(sample: Sample, hall: Hall) -> set[FitMethod]:
    """Return the methods whose log loss differs from the lowest by the paired interval of `compare`."""
    here = {method: one for (method, at), one in hall.items() if at is sample}
    best = min(here, key=lambda method: here[method].log_loss)
    found = set()
    for method, one in here.items():
        if one.chosen is here[best].chosen or not math.isfinite(one.log_loss):
            continue
        pair = (here[best].artifact, one.artifact)
        options = CompareOptions(metrics=(MeasureName.LOG_LOSS,))
        report = compare_files(
            RowRequest([sample.half("evaluation")], sample.columns), artifacts=pair, options=options
        )
        if report.comparisons[0].difference.verdict is not ComparisonName.NOT_TOLD_APART:
            found.add(method)
    return found


def overview(hall: Hall) -> list[str]:
    """Return log loss after, methods by data sets."""
    apart = {sample: told_apart(sample, hall) for sample in SAMPLES}
    raw = [hall[FitMethod.PLATT, sample].before for sample in SAMPLES]
    rows = [table_row("*raw*", *(value_words(of(report, MeasureName.LOG_LOSS)) for report in raw))]
    for method in METHODS:
        cells = []
        for sample in SAMPLES:
            one = hall[method, sample]
            words = value_words(of(one.after, MeasureName.LOG_LOSS))
            mark = " \\*" if method in apart[sample] else ""
            cells.append(words + mark + (f" {one.chosen.value}" if method is FitMethod.AUTO else ""))
        rows.append(table_row(f"[{method.value}](#{method.value})", *cells))
    return table(["log loss", *(sample.name for sample in SAMPLES)], rows)


def at_the_ends(hall: Hall) -> str:
    """Say how many fit rows of each set have a score of 0 or 1, nearly."""
    words = []
    for sample in SAMPLES:
        (fitted,) = [note for note in hall[FitMethod.PLATT, sample].notes if COMMON in note] or ["none"]
        words.append(f"{fitted.split()[0]} ({sample.name})")
    return f"{ENDS} Fit rows with such scores: {', '.join(words)}."


def raw_scores(hall: Hall) -> list[str]:
    """Return the measures of the scores as they are, with intervals."""
    rows = []
    for sample in SAMPLES:
        report = hall[FitMethod.PLATT, sample].before
        positive = f"{report.table.rows:,}, {report.table.positive:,} positive"
        rows.append(table_row(sample.name, positive, *(with_interval(of(report, name)) for name in SHOWN)))
    return table(["raw scores", "evaluation rows", *(name.value for name in SHOWN)], rows)


def properties(hall: Hall) -> list[str]:
    """Return what kind of map each is on the four sets, and what a gate says of it on the largest."""
    rows = []
    for name in RecalibratorName:
        maps = [hall[FitMethod(name), sample].recalibrator for sample in SAMPLES]
        increasing = sum(one.increasing for one in maps)
        order = "all 4" if increasing == len(maps) else f"{increasing} of 4"
        few = maps[-1].bins
        outputs = "many values" if few is None else f"{len(few)} values"
        report = verify_files(
            RowRequest(
                [CHURN.half("evaluation")], CHURN.columns, artifact=hall[FitMethod(name), CHURN].artifact
            ),
            options=VerifyOptions((largest(MeasureName.ECE, LIMIT),)),
        )
        (verdict,) = report.verdicts.values()
        bounded = f"{field_name(verdict.claim.measure)} at most {four(verdict.upper)}"
        rows.append(table_row(name.value, order, outputs, bounded, verdict.outcome.value.upper()))
    return table(["method", "increasing on", "output on churn", "bound by `verify`", f"<= {LIMIT}"], rows)


def wrapped(text: str) -> str:
    """Return a paragraph, or an item of a list, in lines."""
    later = "  " if text.startswith("- ") else ""
    return textwrap.fill(text, WIDTH, subsequent_indent=later, break_long_words=False, break_on_hyphens=False)


def said(method: FitMethod, hall: Hall) -> list[str]:
    """Return what the fits of a method said, but for what all say."""
    lines = []
    for sample in SAMPLES:
        one = hall[method, sample]
        words = [f"chose {one.chosen.value}."] if method is FitMethod.AUTO else []
        words += [note for note in one.notes if COMMON not in note]
        lines += [wrapped(f"- {sample.name}: {' '.join(words)}")] if words else []
    return ["What the fits said:", "", *lines, ""] if lines else []


def section(method: FitMethod, hall: Hall) -> list[str]:
    """Return what is said and shown of one method."""
    words = PORTRAITS[method]
    fit = f"calibcli fit {CHURN.half('calibration')} {CHURN.words} -m {method.value} -o cal.json"
    head = ("data set", *(name.value for name in SHOWN), "0 becomes", "1 becomes")
    rows = [method_row(sample, hall[method, sample]) for sample in SAMPLES]
    lines = [f"## {method.value}", "", wrapped(words.what), "", wrapped(f"*Take it:* {words.take}"), ""]
    lines += [wrapped(f"*Leave it:* {words.leave}"), "", wrapped(f"*Shape and gate:* {words.gate}"), ""]
    return [*lines, "```sh", fit, "```", "", *table(head, rows), "", *said(method, hall)]


def picture(hall: Hall, path: Path) -> None:
    """Draw every map on the largest set, but for the identity, which is the diagonal of each."""
    panels = []
    for name in [name for name in RecalibratorName if name is not RecalibratorName.IDENTITY]:
        one = hall[FitMethod(name), CHURN]
        loss = "inf" if math.isinf(one.log_loss) else four(one.log_loss)
        caption = f"log loss {loss}\nsmECE {four(of(one.after, MeasureName.SMECE).value)}"
        panels.append(Panel(one.recalibrator, caption))
    before = hall[FitMethod.PLATT, CHURN].before
    raw = [
        f"{name.value} {four(of(before, name).value)}" for name in (MeasureName.LOG_LOSS, MeasureName.SMECE)
    ]
    title = (
        f"Fitted on {CHURN.half('calibration')}; rates and errors on {CHURN.half('evaluation')}\n"
        f"raw: {', '.join(raw)}".replace("log_loss", "log loss").replace("smece", "smECE")
    )
    draw_maps(panels, before.curve.binned, title=title, path=path)


def page(hall: Hall) -> str:
    """Return the whole gallery."""
    lines = [
        HEAD,
        "## Which one to take",
        "",
        WHICH,
        "",
        wrapped(FIRST),
        "",
        "## Log loss after recalibration",
        "",
    ]
    lines += [*overview(hall), "", wrapped(LEGEND), "", *raw_scores(hall), "", wrapped(at_the_ends(hall)), ""]
    lines += [wrapped(INTERVALS), ""]
    lines += [PICTURE, wrapped(DOTS), "", "## Shapes, and what a gate can say", ""]
    lines += [*properties(hall), "", wrapped(GATE), ""]
    for method in METHODS:
        lines += section(method, hall)
    return "\n".join(lines).rstrip("\n") + "\n"


def main() -> None:
    """Write the page and the picture."""
    os.chdir(ROOT)
    with tempfile.TemporaryDirectory() as folder:
        hall = {
            (method, sample): shown(method, sample, folder=folder) for method in METHODS for sample in SAMPLES
        }
        text = page(hall)
        picture(hall, HERE / "gallery.png")
    (HERE / "gallery.md").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
