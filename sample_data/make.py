"""Make the sample data: predictions of really trained models, with what is wrong with them left in.

    .venv/bin/python sample_data/make.py [DIRECTORY]

writes every file described in `sample_data/README.md`, beside this script unless told otherwise. Seeds are
fixed and everything runs on one thread, so that two runs on one machine give the same bytes.
"""

import csv
import sys
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.parquet as pq
from sklearn.base import ClassifierMixin
from sklearn.datasets import load_breast_cancer, load_digits
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold, cross_val_predict
from sklearn.naive_bayes import GaussianNB
from threadpoolctl import threadpool_limits

Column = npt.NDArray[np.generic]
Frame = dict[str, Column]

SEED = 0
FOLDS = 10
CHURN_TRAINING_ROWS = 10_000
CHURN_ROWS = 100_000
PARQUET_ROW_GROUP = 10_000

REGIONS = ("east", "north", "south", "west")
REGION_SHARE = (0.35, 0.15, 0.30, 0.20)
REGION_LOGIT = (-0.35, 0.55, -0.05, 0.25)  # known to the world, unknown to the model

# A customer enters the sample with a chance that depends on months of tenure: the newer, the likelier.
TENURE_EDGES = (6, 18, 36)
SAMPLING_CHANCE = (0.9, 0.6, 0.4, 0.25)


LOAN_TRAINING_ROWS = 20_000
LOAN_ROWS = 24_000
COUNTRIES = ("AT", "BR", "DE", "ES", "FR", "MX")
COUNTRY_SHARE = (0.08, 0.22, 0.26, 0.16, 0.18, 0.10)
DEVICES = ("desktop", "mobile", "tablet")
DEVICE_SHARE = (0.40, 0.52, 0.08)

# Subscribers: what plan and country do adds up in the model; in one plan of one country a price rose.
SUBSCRIBER_TRAINING_ROWS = 20_000
SUBSCRIBER_ROWS = 24_000
PLANS = ("basic", "family", "plus", "student")
PLAN_SHARE = (0.42, 0.18, 0.28, 0.12)
MARKETS = ("CA", "GB", "IN", "MX", "US")
MARKET_SHARE = (0.12, 0.18, 0.18, 0.18, 0.34)

# Rating grades with the probability of default that the model gives, and what is true of them; from the
# middle of the second year on the odds of a default are larger, which the model does not know.
PORTFOLIO_MONTHLY_ROWS = 2_000
GRADES = ("A", "B", "C", "D", "E", "F", "G")
GRADE_PD = (0.0006, 0.002, 0.006, 0.015, 0.035, 0.08, 0.2)
GRADE_TRUTH = (0.0006, 0.002, 0.006, 0.015, 0.035, 0.105, 0.2)
GRADE_SHARE = ((0.12, 0.20, 0.25, 0.20, 0.13, 0.07, 0.03), (0.10, 0.17, 0.24, 0.22, 0.15, 0.08, 0.04))
DOWNTURN, DOWNTURN_ODDS = "2024-07", 1.7


FORECAST_DAYS = 600
FORECASTS = {"fc_ensemble": (1.0, 0.0, 0.3), "fc_radar": (1.0, 0.1, 0.6), "fc_sharp": (1.7, -0.2, 0.3)}

MODELS = {"aster": (0.82, 0.93), "birch": (0.74, 0.78), "cedar": (0.66, 0.9)}
# What an answer's confidence is called from so much on.
SAID = {"almost certain": 0.95, "very likely": 0.85, "likely": 0.7}
QUESTIONS = 500


@dataclass(frozen=True, slots=True)
class Customers:
    """Simulated customers: what the model sees, and the columns that go beside its score."""

    features: npt.NDArray[np.float64]
    label: npt.NDArray[np.int8]
    region: npt.NDArray[np.str_]
    weight: npt.NDArray[np.float64]


def out_of_fold(
    model: ClassifierMixin, features: npt.NDArray[np.float64], label: npt.NDArray[np.int64]
) -> npt.NDArray[np.float64]:
    """Predicted probabilities, shape (rows, classes), each row scored by a model that did not see it."""
    folds = StratifiedKFold(FOLDS, shuffle=True, random_state=SEED)
    return np.asarray(cross_val_predict(model, features, label, cv=folds, method="predict_proba"))


def halves(rows: int) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Row numbers of the calibration and of the evaluation half, drawn blindly, each in ascending order."""
    shuffled = np.random.default_rng(SEED).permutation(rows)
    return np.sort(shuffled[: rows // 2]), np.sort(shuffled[rows // 2 :])


def breast_cancer() -> Frame:
    """Gaussian naive Bayes on 30 correlated measurements; label 1 is malignant."""
    measurements, benign = load_breast_cancer(return_X_y=True)
    malignant = 1 - benign
    score = out_of_fold(GaussianNB(), measurements, malignant)[:, 1]
    return {"id": np.arange(malignant.size), "score": score, "label": malignant}


def digits(model: ClassifierMixin) -> Frame:
    """Ten-class probabilities of one model for handwritten digits of 8 by 8 pixels."""
    pixels, digit = load_digits(return_X_y=True)
    probability = out_of_fold(model, pixels, digit)
    columns = {f"p_{k}": probability[:, k] for k in range(probability.shape[1])}
    return {"id": np.arange(digit.size), **columns, "label": digit}


def sampled_customers(generator: np.random.Generator, rows: int) -> Customers:
    """Independent customers, kept by the sampling chance of their tenure until there are enough."""
    drawn = 4 * rows  # the smallest chance is 0.25, so this always leaves enough
    region = generator.choice(len(REGIONS), drawn, p=REGION_SHARE)
    tenure = np.minimum(generator.exponential(24.0, drawn), 120.0)
    charge = generator.lognormal(3.4 + 0.08 * region, 0.45)
    calls = generator.poisson(0.6 + 1.2 * (tenure < TENURE_EDGES[0]))
    trend = generator.normal(0.0, 1.0, drawn)
    late = generator.poisson(0.5, drawn)
    noise = generator.normal(0.0, 1.0, (drawn, 6))
    logit = (
        -2.45
        + np.asarray(REGION_LOGIT)[region]
        + 0.9 * np.exp(-tenure / 12.0)
        + 0.02 * (charge - 33.0)
        + 0.6 * np.sqrt(calls)
        - 0.9 * np.tanh(trend)
        + 0.3 * late * (trend < 0.0)
    )
    label = generator.random(drawn) < 1.0 / (1.0 + np.exp(-logit))
    chance = np.asarray(SAMPLING_CHANCE)[np.searchsorted(TENURE_EDGES, tenure, side="right")]
    kept = np.flatnonzero(generator.random(drawn) < chance)[:rows]
    features = np.column_stack([tenure, charge, calls, trend, late, noise])
    return Customers(
        features[kept], label[kept].astype(np.int8), np.asarray(REGIONS)[region[kept]], 1.0 / chance[kept]
    )


def churn() -> Frame:
    """Boosted trees without brakes, trained on customers of their own and never told the region."""
    training_stream, scored_stream = np.random.SeedSequence(SEED).spawn(2)
    training = sampled_customers(np.random.default_rng(training_stream), CHURN_TRAINING_ROWS)
    scored = sampled_customers(np.random.default_rng(scored_stream), CHURN_ROWS)
    model = HistGradientBoostingClassifier(
        learning_rate=0.1, max_iter=500, max_leaf_nodes=63, early_stopping=False, random_state=SEED
    )
    model.fit(training.features, training.label)
    return {
        "id": np.arange(CHURN_ROWS, dtype=np.int32),
        "score": model.predict_proba(scored.features)[:, 1],
        "label": scored.label,
        "group": scored.region,
        "weight": scored.weight,
    }


def applications(generator: np.random.Generator, rows: int) -> Frame:
    """Independent applications for a loan; what they do to the default is known to the world alone."""
    country = generator.choice(len(COUNTRIES), rows, p=COUNTRY_SHARE)
    device = generator.choice(len(DEVICES), rows, p=DEVICE_SHARE)
    age = np.clip(18.0 + generator.gamma(2.2, 9.5, rows), 18.0, 85.0).astype(np.int64)
    income = generator.lognormal(3.3 + 0.004 * age, 0.5)
    burden = generator.beta(2.0, 5.0, rows)
    logit = (
        -1.55
        + 2.6 * (burden - 0.29)
        - 0.9 * (np.log(income) - 3.45)
        + np.asarray((-0.2, 0.45, -0.15, 0.1, 0.0, 0.3))[country]
        - 0.012 * (age - 39)
        - 0.65 * ((country == 1) & (device == 1))
        + 0.7 * ((country == 2) & (age <= 26))
    )
    label = generator.random(rows) < 1.0 / (1.0 + np.exp(-logit))
    return {
        "country": np.asarray(COUNTRIES)[country],
        "device": np.asarray(DEVICES)[device],
        "age": age,
        "income": income,
        "burden": burden,
        "label": label.astype(np.int8),
    }


def loans() -> Frame:
    """Logistic regression that adds up what columns do, where two pairs of them do something of their own."""
    training_stream, scored_stream = np.random.SeedSequence(SEED).spawn(2)
    training = applications(np.random.default_rng(training_stream), LOAN_TRAINING_ROWS)
    scored = applications(np.random.default_rng(scored_stream), LOAN_ROWS)
    model = LogisticRegression(C=1.0, max_iter=1_000).fit(_loan_features(training), training["label"])
    return {
        "id": np.arange(LOAN_ROWS, dtype=np.int32),
        "score": np.round(model.predict_proba(_loan_features(scored))[:, 1], 4),
        "label": scored["label"],
        "country": scored["country"],
        "device": scored["device"],
        "age": scored["age"].astype(np.int16),
    }


def _loan_features(frame: Frame) -> npt.NDArray[np.float64]:
    flags = [frame["country"] == one for one in COUNTRIES] + [frame["device"] == one for one in DEVICES]
    numbers = [frame["age"] / 10.0, np.log(frame["income"].astype(np.float64)), frame["burden"]]
    return np.column_stack([*flags, *numbers]).astype(np.float64)


def subscriptions(generator: np.random.Generator, rows: int) -> Frame:
    """Independent subscribers; families in Mexico leave more often than plan and country add up to."""
    plan = generator.choice(len(PLANS), rows, p=PLAN_SHARE)
    country = generator.choice(len(MARKETS), rows, p=MARKET_SHARE)
    months = np.ceil(generator.exponential(20.0, rows)).astype(np.int64)
    used = generator.gamma(2.0, 4.0, rows)
    logit = (
        -0.75
        + np.asarray((0.15, -0.45, -0.1, 0.5))[plan]
        + np.asarray((-0.1, 0.0, 0.35, 0.1, -0.05))[country]
        - 0.02 * np.minimum(months, 60)
        - 0.09 * (used - 8.0)
        + 1.2 * ((plan == 1) & (country == 3))
    )
    label = generator.random(rows) < 1.0 / (1.0 + np.exp(-logit))
    return {
        "plan": np.asarray(PLANS)[plan],
        "country": np.asarray(MARKETS)[country],
        "months": months.astype(np.int16),
        "used": used,
        "label": label.astype(np.int8),
    }


def subscribers() -> Frame:
    """Logistic regression on plan, country, months and use, which adds up what they do."""
    training_stream, scored_stream = np.random.SeedSequence([SEED, 13]).spawn(2)
    training = subscriptions(np.random.default_rng(training_stream), SUBSCRIBER_TRAINING_ROWS)
    scored = subscriptions(np.random.default_rng(scored_stream), SUBSCRIBER_ROWS)
    model = LogisticRegression(C=1.0, max_iter=1_000)
    model.fit(_subscriber_features(training), training["label"])
    return {
        "id": np.arange(SUBSCRIBER_ROWS, dtype=np.int32),
        "score": np.round(model.predict_proba(_subscriber_features(scored))[:, 1], 4),
        "label": scored["label"],
        **{name: scored[name] for name in ("plan", "country", "months")},
    }


def _subscriber_features(frame: Frame) -> npt.NDArray[np.float64]:
    flags = [frame["plan"] == one for one in PLANS] + [frame["country"] == one for one in MARKETS]
    numbers = [np.minimum(frame["months"].astype(np.float64), 60.0) / 10.0, frame["used"]]
    return np.column_stack([*flags, *numbers]).astype(np.float64)


def portfolio(year: int) -> Frame:
    """Loans by rating grade, month after month; the scores are those of a master scale."""
    generator = np.random.default_rng(np.random.SeedSequence(SEED, spawn_key=(year,)))
    month = np.repeat([f"{year}-{number:02}" for number in range(1, 13)], PORTFOLIO_MONTHLY_ROWS)
    grade = generator.choice(len(GRADES), month.size, p=GRADE_SHARE[year - 2023])
    truth = np.asarray(GRADE_TRUTH)[grade]
    odds = truth / (1.0 - truth) * np.where(month >= DOWNTURN, DOWNTURN_ODDS, 1.0)
    return {
        "id": np.arange(month.size, dtype=np.int32) + month.size * (year - 2023),
        "month": month,
        "grade": np.asarray(GRADES)[grade],
        "pd": np.asarray(GRADE_PD)[grade],
        "default": (generator.random(month.size) < odds / (1.0 + odds)).astype(np.int8),
    }


def forecasts() -> Frame:
    """Simulated days with the chance of rain that several forecasts give, and one that says yes or no."""
    generator = np.random.default_rng([SEED, 11])
    season = 0.3 + 0.15 * np.cos(2.0 * np.pi * np.arange(FORECAST_DAYS) / 365.0)
    known = np.log(season / (1.0 - season)) + 1.4 * generator.standard_normal(FORECAST_DAYS)
    frame: Frame = {
        "day": np.arange(1, FORECAST_DAYS + 1, dtype=np.int32),
        "climatology": np.round(season, 3),
    }
    for name, (slope, shift, noise) in FORECASTS.items():
        logit = shift + slope * known + noise * generator.standard_normal(FORECAST_DAYS)
        frame[name] = np.round(np.clip(1.0 / (1.0 + np.exp(-logit)), 0.001, 0.999), 3)
    frame["fc_yes_no"] = (frame["fc_ensemble"] >= 0.5).astype(np.int8)
    frame["rain"] = (generator.random(FORECAST_DAYS) < 1.0 / (1.0 + np.exp(-known))).astype(np.int8)
    return frame


def answers() -> Frame:
    """Simulated answers of three language models to the same questions, with what each said of its own."""
    generator = np.random.default_rng([SEED, 12])
    hard = generator.standard_normal(QUESTIONS)
    columns: dict[str, list[Column]] = {"model": [], "question": [], "confidence": [], "correct": []}
    for name, (right, sure) in MODELS.items():
        chance = 1.0 / (1.0 + np.exp(-(np.log(right / (1.0 - right)) - 1.2 * hard)))
        felt = np.log(sure / (1.0 - sure)) - 0.6 * hard + 0.5 * generator.standard_normal(QUESTIONS)
        columns["model"].append(np.full(QUESTIONS, name))
        columns["question"].append(np.arange(1, QUESTIONS + 1, dtype=np.int32))
        columns["confidence"].append(np.clip(np.round(1.0 / (1.0 + np.exp(-felt)), 2), 0.01, 0.99))
        columns["correct"].append((generator.random(QUESTIONS) < chance).astype(np.int8))
    frame = {name: np.concatenate(parts) for name, parts in columns.items()}
    frame["said"] = np.array(list(map(in_words, frame["confidence"].tolist())))
    return frame


def in_words(confidence: float) -> str:
    """How sure somebody says to be: in words where there are some, else in per cent."""
    return next((word for word, least in SAID.items() if confidence >= least), f"{confidence:.0%}")


def write_csv(frame: Frame, path: Path) -> None:
    """Floats in their shortest form that reads back to the same bits, lines ended by a newline."""
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(frame)
        writer.writerows(zip(*(column.tolist() for column in frame.values()), strict=True))


_REPEATED = ("group", "weight", "country", "device", "plan", "months", "month", "grade", "pd")


def write_parquet(frame: Frame, path: Path) -> None:
    """Several row groups, fixed options, nothing that depends on the day."""
    columns = {
        name: pa.array(column.tolist() if column.dtype.kind == "U" else column)
        for name, column in frame.items()
    }
    pq.write_table(
        pa.table(columns),
        path,
        row_group_size=PARQUET_ROW_GROUP,
        compression="zstd",
        compression_level=9,
        use_dictionary=[name for name in _REPEATED if name in frame],
        version="2.6",
    )


def write_halves(frame: Frame, directory: Path, name: str, suffix: str) -> None:
    """Write the calibration and the evaluation half of one data set."""
    write = write_csv if suffix == "csv" else write_parquet
    calibration, evaluation = halves(frame["label"].size)
    for part, rows in (("calibration", calibration), ("evaluation", evaluation)):
        path = directory / f"{name}_{part}.{suffix}"
        write({column: values[rows] for column, values in frame.items()}, path)
        print(f"{path}: {rows.size:,} rows, {path.stat().st_size:,} bytes")


def main(directory: Path) -> None:
    """Make every file."""
    directory.mkdir(parents=True, exist_ok=True)
    with threadpool_limits(limits=1):
        write_halves(breast_cancer(), directory, "breast_cancer", "csv")
        write_halves(digits(GaussianNB()), directory, "digits_naive_bayes", "parquet")
        forest = RandomForestClassifier(n_estimators=100, n_jobs=1, random_state=SEED)
        write_halves(digits(forest), directory, "digits_forest", "csv")
        write_halves(churn(), directory, "churn", "parquet")
        write_halves(loans(), directory, "loans", "parquet")
        write_halves(subscribers(), directory, "subscribers", "parquet")
    write_csv(forecasts(), directory / "forecasts.csv")
    write_csv(answers(), directory / "answers.csv")
    for year in (2023, 2024):
        write_parquet(portfolio(year), directory / f"portfolio_{year}.parquet")


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent)
