"""Options that a file or a variable has set, as every report states them."""

import json
from collections.abc import Sequence
from dataclasses import dataclass

from calibcli.redaction import without_secrets


@dataclass(frozen=True, slots=True)
class Setting:
    """
    The value of an option that does not come from the command line.

    Args:
        key: The option, without dashes.

        value: As the framework takes it.

        source: The file or the variable.
    """

    key: str
    value: str | int | float | bool | list[str]
    source: str

    @property
    def shown(self) -> str:
        """The value as a file would have it, without secrets."""
        return without_secrets(json.dumps(self.value, ensure_ascii=False))

    def to_dict(self) -> dict[str, object]:
        """Return plain values for JSON."""
        value = json.loads(self.shown) if isinstance(self.value, str | list) else self.value
        return {"option": self.key, "value": value, "source": self.source}


def settings_said(settings: Sequence[Setting]) -> list[str]:
    """Return a sentence for each file and variable that sets something: what, and to which value."""
    by_source: dict[str, list[str]] = {}
    for one in sorted(settings, key=lambda one: (one.source, one.key)):
        by_source.setdefault(one.source, []).append(f"{one.key} = {one.shown}")
    return [f"{source} sets {', '.join(said)}" for source, said in by_source.items()]
