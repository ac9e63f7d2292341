"""Time and memory of many classes: measures, fits and `apply`, against the packages that do the same.

    python benchmarks/classes.py [--classes 10 100 1000] [--rows 50000] [--peers PYTHON] [--lists] [--write]

Whole processes from one Parquet file to the result, in turn. `--peers` names a Python that has the other
packages; what it lacks is left out, and the page says so. `--write` stores benchmarks/CLASSES.md. Data:
float32 softmax of 1.5 times the logits that the labels follow, plus a bias for each class; `--lists` puts
the K probabilities of a row into one column, as they come from an array.
"""

import argparse
import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from fits import missing, versions
from processes import CALIBCLI, machine

from calibcli.names import ClassMeasure, ClassMethod
from calibcli.stats.recalibrators.classes.linear import MOST_OF_MATRIX

if TYPE_CHECKING:
    from calibcli.stats.table import Floats
from measures import Entrant, Peer, Rules, parser_of, publish, race, table_of, within

HERE = Path(__file__).parent
OURS = "calibcli"
BLOCK_ROWS = 5_000
PACKAGES = (
    "scikit-learn",
    "scipy",
    "uncertainty-calibration",
    "mapie",
    "netcal",
    "torchmetrics",
    "torch",
)
READ = """
import sys, warnings
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
warnings.filterwarnings("ignore")
table = pq.read_table(sys.argv[1])
y = table["label"].to_numpy()
if "probs" in table.column_names:
    p = table["probs"].combine_chunks().flatten().to_numpy().reshape(y.size, -1)
else:
    p = np.empty((y.size, table.num_columns - 1), np.float32)
    for k in range(p.shape[1]):
        p[:, k] = table[f"p_{k}"].to_numpy()
"""
LOGARITHM = "z = np.log(np.maximum(p, np.finfo(np.float32).tiny))\n"
LOOP = """
for k in range(p.shape[1]):
    score = p[:, k]
    bin = np.minimum((score * 15).astype(np.int64), 14)
    rows, residual = np.bincount(bin, minlength=15), (y == k) - score
    sums, squares = (np.bincount(bin, weights=one, minlength=15) for one in (residual, residual**2))
    np.abs(sums).sum() / y.size
    ((sums**2 - squares)[rows > 1] / (rows - 1)[rows > 1]).sum() / y.size
"""
SCIPY_TEMPERATURE = f"""{LOGARITHM}
from scipy.optimize import minimize_scalar
own = z[np.arange(y.size), y].mean(dtype=float)
def loss(slope):
    scaled = slope * z
    scaled -= scaled.max(axis=1, keepdims=True)
    top = slope * z.max(axis=1)
    return (np.log(np.exp(scaled).sum(axis=1)) + top).mean(dtype=float) - slope * own
minimize_scalar(loss, bounds=(0.05, 5.0), method="bounded")
"""
TORCH = f"""{LOGARITHM}
import torch
z, y = torch.from_numpy(z), torch.from_numpy(y)
def fit(parameters, logits, penalty=lambda: 0.0):
    steps = torch.optim.LBFGS(parameters, max_iter=500, line_search_fn="strong_wolfe")
    def closure():
        steps.zero_grad()
        loss = torch.nn.functional.cross_entropy(logits(), y) + penalty()
        loss.backward()
        return loss
    steps.step(closure)
"""
TORCH_TEMPERATURE = "slope = torch.ones(1, requires_grad=True)\nfit([slope], lambda: slope * z)"
TORCH_VECTOR = """
slope = torch.ones(z.shape[1], requires_grad=True)
bias = torch.zeros(z.shape[1], requires_grad=True)
fit([slope, bias], lambda: slope * z + bias)
"""
TORCH_MATRIX = """
matrix = torch.eye(z.shape[1], requires_grad=True)
bias = torch.zeros(z.shape[1], requires_grad=True)
other = 1.0 - torch.eye(z.shape[1])
def penalty():
    return 1e-3 * (((other * matrix) ** 2).mean() + (bias**2).mean())
fit([matrix, bias], lambda: z @ matrix.T + bias, penalty)
"""
APPLY = f"""{LOGARITHM}
z *= 0.7
z -= z.max(axis=1, keepdims=True)
after = np.exp(z, dtype=np.float64)
after /= after.sum(axis=1, keepdims=True)
most = after.argmax(axis=1)
for k in range(p.shape[1]):
    table = table.append_column(f"calibrated_{{k}}", pa.array(np.ascontiguousarray(after[:, k])))
table = table.append_column("class", pa.array(most)).append_column("confidence", pa.array(after.max(axis=1)))
pq.write_table(table, sys.argv[2])
"""


@dataclass(frozen=True)
class Event:
    """What is raced for.

    Args:
        title: What the page calls it.

        ours: What calibcli computes, and its command, with places for {data}, {probs} and {folder}.

        peers: The others.

        most: Classes up to which there is a race.
    """

    title: str
    ours: Mapping[str, str]
    peers: Sequence[Peer]
    most: int = sys.maxsize


def fit_of(method: ClassMethod, computes: str, peers: Sequence[Peer], most: int = sys.maxsize) -> Event:
    """Return the race of a fit."""
    command = (
        f"fit {{data}} --probs {{probs}} -y label --multiclass {method} -o {{folder}}/{method}.json --force"
    )
    return Event(f"fit {method}", {computes: command}, peers, most)


# netcal gets float64: in float32 its optimiser stays where it starts.
TEMPERATURE = (
    Peer(
        "scikit-learn _TemperatureScaling",
        "sklearn",
        "the temperature",
        LOGARITHM + "from sklearn.calibration import _TemperatureScaling as T\nT().fit(z, y)",
    ),
    Peer("scipy minimize_scalar", "scipy", "the temperature", SCIPY_TEMPERATURE),
    Peer("torch L-BFGS, temperature", "torch", "the temperature", TORCH + TORCH_TEMPERATURE),
    Peer(
        "netcal TemperatureScaling",
        "netcal",
        "the temperature",
        "from netcal.scaling import TemperatureScaling as T\nT().fit(p.astype(float), y)",
    ),
)
VECTOR = (
    Peer("torch L-BFGS, vector", "torch", "slopes and intercepts", TORCH + TORCH_VECTOR),
    Peer(
        "netcal LogisticCalibration",
        "netcal",
        "slopes and intercepts",
        "from netcal.scaling import LogisticCalibration as L\nL().fit(p.astype(float), y)",
    ),
)
MATRIX = (
    Peer("torch L-BFGS, matrix", "torch", "the matrix, with one given penalty", TORCH + TORCH_MATRIX),
    Peer(
        "scikit-learn LogisticRegression",
        "sklearn",
        "the matrix, with one given ridge penalty",
        LOGARITHM + "from sklearn.linear_model import LogisticRegression as L\nL(max_iter=500).fit(z, y)",
    ),
)
MEASURES = (
    Peer(
        "uncertainty-calibration",
        "calibration",
        "marginal l2, debiased, 15 equal-mass bins",
        "import calibration as c\nc.get_calibration_error(p, y)",
    ),
    Peer(
        "uncertainty-calibration, ECE",
        "calibration",
        "classwise ECE, 15 equal-width bins",
        "import calibration as c\nc.get_ece(p, y, mode='marginal')",
    ),
    Peer("numpy, by hand", "numpy", "classwise ECE and debiased marginal l2, 15 equal-width bins", LOOP),
    Peer(
        "scikit-learn",
        "sklearn",
        "log loss, Brier score, accuracy",
        """
from sklearn.metrics import accuracy_score, brier_score_loss, log_loss
log_loss(y, p), brier_score_loss(y, p), accuracy_score(y, p.argmax(axis=1))
""",
    ),
    Peer(
        "torchmetrics",
        "torchmetrics",
        "ECE of the largest probability only",
        """
import torch
from torchmetrics.functional.classification import multiclass_calibration_error as error
error(torch.from_numpy(p), torch.from_numpy(y), num_classes=p.shape[1], n_bins=15)
""",
    ),
    Peer(
        "netcal",
        "netcal",
        "ECE of the largest probability only",
        "from netcal.metrics import ECE\nECE(15).measure(p, y)",
    ),
    Peer(
        "MAPIE",
        "mapie",
        "top-label ECE, unweighted",
        "from mapie.metrics.calibration import top_label_ece\ntop_label_ece(y, p, num_bins=15)",
    ),
)
TOGETHER = "measure {data} --probs {probs} -y label --json -o {folder}/report.json --force"
EVENTS = (
    Event(
        "measure",
        {
            "all eight measures of several classes, with intervals": " ".join(
                [TOGETHER, *(f"--metric {name}" for name in ClassMeasure)]
            ),
            "these, the default measures of the confidence, and each class in two views": TOGETHER,
        },
        MEASURES,
    ),
    fit_of(ClassMethod.TEMPERATURE, "the temperature, written with what it was fitted to", TEMPERATURE),
    fit_of(ClassMethod.VECTOR, "slopes and intercepts, written as above", VECTOR),
    fit_of(ClassMethod.STRUCTURED, "slopes and intercepts, the penalty by cross-validation", ()),
    fit_of(ClassMethod.MATRIX, "the matrix, its penalty chosen by cross-validation", MATRIX, MOST_OF_MATRIX),
    Event(
        "apply",
        {
            "the rows with K new columns, class and confidence": "apply {folder}/temperature.json {data}"
            " --probs {probs} -o {folder}/applied.parquet --force"
        },
        (Peer("numpy and pyarrow, by hand", "numpy", "the same columns", APPLY),),
    ),
)


def make_rows(path: Path, rows: int, classes: int, *, lists: bool) -> None:
    """Write a Parquet file of float32 probabilities and labels."""
    import numpy as np
    import pyarrow as pa
    import pyarrow.parquet as pq

    generator = np.random.default_rng([0, classes])
    bias = generator.normal(scale=0.3, size=classes)
    written = None
    for start in range(0, rows, BLOCK_ROWS):
        count = min(BLOCK_ROWS, rows - start)
        logits = generator.normal(size=(count, classes))
        ahead = np.log(classes) - 2.0 + generator.gamma(2.5, 2.5, size=count)
        logits[np.arange(count), generator.integers(classes, size=count)] += ahead
        chance = odds_of(logits).cumsum(axis=1)
        label = (generator.random((count, 1)) * chance[:, -1:] > chance).sum(axis=1)
        odds = odds_of(1.5 * logits + bias).astype(np.float32)
        p = odds / odds.sum(axis=1, keepdims=True)
        if lists:
            columns = {"probs": pa.FixedSizeListArray.from_arrays(pa.array(p.ravel()), classes)}
        else:
            columns = {f"p_{k}": pa.array(np.ascontiguousarray(p[:, k])) for k in range(classes)}
        table = pa.table({**columns, "label": label})
        written = written or pq.ParquetWriter(path, table.schema)
        written.write_table(table)
    if written is not None:
        written.close()


def odds_of(logits: "Floats") -> "Floats":
    """Return what a softmax divides by its sum."""
    import numpy as np

    return np.exp(logits - logits.max(axis=1, keepdims=True))


def entrants(event: Event, folder: Path, data: Path, *, asked: argparse.Namespace) -> list[Entrant]:
    """Return the processes of a race."""
    places = {"data": data, "folder": folder, "probs": "probs" if asked.lists else "p_*"}
    files = [str(data), str(folder / "by_hand.parquet")]
    found = []
    for number, (computes, line) in enumerate(event.ours.items()):
        command = [*CALIBCLI, *line.format(**places).split()]
        found.append(Entrant(f"{OURS}, more" if number else OURS, computes, command))
    there = [one for one in event.peers if asked.why[one.needs] is None]
    return found + [
        Entrant(one.name, one.computes, [asked.peers, "-c", READ + one.code, *files]) for one in there
    ]


def races(folder: Path, asked: argparse.Namespace) -> Iterator[str]:
    """Run the races one by one and yield what the page says of each."""
    rules = Rules(asked.rounds, asked.patience, asked.once)
    for classes in sorted(asked.classes):
        data = folder / f"{classes}.parquet"
        # In a process of its own: a child's peak memory counts that of the process that started it.
        wanted = ["--rows", str(asked.rows), "--classes", str(classes), *(["--lists"] * asked.lists)]
        within([__file__, "--prepare", str(data), *wanted])
        yield f"\n## {asked.rows:,} rows of {classes:,} classes"
        read = [Entrant("pyarrow", "nothing: reads the columns", [asked.peers, "-c", READ, str(data)])]
        yield f"\n### read\n\n{table_of(read, race(read, rules), OURS)}"
        for event in EVENTS:
            if classes <= event.most:
                field = entrants(event, folder, data, asked=asked)
                yield f"\n### {event.title}\n\n{table_of(field, race(field, rules), OURS)}"
        data.unlink()


def compete(folder: Path, asked: argparse.Namespace) -> str:
    """Run everything and return the page."""
    modules = {peer.needs for event in EVENTS for peer in event.peers}
    asked.why = {module: missing(asked.peers, module) for module in sorted(modules)}
    rounds = "One round." if asked.rounds == 1 else f"Median of {asked.rounds} interleaved rounds."
    parts = [
        f"{machine()}; {versions(asked.peers, PACKAGES)}.",
        f"Load {os.getloadavg()[0]:.1f} at the start. {rounds}",
        f"What took over {asked.once:g} s ran once; after {asked.patience:g} s it was stopped.",
        f"Probabilities in {'one column of lists' if asked.lists else 'a column each'}.",
        *races(folder, asked),
    ]
    left_out = [f"- {module}: {reason}" for module, reason in asked.why.items() if reason is not None]
    return "\n".join([*parts, *(["\nNot measured:\n", *left_out] if left_out else [])]) + "\n"


def main() -> None:
    """Run everything and print the page."""
    parser = parser_of("Time many classes against other packages.", patience=600.0, once=30.0)
    parser.add_argument("--classes", type=int, nargs="+", default=[10, 100, 1_000])
    parser.add_argument("--rows", type=int, default=50_000)
    parser.add_argument("--lists", action="store_true", help="one column of lists instead of K columns")
    asked = parser.parse_args()
    if asked.prepare:
        make_rows(Path(asked.prepare), asked.rows, asked.classes[0], lists=asked.lists)
        return
    publish(compete, asked, page=HERE / "CLASSES.md", head=HEAD)


HEAD = """# Many classes

Made by `python benchmarks/classes.py --write --peers PYTHON`, PYTHON being one that has the packages compared
with. Whole processes from start to end, from the same Parquet file of float32 probabilities; how rows are
made stands in the script. The ratio is a process's wall time over that of calibcli's first line: above 1,
calibcli computes what its line says in less time than the other takes for what the other's says.

The two sides are not alike. A peer holds all rows, in float32 unless that does not work (netcal), is called
for what its line names, and gives no interval for it; calibcli streams rows, computes in float64, gives every
measure its interval, and writes an artifact that says what was fitted to what. The matrix's penalty is chosen
by calibcli, which fits it many times; peers are given one. "read" is what reading alone costs a peer.

"""


if __name__ == "__main__":
    main()
