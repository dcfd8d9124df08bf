"""HalfCheetah and Gymnasium's HalfCheetah-v5 as a twin: what is compared and how closely."""

from overclock.envs.halfcheetah.plants import PLANTS
from overclock.planar.twin import ENVELOPE, EXACT, ROUNDING, SEEN, SINGLE, SOLVER, Closeness, Robot, contract
from overclock.verify.contract import Twin

ROBOT = Robot(
    "halfcheetah-v5",
    "HalfCheetah-v5",
    "gymnasium.envs.mujoco.half_cheetah_v5:HalfCheetahEnv",
    players=("overclock.envs.halfcheetah.players:running", "overclock.envs.halfcheetah.players:tumbling"),
)

# MuJoCo against itself, the first position an ulp away (100 episodes of random play): apart by 5e-12 at most after 10
# steps, 5e-10 after 20, 1e-6 after 40, 3e-3 after 50; in the median by 1e-10 after 46, 1e-3 after 107, 0.1 after 135.
HORIZON, SINGLE_HORIZON = 20, 10
CHAOTIC = (
    "a running cheetah is chaotic: of two of MuJoCo's own that begin an ulp apart some are 5e-10 apart after 20 steps"
)


def twin() -> Twin:
    """The twin with Gymnasium's robot as it is."""
    double = contract(
        Closeness(qpos=2e-11, qvel=2e-9, reward=1e-6), Closeness(qpos=5e-9, qvel=5e-7, reward=1e-6),
        reason=f"{ROUNDING}: {SEEN}",
        rare=Closeness(qpos=1e-4, qvel=1e-2, reward=1e-4),
        rare_reason=f"{SOLVER}: 48 of 51,200 steps were off by up to 3e-7, in 64,000 others one by 6e-7",
        rare_share=0.005, free_running_steps=HORIZON, free_running_reason=CHAOTIC, envelope=ENVELOPE,
    )  # fmt: skip
    single = contract(
        Closeness(qpos=5e-4, qvel=5e-2, reward=5e-4), Closeness(qpos=2e-2, qvel=0.5, reward=1e-2),
        reason=f"{SINGLE}: of 800,000 steps one in a hundred is off by 1.5e-6, the worst by 1e-4",
        free_running_steps=SINGLE_HORIZON, free_running_reason=CHAOTIC,
    )  # fmt: skip
    return ROBOT.twin({"float64": double, "float32": single}, PLANTS)


def exact() -> Twin:
    """The twin with MuJoCo's solver at its strictest tolerance."""
    step, free = Closeness(qpos=1e-11, qvel=1e-9, reward=1e-7), Closeness(qpos=1e-6, qvel=1e-4, reward=1e-5)
    closeness = contract(
        step, free, ROUNDING, free_running_steps=HORIZON, free_running_reason=CHAOTIC, envelope=ENVELOPE
    )
    return ROBOT.twin({"float64": closeness}, PLANTS, EXACT)
