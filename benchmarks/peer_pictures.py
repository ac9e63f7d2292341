"""One reliability diagram of another package; run by a Python that has the package.

    PYTHON benchmarks/peer_pictures.py PACKAGE ROWS.parquet PICTURE.png

ROWS.parquet has `score` and `label`. Each package draws as its documentation does, with the uncertainty it
offers switched on. Prints the package's version.
"""

import importlib.metadata
import sys
from collections.abc import Callable
from pathlib import Path

import matplotlib as mpl
import numpy as np
import pyarrow.parquet as pq

mpl.use("Agg")

from matplotlib import pyplot as plt

Floats = np.ndarray
# The pictures go beside each other at this width.
PIXELS = 510


def relplot(score: Floats, label: Floats) -> None:
    """Smooth, with its bootstrap band and the interval of its error: all defaults."""
    import relplot as rp

    np.random.seed(0)  # noqa: NPY002 - what relplot draws from
    rp.rel_diagram(score, label)


def corp(score: Floats, label: Floats) -> None:
    """Isotonic, with the bootstrap band of 200 resamples that is off by default."""
    from model_diagnostics.calibration import plot_reliability_diagram

    np.random.seed(0)  # noqa: NPY002 - what scipy draws from
    plot_reliability_diagram(label, score, n_bootstrap=200, confidence_level=0.95)


def calzone(score: Floats, label: Floats) -> None:
    """Ten bins, with the Wilson intervals that are off by default."""
    from calzone.utils import reliability_diagram
    from calzone.vis import plot_reliability_diagram

    both = np.column_stack([1.0 - score, score])
    rates, means, edges, counts = reliability_diagram(label, both, num_bins=10, class_to_plot=1)
    plot_reliability_diagram(rates, means, counts, bin_edges=edges, error_bar=True, return_fig=True)


def sklearn(score: Floats, label: Floats) -> None:
    """Ten bins, as in its examples; five are the default."""
    from sklearn.calibration import CalibrationDisplay

    CalibrationDisplay.from_predictions(label, score, n_bins=10)


# What draws, and whose version is told.
PACKAGES: dict[str, tuple[Callable[[Floats, Floats], None], str]] = {
    "relplot": (relplot, "relplot"),
    "model-diagnostics": (corp, "model-diagnostics"),
    "calzone": (calzone, "calzone-tool"),
    "scikit-learn": (sklearn, "scikit-learn"),
}


def draw(name: str, rows: Path, picture: Path) -> str:
    """Draw, write the picture and return the package's name and version."""
    table = pq.read_table(rows, columns=["score", "label"])
    function, package = PACKAGES[name]
    function(table["score"].to_numpy(), table["label"].to_numpy())
    figure = plt.gcf()
    # As a notebook shows it: cut to what was drawn.
    figure.savefig(picture, dpi=PIXELS / figure.get_figwidth(), bbox_inches="tight")
    return f"{name} {importlib.metadata.version(package)}"


if __name__ == "__main__":
    print(draw(sys.argv[1], Path(sys.argv[2]), Path(sys.argv[3])))
