"""Every member of a family has its one entry, and every entry serves a member."""

from importlib import import_module
from inspect import signature
from pkgutil import iter_modules

import pytest

import calibcli.reports
from calibcli.commands.pictures.of_tables import DRAWN
from calibcli.families import LABELS, Explained, Facts, Home
from calibcli.families.pictures import KIND_ALIASES
from calibcli.families.recalibrators import METHOD_ALIASES
from calibcli.names import (
    ClassMeasure,
    ClassMethod,
    EngineName,
    FitMethod,
    MeasureName,
    PlotKind,
    RecalibratorName,
    SegmentMeasure,
    TestName,
)
from calibcli.options.declaring import parameters_of
from calibcli.options.fitting import BASES, FitOptions
from calibcli.options.gating import Limits
from calibcli.options.measuring import ALIASES, GROUPS
from calibcli.show.blocks import Listing
from calibcli.show.explain import definition_page, spelled
from calibcli.show.pages import BRIEF, module_of
from calibcli.stats.gates.plan import SIMULATED
from calibcli.stats.measures import measures_of
from calibcli.stats.measures.classes import MEASURES as OF_CLASSES
from calibcli.stats.recalibrators import recalibrator_class
from calibcli.stats.recalibrators.classes import class_recalibrator_class

EXPLAINED: tuple[Explained, ...] = (*MeasureName, *TestName, *ClassMeasure, *SegmentMeasure)


@pytest.mark.parametrize("name", EXPLAINED)
def test_entry_is_whole(name: Explained) -> None:
    """A name, a sentence, a paragraph under every label that says something, and a range that is one."""
    # A line of a sentence is longer.
    assert len(name.called) < 50
    assert not {"_", "."} & {*name.called}
    assert name.meaning.endswith(".")
    assert len(name.definition) == len(LABELS)
    assert all(text.endswith((".", ")", ";")) and len(text) > 5 for text in name.definition)
    assert name.facts.least < name.facts.most


def test_no_other_name_hides_a_member() -> None:
    """What people and other packages call a member, or a group of them, is the name of no member itself."""
    assert not {*ALIASES, *GROUPS} & {*MeasureName, *TestName, *ClassMeasure}
    assert not {*METHOD_ALIASES} & {*FitMethod}
    assert not {*KIND_ALIASES} & {*PlotKind}


def test_every_measure_is_computed_by_its_home() -> None:
    """No measure is named that nothing computes, and no module computes one that is named elsewhere."""
    assert {name.facts.home for name in MeasureName} == set(Home)
    computed = [
        name for home in Home for name in measures_of(next(m for m in MeasureName if m.facts.home is home))
    ]
    assert sorted(computed) == sorted(MeasureName)
    assert all(name in measures_of(name) for name in MeasureName)


def test_every_gate_is_whole() -> None:
    """A measure with bounds made for gates has an option and is simulated, and no other has or is."""
    gated = {name for name in (*MeasureName, *SegmentMeasure) if name.facts.gate != Facts().gate}
    options = {name.partition("_")[2] for name in parameters_of(Limits) if name.startswith("max_")}
    # What is judged by its interval, and rules on ranges of segments, are not planned.
    assert options == {*SIMULATED, SegmentMeasure.SEGMENT_BIAS, MeasureName.CUTOFF}
    assert gated == {*SIMULATED, *SegmentMeasure}
    for name in (*MeasureName, *TestName, *SegmentMeasure):
        module, _, function = name.facts.gate.partition(".")
        assert callable(getattr(import_module(f"calibcli.stats.gates.{module}"), function))
    judged = {name for name in MeasureName if name.facts.any_time}
    compared = {name for name in MeasureName if name.facts.compared}
    assert judged
    assert judged <= gated
    assert {name for name in compared if name.facts.interval and name.facts.least == 0.0} == compared != set()


def test_every_measure_of_classes_is_computed() -> None:
    """The tables of both modules together hold each once."""
    assert sorted(OF_CLASSES) == sorted(ClassMeasure)


def test_every_recalibrator_is_fitted_by_a_class_of_its_own() -> None:
    """No method is named that no class fits, and no two share one; each has its words for --help."""
    assert all(name.words for name in (*RecalibratorName, *ClassMethod))
    classes = [recalibrator_class(name) for name in RecalibratorName]
    assert len(set(classes)) == len(RecalibratorName)
    assert [one.name for one in classes] == list(RecalibratorName)
    assert all(callable(class_recalibrator_class(name).from_dict) for name in ClassMethod)


def test_facts_of_recalibrators_agree() -> None:
    """What a method heeds is an option of a fit; all but the identity have a place of their own for auto."""
    assert {one for name in RecalibratorName for one in name.facts.heeds} <= set(
        FitOptions.__dataclass_fields__
    )
    places = [name.facts.complexity for name in RecalibratorName]
    assert places.count(0) == 1
    assert len(set(places)) == len(places)
    assert RecalibratorName.SCALING_BINNING not in BASES
    assert FitOptions().base is BASES[0]


def test_every_definition_can_be_read_in_ascii() -> None:
    """Where a terminal shows ASCII alone, formulas are spelled out and not written as escapes."""
    for one in EXPLAINED:
        listing = definition_page(one, unicode=False)[1]
        assert isinstance(listing, Listing)
        assert all(text.isascii() for _, text in listing.items), one
    assert spelled("√(ln(1/δ) Σv² 2⁻⁵³ f̄_k)") == "sqrt(ln(1/delta) sum v^2 2^-53 fbar_k)"


def test_every_picture_is_named_and_explained() -> None:
    """There is a title and a sentence for every diagram, no two titles alike."""
    assert len({kind.facts.title for kind in PlotKind}) == len(PlotKind)
    assert all(kind.facts.reading.endswith(".") for kind in PlotKind)


def test_every_picture_is_made_and_drawn_by_what_its_entry_names() -> None:
    """Both functions are there, and every figure takes what is drawn, its words and how it looks."""
    for kind in PlotKind:
        rooms = (
            ("calibcli.commands.pictures", kind.facts.made),
            ("calibcli.show.figures", kind.facts.figure),
        )
        for room, found in rooms:
            module, _, name = found.partition(".")
            function = getattr(import_module(f"{room}.{module}"), name)
            assert callable(function), found
        assert [*signature(function).parameters][1:] == ["words", "look"], kind


def test_every_picture_of_tables_is_drawn_by_a_function_of_its_own() -> None:
    """No kind is drawn as another, and none is drawn that no entry sends there."""
    assert {*DRAWN} == {kind for kind in PlotKind if kind.facts.made == "of_tables.diagram_of_tables"}
    assert len({*DRAWN.values()}) == len(DRAWN)


def test_what_is_loaded_by_its_name_is_there() -> None:
    """Every report has its page, which takes `verbose` if -v adds something, every page its report, and every
    engine its class.
    """
    reports = [
        import_module(f"calibcli.reports.{one.name}") for one in iter_modules(calibcli.reports.__path__)
    ]
    kinds = {kind for room in reports for kind in vars(room).values() if hasattr(kind, "page")}
    requested = {f"{kind.page}_page": kind for kind in kinds}
    rooms = [import_module(f"calibcli.show.pages.{module_of(kind.page)}") for kind in kinds]
    pages = {
        name: page
        for room in rooms
        for name, page in vars(room).items()
        if name.endswith("_page") and name[0] != "_"
    }
    assert {*requested} == {name for name in pages if name != "settings_page"}
    for name, kind in requested.items():
        assert kind.__name__ in str(pages[name].__annotations__["report"])
        assert ("verbose" in pages[name].__annotations__) is (module_of(kind.page) not in BRIEF)
    for engine in EngineName:
        room = import_module("calibcli.data.engines" + f".{engine}" * (engine is not EngineName.LOCAL))
        assert hasattr(room, f"{engine.capitalize()}Engine") or engine is EngineName.LOCAL
