"""Repair by segments is never worse than the raw scores by more than a standard error, where that is hard."""

from collections.abc import Callable

import numpy as np
import pandas as pd
import pytest

import calibcli

pytestmark = pytest.mark.slow

REPETITIONS, HELD_OUT = 40, 20_000
World = Callable[[np.random.Generator, int], pd.DataFrame]


def rows_of(
    rng: np.random.Generator, score: np.ndarray, t: np.ndarray | None = None, *, values: int = 4
) -> pd.DataFrame:
    """Return rows with two columns; labels have these log odds, else those of the scores."""
    many = score.size
    p = score if t is None else 1.0 / (1.0 + np.exp(-t))
    frame = pd.DataFrame({"score": score, "label": (rng.random(many) < p).astype(int)})
    frame["a"] = [f"v{one}" for one in rng.integers(0, values, many)]
    frame["b"] = rng.normal(size=many)
    return frame


def calibrated(rng: np.random.Generator, many: int) -> pd.DataFrame:
    """Nothing is wrong."""
    return rows_of(rng, rng.beta(1.0, 2.0, many))


def rare(rng: np.random.Generator, many: int) -> pd.DataFrame:
    """Three events in a thousand rows."""
    return rows_of(rng, rng.beta(0.3, 100.0, many).clip(1e-8))


def saturated(rng: np.random.Generator, many: int) -> pd.DataFrame:
    """Half of the scores are 0 or 1, and one in two hundred of these is wrong."""
    frame = rows_of(rng, rng.beta(1.0, 1.0, many))
    certain = rng.random(many) < 0.5
    label = frame["label"].where(~certain | (rng.random(many) > 0.005), 1 - frame["label"])
    return frame.assign(score=frame["score"].mask(certain, frame["label"].astype(float)), label=label)


def scattered(rng: np.random.Generator, many: int) -> pd.DataFrame:
    """A column of two thousand values."""
    return rows_of(rng, rng.beta(1.0, 2.0, many), values=2_000)


def empty(rng: np.random.Generator, many: int) -> pd.DataFrame:
    """One value never has an event, as its scores say, more or less."""
    frame = rows_of(rng, rng.beta(1.0, 2.0, many))
    none = frame["a"] == "v0"
    return frame.assign(score=frame["score"].mask(none, 1e-4), label=frame["label"].mask(none, 0))


def wrong(rng: np.random.Generator, many: int) -> pd.DataFrame:
    """One value is wrong: here the repair has to gain."""
    score = rng.beta(1.0, 2.0, many).clip(1e-6, 1.0 - 1e-6)
    z = np.log(score / (1.0 - score))
    frame = rows_of(rng, score)
    p = 1.0 / (1.0 + np.exp(-z - 0.8 * (frame["a"] == "v1")))
    return frame.assign(label=(rng.random(many) < p).astype(int))


def losses(frame: pd.DataFrame, score: np.ndarray) -> np.ndarray:
    """Return the log loss of each row, of certain scores as far as doubles go."""
    p = np.where(frame["label"] == 1, score, 1.0 - score)
    return -np.log(np.maximum(p, 2.0**-53))


WORLDS: list[tuple[World, int]] = [
    (calibrated, 30), (calibrated, 1_000), (rare, 20_000), (saturated, 2_000), (scattered, 5_000),
    (empty, 2_000), (wrong, 30), (wrong, 2_000),
]  # fmt: skip


@pytest.mark.parametrize(("world", "rows"), WORLDS, ids=lambda one: getattr(one, "__name__", str(one)))
def test_repair_does_no_harm(world: World, rows: int) -> None:
    """The mean loss of fresh rows rises by at most the standard error that the fit rows would leave of it."""
    rose, error = [], []
    for seed in range(REPETITIONS):
        rng = np.random.default_rng([seed, rows])
        fit, held = world(rng, rows), world(rng, HELD_OUT)
        if fit["label"].nunique() < 2:
            continue
        kept = calibcli.fit(fit, score="score", label="label", method="segments", on=["a", "b"])
        after = kept.predict(held["score"].to_numpy(), on=held)
        apart = losses(held, after) - losses(held, held["score"].to_numpy())
        rose.append(apart.mean())
        error.append(losses(held, held["score"].to_numpy()).std() / np.sqrt(rows))
    assert len(rose) > REPETITIONS // 2
    assert np.mean(rose) <= np.mean(error)
    if world is wrong and rows > 30:
        assert np.mean(rose) < -3.0 * np.std(rose) / np.sqrt(len(rose))


def test_columns_of_noise_seldom_make_a_repair() -> None:
    """Kinds found from all rows, once, made one in every eighth table of calibrated scores."""
    repaired = 0
    for seed in range(60):
        rng = np.random.default_rng([seed, 6_000])
        score = np.clip(rng.beta(0.4, 4.0, 6_000), 1e-4, 1.0 - 1e-4)
        columns = {name: rng.integers(0, 12, 6_000).astype(str) for name in "abcd"}
        rows = {"score": score, "label": (rng.random(6_000) < score).astype(int), **columns}
        kept = calibcli.fit(rows, score="score", label="label", method="segments", on=[*columns])
        repaired += not np.allclose(kept.predict(score, on=columns), score)
    assert repaired <= 4
