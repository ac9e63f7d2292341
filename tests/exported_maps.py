"""Fitted maps that tests of exports write down, and the scores that they ask them about."""

from dataclasses import replace
from functools import cache

import numpy as np
import pandas as pd
import pyarrow as pa

import calibcli
from calibcli.commands.predicting import ScorePredictor
from calibcli.commands.through_maps import map_columns
from calibcli.data.class_intake import on_class_scale
from calibcli.data.columns import ResolvedColumns
from calibcli.data.fields import on_scale
from calibcli.data.groups import groups_of
from calibcli.documents.artifact import (
    Artifact,
    ClassArtifact,
    ClassFitRecord,
    FitRecord,
    GroupArtifact,
    SegmentArtifact,
    Shared,
)
from calibcli.names import BetaForm, Binning, ClassMethod, OnUnseen, RecalibratorName, Scale, SqlDialect
from calibcli.options.fitting import FitOptions
from calibcli.options.rows import Columns
from calibcli.stats.recalibrators import fit_recalibrator
from calibcli.stats.recalibrators.newton import logit
from calibcli.stats.table import ScoreTable
from fits_of_classes import drawn, fitted

R = RecalibratorName
MAPS: dict[str, tuple[R, FitOptions]] = {
    **{name.value: (name, FitOptions()) for name in R},
    "beta am": (R.BETA, FitOptions(form=BetaForm.AM)),
    "beta ab": (R.BETA, FitOptions(form=BetaForm.AB)),
    "histogram": (R.HISTOGRAM, FitOptions(bins=12)),
    "histogram width": (R.HISTOGRAM, FitOptions(bins=100, binning=Binning.EQUAL_WIDTH)),
    "scaling-binning": (R.SCALING_BINNING, FitOptions(bins=8)),
    "scaling-binning quadratic": (R.SCALING_BINNING, FitOptions(bins=8, base=R.QUADRATIC)),
    "scaling-binning spline": (R.SCALING_BINNING, FitOptions(bins=8, base=R.SPLINE)),
    "scaling-binning smooth": (R.SCALING_BINNING, FitOptions(bins=8, base=R.SMOOTH)),
    "scaling-binning isotonic": (R.SCALING_BINNING, FitOptions(bins=8, base=R.ISOTONIC)),
    "isotonic step": (R.ISOTONIC, FitOptions(step=True)),
    "venn-abers cross": (R.VENN_ABERS, FitOptions(folds=4)),
}
# Every map of probabilities, and of every sort one for each other scale.
KINDS_AND_SCALES = [
    *((kind, Scale.PROB) for kind in MAPS),
    *(
        (kind, scale)
        for scale in (Scale.LOGIT, Scale.LOGPROB)
        for kind in ("identity", "beta", "quadratic", "histogram", "isotonic", "venn-abers", "smooth")
    ),
    ("beta", Scale.PERCENT),
    ("isotonic", Scale.PERCENT),
]
AWKWARD = [0.0, 5e-324, 1e-300, 2.0**-53, 0.1, 0.3, 0.5, 0.7, 1.0 - 2.0**-53, 1.0]
CLASS_SCORES = ("p_ant", "p_bee", "p_cat")
# The maps of several classes, and of one score within them.
CLASS_MAPS: dict[str, tuple[ClassMethod, R]] = {
    **{
        method.value: (method, R.PLATT)
        for method in (
            ClassMethod.TEMPERATURE,
            ClassMethod.VECTOR,
            ClassMethod.STRUCTURED,
            ClassMethod.MATRIX,
        )
    },
    **{
        f"{method.value} {inner.value}": (method, inner)
        for method in (
            ClassMethod.CONFIDENCE,
            ClassMethod.TOP_LABEL,
            ClassMethod.ONE_VS_REST,
            ClassMethod.ONE_VS_ONE,
        )
        for inner in (R.PLATT, R.HISTOGRAM, R.VENN_ABERS)
    },
}


@cache
def raw_scores(scale: Scale) -> np.ndarray:
    """Scores of fit rows on a scale, some of them tied, certain or in a corner."""
    rng = np.random.default_rng(5)
    probability = np.concatenate((rng.beta(0.4, 0.6, 250), np.repeat(rng.random(20), 3), [0.0, 1.0, 1e-9]))
    if scale is Scale.LOGIT:
        return rng.normal(size=probability.size) * 3.0
    if scale is Scale.PERCENT:
        return 100.0 * probability
    return probability if scale is Scale.PROB else -rng.exponential(size=probability.size)


@cache
def one_map(kind: str, scale: Scale = Scale.PROB) -> Artifact:
    """A map of one score, fitted to rows on a scale."""
    method, options = MAPS[kind]
    scores = on_scale(raw_scores(scale), scale)
    labels = np.random.default_rng(6).random(scores.size) < 0.1 + 0.7 * scores**1.7
    table = ScoreTable.from_rows(scores, labels)
    recalibrator = fit_recalibrator(method, table, options=options)
    return Artifact(recalibrator, FitRecord.of(recalibrator, table, options={}, losses=(0.6, 0.5)), scale)


def asked_scores(artifact: Artifact) -> np.ndarray:
    """The fit scores with their neighbours, awkward ones, and others at random."""
    rng, scale = np.random.default_rng(7), artifact.scale
    own = raw_scores(scale)
    near = np.concatenate((own, np.nextafter(own, -1e9), np.nextafter(own, 1e9)))
    if scale is Scale.LOGIT:
        return np.concatenate((near, rng.normal(size=300) * 10.0, [-800.0, -740.0, 740.0, 800.0, 0.0, -0.0]))
    if scale is Scale.LOGPROB:
        return np.concatenate(
            (np.minimum(near, 0.0), -rng.exponential(size=300) * 9, [-800.0, 2.0**-53, 0.0])
        )
    if scale is Scale.PERCENT:
        return np.concatenate((np.clip(near, 0.0, 100.0), 100.0 * np.array(AWKWARD), 100.0 * rng.random(300)))
    return np.concatenate((np.clip(near, 0.0, 1.0), AWKWARD, rng.random(300), rng.random(50) ** 40))


def wanted(artifact: Artifact, scores: np.ndarray) -> list[np.ndarray]:
    """What `apply` writes: the probability, and its ends where the map has them."""
    probability = on_scale(scores, artifact.scale)
    recalibrator = artifact.recalibrator
    found = [recalibrator.predict(probability)]
    return [*found, *recalibrator.ends(probability)] if recalibrator.brackets else found


GROUPS = ("DE", "it's", "back\\slash", '"; DROP TABLE predictions; --', "${x} {{y}}", "(missing)", "é ✓")

# Whatever Python takes off a text, as `apply` does.
BLANKS = "".join(one for one in map(chr, range(1 << 14)) if one.isspace())


@cache
def group_map(kind: str, scale: Scale = Scale.PROB, groups: tuple[str, ...] = GROUPS) -> GroupArtifact:
    """A map for each group, other for each, and one of all rows that a small group shares."""
    pooled = one_map(kind, scale)
    scores = on_scale(raw_scores(scale), scale)
    members = {}
    for place, group in enumerate(groups):
        labels = np.random.default_rng(20 + place).random(scores.size) < scores ** (0.4 + 0.3 * place)
        table = ScoreTable.from_rows(scores, labels)
        method, options = MAPS[kind]
        one = fit_recalibrator(method, table, options=options)
        members[group] = Artifact(one, FitRecord.of(one, table, options={}, losses=(0.6, 0.5)), scale)
    return GroupArtifact("country", pooled, members, {"LU": Shared(10, "fewer than 100 rows")})


def asked_groups(artifact: GroupArtifact, *, pooled: bool) -> tuple[np.ndarray, np.ndarray, list[np.ndarray]]:
    """Scores, the group of each, and what `apply` makes of them: NaN where it refuses a group."""
    scores = np.tile(asked_scores(artifact.pooled)[::9], 3)
    known = (*artifact.members, *artifact.shared)
    texts = (*known, "strange", "de", "", "  DE", "LU\n ", "\xa0it's\u3000", "\u3000", f"{BLANKS}DE{BLANKS}")
    groups = np.array([None, *texts], dtype=object)[np.arange(scores.size) % (len(texts) + 1)]
    found = groups_of(pa.array(groups, pa.string())).filled()
    requested = Columns(scale=artifact.pooled.scale, member=map_columns(artifact, OnUnseen.POOLED))
    chosen = ResolvedColumns(requested, "score", None, members=("by",))
    predictor = ScorePredictor(artifact, chosen, shown="rows", checked=False)
    batch = pa.record_batch({"score": pa.array(scores), "by": pa.array(groups, pa.string())})
    expected = [np.array(one) for one in predictor(batch)]
    strange = np.array([text not in artifact.known for text in found.text])[found.code]
    assert strange.any()
    for one in expected:
        one[strange & (not pooled)] = np.nan
    return scores, groups, expected


@cache
def class_map(kind: str, scale: Scale = Scale.PROB, classes: tuple[str, ...] | None = None) -> ClassArtifact:
    """A map of three classes."""
    method, inner = CLASS_MAPS[kind]
    rows = drawn(3, rows=1_500)
    recalibrator = fitted(method, rows, inner)
    record = ClassFitRecord(1_500, (500, 500, 500), f"sha256:{'0' * 64}", {}, 1.0, 0.9, 0.5, 0.5, 0)
    return ClassArtifact(recalibrator, record, classes or rows.classes, scale)


def asked_rows(scale: Scale) -> np.ndarray:
    """Rows of three classes on a scale: in corners, even, nearly certain and at random."""
    rng = np.random.default_rng(8)
    rows = np.vstack(
        (
            np.eye(3),
            np.full((1, 3), 1.0 / 3.0),
            [[0.5, 0.5, 0.0], [1.0 - 1e-12, 1e-12, 0.0], [1.0, 1e-30, 1e-300], [5e-324, 1e-17, 1.0]],
            rng.dirichlet(np.full(3, 0.2), 120),
            rng.dirichlet(np.full(3, 100.0), 40),
        )
    )
    if scale is Scale.LOGIT:
        return rng.normal(size=rows.shape) * 5.0
    if scale is Scale.PERCENT:
        return 100.0 * rows
    return rows if scale is Scale.PROB else np.log(np.maximum(rows, 1e-200))


def wanted_rows(artifact: ClassArtifact, scores: np.ndarray) -> np.ndarray:
    """What `apply` writes for each class."""
    return artifact.recalibrator.predict(on_class_scale(scores, artifact.scale))


@cache
def many_map(kind: str, scale: Scale, count: int) -> ClassArtifact:
    """A map of more classes than expressions are short for."""
    method, inner = CLASS_MAPS[kind]
    names = tuple(f"c{place}" for place in range(count))
    # What has a step at every score has enough of them sooner.
    each = 8 if kind.endswith("venn-abers") else 100
    rows = replace(drawn(0, rows=each * count, classes=count), classes=names)
    record = ClassFitRecord(100, (100,) * count, f"sha256:{'0' * 64}", {}, 1.0, 0.9, 0.5, 0.5, 0)
    return ClassArtifact(fitted(method, rows, inner), record, names, scale)


def many_rows(count: int, scale: Scale) -> np.ndarray:
    """Rows of many classes: certain, even and at random."""
    rng = np.random.default_rng(8)
    some = [rng.dirichlet(np.full(count, spread), 20) for spread in (0.05, 0.2, 100.0)]
    rows = np.vstack((np.eye(count)[:4], np.full((1, count), 1.0 / count), *some))
    if scale is Scale.LOGIT:
        return rng.normal(size=rows.shape) * 5.0
    if scale is Scale.PERCENT:
        return 100.0 * rows
    return rows if scale is Scale.PROB else np.log(np.maximum(rows, 1e-200))


# Names of columns that are SQL, or are special somewhere.
HOSTILE = [
    'x"; DROP TABLE predictions; --',
    "a`b",
    "it's",
    "*/ 1 /*",
    "$(id)",
    "back\\slash",
    "{{ x }}",
    ":x",
    "é ✓",
]

# Systems that are not here, whose queries are executed in DuckDB by their rules.
ELSEWHERE = [
    SqlDialect.BIGQUERY,
    SqlDialect.SNOWFLAKE,
    SqlDialect.TRINO,
    SqlDialect.REDSHIFT,
    SqlDialect.TSQL,
]

# Maps whose expressions would be too long, so that they are worked out in lists.
MANY = [
    *((kind, Scale.PROB, 8) for kind in ("vector", "matrix", "one-vs-rest platt")),
    ("one-vs-rest venn-abers", Scale.LOGIT, 6),
    ("matrix", Scale.LOGPROB, 8),
    ("temperature", Scale.LOGIT, 24),
    ("confidence platt", Scale.PROB, 5),
    ("top-label histogram", Scale.LOGIT, 5),
    ("one-vs-one platt", Scale.PROB, 5),
]


@cache
def segment_map() -> SegmentArtifact:
    """Return a map by a column of text, one of truth, one of codes and one of other numbers, with gaps."""
    rng = np.random.default_rng(7)
    many = 6_000
    frame = pd.DataFrame({"score": rng.beta(0.8, 1.2, many)})
    frame["word"] = rng.choice(["it's", "a\\b", "DE", "7", None], many)
    frame["truth"] = rng.random(many) < 0.5
    frame["code"] = rng.integers(0, 4, many)
    frame["size"] = np.where(rng.random(many) < 0.1, np.nan, rng.normal(size=many))
    t = logit(frame["score"].to_numpy()) + 0.8 * (frame["word"] == "DE")
    t -= 0.9 * (frame["truth"] & (frame["code"] == 2))
    t += 0.5 * np.nan_to_num(frame["size"]) + 0.4 * (frame["word"].isna() & frame["truth"])
    frame["label"] = (rng.random(many) < 1.0 / (1.0 + np.exp(-t))).astype(int)
    on = ["word", "truth", "code", "size"]
    found = calibcli.fit(frame, score="score", label="label", method="segments", on=on).artifact
    assert isinstance(found, SegmentArtifact)
    assert found.recalibrator.terms
    return found


def segment_rows() -> pd.DataFrame:
    """Return rows to ask such a map about: every value, gaps, blanks, ends of cuts, new values."""
    cuts = segment_map().recalibrator.columns[3].numbers
    sizes = [*cuts, *np.nextafter(cuts, 9.0), -50.0, 50.0, np.nan]
    words = ["it's", "a\\b", "DE", " DE ", "7", None, "", "strange", "\u3000it's\n"]
    many = 5 * len(sizes)
    return pd.DataFrame(
        {
            "score": np.resize([0.0, 1e-9, 0.2, 0.5, 0.77, 1.0 - 1e-9, 1.0], many),
            "word": np.resize(np.array(words, dtype=object), many),
            "truth": np.resize([True, False, False], many),
            "code": np.resize([0.0, 1.0, 2.0, 3.0, 4.0, np.nan, 2.5], many),
            "size": np.resize(sizes, many),
        }
    )


def text_rows() -> pd.DataFrame:
    """Return rows whose numbers are text, in the fit's words or not, and text that is no number."""
    odd = ["7", "7.0", " +7 ", "007", "2", "2e0", ".5", "-1.", "inf", "abc", "", "  ", "1_000", "0x7", None]
    odd += ["7,0", "1d", "true", "DE", "7\t", "\u00a07\u2003"]
    usual = {"score": 0.4, "word": "DE", "truth": True, "code": "1", "size": "0.25"}
    return pd.DataFrame([{**usual, name: one} for name in ("word", "code", "size") for one in odd])
