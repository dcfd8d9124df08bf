"""Batches of environments: `vectorize`, auto-reset strategies, rollouts, statistics, snapshots, NumPy at the border."""

from overclock.vector.fused import UnsupportedError, fused_rollout, lane_scan
from overclock.vector.host import HostStep, HostVector, JaxHostVector, host_vector
from overclock.vector.resets import Fresh, Optimistic, Pool
from overclock.vector.rollout import rollout
from overclock.vector.snapshot import load_state, save_state
from overclock.vector.statistics import EpisodeStatistics
from overclock.vector.transition import LaneTransition, Transition
from overclock.vector.vectorize import VectorEnv, VectorState, random_policy, vectorize

__all__ = [
    "EpisodeStatistics", "Fresh", "HostStep", "HostVector", "JaxHostVector", "LaneTransition", "Optimistic", "Pool",
    "Transition", "UnsupportedError", "VectorEnv", "VectorState", "fused_rollout", "host_vector", "lane_scan",
    "load_state", "random_policy", "rollout", "save_state", "vectorize",
]  # fmt: skip
