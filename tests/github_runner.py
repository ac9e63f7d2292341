"""What GitHub's runner makes of what a step prints and of the files it adds to, by the runner's own rules."""

from dataclasses import dataclass

COMMANDS = ("error", "warning", "notice", "set-output", "add-mask", "stop-commands", "debug", "group")


@dataclass(frozen=True)
class Command:
    """A workflow command, read."""

    name: str
    title: str
    message: str


def commands_of(text: str) -> list[Command]:
    """Return the commands among the lines of a log, without those between stop marks."""
    found, mark = [], ""
    for line in text.splitlines():
        command = _new(line.lstrip()) or _old(line)
        if mark:
            mark = "" if line.strip() == f"::{mark}::" else mark
        elif command is not None and command.name == "stop-commands":
            mark = command.message
        elif command is not None:
            found.append(command)
    return found


def outputs_in(text: str) -> dict[str, str]:
    """Return what a step's output file sets; a line that sets nothing is an error, as it is there."""
    found: dict[str, str] = {}
    lines = iter(text.split("\n"))
    for line in lines:
        if not line:
            continue
        key, mark, value = line.partition("=")
        if mark and "<<" not in key:
            found[key] = value
            continue
        key, mark, end = line.partition("<<")
        assert mark, line
        block = []
        while (inner := next(lines)) != end:
            block.append(inner)
        found[key] = "\n".join(block)
    return found


def _new(line: str) -> Command | None:
    """Read `::name title=...::message`."""
    if not line.startswith("::") or "::" not in line[2:]:
        return None
    head, _, message = line[2:].partition("::")
    name, _, properties = head.partition(" ")
    if name not in COMMANDS:
        return None
    pairs = dict(pair.split("=", 1) for pair in properties.strip().split(",") if "=" in pair)
    title = _back(pairs.get("title", ""), {"%0D": "\r", "%0A": "\n", "%3A": ":", "%2C": ",", "%25": "%"})
    return Command(name, title, _back(message, {"%0D": "\r", "%0A": "\n", "%25": "%"}))


def _old(line: str) -> Command | None:
    """Read `##[name]message`, which counts wherever in a line it stands."""
    _, mark, rest = line.partition("##[")
    head, bracket, message = rest.partition("]")
    name = head.partition(" ")[0]
    return Command(name, "", message) if mark and bracket and name in COMMANDS else None


def _back(text: str, marks: dict[str, str]) -> str:
    for mark, letter in marks.items():
        text = text.replace(mark, letter)
    return text
