"""What PyBoy executed, instruction by instruction, to find out where a frame began to differ.

PyBoy's wheel holds its modules compiled and as Python. A copy without the compiled ones does the same, a thousand
times as slowly, and there a program can look on as each instruction is executed.
"""

import dataclasses
import json
import os
import shutil
import subprocess
import sys
import tempfile
from importlib import util
from pathlib import Path

from overclock.errors import MissingError
from overclock.gameboy.comparing import Step

# The program that runs in a process of its own, with the plain copy of PyBoy in front of all other packages.
WATCHER = """
import collections, json, sys
from overclock.gameboy.pyboy.console import PyBoyConsole
from overclock.gameboy.comparing import Step, apply_step
order = json.load(sys.stdin)
console = PyBoyConsole(open(order["rom"], "rb").read(), cgb=order["cgb"], sound=order["sound"])
cpu = console.pyboy.mb.cpu
seen = collections.deque(maxlen=order["last"])
plain = cpu.fetch_and_execute
def watched(*arguments):
    seen.append((cpu.PC, cpu.cycles, cpu.A, cpu.F, cpu.B << 8 | cpu.C, cpu.D << 8 | cpu.E, cpu.HL, cpu.SP))
    return plain(*arguments)
cpu.fetch_and_execute = watched
for step in order["steps"]:
    seen.clear() if order["only_last"] else None
    apply_step(console, Step(**step))
json.dump(list(seen), sys.stdout)
"""


@dataclasses.dataclass(frozen=True)
class Executed:
    """The processor before an instruction."""

    pc: int
    cycles: int
    a: int
    f: int
    bc: int
    de: int
    hl: int
    sp: int

    def __str__(self) -> str:
        pairs = f"A {self.a:02X} F {self.f:02X} BC {self.bc:04X} DE {self.de:04X} HL {self.hl:04X} SP {self.sp:04X}"
        return f"{self.cycles:>10} {self.pc:04X}  {pairs}"


def trace(
    rom: bytes, steps: list[Step], *, cgb: bool = False, sound: bool = False, last: int = 20, only_last: bool = False
) -> list[Executed]:
    """The `last` instructions of a run through the steps; with `only_last` those of the last step alone."""
    found = util.find_spec("pyboy")
    if found is None or found.origin is None:
        raise MissingError("PyBoy is not installed: pip install 'overclock[gameboy]'.")
    with tempfile.TemporaryDirectory() as folder:
        shutil.copytree(
            Path(found.origin).parent, Path(folder) / "pyboy", ignore=shutil.ignore_patterns("*.so", "*.pyd")
        )
        path = Path(folder) / "game.gb"
        path.write_bytes(rom)
        order = {
            "rom": str(path), "cgb": cgb, "sound": sound, "last": last, "only_last": only_last,
            "steps": [dataclasses.asdict(step) for step in steps],
        }  # fmt: skip
        paths = os.pathsep.join([folder, *filter(None, sys.path)])
        done = subprocess.run(
            [sys.executable, "-W", "ignore", "-c", WATCHER], input=json.dumps(order), capture_output=True, text=True,
            env={**os.environ, "PYTHONPATH": paths}, check=False,
        )  # fmt: skip
    if done.returncode:
        raise RuntimeError(f"the copy of PyBoy failed: {done.stderr.strip()[-500:]}")
    return [Executed(*fields) for fields in json.loads(done.stdout[done.stdout.index("[") :])]
