"""Apply an artifact to many files, each to an output of its own, here or on a cluster."""

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path

from calibcli.documents.artifact import Artifact
from calibcli.engines import engine_named
from calibcli.errors import CalibcliError, OutputProblem
from calibcli.objects import is_object
from calibcli.options.rows import Reading
from calibcli.outputs import COMPLETION, refuse_existing
from calibcli.readers.files import found_in
from calibcli.readers.formats import split_forced
from calibcli.readers.fragments import list_fragments
from calibcli.readers.tally import Refused
from calibcli.reports.apply import ApplyReport
from calibcli.reports.apply_classes import ClassApplyReport
from calibcli.reports.apply_folder import FolderApplyReport
from calibcli.tasks.apply_asked import FolderAsk
from calibcli.tasks.gather import choose_columns
from calibcli.tasks.output_names import output_pairs


@dataclass(frozen=True, slots=True)
class FileWork:
    """
    The work on one file: called by an engine with its name and that of its output.

    Args:
        asked: What is done with it.

        force: Whether an output that is there may be replaced.

        folder: The directory that names count from.
    """

    asked: FolderAsk
    force: bool
    folder: str = field(default_factory=os.getcwd)

    def __call__(self, pair: tuple[str, str]) -> ApplyReport | ClassApplyReport | Refused:
        """Apply; a problem is returned, not raised. Reports name files as the user did."""
        path, output = pair
        source, made = self._placed(path), self._placed(output)
        try:
            if not is_object(made):
                Path(made).parent.mkdir(parents=True, exist_ok=True)
            report = self.asked.apply([source], made, force=self.force)
        except OSError as error:
            return Refused(OutputProblem(f"{output} cannot be written: {error.strerror or error}"))
        except CalibcliError as problem:
            return Refused(_renamed(problem, {source: path, made: output}))
        return replace(report, files=(split_forced(path, exists=False)[0],), output=output)

    def _placed(self, name: str) -> str:
        """Return a name that means the same in this process, as the user wrote it where that does."""
        here = is_object(name) or os.getcwd() == self.folder  # noqa: PTH109 - as the folder is
        return name if here else os.path.join(self.folder, name)  # noqa: PTH118


def apply_folder(
    inputs: Sequence[str],
    out_dir: str,
    *,
    asked: FolderAsk,
    force: bool = False,
    skip_existing: bool = False,
    reading: Reading | None = None,
) -> FolderApplyReport:
    """
    Apply an artifact to files; each gets an output of its name, below directories as it stands below its own.

    Args:
        inputs: Files and directories.

        out_dir: Where outputs go; made where it is not there.

        asked: What is done with every file.

        force: Whether outputs that exist may be replaced.

        skip_existing: Whether files whose output exists are left out. Outputs appear whole or not at all, so
            that this goes on where an earlier run ended.

        reading: The engine; how many files are written at a time here, one by default.

    Raises:
        UsageProblem: If two files would have one output, or an input is a pipe.

        OutputProblem: If an output exists or cannot be written.

        InputProblem: If something is wrong with a file, the first in order; outputs of those before it stay.
    """
    found = found_in(inputs)
    pairs = output_pairs(inputs, out_dir, to=asked.shape.to)
    there = {output for _, output in pairs if _exists(output)}
    sources = [*(file.path for file in found.files), asked.artifact]
    for _, output in pairs:
        if output in there:
            refuse_existing(output, force=force or skip_existing, inputs=sources)
    if isinstance(asked.loaded, Artifact):
        # The same score column in every file, also where it is found by its name.
        fragments = list_fragments(found, input_format=asked.input_format)
        choose_columns(fragments, asked.ask.columns, labelled=False)
    wanted = [pair for pair in pairs if not (skip_existing and pair[1] in there)]
    how = reading or Reading()
    engine = engine_named(how.engine, how.jobs or 1, address=how.engine_address)
    parts: list[ApplyReport | ClassApplyReport] = []
    # On a cluster a file may be worked on once more, when its worker is lost, and then its output is there.
    work = FileWork(asked, force or not engine.shares_interpreter)
    COMPLETION.expect(len(wanted))
    try:
        with _folders_of(output for _, output in wanted), how.progress(len(wanted)) as advance:
            for result in engine.map(work, wanted):
                if isinstance(result, Refused):
                    raise result.problem
                parts.append(result)
                advance(result.rows)
    except CalibcliError as problem:
        # A file, or an engine that gave up.
        raise _with_written(problem, len(parts)) from problem.__cause__
    COMPLETION.expect(0)
    skipped = tuple(output for _, output in pairs if skip_existing and output in there)
    return FolderApplyReport(
        out_dir, tuple(parts), skipped, found.notes(made=[output for _, output in pairs])
    )


@contextmanager
def _folders_of(outputs: Iterable[str]) -> Iterator[None]:
    """Take away folders that were made in the block and hold nothing, should it not end well."""
    folders = {folder for output in outputs if not is_object(output) for folder in Path(output).parents}
    new = [folder for folder in folders if not folder.exists()]
    try:
        yield
    except BaseException:
        for folder in sorted(new, reverse=True):
            with suppress(OSError):
                folder.rmdir()
        raise


def _renamed(problem: CalibcliError, names: Mapping[str, str]) -> CalibcliError:
    """Return a problem that names files as the user did."""
    for placed, name in names.items():
        problem.message = problem.message.replace(placed, name)
        problem.hint = problem.hint and problem.hint.replace(placed, name)
    return problem


def _exists(output: str) -> bool:
    try:
        refuse_existing(output, force=False)
    except OutputProblem:
        return is_object(output) or os.path.lexists(output)
    return False


def _with_written(problem: CalibcliError, written: int) -> CalibcliError:
    """Return a problem that says what came before it."""
    if written:
        done = f"{written:,} file{'s' * (written != 1)} before it {'are' if written != 1 else 'is'} written"
        hint = f"{problem.hint}; " if problem.hint else ""
        problem.hint = f"{hint}{done}: --skip-existing goes on from there"
    return problem
