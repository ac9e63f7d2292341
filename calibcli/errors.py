"""
The errors a user can meet, each with its exit code.

    CalibcliError
    ├── UsageProblem            2   the request cannot be what was meant
    │   └── IdleOption          2   an option that would change nothing, or contradicts another
    ├── InputProblem            3   a file, a column or a value
    │   ├── EmptyTable          3   no rows to speak of
    │   ├── NotConverged        3   a fit without an optimum within reach
    │   └── DocumentProblem     3   an artifact or report, with a path such as $.parameters.knots[3]
    └── OutputProblem           5   an output exists, or cannot be written

Exit code 1 is a failed gate and 4 an inconclusive one: those are verdicts, not errors. Anything that
is not a CalibcliError is a bug (70).
"""


class CalibcliError(Exception):
    """
    One line that says what is wrong, where and how much of it, and a hint that says what to do.

    Passwords and tokens of addresses are left out of both, whoever shows them.

    Args:
        message: What, where, how many; one line.

        hint: What to do about it; one line, or None when the message says it.
    """

    exit_code = 70

    def __init__(self, message: str, hint: str | None = None) -> None:
        # Imported when something is wrong: `import calibcli` alone costs nothing.
        from calibcli.redaction import without_secrets

        message = without_secrets(message)
        super().__init__(message)
        self.message = message
        self.hint = None if hint is None else without_secrets(hint)

    def __reduce__(self) -> tuple[type["CalibcliError"], tuple[str, str | None]]:
        return type(self), (self.message, self.hint)


class UsageProblem(CalibcliError):
    """Options that contradict each other, or a question that has no answer."""

    exit_code = 2


class IdleOption(UsageProblem):
    """
    An option that would change nothing beside the others: refused where typed, passed over as a default.

    It is raised before anything is read or written, so that the command can run again without the default.

    Args:
        message: What is wrong.

        hint: What to do about it.

        options: The options without dashes, of which a default yields; the first ones before the others.
    """

    def __init__(self, message: str, hint: str | None = None, *, options: tuple[str, ...] = ()) -> None:
        super().__init__(message, hint)
        self.options = options


class InputProblem(CalibcliError):
    """A missing file or column, a value that is not what the column says."""

    exit_code = 3


class EmptyTable(InputProblem):
    """A table without rows, or without the rows a fit needs."""


class NotConverged(InputProblem):
    """A fit whose optimum could not be reached, or does not exist."""


class DocumentProblem(InputProblem):
    """
    A JSON document that cannot be read or does not fit its schema.

    Args:
        path: Where in the document, such as `$.parameters.knots[3]`.

        message: What is wrong there.

        hint: What to do about it.
    """

    def __init__(self, path: str, message: str, hint: str | None = None) -> None:
        super().__init__(f"{path}: {message}", hint)
        from calibcli.redaction import without_secrets

        self.path = without_secrets(path)
        self.detail = without_secrets(message)

    def __reduce__(self) -> tuple[type["DocumentProblem"], tuple[str, str, str | None]]:  # type: ignore[override]
        return type(self), (self.path, self.detail, self.hint)


class OutputProblem(CalibcliError):
    """An output that exists without --force, a full disk, a path that is not writable."""

    exit_code = 5
