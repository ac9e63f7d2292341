"""The files that generated command lines read: rows of every format, bad ones, and documents of the base."""

import gzip
import json
import os
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv as pc
import pyarrow.feather as pf
import pyarrow.parquet as pq

METHODS = """identity intercept temperature platt beta quadratic spline histogram scaling-binning isotonic
centred-isotonic venn-abers smooth""".split()  # noqa: SIM905 - a list of words is read at a glance
CLASS_METHODS = [
    "confidence",
    "top-label",
    "one-vs-rest",
    "one-vs-one",
    "temperature",
    "vector",
    "structured",
    "matrix",
]
HEAD = "score,label\n"
GOOD = "".join(f"{(i % 19 + 1) / 20},{i % 3 == 0:d}\n" for i in range(240))
BAD = {
    "empty.csv": "", "header.csv": HEAD, "one_row.csv": HEAD + "0.5,1\n", "blank.csv": "\n\n\n",
    "missing.csv": HEAD + GOOD + ",1\n0.5,\n", "range.csv": HEAD + GOOD + "1.2,1\n-0.1,0\n",
    "word.csv": HEAD + GOOD + "high,1\n", "label2.csv": HEAD + GOOD + "0.5,2\n", "nan.csv": HEAD + GOOD + "nan,1\n",
    "inf.csv": HEAD + GOOD + "inf,1\n", "one_label.csv": HEAD + "0.2,1\n0.4,1\n" * 60, "ragged.csv": HEAD + GOOD + "0.5\n",
    "long.csv": HEAD + GOOD + "0.5,1,7\n", "twice.csv": "score,score,label\n0.1,0.2,1\n", "no_label.csv": "score\n0.1\n0.9\n",
    "other_names.csv": "a,b\n0.1,1\n0.9,0\n", "quotes.csv": '"score","label"\n"0.5","1"\n"0.25","0"\n' * 1 + GOOD,
    "open_quote.csv": HEAD + GOOD + '"0.5,1\n', "crlf.csv": (HEAD + GOOD).replace("\n", "\r\n"), "bom.csv": "\ufeff" + HEAD + GOOD,
    "semicolon.csv": (HEAD + GOOD).replace(",", ";"), "comma.csv": "score;label\n" + GOOD.replace(",", ";").replace(".", ","),
    "words.csv": "score,label\n" + GOOD.replace(",1\n", ",yes\n").replace(",0\n", ",no\n"),
    "constant.csv": HEAD + "0.3,0\n0.3,1\n0.3,0\n" * 60, "edges.csv": HEAD + "0,0\n1,1\n0,1\n1,0\n" * 40,
    "negative_weight.csv": "score,label,weight\n0.5,1,-1\n0.4,0,1\n", "broken.json": "{", "list.json": "[1, 2]\n", "empty.json": "",
    "object.json": '{"kind": "unknown"}\n', "rows.xlsx": "no rows", "bad.jsonl": '{"score": 0.5, "label": 1}\n{"score": \n',
    "text.jsonl": '{"score": "0.5", "label": "1"}\n{"score": "0.1", "label": "0"}\n', "bad.parquet": "PAR1 no", "bad.npz": "PK no",
    "bad.arrow": "ARROW1", "bad.csv.gz": "no gzip", "bad_sum.csv": "p_a,p_b,p_c,label\n0.2,0.3,0.6,a\n0.1,0.1,0.8,c\n",
    "strange_class.csv": "p_a,p_b,label\n0.2,0.8,a\n0.9,0.1,z\n", "one_class.csv": "p_a,label\n1.0,a\n",
}  # fmt: skip
SETTINGS = {
    "measure.toml": "[measure]\nbins = 7\nconfidence = 0.9\n", "verify.toml": "max-ece = 0.2\n[verify]\nconfidence = 0.9\n",
    "unknown.toml": "[measure]\nbinz = 7\n", "wrong_type.toml": '[measure]\nbins = "many"\n', "wrong_choice.toml": '[fit]\nmethod = "plat"\n',
    "broken.toml": "[measure\n", "reach.toml": 'output = "x"\n', "no_command.toml": "[mesure]\nbins = 7\n",
}  # fmt: skip


def table(seed: int, size: int = 400) -> dict[str, Any]:
    """Return rows of one score with all that may stand beside it."""
    draw = np.random.default_rng(seed)
    score = draw.beta(0.7, 1.1, size).round(6)
    label = (draw.random(size) < score**1.3).astype(np.int64)
    return {
        "id": np.arange(size) + seed * 10_000, "score": score, "old": (np.sqrt(score) * 20).round() / 20, "label": label,
        "word": np.where(label == 1, "yes", "no").astype(object), "logit": np.log((score + 1e-6) / (1 - score + 1e-6)).round(6),
        "country": draw.choice(np.array(["UK", "US", "a/b"], object), size, p=[0.5, 0.3, 0.2]),
        "device": draw.integers(0, 2, size), "patient": draw.integers(0, 60, size), "times": draw.integers(0, 4, size),
        "weight": draw.exponential(1.0, size).round(6),
    }  # fmt: skip


def class_table(seed: int, size: int = 400) -> dict[str, Any]:
    """Return rows of three classes."""
    draw = np.random.default_rng(seed)
    matrix = draw.dirichlet([1.0, 2.0, 0.7], size).round(6)
    matrix[:, 2] = np.maximum(0.0, 1.0 - matrix[:, 0] - matrix[:, 1])
    label = np.array(["cat", "dog", "emu"], object)[
        (matrix.cumsum(1) > draw.random((size, 1)) * 0.999).argmax(1)
    ]
    label[::9] = "dog"
    beside = table(seed, size)
    kept = {name: beside[name] for name in ("id", "country", "device", "patient", "times", "weight")}
    return {**dict(zip(("p_cat", "p_dog", "p_emu"), matrix.T, strict=True)), "label": label, **kept}


def written(rows: dict[str, Any], path: Path) -> None:
    """Write rows in the format of a name."""
    names = list(rows)
    plain = {name: np.asarray(values).tolist() for name, values in rows.items()}
    lines = list(zip(*plain.values(), strict=True))
    kind = path.name.split(".")[1]
    if kind in ("csv", "tsv"):
        mark = "," if kind == "csv" else "\t"
        text = "".join(mark.join(map(str, line)) + "\n" for line in [names, *lines]).encode()
    elif kind == "jsonl":
        text = "".join(json.dumps(dict(zip(names, line, strict=True))) + "\n" for line in lines).encode()
    elif kind == "parquet":
        pq.write_table(pa.table(plain), path, row_group_size=150)
        return
    elif kind == "arrow":
        pf.write_feather(pa.table(plain), str(path), compression="uncompressed")
        return
    else:
        np.savez(
            path,
            **{
                name: np.asarray(values).astype(str) if np.asarray(values).dtype == object else values
                for name, values in rows.items()
            },
        )
        return
    if path.suffix == ".gz":
        text = gzip.compress(text, mtime=0)
    path.write_bytes(pa.compress(text, "zstd", asbytes=True) if path.suffix == ".zst" else text)


FORMATS = ["csv", "tsv", "jsonl", "parquet", "arrow", "npz", "csv.gz", "jsonl.gz", "tsv.zst"]


def make(main: Callable[[list[str]], int]) -> None:
    """Write every file into the working folder; documents are those of the base."""
    rows, classes = table(1), class_table(2)
    for kind in FORMATS:
        written(rows, Path(f"rows.{kind}"))
        written(classes, Path(f"classes.{kind}"))
    written(table(3), Path("fit.csv"))
    written(class_table(4, 600), Path("fit_classes.csv"))
    written(table(5, 3000), Path("many.parquet"))
    written({"score": rows["old"], "label": rows["label"], "country": rows["country"]}, Path("few.csv"))
    two = np.asarray(rows["score"])
    written({"p_no": 1 - two, "p_yes": two, "label": rows["word"]}, Path("two.parquet"))
    lists = pa.array(np.stack([classes[f"p_{one}"] for one in ("cat", "dog", "emu")], 1).tolist())
    pq.write_table(
        pa.table({"p": lists, "label": classes["label"].tolist(), "id": classes["id"]}), "lists.parquet"
    )
    _typed()
    for name in ("US", "UK"):
        Path(f"parts/land={name}").mkdir(parents=True)
        written(table(6 if name == "US" else 7, 150), Path(f"parts/land={name}/rows.csv"))
    for name, text in {**BAD, **SETTINGS}.items():
        Path(name).write_bytes(text.encode())
    Path("latin.csv").write_bytes((HEAD + GOOD).replace("label", "libellé").encode("latin-1"))
    Path("utf16.csv").write_bytes((HEAD + GOOD).encode("utf-16"))
    Path("key.txt").write_text("a key of thirty-two letters or so\n")
    _documents(main)
    text = Path("cal_platt.json").read_text()
    Path("edited.json").write_text(
        text.replace('"rows": 400', '"rows": 401') if '"rows": 400' in text else text.replace("400", "401", 1)
    )
    Path("cut.json").write_text(text[: len(text) // 2])


def _typed() -> None:
    """Write the same rows as columns of every type that may hold scores, labels, groups or conditions."""
    rows = table(8, 120)
    score, label = [float(one) for one in rows["score"]], [int(one) for one in rows["label"]]
    moment = [datetime(2026, 1, 1, tzinfo=UTC) + timedelta(hours=7 * i) for i in range(120)]
    columns = {
        "score": score, "label": label, "decimal": pa.array([Decimal(f"{one:.6f}") for one in score], pa.decimal128(9, 6)),
        "single": pa.array(score, pa.float32()), "half": pa.array(np.array(score, np.float16)), "text": [repr(one) for one in score],
        "percent": [round(100 * one) for one in score], "boolean": [one == 1 for one in label], "small": pa.array(label, pa.uint8()),
        "real": [float(one) for one in label], "word": ["yes" if one else "no" for one in label], "bytes": [b"yes" if one else b"no" for one in label],
        "category": pa.array(["yes" if one else "no" for one in label]).dictionary_encode(), "day": [one.date() for one in moment],
        "moment": moment, "wide": pa.array([Decimal(i % 3) for i in range(120)], pa.decimal256(40, 2)), "large": [2**60 + i % 2 for i in range(120)],
        "gaps": [None if i % 11 == 0 else one for i, one in enumerate(score)], "nothing": pa.nulls(120), "list": [[one] for one in score],
    }  # fmt: skip
    whole = pa.table(columns)
    pq.write_table(whole, "typed.parquet")
    for codec in ("lz4", "zstd"):
        pf.write_feather(whole, f"typed_{codec}.arrow", compression=codec)
    kept = [name for name in TYPED if name not in ("bytes", "decimal", "wide", "day", "moment", "half")]
    lines = (
        json.dumps(dict(zip(kept, one, strict=True)))
        for one in zip(*(whole[name].to_pylist() for name in kept), strict=True)
    )
    Path("typed.jsonl").write_text("".join(f"{line}\n" for line in lines))
    pc.write_csv(whole.drop_columns(["list", "bytes", "half"]), "typed.csv")
    np.savez(
        "typed.npz",
        **{
            name: np.array(whole[name].to_pylist())
            for name in ("score", "label", "text", "word", "boolean", "percent", "real", "large")
        },
    )


TYPED = """score label decimal single half text percent boolean small real word bytes category day moment wide large
gaps nothing list""".split()  # noqa: SIM905 - a list of words is read at a glance


def _documents(main: Callable[[list[str]], int]) -> None:
    def run(line: str) -> None:
        code = main(line.split())
        if code not in (0, 1, 4):
            msg = f"{code}: {line}"
            raise SystemExit(msg)

    for method in METHODS:
        run(f"fit fit.csv -s score -y label -q -m {method} -o cal_{method}.json")
    run("fit fit.csv -s score -y label -q -m auto -o cal_auto.json")
    run("fit fit.csv -s score -y label -q --by country -o cal_by.json --min-group-rows 50")
    run("fit fit.csv -s logit -y label -q --scale logit -o cal_logit.json")
    run("fit fit.csv -s score -y label -q -w weight -m isotonic -o cal_weighted.json")
    for method in CLASS_METHODS:
        run(f"fit fit_classes.csv --probs p_* -y label -q --multiclass {method} -o classes_{method}.json")
    run("measure rows.csv -s score -y label -q --json -o report.json --summary-out summary.json")
    run("measure rows.csv -s score -y label -q --by country --json -o report_by.json")
    run("measure rows.csv -s score -s old -y label -q --json -o report_two.json")
    run("measure classes.csv --probs p_* -y label -q --json -o report_classes.json")
    run("measure classes.csv --probs p_* -y label -q --view one-vs-rest --json -o report_rest.json")
    run("measure fit.csv -s score -y label -q --json -o report_other.json --summary-out summary_other.json")
    run("compare rows.csv -s score -s old -y label -q --json -o compared.json")
    run("plan --max-ece 0.1 --artifact cal_scaling-binning.json -q --json -o planned.json")
    run("verify rows.csv -s score -y label -q --max-ece 0.2 --json -o verdict.json")
    gate = "-y label -q --max-ece 0.2 --json -o"
    run(f"verify rows.csv -s score {gate} verdict_state.json --state gate.json --batch one")
    run(f"verify fit.csv -s score {gate} other.json --state gate_other.json --batch two")
    run(
        f"verify rows.csv -s score {gate} by.json --state gate_map.json --artifact cal_histogram.json --batch one"
    )
    run(
        f"verify classes.csv --probs p_* {gate} c.json --state gate_classes.json --view one-vs-rest --class dog --batch one"
    )
    run(f"verify rows.csv -s score {gate} a.json --state gate_alarm.json --alarm --batch one")
    run(f"verify rows.csv -s score {gate} i.json --state gate_id.json --id id --batch one")
    run(f"verify rows.csv -s score {gate} k.json --state gate_key.json --state-key-file key.txt --batch one")
    for name in os.listdir():
        if name.endswith(".lock"):
            Path(name).unlink()
