"""What is asked of pictures and pages."""

from pathlib import Path
from typing import Annotated

from calibcli.errors import UsageProblem
from calibcli.names import STDOUT, AxisScale, Band, Benefit, FigureSize, FitLoss, PlotKind, Theme
from calibcli.options.declaring import Option, Reach, Section, option
from calibcli.options.output import OUTPUT
from calibcli.values import dataclass

AXIS = Option(
    ("--axis",),
    section=Section.PICTURE,
    help="Lay scores out as they are, or by log-odds near 0 and 1. [default: linear; logit for small scores]",
    doc="Scores as they are, or by log-odds near 0 and 1; by default as they are, but by log-odds if small.",
)


@dataclass(frozen=True, slots=True, repr=False)
class PictureOptions:
    size: FigureSize = option(
        FigureSize.PAGE, "--size", section=Section.PICTURE, help="Fit one column of a journal, a page, or a slide.",
    )  # fmt: skip
    theme: Theme = option(Theme.LIGHT, "--theme", section=Section.PICTURE, help="White or dark background.")
    axis: AxisScale | None = option(None, like=AXIS)
    benefit: Benefit = option(
        Benefit.NET, "--benefit", section=Section.PICTURE,
        help="Decision curve: net benefit, standardised by the base rate, or gain over the better of all and none.",
        doc="Scale of a decision curve: net benefit, over the base rate, or less the better of all and none.",
    )  # fmt: skip
    band: Band = option(
        Band.POINTWISE, "--band", section=Section.PICTURE,
        help="Band of --kind smooth, isotonic, residual, or clinical with the kernel: for each score by itself, or for all at once.",
        doc='Of `kind="smooth"`, `"isotonic"`, `"residual"`, or `"clinical"` with the kernel: for each score by itself, or for all at once.',
    )  # fmt: skip
    attributes: bool = option(
        False, "--attributes", section=Section.PICTURE,
        help="Add the base rate and the line of no skill to reliability diagrams, as forecasters do.",
        doc="Whether reliability diagrams have the base rate and the line of no skill (attributes diagram).",
    )  # fmt: skip
    loss: FitLoss | None = option(
        None, "--loss", section=Section.PICTURE, help="Loss of --kind mcb-dsc. [default: brier]",
        doc='Mean score of `kind="mcb-dsc"`; by default the Brier score.',
    )  # fmt: skip
    title: str | None = option(
        None, "--title", section=Section.PICTURE, help="Title of the picture. [default: file, column]",
        doc="Title of the picture; by default what was read, and the column.",
    )  # fmt: skip


@dataclass(frozen=True, slots=True, repr=False)
class PageOptions:
    """What a page of HTML says that no measurement knows."""

    axis: AxisScale | None = option(None, like=AXIS)
    title: str | None = option(
        None, "--title", section=Section.PICTURE, help="Heading. [default: Calibration report]"
    )
    date: str | None = option(
        None, "--date", section=Section.PICTURE, metavar="TEXT", help="A date to print, as you write it. [default: none]",
    )  # fmt: skip


Kind = Annotated[
    PlotKind | None,
    Option(
        ("--kind",), section=Section.PICTURE,
        help="Which diagram. [default: smooth, or binned for few values and with --bins or --binning; compare "
        "for several scores, groups with --by, segments with --on, classes with --view]",
        doc="Which diagram; by default what the rows imply.",
    ),
]  # fmt: skip
CompareWith = Annotated[
    str | None,
    Option(
        ("--compare",), section=Section.PICTURE, metavar="CAL.json", reach=Reach.READS,
        help="Same as --kind compare --artifact: raw and recalibrated.",
    ),
]  # fmt: skip
InTerminal = Annotated[
    bool,
    Option(
        ("--terminal",),
        section=Section.PICTURE,
        help="Draw a reliability diagram in letters; -o is then optional.",
    ),
]
PictureFile = Annotated[str | None, OUTPUT._replace(help="Where to write: .png, .svg or .pdf.")]
PicturePath = Annotated[
    str | None,
    Option(
        (), python="str | os.PathLike[str] | None",
        doc="Where to write it as well: .png, .svg or .pdf, the bytes that the command writes.",
    ),
]  # fmt: skip


FORMATS = ("png", "svg", "pdf")


def picture_format(path: str) -> str:
    """Return the format that a file name asks for, so that a wrong one is refused before any file is read."""
    if path == STDOUT:
        return FORMATS[0]
    suffix = Path(path).suffix.lower().removeprefix(".")
    if suffix not in FORMATS:
        msg = f"{path}: a picture is png, svg or pdf by its suffix"
        raise UsageProblem(msg, f"name it {Path(path).stem or 'reliability'}.png")
    return suffix
