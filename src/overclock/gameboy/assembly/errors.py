"""What goes wrong in an assembly text: one sentence that begins with the file and the line."""

from overclock.errors import UsageError


class AssemblyError(UsageError):
    """A mistake in the text; `source` and `line` say where."""

    def __init__(self, message: str, source: str = "", line: int = 0) -> None:
        super().__init__(f"{source}:{line}: {message}" if source else message)
        self.message, self.source, self.line = message, source, line
