"""The bootstrap intervals of other packages for many sets of rows; run by a Python that has the packages.

    PYTHON benchmarks/peer_bootstrap.py ROWS.npz INTERVALS.npz

ROWS.npz holds `score` and `label`, shape (repetitions, n), and `few`, in how many of them the slowest package
is asked. INTERVALS.npz gets an array of shape (repetitions, 2) for every interval, named
"package|statistic|nominal per cent", and `versions`. A package that is absent gives nothing.
"""

import contextlib
import importlib.metadata
import io
import sys
import warnings
from collections.abc import Callable

import numpy as np

Floats = np.ndarray
Intervals = dict[str, tuple[float, float]]
CALZONE_SAMPLES = 200


def uncertainty_calibration(score: Floats, label: Floats) -> Intervals:
    """Return the intervals of `get_calibration_error_uncertainties`: basic bootstrap of 100 resamples.

    The docstring promises "1-alpha confidence intervals"; the code divides alpha by 100. Both readings are
    taken, from one set of resamples, by passing several alphas at once.
    """
    from calibration.utils import get_calibration_error_uncertainties

    alphas = {"95": (0.05, 5.0), "90": (0.1, 10.0)}
    each = np.array([alpha for pair in alphas.values() for alpha in pair])
    found: Intervals = {}
    for power, name in ((1, "ECE"), (2, "l2")):
        low, _, high = get_calibration_error_uncertainties(score, label, p=power, alpha=each)
        ends = dict(zip(each.tolist(), zip(low.tolist(), high.tolist(), strict=True), strict=True))
        for nominal, (documented, per_cent) in alphas.items():
            found[f"uncertainty-calibration|{name}, alpha as documented|{nominal}"] = ends[documented]
            found[f"uncertainty-calibration|{name}, alpha in per cent|{nominal}"] = ends[per_cent]
    return found


def calzone(score: Floats, label: Floats) -> Intervals:
    """Return the percentile intervals of `CalibrationMetrics.bootstrap` and `get_CI`, over 10 bins."""
    from calzone.metrics import CalibrationMetrics, get_CI

    metrics = CalibrationMetrics(class_to_calculate=1)
    both = np.column_stack([1.0 - score, score])
    drawn = metrics.bootstrap(label, both, ["ECE-H", "ECE-C"], n_samples=CALZONE_SAMPLES)
    found: Intervals = {}
    for nominal, alpha in (("95", 0.05), ("90", 0.1)):
        ends = get_CI(drawn, alpha=alpha)
        found |= {f"calzone|{name}|{nominal}": ends[name] for name in ("ECE-H", "ECE-C")}
    return found


def relplot(score: Floats, label: Floats) -> Intervals:
    """Return smECE plus or minus the half-width that `prepare_rel_diagram` reports, at 95 % alone."""
    from relplot import prepare_rel_diagram

    found = prepare_rel_diagram(score, label.astype(float), plot_confidence_band=False)
    half = found["ce_ci_width"]
    return {"relplot|smECE|95": (found["ce"] - half, found["ce"] + half)}


PACKAGES: dict[str, tuple[str, Callable[[Floats, Floats], Intervals]]] = {
    "uncertainty-calibration": ("calibration", uncertainty_calibration),
    "calzone-tool": ("calzone", calzone),
    "relplot": ("relplot", relplot),
}
SLOWEST = "relplot"


def installed() -> dict[str, str]:
    """Return the packages that are there, with their versions."""
    found = {}
    for name, (module, _) in PACKAGES.items():
        with contextlib.suppress(ImportError):
            __import__(module)
            found[name] = importlib.metadata.version(name)
    return found


def main() -> None:
    """Read rows, ask every package, write intervals."""
    given, answer = sys.argv[1:]
    warnings.simplefilter("ignore")
    np.random.seed(0)  # noqa: NPY002 - the packages draw from the global generator
    rows, versions = np.load(given), installed()
    collected: dict[str, list[tuple[float, float]]] = {}
    for index, (score, label) in enumerate(zip(rows["score"], rows["label"], strict=True)):
        for name in versions:
            if name == SLOWEST and index >= int(rows["few"]):
                continue
            with contextlib.redirect_stdout(io.StringIO()):
                found = PACKAGES[name][1](score, label)
            for key, ends in found.items():
                collected.setdefault(key, []).append(ends)
    arrays = {key: np.array(ends, np.float64) for key, ends in collected.items()}
    words = np.array([f"{name} {version}" for name, version in versions.items()])
    np.savez(answer, versions=words, **arrays)


if __name__ == "__main__":
    main()
