"""Options that a file or a variable has set, as every report states them."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated

from calibcli.codec import HIDDEN, Declared, Key
from calibcli.redaction import without_secrets


@dataclass(frozen=True, slots=True)
class Setting(Declared):
    """The value of an option that does not come from the command line."""

    key: Annotated[str, Key("option"), "The option, without dashes."]
    value: Annotated[str | int | float | bool | list[str], HIDDEN]
    source: Annotated[str, "The file or the variable."]

    @property
    def plain(
        self,
    ) -> Annotated[str | int | float | bool | list[str], Key("value"), "The value, without secrets."]:
        """The value without secrets, as JSON has it."""
        found: str | int | float | bool | list[str] = (
            json.loads(self.shown) if isinstance(self.value, str | list) else self.value
        )
        return found

    @property
    def shown(self) -> str:
        """The value as a file would have it, without secrets."""
        return without_secrets(json.dumps(self.value, ensure_ascii=False))


def settings_said(settings: Sequence[Setting]) -> list[str]:
    """Return a sentence for each file and variable that sets something: what, and to which value."""
    by_source: dict[str, list[str]] = {}
    for one in sorted(settings, key=lambda one: (one.source, one.key)):
        by_source.setdefault(one.source, []).append(f"{one.key} = {one.shown}")
    return [f"{source} sets {', '.join(said)}" for source, said in by_source.items()]
