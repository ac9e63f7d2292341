"""The command tree, and the one gate through which every error leaves."""

import errno
import gc
import os
import signal
import sys
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from contextvars import copy_context
from itertools import pairwise
from typing import Annotated, Any

import typer

from calibcli.data.outputs import COMPLETION, READ_BESIDE
from calibcli.errors import (
    CalibcliError,
    IdleOption,
    InputProblem,
    OutputProblem,
    UsageProblem,
    without_secrets,
)
from calibcli.names import STDOUT
from calibcli.shell.commands import COMMANDS
from calibcli.shell.door import Command, signed
from calibcli.shell.line import Line, Settled, Tree, is_piped, line_of
from calibcli.shell.output import say, say_line
from calibcli.shell.usage_words import called_otherwise
from calibcli.version import __version__

_NO_TEXT = "is not text in the encoding of this system"

# Of a library that could not be loaded, a thread that could not be started, and a call to the system.
_NO_MEMORY = ("failed to map segment", "can't start new thread", "Cannot allocate memory")

_OTHER_LOCALE = "set PYTHONUTF8=1, or a locale of UTF-8 such as LC_ALL=C.UTF-8"

_RENAME = "rename the file, or pipe it in: calibcli ... - < FILE"


def lacking(error: Exception) -> InputProblem | None:
    """Return what an error that nobody else has explained says of the surroundings; None if it is our bug."""
    if isinstance(error, UnicodeEncodeError):
        return InputProblem(f"{error.object!r} {_NO_TEXT}", _way_out())
    if isinstance(error, MemoryError) or any(words in str(error) for words in _NO_MEMORY):
        return InputProblem("there is not enough memory", "free some memory, or lower --memory and --jobs")
    return None


def refuse_bytes(words: Iterable[str]) -> None:
    """Refuse words of bytes that are no text: they could be opened, but be shown in no report."""
    for word in words:
        try:
            word.encode()
        except UnicodeEncodeError:
            msg = f"{word!r} {_NO_TEXT}"
            raise UsageProblem(msg, _way_out()) from None


def _way_out() -> str:
    return _RENAME if sys.getfilesystemencoding() == "utf-8" else _OTHER_LOCALE


BUG = 70

INTERRUPTED = 130

CLOSED_PIPE = 141

_HELP = {"-h", "--help"}

_ANYWHERE = {"-v", "--verbose", "-q", "--quiet", "--debug"}


def _show_version(requested: bool) -> None:
    if requested:
        typer.echo(f"calibcli {__version__}")
        raise typer.Exit


def root(
    context: typer.Context,
    *,
    version: Annotated[  # noqa: ARG001 - its callback has answered
        bool,
        typer.Option("-V", "--version", is_eager=True, callback=_show_version, help="Show the version."),
    ] = False,
    config: Annotated[
        str | None,
        typer.Option(
            "--config",
            metavar="FILE",
            help="File of default options. [default: calibcli.toml, or [tool.calibcli] of pyproject.toml]",
        ),
    ] = None,
    isolated: Annotated[bool, typer.Option("--isolated", help="Read no configuration file.")] = False,
) -> None:
    """Can these probabilities be believed, and what to do if not?

    \b
    EXAMPLES
      calibcli inspect preds.csv                             what a file holds
      calibcli measure preds.csv -s score -y label           how wrong are they
      calibcli fit cal.csv -s score -y label -o cal.json     learn to repair them
      calibcli apply cal.json preds.csv -o repaired.csv      repair them
      calibcli verify eval.csv -s score -y label --max-ece 0.02  PASS or FAIL
      calibcli compare eval.csv -s old -s new -y label       which is better
      calibcli plot preds.csv -s score -y label -o a.png     look at them
      calibcli report preds.csv -s score -y label -o a.html  all as one page

    \b
    EXIT CODES
      0 done, or the gate passed    1 the gate failed       2 usage
      3 bad input or artifact       4 gate inconclusive     5 output refused

    DEFAULTS: a flag beats CALIBCLI_<COMMAND>_<OPTION> in the environment, which beats calibcli.toml or
    [tool.calibcli] in pyproject.toml, here or above, up to .git. `calibcli config` shows what counts.
    """
    READ_BESIDE.set(() if config is None else (config,))
    line = line_of(context)
    name = context.invoked_subcommand
    if name is not None and not _HELP & set(line.words):
        context.default_map = {name: line.complete(name, config, isolated=isolated)}


def tree_of(words: Sequence[str]) -> typer.Typer:
    """Return the command tree for a line: with the commands whose names stand there, and all their options.

    Where no name stands there, every command is in it by its name and first sentence alone: options take
    long to make, and nothing asks for them.
    """
    tree = typer.Typer(
        cls=Tree,
        name="calibcli",
        no_args_is_help=True,
        rich_markup_mode=None,
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    tree.callback()(root)
    completed = any(name.endswith("_COMPLETE") and name.startswith("_CALIBCLI") for name in os.environ)
    named = list(COMMANDS) if completed else [name for name in COMMANDS if name in words]
    for name in named or COMMANDS:
        command = COMMANDS[name]
        tree.command(name, cls=Settled)(signed(command) if named else _in_name(command))
    return tree


def _in_name(command: Command) -> Command:
    """Return what stands for a command in a list of all."""

    def stand() -> None:
        """Nothing is run."""

    stand.__doc__ = command.__doc__
    return stand


class Terminated(BaseException):
    """The system asked to stop: leave nothing half-written; no handler of errors on the way may catch it."""

    def __init__(self, number: int) -> None:
        super().__init__()
        self.number = number


def run() -> None:
    """Run the command line and leave at once.

    Everything is written and closed by then; tearing the interpreter down would only take time, and
    pyarrow's threads do not always survive it.
    """
    # Start-up makes very many objects that stay: looking among them for garbage is a tenth of its time. So do
    # the reports of 100,000 groups: looking again among those that stayed once took 1.7 % of theirs.
    gc.set_threshold(100_000, 100)
    sys.unraisablehook = _but_signals(sys.unraisablehook)
    _end_well()
    code = _main(sys.argv[1:])
    if sys.stderr is not None:
        sys.stderr.flush()
    os._exit(code)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit code; signals mean afterwards what they meant before."""
    before = _end_well()
    try:
        return _main(sys.argv[1:] if arguments is None else arguments)
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _main(arguments: Sequence[str]) -> int:
    # Small products do not gain from BLAS threads, and waking them costs more than the work.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    # Newer typer checks options with pydantic, whose search for plugins reads every installed package.
    os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "__all__")
    # Nothing is shown in windows: a name that matplotlib does not know would stop it.
    os.environ.pop("MPLBACKEND", None)
    words = _in_order(list(arguments))
    if sys.stdout is None:
        # Any file opened from here on would take its place.
        return _explain(OutputProblem("standard output is closed", "send it to /dev/null"), debug=False)
    COMPLETION.expect(1)
    try:
        return _flushed(words)
    except Terminated as stop:
        return 128 + stop.number
    except KeyboardInterrupt:
        return INTERRUPTED
    finally:
        COMPLETION.end()


def _flushed(words: list[str]) -> int:
    """Run one command and hand on what it has printed."""
    code = 0
    try:
        code = copy_context().run(_run, words)
        sys.stdout.flush()
    except BrokenPipeError:
        return _reader_left()
    except OSError as error:
        # What could not be written stays in the buffer, and fails there once more.
        if code == OutputProblem.exit_code:
            return code
        problem = OutputProblem(
            f"standard output cannot be written: {(error.strerror or str(error)).lower()}"
        )
        return _explain(problem, debug="--debug" in words)
    return code


def _run(words: list[str]) -> int:  # noqa: PLR0911 - one return for each way to end
    """Run one command; every error becomes a line and a code."""
    try:
        outcome = _stopped_or(words)
    except CalibcliError as problem:
        return _explain(problem, debug="--debug" in words)
    except Terminated as stop:
        return 128 + stop.number
    except (KeyboardInterrupt, typer.Abort):
        return INTERRUPTED
    except SystemExit as stop:
        return _stopped(stop)
    except typer.Exit as stop:
        return stop.exit_code
    except OSError as problem:
        if problem.errno in _OUTPUT_FAULTS:
            raise
        return _admit(problem, debug="--debug" in words)
    except _USAGE as problem:
        return _explain_usage(problem, words)
    except Exception as problem:  # noqa: BLE001 - the last line of defence
        return _admit(problem, debug="--debug" in words)
    return outcome if isinstance(outcome, int) else 0


def _stopped_or(words: list[str]) -> object:
    """Return what a command returns; after a signal every error is that signal, whatever became of it."""
    try:
        return _outcome(words)
    except Exception as problem:
        if COMPLETION.stopped_by is not None:
            raise Terminated(COMPLETION.stopped_by) from problem
        raise


def _outcome(words: list[str]) -> object:
    """Return what a command returns, run anew as long as a default from outside gives way."""
    refuse_bytes(words)
    words = _by_our_names(words)
    line = Line(tuple(words), COMMANDS)
    command = typer.main.get_command(tree_of(words))
    while True:
        try:
            # A default that gives way leaves no trust behind.
            asked: dict[str, Any] = {
                "args": words,
                "prog_name": "calibcli",
                "standalone_mode": False,
                "obj": line,
            }
            return copy_context().run(command.main, **asked)
        except _USAGE as problem:
            if not (_lacks_input(problem) and is_piped()):
                raise
            words = [*words, STDOUT]
        except IdleOption as problem:
            setting = line.yields(problem)
            if setting is None:
                raise
            line.pass_over(setting)


def _by_our_names(words: list[str]) -> list[str]:
    """Return a line with what others call a method, a view or a diagram by our names."""
    found, command = list(words), next((word for word in words if word in COMMANDS), None)
    for place, (word, following) in enumerate(pairwise([*words, ""])):
        option, equals, value = word.partition("=")
        if option == "-m" and command == "fit":
            option = "--method"
        # There it is the name of a view of SQL.
        others = called_otherwise(option) if (option, command) != ("--view", "export") else {}
        if equals and value in others:
            found[place] = f"{option}={others[value]}"
        elif not equals and following in others:
            found[place + 1] = others[following]
    return found


def _lacks_input(problem: Exception) -> bool:
    """Whether rows were to be named and nothing was: an artifact is named before them."""
    lacking = getattr(getattr(problem, "param", None), "name", None)
    return type(problem).__name__ == "MissingParameter" and lacking in ("inputs", "path", "old")


# What the system says of an output; anything else of its kind is met where the file is known.
_OUTPUT_FAULTS = {errno.EPIPE, errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO}

# The framework's usage errors share this base under any version of it.
_USAGE: type[Exception] = typer.BadParameter.__mro__[1]


def _in_order(words: list[str]) -> list[str]:
    """Put --config and --isolated before the command, and the other options of every command after it."""
    first: list[str] = []
    rest: list[str] = []
    while words:
        word = words.pop(0)
        if word == "--":
            rest += [word, *words]
            break
        if word == "--isolated" or word.startswith("--config="):
            first.append(word)
        elif word == "--config":
            if not words:
                # Before a command it would take that for its value; alone it is what is wrong with the line.
                return [word]
            first += [word, words.pop(0)]
        else:
            rest.append(word)
    return [*first, *_globals_last(rest)]


def _globals_last(words: list[str]) -> list[str]:
    """Let -v, -q, --debug and --color stand before the command as well as after it."""
    lead: list[str] = []
    while words and (words[0] in _ANYWHERE or words[0].startswith("--color")):
        lead.append(words.pop(0))
        if lead[-1] == "--color" and words:
            lead.append(words.pop(0))
    return [words[0], *lead, *words[1:]] if words else lead


def _stopped(stop: SystemExit) -> int:
    """Return the code of an exit by the framework, which takes a closed pipe for a failure with code 1."""
    if isinstance(stop.__context__, BrokenPipeError):
        raise stop.__context__
    return stop.code if isinstance(stop.code, int) else 0


def _explain(problem: CalibcliError, *, debug: bool) -> int:
    if debug:
        _show_traceback(problem)
    _say_error(problem.message, problem.hint)
    return problem.exit_code


def _explain_usage(problem: Exception, words: list[str]) -> int:
    context = getattr(problem, "ctx", None)
    # An option at the end of a line that lacks its value is refused before the framework knows the command.
    named = " ".join(("calibcli", *[one for one in words if one in COMMANDS][:1]))
    command = named if context is None else context.command_path
    message = getattr(problem, "format_message", problem.__str__)()
    if message.lstrip().startswith("Usage:"):
        # No arguments: the framework hands over the help text as an error.
        say(message)
        return 2
    from calibcli.shell.usage_words import usage_words

    message, hint = usage_words(problem, command=command)
    _say_error(without_secrets(message), without_secrets(hint))
    return 2


def _admit(problem: Exception, *, debug: bool) -> int:
    lack = lacking(problem)
    if lack is not None:
        return _explain(lack, debug=debug)
    if debug:
        _show_traceback(problem)
    text = without_secrets(" ".join(str(problem).split()))
    hint = "please report it with the output of --debug"
    _say_error(f"this is a bug in calibcli: {type(problem).__name__}: {text}", None if debug else hint)
    return BUG


def _show_traceback(problem: Exception) -> None:
    """Show where an error came from; errors of libraries that led to it may name addresses in full."""
    import traceback

    say(without_secrets("".join(traceback.format_exception(problem))))


def _end_well() -> "dict[int, Any]":
    """Let Ctrl-C, a request to end, or a terminal that is closed remove what is unfinished.

    `nohup` is respected, and so is a program around this one that handles Ctrl-C itself.
    """
    before: dict[int, Any] = {}
    ours = (signal.default_int_handler, _terminate)
    for number in (signal.SIGTERM, getattr(signal, "SIGHUP", signal.SIGTERM), signal.SIGINT):
        found = signal.getsignal(number)
        if found in ours if number == signal.SIGINT else found is not signal.SIG_IGN:
            with suppress(ValueError):  # only the first thread is told of signals
                before[number] = signal.signal(number, _terminate)
    return before


def _but_signals(told: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """Return what tells of errors in destructors, but not of signals, by which the command ends later."""

    def tell(lost: Any) -> None:  # noqa: ANN401 - as Python has it
        if not isinstance(lost.exc_value, Terminated | KeyboardInterrupt):
            told(lost)

    return tell


def _terminate(number: int, _: object) -> None:
    if COMPLETION.hears(number):
        raise KeyboardInterrupt if number == signal.SIGINT else Terminated(number)


def _say_error(message: str, hint: str | None) -> None:
    try:
        say_line(f"error: {message}")
        if hint:
            say_line(f"hint: {hint}")
    except OSError:
        return


def _reader_left() -> int:
    """Leave quietly, and keep the interpreter from complaining about what it could not flush."""
    with suppress(AttributeError, OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return CLOSED_PIPE
