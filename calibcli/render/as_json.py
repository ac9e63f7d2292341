"""Reports for programs."""

from typing import TYPE_CHECKING

from calibcli.documents import canonical_text

if TYPE_CHECKING:
    from calibcli.render.interface import Report


class JsonRenderer:
    """Writes the one text that every calibcli document has: sorted keys, shortest floats, ASCII."""

    def render(self, report: "Report") -> str:
        """Return the report as JSON; its shape is what `calibcli schema` prints."""
        return canonical_text(report.to_dict())
