"""Record what PufferLib's C Pong does: the scenarios of its twin, and what tests compare with when it is not there.

    .venv/bin/python scripts/record_pong.py

Both are written anew from the reference; a change in them is a change of the reference or of this file.
"""

import shutil
import sys
from pathlib import Path

import numpy as np

from overclock.envs.pong import twin
from overclock.envs.pong.library import Lanes
from overclock.files import write_whole
from overclock.verify.interaction.playback import record_scenarios
from overclock.verify.interaction.scenario import Scenario, Setup, Step, save_scenario

ROOT = Path(__file__).resolve().parents[1]
sys.path.append(str(ROOT / "tests"))  # what the tests compare with is made by their own code

from envs.pong import lattice, traces  # noqa: E402

SCENARIOS = ROOT / "src/overclock/envs/pong/scenarios"
TRACES = ROOT / "tests/envs/pong"

STAY, UP, DOWN = 0, 1, 2
# What a scenario does not say: a round that was served level just now.
SERVED = {
    "paddle_yl": 285.0, "paddle_yr": 285.0, "ball_x": 100.0, "ball_y": 304.0, "ball_vx": 10.0, "ball_vy": 0.0,
    "score_l": 0, "score_r": 0, "tick": 0, "n_bounces": 0, "steps": 0,
    "seen_yl": 285.0, "seen_yr": 285.0, "seen_x": 100.0, "seen_y": 304.0, "seen_vx": 10.0, "seen_vy": 0.0,
}  # fmt: skip
LEVEL = {"ball_y": 304.0, "ball_vy": 0.0}
TO_THE_LEFT = {**LEVEL, "ball_x": 8.0, "ball_vx": -10.0}  # the next frame ends at -2
TO_THE_RIGHT = {**LEVEL, "ball_x": 460.0, "ball_vx": 10.0}  # the next frame ends at 470, beyond 468
AWAY = 500.0  # a paddle here meets no ball at 304
ALMOST_LEVEL = float(np.float32(0.01))

FRAMESKIP_1 = [
    ("bounces-off-the-floor", "The ball turns in the frame that it leaves the field, and is not put back.",
     {"ball_y": 5.0, "ball_vy": -7.0}, [STAY] * 3),
    ("bounces-off-the-ceiling", "The same at the top, where the ball's upper edge counts.",
     {"ball_y": 606.0, "ball_vy": 5.0}, [STAY] * 3),
    ("touches-the-floor", "A ball that just touches the floor flies on; it turns one frame later.",
     {"ball_y": 7.0, "ball_vy": -7.0}, [STAY] * 3),
    ("touches-the-ceiling", "A ball that just touches the ceiling flies on.",
     {"ball_y": 601.0, "ball_vy": 7.0}, [STAY] * 3),
    ("opponent-returns", "The opponent's hit turns the ball and leaves it outside for a frame; it earns nothing.",
     {**TO_THE_LEFT, "paddle_yl": 285.0}, [STAY] * 3),
    ("opponent-touches-from-above", "The opponent's paddle ends just above the ball: no hit, a point.",
     {**TO_THE_LEFT, "paddle_yl": 344.0}, [STAY] * 2),
    ("opponent-catches-from-above", "One lower, and it is a hit.", {**TO_THE_LEFT, "paddle_yl": 343.0}, [STAY] * 2),
    ("opponent-touches-from-below", "The opponent's paddle ends just below the ball: no hit, a point.",
     {**TO_THE_LEFT, "paddle_yl": 226.0}, [STAY] * 2),
    ("opponent-catches-from-below", "One higher, and it is a hit.", {**TO_THE_LEFT, "paddle_yl": 227.0}, [STAY] * 2),
    ("player-scores", "The point is followed by a serve, but the observation is the one from before the point.",
     {**TO_THE_LEFT, "paddle_yl": AWAY, "ball_x": 28.0}, [UP] * 5),
    ("player-returns-standing", "A hit earns 0.1; a ball that came level leaves with +3.", TO_THE_RIGHT, [STAY] * 3),
    ("player-returns-moving-up", "A paddle that moves up adds 3 to the ball's speed.",
     {**TO_THE_RIGHT, "ball_vy": -5.0}, [UP] * 3),
    ("player-returns-moving-down", "A paddle that moves down takes 3 away.",
     {**TO_THE_RIGHT, "ball_vy": -5.0}, [DOWN] * 3),
    ("player-touches-from-above", "The player's paddle ends just above the ball: no hit.",
     {**TO_THE_RIGHT, "paddle_yr": 336.0}, [STAY] * 2),
    ("player-catches-from-above", "One lower, and it is a hit.", {**TO_THE_RIGHT, "paddle_yr": 335.0}, [STAY] * 2),
    ("player-touches-from-below", "The player's paddle ends just below the ball: no hit.",
     {**TO_THE_RIGHT, "paddle_yr": 234.0}, [STAY] * 2),
    ("player-catches-from-below", "One higher, and it is a hit.", {**TO_THE_RIGHT, "paddle_yr": 235.0}, [STAY] * 2),
    ("player-catches-by-moving", "The paddle moves before the ball is looked at.",
     {**TO_THE_RIGHT, "paddle_yr": 336.0}, [DOWN] * 2),
    ("opponent-scores", "A point against the player, after which the old observation stays for one step.",
     {**TO_THE_RIGHT, "paddle_yr": AWAY, "ball_x": 440.0}, [STAY] * 5),
    ("speed-has-a-limit", "The ball's vertical speed stays within 13, upwards.",
     {**TO_THE_RIGHT, "ball_vy": 12.0}, [UP] * 2),
    ("speed-has-a-lower-limit", "The same downwards.", {**TO_THE_RIGHT, "ball_vy": -12.0}, [DOWN] * 2),
    ("stopped-by-moving-up", "A ball whose vertical speed would become 0 leaves with +3.",
     {**TO_THE_RIGHT, "ball_vy": -3.0}, [UP] * 2),
    ("stopped-by-moving-down", "Also where the paddle moved down.", {**TO_THE_RIGHT, "ball_vy": 3.0}, [DOWN] * 2),
    ("put-back-under-the-ceiling", "The player's hit puts the ball back inside; the wall turned it before.",
     {**TO_THE_RIGHT, "ball_y": 606.0, "ball_vy": 10.0, "paddle_yr": 590.0}, [STAY] * 2),
    ("put-back-onto-the-floor", "The same at the bottom.",
     {**TO_THE_RIGHT, "ball_y": 2.0, "ball_vy": -10.0, "paddle_yr": -20.0}, [STAY] * 2),
    ("paddles-stop-at-the-top", "Half of a paddle may leave the field.",
     {"paddle_yl": 600.0, "paddle_yr": 600.0, "ball_y": 620.0, "ball_vy": -1.0}, [UP] * 2),
    ("paddles-stop-at-the-bottom", "The same at the bottom.",
     {"paddle_yl": -30.0, "paddle_yr": -30.0, "ball_y": -12.0, "ball_vy": 1.0}, [DOWN] * 2),
    ("game-won", "The 21st point ends the game; no ball is served.",
     {**TO_THE_LEFT, "paddle_yl": AWAY, "score_r": 20, "score_l": 3}, [STAY]),
    ("game-lost", "The opponent's 21st point ends the game.",
     {**TO_THE_RIGHT, "paddle_yr": AWAY, "score_l": 20, "score_r": 20}, [STAY]),
    ("game-goes-on", "The 20th point does not.", {**TO_THE_LEFT, "paddle_yl": AWAY, "score_r": 19}, [STAY] * 2),
    ("served-level", "A level serve from a reset is missed by a paddle that goes up.", 0, [UP] * 42),
    ("served-down", "A serve that goes down is returned by a paddle that stands still.", 1, [STAY] * 42),
]  # fmt: skip

FRAMESKIP_8 = [
    ("eight-frames", "The paddle moves, and the opponent follows the ball, in every frame.", 0, [UP, UP, DOWN, STAY]),
    ("point-in-the-first-frame", "The observation after the point is the previous step's.",
     {**TO_THE_RIGHT, "ball_x": 300.0, "paddle_yr": 605.0}, [UP] * 4),
    ("point-in-the-fifth-frame", "The observation after the point is that of the fourth frame.",
     {**TO_THE_RIGHT, "ball_x": 340.0, "paddle_yr": 605.0}, [UP] * 4),
    ("point-in-the-last-frame", "The observation after the point is that of the seventh frame.",
     {**TO_THE_RIGHT, "ball_x": 310.0, "paddle_yr": 605.0}, [UP] * 4),
    ("scored-in-the-first-frame", "The same where the player scores.",
     {**TO_THE_LEFT, "ball_x": 88.0, "paddle_yl": 605.0, "ball_y": 10.0}, [STAY] * 3),
    ("hit-in-the-third-frame", "What a hit earns stays through the frames after it.",
     {**TO_THE_RIGHT, "ball_x": 440.0}, [DOWN, STAY]),
    ("opponent-hits-in-the-second-frame", "The ball is outside for a frame and flies on.",
     {**TO_THE_LEFT, "ball_x": 18.0}, [STAY] * 2),
    ("hit-and-point-in-one-step", "The point replaces what the hit earned (the ball is faster than it ever gets).",
     {"ball_x": 0.0, "ball_y": 100.0, "ball_vx": 470.0, "ball_vy": 0.0, "paddle_yl": 605.0, "paddle_yr": 90.0},
     [STAY] * 2),
    ("wall-in-the-sixth-frame", "The ball turns at the floor in the middle of a step.",
     {"ball_y": 40.0, "ball_vy": -7.0}, [STAY] * 2),
    ("game-won", "The game ends in the fourth frame, and the state is that frame's.",
     {**TO_THE_LEFT, "ball_x": 38.0, "ball_y": 60.0, "paddle_yl": 605.0, "score_r": 20}, [STAY]),
    ("game-lost", "The same for the opponent, in the first frame.",
     {**TO_THE_RIGHT, "paddle_yr": AWAY, "score_l": 20}, [UP]),
    ("two-rounds", "Standing still from a reset, until a ball was missed and another was served.", 3, [STAY] * 30),
]  # fmt: skip

CONTINUOUS = [
    ("a-third", "A direction may be any fraction, and adds three times itself to the ball's speed.",
     TO_THE_RIGHT, [[1 / 3]] * 3),
    ("beyond-the-limits", "Directions beyond 1 are cut.", {"paddle_yr": 285.0}, [[1.75], [-40.0], [0.5]]),
    ("hit-by-a-slow-paddle", "The ball takes three times the direction.",
     {**TO_THE_RIGHT, "ball_vy": 1.3}, [[0.3171], [-0.2]]),
    ("almost-level", "A speed of 0.01, rounded to a float, is below the double 0.01: the ball leaves with +3.",
     {**TO_THE_RIGHT, "ball_vy": ALMOST_LEVEL}, [[0.0]] * 2),
    ("barely-not-level", "The next float is not below it.",
     {**TO_THE_RIGHT, "ball_vy": float(np.nextafter(np.float32(0.01), np.float32(1)))}, [[0.0]] * 2),
    ("almost-level-downwards", "The same for a ball that sinks.",
     {**TO_THE_RIGHT, "ball_vy": -ALMOST_LEVEL}, [[0.0]] * 2),
    ("touches-by-a-hair", "Half a move up, and the paddle ends just above the ball: no hit.",
     {**TO_THE_RIGHT, "paddle_yr": 332.0}, [[0.5], [0.0]]),
    ("game-won", "The 21st point ends the game.", {**TO_THE_LEFT, "paddle_yl": AWAY, "score_r": 20}, [[0.1]]),
    ("a-round", "A round with changing directions.", 2, [[0.01 * (step % 17) - 0.06] for step in range(42)]),
]  # fmt: skip

CONTINUOUS_8 = [
    ("fractions-add-up", "Eight frames of a fraction, at the lower limit too.", 1, [[-0.9], [-0.77], [-1.0], [0.123]]),
    ("hit-by-a-slow-paddle", "A hit in the third frame with a direction that is kept for all eight.",
     {**TO_THE_RIGHT, "ball_x": 440.0, "ball_vy": 2.5}, [[-0.7], [0.4]]),
    ("a-rally", "From a reset, with changing directions.", 5,
     [[0.02 * (step % 9) - 0.05] for step in range(30)]),
]  # fmt: skip


def main() -> None:
    """Write the scenarios of every variant, replacing those that are there."""
    for name, scenarios in (
        ("frameskip_1", FRAMESKIP_1), ("frameskip_8", FRAMESKIP_8), ("continuous", CONTINUOUS),
        ("continuous_8", CONTINUOUS_8),
    ):  # fmt: skip
        folder = SCENARIOS / name
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        build = twin.twin if name == "frameskip_1" else getattr(twin, name)
        unrecorded = [
            Scenario(
                title,
                why,
                # Another seed for each, so that points are followed by either serve.
                Setup(seed=start) if isinstance(start, int) else Setup(seed=number, state={**SERVED, **start}),
                tuple(Step(action, {}) for action in actions),
            )
            for number, (title, why, start, actions) in enumerate(scenarios)
        ]
        for scenario in record_scenarios(build(), unrecorded):
            save_scenario(scenario, folder)
    TRACES.mkdir(parents=True, exist_ok=True)
    for frameskip, continuous, steps in ((1, False, 5000), (8, False, 2500), (1, True, 5000), (8, True, 1250)):
        kind = "continuous" if continuous else "discrete"
        found = traces.record(frameskip, continuous, 8, steps, play, seed=frameskip + continuous)
        found.save(TRACES / f"{kind}_{frameskip}.npz")
    states, actions, serves = lattice.edge_situations()
    lanes = Lanes(len(states))
    lanes.set(states)
    lanes.step_all(actions, serves)
    shown = lanes.get()
    digests = traces.digests({name: shown[name][None] for name in traces.COMPARED})
    write_whole(TRACES / "edge.txt", f"{digests[0]:016x}\n".encode())


def play(generator: np.random.Generator, obs: np.ndarray) -> np.ndarray:
    """Directions: the first lanes at random, the others follow the ball more and more closely."""
    random = generator.uniform(-1.1, 1.1, len(obs))
    follow = np.clip(60 * (obs[:, 3] + 0.01 - obs[:, 1]), -1, 1)
    closely = np.linspace(-0.5, 0.95, len(obs))
    return np.where(generator.random(len(obs)) < closely, follow, random)


if __name__ == "__main__":
    main()
