"""Lets a program inside a network-less sandbox reach the gateway: `python forward.py SOCKET PORT -- COMMAND ...`.

Listens on 127.0.0.1:PORT, passes bytes to and from the unix socket, runs the command, and exits with its code. Uses the
standard library only and imports nothing of this package, so that any Python inside the sandbox can run the file.
"""

import asyncio
import contextlib
import signal
import sys

PIECE = 65536
USAGE = "usage: forward.py SOCKET PORT -- COMMAND ...\n"


async def run(socket: str, port: int, command: list[str]) -> int:
    """Forward while the command runs; its exit code, or 128 plus the signal that ended it."""

    async def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            inner_reader, inner_writer = await asyncio.open_unix_connection(socket)
        except OSError:
            writer.close()
            return
        await asyncio.gather(_pass_on(reader, inner_writer), _pass_on(inner_reader, writer))
        for end in (writer, inner_writer):
            end.close()

    server = await asyncio.start_server(connected, "127.0.0.1", port)
    async with server:
        process = await asyncio.create_subprocess_exec(*command)
        for number in (signal.SIGTERM, signal.SIGINT):
            asyncio.get_running_loop().add_signal_handler(number, _tell, process, number)
        code = await process.wait()
    return code if code >= 0 else 128 - code


async def _pass_on(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with contextlib.suppress(OSError):
        while piece := await reader.read(PIECE):
            writer.write(piece)
            await writer.drain()
        writer.write_eof()  # the other direction may still have much to say


def _tell(process: asyncio.subprocess.Process, number: signal.Signals) -> None:
    with contextlib.suppress(ProcessLookupError):
        process.send_signal(number)


def main(arguments: list[str]) -> int:
    """Run from the command line."""
    if len(arguments) < 4 or arguments[2] != "--" or not arguments[1].isdecimal():
        sys.stderr.write(USAGE)
        return 2
    try:
        return asyncio.run(run(arguments[0], int(arguments[1]), arguments[3:]))
    except OSError as error:
        sys.stderr.write(f"forward.py: {error}\n")
        return 126


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
