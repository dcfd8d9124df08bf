"""Batches of environments: `vectorize`, auto-reset strategies, rollouts, statistics, snapshots, NumPy at the border."""

from overclock.vector.host import HostStep, HostVector, JaxHostVector, host_vector
from overclock.vector.resets import Fresh, Optimistic, Pool
from overclock.vector.rollout import Transition, rollout
from overclock.vector.snapshot import load_state, save_state
from overclock.vector.statistics import EpisodeStatistics
from overclock.vector.vectorize import VectorEnv, VectorState, random_policy, vectorize

__all__ = [
    "EpisodeStatistics", "Fresh", "HostStep", "HostVector", "JaxHostVector", "Optimistic", "Pool", "Transition",
    "VectorEnv", "VectorState", "host_vector", "load_state", "random_policy", "rollout", "save_state", "vectorize",
]  # fmt: skip
