"""What a picture says of several classes that are seen as one score: in its title, and of label 1."""

from dataclasses import dataclass

from calibcli.codec import Node
from calibcli.reports.input import InputSummary
from calibcli.view_names import ViewName


@dataclass(frozen=True, slots=True)
class ClassWords:
    """
    Words for rows of several classes; none where there is one score.

    Args:
        added: What follows files and column in a title.

        meaning: Small print: what label 1 is.
    """

    added: str = ""
    meaning: tuple[str, ...] = ()


def class_words(source: InputSummary) -> ClassWords:
    """Return what is said of the classes of an input."""
    classes = source.classes
    return ClassWords() if classes is None else _words(classes.view, classes.one_class)


def class_words_of_tree(tree: Node) -> ClassWords:
    """
    Return what is said of the classes of a report.

    Raises:
        DocumentProblem: If it speaks of them in a way that no report does.
    """
    classes = tree.child("input").members().get("classes")
    if classes is None:
        return ClassWords()
    one_class = classes.optional("class")
    return _words(classes.child("view").choice(ViewName), None if one_class is None else one_class.text())


def _words(view: ViewName, one_class: str | None) -> ClassWords:
    if one_class is None:
        return ClassWords(", the largest probability", ("Label 1: the class with it is the right one.",))
    if view is ViewName.TOP_LABEL:
        return ClassWords(
            f", rows that predict {one_class}", (f"Label 1: {one_class} is the right class of the row.",)
        )
    return ClassWords(f", {one_class} against the rest", (f"Label 1: the row is of class {one_class}.",))
