"""What is written and where, what is said of it, and options and arguments that belong to no group."""

from collections.abc import Sequence
from typing import Annotated

from calibcli.names import STDOUT, ColorWhen, CompatTool, DocumentKind, ReportFormat
from calibcli.options.declaring import Option, Reach, Section, option
from calibcli.options.rows import ARTIFACT, INPUTS, DocumentSource
from calibcli.values import dataclass

OUTPUT = Option(
    ("-o", "--output"), section=Section.OUTPUT, metavar="FILE", reach=Reach.WRITES, help="Where to write; - is standard output.",
)  # fmt: skip
TO_A_FILE = OUTPUT._replace(help="Where to write.", needed=True)
KEY_FILE = Option(
    ("--state-key-file",), name="state_key_file", metavar="FILE", reach=Reach.TRUSTS,
    python="str | os.PathLike[str] | None",
    help="The key that signs states, so that edits show. [default: CALIBCLI_STATE_KEY, if set]",
    doc="The file of the key that signs the state; by default the variable CALIBCLI_STATE_KEY, if set.",
)  # fmt: skip


@dataclass(frozen=True, slots=True, repr=False)
class Output:
    """Where the report goes, in which format, and what else is said."""

    fmt: ReportFormat | None = option(
        None, "--format", section=Section.OUTPUT, help="How to write the report; else by the suffix of -o, or as a table.",
    )  # fmt: skip
    json: bool = option(False, "--json", section=Section.OUTPUT, help="Same as --format json.")
    output: str = option(STDOUT, like=OUTPUT, otherwise={"merge": TO_A_FILE, "report": TO_A_FILE})
    force: bool = option(
        False, "--force", section=Section.OUTPUT, reach=Reach.REPLACES, help="Replace an output that exists.",
        doc="Whether an existing `path` may be replaced.",
    )  # fmt: skip
    quiet: bool = option(
        False,
        "-q",
        "--quiet",
        section=Section.OUTPUT,
        help="Nothing on stderr but errors and settings from calibcli.toml; a report keeps its notes.",
    )
    verbose: bool = option(
        False, "-v", "--verbose", section=Section.OUTPUT, help="Say what each number means and assumes."
    )
    color: ColorWhen = option(ColorWhen.AUTO, "--color", section=Section.OUTPUT, help="When to use colour.")


@dataclass(frozen=True, slots=True, repr=False)
class Trusting:
    """What every command and function hears before its work begins: what is believed of documents."""

    state_key_file: str | None = option(None, like=KEY_FILE)
    allow_edited: bool = option(
        False, "--allow-edited", reach=Reach.TRUSTS,
        help="Read a document although it was edited after it was written; the report says so.",
        doc="Whether documents that were edited after they were written are read all the same, with a note.",
    )  # fmt: skip
    debug: bool = option(False, "--debug", help="Show the traceback of an error.")


# Arguments: what stands on the line without a flag.
Inputs = Annotated[list[str], INPUTS]
ArtifactFile = Annotated[str, Option((), metavar="ARTIFACT", help="What `calibcli fit` wrote.")]
AnyFile = Annotated[
    str,
    Option(
        (), metavar="FILE", help="A data file (- for stdin), an artifact, a report, a state or a summary."
    ),
]
OldFile = Annotated[str, Option((), metavar="OLD", help="The rows that others are compared with.")]
NewFile = Annotated[
    str | None,
    Option((), metavar="NEW", help="The rows that may have shifted; none for the groups of OLD (--by)."),
]
Documents = Annotated[
    list[str],
    Option((), metavar="DOCUMENT...", help="What `verify --state` or `measure --summary-out` wrote."),
]
DocumentName = Annotated[
    DocumentKind,
    Option(
        (), metavar="KIND", help="artifact, report, compare, compat, drift, gate, plan, segments, summary."
    ),
]
OneCommand = Annotated[str | None, Option((), metavar="[COMMAND]", help="Only the options of this command.")]

Artifacts = Annotated[
    Sequence[DocumentSource] | None,
    ARTIFACT._replace(
        shell=list[str] | None,
        python="ArtifactLike | Sequence[ArtifactLike] | None",
        help="Recalibrate the score; twice for two artifacts, the baseline first.",
        doc="A `Recalibrator` or the path of one, or two of these, the baseline first.",
    ),
]  # fmt: skip
Compat = Annotated[
    CompatTool | None,
    Option(
        ("--compat",),
        section=Section.MEASURE,
        help="Also give this tool's default numbers, and say why they differ from ours.",
    ),
]
Explain = Annotated[
    str | None,
    Option(
        ("--explain",), section=Section.MEASURE, metavar="NAME",
        help="Explain this measure or test, and stop; all lists the names.",
    ),
]  # fmt: skip
SummaryOut = Annotated[
    str | None,
    Option(
        ("--summary-out",), section=Section.OUTPUT, metavar="S.json", reach=Reach.WRITES,
        help="Keep the counts as a summary, to be merged or read as input.",
    ),
]  # fmt: skip
LikeFile = Annotated[str | None, Option((), metavar="[FILE]", help="The same as --like FILE.")]
Like = Annotated[
    str | None,
    Option(
        ("--like",), section=Section.INPUT, metavar="INPUT", reach=Reach.READS,
        help="A file of scores like those you expect; no labels are needed.",
    ),
]  # fmt: skip
