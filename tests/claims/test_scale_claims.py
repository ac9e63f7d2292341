"""Scores on another scale than that of a fit are refused; honest ones are not, however they have drifted."""

from collections import Counter

import numpy as np
import pytest

from calibcli.names import Scale
from claims.scale_worlds import HONEST, MODELS, fitted_to, log_odds, model, refused, share
from claims.simulation import short_and_full


def _false_refusals(rounds: int, seed: int) -> tuple[int, Counter[str]]:
    """How many honest files there were, and which were refused."""
    rng = np.random.default_rng(seed)
    files, wrong = 0, Counter[str]()
    for _ in range(rounds):
        for kind in MODELS:
            scores, label = model(rng, kind)
            fit = rng.choice(scores, int(rng.choice([100, 1_000, 10_000])))
            artifacts = [fitted_to(fit, scale) for scale in (Scale.PROB, Scale.LOGIT)]
            for use, drifted in HONEST.items():
                rows = int(rng.choice([1, 5, 30, 100, 300, 1_000, 5_000]))
                read = share(drifted(rng, scores, label, rows))
                for artifact in artifacts:
                    files += 1
                    wrong[f"{kind}, {use}, {rows}, {artifact.scale}"] += refused(artifact, read)
    return files, +wrong


@pytest.mark.untraced
@short_and_full("rounds seed most", [(1, 1, 0)], [(200, 2, 1)])
def test_honest_scores_are_not_refused(rounds: int, seed: int, most: int) -> None:
    """However few, whatever became of them; of 61,200 one: logits in [0, 1] that look like probabilities."""
    files, wrong = _false_refusals(rounds, seed)
    assert files == 306 * rounds
    assert wrong.total() <= most, wrong


@pytest.mark.untraced
@pytest.mark.parametrize("rows", [100, 1_000])
def test_scores_on_another_scale_are_mostly_refused(rows: int) -> None:
    """Probabilities as logits, percentages as logits, and logits that all lie in [0, 1] as probabilities."""
    rng = np.random.default_rng(3)
    found: Counter[str] = Counter()
    rounds = 15
    for _ in range(rounds):
        scores, _ = model(rng, "two normals")
        new = rng.choice(scores, rows)
        logits = fitted_to(rng.choice(scores, 5_000), Scale.LOGIT)
        found["probabilities"] += refused(logits, share(share(new)))
        found["percentages"] += refused(logits, share(100.0 * share(new)))
        narrow, _ = model(rng, "logits in [0, 1]")
        found["logits"] += refused(fitted_to(rng.choice(narrow, 5_000), Scale.PROB), rng.choice(narrow, rows))
    assert found["probabilities"] >= 0.85 * rounds, found
    assert found["percentages"] >= 0.2 * rounds, found
    assert found["logits"] >= 0.95 * rounds, found


@pytest.mark.parametrize("rows", [1, 5, 30, 99])
def test_few_rows_say_nothing(rows: int) -> None:
    """Fewer than 100 rows are never refused, whatever they are."""
    rng = np.random.default_rng(4)
    scores, _ = model(rng, "two normals")
    artifact = fitted_to(scores, Scale.LOGIT)
    assert not refused(artifact, share(share(scores[:rows])))
    assert refused(artifact, share(share(scores[:1000])))
    assert np.allclose(log_odds(share(scores)), scores)
