"""Every member of a family has its one entry, and every entry serves a member."""

import pytest

from calibcli.families.explained import LABELS, Explained, Home
from calibcli.names import ClassMeasure, MeasureName, TestName
from calibcli.stats.measures.classes import MEASURES as OF_CLASSES
from calibcli.stats.measures.family import measures_of

EXPLAINED: tuple[Explained, ...] = (*MeasureName, *TestName, *ClassMeasure)


@pytest.mark.parametrize("name", EXPLAINED)
def test_entry_is_whole(name: Explained) -> None:
    """A sentence, five paragraphs that say something, and a range that is one."""
    assert name.meaning.endswith(".")
    assert len(name.definition) == len(LABELS)
    assert all(text.endswith((".", ")", ";")) and len(text) > 5 for text in name.definition)
    assert name.facts.least < name.facts.most


def test_every_measure_is_computed_by_its_home() -> None:
    """No measure is named that nothing computes, and no module computes one that is named elsewhere."""
    assert {name.facts.home for name in MeasureName} == set(Home)
    computed = [
        name for home in Home for name in measures_of(next(m for m in MeasureName if m.facts.home is home))
    ]
    assert sorted(computed) == sorted(MeasureName)
    assert all(name in measures_of(name) for name in MeasureName)


def test_every_measure_of_classes_is_computed() -> None:
    """The tables of both modules together hold each once."""
    assert sorted(OF_CLASSES) == sorted(ClassMeasure)
