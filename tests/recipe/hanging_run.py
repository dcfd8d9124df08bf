"""A run in a process of its own that hangs at a chosen step, so that a test can kill it exactly there.

`python hanging_run.py FOLDER STEP CANDIDATES`: the run of test_kill.py, made by so many agents side by side, which
prints STEP when it gets there and waits for ever.
"""

import sys
import threading
from pathlib import Path

from recipe.scripted_run import ScriptedRun, env

from overclock.recipe.gateway.usage import Usage

SCRIPT = {
    "translate": [env("1=fail")],
    "repair": [env("speed=100")],
    "optimise": [env("speed=200"), env("speed=200")],
}
PRICE = Usage(calls=1, input_tokens=1000, output_tokens=100, dollars=0.25, basis="self-reported")


def killable_run(folder, candidates):
    return ScriptedRun(Path(folder), SCRIPT, usage=PRICE, candidates=candidates)


if __name__ == "__main__":

    def wait(what):
        if what == sys.argv[2]:
            sys.stdout.write(f"{what}\n")
            sys.stdout.flush()
            threading.Event().wait()

    killable_run(sys.argv[1], int(sys.argv[3])).go(before=wait, on_disk=True)
