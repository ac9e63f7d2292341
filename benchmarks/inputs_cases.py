"""Files as tools write them, each with a trap in its types or its text: what `inputs_tried.py` runs over."""

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import numpy.typing as npt

ROWS = 600
CLASSES = 3
Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Drawn:
    """The rows that every tool writes: scores of three decimals, labels drawn from them, groups, classes."""

    score: Floats
    label: npt.NDArray[np.bool_]
    group: list[str]
    probs: Floats
    right: npt.NDArray[np.int64]


def drawn() -> Drawn:
    """Draw the rows, always the same."""
    rng = np.random.default_rng(20260114)
    score = np.round(rng.beta(0.8, 1.2, ROWS), 3)
    label = rng.random(ROWS) < score**1.3
    raw = np.round(rng.dirichlet(np.ones(CLASSES), ROWS), 3)
    # A sum of exactly 1 in float64 up to rounding, and of multiples of 1/1024, which every type holds.
    probs = np.round(raw * 1024) / 1024
    probs[:, 0] = 1.0 - probs[:, 1:].sum(axis=1)
    right = np.array([rng.choice(CLASSES, p=np.clip(row, 0, 1) / np.clip(row, 0, 1).sum()) for row in probs])
    return Drawn(score, label, [f"g{place % 3}" for place in range(ROWS)], np.clip(probs, 0, 1), right)


@dataclass(frozen=True)
class Case:
    """One file, and what it is about.

    Args:
        tool: What writes it.

        kind: In which format.

        trap: What could go wrong.

        write: Writes into a folder and returns what is given to calibcli as its input.

        words: Further words of the command line.

        rounded: What the file does to a score, where that changes it.

        refused: Whether it is to be refused, with exit code 3.

        stdin: Whether the file is sent through standard input.

        classes: Whether it holds several classes.
    """

    tool: str
    kind: str
    trap: str
    write: Callable[[Path, Drawn], str]
    words: tuple[str, ...] = ()
    rounded: Callable[[Floats], Floats] = field(default=lambda score: score)
    refused: bool = False
    stdin: bool = False
    classes: bool = False


def text(
    name: str, content: Callable[[Drawn], str], *, encoding: str = "utf-8"
) -> Callable[[Path, Drawn], str]:
    """Return what writes a text byte for byte."""

    def write(folder: Path, rows: Drawn) -> str:
        (folder / name).write_bytes(content(rows).encode(encoding))
        return name

    return write


def lines(
    rows: Drawn, *, header: str = "score,label", each: str = "{score},{label:d}", end: str = "\n"
) -> str:
    """Return rows as lines of text."""
    body = [
        each.format(score=score, label=int(label), group=group, word="yes" if label else "no")
        for score, label, group in zip(rows.score.tolist(), rows.label.tolist(), rows.group, strict=True)
    ]
    return end.join([header, *body] if header else body) + end


CSV_CASES = [
    Case("csv module", "CSV", "CRLF line ends", text("a.csv", lambda rows: lines(rows, end="\r\n"))),
    Case("csv module", "CSV", "CR line ends", text("a.csv", lambda rows: lines(rows, end="\r"))),
    Case("Excel", "CSV", "byte order mark", text("a.csv", lambda rows: lines(rows), encoding="utf-8-sig")),
    Case(
        "Excel",
        "CSV",
        "semicolons",
        text("a.csv", lambda rows: lines(rows, header="score;label", each="{score};{label}")),
        ("--delimiter", ";"),
    ),
    Case(
        "Excel",
        "CSV",
        "semicolons, not said",
        text("a.csv", lambda rows: lines(rows, header="score;label", each="{score};{label}")),
        refused=True,
    ),
    Case(
        "Excel",
        "CSV",
        "decimal commas",
        text(
            "a.csv", lambda rows: lines(rows, header="score;label", each="{score};{label}").replace(".", ",")
        ),
        ("--delimiter", ";", "--decimal", ","),
    ),
    Case(
        "Excel",
        "CSV",
        "decimal commas, not said",
        text(
            "a.csv", lambda rows: lines(rows, header="score;label", each="{score};{label}").replace(".", ",")
        ),
        ("--delimiter", ";"),
        refused=True,
    ),
    Case(
        "Excel",
        "CSV",
        "UTF-16 with tabs (Unicode text)",
        text(
            "a.txt",
            lambda rows: lines(rows, header="score\tlabel", each="{score}\t{label}"),
            encoding="utf-16",
        ),
        ("--encoding", "utf-16", "--delimiter", "tab"),
    ),
    Case(
        "Excel",
        "CSV",
        "UTF-16, not said",
        text("a.csv", lambda rows: lines(rows), encoding="utf-16"),
        refused=True,
    ),
    Case(
        "csv module",
        "CSV",
        "cp1252, column 'Größe'",
        text("a.csv", lambda rows: lines(rows, header="Größe,label"), encoding="cp1252"),
        ("--encoding", "cp1252", "-s", "Größe"),
    ),
    Case(
        "csv module",
        "CSV",
        "latin-1 text in another column, not said",
        text(
            "a.csv",
            lambda rows: lines(rows, header="n,score,label", each="é,{score},{label}"),
            encoding="latin-1",
        ),
    ),
    Case(
        "csv module",
        "CSV",
        "names with dot, blank, quote, line end",
        text("a.csv", lambda rows: lines(rows, header='"a.b ""c""\nd",label')),
        ("-s", 'a.b "c"\nd'),
    ),
    Case(
        "csv module",
        "CSV",
        "Score and LABEL, asked for as score and label",
        text("a.csv", lambda rows: lines(rows, header="Score,LABEL")),
        ("-s", "score", "-y", "label"),
    ),
    Case(
        "R write.csv",
        "CSV",
        "quoted header, row names, TRUE and FALSE",
        text(
            "a.csv",
            lambda rows: (
                lines(rows, header='"","score","label"', each='"r",{score},{label}')
                .replace(",1\n", ",TRUE\n")
                .replace(",0\n", ",FALSE\n")
            ),
        ),
    ),
    Case(
        "csv module",
        "CSV",
        "yes and no",
        text("a.csv", lambda rows: lines(rows, each="{score},{word}")),
        ("--positive", "yes"),
    ),
    Case(
        "csv module",
        "CSV",
        "percentages",
        text("a.csv", lambda rows: lines(rows, each="{score}%,{label}")),
        refused=True,
    ),
    Case("csv module", "CSV", "no header", text("a.csv", lambda rows: lines(rows, header="")), refused=True),
    Case(
        "csv module",
        "CSV",
        "two columns called score",
        text("a.csv", lambda rows: lines(rows, header="score,label,score", each="{score},{label},{score}")),
        refused=True,
    ),
    Case(
        "mysql --batch",
        "TSV",
        "tabs in a file called .csv",
        text("a.csv", lambda rows: lines(rows, header="score\tlabel", each="{score}\t{label}")),
        ("-f", "tsv"),
    ),
    Case(
        "numpy.savetxt",
        "CSV",
        "header '# score,label'",
        text("a.csv", lambda rows: lines(rows, header="# score,label")),
        ("-s", "# score"),
    ),
    Case("csv module", "CSV", "through a pipe", text("a.csv", lambda rows: lines(rows)), stdin=True),
]

JSON_CASES = [
    Case(
        "json module",
        "JSONL",
        'labels of true, 1 and "yes" in one column',
        text(
            "a.jsonl",
            lambda rows: "".join(
                f'{{"label": {("true", "1", chr(34) + "True" + chr(34))[place % 3] if label else "false"}, "score": {score}}}\n'
                for place, (score, label) in enumerate(
                    zip(rows.score.tolist(), rows.label.tolist(), strict=True)
                )
            ),
        ),
    ),
    Case(
        "json module",
        "JSONL",
        "a NaN score, and one that is not there",
        text(
            "a.jsonl",
            lambda rows: (
                '{"score": NaN, "label": 1}\n{"label": 0}\n'
                + lines(rows, header="", each='{{"score": {score}, "label": {label}}}')
            ),
        ),
        ("--on-missing", "drop"),
    ),
    Case(
        "DynamoDB, protobuf",
        "JSONL",
        "numbers in quotes",
        text(
            "a.ndjson", lambda rows: lines(rows, header="", each='{{"score": "{score}", "label": "{label}"}}')
        ),
    ),
    Case(
        "Kinesis Firehose",
        "JSONL",
        "objects without line ends between them",
        text(
            "a.jsonl", lambda rows: lines(rows, header="", each='{{"score":{score},"label":{label}}}', end="")
        ),
    ),
    Case(
        "a log",
        "JSONL",
        "key 'label' only in later rows, CRLF, blank lines",
        text(
            "a.jsonl",
            lambda rows: (
                '{"score": 0.5}\r\n' * 20_000
                + lines(
                    rows,
                    header="",
                    each='{{"score":{score},"label":{label},"more":{{"a":[1,"x"]}}}}',
                    end="\r\n\r\n",
                )
            ),
        ),
        ("--on-missing", "drop", "-y", "label"),
    ),
    Case(
        "jq",
        "JSON",
        "a list, not lines",
        text(
            "a.json",
            lambda rows: (
                "["
                + lines(rows, header="", each='{{"score":{score},"label":{label}}}', end=",").rstrip(",")
                + "]"
            ),
        ),
        refused=True,
    ),
    Case(
        "json module",
        "JSONL",
        "cut short in the last line",
        text("a.jsonl", lambda rows: lines(rows, header="", each='{{"score":{score},"label":{label}}}')[:-9]),
        refused=True,
    ),
    Case(
        "json module",
        "JSONL",
        "UTF-16",
        text(
            "a.jsonl",
            lambda rows: lines(rows, header="", each='{{"score":{score},"label":{label}}}'),
            encoding="utf-16",
        ),
        ("--encoding", "utf-16"),
    ),
    Case(
        "json module",
        "JSONL",
        "through a pipe, no name",
        text("rows", lambda rows: lines(rows, header="", each='{{"score":{score},"label":{label}}}')),
        stdin=True,
    ),
]
