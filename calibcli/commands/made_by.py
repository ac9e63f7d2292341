"""Which map made the files of a folder: kept beside them, so that a run goes on with the same map."""

import hashlib
import json
import os
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from calibcli.commands.predicting import ApplyRequest
from calibcli.data.objects import content_of_file, is_object
from calibcli.documents.sealed import canonical_text
from calibcli.errors import OutputProblem, UsageProblem

# Readers of folders pass over names that begin with a dot.
NAME = ".calibcli-made-by.json"

_MOST_BYTES = 1 << 28

# What two artifacts of one map may differ in.
_NOT_OF_THE_MAP = ("calibcli", "digest", "schema", "fit")


def fingerprint_of(requested: ApplyRequest) -> str:
    """Return what tells the columns that a request writes: the map, the base rate, and their name."""
    document = {key: one for key, one in requested.loaded.to_dict().items() if key not in _NOT_OF_THE_MAP}
    told = canonical_text({"map": document, "prior": requested.prior, "name": requested.name})
    return f"sha256:{hashlib.sha256(told.encode()).hexdigest()}"


def refuse_other_maps(requested: ApplyRequest, out_dir: str, there: Collection[str]) -> tuple[str, ...]:
    """Refuse to leave out outputs of another map; return what to say of those that nothing is known of."""
    made, now = _read(out_dir), fingerprint_of(requested)
    others = [output for output in there if made.get(_below(out_dir, output), now) != now]
    if others:
        some = "1 output was" if len(others) == 1 else f"{len(others):,} outputs were"
        msg = f"{some} made by another artifact, --prior or --name; the first is {min(others)}"
        raise UsageProblem(msg, "pass --force in place of --skip-existing, or name another --out-dir")
    unknown = [output for output in there if _below(out_dir, output) not in made]
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
    made = {**_read(out_dir), **{_below(out_dir, output): now for output in outputs}}
    # No output of the command, of which a signal hears whether all are there.
    extras_request = place.with_name(f"{NAME}.{os.getpid()}.part")
    try:
        extras_request.write_text(json.dumps(made, indent=0, sort_keys=True) + "\n", encoding="utf-8")
        extras_request.rename(place)
    except BaseException as error:
        with suppress(OSError):
            extras_request.unlink()
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


def _below(out_dir: str, output: str) -> str:
    return output.removeprefix(out_dir.rstrip("/") + "/")


def _read(out_dir: str) -> dict[str, str]:
    """Return the map of each output; nothing where that was not kept, or was damaged."""
    if is_object(out_dir):
        return {}
    try:
        found = json.loads(content_of_file(Path(out_dir) / NAME, _MOST_BYTES))
    except (OSError, ValueError):
        return {}
    return {str(name): str(one) for name, one in found.items()} if isinstance(found, dict) else {}
