"""Forwards a port of 127.0.0.1 to a Unix socket: agents speak HTTP over TCP, but only files cross the sandbox."""

import asyncio
import contextlib
import os
import signal
import socket
import sys

CHUNK = 1 << 16


def free_ports(count: int) -> list[int]:
    """Ports that nobody listens at; a sandbox without a network namespace shares the machine's ports."""
    with contextlib.ExitStack() as stack:
        found = [stack.enter_context(socket.create_server(("127.0.0.1", 0))) for _ in range(count)]
        return [one.getsockname()[1] for one in found]


def start(port: int, path: str) -> None:
    """Listen, then serve in a process that is no child of this one, so that the command has only its own children."""
    listener = socket.create_server(("127.0.0.1", port))
    middle = os.fork()
    if middle:
        listener.close()
        os.waitpid(middle, 0)
        return
    if os.fork():
        os._exit(0)
    null = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1, 2):  # or whoever reads the command's output would wait for us
        os.dup2(null, stream)
    try:
        asyncio.run(_serve(listener, path))
    finally:
        os._exit(1)


async def _serve(listener: socket.socket, path: str) -> None:
    async def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            far_reader, far_writer = await asyncio.open_unix_connection(path)
        except OSError:
            writer.close()
            return
        await asyncio.gather(_copy(reader, far_writer), _copy(far_reader, writer))
        writer.close()
        far_writer.close()

    server = await asyncio.start_server(connected, sock=listener)
    await server.serve_forever()


async def _copy(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    try:
        while data := await reader.read(CHUNK):
            writer.write(data)
            await writer.drain()
        if writer.can_write_eof():
            writer.write_eof()
    except OSError:
        writer.close()


def main() -> None:
    """Run as `PORT SOCKET COMMAND...` inside a sandbox: start forwarding, then replace this process by the command."""
    port, path, *command = sys.argv[1:]
    start(int(port), path)
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)  # Python ignores it, and the command would inherit that
    os.execvp(command[0], command)
