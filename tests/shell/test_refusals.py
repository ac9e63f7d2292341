"""Lines that are refused, in one table: exit code, error and hint of each; nothing is printed or written."""

import os
import shlex
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from calibcli.documents.artifact import artifact_text
from calibcli.shell.app import main
from class_files import write_zoo
from command_line import SAMPLE, Run
from exported_maps import class_map, one_map

PAIRS = [f"{(i % 19 + 1) / 20},{i % 3 == 0:d}" for i in range(60)]
GOOD = ["score,label", *PAIRS]
FILES: dict[str, list[str]] = {
    "good.csv": GOOD,
    "twice.csv": ["score,score,label", "0.1,0.2,1"],
    "empty.csv": [],
    "header.csv": ["score,label"],
    "comment.csv": ["# by model 7", "score,label", "0.2,1"],
    "nan.csv": [*GOOD, "NaN,1"],
    "gap.csv": [*GOOD, ",1"],
    "above.csv": [*GOOD, "1.2,1"],
    "logits.csv": ["score,label", *(f"{(i - 30) / 7:.3f},{i % 2}" for i in range(60))],
    "twos.csv": ["score,label", *(f"{(i % 19 + 1) / 20},{i % 2 + 1}" for i in range(60))],
    "words.csv": ["score,label", "0.5,bad", "0.2,good"],
    "dates.csv": ["score,label", "2022010000.0,1", "0.2,0"],
    "rounded.csv": ["score,label", "-0.005,1", "1.01,0"],
    "zeros.csv": ["score,label", *(f"{(i % 19 + 1) / 20},0" for i in range(200))],
    "one.csv": ["score,label", "0.3,1"],
    "unlabelled.csv": ["score,label", "0.5,", "0.2,"],
    "none.csv": ["score,label", "0.5,1"],
    "weights.csv": ["score,label,w", "0.2,0,0.5", "0.7,1,1.5", "0.7,0,1"],
    "beyond.csv": ["score", "0.5", "1.7"],
    "gaps.csv": ["score,id", "0.5,1", ",2"],
    "nothing.csv": ["score,id"],
    "slashed.csv": ["model,size,q,score,label", "a/b,c,1,0.5,1", "a,b/c,1,0.2,0"],
    "apart.csv": ["a,b,label", "0.5,,1", ",0.5,0"],
    "unnamed.csv": ["score,label,month", "0.5,1,a", "0.2,0,"],
    "seven.csv": ["score,label,month", "0.5,1,7", "0.2,0,07"],
    "new.csv": ["score", *map(repr, np.random.default_rng(3).beta(1.0, 2.0, 2_000).tolist())],
    "lacks.csv": ["p_ant,p_bee,other", "0.25,0.25,0.5"],
    "strange.csv": ["a,b,c", "0.25,0.25,0.5"],
    "choice.csv": ["q_ant,q_bee,q_cat,r_ant,r_bee,r_cat", "0.25,0.25,0.5,0.25,0.25,0.5"],
    "again.csv": ["p_ant,p_ant,p_cat", "0.25,0.25,0.5"],
    "excel.csv": ["sep=;", "score;label", "0.5;1"],
    "thousands.csv": ["score,label,w", '0.5,1,"1,000"'],
    "row_names.csv": ["score,label", "a,0.5,1", "b,0.2,0"],
    "phrases.csv": ["likely,0.7"],
    "phrases.json": ['{"likely": 0.7}'],
    "deep.json": ["[" * 100_000],
    "key.txt": ["k" * 32],
    "settings.conf": ["bins = 7"],
    "list.json": ["[1, 2]"],
    "brace.json": ["{"],
    "other.json": ["{", '"a": 1', "}"],
    "columns.json": ['{"s": {"0": 0.2, "1": 0.7}, "y": {"0": 0, "1": 1}}'],
    "wrapped.json": ['{"data": [{"s": 0.2, "y": 0}, {"s": 0.7, "y": 1}]}'],
    "named.json": ['{"data": {"a": {"s": 0.2, "y": 0}, "b": {"s": 0.7, "y": 1}}}'],
    "one_key.jsonl": ['{"score": 0.2}', '{"score": 0.3}'],
    "inner.json": ['{"a": {"score": [1, 2]}}'],
    "blank.jsonl": ["{}", '{"score": 0.2}'],
    "neither.json": ['{"schema": "other/1"}'],
    "listed.json": ['{"schema": ["x"]}'],
    "void.json": ["{}"],
    "bigquery.jsonl": ['{"probs": [{"label": "1", "prob": 0.3}, {"label": "0", "prob": 0.7}], "label": 1}'],
    "nested.jsonl": ['{"answer": {"p": 0.5}, "label": 1}'],
    "quoted.jsonl": ['{"it\'s": {"p": 0.5, "label": 0}, "é": {"p": 0.5}, "label": 1}'],
    "rows.jsonl": [f'{{"score": {score}, "label": {label}}}' for score, label in ((0.1, 0), (0.9, 1))],
}
# Documents of the folder, by what writes them.
MADE = """
fit t.csv -m platt -o cal.json
fit many.csv -s score -y label --by country -o groups.json
fit zoo.csv --probs p_* -y label -o classes.json
apply classes.json zoo.csv -o applied.csv
measure t.csv --json -o report.json
measure t.csv --summary-out summary.json -o unused.txt
verify t.csv -s score -y label --max-ece 0.05 --state state.json -o unused2.txt
verify zoo.csv --probs p_* -y label --max-ece 0.2 --view one-vs-rest --class cat --state zoo.json -o u3.txt
"""
COLUMNS = "-s score -y label"
STATE = f"verify t.csv {COLUMNS} --state new.json"
ASKED = f"verify t.csv {COLUMNS} --state state.json"
MANY = f"many.csv {COLUMNS}"
ZOO = "zoo.csv --probs p_* -y label"
APPLY = "apply classes.json zoo.csv -o out.csv"
PLOT = "plot many.csv -s score -y label -o out.png"
# Of rows that cannot be read: refused before.
DRAWN = "plot twice.csv -s score -y label -o out.png"
WITH_PARTS = ("compare", "groups", "classes")

# Code, line, what the error says (parts between ...), what the hint says.
REFUSED: list[tuple[int, str, str, str]] = [
    # Files and rows.
    (2, f"measure t.csv -s {'s' * 1000}* -y label", "--score is a pattern of 1,001 characters",
        "use at most 1,000"),
    (2, f"apply cal.json t.csv -o out.csv --keep {'s' * 1000}*", "--keep is a pattern of 1,001 characters",
        "use at most 1,000"),
    (3, "measure good.csv -s scroe -y label", "'scroe' ... are 'score', 'label'", "did you mean 'score'"),
    (3, "measure twice.csv", "score", ""),
    (2, "measure good.csv --threshold 0,0.5", "--threshold 0 is out of range", "between 0 and 1"),
    (2, "measure good.csv --threshold 20", "--threshold 20 is out of range", "did you mean 0.2?"),
    (2, "measure good.csv --threshold 10%,20%", "'10%,20%' is no number", "did you mean 0.1,0.2?"),
    (2, "measure good.csv --threshold x", "--threshold 'x'", "such as 0.1,0.2"),
    (2, "measure good.csv -m net_benefit", "a table of its own", "--threshold 0.1,0.2"),
    (2, "measure --explain net_benefit", "no metric", "its table says what it is: `calibcli measure ..."),
    (2, "measure good.csv -m traffic_light", "no metric", "beside -m jeffreys and -m binomial"),
    (2, "plot good.csv --band simultaneous -o x.png", "--band has no effect", "leave it out"),
    (2, f"{PLOT} --band simultaneous --kind clinical", "--band has no effect", "--kind smooth|isotonic"),
    (2, f"{PLOT} --band simultaneous --kind residual --bins 5", "no effect on bins", "--kind isotonic"),
    (2, "plot good.csv --smoother loess -o x.png", "--smoother has no effect", "--kind clinical"),
    (2, "plot good.csv --benefit gain -o x.png", "--benefit has no effect", "--kind decision"),
    (3, "measure empty.csv", "empty", "even a table without rows has a header"),
    (3, "measure header.csv", "no rows", ""),
    (3, "measure nowhere.csv", "nowhere.csv", ""),
    (3, "measure goodd.csv", "goodd.csv: there is no such file", "did you mean good.csv"),
    (3, f"measure {MANY} --by country device", "device: there is no such file", "repeat the option"),
    (3, f"measure {MANY} --threshold 0.1 0.2", "0.2: there is no such file", "commas between its values"),
    (3, "measure gone/good.csv", "gone/good.csv: there is no such file", "there is no folder gone either"),
    (3, "measure nan.csv", "1 of 61 ... row 61", ""),
    (3, "measure gap.csv", "1 of 61 ... row 61", ""),
    (3, "measure above.csv", "1 of 61 values lies outside [0, 1] ... 1.2 at row 61", ""),
    (3, "measure logits.csv", "", "--scale logit"),
    (3, "measure twos.csv", "", "--positive 2"),
    (3, f"measure words.csv {COLUMNS}", "", "--positive bad or --positive good: the label"),
    (3, f"measure dates.csv {COLUMNS}", "", "these are no probabilities: name another column"),
    (3, f"measure rounded.csv {COLUMNS}", "", "if this is rounding, --on-range clip moves them to 0 or 1"),
    (3, "fit zeros.csv", "both labels", ""),
    (3, "fit one.csv", "", ""),
    (3, f"measure unlabelled.csv {COLUMNS} --positive yes", "2 of 2 values are missing", ""),
    (3, f"fit unlabelled.csv {COLUMNS} --positive yes -o out.json", "2 of 2 values are missing", ""),
    (3, "measure half.parquet -s score -y label", "half.parquet", ""),
    (3, f"verify t.csv {COLUMNS} --artifact cut.json --max-ece 0.1", "cut.json ... ends too early", ""),
    (3, f"measure t.csv {COLUMNS} --artifact preds", "preds: cannot be read", ""),
    (3, "inspect wrong.json", "$.", ""),
    *((3, f"measure blank{n}.csv", "is blank", "") for n in range(3)),
    (3, f"measure utf16.csv {COLUMNS} --encoding utf-16", "", "--encoding utf-16-le"),
    (3, f"measure utf16.jsonl {COLUMNS} --encoding utf-16", "", "--encoding utf-16-le"),
    (2, "measure good.csv --on-missing null", "which only apply does", "drop"),
    (2, "measure good.csv --on-range null", "which only apply does", ""),
    (2, f"measure {ZOO} --on-sum null", "which only apply does", ""),
    (2, "plan --like gaps.csv --max-ece 0.05 --on-missing null", "which only apply does", ""),
    (3, "apply cal.json gaps.csv -o out.csv", "2 values is missing", "apply --on-missing null"),
    (2, "apply cal.json gaps.csv -o out.csv --on-missing drop", "apply writes every row", "missing null"),
    (3, "apply cal.json words.csv -s label --on-missing null -o out.csv", "none of 2 values is a number", ""),
    (3, "compare apart.csv -s a -s b --on-missing drop", "", "compare takes --on-missing pairwise"),
    (2, "measure nowhere.csv --engine-address tcp://127.0.0.1:8786", "without an engine", ""),
    (2, "measure nowhere.csv --engine dask -j 2", "workers of its own", ""),
    (2, "measure rows.jsonl --decimal ,", "--decimal is for CSV", ""),
    (2, "measure rows.jsonl --delimiter ';'", "--delimiter is for CSV, and rows.jsonl is jsonl", ""),
    (2, "measure lists.parquet --encoding latin-1", "--encoding is for text, and lists.parquet is", ""),
    (2, f"measure - - {COLUMNS}", "only once", ""),
    (2, "measure good.csv --decimal ';'", "not a decimal mark", ""),
    (3, "measure lists.parquet", "looks like the score", "or several classes with --probs logits"),
    (3, "measure lists.parquet --probs logits", "6 of 8 values lie outside [0, 1]", ""),
    (3, f"measure {MANY} --by countri", "", "did you mean 'country'?"),
    (3, f"measure {MANY} --cluster sites", "", "did you mean 'site'?"),
    (3, "measure columns.json -s s", "column 's': an object at row 1 is not a number", "orient='records'"),
    (3, "measure wrapped.json -s s", "there is no column 's'", "jq -c '.[] | .[]' FILE"),
    (3, "measure wrapped.json", "no column looks like the score", "jq -c '.[] | .[]' FILE"),
    (3, "measure named.json", "no column looks like the score", "jq -c '.[] | .[]' FILE"),
    (3, "measure one_key.jsonl", "no column looks like the label", "name it with --label"),
    (3, "measure blank.jsonl", "no column looks like the label", "name it with --label"),
    (3, "measure inner.json", "no column looks like the score", "name it with --score"),
    (3, "measure nested.jsonl -s answer.p", "no column 'answer.p'", "jq -c '.p = .answer.p' FILE"),
    (3, "measure nested.jsonl -s 'answer.p 1'", "no column", """jq -c '."p 1" = .answer."p 1"' FILE"""),
    (3, "measure nested.parquet -s answer.p", "no column", "(SELECT *, answer.p AS p FROM 'FILE')"),
    (3, "measure nested.jsonl --probs answer.*", "no column fits", "jq -c '.NAME = .answer.NAME' FILE"),
    (3, "measure nested.jsonl -s answer", "an object at row 1", "jq -c '.answer + del(.answer)' FILE"),
    (3, "measure nested.jsonl --probs answer", "no list of numbers", "jq -c '.answer + del(.answer)' FILE"),
    (
        3,
        "measure bigquery.jsonl -s probs",
        "a list at row 1 is not a number",
        """jq -c '. + ([.probs[] | {("p_" + .label): .prob}] | add)' FILE""",
    ),
    (3, 'measure quoted.jsonl -s "it\'s"', "an object", """jq -c '."it'"'"'s" + del(."it'"'"'s")' FILE"""),
    (3, "measure quoted.jsonl -s é", "an object", """jq -c '."é" + del(."é")' FILE"""),
    (3, "measure quoted.jsonl -s é.p", "no column", """jq -c '.p = ."é".p' FILE"""),
    (3, f"measure {MANY} --by a1", "there is no column 'a1'", ""),
    (3, f"report {MANY} --by day -o r.html", "makes over 1,000 groups (1,200 so far)", "take up to 100,000"),
    # Usage.
    (2, "measure", "Missing argument 'INPUT...'", "name a file, or - for what is piped"),
    (2, "verify --max-ece 0.1", "Missing argument 'INPUT...'", "name a file, or - for what is piped"),
    (2, "drift good.csv ./good.csv", "./good.csv would be compared with itself", "the new rows second"),
    (3, f"measure comment.csv {COLUMNS}", "no column 'score'", "here it holds a comment: take it out"),
    (2, "drift a.csv b.csv c.csv", "Got unexpected extra argument", "'loans_*.csv' --by month"),
    (2, "nonsense", "", "calibcli --help"),
    (2, "good.csv", "No such command 'good.csv'", "calibcli inspect good.csv"),
    (2, "segments good.csv", "Missing option '--on'", "--on country,device"),
    (2, "report good.csv", "Missing option", "-o report.html"),
    (2, "merge summary.json", "Missing option", "-o all.json"),
    (2, "merge summary.json -o all.json --state-key-file t.csv", "summary.json is a summary", "leave it out"),
    (2, "segments good.csv --on a --depth 9", "--depth: 9 is too large", "--depth takes at most 4"),
    (2, "segments good.csv --on a --depth 0", "--depth: 0 is too small", "--depth takes 1 or more"),
    (2, "plan --max-ece 0.1 --power 90", "--power 90 is out of range", "did you mean 0.9?"),
    (2, "plan --max-ece 0.1 --error 2", "--error 2 is out of range", "did you mean 0.02?"),
    (2, "measure good.csv --confidence 1.5", "", ""),
    (2, "measure nothing.csv --confidence high", "--confidence: 'high' is not a number", ""),
    (2, "measure nothing.csv --jobs 1.5", "--jobs: '1.5' is not a whole number", ""),
    (2, "measure nothing.csv --jobs -3", "--jobs", ""),
    (2, "measure nothing.csv --binning tall", "--binning: there is no 'tall'", ""),
    (2, "measure good.csv --bins 0", "", ""),
    (2, "measure good.csv --memory lots", "", ""),
    (2, "measure good.csv --metric nonsense", "", ""),
    (2, "measure good.csv -m logistic", "there is no metric 'logistic'", "calibcli fit --method logistic"),
    (2, "measure good.csv -m venn-abers", "there is no metric", "calibcli fit --method venn-abers"),
    (2, "plot good.csv --kind attributes -o p.png", "", "the attributes diagram is --attributes"),
    (2, "report good.csv -o r.pdf", "a report is a page of HTML", "for a paper: measure --format latex"),
    (2, "plot good.csv --kind isotinic -o p.png", "", "`calibcli plot --help` lists all"),
    (2, "plot good.csv -o p.bmp", "", ""),
    (5, "measure good.csv -o ''", "the name of the output is empty", ""),
    (5, "fit good.csv -o t.csv", "", "--force"),
    (5, "fit good.csv -o good.csv --force", "", ""),
    (5, "fit good.csv -o no/cal.json", "no directory", ""),
    *(
        (2, f"{words} good.csv --weights-are frequency", "--weights-are frequency without", "with --weight")
        for words in ("measure", "verify --max-ece 0.5", "fit")
    ),
    (2, "fit nowhere.csv --sample 0.1", "--sample: '0.1' is not a whole number", "not a share"),
    (2, "fit nowhere.csv --limit x", "--limit: 'x' is not a whole number", "--limit takes a whole number"),
    (2, "fit nowhere.csv --limit 0", "--limit: 0 is too small", "--limit takes 1 or more"),
    (2, "verify nowhere.csv --max-ece 2%", "--max-ece: '2%' is not a number", "write 0.02 for 2%"),
    (2, "verify nowhere.csv --max-ece 0,02", "--max-ece: '0,02' is not a number", "such as 0.02"),
    (2, "verify nowhere.csv --max-smece 5%", "--max-smece: '5%' is not a number", "write 0.05 for 5%"),
    (2, "fit nowhere.csv --method plat", "--method: there is no 'plat'", "did you mean platt?"),
    (2, "fit nowhere.csv --method dirichlet", "--method: there is no 'dirichlet'", "--multiclass matrix"),
    (2, "fit nowhere.csv --multiclass dirichlet", "--multiclass: there is no", "--multiclass matrix"),
    (2, "plot nowhere.csv --cluster group", "calibcli plot takes no --cluster", "measure --cluster COL"),
    (2, f"measure {ZOO} -m accuracy --cluster label", "not measured where rows", "-m observed_rate,brier"),
    (2, "measure good.csv --cluster", "'--cluster' requires an argument", "calibcli measure --help"),
    (2, "fit good.csv --method", "'--method' requires an argument", "calibcli fit --help"),
    (2, "segments good.csv --on", "'--on' requires an argument", "--on country,device"),
    (2, "plot good.csv --terminal -o -", "-o - writes a picture there as well", "name a file"),
    (2, "apply cal.json good.csv --on-missing no", "--on-missing: there is no 'no'", "one of error, null"),
    (2, "plot good.csv --terminal=3", "'--terminal' does not take a value", "calibcli plot --help"),
    (2, "measure x.csv --json --format csv", "--json and --format csv are two formats", "leave out one"),
    (2, "inspect t.csv --json --format csv", "--json and --format csv are two formats", ""),
    (2, "apply good.csv cal.json", "where the artifact does", "calibcli apply cal.json good.csv"),
    (2, "apply good.csv --artifact cal.json", "No such option", "name: calibcli apply ARTIFACT INPUTS"),
    (3, "measure good.csv --by score,label", "no column 'score,label'", "repeat the option for each"),
    (3, "fit good.csv -s scor*", "no column 'scor*'", "name one of those that fit: 'score'"),
    (2, "measure good.csv -m psi", "there is no metric 'psi'", "calibcli drift"),
    (3, "compare good.csv -s score --reference climatology", "no column 'climatology'", "-m brier_skill"),
    (2, "measure good.csv -m E/O", "there is no metric 'E/O'", "E/O is 1 divided by the O/E ratio: -m oe"),
    (2, f"{PLOT} --kind mcb-dsc --benefit gain", "no effect on --kind mcb-dsc", "pass --kind decision"),
    (2, f"{PLOT} -s old --kind residual", "no effect on --kind residual", "one picture for each"),
    (2, "measure good.csv -m ece,brir", "there is no metric 'brir'", "did you mean brier"),
    (2, "measure good.csv --max-ece 0.02", "No such option", "an option of verify, plan and report"),
    (2, "measure good.csv --n_bins 10", "No such option: --n_bins", "here it is called --bins"),
    (2, "measure good.csv --alpha 0.1", "No such option: --alpha", "called --confidence, and is 1 - alpha"),
    (2, "fit good.csv --cv 5 -o a.json", "No such option: --cv", "here it is called --folds"),
    (2, "measure good.csv -m neg_brier_score", "there is no metric", "did you mean brier_score"),
    (2, "measure good.csv --confidence 95", "--confidence 95 is out of range", "did you mean 0.95?"),
    (2, "plan good.csv --like new.csv --max-ece 0.02", "both say how scores fall", "leave out one"),
    (3, "measure good.csv -s label -y score", "neither 0 nor 1", "swapped? Try -s score -y label"),
    (2, f"fit {ZOO} --method beta", "is for one score", "--multiclass one-vs-rest"),
    (2, f"fit {ZOO} --method platt", "--method platt is for one score", "--multiclass one-vs-rest"),
    (2, f"fit {ZOO} --by group", "--by fits a map of one score", "to its rows alone"),
    # Measures.
    (2, f"measure {MANY} --by country --by country", "column 'country' is named twice with --by", " "),
    (2, f"verify {MANY} --max-ece 0.5 --bins 3 --binning atoms", "--bins 3 and --binning atoms", "one"),
    (2, f"measure {MANY} --by label", "'label' cannot be --label and --by at once", "--label or --by"),
    (2, f"measure {MANY} --by country --cluster country", "cannot be --by and --cluster at once", ""),
    (2, f"measure {MANY} -s score", "column 'score' is named twice as the score", "compare --artifact"),
    (2, f"measure {MANY} -s old --artifact x.json", "2 scores and an artifact", " "),
    (2, f"measure {MANY} --by country --confidence 0.999999", "a confidence of 0.999999 over 2 groups", " "),
    (2, f"measure {MANY} --by country --compat netcal", "--compat gives the numbers of one score", " "),
    (2, f"measure {MANY} -s old --compat netcal", "over all rows, without several scores", " "),
    (2, "measure many.csv -y label -s [os]*[de] --compat netcal", "all rows, without several scores", " "),
    (2, "measure weights.csv -w w --compat netcal", "netcal takes no importance weights", ""),
    (2, "measure t.csv --memory 100K --compat netcal", "", "pass --exact"),
    (2, "measure t.csv --compat netcal --metric ece", "--metric", ""),
    *(
        (2, f"measure t.csv --compat netcal {words}", f"without {words.split()[0]}", "leave out")
        for words in (
            "--confidence 0.9", "--top 3", "--class-weights cat=3", "--smoother kernel", "--sort name",
            "--power 3",
        )
    ),
    (2, "measure t.csv --power 3", "--power is that of lp, which is not measured", "--metric lp"),
    (2, "measure t.csv -m brier --bounds", "--bounds lists other bounds of ece", "--metric ece"),
    (2, "measure t.csv --edges 0,1,0.5", "edges 0,1,0.5", "ascend from 0 to 1"),
    (2, "measure t.csv --edges 0,x,1", "edges '0,x,1'", "ascend from 0 to 1"),
    (2, "measure t.csv --edges 0,1 --bins 3", "", "leave out one of them"),
    (2, "measure t.csv --bounds --cluster label", "--bounds lists bounds for independent rows", " "),
    (2, "measure t.csv --edges 0,1 --compat netcal", "--compat", " "),
    # Rows that are chosen.
    (3, f"measure {MANY} --where contry==US", "there is no column 'contry'", "did you mean 'country'?"),
    (2, f"measure {MANY} --where country=US", "is no column", "write == for equal: 'country==US'"),
    (3, f"measure {MANY} --where country==us", "none of 1,200 rows satisfies", "upper and lower case"),
    (3, f"measure {MANY} --where country==NA", "'NA' in --where stands for a missing value", "Parquet"),
    (3, f"measure {MANY} --where 'country in US,\"\"'", "'' in --where stands for", "no condition"),
    (2, f"measure {MANY} --where 'days in bed>=3'", "more text after a value", "a column with the word in"),
    (2, f"measure {MANY} --where 'day in 1 and x>=3'", "more text after a value", "one condition per"),
    (3, f"measure {MANY} --where score==high", "holds double, and --where compares it with 'high'", "number"),
    (2, f"measure {MANY} --limit 3 --sample 3", "--limit 3 takes the first rows", "leave out"),
    (2, f"measure {MANY} --limit 0", "--limit: 0 is too small", "1 or more"),
    # Drift.
    *(
        (code, f"drift {words}", said, "")
        for code, words, said in (
            (2, "- -", "old and new rows are both standard input"),
            (2, "t.csv many.csv -s score -w label", "importance weights are not counts"),
            (2, "t.csv many.csv -s score --on score", "cannot be --score and --on at once"),
            (2, "t.csv many.csv -s score --categorical label", "--on does not"),
            (2, "t.csv many.csv -s score --on-missing null", "which only apply does"),
            (3, "t.csv many.csv -s pd", "there is no column 'pd'"),
            (2, "t.csv many.csv -s score --by country", "--by compares the groups of one file, and two are"),
            (2, "many.csv -s score", "nothing to compare with: one file, and no column that makes groups"),
            (2, "many.csv -s score --by country --by site", "--by names 2 columns"),
            (2, "many.csv -s score --by country --categorical site", "--on does not"),
            (2, "many.csv -s score --by country --on site", "--on with one file"),
            (2, "many.csv -s score --by country --where country==US", "every row has one value of 'country'"),
        )
    ),
    (2, "drift t.csv many.csv -s score --confidence 95", "", "did you mean 0.95?"),
    *(
        (2, f"{STATE} --max-ece 0.2 {words}", f"and {words.split()[0]} leaves some out", "")
        for words in ("--limit 50", "--sample 50")
    ),
    # Gates.
    (2, f"verify t.csv {COLUMNS}", "no rule to verify", " "),
    (2, "verify t.csv --max-ece", "", ""),
    (2, "verify t.csv --max-ece 0.1 --no-such-option", "", ""),
    (2, "verify t.csv --max-ece 2", "--max-ece 2 is out of range", "did you mean 0.02?"),
    (2, "verify t.csv --max-ece 0", "--max-ece 0 is out of range", " "),
    (2, "verify t.csv --rule ece<0.1", "a rule with <", " "),
    (2, "verify t.csv --max-ece 0.1 --config nowhere.toml", "nowhere.toml", ""),
    (2, "measure t.csv --config", "'--config' requires an argument", "--config calibcli.toml"),
    (3, "verify t.csv --max-ece 0.1 -s scor", "'scor'", ""),
    (3, "verify t.csv --max-ece 0.1 --artifact nowhere.json", "nowhere.json: there is no such file", ""),
    (5, "verify t.csv --max-ece 0.1 -o nowhere/report.txt", "nowhere", ""),
    (5, "verify t.csv --rule ece.value<=0.001 -o good.csv", "good.csv exists already", ""),
    (2, "verify t.csv --max-ece 0.1 --bins none", "Theorem 12.5", " "),
    (2, "verify t.csv --max-ece 0.1 --bins few", "'few' bins", " "),
    (2, "verify t.csv --max-ece 0.1 --bins 0.1,3", "--bins names 3, which is no score on --scale prob", ""),
    (2, "verify t.csv --max-ece 0.1 --bins 0.1,x", "is no number", ""),
    (2, "verify t.csv --max-ece 0.1 --bins 0.1,0.2 --binning equal-width", "0.1,0.2 and --binning", ""),
    (2, "verify t.csv --max-l2 0.1", "cannot be bounded", " "),
    (2, "verify t.csv --max-linf 0.1", "cannot be bounded", " "),
    (2, "verify t.csv --max-ece 0.1 --min-group-rows 9", "--min-group-rows without groups", " "),
    (2, "verify t.csv --max-ece 0.1 --on label", "--on without a rule about segments", "--max-segment-bias"),
    (2, "verify t.csv --max-ece 0.1 --depth 3", "--depth without a rule about segments", ""),
    (2, "verify t.csv --max-segment-bias 0.1", "segments without --on", "--on country"),
    *(
        (2, f"{words} {idle}", f"{idle.split()[0]} without groups", "--by")
        for words in ("measure t.csv", "report t.csv -o r.html", "plot t.csv -o p.svg")
        for idle in ("--min-group-rows 9", "--sort name")
    ),
    (2, "verify t.csv --max-smece 0.1 --bins 7", "nothing that is asked for has any", "ask for the ECE"),
    (2, "verify t.csv --rule auroc>=0.5 --bins none", "--bins and --binning say how bins are cut", ""),
    (2, f"compare {MANY} -s old -m brier --binning atoms", "nothing that is asked for has any", "ask for"),
    (3, "measure excel.csv --delimiter ;", "no column looks like the score", "the separator, for Excel"),
    (3, "measure thousands.csv -w w", "'1,000' at row 1 is not a number", "thousands without commas; if"),
    (3, "measure row_names.csv", "2 of the first 2 rows do not have 2 fields", "(row.names = FALSE)"),
    (3, "measure good.csv --score-map deep.json", "deep.json: cannot be read as phrases", "write phrases"),
    (5, "export cal.json --to sql -o good.csv", "good.csv exists already", "--force"),
    # What is read beside rows is an input, too.
    (5, "export cal.json --to sql -o cal.json --force", "cal.json is also an input", ""),
    (5, "measure good.csv --score-map phrases.csv -o phrases.csv --force", "phrases.csv is also an", ""),
    (5, "fit good.csv --score-map phrases.json -o phrases.json --force", "phrases.json is also an input", ""),
    (5, "measure good.csv --config settings.conf -o settings.conf --force", "settings.conf is also an", ""),
    (5, f"{STATE} --max-ece 0.1 --state-key-file key.txt -o key.txt --force", "key.txt is also an input", ""),
    (2, f"{STATE} --max-ece 0.1 --state-key-file good.csv", "good.csv holds a key of less", "one a line"),
    (3, "measure https://example.org/a.csv", "a.csv: there is no such file", "download it first"),
    (2, "drift t.csv good.csv --bins 5000", "--bins: 5000 is too large", "takes at most 1000"),
    (2, "drift t.csv good.csv --max-values 4", "--max-values is of further columns", "name them with --on"),
    (2, "drift t.csv good.csv --numeric score", "--numeric names 'score'", "--on names no column"),
    (2, "measure t.csv -m ece --smoother loess", "--smoother draws the curve of ici", "--metric ici"),
    (2, "measure t.csv -m ece --bandwidth 0.1", "--bandwidth without the metric smece", "--metric smece"),
    (2, f"measure {ZOO} --top 4", "--top 4, and there are 3 classes", "at most 3"),
    (2, f"measure {ZOO} --top 11", "--top 11 is more than are looked at together", "at most 10"),
    (2, f"measure {ZOO} --top 2 --binning equal-mass", "equal-mass bins follow from the rows", "--edges"),
    (2, f"measure {ZOO} --top 10 --bins 100", "more cells than have numbers", "fewer --bins"),
    (2, f"measure {ZOO} --top 2 --class cat --view one-vs-rest", "--top looks at all", "without --class"),
    (2, f"measure {ZOO} --class-weights cow=2", "'cow', which is no class", "one of"),
    (2, f"measure {ZOO} --class-weights cat", "no list of classes with weights", "cat=3,dog=0"),
    (2, f"measure {ZOO} --class-weights cat=-1", "gives 'cat' the weight -1", "at least 0"),
    (2, f"measure {ZOO} --class-weights cat=1,cat=2", "names a class twice", "cat=3,dog=0"),
    (2, f"measure {ZOO} -m accuracy --class-weights cat=2", "without the metric marginal_l2", "marginal_l2"),
    (2, f"measure {ZOO} --view one-vs-rest --class cat -m marginal_l2 --class-weights cat=2",
        "a measure of all classes", "leave out --class"),
    (2, "measure t.csv --bandwidth 2", "--bandwidth 2 is out of range", "from 0.001 to 1"),
    (2, "verify t.csv --max-segment-bias 2", "--max-segment-bias 2 is out of range", "did you mean 0.02?"),
    (2, "verify t.csv --max-segment-bias 0.1 --on a --by b", "for all rows together, and --by", "--on"),
    (2, "verify t.csv --max-segment-bias 0.1 --on a --state s.json --id b", "--id with a limit", "--batch"),
    (2, "verify t.csv --rule segment_bias>=0.1 --on a", "a rule for segments needs <=", "segment-bias 0.1"),
    (2, "verify t.csv --rule mce>=0.1 --on a", "a rule for segments needs <=", "--rule 'mce<=0.1'"),
    (2, "verify t.csv --rule mce<=5 --on a", "'mce<=5' seems to be in per cent", "did you mean 0.05?"),
    (2, "verify t.csv --rule oe<=110", "'oe<=110' seems to be in per cent", "did you mean 1.1?"),
    (2, "verify t.csv --rule slope>=80", "'slope>=80' seems to be in per cent", "did you mean 0.8?"),
    (2, "verify t.csv --rule mce_p<=0.1 --on a", "would pass scores", "'mce.p>=0.01'"),
    (2, "verify t.csv --rule mce_p>=1.5 --on a", "can never be shown", "between 0 and 1"),
    (2, "verify t.csv --rule mce_sigma.p>=0.1 --on a", "has no p-value", " "),
    (2, "verify t.csv --rule mce_p>=0.1", "segments without --on", "name some"),
    (2, "verify t.csv --rule mce_p>=0.1 --on a --state s.json", "--state with mce", "--max-segment-bias"),
    (2, "verify t.csv --rule mce_p>=0.1 --on a -w label", "weights are not counts", "frequency"),
    (2, "verify t.csv --rule mce_p>=0.1 --on a --by b", "for all rows together, and --by", "--on"),
    (2, "measure t.csv --metric mce_p", "is a rule for segments", "calibcli segments"),
    (2, "verify t.csv --max-segment-bias 0.1 --on a -w label", "weights are not counts", "frequency"),
    (3, "verify t.csv --max-segment-bias 0.1 --on nope", "nope", ""),
    (2, "segments - -s a -s b --on c", "standard input can be read once ... 2 scores", "a file"),
    (2, f"segments {ZOO} --view one-vs-rest --on key", "a score for each class", "--class"),
    (2, "segments t.csv -s a -s a --on c", "is named twice as the score", "different"),
    (2, "segments t.csv -s a -s b --on c --artifact cal.json", "2 scores and an artifact", "one score"),
    (2, "measure t.csv --metric segment_bias", "is a rule for segments", "calibcli segments"),
    (2, "verify t.csv --max-ece 0.1 --batch a", "--batch without --state", " "),
    (2, "verify t.csv --max-ece 0.1 --id a", "--id without --state", " "),
    (2, "verify t.csv --max-ece 0.1 --planned-rows 9", "--planned-rows without --state", " "),
    (2, "verify t.csv --max-ece 0.1 --alarm", "--alarm without --state", " "),
    (2, f"{STATE} --max-ece 0.1 --alarm --min-rows 50", "--min-rows is of verdicts", "leave it out"),
    (2, f"verify {ZOO} --max-ece 0.1 --baseline-score p_cat --max-regression 0.1",
        "--baseline-score p_cat is one score", "--baseline report.json"),
    (2, "verify t.csv --max-ece 0.1 --max-dce 0.1 --state s", "keeps one rule", "--confidence 1 - 0.05/K"),
    (2, "verify t.csv --max-ece 0.1 --state s --by label --by score", "--by takes one", "--by month"),
    (2, "verify t.csv --max-ece 0.1 --state s --by score --batch x", "--by takes one", "leave out --batch"),
    (2, "verify t.csv --max-ece 0.1 --max-regression 0.1", "--max-regression without a baseline", " "),
    *(
        (2, f"verify nowhere.csv --max-ece 0.1 {words}", said, "")
        for words, said in (
            ("--regression-metric ece", "--regression-metric without"),
            ("--baseline a --baseline-score b --max-regression 0.1", "two baselines"),
            ("--baseline a", "without --max-regression"),
            ("--baseline a --max-regression=-0.1", "-0.1"),
            ("--baseline a --max-regression 0.1 --regression-metric cox_slope", "cox_slope"),
        )
    ),
    (2, "verify good.csv --max-bias 0.01", "", "--rule 'bias.upper<=X' and --rule 'bias.lower>=-X'"),
    (2, "verify good.csv --min-auc-roc 0.01", "", "calibcli verify --help"),
    (2, "plan good.csv --max-ece 0.1 -y label", "No such option", "plan reads scores alone: leave the label"),
    (2, "apply cal.json good.csv -y label", "No such option", "apply reads scores alone: leave the label"),
    (2, "drift good.csv t.csv -y label", "No such option", "drift reads scores alone: leave the label"),
    (2, "apply cal.json good.csv --bins 5", "No such option", "--bins is an option of fit, measure,"),
    (2, "verify weights.csv -w w --rule auroc>=0.5", "for importance weights: its", "ece, dce, smece"),
    (2, "verify weights.csv -w w --max-ece 0.02 --state s", "importance weights are no counts", "--state"),
    (3, "verify t.csv --baseline nope.json --max-regression 0.01", "", "--json -o report.json` writes"),
    *(
        (3, f"verify t.csv --baseline {data} --max-regression 0", words, "A baseline is what `calibcli")
        for data, words in (("t.csv", "is not JSON"), ("lists.parquet", "is not a text file"))
    ),
    (3, "apply lists.parquet t.csv -o x.csv", "is no artifact (not a text file", "calibcli fit"),
    (2, "verify t.csv --baseline cal.json --max-regression 0", "cal.json: is an artifact", "--json"),
    # States.
    (2, f"{STATE} --max-dce 0.1", "nothing says how many rows", "--planned-rows"),
    (2, f"{STATE} --max-ece 0.1 --planned-rows 100", "--planned-rows without --max-dce", ""),
    (2, f"{STATE} --max-ece 0.1 --binning atoms", "bins that are fixed in advance", ""),
    (2, f"{STATE} --max-ece 0.1 --allow-fit-rows", "--allow-fit-rows", "a state keeps what it counts"),
    *(
        (2, f"verify {MANY} --max-ece 0.1 --state new.json --by country {words}", "of --by are batches", "")
        for words in ("--min-group-rows 9", "--sort rows")
    ),
    *(
        (2, f"verify t.csv --rule {rule} --confidence 0.9", "--confidence is of bounds", "leave it out")
        for rule in ("ks.p>=0.01", "ece.value<=0.1")
    ),
    (2, f"{STATE} --rule ece.lower>=0.1", "", "a state takes --max-ece 0.1"),
    (2, f"{STATE} --max-ece 0.1 --bins 20000", "20,000 bins", "from 1 to 10,000"),
    (3, f"{STATE} --max-ece 0.1 -w score2", "no column 'score2'", ""),
    (2, f"{STATE} --max-l2 0.05", "for which no bound holds at any time", ""),
    (2, f"{STATE} --max-linf 0.05", "for which no bound holds at any time", ""),
    (2, f"{STATE} --max-smece 0.05", "for which no bound holds at any time", ""),
    (2, f"verify t.csv {COLUMNS} --max-ece 0.1 --state ''", "--state '' names no file", ""),
    (2, f"{STATE} --max-dce 0.3 --planned-rows 1000 --bins 20", "--bins or --binning with --max-dce", ""),
    (2, f"{STATE} --max-dce 0.3 --planned-rows 1000 --binning equal-width", "--binning with --max-dce", ""),
    (2, f"{STATE} --max-dce 0.3 --planned-rows 9999999999999999", "--planned-rows", ""),
    (2, STATE, "", "try --max-ece 0.02"),
    (2, "verify summary.json --max-ece 0.3 --state new.json", "--state counts rows, and summary.json is", ""),
    (2, f"{ASKED} --max-ece 0.04", "limit: 0.05, not 0.04", ""),
    (2, f"{ASKED} --max-ece 0.05 --confidence 0.9", "confidence: 0.95, not 0.9", ""),
    (2, f"{ASKED} --max-ece 0.05 --bins 20", "bins: 15, not 20", ""),
    (2, f"{ASKED} --max-ece 0.05 --id label", "identities: of batches, not of rows", ""),
    (2, f"{ASKED} --max-ece 0.05 --alarm", "question: a gate, not an alarm", ""),
    (2, f"{ASKED} --max-ece 0.05 --positive 1", "label that counts as 1: none, not '1'", ""),
    (2, f"{ASKED} --max-ece 0.05 --scale logit --on-range clip", "scale: prob, not logit", ""),
    (2, f"{ASKED} --max-dce 0.05 --planned-rows 1000", "measure: ece, not dce", ""),
    (2, f"verify t.csv {COLUMNS} --max-ece 0.05 --state -", "standard output", ""),
    *(
        (5, f"verify t.csv {COLUMNS} --max-ece 0.05 --state {place}", said, "")
        for place, said in (
            ("t.csv", "is also an input"), (".", "is a directory"), ("no/gate.json", "there is no directory"),
        )
    ),
    (2, f"verify {MANY} --max-ece 0.05 --state new.json --by country --by site", "--by takes one column", ""),
    (5, f"{STATE} --max-ece 0.05 --json -o new.json --force", "is the state", ""),
    (3, "verify unnamed.csv --max-ece 0.05 --state new.json --by month", "1 row has no value, and is", ""),
    (3, "verify seven.csv --max-ece 0.05 --state new.json --by month", "'07' and '7' are one number", ""),
    # Gates over several classes.
    (2, "verify zoo.csv -y label -s p_cat --positive cat --rule accuracy>=0.9", "--probs names none", " "),
    (2, f"verify {ZOO} --view top-label --class cat --rule accuracy>=0.9", "--class cat looks at one", " "),
    (2, f"verify {ZOO} --by id --rule accuracy>=0.9", "for all rows together", " "),
    (2, f"verify {ZOO} --by id --view top-label --max-ece 0.4", "--view judges every class", ""),
    (2, f"verify {ZOO} --state new.json --rule accuracy>=0.9", "no bound holds at any time", " "),
    *(
        (2, f"verify zoo.csv -y label --state zoo.json {words}", said, " ")
        for words, said in (
            ("--probs p_* --max-ece 0.2 --view one-vs-rest", "--view one-vs-rest of every class"),
            ("--probs p_* --max-ece 0.2 --view top-label --class cat", "one-vs-rest of 'cat', not top-label"),
            ("--probs p_* --max-ece 0.2 --view one-vs-rest --class ant", "not one-vs-rest of 'ant'"),
            ("--probs p_* --max-ece 0.2", "not confidence"),
            ("-s p_cat --positive cat --max-ece 0.2", "scores: of several classes, not of two"),
            ("--probs p_* --max-ece 0.2 --view one-vs-rest --class cat --by label", "--by"),
            ("--probs p_* --rule accuracy>=0.5", "no bound holds at any time"),
        )
    ),
    # Several classes, measured.
    (2, "measure zoo.csv -y label --metric accuracy -s p_ant --positive ant", "--probs names none", " "),
    (2, f"measure {ZOO} --metric accuracy --view top-label --class cat", "--class cat", " "),
    (2, f"measure {ZOO} --class cat", "without a view of single classes", " "),
    (2, f"measure {ZOO} --on-sum accept -m class-brier", "class_brier needs rows that sum to 1", ""),
    *(
        (code, f"measure zoo.csv -y label --probs {words}", said, "")
        for code, words, said in (
            (3, "q_*", "no column fits --probs 'q_*'"),
            (3, "p_a*", "only 'p_ant' fits --probs 'p_a*'"),
            (3, "p_ant,p_dog", "there is no column 'p_dog'"),
            (2, "p_ant,p_ant", "--probs names column 'p_ant' more than once"),
            (2, "p_* --classes a,b,a", "two columns stand for class 'a'"),
            (2, "p_* --classes bee,ant,cat", "--classes names the column 'p_ant' 'bee'"),
        )
    ),
    (2, f"measure {ZOO} --view one-vs-rest --class cow", "there is no class 'cow'", " "),
    (2, f"plot {ZOO} -o out.svg --kind binned --view one-vs-rest", "", "name one class with --class"),
    # Fits and maps.
    *(
        (2, f"fit {ZOO} {words}", "", " ")
        for words in (
            "--method auto", "--method isotonic", "--candidate platt", "--group id",
            "--multiclass confidence --method smooth --randomised",
        )
    ),
    *(
        (2, f"fit no.csv --probs p_* --multiclass {words}", f"{words.split()[-2]} has no effect", "leave out")
        for words in (
            "temperature --bins 5", "vector --folds 3", "matrix --loss brier", "top-label --bins 9",
            "one-vs-rest --method isotonic --beta-form am", "one-vs-one --method isotonic --folds 3",
        )
    ),
    *(
        (2, f"fit nowhere.csv --method {words}", f"{words.split()[1]} has no effect on --method", "")
        for words in (
            "identity --bins 5", "platt --folds 7", "platt --randomised", "isotonic --smooth-targets",
            "histogram --base smooth", "auto --bins 3",
        )
    ),
    (2, "fit nowhere.csv --method auto --randomised", "--randomised is not part of what auto compares", ""),
    (2, "fit nowhere.csv --method scaling-binning --base identity", "cannot be based on identity", ""),
    (2, f"fit {MANY} -g country", "--group without --method auto", ""),
    (2, f"fit {MANY} --candidate platt", "", ""),
    (2, f"fit {MANY} -m segments --on country --candidate platt", "--candidate without --method auto", ""),
    (2, f"fit {MANY} -m auto --candidate auto", "", ""),
    (2, f"fit {MANY} --min-group-rows 7", "without groups", ""),
    (2, f"fit {MANY} -m auto --by country --group country", "", "leave out one of them"),
    (2, f"fit {MANY} --by score", "a map to each value of the score", "leave out --by"),
    (2, f"fit {MANY} --by country --by label", "a fit takes one column of groups", ""),
    (2, f"{APPLY} -s p_ant", "it was fitted to 3 classes, and one score was named", " "),
    (2, f"{APPLY} --prior 0.2", "--prior is the base rate of one label", " "),
    (3, f"{APPLY} --probs p_[ab]*", "the rows lack 'cat'", " "),
    (3, f"{APPLY} --probs p_* --classes a,b,c", "which it does not know", " "),
    (2, f"{APPLY} --probs p_* --classes a,b", "--classes names 2 classes", " "),
    (3, f"{APPLY} --probs z_*", "no column fits --probs 'z_*'", " "),
    (2, f"{APPLY} --name ' '", "the new column has no name", " "),
    (3, "apply classes.json lacks.csv -o out.csv", "column 'p_cat' of 3 classes is missing", ""),
    (2, f"{APPLY} --classes cat,bee,ant", "--classes names the classes of the columns of --probs", "--probs"),
    (3, "apply classes.json strange.csv -o out.csv", "the names of the classes 'ant', 'bee', 'cat'", ""),
    (2, "apply classes.json choice.csv -o out.csv", "may begin with 'q_', 'r_'", ""),
    (3, "apply classes.json again.csv -o out.csv", "more than once", ""),
    (3, "measure zoo.csv --probs p_* -y label --scale percent", "a sum of 0.01", "--scale prob"),
    (2, "apply cal.json t.csv --probs p_* -o out.csv", "fitted to one score", ""),
    (2, "apply groups.json t.csv --probs p_* -o out.csv", "fitted to one score", "with --probs"),
    (2, "measure zoo.csv --probs p_* -y label --view one-vs-rest --class ant --artifact groups.json",
     "fitted to one score", "--score, or fit"),
    (3, f"verify {MANY} --artifact groups.json --max-ece 0.1 --state new.json", "one map is needed here",
     "verify --state and plot --kind map take no such map"),
    (2, "apply classes.json applied.csv --probs p_* -o out.csv", "has a column 'calibrated_ant' already", ""),
    (2, f"measure {MANY} --unseen pooled", "is for maps fitted by group", ""),
    (2, f"measure {ZOO} --artifact classes.json --unseen pooled", "is for maps fitted by group", ""),
    (2, "apply cal.json many.csv -s score -o out.csv --unseen pooled", "--unseen speaks of", "with --by"),
    (2, "apply cal.json many.csv -s score -o out.csv --on-sum normalise", "--on-sum is for several", ""),
    (2, "apply groups.json many.csv -s score -o out.csv --prior 0.1", "--prior", ""),
    (3, "apply groups.json none.csv -o out.csv", "no column 'country'", ""),
    (2, f"fit {MANY} --method segments", "looks at columns beside the score, and none is named", "--on"),
    (2, f"fit {MANY} --on country", "are for --method segments", "pass --method segments"),
    (2, f"fit {MANY} --depth 2", "are for --method segments", "leave them out"),
    (2, f"fit {MANY} --method segments --on country --by country", "--by and --method", "leave out"),
    (2, f"fit {MANY} --method segments --on country --bins 5", "--bins has no effect", ""),
    (2, f"fit {MANY} --method segments --on country --loss brier", "--loss has no effect", ""),
    (2, f"fit {MANY} --method segments --on country --numeric x", "--on does not", "--on names country"),
    (3, f"fit {MANY} --method segments --on nothing", "no column 'nothing'", ""),
    (2, f"fit {ZOO} --method segments --on id", "repairs one score", "name one score"),
    (3, f"plot {MANY} --artifact groups.json --kind map -o out.png", "map", ""),
    *(
        (code, f"apply cal.json in.{kind} -s score -o out.jsonl {words}", said, "")
        for kind in ("csv", "parquet", "jsonl")
        for code, words, said in (
            (3, "--keep nothing", "there is no column 'nothing'"),
            (3, "--keep z_*", "no column fits --keep 'z_*'"),
            (2, "--keep id,", "names a column without a name"),
            (2, "--name x_1", "has a column 'x_1' already"),
            (2, "--name x_1 --keep x_1", "has a column 'x_1' already"),
            (2, "--to csv", "out.jsonl is the name of jsonl, and --to says csv"),
        )
    ),
    (2, "apply cal.json in.npz -s score -o -", "npz is read, not written", "--to csv, tsv, jsonl, parquet"),
    (2, "apply cal.json preds", "holds several files", "--out-dir"),
    (2, "apply cal.json good.csv t.csv -o c.csv", "2 inputs for one output", ""),
    (2, "apply cal.json preds -o x.parquet --out-dir out", "", ""),
    (2, "apply cal.json preds -o x.parquet --skip-existing", "", ""),
    (2, "apply cal.json preds -o x.parquet", "", ""),
    (5, "apply cal.json preds --out-dir preds --force", "", ""),
    (5, "apply cal.json preds --out-dir cal.json", "", ""),
    *(
        (2, f"apply cal.json in.parquet -o {name}", f"{name}: Parquet is compressed inside", "it x.parquet")
        for name in ("x.parquet.gz", "x.pq.zst", "x.gz")
    ),
    # Comparisons.
    *(
        (2, f"compare many.csv -y label {words}", "nothing to compare with", "name two scores (-s a -s b)")
        for words in ("-s score", "-s score --on-missing pairwise", "-s scor* --reference score")
    ),
    (2, "compare many.csv -y label -s score -s score", "column 'score' is named twice as the score", " "),
    (2, "compare many.csv -y label -s score -s SCORE", "column 'score' is named twice as the score", " "),
    (3, "compare many.csv -y label -s score -s old -s absent", "there is no column 'absent'", ""),
    (2, "compare many.csv -y label -s score --by day", "which question a row answers", "with --id"),
    *(
        (2, f"compare {MANY} -s old --by country {words}", f"{words.rpartition(' 9')[0] or words} is for", "")
        for words in ("--limit 9", "--sample 9", "--on-missing pairwise")
    ),
    (2, f"compare {MANY} -s old --by country -m observed_rate", "the same for every score", "--by and --id"),
    (2, "compare many.csv --artifact cal.json --on-missing pairwise", "several score columns", "drop"),
    (2, f"compare {MANY} -s old --by country --reference old --fail-if-worse", "is for all rows", "--where"),
    (2, "compare many.csv -y label -s score --by day --id country --fail-if-worse", "", "--reference MODEL"),
    (2, f"compare {MANY} -s old --by country --by day", "--by names 2 columns", "one of them"),
    (2, f"compare - {COLUMNS} -s old --by country", "standard input can be read once", "to a file"),
    (3, f"compare {MANY} -s old --by country --where score<0", "none of 1,200 rows", ""),
    (
        3,
        "compare slashed.csv -s score -y label --by model --by size --id q",
        "two models 'a/b/c': 'a/b' with 'c', and 'a' with 'b/c'",
        "without a slash",
    ),
    (2, "compare many.csv -y label -s score --id day", "--by names none", "the column of models with --by"),
    (2, "compare many.csv -y label -s score -s old --pairs", "the pairs of more than two", "leave it out"),
    (2, "compare many.csv -y label -s score --reference old --artifact x.json", "recalibrates", "`apply`"),
    (3, "compare many.csv -y label -s 'x_*'", "no score column fits --score 'x_*'",
        "the nearest names are 'site', 'score', 'old'; "),
    (2, "compare many.csv -y label -s score -s old --artifact x.json", "two scores and an artifact", " "),
    (3, "compare many.csv -y label -s score -s labell", "", "did you mean 'label'?"),
    (2, "compare many.csv -y label -s score -s label", "'label' cannot be --score and --label at once", " "),
    (2, "compare many.csv -y label -s score -s old --metric bias", "bias cannot be compared", " "),
    (2, "compare many.csv -y label -s score -s old -m clinical", "oe cannot be", "`measure` shows it"),
    (2, "compare many.csv -y label -s score -s old --metric bss", "cannot be compared", "--reference COL"),
    (2, "compare many.csv -y label -s score -s old --metric corp", "cannot be compared", "--kind mcb-dsc"),
    (3, "compare many.csv -s score -s old -y 'lab*'", "compared with one label", "--by MODEL --id QUESTION"),
    (3, "compare many.csv -y label -s score --artifact absent.json", "absent.json: there is no such", ""),
    (2, "compare many.csv -y label -s score -s old --confidence 2", "--confidence 2 is out of range", " "),
    (2, "compare many.csv -y label -s old --artifact a --artifact b --artifact c", "3 artifacts are", ""),
    (2, "compare many.csv -y label -s old --artifact a --artifact a", "compared with itself", ""),
    (3, "compare many.csv -y label -s score -s bb", "there is no column 'bb'", ""),
    (2, "compare t.csv -y label -s score -s ' score'", "column 'score' is named twice as the score", ""),
    (2, f"compare {ZOO}", "", "add --artifact"),
    (2, f"compare {ZOO} --probs q_*", "two sets of classes are not compared", "--by MODEL"),
    (2, f"compare {ZOO} -s p_cat --artifact classes.json", "scores of several classes", " "),
    (2, f"compare {ZOO} --artifact classes.json --metric bias", "bias cannot be compared", " "),
    (2, f"compare {ZOO} --artifact classes.json --metric ks", "it is a test", " "),
    (2, f"compare {ZOO} --artifact classes.json --metric accurac", "", "did you mean accuracy"),
    (
        2, f"compare {ZOO} --artifact classes.json --metric accuracy --view top-label --class cat",
        "--class cat looks at one", " ",
    ),
    (2, "compare zoo.csv -y label -s p_cat --metric accuracy", "--probs names none", " "),
    (2, "compare zoo.csv -y label --view top-label -s p_cat", "--probs names none", " "),
    (3, "compare zoo.csv -y label --probs q_* --artifact classes.json", "no column fits", " "),
    (2, f"compare {ZOO} --artifact classes.json --artifact classes.json", "compared with itself", " "),
    # Plans.
    (2, "plan", "no rule to plan", " "),
    (2, "plan --max-ece 0.02 --max-l2 0.02", "2 rules to plan at once", " "),
    (2, "plan --max-ece 0.02", "nothing says where", " "),
    (3, "plan state.json --max-ece 0.02", "no column looks like the score", "calibcli wrote it"),
    (2, "plan --max-ece 1.5", "", "did you mean 0.015?"),
    (2, "plan --max-ece 0.02 --power 1", "", "--power takes"),
    (2, "plan --max-ece 0.02 --error -0.1", "", "--error takes"),
    (2, "plan --max-ece 0.02 --error 0.02", "is the limit itself", " "),
    (2, "plan --max-ece 0.02 --confidence 2", "", "--confidence takes"),
    (2, "plan --max-ece 0.02 --binning equal-mass", "equal-mass bins depend on the rows", " "),
    (2, "plan --max-l2 0.02 --any-time", "--any-time is for ece", " "),
    (2, "plan --max-l2 0.02 --like new.csv", "Theorem 12.5", ""),
    (2, "plan --max-smece 0.1 --bins 7 --like new.csv", "say how bins are cut, and nothing that is", "ask"),
    (2, "plan --max-segment-bias 0.1 --on score --bins 7 --like new.csv", "say how bins are", "leave"),
    (2, "plan --max-ece 0.02 --bins none --like new.csv", "2,000 values in 2,000 rows", ""),
    (2, "plan --max-smece 1e-4 --like new.csv -s score", "no number of rows", "--max-smece 0.00019 or more"),
    (3, "plan --max-ece 0.02 --like beyond.csv", "1.7", ""),
    (3, "plan --max-ece 0.02 --like gaps.csv", "", ""),
    (3, "plan --max-ece 0.02 --like nothing.csv", "", ""),
    # Pictures.
    (2, f"{PLOT} --compare cal.json --artifact cal.json", "--artifact is there as well", " "),
    (2, f"{PLOT} --compare cal.json --kind binned", "--kind binned is there as well", " "),
    (2, f"{DRAWN} --kind cumulative --confidence 0.9", "--confidence has no effect on --kind cumulative", ""),
    (2, f"{PLOT} --kind cumulative --axis logit", "has no effect on --kind cumulative", " "),
    (2, f"{PLOT} --kind compare", "nothing to compare with", " "),
    *(
        (2, f"{DRAWN} --by country --kind {kind}", f"--by has no effect on --kind {kind}", " ")
        for kind in ("smooth", "binned", "compare")
    ),
    (2, f"{PLOT} --by country -s old", "ask for different diagrams", " "),
    (2, f"{DRAWN} --by country -s old --kind murphy", "ask for different diagrams", ""),
    (2, f"{PLOT} --view top-label", "--probs names none", " "),
    (2, f"{DRAWN} --kind classes", "--probs names none", " "),
    (2, f"{DRAWN} --kind groups", "no groups are named", " "),
    (2, f"{DRAWN} --kind map", "none is named", ""),
    (2, "plot classes.json --kind map -o out.png", "maps 3 probabilities", ""),
    (2, f"{DRAWN} -s old --kind smooth", "score has no effect on --kind smooth", " "),
    (2, f"{DRAWN} -s old --artifact cal.json", "which recalibrates one", " "),
    (2, f"{DRAWN} {' '.join(f'-s x{place}' for place in range(9))}", "10 scores, and a picture", " "),
    (2, f"{DRAWN} --kind smooth --bins 3", "--bins has no effect", " "),
    (2, f"{DRAWN} --min-group-rows 3", "--min-group-rows without groups", " "),
    (2, f"{PLOT} --by country --min-group-rows 5000", "no group has 5,000 rows", ""),
    (2, f"{DRAWN} --kind murphy --loss log", "no effect on --kind murphy", ""),
    (2, f"{DRAWN} --kind cumulative --loss brier", "no effect on --kind cumulative", ""),
    (2, f"{PLOT} --on country --kind heatmap", "two columns", ""),
    (2, f"{DRAWN} --on a,b --kind heatmap --depth 1", "--depth 1 crosses no columns", "--kind segments"),
    (2, f"{DRAWN} --on country --axis logit", "--axis has no effect on --kind segments", ""),
    (2, "plot state.json -o out.png --axis logit", "--axis has no effect on --kind monitor", ""),
    (2, f"{PLOT} --kind segments", "no columns make segments", ""),
    (2, f"{PLOT} --on country --kind binned", "--on has no effect on --kind binned", ""),
    (2, f"{PLOT} --depth 3", "--depth has no effect", ""),
    (3, f"{PLOT} --on country --min-segment-rows 100000", "no segment has 100,000 rows", ""),
    (2, f"{PLOT} --kind trend", "--kind trend, and no groups are named", ""),
    (2, f"{PLOT} --kind trend --by country --by site", "--by names 2", ""),
    (3, f"{PLOT} --kind trend --by country --min-group-rows 5000", "no group has 5,000 rows", ""),
    (2, f"{PLOT} --kind trend --by country --bins 4", "--bins has no effect on --kind trend", ""),
    *((3, f"plot report.json -o o.png --kind {kind}", "report.json", "measure") for kind in WITH_PARTS),
    (2, f"plot {MANY}", "no picture is named", ""),
    (2, "plot many.csv --terminal --kind murphy", "--terminal draws a reliability diagram", ""),
    (2, "plot many.csv -y label --terminal -s score -s old", "", "name one score"),
    (2, f"plot {MANY} --terminal --by country", "draws one reliability diagram", "without --by"),
    *(
        (2, f"{PLOT} --kind {kind} -s old --confidence 0.9", f"{kind} of several scores", "leave it out")
        for kind in ("murphy", "risk-coverage")
    ),
    (3, f"plot t.csv {COLUMNS} --kind monitor -o x.png", "is not JSON", "what `calibcli verify --state`"),
    (3, "plot t.csv --kind monitor -o x.png", "is not JSON", "what `calibcli verify --state` wrote"),
    (2, "plot report.json -o out.png -s score", "report.json is a report, on which --score has no", ""),
    (2, "plot cal.json -o out.png --kind binned -s score", "is an artifact, and not a report", "--kind map"),
    (3, "plot report.json -o out.png --kind map -s score", "this is not an artifact", "calibcli fit"),
    (2, "plot report.json -o out.png --bins 5 --artifact cal.json", "--artifact, --bins have no effect", ""),
    (2, "plot report.json -o out.png --loss log --benefit gain", "--benefit, --loss have no effect", ""),
    (2, "plot report.json -o out.png --kind groups --by country", "on which --by has no effect", " "),
    (2, "plot report.json -o out.png --probs p_* --view top-label --kind smooth", "has no effect", " "),
    (2, "plot report.json -o out.png -f csv", "a report, on which --input-format has no effect", ""),
    *(
        (2, f"plot report.json -o out.png {option}", f"on which {option.split('=')[0]} has no effect", "")
        for option in (
            "--on-missing=drop", "--seed=1", "--engine=dask", "--exact", "--confidence=0.9",
            "--binning=atoms", "--limit=3",
        )
    ),
    (2, "plot report.json --kind isotonic -o x.png", "drawn from the rows", ""),
    (2, "plot report.json --kind trend --by country -o x.png", "a trend is drawn from the rows", ""),
    (2, "plot report.json --kind cumulative -o x.png", "drawn from the rows", ""),
    # What is said of rows where there are none, and of verdicts, fits and pictures that are none.
    (2, "plan --max-ece 0.05 --artifact cal.json -s foo", "--score speaks ... cal.json alone", "--like"),
    (2, "plan --max-ece 0.05 --artifact cal.json --decimal ,", "--decimal speaks of rows", "--like"),
    (2, "verify --max-ece 0.05 --state state.json -s old", "score column: score, not old", "ask as before"),
    (2, "verify --max-ece 0.05 --state state.json --scale logit", "scale: prob, not logit", "ask as before"),
    (2, "verify --max-ece 0.05 --state state.json --score-map a=.5", "phrases: none, not a=0.5", "as before"),
    (2, "verify --max-ece 0.05 --state state.json --batch x", "--batch x names rows", "name the files"),
    *(
        (2, f"verify --max-ece 0.05 --state state.json {said}", f"{said.split()[0]} speaks of", "leave it")
        for said in ("--decimal ,", "--on-missing drop", "--on-range clip", "--by a", "--exact")
    ),
    (2, "measure summary.json --engine dask", "--engine says how files ... a summary", "leave it out"),
    (2, "measure summary.json --jobs 2", "--jobs says how files ... a summary", "leave it out"),
    (2, "measure summary.json --delimiter ;", "--delimiter says how files ... a summary", "leave it out"),
    (2, "inspect cal.json -s score", "--score says how rows ... cal.json has none", "leave it out"),
    (2, "inspect cal.json --delimiter ;", "--delimiter says how rows ... cal.json has none", "leave it out"),
    (2, "verify t.csv --max-ece 0.05 --allow-fit-rows", "--allow-fit-rows without --artifact", "leave it"),
    (2, f"compare {MANY} -s old --allow-fit-rows", "--allow-fit-rows without --artifact", "leave it out"),
    (2, "compare t.csv --artifact cal.json --allow-fit-rows", "--allow-fit-rows without --fail-if", "pass"),
    (2, "compare t.csv --artifact cal.json --pairs", "--pairs lists the pairs of more than two", ""),
    *(
        (2, f"compare {MANY} {words} --id old", "--id matches the rows of models", "with --by")
        for words in ("--artifact cal.json", "-s old --reference old", "-s old --on-missing pairwise")
    ),
    (3, f"compare {MANY} -s old --reference ''", "there is no column ''", ""),
    (3, "drift t.csv many.csv -s score --on '' --max-psi 0.1", "there is no column ''", ""),
    (2, f"measure {ZOO} --sort name", "--sort without groups", "--by"),
    (2, f"measure {ZOO} --view one-vs-rest --class ant --min-group-rows 9", "--min-group-rows without", ""),
    (2, "report t.csv -o r.html --max-ece 0.1 --allow-fit-rows", "--allow-fit-rows without --artifact", ""),
    (2, "report t.csv -o r.html --allow-fit-rows", "--allow-fit-rows is of verdicts", "--max-ece"),
    (2, "report t.csv -o r.html --min-rows 50", "--min-rows is of verdicts", "--max-ece"),
    (2, "report t.csv -o r.pdf", "a report is a page of HTML", ""),
    (3, "report t.csv -o r.html -s nothing", "nothing", ""),
    (2, "report t.csv -o r.html --max-ece 2", "--max-ece 2 is out of range", ""),
    (2, "report t.csv -o r.html --metric accuracy", "--probs names none", ""),
    (2, "report t.csv -o r.html --binning equal-mass --max-ece 0.1", "equal-mass", ""),
    (2, "measure --explain ece --format csv", "--explain writes text, not CSV", ""),
    (2, "measure --explain ece --json", "", "--format md"),
    (2, "inspect t.csv --format jsonl", "rows are written of what measure, verify, compare", ""),
    (2, "plot t.csv --terminal --theme dark", "--theme has no effect on --terminal", "with -o"),
    (2, "plot t.csv --terminal --size slide", "--size has no effect on --terminal", "with -o"),
    (2, f"measure {ZOO} --compat netcal --view one-vs-rest", "without --view", "leave out one of them"),
    *(
        (code, f"segments {MANY} --on {words}", error, "")
        for code, words, error in (
            (3, "' , '", "there is no column ''"),
            (3, "nowhere", "there is no column 'nowhere'"),
            (2, "label", "column 'label' cannot be --label and --on at once"),
            (2, "site,site", "column 'site' is named twice with --on"),
            (2, "site --categorical day", "--categorical names 'day', and --on does not"),
            (2, "site --categorical site --numeric site", "both name 'site'"),
            (3, "country --numeric country", "which is no number"),
            (2, "country -w site", "importance weights are not counts"),
            (2, "country --confidence 95", "--confidence 95 is out of range"),
        )
    ),
    # Documents and exports.
    (3, "inspect list.json", "list.json: row 1 is a list", ""),
    (3, "inspect brace.json", "brace.json", ""),
    (3, "inspect other.json", "other.json: is not a calibcli document: it has no 'schema'", "--input-format"),
    (3, "inspect neither.json", "neither.json: $.schema: is 'other/1', which is neither", ""),
    (3, "inspect listed.json", "listed.json: $.schema", ""),
    (2, "export beta.json --to python --dialect spark", "--dialect has no effect on --to python", ""),
    (2, "export beta.json --to onnx --table t", "--table has no effect on --to onnx", ""),
    (2, "export beta.json --to onnx --as view", "--as has no effect on --to onnx", ""),
    (2, "export beta.json --to sql --view v", "--view is for --as view", "pass --as view too"),
    (2, "export beta.json --to sql --as view --view A --table a", "replace the table a that", "another name"),
    (2, "export beta.json --to sql --table 'read_csv(1)'", "no name of a table", "make a view of it"),
    (2, "export beta.json --to sql --as dbt --table m -o m.sql", "would call the model m", "another name"),
    (2, "export beta.json --to sql --dialect mysql -s 'score '", "'score ' ends in a blank", "without it"),
    (2, "export beta.json --to sql --as dbt --table a.b.c", "neither a model of dbt", "--table SOURCE.TABLE"),
    (2, "export beta.json --to sql --as dbt --table '{{ x }}'", "writes ref() and", "without braces"),
    (2, "export beta.json --to sql --as dbt --name '{{ x }}'", "words of its own", "use --as view"),
    (2, "export beta.json --to sql --float32", "--float32 has no effect on --to sql", ""),
    (2, "export beta.json --to sklearn --name p", "--name has no effect on --to sklearn", ""),
    (2, "export beta.json --to sql --probs a,b", "the map was fitted to one score", ""),
    (2, "export beta.json --to sql --prior 2", "base rate of 2", ""),
    (2, "export beta.json --to excel", "excel", ""),
    (2, "export beta.json --to sql -s ''", "empty", ""),
    (2, "export beta.json --to sql -s 'a\nb'", "cannot be the name", ""),
    (2, "export beta.json --to sql --name SCORE", "name of another", ""),
    (2, "export beta.json --to sql --table a..b", "empty", ""),
    (2, "export beta.json --to sql --dialect spark -s '${x}'", "Spark replaces", ""),
    (2, f"export beta.json --to sql --dialect postgres -s {'é' * 32}", "at most 63", ""),
    *(
        (2, f"export beta.json --to {target} {option}", option.split()[0], "")
        for target in ("sql", "python")
        for option in ("--by a", "--unseen pooled")
    ),
    (2, "export groups.json --to python --by a", "--by has no effect on --to python", ""),
    (2, "export beta.json", "format of the map is not given", "--to"),
    (2, "export vector.json --to sql -s score", "fitted to 3 classes", ""),
    (2, "export vector.json --to sql --probs a,b", "there are 3 classes", ""),
    (2, "export vector.json --to python --prior 0.5", "fitted to several classes", ""),
    (2, "export groups.json --to onnx -o out.onnx", "is given scores alone", "--where 'country==GROUP'"),
    (2, "export groups.json --to sklearn", "is given scores alone", "--to sql or --to python"),
    (2, "export groups.json --to sql --prior 0.1", "--prior", ""),
    (3, "export nowhere.json --to sql", "", ""),
    (3, "export void.json --to sql", "", ""),
]  # fmt: skip
# Refusals that name a way out, and the words that take it.
WAYS_OUT = """
measure nan.csv --on-missing drop
measure gap.csv --on-missing drop
measure above.csv --on-range clip
measure logits.csv --scale logit
measure twos.csv --positive 2
measure utf16.csv --encoding utf-16-le
measure utf16.jsonl --encoding utf-16-le
measure weights.csv -w w --compat sklearn
measure t.csv --compat calzone --confidence 0.9
plot many.csv -s score -y label --kind murphy --by country --where country==US --confidence 0.9 -o us.svg
measure t.csv -s sco* --compat netcal
measure t.csv --memory 100K --exact --compat netcal
measure zeros.csv
measure one.csv
inspect t.csv --json --format json
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with everything that the lines name."""
    path = tmp_path_factory.mktemp("refused")
    for name, lines in FILES.items():
        (path / name).write_text("".join(f"{line}\n" for line in lines))
    rng = np.random.default_rng(7)
    score = rng.beta(1.0, 2.0, 1_200)
    label = (rng.random(1_200) < score).astype(int)
    country = rng.choice(["US", "DE", "tiny"], 1_200, p=[0.6, 0.35, 0.05])
    columns = [score.tolist(), (score**2).tolist(), label.tolist(), country.tolist()]
    rows = zip(*columns, rng.integers(0, 30, 1_200).tolist(), range(1_200), strict=True)
    (path / "many.csv").write_text(
        "score,old,label,country,site,day\n" + "".join(f"{','.join(map(str, row))}\n" for row in rows)
    )
    pairs = zip(score[:1_000].tolist(), label[:1_000].tolist(), strict=True)
    (path / "t.csv").write_text("score,label\n" + "".join(f"{f!r},{y}\n" for f, y in pairs))
    for place, head in enumerate(("\n\n", "\ufeff\n", '""\n')):
        (path / f"blank{place}.csv").write_text(head + "\n".join(GOOD))
    (path / "utf16.csv").write_bytes("\n".join(GOOD).encode("utf-16-le"))
    (path / "utf16.jsonl").write_bytes(
        '{"score": 0.5, "label": 1}\n{"score": 0.5, "label": 0}'.encode("utf-16-le")
    )
    whole = (SAMPLE / "churn_evaluation.parquet").read_bytes()
    (path / "half.parquet").write_bytes(whole[: len(whole) // 2])
    lists = pa.table({"logits": [[2.5, -1.0]] * 3 + [[0.5, 0.5]], "label": [0, 1, 1, 1]})
    pq.write_table(lists, path / "lists.parquet")
    pq.write_table(pa.table({"answer": [{"p": 0.5}], "label": [1]}), path / "nested.parquet")
    some = pa.table({"id": ["a", "b"], "score": [0.25, 0.5], "x_1": [1, 2]})
    pq.write_table(some, path / "in.parquet")
    (path / "in.csv").write_text("id,score,x_1\na,0.25,1\nb,0.5,2\n")
    (path / "in.jsonl").write_text("".join(f'{{"id": "{i}", "score": 0.5, "x_1": 1}}\n' for i in "ab"))
    np.savez(path / "in.npz", score=np.array([0.25, 0.5]), x_1=np.array([1, 2]))
    (path / "preds").mkdir()
    for name in ("a.csv", "b.csv"):
        (path / "preds" / name).write_text("score\n0.5\n")
    write_zoo(path / "zoo.csv", 400, seed=2)
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(path)
        for line in MADE.split("\n"):
            assert line == "" or main([*shlex.split(line), "-q"]) in (0, 4), line
    (path / "beta.json").write_text(artifact_text(one_map("beta")))
    (path / "vector.json").write_text(artifact_text(class_map("vector")))
    artifact = (path / "cal.json").read_text()
    (path / "cut.json").write_text(artifact[:300])
    (path / "wrong.json").write_text(artifact.replace('"rows": 1000', '"rows": "many"', 1))
    return path


def content(folder: Path) -> dict[str, tuple[int, int]]:
    """Return size and time of all files and folders but the locks of states."""
    found = [*os.scandir(folder), *os.scandir(folder / "preds")]
    seen = [(one.path, one.stat()) for one in found if not one.name.endswith(".lock")]
    return {path: (of.st_size, of.st_mtime_ns) for path, of in seen}


@pytest.mark.parametrize(("code", "line", "error", "hint"), REFUSED, ids=[row[1] for row in REFUSED])
def test_refused_lines_say_what_is_wrong_and_change_nothing(
    run: Run, folder: Path, monkeypatch: pytest.MonkeyPatch, code: int, line: str, error: str, hint: str
) -> None:
    """Exit code, a line of error, at most one of hint, nothing on standard output, and no file is touched."""
    monkeypatch.chdir(folder)
    before = content(folder)
    ended = run(*shlex.split(line))
    assert (ended.code, ended.out) == (code, ""), ended
    first, *rest = [one for one in ended.err.splitlines() if not one.startswith("note: ")]
    assert first.startswith("error: "), ended.err
    assert [one[:6] for one in rest] in ([], ["hint: "]), ended.err
    assert [part for part in error.split(" ... ") if part not in first] == [], ended.err
    assert hint in "".join(rest), ended.err
    assert content(folder) == before


@pytest.mark.parametrize("line", WAYS_OUT.strip().split("\n"))
def test_the_way_out_that_a_refusal_names_leads_out(
    run: Run, folder: Path, monkeypatch: pytest.MonkeyPatch, line: str
) -> None:
    """With the option of the hint the same rows are taken."""
    monkeypatch.chdir(folder)
    assert run(*shlex.split(line)).code == 0
