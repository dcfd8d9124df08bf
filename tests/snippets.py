"""Snippets of documents as programs of their own: each in a process that has imported JAX, and nothing of ours.

Importing JAX takes longer than most snippets do.
"""

import multiprocessing
import os
import sys
from pathlib import Path

SECONDS = 300
_context = multiprocessing.get_context("forkserver")


def failure(snippet: str, folder: Path) -> str:
    """What a snippet said when it failed in a folder; nothing if it did not."""
    _context.set_forkserver_preload(["jax"])
    process = _context.Process(target=_run, args=(snippet, folder))
    process.start()
    process.join(SECONDS)
    if process.is_alive():
        process.kill()
        process.join()
        return f"It took longer than {SECONDS} s."
    said = (folder / "said").read_text()
    return "" if process.exitcode == 0 else said or f"It ended with {process.exitcode}."


def _run(snippet: str, folder: Path) -> None:
    os.chdir(folder)
    sys.path.insert(0, "")  # as `python -c` has it: a snippet may import what it has written
    said = os.open(folder / "said", os.O_WRONLY | os.O_CREAT)
    os.dup2(said, 1)
    os.dup2(said, 2)
    exec(compile(snippet, "snippet", "exec"), {"__name__": "__main__"})
