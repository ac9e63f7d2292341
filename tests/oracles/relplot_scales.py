"""What relplot gives for made-up rows with its logit scaling, and without.

Recipe: `python -m venv /tmp/peers`, install relplot there, then

    /tmp/peers/bin/python tests/oracles/relplot_scales.py > tests/oracles/relplot_scales.json

`test_smooth_oracles.py` compares with the file, without relplot.
"""

import json
import sys

import numpy as np

ROWS = 4_000
BANDWIDTHS = (0.05, 0.1)
# Least score, and the power by which the rate differs from the score.
CASES = {"calibrated": (0.02, 1.0), "bent": (0.02, 1.5), "bent, to the ends": (0.0005, 1.5)}


def drawn(name: str) -> tuple[np.ndarray, np.ndarray]:
    """Return scores and labels."""
    least, power = CASES[name]
    rng = np.random.default_rng(7)
    score = least + (1.0 - 2.0 * least) * rng.random(ROWS)
    return score, rng.random(ROWS) < score**power


def main() -> None:
    """Write the values, with logit scaling and without."""
    from relplot import config, metrics

    found = {}
    config.use_logit_scaling = True
    for name in CASES:
        score, label = drawn(name)
        y = label.astype(float)
        found[name] = {str(sigma): float(metrics.smECE_sigma(score, y, sigma)) for sigma in BANDWIDTHS}
        found[name]["fixpoint"] = float(metrics.smECE(score, y))
    config.use_logit_scaling = False
    for name in CASES:
        score, label = drawn(name)
        y = label.astype(float)
        found[name]["score"] = {
            str(sigma): float(metrics.smECE_sigma(score, y, sigma)) for sigma in BANDWIDTHS
        }
    json.dump(found, sys.stdout, indent=1)
    sys.stdout.write("\n")


if __name__ == "__main__":
    main()
