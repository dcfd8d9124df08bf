"""A robot of the planar engine and Gymnasium's in MuJoCo as a twin: contracts, tolerances and planted bugs.

Every robot has two twins. The registered one compares with Gymnasium as it is. `exact` lets MuJoCo search its
accelerations to the last digit, which leaves rounding as the only difference: the same physics, a million times as
closely.
"""

import dataclasses
import importlib.util
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np

from overclock.errors import MissingError
from overclock.planar.original import REMEDY
from overclock.verify.contract import Contract, Envelope, Field, Precision, Twin
from overclock.verify.reach.excuse import Excuse
from overclock.verify.sides.patched import Patch
from overclock.verify.sides.subject import Arrays, SubjectSpec

EXACT = 1e-15  # the solver's tolerance at which it does not stop before rounding does
SOLVER = "MuJoCo's solver stops once a step promises less than 1e-8, and starts from the last accelerations"
SEEN = "some 20 to 80 times what was seen of 51,200 steps of random and sticky play (2026-11-19)"
ROUNDING = "both compute in float64, in another order"
SINGLE = "state and arithmetic are float32 here and float64 in MuJoCo; where a contact begins it shows most"
JUMP = (
    "at a limit or on the floor MuJoCo's force begins with a jump, which float32 may see a stage earlier or later, as "
    "MuJoCo itself does where its state is rounded to float32"
)
COST = "the reward is float32 here, and so is the cost of an action in Gymnasium"
# Of 100 episodes of each robot ours are at most 6 times as far from MuJoCo's as copies of MuJoCo are. By chance alone a
# copy is up to 4.3 times as far as seven others, where 20 of those episodes are picked at random.
ENVELOPE = Envelope(
    "state.qpos",
    nudged=("qpos", "qvel"),
    slack=30.0,
    reason="a copy of the reference is off by an ulp once; in another order of operations every step rounds anew",
)
REWARD = 1e-6  # half an ulp of a float32 reward up to 16, twice

PLANTS = {
    # The pyramid of a contact has four edges. Two of them are the same in a plane and count twice.
    "three-edges": Patch(
        "overclock.planar.engine.solver",
        "[2 * touch.weight, touch.weight, touch.weight]",
        "[touch.weight, touch.weight, touch.weight]",
    ),
    "bodies-fall-up": Patch("overclock.planar.engine.inertia", "body.mass * (az - gz)", "body.mass * (az + gz)"),
    "limits-at-one-end": Patch("overclock.planar.engine.contacts", "jnp.minimum(low, high))", "low)"),
    # What random play cannot show: its actions never leave their range.
    "cost-of-the-clipped-action": Patch(
        "overclock.planar.environment", "jnp.square(action)", "jnp.square(jnp.clip(action, -1.0, 1.0))"
    ),
    "speed-of-the-last-moment": Patch(
        "overclock.planar.environment", "velocity = travelled / self.dt", "velocity = after.qvel[0]"
    ),
}


class Closeness(NamedTuple):
    """How far apart positions, velocities and rewards may be."""

    qpos: float
    qvel: float
    reward: float


UNREACHED = (
    Excuse(
        file="gymnasium/envs/mujoco/mujoco_env.py",
        function="MujocoEnv.set_state",
        condition="self.model.na == 0",
        outcome="is false",
        reason="no actuator of the robot's model has a state of its own (na is 0), whatever is played",
    ),
)


@dataclasses.dataclass(frozen=True)
class Robot:
    """The names of one robot: our id, Gymnasium's id, and Gymnasium's class; and who plays it in level 3."""

    id: str
    original: str
    rules: str
    players: tuple[str, ...] = ("overclock.planar.players:backwards",)

    @property
    def name(self) -> str:
        """Its id without the version."""
        return self.id.partition("-")[0]

    @property
    def package(self) -> str:
        return f"overclock.envs.{self.name}"

    def twin(
        self, contracts: Mapping[Precision, Contract], plants: Mapping[str, Patch], tolerance: float | None = None
    ) -> Twin:
        """Both sides, and what ties them together."""
        options = (("env_id", self.original), ("rules", self.rules), ("tolerance", tolerance))
        return Twin(
            name=self.id if tolerance is None else f"{self.id}, solver at {tolerance:g}",
            reference=SubjectSpec("overclock.planar.reference:reference", options),
            performance=SubjectSpec(
                "overclock.verify.sides.jax_subject:JaxSubject", (("env_id", self.id),), kernels=True
            ),
            contracts=contracts,
            plants=plants,
            scenarios=f"{self.package}.scenarios",
            modules=f"{self.package}.modules:MODULES",
            # Whoever trains does it on Gymnasium's robots as they are.
            transfer=f"overclock.planar.transfer:{self.name.upper()}" if tolerance is None else None,
            unreached=UNREACHED,
            players=self.players,
            prepare="overclock.planar.twin:prepare",
        )


def contract(
    step: Closeness,
    free: Closeness,
    reason: str,
    rare: Closeness = Closeness(0.0, 0.0, 0.0),
    rare_reason: str = "",
    **more: Any,
) -> Contract:
    """A contract with all fields; `step` and `free` are the tolerances, `more` goes to `Contract`.

    `rare` is how far rare events may move them, for another reason.
    """

    def field(name: str, part: str, why: str = reason, draws: tuple[str, ...] = ()) -> Field:
        apart = getattr(rare, part)
        return Field(
            name,
            getattr(step, part),
            getattr(free, part),
            why,
            draws,
            rare=apart or None,
            rare_reason=rare_reason if apart else None,
        )

    step, free = (close._replace(reward=max(close.reward, REWARD)) for close in (step, free))

    return Contract(
        fields=(
            field("state.qpos", "qpos", draws=("qpos",)),
            field("state.qvel", "qvel", draws=("qvel",)),
            field("obs", "qvel", f"as its velocities: {reason}"),
            field("reward", "reward", f"{reason}; {COST}"),
            Field("terminated"),
            Field("truncated"),
            Field("state.steps"),
        ),
        in_info={"x_position": "state.qpos", "z_distance_from_origin": "state.qpos"},
        **more,
    )


def falling(distance_to_limit: Callable[[Arrays], np.ndarray], margin: float) -> dict[str, Any]:
    """The options of a contract for robots that can fall."""
    return {
        "distance_to_limit": distance_to_limit,
        "limit_margin": margin,
        "limit_reason": f"float32 moves the state by up to {margin:g} in an episode, across a threshold if it is close",
        "limit_fields": ("terminated", "reward"),
    }


def prepare() -> None:
    """Raise MissingError with the remedy if a package of the reference is missing."""
    if not all(importlib.util.find_spec(package) for package in ("gymnasium", "mujoco", "imageio")):
        raise MissingError(REMEDY)
