"""What several test folders share."""

import functools
import gc
import importlib
import io
import json
import os
import pkgutil
import sys
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import replace
from pathlib import Path
from threading import Thread
from typing import Any

import numpy as np
import pytest
import typer.main
from _pytest.pathlib import import_path
from coverage import Coverage
from hypothesis import HealthCheck, settings
from matplotlib.figure import Figure
from threadpoolctl import threadpool_limits

import calibcli
from calibcli.commands import page
from calibcli.commands.report import FullReport, ReportRequest
from calibcli.names import MeasureName
from calibcli.shell import app, configuration
from calibcli.stats.bounds import proportion
from calibcli.stats.curves import isotonic
from calibcli.stats.gates import plan, state
from calibcli.stats.measures import distance, drift, if_calibrated, segments, smooth, tests
from calibcli.stats.numerics import beta_quantile
from claims.simulation import PROMISES
from command_line import Ran, Run

# Workers share the cores, and inherit this: threads of OpenBLAS that wait for a core burn the time of others.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
# Where pytest runs in one process, a plugin has imported numpy before this could be read.
threadpool_limits(limits=1)
# A full disk shows itself later where output is buffered, as it is for users.
os.environ.pop("PYTHONUNBUFFERED", None)
# What is imported and collected stays, and there is little to be found among it.
gc.set_threshold(100_000, 20, 20)

SHARED = Path(__file__).resolve().parents[1].parent / "shared" / "data"
# They draw and repeat what the tests of each part reach line by line; tracing them doubles their time.
_UNTRACED = ("claims", "laws", "oracles")
# What these reach others reach as well; `python tests/untraced.py` chooses them.
_LISTED = {
    f"{path}::{name}"
    for path, names in json.loads(Path(__file__).with_name("untraced.json").read_text()).items()
    for name in names
}

# How often laws are drawn; what takes a fixture draws within it. `make test` draws the same rows every time,
# so that it fails for what was changed; `make laws` draws others.
for _name, _examples in (("usual", 16), ("long", 400)):
    settings.register_profile(
        _name,
        deadline=None,
        max_examples=_examples,
        derandomize=_name == "usual",
        suppress_health_check=[HealthCheck.function_scoped_fixture],
    )
settings.load_profile("usual")


def counts(item: pytest.Item) -> bool:
    """Whether a test may count for coverage: simulations, oracles and drawn examples do not."""
    drawn = getattr(getattr(item, "obj", None), "is_hypothesis_test", False)
    return not (drawn or item.get_closest_marker("untraced") or item.path.parent.name in _UNTRACED)


def traced(item: pytest.Item) -> bool:
    """Whether a test counts for coverage: what is listed does not, but where the list is made."""
    listed = item.nodeid in _LISTED or item.nodeid.partition("[")[0] in _LISTED
    return counts(item) and (not listed or bool(item.config.getoption("cov_context", None)))


@contextmanager
def paused() -> Generator[None]:
    """Trace nothing for a while; a worker of xdist has two tracers, one within the other."""
    stopped: list[Coverage] = []
    while (running := Coverage.current()) is not None:
        running.stop()
        stopped.append(running)
    try:
        yield
    finally:
        for one in reversed(stopped):
            one.start()


@pytest.hookimpl(wrapper=True)
def pytest_collection(session: pytest.Session) -> Generator[None, object, object]:
    """See every module of the package once; tests are not traced while they are rewritten and imported."""
    if session.config.pluginmanager.has_plugin("dsession"):
        # Only its workers run tests.
        return (yield)
    for module in pkgutil.walk_packages(calibcli.__path__, "calibcli."):
        if not module.name.endswith("__main__"):
            importlib.import_module(module.name)
    with paused():
        if os.environ.get("PYTEST_XDIST_WORKER") == "gw1":
            _import_from_the_end(session)
        return (yield)


def _import_from_the_end(session: pytest.Session) -> None:
    """Modules that no run has compiled are compiled by one worker each: they meet in the middle."""
    how = {"mode": "importlib", "root": session.config.rootpath, "consider_namespace_packages": False}
    for path in sorted(Path(__file__).parent.rglob("test_*.py"), reverse=True):
        with suppress(pytest.skip.Exception):
            import_path(path, **how)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Where tests are chosen that count, those that cannot are left out."""
    if config.getoption("cov_context", None):
        items[:] = filter(counts, items)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, object, object]:
    """Pause coverage for tests that do not count for it."""
    with nullcontext() if traced(item) else paused():
        return (yield)


def pytest_collection_finish() -> None:
    """The garbage collector need not look at what is collected after every test."""
    gc.collect()
    gc.freeze()


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Add up what simulated cells count: answers, those that were wrong, and how many of them might be."""
    reports = [one for kind in ("passed", "failed") for one in terminalreporter.getreports(kind)]
    found = [value for one in reports for name, value in one.user_properties if name == PROMISES]
    if found:
        answers, wrong, nominal, allowed = map(sum, zip(*found, strict=True))
        terminalreporter.line(
            f"{len(found):,} cells, {answers:,} answers said to hold at any number of rows: {wrong:,} wrong, "
            f"{nominal:,.0f} at their nominal rates, {allowed:,} allowed promise by promise"
        )


def pytest_sessionfinish() -> None:
    """Packages that look for what was never freed find nothing of it."""
    gc.unfreeze()


@pytest.fixture(scope="session", autouse=True)
def _one_command_tree() -> None:
    """`main` builds the tree of the commands that a line names; a process does so once, tests very often."""
    made = app.tree_of
    kept = functools.cache(made)

    def named(words: Sequence[str]) -> typer.Typer:
        completed = any(name.endswith("_COMPLETE") for name in os.environ)
        return (made if completed else kept)(tuple(name for name in app.COMMANDS if name in words))

    app.tree_of = named
    typer.main.get_command = functools.cache(typer.main.get_command)
    # They stand in the repository, whose long pyproject.toml each would read anew.
    configuration._table_of = functools.cache(configuration._table_of)


@pytest.fixture(scope="session", autouse=True)
def _same_quantiles_once() -> None:
    """Bounds of the same counts are asked for very often, and each takes a dozen steps."""
    known: dict[tuple[bytes, ...], np.ndarray] = {}

    def quantile(probability: float | np.ndarray, a: np.ndarray, b: np.ndarray) -> np.ndarray:
        key = tuple(np.asarray(one, np.float64).tobytes() for one in (probability, a, b))
        if key not in known:
            known[key] = beta_quantile(probability, a, b)
        return known[key].copy()

    proportion.beta_quantile = quantile


@pytest.fixture(scope="session", autouse=True)
def _no_runner() -> None:
    """`verify` tells GitHub's runner what it found, and these tests may run in a workflow."""
    for variable in ("GITHUB_ACTIONS", "GITHUB_STEP_SUMMARY", "GITHUB_OUTPUT"):
        os.environ.pop(variable, None)


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """Return the folder of real predictions, or skip."""
    if not (SHARED / "golden.json").exists():
        pytest.skip("the folder of real predictions beside the repository is absent")
    return SHARED


@pytest.fixture(scope="session")
def golden(shared_data: Path) -> Any:
    """Return a look-up of golden records by quantity, with optional dataset and implementation prefix."""
    records = json.loads((shared_data / "golden.json").read_text())["records"]

    def find(quantity: str, dataset: str | None = None, implementation: str = "") -> list[dict[str, Any]]:
        return [
            record
            for record in records
            if record["quantity"] == quantity
            and dataset in (None, record["dataset"])
            and record["implementation"].startswith(implementation)
        ]

    return find


@pytest.fixture(scope="session")
def real(shared_data: Path) -> Any:
    """Return a loader of the binary real tables: name -> (scores, labels as booleans)."""
    from oracles.golden_table import FOLDER, rows_of

    assert shared_data == FOLDER
    return rows_of


@pytest.fixture(scope="module")
def few_draws() -> Iterator[None]:
    """Simulate by a part of the draws: for tests of commands, where no digit of a simulation matters."""
    with pytest.MonkeyPatch.context() as patch:
        for name, simulated in plan.SIMULATED.items():
            few = plan.Effort(75, 250) if name is MeasureName.ECE else plan.Effort(20, 40)
            patch.setitem(plan.SIMULATED, name, replace(simulated, effort=few))
        patch.setattr(plan, "_SEGMENTS_EFFORT", plan.Effort(40, 100))
        for drawing in (if_calibrated.CalibratedDraws.__init__, isotonic.isotonic_curve):
            assert drawing.__kwdefaults__["draws"] > 199
            patch.setitem(drawing.__kwdefaults__, "draws", 199)
        for module, name, draws in (
            (segments, "DRAWS", 99),
            (segments, "_FEW_DRAWS", 99),
            (drift, "_LEAST_DRAWS", 499),
            (state, "_DRAWS", 199),
            (if_calibrated, "_DRAWS", 99),
            (distance, "_DRAWS", 99),
            (smooth, "_DRAWS", 99),
            (tests, "DRAWS", 199),
        ):
            assert getattr(module, name) > draws
            patch.setattr(module, name, draws)
        yield


@pytest.fixture
def one_picture(monkeypatch: pytest.MonkeyPatch) -> None:
    """Pages of HTML have their first picture alone, for tests of their words: drawing is most of the work."""
    made = page.full_report

    def found(request: ReportRequest) -> FullReport:
        whole = made(request)
        return replace(whole, pictures=whole.pictures[:1])

    monkeypatch.setattr(page, "full_report", found)


@pytest.fixture
def unrendered(monkeypatch: pytest.MonkeyPatch) -> None:
    """Pictures are laid out and their files stay empty, for tests of what is said; pages have theirs."""
    save = Figure.savefig

    def saved(figure: Figure, target: Any, **how: Any) -> None:
        # What stands in a page is read again.
        save(figure, target, **how) if isinstance(target, io.BytesIO) else target.write(b"")

    monkeypatch.setattr(Figure, "savefig", saved)


@contextmanager
def through_a_pipe(rows: bytes) -> Iterator[None]:
    """Make standard input a pipe that these rows come through."""
    out, into = os.pipe()

    def feed() -> None:
        with suppress(BrokenPipeError), os.fdopen(into, "wb") as end:
            end.write(rows)

    feeding = Thread(target=feed)
    feeding.start()
    with os.fdopen(out, encoding="utf-8") as stream, pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "stdin", stream)
        yield
    feeding.join()


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Run:
    """Run a command in this process, perhaps with rows on standard input; `code` is how it must end."""

    def call(*words: object, stdin: bytes | None = None, code: int | None = None) -> Ran:
        with nullcontext() if stdin is None else through_a_pipe(stdin):
            ended = app.main([str(word) for word in words])
        printed = capsys.readouterr()
        assert code in (None, ended), printed.err
        return Ran(ended, printed.out, printed.err)

    return call


@pytest.fixture
def said(run: Run) -> Callable[..., str]:
    """Run a command that comes to an answer, and return what it prints."""

    def call(*words: object) -> str:
        ended = run(*words)
        assert ended.code in (0, 1, 4), ended.err
        return ended.out

    return call
