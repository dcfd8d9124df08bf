"""HalfCheetah's functions one by one, for level 1."""

from overclock.envs.halfcheetah.twin import ROBOT
from overclock.planar.modules import modules

MODULES = modules(ROBOT, "half_cheetah.xml", frames=5, motors=6)
