"""Walker2d's functions one by one, for level 1."""

from overclock.envs.walker2d.twin import ROBOT, distance_to_limit
from overclock.planar.modules import HEALTHY, modules

MODULES = modules(ROBOT, "walker2d_v5.xml", frames=4, motors=6, distance=distance_to_limit, more_parameters=HEALTHY)
