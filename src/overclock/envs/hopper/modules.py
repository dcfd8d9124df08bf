"""Hopper's functions one by one, for level 1."""

from overclock.envs.hopper.twin import ROBOT, distance_to_limit
from overclock.planar.modules import HEALTHY, modules

MODULES = modules(
    ROBOT,
    "hopper.xml",
    frames=4,
    motors=3,
    distance=distance_to_limit,
    more_parameters=(*HEALTHY, "healthy_state_range"),
)
