"""Add the recalibrated probability to every row of a file, or of every file of a folder."""

import hashlib
import json
import os
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path, PurePath

from calibcli.ahead import Progress, unseen
from calibcli.commands.added_columns import (
    AddedColumns,
    conversion_notes,
    output_format,
    prepared,
    write_with_added_columns,
)
from calibcli.commands.predicting import ApplyRequest, fitted_rate, refuse_names
from calibcli.commands.through_maps import as_fitted
from calibcli.data.engines import engine_named
from calibcli.data.files import Found, InputFile, fixed_part, found_in, is_pattern, is_read_once
from calibcli.data.formats import compression_of, format_of, split_forced
from calibcli.data.fragments import MOST_REFUSED, all_refused, columns_of, list_fragments
from calibcli.data.objects import content_of_file, is_object, parted
from calibcli.data.outputs import COMPLETION, check_output, refuse_existing
from calibcli.data.readers import Fragment
from calibcli.documents.artifact import Artifact, ClassArtifact
from calibcli.documents.sealed import canonical_text
from calibcli.errors import CalibcliError, InputProblem, OutputProblem, UsageProblem
from calibcli.names import DataFormat
from calibcli.options.numerals import plural
from calibcli.options.rows import Columns, InputFormat, Reading
from calibcli.reports.maps import ApplyReport, FolderApplyReport
from calibcli.values import dataclass, field, replace

# Readers of folders pass over names that begin with a dot.
NAME = ".calibcli-made-by.json"

_MOST_BYTES = 1 << 28

# What two artifacts of one map may differ in.
_NOT_OF_THE_MAP = ("calibcli", "digest", "schema", "fit")


def fingerprint_of(requested: ApplyRequest) -> str:
    """Return what tells the columns that a request writes: map, base rate, name, how scores are read, and
    which others are kept.
    """
    otherwise = {**_read_otherwise(requested), **_taken_otherwise(requested)}
    return _digest_of(requested, {**otherwise, "keep": requested.shape.keep})


def _digest_of(requested: ApplyRequest, otherwise: Mapping[str, object]) -> str:
    loaded, prior = requested.loaded, requested.prior
    document = {key: one for key, one in loaded.to_dict().items() if key not in _NOT_OF_THE_MAP}
    told = {"map": document, "prior": prior, "name": requested.name, **otherwise}
    if prior is not None and isinstance(loaded, Artifact):
        told["fitted_rate"] = fitted_rate(loaded)
    return f"sha256:{hashlib.sha256(canonical_text(told).encode()).hexdigest()}"


def _taken_otherwise(requested: ApplyRequest) -> dict[str, object]:
    """Return what becomes of rows that else end the command."""
    columns = requested.columns
    asked = {
        "on_missing": columns.on_missing,
        "on_range": columns.on_range,
        "on_sum": requested.on_sum,
        "unseen": columns.on_unseen,
    }
    return {key: one.value for key, one in asked.items() if one.value != "error"}


def _read_otherwise(requested: ApplyRequest) -> dict[str, object]:
    """Return which scores are read, and how, where that is not as in the fit."""
    columns, several = requested.columns, requested.columns.several
    fitted = as_fitted(Columns(), requested.loaded)
    pairs = {
        "score": (columns.score, fitted.fitted),
        "scale": (columns.scale, fitted.scale),
        "score_map": (columns.score_map, fitted.score_map),
        "probs": (None if several is None else several.probs, None),
        "classes": (None if several is None else several.classes, None),
    }
    return {key: asked for key, (asked, as_in_fit) in pairs.items() if asked not in (None, as_in_fit)}


def refuse_other_maps(requested: ApplyRequest, out_dir: str, there: Collection[str]) -> tuple[str, ...]:
    """Refuse to leave out outputs of another map; return what to say of those that nothing is known of."""
    made, now = _read(out_dir), fingerprint_of(requested)
    read, kept_others = _read_otherwise(requested), {"keep": requested.shape.keep}
    # Files without a row that ends the command are the same whatever is asked of such rows, and earlier
    # versions did not keep what --keep said.
    same = {
        _digest_of(requested, {**read, **taken, **others})
        for taken in (_taken_otherwise(requested), {})
        for others in (kept_others, {})
    }
    others = [output for output in there if made.get(_inside_folder(out_dir, output), now) not in same]
    if others:
        some = plural(len(others), "output", "was")
        what = "made by another artifact, --prior, --name or --keep, or of scores that were read otherwise"
        msg = f"{some} {what}; the first is {min(others)}"
        raise UsageProblem(msg, "pass --force in place of --skip-existing, or name another --out-dir")
    unknown = [output for output in there if _inside_folder(out_dir, output) not in made]
    if not unknown:
        return ()
    some = "1 output that is left out" if len(unknown) == 1 else f"{len(unknown):,} outputs that are left out"
    return (f"nothing says which artifact made {some}; --force makes them anew",)


@contextmanager
def kept(requested: ApplyRequest, out_dir: str, outputs: Sequence[str]) -> Iterator[None]:
    """Keep which map makes some files, before they are made; forget it if none of them comes to be."""
    if is_object(out_dir) or not outputs:
        yield
        return
    place = Path(out_dir) / NAME
    try:
        place.parent.mkdir(parents=True, exist_ok=True)
    except OSError:
        # The first file says why, by its own name.
        yield
        return
    new = not place.exists()
    now = fingerprint_of(requested)
    made = {**_read(out_dir), **{_inside_folder(out_dir, output): now for output in outputs}}
    # No output of the command, of which a signal hears whether all are there.
    part = place.with_name(f"{NAME}.{os.getpid()}.part")
    try:
        part.write_text(json.dumps(made, indent=0, sort_keys=True) + "\n", encoding="utf-8")
        part.rename(place)
    except BaseException as error:
        with suppress(OSError):
            part.unlink()
        if not isinstance(error, OSError):
            raise
        msg = f"{place} cannot be written: {(error.strerror or str(error)).lower()}"
        raise OutputProblem(msg, "make room for it, or name another --out-dir") from error
    try:
        yield
    except BaseException:
        if new and not any(map(os.path.lexists, outputs)):
            with suppress(OSError):
                place.unlink()
        raise


def _inside_folder(out_dir: str, output: str) -> str:
    return output.removeprefix(out_dir.rstrip("/") + "/")


def _read(out_dir: str) -> dict[str, str]:
    """Return the map of each output; nothing where that was not kept, or was damaged."""
    if is_object(out_dir):
        return {}
    try:
        found = json.loads(content_of_file(Path(out_dir) / NAME, _MOST_BYTES))
    except (OSError, ValueError, RecursionError):
        return {}
    return {str(name): str(one) for name, one in found.items()} if isinstance(found, dict) else {}


def apply_file(
    requested: ApplyRequest,
    inputs: Sequence[str],
    output: str,
    *,
    force: bool = False,
    progress: Progress = unseen,
) -> ApplyReport:
    """Apply a map to a file; other columns stay as they are, and no label is needed."""
    if len(inputs) != 1:
        msg = f"{len(inputs)} inputs for one output"
        raise UsageProblem(msg, "--out-dir gives each an output of its own")
    check_output(output, force=force, inputs=inputs, documents=[requested.artifact])
    listed = found_in(inputs)
    fragment = only_file(listed, requested.input_format)
    predictor = requested.predictor(fragment)
    kind = output_format(output, requested.shape.to, fragment)
    predictor.delimiter = _delimiter(kind, fragment)
    refuse_names((requested.name,), (), shown=fragment.shown)
    job = prepared(AddedColumns(fragment, kind, predictor, predictor.resolved), requested.shape.keep)
    rows, notes = write_with_added_columns(job, output, progress=progress)
    findings = predictor.intake.findings
    return ApplyReport(
        files=(fragment.path,),
        score=predictor.resolved.shown_score,
        output=output,
        columns=job.names,
        rows=rows,
        clipped=findings.clipped,
        without_score=predictor.without_score,
        gaps=predictor.gaps,
        lowest=predictor.lowest,
        highest=predictor.highest,
        notes=(
            *requested.loaded.doubts,
            *listed.notes(made=[output]),
            *predictor.resolved.notes,
            *conversion_notes(job),
            *predictor.ends_notes,
            *notes,
        ),
        prior=predictor.prior,
        fitted_rate=predictor.fitted_rate,
        pooled_rows=findings.pooled_rows,
        pooled_groups=tuple(findings.pooled),
        classes=predictor.applied,
    )


def only_file(found: Found, input_format: InputFormat) -> Fragment:
    fragments = list_fragments(found, input_format=input_format)
    if len({fragment.path for fragment in fragments}) > 1:
        msg = f"{found.inputs[0]} holds several files"
        raise UsageProblem(msg, "--out-dir gives each an output of its own")
    return replace(fragments[0], row_groups=None)


def _delimiter(kind: DataFormat, fragment: Fragment) -> str | None:
    """Return what separates fields where rows are spliced, None where a writer quotes by itself."""
    if kind is not fragment.format or not kind.is_csv:
        return None
    return fragment.delimiter or ("\t" if kind is DataFormat.TSV else ",")


def output_pairs(
    inputs: Sequence[str], out_dir: str, *, to: DataFormat | None = None
) -> list[tuple[str, str]]:
    pairs: list[tuple[str, str]] = []
    taken: dict[str, str] = {}
    for named in inputs:
        for file in found_in([named]).files:
            if is_read_once(file.path):
                msg = f"{named} is a pipe, which has no name to give an output"
                raise UsageProblem(msg, "pass -o with a name for it")
            # The directory that a file was found below, also of a pattern, without the format it forces.
            above = named if file.forced is None else split_forced(named, exists=False)[0]
            name = _renamed(_below(file.path, fixed_part(above) if is_pattern(above) else above), to)
            folder, options = parted(out_dir)
            output = f"{folder.rstrip('/')}/{name}{options}"
            if output in taken:
                msg = f"{file.path} and {taken[output]} would both be written to {output}"
                raise UsageProblem(msg, "apply them to directories of their own")
            taken[output] = file.path
            pairs.append((file.path if file.forced is None else f"{file.path}:{file.forced.value}", output))
    return pairs


def _below(path: str, named: str) -> str:
    """Return the name of an output below the output directory."""
    path, folder = parted(path)[0], parted(named)[0].rstrip("/") + "/" if named else ""
    below = path[len(folder) :] if path.startswith(folder) else PurePath(path).name
    above = path[: len(path) - len(below)].rstrip("/").split("/")
    columns: list[str] = []
    while above and "=" in above[-1]:
        columns.insert(0, above.pop())
    return "/".join([*columns, below])


def _renamed(name: str, to: DataFormat | None) -> str:
    """Return a name that promises a format; a compression around text stays around text."""
    found = format_of(name)
    if to is None or found is to:
        return name
    pure = PurePath(name)
    compression = "" if compression_of(name) is None else pure.suffix
    if compression:
        pure = pure.with_suffix("")
    stem = pure if found is None else pure.with_suffix("")
    return f"{stem}.{to.value}{compression if to.is_text else ''}"


@dataclass(frozen=True, slots=True)
class FileWork:
    """The work on one file: called by an engine with its name and that of its output."""

    requested: ApplyRequest
    force: bool
    folder: str = field(default_factory=os.getcwd)

    def __call__(self, pair: tuple[str, str]) -> ApplyReport | CalibcliError:
        """Apply; a problem is returned, not raised. Reports name files as the user did."""
        path, output = pair
        source, made = self._placed(path), self._placed(output)
        try:
            if not is_object(made):
                Path(made).parent.mkdir(parents=True, exist_ok=True)
            report = apply_file(self.requested, [source], made, force=self.force)
        except OSError as error:
            return OutputProblem(f"{output} cannot be written: {error.strerror or error}")
        except CalibcliError as problem:
            return _named_as_given(problem, {source: path, made: output})
        return replace(report, files=(split_forced(path, exists=False)[0],), output=output)

    def _placed(self, name: str) -> str:
        """Return a name that means the same in this process, as the user wrote it where that does."""
        here = is_object(name) or os.getcwd() == self.folder  # noqa: PTH109 - as the folder is
        return name if here else os.path.join(self.folder, name)  # noqa: PTH118


def apply_folder(
    inputs: Sequence[str],
    out_dir: str,
    *,
    requested: ApplyRequest,
    force: bool,
    skip_existing: bool,
    reading: Reading,
) -> FolderApplyReport:
    """Each file gets an output of its name, below directories as it stands below its own."""
    found = found_in(inputs)
    pairs = output_pairs(inputs, out_dir, to=requested.shape.to)
    there = {output for _, output in pairs if _exists(output)}
    sources = [*(file.path for file in found.files), requested.artifact]
    for _, output in pairs:
        if output in there:
            refuse_existing(output, force=True, inputs=sources)
            if not force and not skip_existing:
                msg = f"{output} exists already"
                raise OutputProblem(
                    msg, "pass --skip-existing to leave it as it is, or --force to replace it"
                )
    left = there if skip_existing else set[str]()
    notes: tuple[str, ...] = ()
    if not isinstance(requested.loaded, ClassArtifact):
        unmade = [file for file, (_, output) in zip(found.files, pairs, strict=True) if output not in left]
        requested, notes = _with_one_score(requested, found, unmade=unmade)
    unknown = refuse_other_maps(requested, out_dir, there) if skip_existing else ()
    wanted = [pair for pair in pairs if pair[1] not in left]
    engine = engine_named(reading.engine, reading.jobs or 1, address=reading.engine_address)
    parts: list[ApplyReport] = []
    refused: list[CalibcliError] = []
    # On a cluster a file may be worked on once more, when its worker is lost, and then its output is there.
    work = FileWork(requested, force or not engine.shares_interpreter)
    COMPLETION.expect(len(wanted))
    try:
        with (
            _folders_of(output for _, output in wanted),
            kept(requested, out_dir, [output for _, output in wanted]),
            reading.progress(len(wanted)) as advance,
        ):
            for result in engine.map(work, wanted):
                if isinstance(result, CalibcliError):
                    refused.append(result)
                    if not isinstance(result, InputProblem) or len(refused) == MOST_REFUSED:
                        break
                    continue
                parts.append(result)
                advance(result.rows)
            if refused:
                raise all_refused(refused)
    except CalibcliError as problem:
        # A file, or an engine that gave up.
        raise _with_written(problem, len(parts)) from problem.__cause__
    COMPLETION.expect(0)
    skipped = [pair for pair in pairs if pair[1] in left]
    told = (*found.notes(made=[output for _, output in pairs]), *_changed_since(skipped), *unknown)
    outputs = tuple(output for _, output in skipped)
    return FolderApplyReport(out_dir, tuple(parts), outputs, (*told, *(notes if parts else ())))


def _changed_since(pairs: Sequence[tuple[str, str]]) -> tuple[str, ...]:
    """Return which inputs were written after their outputs, which are left as they are."""
    newer = [path for path, output in pairs if _is_newer(split_forced(path, exists=False)[0], output)]
    if not newer:
        return ()
    are = f"{plural(len(newer), 'input', 'is')} newer than {'its' if len(newer) == 1 else 'their'} output"
    first = f"{are}{'' if len(newer) == 1 else 's'}, the first {newer[0]}"
    return (f"{first}: --force in place of --skip-existing writes all outputs again",)


def _is_newer(path: str, output: str) -> bool:
    if is_object(path) or is_object(output):
        return False
    with suppress(OSError):
        return Path(path).stat().st_mtime_ns > Path(output).stat().st_mtime_ns
    return False


def _with_one_score(
    requested: ApplyRequest, found: Found, *, unmade: Sequence[InputFile]
) -> tuple[ApplyRequest, tuple[str, ...]]:
    """Name the score column of the first file for all, and return what is said of it.

    Files without it are refused before any output is written, but not the first where its output is there.
    """
    refused: list[CalibcliError] = []
    columns, first = replace(as_fitted(requested.columns, requested.loaded), labelled=False), None
    for file in dict.fromkeys((found.files[0], *unmade)):
        try:
            part = list_fragments(replace(found, files=(file,)), input_format=requested.input_format)[0]
            resolved = columns_of(part, columns, first=first)
            first = resolved if first is None else first
        except InputProblem as problem:
            if file not in unmade:
                # It may be gone bad since.
                continue
            refused.append(problem)
            if len(refused) == MOST_REFUSED:
                break
    if refused:
        raise all_refused(refused)
    if first is None:
        return requested, ()
    return replace(requested, columns=replace(requested.columns, score=first.score)), first.notes


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


def _named_as_given(problem: CalibcliError, names: Mapping[str, str]) -> CalibcliError:
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
    if written:
        done = f"{plural(written, 'other file', 'is')} written"
        hint = f"{problem.hint}; " if problem.hint else ""
        problem.hint = f"{hint}{done}: --skip-existing goes on from there"
    return problem
