"""What every result has in common: it shows itself in a terminal and in a notebook."""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pandas as pd

    from calibcli.render.blocks import Page


class Shown(ABC):
    """A result that knows its page; the command shows the same."""

    __slots__ = ()

    @abstractmethod
    def page(self, *, verbose: bool = False) -> "Page":
        """Return what is said of the result, with a sentence on every number where `verbose`."""

    @abstractmethod
    def to_dict(self) -> dict[str, object]:
        """Return the document that the command writes with `--json`, as plain values."""

    def to_json(self) -> str:
        """Return the document as the command writes it, byte for byte."""
        from calibcli.documents.sealed import sealed_text

        return sealed_text(self.to_dict())

    def text(self, *, verbose: bool = False) -> str:
        """
        Return the report that the command prints.

        Args:
            verbose: Whether to say what each number means and assumes.
        """
        from calibcli.render.terminal import TerminalRenderer

        renderer = TerminalRenderer(width=None, color=False, verbose=verbose, unicode=True)
        return renderer.text(self.page(verbose=verbose))

    def __repr__(self) -> str:
        return self.text().rstrip("\n")

    def _repr_html_(self) -> str:
        from calibcli.api.notebook import html_of_page

        return html_of_page(self.page())


class Tabled(Shown):
    """A result that has a line for each of its numbers."""

    __slots__ = ()

    @abstractmethod
    def lines(self) -> list[Mapping[str, object]]:
        """Return one mapping of column to value for each row of `to_frame`."""

    def to_frame(self) -> "pd.DataFrame":
        """Return a tidy `pandas.DataFrame`: one row for each number, none of them rounded."""
        import pandas as pd

        return pd.DataFrame(self.lines())
