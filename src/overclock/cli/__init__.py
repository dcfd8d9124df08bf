"""The `overclock` program: thin commands, and one place that turns errors into a sentence and an exit code."""

import _thread
import contextlib
import errno
import io
import os
import sys
import threading
import traceback
from collections.abc import Iterator, Sequence

from overclock.errors import OverclockError

ERROR_SCHEMA = "overclock.error/1"
EXIT_DISK = 4  # as for everything that could not be done for no fault of the arguments
EXIT_BUG = 70  # EX_SOFTWARE of sysexits.h
AGAIN_S = 0.01
EXIT_INTERRUPTED = 130  # 128 + SIGINT, as shells report it
EXIT_PIPE_CLOSED = 141  # 128 + SIGPIPE, as shells report a program whose reader went away


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command; returns its exit code and never raises."""
    words = list(sys.argv[1:] if argv is None else argv)
    debug = "--debug" in words
    words = [word for word in words if word != "--debug"]
    as_json = "--json" in words
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")  # a terminal without Unicode gets question marks, not a failure
    try:
        with interrupts_kept():
            code = _run(words, as_json)
        sys.stdout.flush()
        return code
    except BrokenPipeError:
        # The interpreter flushes stdout once more when it ends; without this that would print a traceback.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return EXIT_PIPE_CLOSED
    except KeyboardInterrupt as stop:
        return _interrupted(str(stop) or "interrupted", as_json)
    except OverclockError as error:
        return _fail(error, str(error), error.exit_code, debug, as_json)
    except SystemExit as leaving:  # `--help` and terminating signals
        return leaving.code if isinstance(leaving.code, int) else int(leaving.code is not None)
    except OSError as error:
        if error.errno not in (errno.ENOSPC, errno.EDQUOT):
            return _unexpected(error, debug, as_json)
        place = f" for '{error.filename}'" if error.filename else ""
        return _fail(error, f"There is no space left{place}; make room, then do it again.", EXIT_DISK, debug, as_json)
    except Exception as error:
        return _unexpected(error, debug, as_json)


@contextlib.contextmanager
def interrupts_kept() -> Iterator[None]:
    """Inside, a Ctrl-C that Python drops, as it does in finalizers and callbacks of C, interrupts once more."""
    usual = sys.unraisablehook

    def again(dropped: "sys.UnraisableHookArgs") -> None:
        if issubclass(dropped.exc_type, KeyboardInterrupt):
            threading.Timer(AGAIN_S, _thread.interrupt_main).start()  # not from here, where it would be dropped too
        else:
            usual(dropped)

    sys.unraisablehook = again
    try:
        yield
    finally:
        sys.unraisablehook = usual


def _unexpected(error: Exception, debug: bool, as_json: bool) -> int:
    """A bug of ours: its first line, and how to see more."""
    sentence = f"{type(error).__name__}: {error}".partition("\n")[0]
    hint = "" if debug else " (unexpected; --debug shows where, `overclock doctor` checks the machine)"
    return _fail(error, sentence + hint, EXIT_BUG, debug, as_json)


def _run(words: list[str], as_json: bool) -> int:
    from overclock.cli.parse import parse

    if words[:1] == ["--version"]:
        import overclock

        print(f"overclock {overclock.__version__}")
        return 0
    return parse(words, quiet=as_json).run()


def _interrupted(sentence: str, as_json: bool) -> int:
    """A command that can go on later says so in the exception it passes on."""
    from overclock.cli.output import emit

    print(sentence, file=sys.stderr)
    if as_json:
        emit({"schema": ERROR_SCHEMA, "error": sentence, "exit_code": EXIT_INTERRUPTED})
    return EXIT_INTERRUPTED


def _fail(error: Exception, sentence: str, code: int, debug: bool, as_json: bool) -> int:
    from overclock.cli.output import emit
    from overclock.cli.parse import ParseError

    explained = isinstance(error, ParseError) and not as_json  # the parser has put its own message on stderr
    if debug and not isinstance(error, ParseError):
        traceback.print_exception(error)
    if not explained:
        print(f"error: {sentence}", file=sys.stderr)
    if as_json:
        emit({"schema": ERROR_SCHEMA, "error": sentence, "exit_code": code})
    return code
