"""The errors a user can meet, each with its exit code, and what of an address they show."""


class CalibcliError(Exception):
    """One line that says what is wrong, where and how much of it, and a hint that says what to do.

    Passwords and tokens of addresses are left out of both, whoever shows them.

    Args:
        message: What, where, how many; one line.
        hint: What to do about it; one line, or None when the message says it.
    """

    exit_code = 70

    def __init__(self, message: str, hint: str | None = None) -> None:
        message = without_secrets(message)
        super().__init__(message)
        self.message = message
        self.hint = None if hint is None else without_secrets(hint)

    def __reduce__(self) -> tuple[type["CalibcliError"], tuple[str | None, ...], dict[str, object]]:
        # With the notes that a traceback shows, from workers too.
        return type(self), (self.message, self.hint), vars(self)


class UsageProblem(CalibcliError):
    """Options that contradict each other, or a question that has no answer."""

    exit_code = 2


class IdleOption(UsageProblem):
    """An option that would change nothing beside the others: refused where typed, passed over as a default.

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


class TooManyCells(InputProblem):
    """Rows that take more cells, by their columns and their score, than the memory allowed holds."""


class NotConverged(InputProblem):
    """A fit whose optimum could not be reached, or does not exist."""


class DocumentProblem(InputProblem):
    """A JSON document that cannot be read or does not fit its schema.

    Args:
        path: Where in the document, such as `$.parameters.knots[3]`.
        message: What is wrong there.
        hint: What to do about it.
    """

    def __init__(self, path: str, message: str, hint: str | None = None) -> None:
        super().__init__(f"{path}: {message}", hint)

        self.path = without_secrets(path)
        self.detail = without_secrets(message)

    def __reduce__(self) -> tuple[type["DocumentProblem"], tuple[str | None, ...], dict[str, object]]:
        return type(self), (self.path, self.detail, self.hint), vars(self)


class OutputProblem(CalibcliError):
    """An output that exists without --force, a full disk, a path that is not writable."""

    exit_code = 5


def first_words(error: object) -> str:
    """Return the first line that another library's error, or what it says, has, or else its kind."""
    return next((line.strip() for line in str(error).splitlines() if line.strip()), type(error).__name__)


_HIDDEN = "***"

# Compiled when first used: most commands never meet an address.
# A user, or a user and a password, before a host; pathlib makes one slash of two.
_USER = r"(\b[A-Za-z][A-Za-z0-9+.-]{1,30}:/{1,2})([^\s/?#'\"<>]{1,1000})@"

# A password with a slash in it, which is not the port and the path of a host.
_ODD = r"(\b[A-Za-z][A-Za-z0-9+.-]{1,30}:/{1,2})[^\s/?#@:'\"<>]{0,200}:(?!\d{1,5}[/?#])[^\s@'\"<>]{1,1000}@"

# In the query of an address, as S3, Azure, Google and Spark write it.
_KEY = (
    r"([?&;](?:[\w.-]{0,40}(?:signature|credential|secret|token|passw(?:or)?d|pwd"
    r"|(?:api|access|account|storage)[-_]?key)[\w.-]{0,40}|sig|sas|key|auth)=)[^\s&;#'\"<>]+"
)


def any_of(*words: str) -> str:
    """Return what may be taken, separated by commas and "or"."""
    return f"{', '.join(words[:-1])} or {words[-1]}"


def without_secrets(text: str) -> str:
    """Return a text with asterisks for users and passwords of addresses, and for tokens in their queries."""
    import re  # here: `import calibcli` alone costs nothing

    def hidden(found: re.Match[str]) -> str:
        # Azure names a container before the @.
        container = found[1].lower().startswith("abfs") and ":" not in found[2]
        return found[0] if container else f"{found[1]}{_HIDDEN}@"

    if "@" in text and ":/" in text:
        text = re.sub(_ODD, rf"\1{_HIDDEN}@", re.sub(_USER, hidden, text))
    if "=" in text and any(mark in text for mark in "?&;"):
        text = re.sub(_KEY, rf"\1{_HIDDEN}", text, flags=re.IGNORECASE)
    return text
