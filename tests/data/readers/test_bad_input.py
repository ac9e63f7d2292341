"""Bad input: what the user reads, word for word, and the exit code."""

import re
from pathlib import Path

import pytest

from calibcli.commands.gathering import gather
from calibcli.data.engines import ThreadEngine
from calibcli.errors import CalibcliError
from calibcli.names import DataFormat, OnMissing, OnRange, Scale, WeightMeaning
from calibcli.options.rows import Columns, SeveralClasses

ASKED = Columns(score="score", label="label")
WEIGHTED = Columns(score="score", label="label", weight="w")
COUNTED = Columns(score="score", label="label", weight="w", weights_are=WeightMeaning.FREQUENCY)
DROP = "--on-missing drop leaves such rows out and reports how many"
QUOTES = "fields that contain the separator must be quoted, and quotes must be closed"

# content of p.csv, columns, message, hint
SOFT = (
    "soft labels are not read: round them, or write each row twice, with label 1 and weight p and with "
    "label 0 and weight 1 - p"
)
CASES = {
    "empty": ("", ASKED, "p.csv is empty",
        "leave it out, or write it anew: even a table without rows has a header"),
    "header only": ("score,label\n", ASKED, "p.csv: there are no rows", None),
    "header without line end": ("score,label", ASKED, "p.csv: there are no rows", None),
    "unknown column": ("id,scores,label\n1,0.5,1\n", ASKED,
        "p.csv: there is no column 'score'; the columns are 'id', 'scores', 'label'",
        "did you mean 'scores'?"),
    "two labels in one option": ("score,a,b\n1,0,1\n", Columns(score="score", label="a,b"),
        "p.csv: there is no column 'a,b'; the columns are 'score', 'a', 'b'",
        "these are several columns: join them first, or name one of 'a', 'b'"),
    "nothing close": ("a,b\n1,0\n", Columns(score="a", label="outcome"),
        "p.csv: there is no column 'outcome'; the columns are 'a', 'b'", None),
    "no score by name": ("a,label\n1,0\n", Columns(),
        "p.csv: no column looks like the score; the columns are 'a', 'label'", "name it with --score"),
    "two scores by name": ("p,prob,label\n1,0,1\n", Columns(),
        "p.csv: 'p', 'prob' could each be the score column", "name it with --score"),
    "no label by name": ("p,truth\n1,0\n", Columns(),
        "p.csv: no column looks like the label; the columns are 'p', 'truth'", "name it with --label"),
    "semicolons": ("score;label\n1;0\n", ASKED,
        "p.csv: there is no column 'score'; the columns are 'score;label'",
        "the file seems to separate its fields by ';': pass --delimiter ';'"),
    "semicolons and a name with a comma": ("id;risk, new;score;label\n1;0;0;1\n", ASKED,
        "p.csv: there is no column 'score'; the columns are 'id;risk', ' new;score;label'",
        "the file seems to separate its fields by ';': pass --delimiter ';'"),
    "semicolons and a pattern of classes": ("p_a;p_b;label\n1;0;a\n",
        Columns(label="label", several=SeveralClasses("p_*")),
        "p.csv: only 'p_a;p_b;label' fits --probs 'p_*'; the columns are 'p_a;p_b;label'",
        "the file seems to separate its fields by ';': pass --delimiter ';'"),
    "commas and names with semicolons": ("a;b;c;d,p,label\n1,0,1\n", ASKED,
        "p.csv: there is no column 'score'; the columns are 'a;b;c;d', 'p', 'label'", None),
    "commas, names with semicolons and no score": ("a;b;c;d,x,label\n1,0,1\n", Columns(),
        "p.csv: no column looks like the score; the columns are 'a;b;c;d', 'x', 'label'",
        "name it with --score"),
    "semicolons, a name with a comma and no score named": ("id;risk, new;score;label\n1;0;0;1\n", Columns(),
        "p.csv: no column looks like the score; the columns are 'id;risk', ' new;score;label'",
        "the file seems to separate its fields by ';': pass --delimiter ';'"),
    "semicolons between quoted names, as R writes them": ('"";"score";"label"\n"1";1;0\n', ASKED,
        "p.csv: the header is not CSV: ',' expected after '\"'",
        "the file seems to separate its fields by ';': pass --delimiter ';'"),
    "tabs between quoted names": ('"score"\t"label"\n1\t0\n', ASKED,
        "p.csv: the header is not CSV: ',' expected after '\"'",
        "the file separates its fields by tabs: pass --delimiter tab"),
    "endless header": ('score,"' + "x" * 140_000, ASKED,
        "p.csv: the header is not CSV: field larger than field limit (131072)", None),
    "tabs": ("score\tlabel\n1\t0\n", ASKED,
        "p.csv: there is no column 'score'; the columns are 'score\\tlabel'",
        "the file separates its fields by tabs: pass --delimiter tab"),
    "duplicate names": ("score,label,score\n1,0,1\n", ASKED, "p.csv: the header has 'score' more than once",
        "give every column a name of its own"),
    "one column twice": ("score,label\n1,0\n", Columns(score="score", label="score"),
        "column 'score' cannot be --score and --label at once",
        "name another column with --score or --label"),
    "ambiguous case": ("SCORE,Score,label\n1,0,1\n", ASKED, "p.csv: 'score' could be any of 'SCORE', 'Score'",
        "spell it as the file does"),
    "missing scores": ("score,label\n0.5,1\n,0\nNaN,1\nnull,0\n", ASKED,
        "p.csv, column 'score': 3 of 4 values are missing; the first is at row 2", DROP),
    "missing label": ("score,label\n0.5,1\n0.2,\n", ASKED,
        "p.csv, column 'label': 1 of 2 values is missing; the first is at row 2", DROP),
    "missing weight": ("score,label,w\n0.5,1,\n", WEIGHTED,
        "p.csv, column 'w': 1 of 1 values is missing; the first is at row 1", DROP),
    "logits": ("score,label\n0.5,1\n1.04,0\n-3.5,1\n2,0\n", ASKED,
        "p.csv, column 'score': 3 of 4 values lie outside [0, 1]; the first is 1.04 at row 2",
        "these are no probabilities: pass --scale logit for logits, or name another column"),
    "code of a gap": ("score,label\n0.5,1\n-999,0\n0.25,0\n-999,1\n", ASKED,
        "p.csv, column 'score': 2 of 4 values lie outside [0, 1]; the first is -999.0 at row 2",
        ("if -999.0 stands for a missing value, leave it out by --where 'score>=0'; else "
        "these are no probabilities: pass --scale logprob for log-probabilities, or name another column")),
    "code in a column with a sign": ("days in <b>,label\n0.5,1\n-99.9,0\n0.25,0\n-99.9,1\n",
        Columns(score="days in <b>", label="label"),
        "p.csv, column 'days in <b>': 2 of 4 values lie outside [0, 1]; the first is -99.9 at row 2",
        ("if -99.9 stands for a missing value, leave it out by --where '\"days in <b>\">=0'; else "
        "these are no probabilities: pass --scale logprob for log-probabilities, or name another column")),
    "a few beyond, which no scale mends": ("score,label\n" + "0.5,1\n" * 20 + "inf,1\n-inf,0\n",
        ASKED,
        "p.csv, column 'score': 2 of 22 values lie outside [0, 1]; the first is inf at row 21",
        "mend these or leave them empty, as most values lie in [0, 1]"),
    "small percentages": ("score,label\n" + "0.5,1\n" * 20 + "4.5,1\n", ASKED,
        "p.csv, column 'score': 1 of 21 values lies outside [0, 1]; the first is 4.5 at row 21",
        ("mend these or leave them empty, as most values lie in [0, 1]; if every value is a percentage, "
        "--scale percent")),
    "tenths": ("score,label\n3,1\n10,0\n", ASKED,
        "p.csv, column 'score': 2 of 2 values lie outside [0, 1]; the first is 3.0 at row 1",
        ("these are no probabilities: pass --scale percent for percentages, pass --scale logit for logits, "
        "divide tenths by 10 beforehand, or name another column")),
    "basis points": ("score,label\n60,1\n550,0\n", ASKED,
        "p.csv, column 'score': 2 of 2 values lie outside [0, 1]; the first is 60.0 at row 1",
        ("these are no probabilities: divide by 1,000 or 10,000 beforehand if that stands for 1, make "
        "log-odds of points, such as (600 - points) / 50, for fit --scale logit, or name another column")),
    "basis points as percentages": ("score,label\n60,1\n550,0\n",
        Columns(score="score", label="label", scale=Scale.PERCENT),
        "p.csv, column 'score': 1 of 2 values lies outside [0, 100]; the first is 550.0 at row 2",
        ("these are no percentages: name another column, or another --scale; divide by 1,000 or 10,000 "
        "beforehand if that stands for 1")),
    "percentages": ("score,label\n55.5,1\n12,0\n", ASKED,
        "p.csv, column 'score': 2 of 2 values lie outside [0, 1]; the first is 55.5 at row 1",
        "these are no probabilities: pass --scale percent for percentages, or name another column"),
    "log probabilities": ("score,label\n-0.5,1\n", ASKED,
        "p.csv, column 'score': 1 of 1 values lies outside [0, 1]; the first is -0.5 at row 1",
        ("these are no probabilities: pass --scale logit for logits, "
        "pass --scale logprob for log-probabilities, or name another column")),
    "rounding": ("score,label\n1.0000000001,1\n", ASKED,
        "p.csv, column 'score': 1 of 1 values lies outside [0, 1]; the first is 1.0000000001 at row 1",
        "if this is rounding, --on-range clip moves them to 0 or 1 and reports how many"),
    "rounding to seven digits": ("score,label\n1.0000001,1\n-0.000001,1\n0.5,0\n", ASKED,
        "p.csv, column 'score': 2 of 3 values lie outside [0, 1]; the first is 1.0000001 at row 1",
        "if this is rounding, --on-range clip moves them to 0 or 1 and reports how many"),
    "rounded log probability": ("score,label\n0.0001,1\n",
        Columns(score="score", label="label", scale=Scale.LOGPROB),
        ("p.csv, column 'score': 1 of 1 values lies above 0, as no log-probability does; "
        "the first is 0.0001 at row 1"),
        "if this is rounding, --on-range clip moves them to 0 or 1 and reports how many"),
    "neither rounding nor percent": ("score,label\n1.2,1\n0.5,0\n", ASKED,
        "p.csv, column 'score': 1 of 2 values lies outside [0, 1]; the first is 1.2 at row 1",
        "these are no probabilities: pass --scale logit for logits, or name another column"),
    "dates": ("score,label\n2022010000.0,1\n0.5,0\n", ASKED,
        "p.csv, column 'score': 1 of 2 values lies outside [0, 1]; the first is 2022010000.0 at row 1",
        "these are no probabilities: name another column"),
    "a field of blanks": ("score,label\n0.5,1\n  ,0\n", ASKED,
        "p.csv, column 'score': the blanks at row 2 are not a number",
        "nothing, NA, N/A, NaN, null and the like count as missing, blanks do not: leave the field empty"),
    "infinite score": ("score,label\ninf,1\n", ASKED,
        "p.csv, column 'score': 1 of 1 values lies outside [0, 1]; the first is inf at row 1",
        "these are no probabilities: name another column"),
    "positive log probability": ("score,label\n0.5,1\n",
        Columns(score="score", label="label", scale=Scale.LOGPROB),
        ("p.csv, column 'score': 1 of 1 values lies above 0, as no log-probability does; "
        "the first is 0.5 at row 1"), "leave out --scale logprob if these are probabilities"),
    "text score": ("score,label\n0.5,1\nabc,0\n", ASKED,
        "p.csv, column 'score': 'abc' at row 2 is not a number",
        ("nothing, NA, N/A, NaN, null and the like count as missing, other text does not: "
        "is it the right column? --score-map abc=NUMBER gives words a number; "
        "`apply --on-missing null` leaves the probability of such rows empty")),
    "text weight": ("score,label,w\n0.5,1,2\n0.2,0,abc\n",
        Columns(score="score", label="label", weight="w"),
        "p.csv, column 'w': 'abc' at row 2 is not a number",
        ("nothing, NA, N/A, NaN, null and the like count as missing, other text does not: "
        "is it the right column?")),
    "percent weight": ("score,label,w\n0.5,1,10%\n", Columns(score="score", label="label", weight="w"),
        "p.csv, column 'w': '10%' at row 1 is not a number", "export numbers without percent signs"),
    "about a number": ("score,label\nabout 0.8,1\n", ASKED,
        "p.csv, column 'score': 'about 0.8' at row 1 is not a number",
        ("nothing, NA, N/A, NaN, null and the like count as missing, other text does not: "
        "is it the right column? --score-map 'about 0.8=NUMBER' gives words a number; "
        "`apply --on-missing null` leaves the probability of such rows empty")),
    "a number with a line end": ('score,label\n"0.8\n",1\n', ASKED,
        "p.csv, column 'score': '0.8\\n' at row 1 is not a number",
        ("nothing, NA, N/A, NaN, null and the like count as missing, other text does not: "
        "is it the right column? --score-map likely=NUMBER gives words a number; "
        "`apply --on-missing null` leaves the probability of such rows empty")),
    "decimal comma": ('score,label\n"0,5",1\n', ASKED,
        "p.csv, column 'score': '0,5' at row 1 is not a number",
        "numbers need a decimal point, not a comma: --decimal , reads commas"),
    "other digits": ("score,label\n\u0660.\u0665,1\n", ASKED,
        "p.csv, column 'score': '\u0660.\u0665' at row 1 is not a number",
        ("nothing, NA, N/A, NaN, null and the like count as missing, other text does not: "
        "is it the right column? --score-map '٠.٥=NUMBER' gives words a number; "
        "`apply --on-missing null` leaves the probability of such rows empty")),
    "percent sign": ("score,label\n50%,1\n", ASKED, "p.csv, column 'score': '50%' at row 1 is not a number",
        "pass --scale percent for percentages; --score-map reads 85% beside 0.85 and phrases"),
    "labels 1 and 2": ("score,label\n0.5,1\n0.2,2\n", ASKED,
        "p.csv, column 'label': the labels are '1' and '2', not 0 and 1",
        "pass --positive 1 or --positive 2: the label whose probability the score is"),
    "labels yes and no": ("score,label\n0.5,yes\n0.2,no\n", ASKED,
        "p.csv, column 'label': the labels are 'no' and 'yes', not 0 and 1",
        "pass --positive no or --positive yes: the label whose probability the score is"),
    "soft labels": ("score,label\n0.5,1\n0.2,0.5\n", ASKED,
        "p.csv, column 'label': the labels are '0.5' and '1', not 0 and 1", SOFT),
    "swapped columns": ("risk,death\n0.5,1\n0.2,0\n0.3,0\n", Columns(score="death", label="risk"),
        ("p.csv, column 'risk': 3 of 3 labels are neither 0 nor 1; the first is '0.5' at row 1; "
        "there are '0.2', '0.3' and '0.5'"), "are score and label swapped? Try -s risk -y death"),
    "a trade's names for two scores": ("pd,risk,default\n0.5,0.5,1\n", Columns(),
        "p.csv: 'pd', 'risk' could each be the score column", "name it with --score"),
    "a trade's names for two labels": ("pd,death,default\n0.5,0,1\n", Columns(),
        "p.csv: 'death', 'default' could each be the label column", "name it with --label"),
    "one strange label": ("score,label\n0.5,very good\n", ASKED,
        "p.csv, column 'label': the only label is 'very good', not 0 or 1",
        "pass --positive 'very good' if it stands for 1"),
    "half a label": ("score,label\n0.5,1\n0.2,0\n0.3,0.5\n", ASKED,
        ("p.csv, column 'label': 1 of 3 labels is neither 0 nor 1; the first is '0.5' at row 3; "
        "there are '0', '0.5' and '1'"), SOFT),
    "many labels": ("score,label\n" + "".join(f"0.5,{i}\n" for i in range(9)), ASKED,
        ("p.csv, column 'label': 7 of 9 labels are neither 0 nor 1; the first is '2' at row 3; "
        "there are '0', '1', '2', '3', '4' and more"),
        ("pass --positive VALUE: that label counts as 1, all others as 0; "
        "of counts or amounts, make a column that is 1 where they reach a limit")),
    "a third label": ("score,label\n0.5,1\n0.2,0\n0.3,?\n", ASKED,
        ("p.csv, column 'label': 1 of 3 labels is neither 0 nor 1; the first is '?' at row 3; "
        "there are '0', '1' and '?'"),
        ("if '?' stands for an unknown outcome, leave it out by --where 'label!=?'; else "
        "pass --positive VALUE: that label counts as 1, all others as 0")),
    "questions that were not resolved": ("score,label\n0.5,yes\n0.2,no\n0.3,ambiguous\n", ASKED,
        ("p.csv, column 'label': 3 of 3 labels are neither 0 nor 1; the first is 'yes' at row 1; "
        "there are 'ambiguous', 'no' and 'yes'"),
        ("if 'ambiguous' stands for an unknown outcome, leave it out by --where 'label!=ambiguous'; else "
        "pass --positive VALUE: that label counts as 1, all others as 0")),
    "labels in words and one unknown": ("score,label\n0.5,yes\n0.2,no\n0.3,Unknown\n", ASKED,
        ("p.csv, column 'label': 3 of 3 labels are neither 0 nor 1; the first is 'yes' at row 1; "
        "there are 'Unknown', 'no' and 'yes'"),
        ("if 'Unknown' stands for an unknown outcome, leave it out by --where 'label!=Unknown'; else "
        "pass --positive VALUE: that label counts as 1, all others as 0")),
    "codes of unknown outcomes": ("score,label\n0.5,1\n0.2,0\n0.3,-9\n0.4,99\n", ASKED,
        ("p.csv, column 'label': 2 of 4 labels are neither 0 nor 1; the first is '-9' at row 3; "
        "there are '-9', '0', '1' and '99'"),
        ("if '-9', '99' stands for an unknown outcome, leave it out by --where 'label!=-9' "
        "--where 'label!=99'; else pass --positive VALUE: that label counts as 1, all others as 0; "
        "of counts or amounts, make a column that is 1 where they reach a limit")),
    "a point, as SAS writes what is missing": ("score,label\n0.5,.\n.,0\n", ASKED,
        ("p.csv, column 'score': 1 of 2 values is missing; the first is at row 2; "
        "column 'label': 1 of 2 values is missing; the first is at row 1"),
        "--on-missing drop leaves such rows out and reports how many"),
    "another mark for a missing score": ("score,label\n0.5,1\n-,0\n", ASKED,
        "p.csv, column 'score': '-' at row 2 is not a number",
        "if '-' stands for a missing value, leave the field empty"),
    "many words": ("score,label\n" + "".join(f"0.5,{i}\n" for i in "abc"), ASKED,
        ("p.csv, column 'label': 3 of 3 labels are neither 0 nor 1; the first is 'a' at row 1; "
        "there are 'a', 'b' and 'c'"),
        "pass --positive VALUE: that label counts as 1, all others as 0"),
    "positive never occurs": ("score,label\n0.5,a\n0.2,b\n",
        Columns(score="score", label="label", positive="c"),
        "p.csv, column 'label': no label is 'c', as --positive says", "the labels are 'a' and 'b'"),
    "negative weights": ("score,label,w\n0.5,1,0.5\n0.2,0,-1\n0.1,0,inf\n", WEIGHTED,
        "p.csv, column 'w': 2 of 3 weights are negative or infinite; the first is -1 at row 2",
        "weights must be finite and at least 0"),
    "half a row": ("score,label,w\n0.5,1,1\n0.2,0,1.5\n", COUNTED,
        "p.csv, column 'w': 1 of 2 frequency weights is not a whole number; the first is 1.5 at row 2",
        "leave out --weights-are frequency if the weights do not count repeated rows"),
    "more rows than can be counted": ("score,label,w\n0.5,1,9007199254740991\n0.2,0,1\n0.2,0,1\n", COUNTED,
        "p.csv, column 'w': frequency weights add up to 9,007,199,254,740,992 rows or more",
        "leave out --weights-are frequency if the weights do not count repeated rows"),
    "rows without number": ("score,label,w\n0.5,1,1e308\n0.5,1,1e308\n", COUNTED,
        "p.csv, column 'w': frequency weights add up to 9,007,199,254,740,992 rows or more",
        "leave out --weights-are frequency if the weights do not count repeated rows"),
    "weights without a square": ("score,label,w\n0.5,1,1e141\n0.2,0,1e140\n0.2,0,1e300\n", WEIGHTED,
        ("p.csv, column 'w': 2 of 3 weights are above 1e+140, or above 0 and below 1e-140; "
        "the first is 1e+141 at row 1"), "divide all weights by the same number: only their ratios matter"),
    "weights whose squares vanish": ("score,label,w\n0.5,1,1e-170\n0.2,0,1\n", WEIGHTED,
        ("p.csv, column 'w': 1 of 2 weights is above 1e+140, or above 0 and below 1e-140; "
        "the first is 1e-170 at row 1"), "divide all weights by the same number: only their ratios matter"),
    "no weight": ("score,label,w\n0.5,1,0\n0.2,0,0\n", COUNTED, "p.csv: every weight is 0", None),
    "nothing left": ("score,label\n,1\n", Columns(score="score", label="label", on_missing=OnMissing.DROP),
        "p.csv: none of 1 rows has a value in every column that is read",
        "always empty: 'score'; leave out such columns"),
    "ratings": ("score,label\n1,0\n5,1\n3,1\n", ASKED,
        "p.csv, column 'score': 2 of 3 values lie outside [0, 1]; the first is 5.0 at row 2",
        ("these are no probabilities: pass --scale percent for percentages, pass --scale logit for logits, "
        "give ratings of 1 to 5 probabilities, or name another column")),
    "no label yet": ("score,label\n0.5,\n", Columns(score="score", label="label", on_missing=OnMissing.DROP),
        "p.csv: none of 1 rows has a value in every column that is read",
        "always empty: 'label'; have its labels not come in yet, or is another column the label?"),
    "field missing": ("score,label\n0.5,1\n0.5\n", ASKED,
        "p.csv: row 2 (line 3) has 1 field where the header has 2", QUOTES),
    "field too many": ("score,label\n0.5,1,2\n", ASKED,
        "p.csv: row 1 (line 2) has 3 fields where the header has 2", QUOTES),
    "fields too many and missing": (
        'score,label\n\n0.5,1\n"0.5\n",1\n0.5,1,2\n0.5\n' + "0.5,1,2\n" * 10,
        ASKED,
        "p.csv: 12 of the first 14 rows do not have 2 fields as the header has: "
        "row 3 (line 6) has 3, row 4 (line 7) has 1, "
        + ", ".join(f"row {row} (line {row + 3}) has 3" for row in range(5, 13))
        + " and 2 more",
        QUOTES,
    ),
    "not UTF-8": (b"score,label\n0.5,1\n0.5,\xff\n", ASKED,
        "p.csv, column 'label': the text at row 2 is not UTF-8",
        "say which encoding it has, such as --encoding latin-1 or --encoding cp1252"),
    "header not UTF-8": (b"sc\xff,label\n0.5,1\n", ASKED, "p.csv: the header is not UTF-8 text",
        "say which encoding it has, such as --encoding latin-1 or --encoding cp1252"),
    "UTF-16": ("score,label\n0.5,1\n".encode("utf-16"), ASKED, "p.csv is UTF-16 text",
        "pass --encoding utf-16"),
    "the first kind of fault wins": ("score,label\n,7\n2,1\n", ASKED,
        "p.csv, column 'score': 1 of 2 values is missing; the first is at row 1", DROP),
}  # fmt: skip


@pytest.mark.parametrize("case", CASES)
def test_bad_csv_is_one_polite_line(case: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What, where, how many; then what to do."""
    content, columns, message, hint = CASES[case]
    monkeypatch.chdir(tmp_path)
    Path("p.csv").write_bytes(content if isinstance(content, bytes) else content.encode())
    with pytest.raises(CalibcliError) as caught:
        gather(["p.csv"], columns, engine=ThreadEngine(1))
    assert (caught.value.message, caught.value.hint) == (message, hint)
    assert "\n" not in caught.value.message
    assert caught.value.exit_code == (2 if "at once" in message else 3)


def test_clip_and_drop_are_counted(tmp_path: Path) -> None:
    """What was asked for is done and reported: rows in = rows used + rows dropped."""
    path = tmp_path / "p.csv"
    path.write_text("score,label\n1.2,1\n-0.5,0\n,1\n0.5,\n0.5,0\n")
    requested = Columns("score", "label", on_missing=OnMissing.DROP, on_range=OnRange.CLIP)
    gathered = gather([str(path)], requested, engine=ThreadEngine(1))
    assert (gathered.input.rows, gathered.input.dropped, gathered.input.clipped) == (3, 2, 2)
    assert gathered.tables["raw"].score.tolist() == [0.0, 0.5, 1.0]


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("gone.csv", None, "gone.csv: there is no such file"),
        ("a.xlsx", b"{}\n", "a.xlsx: .xlsx files are not read"),
        ("a.xpt", b"HEADER", "a.xpt: .xpt files are not read"),
        (
            "a.parquet",
            b"version https://git-lfs.github.com/spec/v1\noid sha256:0\n",
            "a.parquet is a pointer of Git LFS",
        ),
        ("a.csv.xz", b"\xfd7zXZ\0", "a.csv.xz: .xz files are not read"),
        ("a.sqlite3", b"SQLite format 3\0\x10\n", "a.sqlite3: the header is not UTF-8 text"),
        (
            "a.parquet",
            b"score,label\n1,0\n",
            "a.parquet cannot be read as Parquet: Parquet magic bytes not found",
        ),
        (
            "b.parquet",
            b"PAR1" + b"x" * 90,
            "b.parquet cannot be read as Parquet: Parquet magic bytes not found",
        ),
        ("c.csv", b"\x1f\x8b\x08\x00garbage", "c.csv cannot be read: "),
    ],
)
def test_unreadable_files_are_one_line(
    name: str, content: bytes | None, message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A file that is missing, of another format or damaged is named in one line."""
    monkeypatch.chdir(tmp_path)
    if content is not None:
        Path(name).write_bytes(content)
    with pytest.raises(CalibcliError) as caught:
        gather([name], ASKED, engine=ThreadEngine(1))
    assert caught.value.message.startswith(message)
    assert "\n" not in caught.value.message
    assert caught.value.exit_code == 3


def test_a_directory_without_data_is_refused(tmp_path: Path) -> None:
    """Nor do files count that start with an underscore or a dot; the hint says what does."""
    for name in ("_SUCCESS", "_a.csv", ".a.csv", "README.md", "cal.json", "a.gz", "LICENSE"):
        (tmp_path / name).write_text("score,label\n0.5,1\n")
    with pytest.raises(CalibcliError, match="the directory holds no data files") as caught:
        gather([str(tmp_path)], ASKED, engine=ThreadEngine(1))
    assert caught.value.exit_code == 3
    hint = str(caught.value.hint)
    assert set(re.findall(r"\.\w+", hint.split(";", maxsplit=1)[0])) == {
        *(suffix for one in DataFormat for suffix in one.facts.suffixes),
        ".gz",
        ".zst",
        ".bz2",
        ".lz4",
    }
    assert hint.endswith(f"{tmp_path}:csv to read files of any name as CSV")
