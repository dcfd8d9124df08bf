"""Hosts find each other before JAX joins them, because JAX ends the process when one of them does not come.

The first host listens where JAX's own coordinator will; the others call and say their number. When all are there it
says so to each, closes the port, and JAX takes it over. Whatever goes wrong until then is one sentence everywhere.
"""

import contextlib
import json
import socket
import time

from overclock.errors import MissingError, UsageError

GO = "go"
LINE_BYTES = 1024
CALL_SECONDS = 0.1  # between two calls of a host that nobody answers
MANNERS_SECONDS = 5.0  # whoever calls says at once who it is
AGAIN = "start the same command on every host, each with its own --host"


def address(coordinator: str) -> tuple[str, int]:
    """Name and port of 'name:port'."""
    name, _, port = coordinator.rpartition(":")
    if not name or not port.isdigit() or not 0 < int(port) < 1 << 16:
        raise UsageError(
            f"--coordinator is name:port of the first host, for example 10.0.0.1:12345, not '{coordinator}'."
        )
    return name, int(port)


def meet(coordinator: str, hosts: int, host: int, seconds: float) -> None:
    """Return when all `hosts` hosts are there; this one is number `host`."""
    where = address(coordinator)
    if hosts < 2:
        raise UsageError(f"--hosts is how many there are, at least 2, got {hosts}.")
    if not 0 <= host < hosts:
        raise UsageError(f"--host of {hosts} hosts is a number from 0 to {hosts - 1}, got {host}.")
    deadline = time.monotonic() + seconds
    if host == 0:
        _receive(where, coordinator, hosts, deadline)
    else:
        _call(where, coordinator, hosts, host, deadline)


def _receive(where: tuple[str, int], coordinator: str, hosts: int, deadline: float) -> None:
    """Wait for the other hosts: the first host's part of the meeting."""
    try:
        server = socket.create_server(where)
    except OSError as error:
        raise UsageError(
            f"Cannot listen at {coordinator} ({error.strerror or error}); give --coordinator this host's name and a "
            "free port."
        ) from error
    callers: dict[int, socket.socket] = {}
    with server, contextlib.ExitStack() as lines:
        while len(callers) < hosts - 1:
            try:
                server.settimeout(max(deadline - time.monotonic(), 0.001))
                line = lines.enter_context(server.accept()[0])
            except TimeoutError:
                missing = ", ".join(str(number) for number in range(1, hosts) if number not in callers)
                sentence = f"Host {missing} of {hosts} did not come to {coordinator} in time; {AGAIN}."
                for other in callers.values():
                    _say(other, sentence)
                raise MissingError(sentence) from None
            number, refusal = _introduced(line, hosts, callers)
            if refusal:
                _say(line, refusal)
            if number is not None:
                callers[number] = line
        for line in callers.values():
            _say(line, GO)


def _introduced(line: socket.socket, hosts: int, known: dict[int, socket.socket]) -> tuple[int | None, str]:
    """(number of who called, or None; what to answer if it cannot stay). A stranger gets no answer."""
    line.settimeout(MANNERS_SECONDS)
    try:
        said = json.loads(_hear(line))
        number, expected = int(said["host"]), int(said["hosts"])
    except (OSError, ValueError, KeyError, TypeError):
        return None, ""
    if expected != hosts:
        return None, f"The first host expects {hosts} hosts, this one {expected}; {AGAIN}."
    if number in known or not 0 < number < hosts:
        return None, f"There is a host {number} already; {AGAIN}."
    return number, ""


def _call(where: tuple[str, int], coordinator: str, hosts: int, host: int, deadline: float) -> None:
    """Call the first host until it answers: any other host's part of the meeting."""
    nobody = f"No first host (--host 0) answered at {coordinator} in time; {AGAIN}."
    while True:
        left = deadline - time.monotonic()
        if left <= 0:
            raise MissingError(nobody)
        try:
            line = socket.create_connection(where, timeout=left)
            break
        except socket.gaierror as error:
            raise UsageError(f"No host is called '{where[0]}' here ({error.strerror}).") from error
        except OSError:
            time.sleep(min(CALL_SECONDS, left))
    with line:
        try:
            line.sendall((json.dumps({"host": host, "hosts": hosts}) + "\n").encode())
            line.settimeout(max(deadline - time.monotonic(), 0.001) + MANNERS_SECONDS)  # its answer may be just in time
            answer = _hear(line)
        except OSError as error:
            raise MissingError(nobody) from error
    if not answer:
        raise MissingError(f"The first host at {coordinator} went away before all hosts were there; {AGAIN}.")
    if answer != GO:
        raise UsageError(answer)


def _hear(line: socket.socket) -> str:
    """One line, or as much as came of it."""
    heard = b""
    while not heard.endswith(b"\n") and len(heard) < LINE_BYTES:
        part = line.recv(LINE_BYTES)
        if not part:
            break
        heard += part
    return heard.decode(errors="replace").strip()


def _say(line: socket.socket, sentence: str) -> None:
    with contextlib.suppress(OSError):  # who has gone cannot be told
        line.sendall(f"{sentence}\n".encode())
