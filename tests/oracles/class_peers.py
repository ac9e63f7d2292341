"""What other packages make of scikit-learn's digits, for `class_agreement.py`.

    /path/to/peers/bin/python tests/oracles/class_peers.py

needs scikit-learn, MAPIE, uncertainty-calibration, venn-abers, torchmetrics and torch, and writes
`class_peers.json` beside this script: from the predictions of `sample_data`, fitted to the calibration half,
the first rows of the evaluation half and the mean log loss of all of it. Probabilities of naive Bayes are
their eighth roots first, to twelve digits, since packages part where probabilities are nearer to each other
than 1e-15, which scikit-learn takes for one value, and where two are 0, whose share venn-abers makes 0 / 0.
What zeros and ties do is seen on the random forest as it is, and with a hundredth of those roots mixed in.
"""

import json
import warnings
from functools import partial
from importlib.metadata import version
from pathlib import Path

import numpy as np
import pandas as pd

HERE = Path(__file__).parent
SAMPLE = HERE.parents[1] / "sample_data"
FIRST = 40
FIRST_OF_FOREST = 200
MIXED = 0.01


def half(name: str) -> tuple[np.ndarray, np.ndarray]:
    """Return the eighth roots of probabilities, divided by their sum and rounded, and labels of one half."""
    frame = pd.read_parquet(SAMPLE / f"digits_naive_bayes_{name}.parquet")
    root = np.maximum(frame[[f"p_{place}" for place in range(10)]].to_numpy(), 2.0**-53) ** 0.125
    return (root / root.sum(axis=1, keepdims=True)).round(12), frame["label"].to_numpy()


def forest_half(name: str) -> tuple[np.ndarray, np.ndarray]:
    """Return probabilities and labels of one half of the digits by the random forest."""
    frame = pd.read_csv(SAMPLE / f"digits_forest_{name}.csv")
    return frame[[f"p_{place}" for place in range(10)]].to_numpy(), frame["label"].to_numpy()


def apart_half(name: str) -> tuple[np.ndarray, np.ndarray]:
    """Return the same with a hundredth of the other model's, so that nothing is 0 and nothing repeats."""
    (forest, label), (bayes, _) = forest_half(name), half(name)
    return (1.0 - MIXED) * forest + MIXED * bayes, label


def said(after: np.ndarray, label: np.ndarray, first: int = FIRST) -> dict[str, object]:
    """Return the first rows, and the log loss with probabilities of at least 1e-9."""
    right = np.maximum(after[np.arange(label.size), label], 1e-9)
    return {"first": after[:first].tolist(), "log_loss": float(-np.log(right).mean())}


def sklearn_temperature(fit: tuple, test: tuple) -> dict[str, object]:
    """Temperature scaling on log(p), as scikit-learn finds it."""
    from sklearn.calibration import _TemperatureScaling

    logits = [np.log(np.maximum(one, 2.0**-53)) for one in (fit[0], test[0])]
    one = _TemperatureScaling().fit(logits[0], fit[1])
    return {"temperature": 1.0 / float(one.beta_), **said(one.predict(logits[1]), test[1])}


def sklearn_one_vs_rest(fit: tuple, test: tuple) -> dict[str, object]:
    """Isotonic fits of each class, divided by their sum."""
    from sklearn.isotonic import IsotonicRegression

    after = np.column_stack(
        [
            IsotonicRegression(out_of_bounds="clip").fit(fit[0][:, k], fit[1] == k).predict(test[0][:, k])
            for k in range(10)
        ]
    )
    return said(after / after.sum(axis=1, keepdims=True), test[1])


def torch_vector(fit: tuple, test: tuple) -> dict[str, object]:
    """Vector scaling by torch's L-BFGS in double precision."""
    import torch

    log = torch.log(torch.clamp(torch.tensor(fit[0]), min=2.0**-53))
    label = torch.tensor(fit[1])
    slope = torch.ones(10, dtype=torch.float64, requires_grad=True)
    intercept = torch.zeros(10, dtype=torch.float64, requires_grad=True)
    optimiser = torch.optim.LBFGS(
        [slope, intercept],
        max_iter=5_000,
        tolerance_grad=1e-10,
        tolerance_change=0,
        line_search_fn="strong_wolfe",
    )

    def closure() -> object:
        optimiser.zero_grad()
        loss = torch.nn.functional.cross_entropy(log * slope + intercept, label)
        loss.backward()
        return loss

    optimiser.step(closure)
    least = float(torch.nn.functional.cross_entropy(log * slope + intercept, label))
    log = torch.log(torch.clamp(torch.tensor(test[0]), min=2.0**-53))
    after = torch.softmax(log * slope + intercept, dim=1).detach().numpy()
    return {"fit_log_loss": least, **said(after, test[1])}


def venn_abers_pairs(fit: tuple, test: tuple, kind: str, first: int = FIRST) -> dict[str, object]:
    """Venn-Abers of pairs of classes, or of each class against the rest."""
    from venn_abers import venn_abers

    after, _ = venn_abers.predict_proba_prefitted_va(fit[0], fit[1], test[0], va_tpe=kind)
    return said(np.asarray(after), test[1], first)


def mapie_top_label(fit: tuple, test: tuple) -> dict[str, object]:
    """Isotonic fits of the confidence by predicted class."""
    from mapie.calibration import TopLabelCalibrator
    from sklearn.base import BaseEstimator, ClassifierMixin
    from sklearn.isotonic import IsotonicRegression

    class Given(ClassifierMixin, BaseEstimator):
        """A model whose features are its predictions."""

        classes_ = np.arange(10)

        def fit(self, X: np.ndarray, y: np.ndarray) -> "Given":  # noqa: ARG002
            """Learn nothing."""
            self.fitted_ = True
            return self

        def predict(self, X: np.ndarray) -> np.ndarray:
            """Return the most probable class."""
            return np.asarray(X).argmax(axis=1)

        def predict_proba(self, X: np.ndarray) -> np.ndarray:
            """Return the features."""
            return np.asarray(X)

    one = TopLabelCalibrator(
        estimator=Given().fit(*fit), calibrator=IsotonicRegression(out_of_bounds="clip"), cv="prefit"
    ).fit(*fit)
    after = np.nan_to_num(one.predict_proba(test[0]))
    return {"confidence": after.max(axis=1)[:200].tolist()}


def marginal_binning(fit: tuple, test: tuple) -> dict[str, object]:
    """Scaling-binning of each class by itself, of uncertainty-calibration."""
    import calibration

    one = calibration.PlattBinnerMarginalCalibrator(len(fit[1]), num_bins=10)
    one.train_calibration(fit[0], fit[1])
    return {"first": np.asarray(one.calibrate(test[0]))[:200].tolist()}


def marginal_binning_to_the_end(fit: tuple, test: tuple) -> dict[str, object]:
    """The same where its logistic fit does not stop at a gradient of 1e-4."""
    from calibration import utils
    from sklearn.linear_model import LogisticRegression

    utils.LogisticRegression = partial(LogisticRegression, tol=1e-12, max_iter=10_000)
    try:
        return marginal_binning(fit, test)
    finally:
        utils.LogisticRegression = LogisticRegression


def measures_of(test: tuple) -> dict[str, float]:
    """Losses, and binned errors over 15 bins, of four packages."""
    import calibration
    import torch
    from mapie.metrics.calibration import top_label_ece
    from sklearn.metrics import brier_score_loss, log_loss
    from torchmetrics.functional.classification import multiclass_calibration_error

    probability, label = test
    plug_in = [
        calibration.lower_bound_scaling_ce(
            probability[:, k],
            (label == k).astype(int),
            p=2,
            debias=False,
            num_bins=15,
            binning_scheme=calibration.get_equal_prob_bins,
        )
        for k in range(10)
    ]
    given = torch.tensor(probability), torch.tensor(label)
    return {
        "sklearn_log_loss": float(log_loss(label, probability, labels=range(10))),
        "sklearn_brier": float(brier_score_loss(label, probability, labels=range(10))),
        # 16 edges make 15 bins.
        "mapie_top_label_ece": float(top_label_ece(label, probability, num_bins=16)),
        "torchmetrics_ece": float(multiclass_calibration_error(*given, num_classes=10, n_bins=15)),
        "uncertainty_ece": float(calibration.get_ece(probability, label, num_bins=15)),
        "uncertainty_marginal_l2": float(np.sqrt(np.mean(np.square(plug_in)))),
    }


def versions() -> dict[str, str]:
    """Return the packages that were run."""
    names = ("scikit-learn", "mapie", "uncertainty-calibration", "venn-abers", "torch", "torchmetrics")
    return {name: version(name) for name in names}


def forest_values() -> dict[str, object]:
    """Return measures and Venn-Abers of pairs of the forest, where zeros and ties tell packages apart."""
    forest = forest_half("calibration"), forest_half("evaluation")
    apart = apart_half("calibration"), apart_half("evaluation")
    return {
        "forest_measures": measures_of(forest[1]),
        "forest_venn_abers_one_vs_one": venn_abers_pairs(*forest, "one_vs_one", FIRST_OF_FOREST),
        "apart_venn_abers_one_vs_one": venn_abers_pairs(*apart, "one_vs_one", FIRST_OF_FOREST),
    }


def main() -> None:
    """Write what every package says."""
    warnings.simplefilter("ignore")
    fit, test = half("calibration"), half("evaluation")
    found = {
        "versions": versions(),
        "sklearn_temperature": sklearn_temperature(fit, test),
        "sklearn_one_vs_rest_isotonic": sklearn_one_vs_rest(fit, test),
        "torch_vector": torch_vector(fit, test),
        "venn_abers_one_vs_one": venn_abers_pairs(fit, test, "one_vs_one"),
        "venn_abers_one_vs_rest": venn_abers_pairs(fit, test, "one_vs_rest"),
        "mapie_top_label_isotonic": mapie_top_label(fit, test),
        "uncertainty_marginal_binning": marginal_binning(fit, test),
        "uncertainty_marginal_binning_to_the_end": marginal_binning_to_the_end(fit, test),
        "measures": measures_of(test),
        **forest_values(),
    }
    lines = ",\n".join(f" {json.dumps(name)}: {json.dumps(value)}" for name, value in found.items())
    (HERE / "class_peers.json").write_text(f"{{\n{lines}\n}}\n")


if __name__ == "__main__":
    main()
