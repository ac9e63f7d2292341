"""Reports for programs."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from calibcli.documents.sealed import sealed_text
from calibcli.reports.settings import Setting

if TYPE_CHECKING:
    from calibcli.render.interface import Report


@dataclass(frozen=True, slots=True)
class JsonRenderer:
    """
    Writes the one text that every calibcli document has: sorted keys, shortest floats, ASCII, with a digest.

    Args:
        settings: What a file or a variable has set.
    """

    settings: tuple[Setting, ...] = ()

    def render(self, report: "Report") -> str:
        """Return the report as JSON; its shape is what `calibcli schema` prints."""
        body = report.to_dict()
        if self.settings:
            body["settings"] = [one.to_dict() for one in self.settings]
        return sealed_text(body)
