"""What the framework says of a line that it cannot take, in one plain line and a way out."""

import re
from collections.abc import Iterable
from pathlib import Path

from calibcli.names import VIEW_ALIASES, ClassMeasure, MeasureName
from calibcli.options.declaring import FEW_NAMES, nearest, said_otherwise

_CHOICE = r"(?:Value error, )?'(?P<value>.*)' is not one of (?P<names>'.*')\.?"
_SHARE = r"\s*(?P<digits>[0-9]*\.?[0-9]+)\s*%\s*"
_FRACTION = r"0?\.[0-9]+"
# What pydantic calls them, and what the framework said before it asked pydantic.
_WHOLE = ("int_parsing", "int_from_float", "is not a valid integer")
_TOO_SMALL = "greater_than_equal"
_TOO_LARGE = "less_than_equal"
_RANGE = r"(?P<value>\S+) is not in the range (?:\d+<=)?x(?:>=\d+)?(?:<=(?P<most>\d+))?\.?"
_REAL = ("float_parsing", "is not a valid float")
_LIMIT = r"--(?P<end>max|min)-(?P<measure>[a-z0-9_-]+)"
_CLUSTERS = (
    "measure and compare take clusters; to draw them: measure --cluster COL --json -o m.json, plot m.json"
)
# What to type where an option is missing that a command cannot do without.
_NEEDED = {
    "calibcli --config": "name the file: --config calibcli.toml",
    "segments --on": "name the columns that make segments: --on country,device",
    "report --output": "name the page: -o report.html",
    "merge --output": "name the sum: -o all.json",
}
# What other tools call our options, without dashes.
_OF_OTHERS = {
    "--bins": ("n_bins", "num_bins", "nbins"),
    "--binning": ("strategy",),
    "--by": ("group", "groupby", "group_by", "subgroup"),
    "--confidence": ("ci", "level", "alpha"),
    "--delimiter": ("sep", "separator"),
    "--folds": ("cv", "n_splits"),
    "--label": ("y_true", "target", "outcome", "truth"),
    "--method": ("calibrator",),
    "--output": ("out", "output_file"),
    "--positive": ("pos_label",),
    "--score": ("y_prob", "y_score", "y_pred", "y_proba", "prob", "proba"),
    "--seed": ("random_state",),
    "--weight": ("sample_weight", "weights"),
}
_MORE_FILES = "to compare many files, as of months, name a column: calibcli drift 'loans_*.csv' --by month"


def called_otherwise(option: str) -> dict[str, str]:
    """Return our names of what others call a value of an option otherwise."""
    match option:
        case "--method":
            from calibcli.families.recalibrators import METHOD_ALIASES

            return METHOD_ALIASES
        case "--kind":
            from calibcli.families.pictures import KIND_ALIASES

            return KIND_ALIASES
        case "--view":
            return VIEW_ALIASES
    return {}


def usage_words(  # noqa: PLR0911 - one return for each kind of error
    problem: Exception, *, command: str
) -> tuple[str, str]:
    """Return the message and the hint of an error in the words of a line."""
    said = getattr(problem, "format_message", problem.__str__)()
    message, help_of = " ".join(said.split()).rstrip("."), f"{command} --help"
    name = getattr(problem, "option_name", None)
    if type(problem).__name__ == "BadOptionUsage":
        # The command has the option, whose value is lacking or is not to be there.
        return message, _NEEDED.get(f"{command.rpartition(' ')[2]} {name}", help_of)
    if name == "--cluster":
        return f"{command} takes no --cluster", _CLUSTERS
    option = _option_of(problem)
    if option is None and (ours := _of_others(problem)) is not None:
        return f"No such option: {name}", f"here it is called {ours}: {help_of}"
    if option is None:
        more = _MORE_FILES if command.endswith("drift") and "extra argument" in message else _of_file(message)
        return message, more or _rule_hint(problem) or _elsewhere(problem, command) or help_of
    detail = getattr(problem, "message", message)
    choice = re.fullmatch(_CHOICE, detail)
    if choice is not None:
        metavar = getattr(getattr(problem, "param", None), "metavar", None)
        names = taken_here(re.findall(r"'([^']*)'", choice["names"]), metavar)
        return f"{option}: there is no {choice['value']!r}", _choice_hint(
            option, choice["value"], names, f"`{help_of}`"
        )
    needed = _NEEDED.get(f"{command.rpartition(' ')[2]} {option}")
    if needed is not None and type(problem).__name__ == "MissingParameter":
        return message, needed
    kind, value = _refused(problem, detail)
    found = None if value is None else _of_number(option, kind, value, detail)
    return found or (message, help_of)


def taken_here(names: Iterable[str], metavar: str | None) -> list[str]:
    """Return the values of an option that a command takes, fewer than others do, as its help says."""
    every, here = list(names), (metavar or "").strip("<>").split("|")
    return [one for one in every if one in here] or every


def _of_file(message: str) -> str | None:
    """Return what to type where a file stands in the place of a command."""
    word = re.search(r"No such command '(.+?)'", message)
    at_hand = word is not None and Path(word[1]).exists()
    return f"to see what it holds: calibcli inspect {word[1]}" if word and at_hand else None


def _rule_hint(problem: Exception) -> str | None:
    """Return the rule that an option such as `--max-bias` was meant for, where there is no such option."""
    meant = re.fullmatch(_LIMIT, getattr(problem, "option_name", None) or "")
    command = getattr(getattr(problem, "ctx", None), "command", None)
    if meant is None or not any("--rule" in one.opts for one in getattr(command, "params", ())):
        return None
    name = meant["measure"].replace("-", "_")
    if name not in {*MeasureName, *ClassMeasure}:
        return None
    ends = {"max": f"--rule '{name}.upper<=X'", "min": f"--rule '{name}.lower>=X'"}
    other = f" and --rule '{name}.lower>=-X'" if (name, meant["end"]) == (MeasureName.BIAS, "max") else ""
    from calibcli.show.words import field_name

    return f"a limit X of the {field_name(name)} is a rule: {ends[meant['end']]}{other}"


def _of_others(problem: Exception) -> str | None:
    """Return the option of the command that other tools call by the name that it does not know."""
    word = (getattr(problem, "option_name", None) or "").removeprefix("--").replace("-", "_")
    command = getattr(getattr(problem, "ctx", None), "command", None)
    known = {flag for one in getattr(command, "params", ()) for flag in one.opts}
    found = next((ours for ours, names in _OF_OTHERS.items() if word in names and ours in known), None)
    return f"{found}, and is 1 - alpha" if found and word == "alpha" else found


# Commands that read scores without what became of them.
_UNLABELLED = ("plan", "drift", "apply")


def _elsewhere(problem: Exception, command: str) -> str | None:
    """Return which other commands have an option that this one has not, or that it takes without a name."""
    from calibcli.shell.commands import COMMANDS
    from calibcli.shell.door import options_of

    name = getattr(problem, "option_name", None) or ""
    key, here = name.removeprefix("--"), command.rpartition(" ")[2]
    params = getattr(getattr(getattr(problem, "ctx", None), "command", None), "params", ())
    arguments = [one.name for one in params if one.param_type_name == "argument"]
    if key in arguments:
        return f"{here} takes it without a name: {' '.join((command, *map(str.upper, arguments)))}"
    every = {other: options_of(one) for other, one in COMMANDS.items() if other != here}
    flags = {flag: one.key for taken in every.values() for one in taken.values() for flag in one.option.flags}
    key = flags.get(name, key)
    found = [other for other, taken in every.items() if key in taken]
    if not key or not found:
        return None
    if key == "label" and here in _UNLABELLED:
        return f"{here} reads scores alone: leave the label out"
    where = f"{', '.join(found[:-1])} and {found[-1]}" if found[1:] else found[0]
    return f"{name} is an option of {where}: calibcli {found[0]} --help"


def _of_number(option: str, kind: str, value: str, detail: str) -> tuple[str, str] | None:
    """Return the message and the hint for what should be a number, or None where something else is wrong."""
    if kind == _TOO_SMALL:
        least = re.findall(r"\d+", detail.rsplit(maxsplit=1)[-1])[0]
        return f"{option}: {value} is too small", f"{option} takes {least} or more"
    if kind == _TOO_LARGE:
        most = re.findall(r"\d+", detail.rsplit(maxsplit=1)[-1])[-1]
        return f"{option}: {value} is too large", f"{option} takes at most {most}"
    if kind in _WHOLE:
        share = re.fullmatch(_FRACTION, value) or re.fullmatch(_SHARE, value)
        takes = "a count such as 1000, not a share" if share else "a whole number, in digits alone"
        return f"{option}: {value!r} is not a whole number", f"{option} takes {takes}"
    if kind in _REAL:
        hint = f"{option} takes a number with a point, such as 0.02"
        if (share := re.fullmatch(_SHARE, value)) is not None:
            hint = f"write {float(share['digits']) / 100.0:.10g} for {value.strip()}"
        return f"{option}: {value!r} is not a number", hint
    return None


def _option_of(problem: Exception) -> str | None:
    """Return the option whose value was refused, by its long name."""
    names = getattr(getattr(problem, "param", None), "opts", None) or ()
    return max(names, key=len, default=None)


def _refused(problem: Exception, detail: str) -> tuple[str, str | None]:
    """Return what was wrong with a value, and the value as it was typed."""
    errors = getattr(problem.__cause__, "errors", None)
    if errors is not None:
        first = errors()[0]
        return str(first["type"]), str(first["input"])
    outside = re.fullmatch(_RANGE, detail)
    if outside is not None:
        value, most = outside["value"], outside["most"]
        return _TOO_LARGE if most and float(value) > float(most) else _TOO_SMALL, value
    quoted = re.fullmatch(r"'(.*)' (is not a valid \w+)( range)?\.?", detail)
    return (quoted[2], quoted[1]) if quoted else ("", None)


def _choice_hint(option: str, value: str, names: list[str], all_by: str) -> str:
    near = (*names, *called_otherwise(option))
    others = nearest(value, near, all_by=all_by if len(names) > FEW_NAMES else "")
    return said_otherwise(option.removeprefix("--"), value) or others
