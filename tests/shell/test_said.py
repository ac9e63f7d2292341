"""What a line says of rows, in one table: words that are true of them, and words that are not.

A line that is refused and reads no rows of its own is a row of `test_refusals.py`, and what `inspect` says of
`test_inspect.py`.
"""

import re
import shlex
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from command_line import Make, Run, in_csv
from score_rows import scored

Columns = dict[str, np.ndarray]

ONE = ("score,label", ".3,1")
SURE = ("score,label", *("0,0",) * 5)
TWO = ("score,label,site", ".3,1,a", ".6,0,b")
RIGHT, WRONG = (("score,label", *(f"{k / 50},{label}" for k in range(1, 50))) for label in (1, 0))
PERFECT, BLIND = ("score,label", *("0,0", "1,1") * 200), ("a,b,c,label", ".1,.2,.3,0")
NEAR = ("score,label", ".00005,0", *(f".{k},{k % 2}" for k in range(11, 60)))
STEPS = ("score,label", *(f".25,{int(k < 251)}\n.75,{int(k < 750)}" for k in range(1000)))
MANY = ("a,b,c,label", *(f"{k / 200},{k / 200},{1 - k / 200},{int(k % 7 < k / 30)}" for k in range(1, 200)))
SURE_OF_ONE = ("a,b,label", "0,0,0", *(f".{k},.{k + k % 3 - 1},{k % 2}" for k in range(11, 90)))
MONTHS = ("score,month", *(f".{k},{month}" for month in (1, 2) for k in range(1, 4 + month)))
OFF = (
    "score,label,site",
    *(f".5,{int(k % 10 < rate)},{name}" for k in range(300) for name, rate in (("a", 8), ("b", 2))),
)
FINE = ("pd,default,g", *(f"0.05,{int(k % 20 == 7)},{'ab'[k % 300 < 140]}" for k in range(300)))
LOANS = (
    "pd,default,loan,g",
    *(f"{(k % 2 + 1) / 10},{int(k % 4 == 3)},{k % 40},{'ab'[k % 2]}" for k in range(400)),
)
FLAT = zip(*scored(500, lambda score: 0.5 + 0.4 * (score - 0.5)), strict=True)
SITES = ("score,label,site", *(f"{one},{int(label)},{'ab'[k % 2]}" for k, (one, label) in enumerate(FLAT)))
FEW_OF_ONE = (
    "score,label,g",
    *(f"0.{k % 90 + 10},{k % 2},{'few' if k < 40 else 'many'}" for k in range(900)),
)
BOTH, NONE = (("score,label", *(f"0.{k:03d},{k % many}" for k in range(1, 900))) for many in (2, 1))
ONE_EVENT = ("score,label", *(f"{k / 20},{int(k == 7)}" for k in range(20)))
GAINLESS = ("score,label", *("0.001,0",) * 150, *("0.999,1",) * 50)
CLIPPED = ("score,label", "1.005,0", "0.5,1", "0.2,0", "0.7,1")
GRADES = ("pd,default", *("0.001,0",) * 300, *(f"0.02,{int(k % 50 < 2)}" for k in range(300)))
GRADED = ("pd,default,grade", *("0.1,0,A",) * 180, *("0.1,1,A",) * 20, *("0.2,1,B",) * 200)
SCALE = {"0.25": 1, "0.5": 2, "1": 4, "2": 8, "10": 40}
OF_SCALE, IN_CRISIS = (
    ("pd,default", *(f"{pd},{int(row < times * some)}" for pd, some in SCALE.items() for row in range(400)))
    for times in (1, 5)
)
EMPTY, RARE = (
    ("score,label", *("0.2,1", "0.3,", "0.1,") * 60),
    ("score,label", *("0.001,0",) * 200, *(",0",) * 3),
)
HALVES = ("score,label,half", *(f"{0.3 + k * 1e-7},{k % 7 < 3:d},{'ab'[k % 2]}" for k in range(1_000)))
VALUES = ("score,label,g", *(f"{0.30001 + (k % 4) * 1e-5},{k % 7 < 3:d},{k % 3}" for k in range(1_000)))
FRAUDS = (
    "score,label",
    *(f"{0.5 if k % 400 == 0 else 0.0005},{k % 800 == 0 or k < 4:d}" for k in range(10_000)),
)
DAYS = ("good,few,y", *("0.5,,0", "0.5,,1", "0.1,0.2,0") * 60)
# Scores a, b and c of four weeks: each once certain and wrong, or none of them.
WEEKS = ("a,b,c,week,y", *("1,1,1,1,0", "0.5,0.6,0.7,2,1") * 30)
UNSURE = (
    "a,b,c,week,y",
    *(
        f"{0.2 + y / 2},{0.3 + y / 4},0.4,{week},{y}"
        for y, week in ((0, 1), (1, 2), (0, 3), (1, 4))
        for _ in range(30)
    ),
)
OF_CLASSES = (
    "p_a,p_b,p_c,label",
    *(
        f"{row},{one}"
        for row, labels in ((".6,.3,.1", "aaaaaabbbb"), (".3,.6,.1", "bbbbbbaaaa"))
        for one in labels * 40
    ),
)
WEIGHTED = ("score,label,n", "0.3,1,2", "0.7,1,1", "0.2,0,3")
PHRASES = ("score,label", *(f"about 0.{k},{i % 2}" for k in range(1, 9) for i in range(20)))
LIKELY = ("score,label", *("85%,1", "likely,0", "85%,1") * 20, *("likely,1", "85%,0", "likely,1") * 20)
SMALL = ("score,label", *(f"{(1 + k % 499) / 10_000!r},{k % 40 // 39}" for k in range(4_000)))
MOST, WIDE = ((*SMALL, *("0.5,1",) * rows) for rows in (40, 41))
SAME = ("score,label", *("0.02,0",) * 99, "0.02,1")
HEAVY = ("score,label,w", *(f"{one},1" for one in SMALL[1:10]), "0.01,0,5000", *("0.9,1,1",) * 9)
# What looks at labels beside scores, and where it speaks.
LOOKING = (("measure -m ece", "0 out"), ("verify --max-ece 0.9", "0 out"), ("fit -m platt", "0 err"))
FITTED_CLASSES = "fit --probs p_* --multiclass structured -o map.json"
COMPARED, IN_PAIRS = "compare -s a -s b -s c -y y", "compare -s good -s few -y y --on-missing pairwise"
OF_BOTH = "Each difference uses only the rows that both have, and they say which is the best; "
LIMITS = "--max-ece 0.02 --max-ece 0.9 --where score>0 --where score<1"
HARD = "every score is 0 or 1, like predicted labels"
HUNDREDTH = "events are a hundredth of what the scores expect: --scale percent reads 0.4 as 0.4 %"
OF_PREDICTED = "scores of 1/2 and more are confidences, whose label is whether the predicted class is right?"
ANSWER = "0 answer"
CERTAIN = "1 row gave probability 0 to the right class or 1 to another."
NO_BETTER = "the score tells label 1 from others no better than chance (AUROC 0.5"
KNOWS = "every row of label 1 has a higher score than any other (AUROC 1)"
REVERSED = "the outcome coded in reverse? --positive names the value that is label 1"
ONE_BIN = "all rows lie in one of 15 equal-width bins, where errors up and down cancel: "
LOWER, CHANCE = "lower where that is the label", "better than chance"
BEST = "most probable class of every"
OF_CLASS_LABELS = {LOWER, CHANCE, BEST, "no label is"}
FEW_WEEKS = "  no interval: 4 clusters, fewer than 20"


def probabilities(
    alpha: Sequence[float], rows: int, *, off: Sequence[float] = (0.0,), seed: int = 0
) -> Columns:
    """Draw probabilities of classes, and labels that come more often than these say by what they are off."""
    rng = np.random.default_rng(seed)
    stated = rng.dirichlet(alpha, rows)
    true = stated + np.array(off)
    label = (rng.random(rows)[:, None] > (true / true.sum(1, keepdims=True)).cumsum(1)).sum(1)
    return {f"p_{name}": one for name, one in zip("abcde", stated.T, strict=False)} | {
        "label": np.array(list("abcde"))[label]
    }


def _numbers() -> dict[str, Columns]:
    """Draw scores and labels."""
    rng, at = np.random.default_rng(8), np.arange(4_000)
    score = rng.beta(1.0, 2.0, 900).round(4)
    label, hard, even = rng.random(900) < score, score > 0.5, rng.uniform(0.2, 0.8, 4_000)
    percent, part = rng.choice([0.03, 0.1, 0.4], 8_000), at % 2
    event, grades, other = rng.random(8_000) < percent / 100.0, at // 200, score.copy()
    other[3] = 0.5
    other_rng, tens = np.random.default_rng(11), np.repeat(np.arange(10), 200)
    wide = other_rng.random(2_000)
    right, bad = other_rng.random(2_000) < wide, tens < 5
    sure = np.where(bad, np.round(wide), wide) * 0.98 + 0.01
    kept = np.repeat(np.arange(510), 30)
    ends = np.tile(np.arange(30) % 5 < 2, 510) & (kept > 0)
    smooth = 0.9 * np.pad(rng.dirichlet([0.2] * 4, 2_000), ((0, 0), (0, 1))) + 0.02
    choice = (rng.random((2_000, 1)) > smooth[:, :4].cumsum(axis=1)).sum(axis=1).clip(0, 3)
    impossible = probabilities([1.0] * 4, 500)
    for name, first in zip("abcd", (0.0, 0.0, 0.5, 0.5), strict=True):
        impossible[f"p_{name}"][0] = first
    impossible["label"][0] = "a"
    animals = probabilities([0.6] * 3, 600, seed=9)
    best = np.array(list("abc"))[np.stack([animals[f"p_{name}"] for name in "abc"]).argmax(axis=0)]
    rows, known = np.arange(200), np.where(np.arange(200) >= 150, 0.97, 0.02) + np.arange(200) / 1e4
    risk, cohort = scored(400, seed=2)
    return {
        "turned": {"s": score, "flat": 0.33 + score / 100.0, "y": label, "other": np.roll(label, 7)},
        "known": {
            "s": known,
            "torn": np.where(rows == 3, 0.999, known),
            "y": rows >= 150,
            "rare": rows >= 191,
        },
        "cohort": {"risk": risk, "chance": 1.0 - risk, "outcome": np.where(cohort, "died", "lived")},
        "copies": {f"s_{place}": score for place in range(5)} | {"label": label},
        "swapped": animals | {"p_a": animals["p_b"], "p_b": animals["p_a"]},
        "best": animals | {"label": best},
        "without c": {key: one[animals["label"] != "c"] for key, one in animals.items()},
        "moved": animals | {"label": np.roll(animals["label"], 1)},
        "largest": {f"p_{name}": 0.6 * animals[f"p_{name}"] for name in "abc"}
        | {"p_max": np.full(600, 0.4), "label": animals["label"]},
        "heavy": animals | {"w": np.where(animals["label"] == "a", 2.0, 1.0)},
        "uneven": animals | {"w": np.where(animals["label"] == "a", 2.0, np.arange(600) % 2 + 1.0)},
        "light": animals | {"w": np.full(600, 0.3)},
        "customers": {"s": score, "hard": hard, "y": label, "new": score, "other": other},
        "larger": {"s": np.maximum(score, 1.0 - score), "y": label, "right": hard == label},
        "stated": {
            "s": rng.choice([0.7, 0.75, 0.8, 0.85, 0.9, 0.95, 0.99, 1.0], 1_000),
            "y": rng.random(1_000) < 0.6,
        },
        "percent": {"pd": percent, "default": event},
        "share": {"pd": percent / 100.0, "default": event},
        "high": {"pd": np.full(8_000, 0.05), "default": event},
        "certain": {"s": at[:500] % 2},
        "tenths": {"s": at[:500] % 7 / 10},
        "steps": {
            "s": at[1:100] / 100,
            "y": at[1:100] % 3 > 0,
            "site": at[1:100] % 30,
            "w": 1 + at[1:100] % 2,
        },
        "patients": {"s": (at[:200] + 1) / 202, "y": at[:200] % 2, "patient": at[:200]},
        "even": {
            "score": even,
            "coarse": np.round(even, 2),
            "label": rng.random(4_000) < even + 0.1 * part,
            "part": part,
        },
        "few": {"score": np.full(4_000, 1e-4), "label": at == 0, "grade": grades},
        "many": {"score": np.full(4_000, 0.06), "label": (grades == 0) & (at % 2 == 0), "grade": grades},
        "sixty": {"score": np.full(1_800, 0.4), "label": ends[:1_800], "part": kept[:1_800]},
        "most": {"score": np.full(15_300, 0.4), "label": ends, "part": kept},
        "ten": {"score": wide, "label": right, "part": tens},
        "two": {"score": sure, "label": right, "part": bad.astype(int)},
        "animals": animals,
        "smooth": {f"p_{place}": one for place, one in enumerate(smooth.T)} | {"label": choice},
        "impossible": impossible,
        "biased": probabilities([1.0] * 3, 400, off=(0.08, 0.0, 0.0)),
    }


N = _numbers()

# Rows, line, what is said, what is not (on either stream), and how it ends where that is not "0 out": the
# exit code, and where it is said, on a stream or in the answer, which stands above the first blank line. In
# what is said "^" is the beginning, " ... " more of a line, " // " what stands between it and one below, or
# between several that are not said. In a line " && " stands behind a command that is run before, and FILE is
# the rows, which else follow the name of the command.
SAID: list[tuple[Sequence[str] | Columns, str, str, str, *tuple[str, ...]]] = [
    # One row is no rows, what is undefined has no number, and what all did is not sure.
    (ONE, "measure", 'could be shown in this row; // "by chance": about what values', "these 1"),
    (ONE, "measure", "", "90 %"),
    (ONE, "measure -m jeffreys", "This row does not show that scores are too low", "These 1"),
    (ONE, "measure -m ici", "Of one rate for all rows: ici.", "0 knots"),
    (TWO, "measure -m ici", "Of a straight line in log odds: ici.", "2 knots"),
    (ONE, "verify --rule auroc>=0.7", "(undefined; no lower // the only row has label 1", "nan",
        "4 out"),
    (SURE, "verify --rule spiegelhalter.p>=0.05", "(p undefined) // about Spiegelhalter's", "nan",
        "4 out"),
    (TWO, "verify --max-ece 0.1 --by site", "up to 100 % of future rows", "e+02", "4 out"),
    (SURE_OF_ONE, "compare -s a -s b -y label", "clear difference: there are scores of exactly 0 or 1", ""),
    (RIGHT, "measure -m aurc", "Of all rows, at least 90 % have label 1;", ""),
    (WRONG, "measure -m aurc", "At none of twenty cutoffs do 90 % or more of the rows above", ""),
    (NEAR, "measure -m smece_logit,slope",
        "1 row has a score within 0.0001 of 0 or 1 and counts as if 0.0001 from it: it may", "36.7"),
    (STEPS, "fit --method platt -o /dev/null --force", "The log loss stays at 0.5629 on the fit rows.", "",
        "0 err"),
    (MANY, "measure -s a -s b -s c -m brier", "c is worse than a; b is not clearly different from a.", ""),
    (MANY, "compare -s a -s b -w c --weights-are importance --reference a", "weight=c", ""),
    (MONTHS, "drift --by month", "is empty on one side,", "in one file"),
    (ONE, "plan --max-ece 0.9", "give or take 1.2 percentage // 100 rows, as many.", "rows half of"),
    (ONE, "inspect", "(the only row has label 1)", "1 rows"),
    (PERFECT, "measure -m ici,emax", "No miscalibration could be shown in these 400 rows;", ""),
    (PERFECT, "measure -m clinical", " No error is shown.\nStrong", "departs from the diagonal"),
    (BLIND, "compare -s a -s b -s c --reference a --fail-if-worse -m brier",
        "Without an interval, and so no part of this verdict: b and c by Brier score.", ""),
    # A rule on a p-value said that it was below 1e-300, and `measure` 0 of the same rows.
    (("score,label", *("0.5,0", "0.5,1") * 100, "1.0,0"), "verify --rule hl.p>=0.05",
        "FAIL  hosmer_lemeshow.p >= 0.05  (p = 0 (contradiction))", "", "1 out"),
    # Grades without an event get a rate of 0, by a map of steps; a line is sure of nothing.
    (GRADES, "fit -o /dev/null --force -m isotonic",
        "300 of the fit rows get 0: a new row there with the other label has an infinite log loss.", "",
        "0 err"),
    (GRADES, "fit -o /dev/null --force -m intercept", "", "of the fit rows get"),
    (("pd,default", "0.1,0", "0.2,1", "0.2,0"), "fit -o /dev/null --force -m isotonic",
        "1 of the fit rows gets 0: a new row", "", "0 err"),
    # Where the loss rises on the fit rows a map promises nothing; of no repair there is nothing to expect.
    (GAINLESS, "fit -m platt -o /dev/null --force",
        "The log loss rises  // The map gains nothing on these rows; ", "gain less", "0 err"),
    (GAINLESS, "fit -m identity -o /dev/null --force", "The log loss stays ", "gain", "0 err"),
    # Three frauds in 10,000 rows settle no log loss, and what they do settle holds approximately.
    (FRAUDS, "verify --rule log_loss<=0.007",
        "^INCONCLUSIVE // too few large errors for a reliable interval (about 3; 40 needed)", "", "4 out"),
    (FRAUDS, "verify --rule log_loss<=0.02", "^PASS ... at approximately 95 % confidence", "INCONCLUSIVE"),
    (FRAUDS, "verify --rule log_loss<=0.02",
        "a wrong PASS has a probability of at most approximately 5 %", ""),
    # A row that clipping made certain and wrong is counted as one row, and it is said why.
    (CLIPPED, "measure --on-range clip -m log_loss", "1 row gave probability 0 to what happened", ""),
    (CLIPPED, "measure --on-range clip -m log_loss",
        "clip made 1 score exactly 0 or 1: one such score that is wrong makes log loss infinite", ""),
    (CLIPPED, "measure --on-range clip -m brier", "", "makes log loss infinite"),
    (("score,label,part", *("0,0,a", "1,1,a") * 200, "1,0,a", "0.5,1,b"), "segments --on part",
        "^1 row gave probability 0 to what happened.\n", ""),
    # Groups: errors of two that cancel are none of all rows together, and are shown.
    (OFF, "measure --by site", "^No miscalibration could be shown over all 600 rows;", ""),
    (OFF, "measure --by site", "Both groups are shown to be miscalibrated, above all", ""),
    # Whoever asks by grade is answered by grade; without an ECE nothing was said of groups that are fine.
    *(
        (FINE, f"measure --by g -m {asked}", f"Of 2 groups none by itself is shown {said}", "", ANSWER)
        for asked, said in (
            ("oe,binomial", "to be miscalibrated by O/E ratio or binomial test."),
            ("binomial", "to have scores that are too low, by binomial test."),
            # One score has no slope.
            ("clinical", "to be miscalibrated by O/E ratio or calibration intercept (CITL)."),
        )
    ),
    # Jeffreys' calls right scores wrong too often where few events are expected, and the table may show that.
    *((FINE, f"measure --by g -m {asked}", "", "Of 2 groups none") for asked in ("brier,auroc", "jeffreys")),
    # Lights without a light, and a reason that sends to a column which has none.
    (LOANS, "measure --by g -m jeffreys,oe,brier_mcb", "Lights (Tasche 2003)", ""),
    (LOANS, "measure --by g -m jeffreys,oe,brier_mcb --cluster loan", "the isotonic fit follows the noise\n",
        "Lights (Tasche 2003)"),
    # The noise of all bins drowns what one of them shows.
    (SITES, "measure --by site -m ece,linf",
        "By maximum calibration error, scores are miscalibrated in site=a and site=b; all at once",
        "none by itself"),
    # Where a group is below --min-rows the page names --min-group-rows, which leaves it out.
    (FEW_OF_ONE, "verify --max-ece 0.9 --by g",
        "INCONCLUSIVE // --min-group-rows N leaves groups of fewer than N rows out", "", "4 out"),
    (FEW_OF_ONE, "verify --max-ece 0.9 --by g --min-group-rows 100",
        "1 group of fewer than 100 rows (--min-group-rows) is not tested: g few (40)", "leaves groups"),
    (GRADED, "verify --by grade --rule oe<=1.2",
        "grade=A ... INCONCLUSIVE ... the bounds lie on both sides of 1.2\n", "", "1 out"),
    # Bins that would cut cells, and values that a grid does not keep apart, are refused with the group.
    (HALVES, "verify --max-ece 0.1 --by half --bins 11 --memory 1B",
        "would cut the cells that scores of groups are rounded to in memory (half=a)", "", "2 err"),
    (VALUES, "verify --max-ece 0.5 --by g --memory 1342B",
        "are rounded to fit in memory: they cannot be bins (g=0)", "", "2 err"),
    # Classes that take from each other leave the largest probability as it is, and their intervals do not.
    (OF_CLASSES, "measure --probs p_* -y label",
        "^No miscalibration of the largest probability could be shown in these 800 rows;", ""),
    (OF_CLASSES, "measure --probs p_* -y label",
        "All 3 classes against the rest are shown to be miscalibrated, above all class c,", ""),
    (("p_0,p_1,p_2,label", "0.2,0.7,0.1,1"), "measure",
        "name it with --score, or several classes with --probs 'p_*'", "", "3 err"),
    (("one,two,label", "0.2,0.8,1"), "measure", "name it with --score", "--probs", "3 err"),
    # A test that rejects in one of ten calibrated groups is one look of five; a group far off is shown.
    (N["ten"], "measure --by part -m ece,ks,kuiper,spiegelhalter,t",
        "Weak evidence, by Spiegelhalter's test, that scores are miscalibrated in part=0.", ""),
    (N["ten"], "measure --by part -m spiegelhalter",
        "By Spiegelhalter's test, scores are miscalibrated in part=0 (p adjusted for 10 groups).", ""),
    (N["two"], "measure --by part -m kuiper,spiegelhalter",
        "test, scores are miscalibrated in part=1 (p adjusted for 2 groups).", "Weak"),
    # Spiegelhalter's test sees no shift of scores that are even around 1/2; a bias or Jeffreys' does.
    (N["even"], "measure -s score --by part -m bias,spiegelhalter",
        "scores are on average too low in part=1", "Weak"),
    (N["even"], "measure -s score --by part -m jeffreys,spiegelhalter",
        "scores are too low on average in part=1", "Weak"),
    # One event where .02 were expected, in any of 20 grades, is no proof; ten times as many as ten are.
    (N["few"], "measure --by grade -m jeffreys",
        "fewer than 10 events or non-events are expected, as in 20 of 20 groups",
        "Jeffreys test, scores are too low"),
    (N["many"], "measure --by grade -m jeffreys",
        "By Jeffreys test, scores are too low on average in grade=0 (p adjusted for 20 groups).",
        "adjusted or not"),
    # 999 draws give no p-value below .001, which no correction for 60 groups leaves below .05.
    (N["sixty"], "measure --by part -m kuiper --min-group-rows 30",
        "By Kuiper's test, scores are miscalibrated in part=0 (p adjusted for 60 groups).", ""),
    (N["most"], "measure --by part -m kuiper --min-group-rows 30",
        ("Of 510 groups none by itself is shown to be miscalibrated by Kuiper's test. // by kuiper, part=0 "
        "is further off than all 9,999 draws, too few to prove it of 510 groups at once: -m ece can"), ""),
    # The bounds of a cutoff need independent rows that count alike; clusters of one row each are none.
    (N["steps"], "measure -s s -y y -m aurc --cluster site",
        "No cutoff for right answers is named: its bounds need independent rows.", ""),
    (N["steps"], "measure -s s -y y -m aurc --weight w",
        "No cutoff for right answers is named: its bounds need rows without importance weights.", ""),
    (N["patients"], "measure -s s -y y -m oe --cluster patient",
        "note: every cluster has one row: without --cluster rows are independent", ""),
    # The lower bound of an ECE is 0 where errors of bins drown in noise; a bias is shown with fewer rows.
    (N["biased"], "measure --probs p_* -y label",
        "By bias, scores are on average too low in class a; all at once with 95 % confidence.",
        "classes against the rest none", ANSWER),
    (N["biased"], "measure --probs p_* -y label",
        "Of 3 predicted classes none by itself is shown to be miscalibrated by ECE or bias.\n", "", ANSWER),
    (N["biased"], "measure --probs p_* -y label", "\n\n // no lower bound is above 0", ""),
    # Whatever is measured: the largest probability of a row whose class was called impossible may be right.
    (N["impossible"], "measure --probs p_* -y label",
        f"^{CERTAIN} // Probability 0 was given to what happened in class a.",
        "classes against the rest none", ANSWER),
    *(
        (N["impossible"], f"measure --probs p_* -y label -m {name}", f"^{CERTAIN}\nThe ", "")
        for name in ("classwise_ece", "class_brier", "accuracy")
    ),
    # Rows that were selected by their labels are why no label names a class; label smoothing gives it some.
    (N["animals"], "measure --probs p_* -m classwise_ece --where label!=c", "selects rows by their labels",
        "no label is"),
    (N["smooth"], "measure --probs p_* -m ece", "", "no label is"),
    # Comparisons: a forecast that is silent on hard days has the smaller value, and is none the better.
    *(
        (DAYS, f"{IN_PAIRS} -m {metric}", f"^good has the best {name} // {OF_BOTH}", "")
        for metric, name in (("brier", "Brier score"), ("ece", "ECE"))
    ),
    (DAYS, f"{IN_PAIRS} -m brier --reference few", "", OF_BOTH),
    # The answer and the table say what there was to judge by, and over which bins.
    (WEEKS, f"{COMPARED} -m log_loss",
        "^None is the best by log loss: each gave probability 0 to what happened in some row.",
        "the best of"),
    (WEEKS, f"{COMPARED} -m log_loss",
        "  not compared: both gave probability 0 to what happened in some rows", ""),
    (UNSURE, f"{COMPARED} -m brier", "^a has the best Brier score, shown to be better than b and c.", "Over"),
    (UNSURE, f"{COMPARED} -m brier --cluster week",
        f"^a has the best Brier score, not judged against b and c. // {FEW_WEEKS}", "o clear difference"),
    (UNSURE, f"{COMPARED} -m brier --cluster week --reference c",
        f"^Against c by Brier score, not judged, for want of an interval: a and b. // {FEW_WEEKS}",
        "o clear difference"),
    (UNSURE, f"{COMPARED} -m ece --bins 5", "^c has the best ECE // Over 5 equal-width bins.", "15 equal"),
    (WEEKS, f"{COMPARED} -m brier --on-missing pairwise", "Rows are taken as independent.", "--cluster"),
    # Of two scores that agree, a difference from both intervals is far wider than they differ.
    *(
        (N["customers"], f"{command} -s s -s other -y y -m {metrics}", said, unsaid)
        for command in ("compare", "measure")
        for metrics, said, unsaid in (
            ("brier,ece,l2,auroc",
                "Intervals of ece and l2: put together from those of both scores, and so wider than row by ",
                ""),
            ("brier,log_loss,auroc,gini,aurc", "", "put together"),
        )
    ),
    (N["even"], "compare -s score -s coarse", "note: coarse takes 61 values, and 15 equal-width bins",
        "note: score takes"),
    # One column copied over another is no better and no worse; a column that differs in a row is another.
    *(
        (N["customers"], f"{words} -s s -s new -y y",
            "columns 's' and 'new' have the same scores beside the same labels", "")
        for words in ("compare", "measure -m ece", "compare -s other")
    ),
    (N["customers"], "compare -s s -s other -y y", "", "the same scores"),
    # Predicted labels: of two scores the second was passed over, and rows for a gate were planned by them.
    *(
        (N["customers"], f"compare -s {one} -s {two} -y y -m brier", f"column 'hard': {HARD}", "column 's'")
        for one, two in (("s", "hard"), ("hard", "s"))
    ),
    (N["customers"], "plan -s hard --max-ece 0.02", HARD, ""),
    (N["customers"], "plan -s s --max-ece 0.1", "", HARD),
    # Where labels follow scores of 0 and 1, all gates pass or none does.
    (N["certain"], "plan -s s --max-ece 0.02", "passes with a probability of 100 %", "Half of such gates"),
    (N["tenths"], "plan -s s --max-ece 0.05", "Half of such gates", ""),
    # Options: the last of several limits counts, and of lists all do.
    (BOTH, f"verify {LIMITS}", "^note: --max-ece is given more than once: the last counts\n", "--where is",
        "0 err"),
    (BOTH, f"verify {LIMITS} -q", "", "more than once"),
    # Capitals matter where a value is sought, and not where numbers are above one.
    *(
        (FINE, f"measure --where {condition}", f"none of 300 rows satisfies {condition!r}", "hint", "3 err")
        for condition in ("pd>1000", "pd==1000")
    ),
    # Labels: all alike, unknown, missing.
    (NONE, "verify --max-ece 0.2",
        "^INCONCLUSIVE // note: all 899 rows have label 0: is 'label' the label column", "", "4 out"),
    (BOTH, "verify --max-ece 0.2", "", "have label 0: is", "4 out"),
    # A row number is a row of the file, whatever was dropped before it.
    (("score,label", ",1", "0.5,1", ",0", "3,0"), "measure --on-missing drop",
        "1 of 4 values lies ... the first is 3.0 at row 4", "", "3 err"),
    # If leaving a fold out leaves one label, nothing can be fitted.
    (ONE_EVENT, "fit -m auto -o /dev/null --force", "without fold ... of 10 every label is 0", "",
        "3 err"),
    (ONE_EVENT, "fit -m auto --folds 30 -o /dev/null --force",
        "20 rows cannot be shared out to 30 folds", "", "3 err"),
    # A thousand columns do not fill the terminal.
    ((",".join(f"c{k}" for k in range(1_000)), ",".join(["0"] * 1_000)), "measure -s x -y y",
        "and 980 more\n", "", "3 err"),
    # `NA` is missing in CSV alone: elsewhere it is a text, which `--positive` makes an outcome of.
    ([f'{{"score": 0.3, "label": "{one}"}}' for one in ("yes", "no", "NA") * 20],
        "measure --positive yes -m bias",
        "'NA' and 'no' count as 0 by --positive yes; leave 'NA' empty if it stands for an unknown", ""),
    # Rows whose outcome is not known yet counted as 0 without a word where no other label was 0.
    (("score,label", *("0.3,fraud", "0.2,pending") * 40), "measure --positive fraud -m bias",
        "'pending' counts as 0 by --positive fraud; leave 'pending' empty if it stands for an unknown", ""),
    # Where events alone are marked, --on-missing drop leaves nothing else; few rows may have no event.
    *(
        (EMPTY, f"{words} --on-missing drop",
            "120 rows with a missing value were left out: does that mean 0?", "", ends)
        for words, ends in (("measure -m ece", "0 out"), ("verify --max-ece 0.9", "4 out"))
    ),
    (RARE, "measure --on-missing drop -m bias", "", "does that mean"),
    # Of weights of either meaning, and only where there are some.
    *(
        (some, f"measure -w n -m bias --format {form} --weights-are {meaning}", said, unsaid, ends)
        for form, meaning, ends in (
            ("table", "frequency", "0 out"), ("csv", "importance", "0 err"),
            ("json", "frequency", "0 err"), ("table", "importance", "0 out"),
        )
        for some, said, unsaid in (
            ((*WEIGHTED, "0.9,1,0", "0.1,0,0"), "p.csv: 2 rows have weight 0 and count for nothing", ""),
            (WEIGHTED, "", "weight 0"),
        )
    ),
    # Scores: the base rate in every row is calibrated, passes, and is more likely a fault than a model.
    (("label,score", *("0,0.25", "1,0.25", "0,0.25", "0,0.25") * 30), "verify --max-ece 0.9",
        "^PASS // all 120 rows have the score 0.25", ""),
    (("label,score", *(f"{int(k % 4 == 1)},{k / 120}" for k in range(120))), "verify --max-ece 0.9", "",
        "rows have the score"),
    # PDs of 0.03 to 0.4 per cent, read as probabilities, expect a hundred times the events.
    (N["percent"], "measure", HUNDREDTH, ""),
    *((N[name], line, "", HUNDREDTH) for name, line in (
        ("share", "measure"), ("high", "measure"), ("percent", "measure --scale percent"),
    )),
    # Of two classes the larger probability is no probability of label 1, whose rate may fall or stay.
    (N["larger"], "measure -s s -y y -m bias", OF_PREDICTED, ""),
    (N["larger"], "measure -s s -y right -m bias", "", OF_PREDICTED),
    # Stated confidences of language models tell little, and too high a rate, beside their own labels.
    (N["stated"], "measure -s s -y y -m bias", "", "same rows"),
    # Language models write 85 in one answer and 0.9 in the next, which was 0.9 % without a word.
    *(
        (("confidence,correct", *(f"{one},{label}" for one in scores * 30 for label in (1, 0))),
            "measure --scale percent -m bias", said, unsaid)
        for scores, said, unsaid in (
            (("85", "0.9", "40", "0.35"), "120 scores between 0 and 1 among percentages", ""),
            # The least value of a list, and finer percentages.
            (("85", "0.5", "40", "1"), "", "among percentages"),
            (("8.5", "0.9", "4.25", "0.35"), "", "among percentages"),
            # Nothing is above 1 but by rounding.
            (("0.5", "0.25", "1.0000000000000002", "1"), "", "among percentages"),
        )
    ),
    # A master scale of .25, .5, 1, 2 and 10 % with as many defaults as it says, or five times as many.
    *((rows, "measure --scale percent -m bias", "", "among percentages") for rows in (OF_SCALE, IN_CRISIS)),
    # Of phrases without a number five are named, and it is said how many there are besides.
    (PHRASES, "measure --score-map 'about 0.1=.1'",
        "'about 0.6' (20, first at row 101), and 2 more (40 values)", "", "3 err"),
    # Phrases beside percentages have percentages; a number that looks like a probability is asked about.
    (LIKELY, "measure --scale percent -m bias",
        "give each a number, such as 70, with --score-map likely=NUMBER or", "", "3 err"),
    (LIKELY, "measure --scale percent -m bias --score-map likely=.7",
        "reads the numbers of phrases as percentages: 'likely' is 0.7 %", ""),
    (LIKELY, "measure --scale percent -m bias --score-map likely=70", "", "as percentages: 'likely'"),
    # Probabilities below a fifteenth, too low for some and too high for others, have an ECE of nothing.
    (SMALL, "measure -m ece", ONE_BIN, ""),
    (MOST, "measure -m ece", "all but 40 of 4,040 rows lie in one of 15", ""),
    (HEAVY, "measure -m ece -w w", "rows with at least 99 % of the weight lie in one of 15 equal-width", ""),
    (SMALL, "verify --max-ece 0.5", ONE_BIN + "--max-smece asks without bins", ""),
    (SMALL, "verify --max-ece 0.5 --state state.json", "lie in one of", ""),
    (SMALL, "fit -m intercept -o cal.json && compare --artifact cal.json -m ece", "lie in one of", ""),
    *(
        (some, line, "", "lie in one of")
        for some, line in (
            (SMALL, "measure -m smece"), (SMALL, "measure -m ece --binning equal-mass"),
            (WIDE, "measure -m ece"), (SAME, "measure -m ece --bins 15"), (SMALL, "verify --max-smece 0.5"),
            (WIDE, "verify --max-ece 0.5 --state state.json"),
        )
    ),
    # Scores beside the labels of other rows: a fit gains much, by one rate for all. Of what claims nothing,
    # of one row out of order and of few rows of a label nothing is said.
    *(
        (N[name], f"{words} -s {score} -y {label}", said, unsaid, ends)
        for words, ends in LOOKING
        for name, score, label, said, unsaid in (
            ("turned", "s", "other", NO_BETTER, ""), ("turned", "s", "y", "", NO_BETTER),
            ("turned", "flat", "other", "", NO_BETTER), ("known", "s", "y", KNOWS, ""),
            ("known", "torn", "y", "", KNOWS),
        )
    ),
    *((N["known"], f"{words} -s s -y rare", "", KNOWS, ends) for words, ends in
        (LOOKING[0], (LOOKING[1][0], "4 out"), LOOKING[2])),
    (N["known"], "compare -s s -s torn -y y", f"column 's': {KNOWS}", "column 'torn'"),
    (N["known"], "measure -s s -y y --where s>0.03 -m bias", "", KNOWS),
    # Outcomes in reverse are asked about, of the column that is meant; no more of the other value.
    *(
        (N["cohort"], f"{line} -y outcome --positive {value}", said, unsaid)
        for line, value, said, unsaid in (
            ("measure -s risk", "lived",
                "^The score ranks the wrong way: is it of the other class, or the outcome coded in", ""),
            ("measure -s risk", "lived", f"(AUROC 0.1 // {REVERSED}", ""),
            ("measure -s risk", "died", "", f"wrong way // {REVERSED}"),
            ("measure -s chance -s risk", "died", "column 'chance': the higher", ""),
            ("verify -s risk --max-ece 0.9", "lived", REVERSED, ""),
        )
    ),
    # Columns of other classes, and labels that a model predicts; by fit where the map would be another.
    *(
        (N[name], "measure --probs p_* -m ece,classwise_ece", said, " // ".join(OF_CLASS_LABELS - {asked}))
        for name, asked, said in (
            ("swapped", LOWER, f"the probability of 'a' and of 'b' is {LOWER}"),
            ("best", BEST, f"the {BEST} row is its label, where"),
            ("without c", "no label is", "no label is 'c', which"),
            ("moved", CHANCE, "no better than chance (that of the"),
            ("largest", "no label is", "no label is 'max', which rows give a probability of 0.4 on average"),
            ("animals", "", ""),
        )
    ),
    *(
        (N[name], FITTED_CLASSES, said, unsaid, ends)
        for name, said, unsaid, ends in (
            ("swapped", LOWER, CHANCE, "0 err"), ("moved", CHANCE, LOWER, "0 err"),
            ("best", "", f"{LOWER} // {CHANCE}", "3 err"),
            *((name, "", f"{LOWER} // {CHANCE}", "0 err") for name in ("without c", "largest", "animals")),
        )
    ),
    # Weights of classes.
    *(
        (N[name], f"{line} -w w", said, unsaid, ends)
        for line, ends in (("measure --probs p_* -m accuracy", "0 out"), (FITTED_CLASSES, "0 err"))
        for name, said, unsaid in (
            ("heavy", "class weigh the same ('a' 2, 'b' 1, 'c' 1): leave out", ""),
            ("uneven", "", "weigh the same"), ("light", "", "weigh the same"),
        )
    ),
    (N["copies"], "measure -s s_* -m ece",
        "have the same scores ... labels, and so have 3 more pairs: is one a copy by mistake?",
        "'s_2' have // 's_4' have"),
    # As spreadsheets are exported; empty names were to be made different, and words divided by blanks.
    *(
        row
        for title, mark in (("Report of all frauds", ","), ("Report,,", ","), ("Report;;", ";"))
        for book in [(title, *(one.replace(",", mark) for one in ("id,score,label", "1,0.2,0", "2,0.4,1")))]
        for row in (
            (book, "inspect", "take what stands above them out, such as a title", "next"),
            (book, f"measure -s score -y label --delimiter '{mark}'", "title", "", "3 err"),
        )
    ),
    (("score,label,,", "0.2,0,,", "0.4,1,,"), "measure", "name these columns, or take them out", "", "3 err"),
]  # fmt: skip


def words_of(line: str, path: Path) -> list[object]:
    """Return the words of a command with the rows among them."""
    command, *words = shlex.split(line)
    if "FILE" not in words:
        words = [*(["--like"] if command == "plan" else []), "FILE", *words]
    return [command, *(path if word == "FILE" else word for word in words)]


@pytest.mark.parametrize(
    ("lines", "line", "said", "unsaid", "ends"),
    [(*row[:4], *(row[4:] or ["0 out"])) for row in SAID],
    ids=[row[1] for row in SAID],
)
def test_what_is_said_of_rows_is_true_of_them(
    run: Run,
    csv_of: Make,
    lines: Sequence[str] | Columns,
    line: str,
    said: str,
    unsaid: str,
    ends: str,
) -> None:
    """It stands where it should, what is not said stands nowhere, and the exit code is that of the answer."""
    if isinstance(lines, dict):
        path = in_csv("p.csv", lines)
    else:
        path = csv_of(*lines, name="p.jsonl" if lines[0].startswith("{") else "p.csv")
    code, where = ends.split()
    *before, last = (words_of(one, path) for one in line.split(" && "))
    for words in before:
        run(*words, code=0)
    ended = run(*last, code=int(code))
    places = {"out": ended.out, "err": ended.err, "answer": ended.out.partition("\n\n")[0] + "\n"}
    pattern = (
        re.escape(said.removeprefix("^")).replace(r"\ \.\.\.\ ", ".*").replace(r"\ //\ ", r"(?s:.*\n.*)")
    )
    assert re.search(r"\A" * said.startswith("^") + pattern, places[where]), ended
    assert [one for one in unsaid.split(" // ") if one and one in ended.out + ended.err] == [], ended
    assert "-q" not in last or not ended.err, "notes on the line are none of the answer"
