"""How fast batches are stepped from Python by each backend: the table of docs/fused.md.

    python scripts/host_speed.py                                          # cartpole and pong at 1, 64 and 1,024 lanes
    python scripts/host_speed.py halfcheetah --lanes 64 65536 --backends xla c cuda

Each batch is `gymnasium.make_vec("overclock/ID", backend=...)` under random actions drawn beforehand. The backends
take turns in one process; the figure is the median of seven turns, and the gain is over the first backend.
"""

import argparse
import itertools
import statistics
import sys
import time
from typing import Any

import gymnasium

import overclock  # noqa: F401 (registers the ids)

TURNS, TURN_SECONDS, ACTIONS = 7, 0.3, 16


def main() -> None:
    """Print the table as it stands in the documentation."""
    arguments = argparse.ArgumentParser(description="How fast batches are stepped from Python, by backend.")
    arguments.add_argument("ids", nargs="*", default=["cartpole-v1", "pong-v1"])
    arguments.add_argument("--lanes", nargs="+", type=int, default=[1, 64, 1024])
    arguments.add_argument("--backends", nargs="+", default=["xla", "auto"])
    asked = arguments.parse_args()
    titles = [f"{name}, steps/s" for name in asked.backends] + [f"{name}, gain" for name in asked.backends[1:]]
    say(" | ".join(["| environment", "lanes", *titles]) + " |\n" + "|---" * (len(titles) + 2) + "|")
    for env_id, lanes in itertools.product(asked.ids, asked.lanes):
        first, *others = speeds = measured(env_id, lanes, asked.backends)
        cells = [f"{speed:,.0f}" for speed in speeds] + [f"{speed / first:.1f}" for speed in others]
        say(" | ".join([f"| {env_id}", f"{lanes:,}", *cells]) + " |")


def measured(env_id: str, lanes: int, backends: list[str]) -> list[float]:
    """Steps per second of a batch, by backend."""
    batches = [gymnasium.make_vec(f"overclock/{env_id}", num_envs=lanes, backend=backend) for backend in backends]
    for batch in batches:
        batch.action_space.seed(0)
        batch.reset(seed=0)
    actions = [batches[0].action_space.sample() for _ in range(ACTIONS)]
    rounds = [[turn(batch, actions, lanes) for batch in batches] for _ in range(TURNS + 1)]
    return [statistics.median(column) for column in zip(*rounds[1:], strict=True)]  # the first turn compiles


def turn(batch: Any, actions: list[Any], lanes: int) -> float:
    """Step a batch for a while: steps per second over all lanes."""
    began, steps = time.perf_counter(), 0
    while time.perf_counter() - began < TURN_SECONDS:
        for action in actions:
            batch.step(action)
        steps += len(actions)
    return steps * lanes / (time.perf_counter() - began)


def say(text: str) -> None:
    """Print a line without buffering, so that progress is seen in a pipe."""
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main()
