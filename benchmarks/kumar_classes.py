"""Figures 3 and 4 of Kumar, Liang & Ma (2019), of ten classes, by the commands that a user has.

    python benchmarks/kumar_classes.py [--data FILE ...] [--draws 50] [--resamples 10] [--workers 2] [--write]

A draw is 1,000 rows to recalibrate with; the others are held out. Every number comes from `calibcli fit` and
`calibcli measure --artifact`, called within the process; one draw is repeated by `fit`, `apply` and `measure`
in processes of their own. `--data` names Parquet files with p_0 ... p_9 and label to take beside the digits
that the script makes. `--write` stores benchmarks/KUMAR_CLASSES.md and its two plots.

Figure 3: the squared calibration error of scaling-binning and of histogram binning with B bins, without bias.
Figure 4: the mean squared error of the debiased and of the plug-in estimate of such an error from n held-out
rows, drawn with replacement, so that the plug-in estimate of all held-out rows is the truth.
"""

import argparse
import enum
import json
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from kumar_classes_page import ESTIMATORS, HEAD, SAMPLE_ROWS, Found, draw_figures, page
from kumar_figure3 import BINS, CLASSES, FIT_ROWS, MARGINAL, ROWS, TOP_LABEL, Result
from processes import CALIBCLI

from calibcli.names import RecalibratorName
from calibcli.shell.app import main as calibcli
from calibcli.stats.table import Floats

HERE = Path(__file__).parent
METHODS = (RecalibratorName.HISTOGRAM, RecalibratorName.SCALING_BINNING)
ESTIMATED_BINS = (10, 100)
NOISE = 4.0


class Experiment(enum.StrEnum):
    """What is recalibrated: every class against the rest, or the largest probability."""

    MARGINAL = MARGINAL
    TOP_LABEL = TOP_LABEL

    @property
    def columns(self) -> tuple[str, ...]:
        """How a command is told what to read."""
        if self is Experiment.MARGINAL:
            return ("--probs", "p_*", "--label", "label")
        return ("--score", "confidence", "--label", "correct")

    @property
    def fitting(self) -> tuple[str, ...]:
        """What `fit` is told beside the method: classes are left by themselves, as in the paper."""
        return ("--multiclass", "one-vs-rest", "--output-sum", "free") if self is Experiment.MARGINAL else ()

    @property
    def metric(self) -> str:
        """Its error."""
        return "marginal_l2" if self is Experiment.MARGINAL else "l2"


@dataclass(frozen=True)
class Task:
    """One draw.

    Args:
        path: The predictions, with p_0 ... p_9, label, confidence and correct.

        draw: Number of the draw.

        seed: Seed of all draws.

        resamples: Samples of held-out rows of each size.

        bins: The numbers of bins of figure 3.
    """

    path: Path
    draw: int
    seed: int
    resamples: int
    bins: tuple[int, ...] = BINS


def noisy_digits(path: Path) -> str:
    """Write predictions for scikit-learn's digits, and say what they are.

    The images that the model has not seen are drawn with replacement, each time with new noise.
    """
    from sklearn.datasets import load_digits
    from sklearn.linear_model import LogisticRegression

    generator = np.random.default_rng(2019)
    pixels, digit = load_digits(return_X_y=True)
    order = generator.permutation(digit.size)
    seen, unseen = np.split(order, [digit.size // 2])
    rows = generator.choice(unseen, size=ROWS)
    blurred = pixels[rows] + NOISE * generator.normal(size=(ROWS, pixels.shape[1]))
    p = LogisticRegression(max_iter=5_000).fit(pixels[seen], digit[seen]).predict_proba(blurred)
    prepare(p, digit[rows], path)
    return (
        f"{ROWS:,} noisy copies (normal, σ = {NOISE:g} of 16 grey levels) of {unseen.size} of scikit-learn's "
        f"digits, by a logistic regression on the other {seen.size} without noise; copies of one image may "
        "be among the rows to recalibrate and among those held out."
    )


def stored(source: Path, path: Path) -> str:
    """Write the predictions of a file, and say what they are."""
    table = pq.read_table(source)
    p = np.column_stack([table[f"p_{k}"].to_numpy() for k in range(CLASSES)]).astype(np.float64)
    prepare(p, table["label"].to_numpy().astype(np.int64), path)
    return f"`{source.name}`, {table.num_rows:,} rows."


def prepare(p: Floats, label: np.ndarray, path: Path) -> None:
    """Write probabilities and labels, the largest probability of each row, and whether its class is right."""
    p = np.minimum(p, 1.0)
    columns = {f"p_{k}": p[:, k] for k in range(p.shape[1])}
    seen = {"confidence": p.max(axis=1), "correct": (p.argmax(axis=1) == label).astype(int)}
    pq.write_table(pa.table({**columns, "label": label, **seen}), path)


def level(path: Path) -> str:
    """Say how often the largest probability is right, and how sure it is."""
    table = pq.read_table(path, columns=["confidence", "correct"])
    confidence, correct = (table[name].to_numpy().mean() for name in ("confidence", "correct"))
    return f"{correct:.1%} are right, mean confidence {confidence:.1%}."


def called(*words: str | int | Path) -> None:
    """Run a command within this process.

    Raises:
        SystemExit: If it does not succeed.
    """
    line = ["--isolated", *(str(word) for word in words), "--force", "--quiet"]
    if (code := calibcli(line)) != 0:
        msg = f"calibcli {' '.join(line)}: exit {code}"
        raise SystemExit(msg)


def spawned(*words: str | int | Path) -> None:
    """Run a command in a process of its own."""
    line = [*CALIBCLI, "--isolated", *(str(word) for word in words), "--force", "--quiet"]
    subprocess.run(line, check=True, stdout=subprocess.DEVNULL)


@dataclass(frozen=True)
class Commands:
    """The commands, and where they leave their files.

    Args:
        folder: Where files go.

        command: What runs a command line.

        experiment: What is recalibrated.
    """

    folder: Path
    command: Callable[..., None]
    experiment: Experiment

    @classmethod
    def within(cls, folder: Path, experiment: Experiment) -> "Commands":
        """Return those that run in this process."""
        return cls(folder, called, experiment)

    def fitted(self, rows: Path, method: RecalibratorName, bins: int) -> Path:
        """Fit, and return where the artifact is."""
        artifact = self.folder / f"{self.experiment}-{method}-{bins}.json"
        options = (*self.experiment.columns, *self.experiment.fitting, "--method", method, "--bins", bins)
        self.command("fit", rows, *options, "--jobs", 1, "--output", artifact)
        return artifact

    def estimates(self, rows: Path, artifact: Path) -> tuple[float, float]:
        """Return the plug-in and the debiased estimate of the squared error of recalibrated rows."""
        report = self.folder / "report.json"
        options = (*self.experiment.columns, "--metric", self.experiment.metric, "--binning", "atoms")
        self.command("measure", rows, *options, "--artifact", artifact, "--jobs", 1, "--json", "-o", report)
        details = json.loads(report.read_text())["measures"][self.experiment.metric]["details"]
        return details["plug_in"] ** 2, details["t"]

    def applied(self, rows: Path, artifact: Path) -> Path:
        """Apply, and return where the rows are."""
        path = self.folder / "applied.parquet"
        self.command("apply", artifact, rows, *self.experiment.columns[:2], "--output", path)
        return path


@dataclass(frozen=True)
class Halves:
    """A draw's rows.

    Args:
        fit: File of the rows to recalibrate with.

        held_out: File of all others.

        rows: The held-out rows.

        generator: For what else is drawn.
    """

    fit: Path
    held_out: Path
    rows: pa.Table
    generator: np.random.Generator


def halves_of(task: Task, folder: Path) -> Halves:
    """Draw the rows to recalibrate with."""
    table = pq.read_table(task.path)
    generator = np.random.default_rng([task.seed, task.draw])
    order = generator.permutation(table.num_rows)
    rest = table.take(np.sort(order[FIT_ROWS:]))
    found = Halves(folder / "fit.parquet", folder / "held_out.parquet", rest, generator)
    pq.write_table(table.take(np.sort(order[:FIT_ROWS])), found.fit)
    pq.write_table(rest, found.held_out)
    return found


def draw_of(task: Task) -> dict[tuple[str, int], Floats]:
    """Return what one draw finds, by experiment and the number of bins of figure 4, or 0 for figure 3.

    Figure 3: debiased squared errors, shape (methods, numbers of bins). Figure 4: mean squared errors of the
    estimates, shape (estimators, sample sizes).
    """
    with tempfile.TemporaryDirectory(prefix="calibcli-kumar-") as name:
        folder = Path(name)
        halves = halves_of(task, folder)
        commands = [Commands.within(folder, experiment) for experiment in Experiment]
        found = {(one.experiment.value, 0): squared_errors(one, halves, task.bins) for one in commands}
        return found | estimator_errors(commands, halves, task.resamples)


def squared_errors(commands: Commands, halves: Halves, numbers: Sequence[int]) -> Floats:
    """Return the debiased squared errors of both methods, shape (methods, numbers of bins)."""
    return np.array(
        [
            [
                commands.estimates(halves.held_out, commands.fitted(halves.fit, method, bins))[1]
                for bins in numbers
            ]
            for method in METHODS
        ]
    )


def estimator_errors(
    commands: Iterable[Commands], halves: Halves, resamples: int
) -> dict[tuple[str, int], Floats]:
    """Return mean squared errors of both estimates, shape (estimators, sample sizes)."""
    judged = {}
    for one in commands:
        for bins in ESTIMATED_BINS:
            artifact = one.fitted(halves.fit, RecalibratorName.SCALING_BINNING, bins)
            judged[one, bins] = artifact, one.estimates(halves.held_out, artifact)[0]
    found = {key: np.zeros((len(ESTIMATORS), len(SAMPLE_ROWS))) for key in judged}
    sample = halves.fit.with_name("sample.parquet")
    for place, size in enumerate(SAMPLE_ROWS):
        for _ in range(resamples):
            pq.write_table(
                halves.rows.take(halves.generator.integers(halves.rows.num_rows, size=size)), sample
            )
            for (one, bins), (artifact, truth) in judged.items():
                wrong = np.subtract(one.estimates(sample, artifact), truth)
                found[one, bins][:, place] += wrong**2 / resamples
    return {(one.experiment.value, bins): errors for (one, bins), errors in found.items()}


def marginal_error(path: Path) -> float:
    """Return the debiased squared marginal error of the columns that `apply` wrote, by the plain formula."""
    table = pq.read_table(path)
    label = table["label"].to_numpy()
    found = []
    for k in range(CLASSES):
        values, which, rows = np.unique(
            table[f"calibrated_{k}"].to_numpy(), return_inverse=True, return_counts=True
        )
        residual = (label == k) - values[which]
        sums, squares = (np.bincount(which, weights=one) for one in (residual, residual**2))
        found.append(((sums**2 - squares)[rows > 1] / (rows - 1)[rows > 1]).sum() / label.size)
    return float(np.mean(found))


def repeated(task: Task) -> tuple[float, float]:
    """Repeat the marginal errors of figure 3 at the last number of bins by processes of their own.

    Returns:
        The largest difference to the same within this process, and to the errors of the applied columns.
    """
    with tempfile.TemporaryDirectory(prefix="calibcli-kumar-") as name:
        folder = Path(name)
        halves = halves_of(task, folder)
        within = squared_errors(Commands.within(folder, Experiment.MARGINAL), halves, task.bins[-1:])[:, 0]
        commands = Commands(folder, spawned, Experiment.MARGINAL)
        artifacts = [commands.fitted(halves.fit, method, task.bins[-1]) for method in METHODS]
        alone = [commands.estimates(halves.held_out, artifact)[1] for artifact in artifacts]
        columns = [marginal_error(commands.applied(halves.held_out, artifact)) for artifact in artifacts]
    return float(np.abs(within - alone).max()), float(np.abs(within - columns).max())


def found_in(source: Path | None, folder: Path, asked: argparse.Namespace) -> Found:
    """Run every draw of one set."""
    path = folder / "predictions.parquet"
    name = "noisy digits" if source is None else source.stem
    about = noisy_digits(path) if source is None else stored(source, path)
    tasks = [Task(path, number, asked.seed, asked.resamples) for number in range(asked.draws)]
    with ProcessPoolExecutor(asked.workers) as pool:
        draws = list(pool.map(draw_of, tasks))
    results = {key: Result(f"{name}, {key[0]}", np.stack([one[key] for one in draws])) for key in draws[0]}
    titled = {
        (kind, bins): Result(f"{one.title}, B = {bins}", one.errors) if bins else one
        for (kind, bins), one in results.items()
    }
    return Found(name, f"{about} {level(path)}", titled, repeated(tasks[0]))


def main() -> None:
    """Run the experiments and print the tables."""
    parser = argparse.ArgumentParser(description="Kumar's figures 3 and 4 by the command line.")
    parser.add_argument("--data", type=Path, action="append", default=[], metavar="FILE")
    parser.add_argument("--draws", type=int, default=50)
    parser.add_argument("--resamples", type=int, default=10)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--write", action="store_true", help="store the page and its plots")
    asked = parser.parse_args()
    began = time.perf_counter()
    found = []
    for source in (None, *asked.data):
        with tempfile.TemporaryDirectory(prefix="calibcli-kumar-") as name:
            found.append(found_in(source, Path(name), asked))
    text = page(found, asked, time.perf_counter() - began)
    print(text)
    if asked.write:
        (HERE / "KUMAR_CLASSES.md").write_text(HEAD + text, encoding="utf-8")
        draw_figures(found, HERE)


if __name__ == "__main__":
    main()
