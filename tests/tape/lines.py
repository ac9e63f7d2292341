"""Command lines made by rule: every option with every value and with another option, formats, classes,
groups, refusals.

Run by `tape.py record` on the base, whose own declarations say which options there are; prints a case a line.
"""

import glob
import hashlib
import importlib
import itertools
import json
import os
import re
import shlex
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import rows
from play import HOME, Store, entry_of

STAGE = HOME / "g"
# Of what crossing everything with everything makes, one of so many is played: always the same ones.
THIN = {
    "lines pairs": 30, "lines pairs report": 120, "lines pairs plan": 80, "lines pairs plot": 50, "lines pairs inspect": 4, "lines pairs export": 6, "lines pairs merge": 3,
    "lines options": 2, "lines options report": 8, "lines options plan": 4, "lines options plot": 4, "lines options without": 4, "lines more": 8,
    "lines measures": 6, "lines types": 3, "lines exports": 2, "lines maps": 4, "lines inputs": 3, "lines outputs": 4, "lines pictures": 2, "lines documents": 2,
    "python measure": 2, "python verify": 2, "python fit": 2, "python compare": 2, "python plot": 2, "python apply": 2,
}  # fmt: skip
# A line of each command that works, for one score, for few values, for groups, and for several classes.
PLAIN = {
    "fit": ["fit rows.csv -s score -y label", "fit fit_classes.csv --probs p_* -y label", "fit rows.csv -s score -y label --by country"],
    "apply": ["apply cal_platt.json rows.csv -s score -o out.csv", "apply classes_vector.json classes.csv --probs p_* -o out.csv",
              "apply cal_by.json rows.csv -s score -o out.csv"],
    "measure": ["measure rows.csv -s score -y label", "measure classes.csv --probs p_* -y label",
                "measure rows.csv -s score -y label --by country", "measure summary.json"],
    "verify": ["verify rows.csv -s score -y label --max-ece 0.2", "verify classes.csv --probs p_* -y label --max-ece 0.2",
               "verify rows.csv -s score -y label --max-ece 0.2 --by country",
               "verify rows.csv -s score -y label --baseline report_other.json --max-regression 0.1"],
    "plan": ["plan --max-ece 0.1 --artifact cal_scaling-binning.json", "plan --max-ece 0.1 --like rows.csv -s score"],
    "merge": ["merge summary.json summary_other.json -o out.json", "merge gate.json gate_other.json -o out.json"],
    "compare": ["compare rows.csv -s score -s old -y label", "compare classes.csv --probs p_* -y label --artifact classes_vector.json"],
    "segments": ["segments rows.csv -s score -y label --on country,device"],
    "drift": ["drift rows.csv rows.parquet -s score -y label"],
    "plot": ["plot rows.csv -s score -y label -o out.svg", "plot rows.csv -s score -y label --terminal"],
    "report": ["report rows.csv -s score -y label -o out.html"],
    "export": ["export cal_platt.json --to sql", "export classes_vector.json --to python", "export cal_by.json --to sql"],
    "inspect": ["inspect rows.csv", "inspect cal_platt.json", "inspect gate.json"],
    "schema": ["schema report"], "config": ["config measure"],
}  # fmt: skip
# What an option takes besides its choices, good values first.
VALUES: dict[str, list[str]] = {
    "score": ["old", "nothing", "country", "1", ""], "label": ["word", "nothing", "score", "2"], "output": ["out.json", "-", "out.md", "out.xyz", "rows.csv", "no/out.csv", "out.csv.gz"],
    "probs": ["p_*", "p_cat,p_dog,p_emu", "p_cat", "nothing*", "p_cat,p_cat", "score"], "classes": ["cat,dog,emu", "a,b", "cat,cat,dog", ""], "class": ["dog", "nothing"],
    "candidate": ["platt", "histogram", "platst", "auto"], "group": ["patient", "nothing"], "by": ["country", "device", "nothing", "score", "label"],
    "cluster": ["patient", "nothing", "country"], "weight": ["weight", "times", "nothing", "country"], "positive": ["yes", "1", "0", "maybe"],
    "where": ["country==UK", "score<=0.5", "device in 0,1", "country", "nothing==1", "country==XX", "score<=a", "country=UK"], "edges": ["0,0.1,0.5,1", "0,1", "0.5", "0,0.7,0.3,1", "a,b", "0,2"],
    "memory": ["40K", "1K", "1GiB", "0", "many", "-1K"], "delimiter": [";", "tab", ",", ";;", ""], "encoding": ["latin-1", "utf-16", "nothing"], "decimal": [",", ".", ";"],
    "engine-address": ["x"], "artifact": ["cal_isotonic.json", "cal_by.json", "classes_vector.json", "report.json", "nothing.json", "rows.csv", "edited.json", "cal_logit.json"],
    "compare": ["cal_isotonic.json", "nothing.json"], "baseline": ["report.json", "report_by.json", "report_classes.json", "cal_platt.json", "nothing.json"],
    "baseline-score": ["old", "nothing", "score"], "rule": ["ece<=0.2", "ece.upper<=0.2", "bias.lower>=-0.2", "ks.p>=0.01", "brier.value<=0.3", "auc>=0.5", "ece", "ece<=x", "ks<=0.2", "nothing<=1", "accuracy>=0.5", "class_brier<=0.3", "ece<0.1", "ece.p<=1"],
    "state": ["gate.json", "new.json", "gate_map.json", "gate_classes.json", "gate_id.json", "gate_key.json", "gate_alarm.json", "cal_platt.json", "no/gate.json"],
    "batch": ["two", "one", ""], "id": ["id", "nothing", "device"], "report": ["junit=out.xml", "github", "md=out.md", "json=out.json", "openmetrics=out.txt", "junit", "nothing=x", "md=-", "json=rows.csv"],
    "state-key-file": ["key.txt", "nothing.txt", "empty.csv"], "like": ["rows.csv", "few.csv", "nothing.csv", "empty.csv"], "keep": ["none", "all", "id", "id,device", "x_*", "nothing"],
    "to": ["csv", "tsv", "jsonl", "parquet", "arrow", "npz", "x"], "name": ["p", "score", "", "id"], "title": ["A title", "", "<b>x</b>"], "date": ["2026-01-01", ""], "table": ["a.b", "x y", ""],
    "out-dir": ["outs", "rows.csv"], "summary-out": ["s.json", "rows.csv", "-"], "explain": ["ece", "nothing"], "metric": ["ece", "all", "brier", "corp", "nothing", "accuracy", "ks", ""],
    "regression-metric": ["brier", "nothing", "ks"], "bins": ["7", "1", "0", "-3", "none", "x", "1000000000000"], "confidence": ["0.9", "0", "1", "1.5", "nan", "x"], "seed": ["3", "-1", "x"],
    "prior": ["0.05", "0", "1", "2", "x"], "power": ["1", "0.8", "0", "x", "-1"], "error": ["0.05", "-1", "x"], "folds": ["3", "1", "x"], "planned-rows": ["5000", "0"], "max-regression": ["0.1", "-1", "x"],
}  # fmt: skip
_WHOLE, _REAL = ["50", "1", "0", "-1", "x"], ["0.1", "0", "-1", "2", "nan", "x"]
NUMBERS = {
    "N": _WHOLE,
    "S": _WHOLE,
    "K": _WHOLE,
    "EPS": _REAL,
    "P": _REAL,
    "C": _REAL,
    "D": _REAL,
    "E": _REAL,
}
_SLOW = {"install-completion", "show-completion", "engine-address", "debug"}


def main() -> None:
    """Make the files, then print the cases."""
    folder, tree = Path(sys.argv[1]), Path(sys.argv[2])
    store = Store(folder / "store")
    shutil.rmtree(STAGE, ignore_errors=True)
    STAGE.mkdir(parents=True)
    os.chdir(STAGE)
    module = importlib.import_module(entry_of(tree)[0])
    stdout = os.dup(1)
    os.dup2(2, 1)
    rows.make(module.main)
    os.dup2(stdout, 1)
    commands = _tree((tree / "docs" / "cli.md").read_text(encoding="utf-8"))
    for source, line in itertools.chain(_lines(commands), _docs(tree)):
        if not _drawn(source, line):
            continue
        env, words = {}, shlex.split(line)
        while words and re.fullmatch(r"[A-Z_]+=.*", words[0]):
            name, _, value = words.pop(0).partition("=")
            env[name] = value
        stdin = None
        if "<" in words:
            stdin = store.put(Path(words.pop(words.index("<") + 1)).read_bytes())
            words.remove("<")
        case = {
            "kind": source.split()[0],
            "source": source,
            "words": words,
            "env": env,
            "cwd": "g",
            "stdin": stdin,
        }
        print(json.dumps({**case, "files": _files([*words, *env.values()], store, tree)}))
    import snippets

    for source, code in snippets.every():
        if not _drawn(source, code):
            continue
        case = {"kind": "python", "source": source, "words": [], "env": {}, "cwd": "g", "stdin": None}
        print(
            json.dumps(
                {
                    **case,
                    "code": store.put(code.encode()),
                    "files": _files(re.findall(r"[\w./*-]+", code), store, tree),
                }
            )
        )


def _files(words: list[str], store: Store, tree: Path) -> dict[str, Any]:
    """Return the files that words name, and nothing else of the folder."""
    found: dict[str, Any] = {}
    pieces = {
        piece for word in words for piece in {word, *re.split(r"[=:,]", word)} if piece and "\0" not in piece
    }
    for piece in sorted(pieces):
        if piece.startswith("sample_data"):
            below = [(f"g/{piece}", tree / piece)]
        else:
            below = [(f"g/{name}", STAGE / name) for name in (glob.glob(piece) if "*" in piece else [piece])]
        for name, path in below:
            if len(piece) < 200 and piece not in (".", "..") and not piece.startswith("/") and path.exists():
                ones = [path] if path.is_file() else sorted(one for one in path.rglob("*") if one.is_file())
                for one in ones:
                    inside = name if one == path else f"{name}/{one.relative_to(path)}"
                    found[inside] = {"sha": store.put(one.read_bytes()), "size": one.stat().st_size}
    return found


def _tree(page: str) -> dict[str, dict[str, str]]:
    """Return what each option of each command takes, by its long name, as the reference shows it."""
    sections = re.findall(r"(?ms)^## calibcli (\w+)$(.*?)(?=^## |\Z)", page)
    option = re.compile(r"(?m)^  (?:-\w, )?--([\w-]+)(?: (\S+))?(?=  |$)")
    return {name: dict(option.findall(text.partition("\nOptions:")[2])) for name, text in sections}


def _choices(takes: str) -> list[str]:
    return takes[1:-1].split("|") if takes.startswith("<") and "[" not in takes and "|" in takes else []


def _values(name: str, takes: str) -> list[list[str]]:
    """Return what to put behind an option, good values first; nothing for a flag."""
    if not takes:
        return [[]]
    given = _choices(takes)
    if given:
        return [[one] for one in (*given, "nothing", given[0].upper())]
    return [[one] for one in VALUES.get(name, NUMBERS.get(takes, ["x", ""]))]


def _drawn(source: str, line: str) -> bool:
    one_of = THIN.get(source, THIN.get(" ".join(source.split()[:2]), 1))
    return int(hashlib.sha256(line.encode()).hexdigest(), 16) % one_of == 0


def _lines(commands: dict[str, dict[str, str]]) -> Iterator[tuple[str, str]]:
    yield from (
        ("lines bare", line)
        for line in ("", "--help", "--version", "nothing", "mesure rows.csv", "-V", "--config")
    )
    for command, options in commands.items():
        yield "lines bare", command
        yield "lines help", f"{command} --help"
        for plain, (name, takes) in itertools.product(PLAIN[command], options.items()):
            for value in _values(name, takes) if name not in _SLOW else []:
                kind = "options" if plain == PLAIN[command][0] else "more"
                yield f"lines {kind} {command}", f"{plain} {shlex.join([f'--{name}', *value])}"
            if takes:
                yield "lines options without a value", f"{plain} --{name}"
        named = [one for one in options.items() if one[0] not in {*_SLOW, "help", "engine"}]
        for (a, one), (b, two) in itertools.combinations(named, 2):
            for plain in PLAIN[command][:2]:
                both = [f"--{a}", *_values(a, one)[0], f"--{b}", *_values(b, two)[0]]
                yield f"lines pairs {command}", f"{plain} {shlex.join(both)}"
    yield from (("lines inputs", line) for line in _inputs())
    yield from (("lines types", line) for line in _types())
    yield from (("lines measures", line) for line in _measures(commands))
    yield from (("lines exports", line) for line in _exports(commands))
    yield from (("lines maps", line) for line in _maps())
    yield from (("lines outputs", line) for line in _outputs())
    yield from (("lines pictures", line) for line in _pictures(commands))
    yield from (("lines documents", line) for line in _documents())
    yield from (("lines defaults", line) for line in _defaults())


def _inputs() -> Iterator[str]:
    """Every format and every bad file, for every command that reads rows."""
    reading = {
        "fit": "fit {} -q -o out.json", "apply": "apply cal_beta.json {} -o out.csv", "measure": "measure {} --json", "inspect": "inspect {}",
        "verify": "verify {} --max-ece 0.3", "compare": "compare {} --artifact cal_beta.json", "plot": "plot {} --terminal", "report": "report {} -o out.html",
        "plan": "plan --max-ece 0.1 --like {}",
    }  # fmt: skip
    for command, line in reading.items():
        for name in (
            *(f"rows.{kind}" for kind in rows.FORMATS),
            "parts",
            "parts/*/*.csv",
            "nothing.csv",
            "few.csv",
            *rows.BAD,
            "latin.csv",
            "utf16.csv",
        ):
            yield line.format(shlex.quote(name))
        for kind in rows.FORMATS:
            if command not in ("plan", "plot", "inspect"):
                probs = "--probs p_* " + ("-y label" if command != "apply" else "")
                yield line.replace("cal_beta", "classes_matrix").format(f"classes.{kind} {probs}")
    for name in rows.BAD:
        yield f"measure {name} --on-missing drop --on-range clip --json"
        yield f"fit {name} -m isotonic --on-missing drop --on-range clip"
    for line in (
        "measure {} --format csv",
        "apply cal_platt.json {} -o -",
        "fit {} -q",
        "verify {} --max-ece 0.4 -q",
        "inspect {}",
    ):
        for name in (
            "rows.csv",
            "rows.parquet",
            "rows.jsonl",
            "rows.csv.gz",
            "rows.arrow",
            "empty.csv",
            "bad.parquet",
        ):
            yield f"{line.format('-')} -s score -y label < {name}".replace(
                "inspect - -s score -y label", "inspect -"
            ).replace("-o - -s score -y label", "-o - -s score")
        yield f"{line.format('-')} -f csv < rows.tsv"
    for more in ("-f csv", "-f tsv", "-f jsonl", "-f parquet", "-f arrow", "-f npz"):
        for name in ("rows.csv", "rows.tsv", "rows.jsonl", "rows.parquet", "rows.arrow", "rows.npz"):
            yield f"measure {name} -s score -y label --metric ece --json {more}"
    for more in (
        "--delimiter ';'",
        "--delimiter ';' --decimal ,",
        "--decimal ,",
        "--encoding latin-1",
        "--encoding utf-16",
        "-y libellé --encoding latin-1",
    ):
        for name in ("semicolon.csv", "comma.csv", "latin.csv", "utf16.csv", "bom.csv"):
            yield f"measure {name} {more} --metric brier"
            yield f"apply cal_platt.json {name} {more.replace('-y libellé ', '')} -s score -o out.csv"
    for more in (
        "",
        "--by land",
        "--where land==US",
        "-j 1",
        "-j 3",
        "--limit 100",
        "--sample 50",
        "--memory 4K",
        "--cluster patient",
        "--weight weight --by land",
    ):
        yield f"measure parts -s score -y label --json {more}"
        yield f"measure 'parts/*/rows.csv' rows.csv -s score -y label --format csv {more}"
        yield f"fit parts -s score -y label -q {more}".replace("--cluster patient", "-m isotonic")
    for artifact in ("cal_platt", "cal_venn-abers", "cal_by", "cal_logit"):
        for a, b in itertools.product(
            ("csv", "tsv", "jsonl", "parquet", "arrow", "npz", "csv.gz"),
            ("csv", "tsv", "jsonl", "parquet", "arrow", "csv.gz", "jsonl.zst", "npz", "json"),
        ):
            if artifact == "cal_platt" or (a in ("csv", "parquet") and b in ("csv", "jsonl", "parquet")):
                yield f"apply {artifact}.json rows.{a} -s {'logit' if 'logit' in artifact else 'score'} -o out.{b}"
    for b in ("csv", "jsonl", "parquet", "arrow"):
        for name in (
            "classes.csv --probs p_*",
            "classes.jsonl",
            "classes.parquet --keep none",
            "lists.parquet --probs p --classes cat,dog,emu",
        ):
            for artifact in ("vector", "one-vs-one", "top-label"):
                yield f"apply classes_{artifact}.json {name} -o out.{b}"
    for more in ("", "--skip-existing", "--to parquet", "--to jsonl", "--force", "--keep id", "--name p"):
        yield f"apply cal_platt.json parts --out-dir outs -s score {more}"
        yield f"apply cal_platt.json rows.csv fit.csv --out-dir outs -s score {more}"


def _measures(commands: dict[str, dict[str, str]]) -> Iterator[str]:
    from calibcli import names

    every = list(
        dict.fromkeys(str(one) for kind in ("MeasureName", "TestName") for one in getattr(names, kind))
    )
    every += ["corp", "all", "accuracy", "class_brier", "class_ece", "top_label_ece"]
    scenes = (
        "rows.csv -s score -y label", "few.csv -s score -y label", "rows.csv -s score -y label -w weight", "rows.csv -s score -y label -w times --weights-are frequency",
        "rows.csv -s score -y label --by country", "rows.csv -s score -y label --cluster patient", "rows.csv -s score -s old -y label", "many.parquet -s score -y label --memory 2K",
        "classes.csv --probs p_* -y label", "classes.csv --probs p_* -y label --view top-label", "classes.csv --probs p_* -y label --view one-vs-rest", "rows.csv -s score -y label --artifact cal_beta.json",
        "lists.parquet --probs p --classes cat,dog,emu -y label", "two.parquet --probs p_* -y label", "classes.csv --probs p_* -y label --by country --view one-vs-rest",
    )  # fmt: skip
    for metric in every:
        yield f"measure --explain {metric}"
        yield from (f"measure {scene} --metric {metric} --json" for scene in scenes)
        for op in (f"{metric}<=0.2", f"{metric}>=0.2", f"{metric}.upper<=0.3", f"{metric}.p>=0.001"):
            yield f"verify rows.csv -s score -y label --rule {shlex.quote(op)}"
        yield f"verify classes.csv --probs p_* -y label --rule {shlex.quote(f'{metric}<=0.3')} --json"
        yield f"verify rows.csv -s score -y label --baseline report.json --max-regression 0.05 --regression-metric {metric}"
        yield f"compare rows.csv -s score -s old -y label --metric {metric}"
    for scene in scenes:
        for more in (
            "",
            "-v",
            "--bounds",
            "--format md",
            "--format csv",
            "--format jsonl",
            "--bins 7 --binning equal-mass",
            "--edges 0,0.2,0.7,1 --json",
            "--confidence 0.8 --seed 4",
            "--binning atoms",
        ):
            yield f"measure {scene} {more}"
        for limit in ("ece", "l2", "linf", "smece", "dce"):
            yield f"verify {scene} --max-{limit} 0.15".replace(" -s old", "").replace(
                " --cluster patient", ""
            )
        for view in ("confidence", "top-label", "one-vs-rest"):
            yield f"measure {scene} --view {view} --class dog -v"
        for compat in _choices(commands["measure"]["compat"]):
            yield f"measure {scene} --compat {compat}"
    yield "measure --explain all"


_MAPS = [
    *(f"cal_{one}" for one in (*rows.METHODS, "auto", "by", "logit", "weighted")),
    *(f"classes_{one}" for one in rows.CLASS_METHODS),
]


def _exports(commands: dict[str, dict[str, str]]) -> Iterator[str]:
    targets = [
        ("--to sql", [f"--dialect {one}" for one in _choices(commands["export"]["dialect"])]),
        ("--to python", ["", "--prior 0.1"]),
        ("--to sklearn", ["", "--prior 0.1"]),
        ("--to onnx", ["-o out.onnx", "-o out.onnx --float32"]),
    ]
    for artifact in _MAPS:
        for to, options in targets:
            yield from (f"export {artifact}.json {to} {option}" for option in options)


def _types() -> Iterator[str]:
    """Columns of every type as scores, labels, groups and in conditions."""
    for kind in ("parquet", "jsonl", "csv", "npz"):
        for name in rows.TYPED:
            yield f"measure typed.{kind} -s {name} -y label --metric brier --on-missing drop --json"
            yield f"measure typed.{kind} -s score -y {name} --positive yes --metric brier"
            yield f"measure typed.{kind} -s score -y label --by {name} --min-group-rows 20 --metric brier --format csv"
            yield f"apply cal_platt.json typed.{kind} -s {name} -o out.csv"
            for condition in (
                f"{name}<=0.5",
                f"{name}==yes",
                f"{name}==1",
                f"{name}>2026-01-10",
                f"{name} in 1,yes,2",
            ):
                yield f"measure typed.{kind} -s score -y label --metric brier --where {shlex.quote(condition)}"
    for name in ("typed_lz4.arrow", "typed_zstd.arrow"):
        yield f"measure {name} -s decimal -y boolean"
        yield f"inspect {name}"
        yield from (
            f"apply cal_platt.json {name} -s single -o out.{kind}"
            for kind in ("csv", "jsonl", "parquet", "arrow")
        )


def _maps() -> Iterator[str]:
    more = (
        "",
        "--by country",
        "-w weight",
        "-w times --weights-are frequency",
        "--loss brier",
        "--memory 1K",
        "--smooth-targets",
        "--seed 5 --bins 5",
        "-s logit --scale logit",
        "-v",
        "--sample 100",
    )
    for method, option in itertools.product([*rows.METHODS, "auto"], more):
        yield f"fit {'rows.csv' if method == 'auto' else 'fit.csv'} -s score -y label -m {method} {option} -o out.json".replace(
            "-s score -y label -m", "-y label -m" if "logit" in option else "-s score -y label -m"
        )
    for method, several in itertools.product(
        rows.METHODS, ("confidence", "top-label", "one-vs-rest", "one-vs-one")
    ):
        yield f"fit fit_classes.csv --probs p_* -y label -m {method} --multiclass {several} -o out.json"
    for several in rows.CLASS_METHODS:
        for option in (
            "",
            "--min-class-rows 500",
            "-w weight",
            "--output-sum free",
            "--by country",
            "--loss brier",
            "-v",
            "--classes cat,dog,emu",
            "--memory 1K",
        ):
            yield f"fit fit_classes.csv --probs p_* -y label --multiclass {several} {option} -q -o out.json"
        for option in ("", "--metric ece --view one-vs-rest", "--json"):
            yield f"measure classes.csv --probs p_* -y label --artifact classes_{several}.json {option}"
        yield f"compare classes.csv --probs p_* -y label --artifact classes_{several}.json"
        yield f"inspect classes_{several}.json"
        yield f"verify classes.csv --probs p_* -y label --artifact classes_{several}.json --max-ece 0.2 -v"
    for option in (
        "--split three-way",
        "--base isotonic",
        "--base beta",
        "--bins 3",
        "--beta-form ab",
        "--step",
        "--randomised",
        "--folds 5",
        "--candidate platt --candidate isotonic",
        "-g patient",
    ):
        for method in ("scaling-binning", "histogram", "beta", "isotonic", "smooth", "venn-abers", "auto"):
            yield f"fit fit.csv -s score -y label -m {method} {option}"
    for artifact in _MAPS:
        yield f"inspect {artifact}.json"
        yield f"inspect {artifact}.json --json"
        if artifact.startswith("cal"):
            score = "logit" if "logit" in artifact else "score"
            yield f"apply {artifact}.json rows.csv -s {score} -o out.csv"
            yield f"apply {artifact}.json rows.parquet -s {score} -o out.jsonl --prior 0.2"
            yield f"measure rows.csv -s {score} -y label --artifact {artifact}.json"
            yield f"verify rows.csv -s {score} -y label --artifact {artifact}.json --max-ece 0.1"
            yield f"plan --max-ece 0.1 --artifact {artifact}.json"
            yield f"plan --max-l2 0.1 --artifact {artifact}.json --any-time --json"
            yield f"verify fit.csv -s {score} -y label --artifact {artifact}.json --max-ece 0.1"
            yield f"compare rows.csv -s {score} -y label --artifact {artifact}.json --artifact cal_beta.json"
        else:
            yield f"apply {artifact}.json classes.csv --probs p_* -o out.csv"
            yield f"apply {artifact}.json classes.parquet -o out.jsonl"
            yield f"apply {artifact}.json rows.csv -o out.csv"


def _outputs() -> Iterator[str]:
    """Every way out of every report."""
    said = (
        "measure rows.csv -s score -y label", "measure few.csv", "measure rows.csv -s score -y label --by country --by device", "measure classes.csv --probs p_* -y label --view one-vs-rest",
        "measure rows.csv -s score -s old -y label", "measure summary.json", "verify rows.csv -s score -y label --max-ece 0.2 --rule ks.p>=0.01", "verify rows.csv -s score -y label --max-ece 0.01",
        "verify rows.csv -s score -y label --max-ece 0.05 --by country", "verify classes.csv --probs p_* -y label --view one-vs-rest --max-ece 0.2", "verify few.csv --max-l2 0.2 --max-linf 0.4",
        "verify rows.csv -s score -y label --max-ece 0.2 --state new.json", "verify fit.csv -s score -y label --max-ece 0.2 --state gate.json --batch next", "verify --state gate.json --max-ece 0.2",
        "verify rows.csv -s score -y label --baseline-score old --max-regression 0.05", "compare rows.csv -s score -s old -y label", "compare rows.csv -s old -s score -y label --fail-if-worse",
        "compare classes.csv --probs p_* -y label --artifact classes_matrix.json", "plan --max-ece 0.1 --like few.csv", "inspect rows.csv", "inspect cal_by.json", "inspect gate_map.json", "inspect report.json",
        "inspect summary.json", "inspect classes.csv", "inspect gate_classes.json",
    )  # fmt: skip
    for spoken in said:
        line = re.sub(r"(\S*[<>]=\S*)", r"'\1'", spoken)
        for more in (
            "",
            "-v",
            "-q",
            "--format table",
            "--format json",
            "--format jsonl",
            "--format csv",
            "--format md",
            "--json",
            "-o out.md",
            "-o out.json",
            "-o out.csv",
            "-o out.jsonl",
            "-o out.txt",
            "--color always",
            "--json --format md",
        ):
            yield f"{line} {more}"
        if line.startswith("verify"):
            for more in ("junit=out.xml", "github", "md=out.md", "json=out.json", "openmetrics=out.txt"):
                yield f"{line} --report {more}"
            yield f"GITHUB_ACTIONS=true GITHUB_STEP_SUMMARY=summary.md GITHUB_OUTPUT=output.txt {line} --report github"
            yield from (f"{line} --inconclusive {one} --min-rows 5000" for one in ("error", "fail", "pass"))
        for width in ("40", "200"):
            yield f"COLUMNS={width} {line}"


def _pictures(commands: dict[str, dict[str, str]]) -> Iterator[str]:
    for kind in _choices(commands["plot"]["kind"]):
        yield f"plot rows.csv -s score -y label --kind {kind} -o out.png"
        yield f"plot rows.csv -s score -y label --kind {kind} --artifact cal_isotonic.json -o out.svg"
        yield f"plot few.csv --kind {kind} -o out.pdf"
        yield f"plot rows.csv -s score -y label --by country --kind {kind} -o out.svg --size column --theme dark"
        yield f"plot classes.csv --probs p_* -y label --view one-vs-rest --kind {kind} -o out.svg --axis logit"
        yield f"plot gate.json --kind {kind} -o out.svg"
        yield f"plot rows.csv -s score -s old -y label --kind {kind} -o out.svg --size slide -w weight"
        yield f"plot rows.csv -s score -y label --kind {kind} --terminal"
        yield f"plot report.json --kind {kind} -o out.svg"
    for name in (
        "report.json",
        "report_by.json",
        "report_two.json",
        "report_classes.json",
        "report_rest.json",
        "summary.json",
        "gate.json",
        "gate_map.json",
        "gate_alarm.json",
        "cal_platt.json",
        "compared.json",
    ):
        yield f"plot {name} -o out.svg"
        yield f"plot {name} --terminal"
    pages = (
        "rows.csv -s score -y label",
        "few.csv",
        "rows.csv -s score -s old -y label",
        "classes.csv --probs p_* -y label",
        "rows.csv -s score -y label --by country",
        "rows.csv -s score -y label --artifact cal_isotonic.json",
        "classes.csv --probs p_* -y label --view one-vs-rest --class dog",
    )
    for page in pages:
        for more in (
            "",
            "--max-ece 0.1 --date today --title T",
            "--axis logit --metric ece",
            "-w weight" if "rows" in page else "-q",
        ):
            yield f"report {page} {more} -o out.html"


def _documents() -> Iterator[str]:
    """Documents where they belong and where they do not."""
    documents = [
        "report.json",
        "report_by.json",
        "report_classes.json",
        "summary.json",
        "gate.json",
        "gate_map.json",
        "gate_key.json",
        "cal_platt.json",
        "classes_vector.json",
        "compared.json",
        "planned.json",
        "verdict.json",
        "edited.json",
        "cut.json",
        "broken.json",
        "list.json",
        "object.json",
        "empty.json",
    ]
    for name in documents:
        for line in (
            "inspect {}",
            "inspect {} --json",
            "measure {}",
            "apply {} rows.csv -s score -o out.csv",
            "measure rows.csv -s score -y label --artifact {}",
            "verify rows.csv -s score -y label --baseline {} --max-regression 0.1",
            "verify rows.csv -s score -y label --max-ece 0.2 --state {} --batch new",
            "merge {} summary_other.json -o out.json",
            "merge {} gate_other.json -o out.json",
            "plot {} -o out.svg",
            "export {} --to python",
            "plan --max-ece 0.1 --artifact {}",
            "apply {} rows.csv -s score -o out.csv --allow-edited",
            "inspect {} --allow-edited",
            "merge {} {} -o out.json",
            "fit {}",
            "inspect {} --state-key-file key.txt",
            "compare rows.csv -s score -y label --artifact {}",
        ):
            yield line.format(name, name)
    for kind in ("artifact", "report", "compare", "compat", "gate", "plan", "summary", "nothing"):
        yield f"schema {kind}"
    for more in (
        "--alarm",
        "--id id",
        "--by country",
        "--planned-rows 900",
        "--max-dce 0.3",
        "--max-smece 0.3",
        "--view one-vs-rest",
        "--state-key-file key.txt",
        "--artifact cal_histogram.json",
        "-w times --weights-are frequency",
    ):
        for state in ("new.json", "gate.json", "gate_id.json", "gate_map.json", "gate_classes.json"):
            rows_of = (
                "classes.csv --probs p_*" if "view" in more or "classes" in state else "fit.csv -s score"
            )
            yield f"verify {rows_of} -y label --max-ece 0.2 --state {state} --batch later {more}"


def _defaults() -> Iterator[str]:
    for name in rows.SETTINGS:
        yield f"config --config {name}"
        yield f"--config {name} measure rows.csv -s score -y label --metric ece"
        yield f"verify rows.csv -s score -y label --config {name} --json"
        yield f"fit rows.csv -s score -y label --config {name} -q"
    for command in PLAIN:
        yield f"config {command}"
        yield f"config {command} --json"
    for env in (
        "CALIBCLI_MEASURE_BINS=5",
        "CALIBCLI_MEASURE_BINS=x",
        "CALIBCLI_MEASURE_BINZ=5",
        "CALIBCLI_VERIFY_MAX_ECE=0.2",
        "CALIBCLI_FIT_METHOD=isotonic",
        "CALIBCLI_FIT_METHOD=none",
        "CALIBCLI_MEASURE_FORMAT=md",
        "CALIBCLI_NOTHING=1",
        "NO_COLOR=1",
        "FORCE_COLOR=1",
        "CALIBCLI_MEASURE_BY=country",
    ):
        for line in (
            "measure rows.csv -s score -y label --metric ece",
            "verify rows.csv -s score -y label",
            "fit rows.csv -s score -y label -q",
            "config",
        ):
            yield f"{env} {line}"


def _docs(tree: Path) -> Iterator[tuple[str, str]]:
    """Every command line that a page shows, without pipes; most find no file, and say so."""
    for page in (
        tree / "README.md",
        *sorted((tree / "docs").glob("*.md")),
        *sorted((tree / "docs").rglob("*.y*ml")),
        tree / "sample_data/README.md",
    ):
        text = page.read_text(encoding="utf-8").replace("\\\n", " ")
        for line in re.findall(
            r"(?m)^[ \t]*(?:\$ |- run: |run: )?((?:[A-Z_]+=\S+ )*calibcli [^\n`]*)$", text
        ):
            first = re.split(r" [|>#]|&&|;|   ", line)[0].replace("calibcli ", "", 1)
            try:
                shlex.split(first)
            except ValueError:
                continue
            if "engine-address" not in first and "://" not in first and "<" not in first:
                yield f"docs {page.relative_to(tree)}", first


if __name__ == "__main__":
    main()
