"""What a line says of rows, in one table: words that are true of them, and words that are not.

A line that is refused and reads no rows of its own is a row of `test_refusals.py`, and what `inspect` says of
`test_inspect.py`.
"""

import shlex
from collections.abc import Sequence

import pytest

from command_line import Make, Run
from score_rows import scored

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
CLIPPED = ("score,label", "1.005,0", "0.5,1", "0.2,0", "0.7,1")
GRADES = ("pd,default", *("0.001,0",) * 300, *(f"0.02,{int(k % 50 < 2)}" for k in range(300)))
GRADED = ("pd,default,grade", *("0.1,0,A",) * 180, *("0.1,1,A",) * 20, *("0.2,1,B",) * 200)
SCALE = {"0.25": 1, "0.5": 2, "1": 4, "2": 8, "10": 40}
OF_SCALE = ("pd,default", *(f"{pd},{int(row < some)}" for pd, some in SCALE.items() for row in range(400)))
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
COMPARED, IN_PAIRS = "compare -s a -s b -s c -y y", "compare -s good -s few -y y --on-missing pairwise"
OF_BOTH = "Each difference uses only the rows that both have, and they say which is the best; "
FEW_WEEKS = "  no interval: 4 clusters, fewer than 20"

# Rows, line, what is said (parts between ...; what follows ^ stands first), what is not.
SAID: list[tuple[Sequence[str], str, str, str]] = [
    # One row is no rows, what is undefined has no number, and what all did is not sure.
    (ONE, "measure", 'could be shown in this row; ... "by chance": about what values', "these 1"),
    (ONE, "measure", "", "90 %"),
    (ONE, "measure -m jeffreys", "This row does not show that scores are too low", "These 1"),
    (ONE, "measure -m ici", "Of one rate for all rows: ici.", "0 knots"),
    (TWO, "measure -m ici", "Of a straight line in log odds: ici.", "2 knots"),
    (ONE, "verify --rule auroc>=0.7", "(undefined; no lower ... the only row has label 1", "nan"),
    (SURE, "verify --rule spiegelhalter.p>=0.05", "(p undefined) ... about Spiegelhalter's", "nan"),
    (TWO, "verify --max-ece 0.1 --by site", "up to 100 % of future rows", "e+02"),
    (SURE_OF_ONE, "compare -s a -s b -y label", "clear difference: there are scores of exactly 0 or 1", ""),
    (RIGHT, "measure -m aurc", "Of all rows, at least 90 % have label 1;", ""),
    (WRONG, "measure -m aurc", "At none of twenty cutoffs do 90 % or more of the rows above", ""),
    (NEAR, "measure -m smece_logit,slope",
        "1 row has a score within 0.0001 of 0 or 1 and counts as if 0.0001 from it: it may", "36.7"),
    (STEPS, "fit --method platt -o /dev/null --force", "The log loss stays at 0.5629 on the fit rows.", ""),
    (MANY, "measure -s a -s b -s c -m brier", "c is worse than a; b is not clearly different from a.", ""),
    (MANY, "compare -s a -s b -w c --weights-are importance --reference a", "weight=c", ""),
    (MONTHS, "drift --by month", "is empty on one side,", "in one file"),
    (ONE, "plan --max-ece 0.9", "give or take 1.2 percentage ... 100 rows, as many.", "rows half of"),
    (ONE, "inspect", "(the only row has label 1)", "1 rows"),
    (PERFECT, "measure -m ici,emax", "No miscalibration could be shown in these 400 rows;", ""),
    (PERFECT, "measure -m clinical", " No error is shown.\nStrong", "departs from the diagonal"),
    (BLIND, "compare -s a -s b -s c --reference a --fail-if-worse -m brier",
        "Without an interval, and so no part of this verdict: b and c by Brier score.", ""),
    # A rule on a p-value said that it was below 1e-300, and `measure` 0 of the same rows.
    (("score,label", *("0.5,0", "0.5,1") * 100, "1.0,0"), "verify --rule hl.p>=0.05",
        "FAIL  hosmer_lemeshow.p >= 0.05  (p = 0 (contradiction))", ""),
    # Grades without an event get a rate of 0, by a map of steps; a line is sure of nothing.
    (GRADES, "fit -o /dev/null --force -m isotonic",
        "300 of the fit rows get 0: a new row there with the other label has an infinite log loss.", ""),
    (GRADES, "fit -o /dev/null --force -m intercept", "", "of the fit rows get"),
    (("pd,default", "0.1,0", "0.2,1", "0.2,0"), "fit -o /dev/null --force -m isotonic",
        "1 of the fit rows gets 0: a new row", ""),
    # Three frauds in 10,000 rows settle no log loss, and what they do settle holds approximately.
    (FRAUDS, "verify --rule log_loss<=0.007",
        "^INCONCLUSIVE ... too few large errors for a reliable interval (about 3; 40 needed)", ""),
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
        (FINE, f"measure --by g -m {asked}", f"Of 2 groups none by itself is shown {said}", "")
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
        "INCONCLUSIVE ... --min-group-rows N leaves groups of fewer than N rows out", ""),
    (FEW_OF_ONE, "verify --max-ece 0.9 --by g --min-group-rows 100",
        "1 group of fewer than 100 rows (--min-group-rows) is not tested: g few (40)", "leaves groups"),
    (GRADED, "verify --by grade --rule oe<=1.2",
        "grade=A ... INCONCLUSIVE ... the bounds lie on both sides of 1.2\n", ""),
    # Bins that would cut cells, and values that a grid does not keep apart, are refused with the group.
    (HALVES, "verify --max-ece 0.1 --by half --bins 11 --memory 1B",
        "would cut the cells that scores of groups are rounded to in memory (half=a)", ""),
    (VALUES, "verify --max-ece 0.5 --by g --memory 1342B",
        "are rounded to fit in memory: they cannot be bins (g=0)", ""),
    # Classes that take from each other leave the largest probability as it is, and their intervals do not.
    (OF_CLASSES, "measure --probs p_* -y label",
        "^No miscalibration of the largest probability could be shown in these 800 rows;", ""),
    (OF_CLASSES, "measure --probs p_* -y label",
        "All 3 classes against the rest are shown to be miscalibrated, above all class c,", ""),
    (("p_0,p_1,p_2,label", "0.2,0.7,0.1,1"), "measure",
        "name it with --score, or several classes with --probs 'p_*'", ""),
    (("one,two,label", "0.2,0.8,1"), "measure", "name it with --score", "--probs"),
    # Comparisons: a forecast that is silent on hard days has the smaller value, and is none the better.
    *(
        (DAYS, f"{IN_PAIRS} -m {metric}", f"^good has the best {name} ... {OF_BOTH}", "")
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
        f"^a has the best Brier score, not judged against b and c. ... {FEW_WEEKS}", "o clear difference"),
    (UNSURE, f"{COMPARED} -m brier --cluster week --reference c",
        f"^Against c by Brier score, not judged, for want of an interval: a and b. ... {FEW_WEEKS}",
        "o clear difference"),
    (UNSURE, f"{COMPARED} -m ece --bins 5", "^c has the best ECE ... Over 5 equal-width bins.", "15 equal"),
    (WEEKS, f"{COMPARED} -m brier --on-missing pairwise", "Rows are taken as independent.", "--cluster"),
    # Labels: all alike, unknown, missing.
    (NONE, "verify --max-ece 0.2",
        "^INCONCLUSIVE ... note: all 899 rows have label 0: is 'label' the label column", ""),
    (BOTH, "verify --max-ece 0.2", "", "have label 0: is"),
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
            "120 rows with a missing value were left out: does that mean 0?", "")
        for words in ("measure -m ece", "verify --max-ece 0.9")
    ),
    (RARE, "measure --on-missing drop -m bias", "", "does that mean"),
    # Of weights of either meaning, and only where there are some.
    *(
        (some, f"measure -w n -m bias --format {form} --weights-are {meaning}", said, unsaid)
        for form, meaning in (
            ("table", "frequency"), ("csv", "importance"), ("json", "frequency"), ("table", "importance"),
        )
        for some, said, unsaid in (
            ((*WEIGHTED, "0.9,1,0", "0.1,0,0"), "p.csv: 2 rows have weight 0 and count for nothing", ""),
            (WEIGHTED, "", "weight 0"),
        )
    ),
    # Scores: the base rate in every row is calibrated, passes, and is more likely a fault than a model.
    (("label,score", *("0,0.25", "1,0.25", "0,0.25", "0,0.25") * 30), "verify --max-ece 0.9",
        "PASS ... all 120 rows have the score 0.25", ""),
    (("label,score", *(f"{int(k % 4 == 1)},{k / 120}" for k in range(120))), "verify --max-ece 0.9", "",
        "rows have the score"),
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
    # A master scale of .25, .5, 1, 2 and 10 % with as many defaults as it says.
    (OF_SCALE, "measure --scale percent -m bias", "", "among percentages"),
    # Of phrases without a number five are named, and it is said how many there are besides.
    (PHRASES, "measure --score-map 'about 0.1=.1'",
        "'about 0.6' (20, first at row 101), and 2 more (40 values)", ""),
    # Phrases beside percentages have percentages; a number that looks like a probability is asked about.
    (LIKELY, "measure --scale percent -m bias",
        "give each a number, such as 70, with --score-map likely=NUMBER or", ""),
    (LIKELY, "measure --scale percent -m bias --score-map likely=.7",
        "reads the numbers of phrases as percentages: 'likely' is 0.7 %", ""),
    (LIKELY, "measure --scale percent -m bias --score-map likely=70", "", "as percentages: 'likely'"),
    # As spreadsheets are exported; empty names were to be made different, and words divided by blanks.
    *(
        row
        for title, mark in (("Report of all frauds", ","), ("Report,,", ","), ("Report;;", ";"))
        for book in [(title, *(one.replace(",", mark) for one in ("id,score,label", "1,0.2,0", "2,0.4,1")))]
        for row in (
            (book, "inspect", "take what stands above them out, such as a title", "next"),
            (book, f"measure -s score -y label --delimiter '{mark}'", "title", ""),
        )
    ),
    (("score,label,,", "0.2,0,,", "0.4,1,,"), "measure", "name these columns, or take them out", ""),
]  # fmt: skip


@pytest.mark.parametrize(("lines", "line", "said", "unsaid"), SAID, ids=[row[1] for row in SAID])
def test_what_is_said_of_rows_is_true_of_them(
    run: Run, csv_of: Make, lines: Sequence[str], line: str, said: str, unsaid: str
) -> None:
    """On either stream: each part of what is said stands there, and what is not said does not."""
    path = csv_of(*lines, name="p.jsonl" if lines[0].startswith("{") else "p.csv")
    command, *words = shlex.split(line)
    ended = run(command, *(["--like"] if command == "plan" else []), path, *words)
    text = ended.out + ended.err
    assert said or ended.code in (0, 1, 4), text
    for part in said.split(" ... "):
        assert text.startswith(part[1:]) if part.startswith("^") else part in text, text
    assert not unsaid or unsaid not in text, text
