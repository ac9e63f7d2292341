"""The reliability diagrams of other packages beside ours, of the same rows, and what each costs.

    python benchmarks/pictures_beside.py --peers PYTHON [--rows 100000] [--write]

Writes docs/pictures/beside_*.png. `--write` puts the times into docs/pictures_beside.md. `--peers` names a
Python that has the other packages; what it lacks is left out, and the table says so.
"""

import argparse
import os
import re
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from fits import missing, versions
from measures import spend_within
from processes import CALIBCLI, machine, make_scores
from pyarrow import csv

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
PAGE = ROOT / "docs" / "pictures_beside.md"
PICTURES = ROOT / "docs" / "pictures"
WORKER = HERE / "peer_pictures.py"
KINDS = ("smooth", "isotonic", "binned")
TIMES = re.compile(r"(?<=<!-- times -->\n).*?(?=<!-- end of times -->)", re.DOTALL)


@dataclass(frozen=True)
class Peer:
    """Another package.

    Args:
        name: What the page and the worker call it.

        module: What must be there.

        package: Its distribution.

        draws: What its picture has.
    """

    name: str
    module: str
    package: str
    draws: str


PEERS = (
    Peer("relplot", "relplot", "relplot", "smooth curve, bootstrap band, smECE with its bootstrap interval"),
    Peer("model-diagnostics", "model_diagnostics", "model-diagnostics", "isotonic curve, 200 bootstrap fits"),
    Peer("calzone", "calzone", "calzone-tool", "10 bins, Wilson intervals"),
    Peer("scikit-learn", "sklearn", "scikit-learn", "10 bins"),
)


def make_rows(folder: Path) -> dict[str, Path]:
    """Write score and label of both data sets to Parquet and return where."""
    churn = pq.read_table(ROOT / "sample_data" / "churn_evaluation.parquet", columns=["score", "label"])
    digits = csv.read_csv(ROOT / "sample_data" / "digits_forest_evaluation.csv")
    eight = pc.cast(pc.equal(digits["label"], 8), pa.int64())
    tables = {"churn": churn, "ties": pa.table({"score": digits["p_8"], "label": eight})}
    paths = {name: folder / f"{name}.parquet" for name in tables}
    for name, table in tables.items():
        pq.write_table(table, paths[name])
    return paths


def their_command(peers: str, name: str, rows: Path, picture: Path) -> list[str]:
    """Return the process in which another package draws."""
    return [peers, str(WORKER), name, str(rows), str(picture)]


def our_command(kind: str, rows: Path, picture: Path) -> list[str]:
    """Return the process in which we draw."""
    of = ["plot", str(rows), "-s", "score", "-y", "label", "--kind", kind, "--title", f"calibcli, {kind}"]
    return [*CALIBCLI, *of, "--size", "column", "-o", str(picture), "--force", "--quiet"]


def draw_all(folder: Path, peers: str, there: list[Peer]) -> None:
    """Draw both data sets in every way and keep the pictures, those of others as they are."""
    sys.path.append(str(ROOT / "docs"))
    from make_pictures import reduced

    PICTURES.mkdir(exist_ok=True)
    for data, rows in make_rows(folder).items():
        for peer in there:
            target = PICTURES / f"beside_{data}_{peer.name}.png"
            command = their_command(peers, peer.name, rows, target)
            subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        for kind in KINDS:
            subprocess.run(our_command(kind, rows, folder / "p.png"), check=True)
            reduced(folder / "p.png", PICTURES / f"beside_{data}_{kind}.png")


def times(folder: Path, asked: argparse.Namespace, why: dict[str, str | None]) -> str:
    """Return what one whole process of each costs, as Markdown."""
    rows, picture = folder / "many.parquet", folder / "p.png"
    make_scores(rows, asked.rows, 2)
    load = os.getloadavg()[0]
    lines = ["| picture | what is in it | wall s | CPU s | peak MiB |", "|---|---|---|---|---|"]
    field = [(f"calibcli {kind}", OURS[kind], our_command(kind, rows, picture)) for kind in KINDS]
    field += [(one.name, one.draws, their_command(asked.peers, one.name, rows, picture)) for one in PEERS]
    for name, draws, command in field:
        absent = why.get(name)
        spent = f"left out: {absent}" if absent else spend_within(command, asked.patience)
        words = spent if isinstance(spent, str) else f"{spent.wall:.1f} | {spent.cpu:.1f} | {spent.peak:.0f}"
        lines.append(f"| {name} | {draws} | {words} |" + ("" if "|" in words else " | |"))
    told = versions(asked.peers, [peer.package for peer in PEERS])
    head = f"{asked.rows:,} rows, all scores distinct; one round of whole processes, from Parquet to PNG; "
    head += f"load {load:.1f} when it began. {machine()}; {told}.\n"
    return "\n".join([head, *lines]) + "\n"


OURS = {
    "smooth": "smooth curve, band, smECE with its interval",
    "isotonic": "isotonic curve, consistency band of 1,000 fits, MCB, DSC, UNC",
    "binned": "15 bins, Clopper-Pearson intervals, binned ECE with its interval",
}


def main() -> None:
    """Draw, time and print."""
    parser = argparse.ArgumentParser(description="Draw the diagrams of other packages beside ours.")
    parser.add_argument("--peers", default=sys.executable, metavar="PYTHON", help="has the other packages")
    parser.add_argument("--rows", type=int, default=100_000)
    parser.add_argument("--patience", type=float, default=300.0, metavar="SECONDS")
    parser.add_argument("--write", action="store_true", help="put the times into the page")
    asked = parser.parse_args()
    why = {peer.name: missing(asked.peers, peer.module) for peer in PEERS}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        draw_all(folder, asked.peers, [peer for peer in PEERS if why[peer.name] is None])
        text = times(folder, asked, why)
    print(text)
    if asked.write:
        page = PAGE.read_text(encoding="utf-8")
        PAGE.write_text(TIMES.sub(lambda _: text, page), encoding="utf-8")


if __name__ == "__main__":
    main()
