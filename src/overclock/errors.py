"""Errors that a user can cause: one clear sentence each, with the remedy. Anything else is a bug with a traceback."""


class OverclockError(Exception):
    """Base of them all; the command line prints the sentence and exits with `exit_code`."""

    exit_code = 2

    def __str__(self) -> str:
        return str(self.args[0]) if self.args else ""


class UsageError(OverclockError, ValueError):
    """An argument or option is wrong; the message says what would be right."""


class UnknownEnvironmentError(OverclockError, KeyError):
    """The id names no registered environment; the message says which ones are close."""


class OverflowedError(OverclockError, RuntimeError):
    """A lane ran out of room, so its numbers are no longer the reference's; the message says what to do."""


class MissingError(OverclockError, RuntimeError):
    """A package, tool or device that the request needs is not there; the message says how to get it."""
