"""Random numbers by purpose: drawing for one never moves the digits of another."""

import numpy as np

from calibcli.names import Purpose


def stream(seed: int, purpose: Purpose) -> np.random.Generator:
    """Return the generator of a purpose."""
    return np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(int(purpose),)))
