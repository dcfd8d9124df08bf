"""Whole rollouts as one kernel: the rules, written once in JAX, compiled to C for processors and CUDA for GPUs."""

from overclock.vector.fused.batch import LanePolicy, fused_rollout, kernel_step
from overclock.vector.fused.scan import Backend, lane_map, lane_scan
from overclock.vector.fused.support import device, refuse_strategies, resolved, works_here
from overclock.vector.fused.values import UnsupportedError

__all__ = [
    "Backend", "LanePolicy", "UnsupportedError", "device", "fused_rollout", "kernel_step", "lane_map",
    "lane_scan", "refuse_strategies", "resolved", "works_here",
]  # fmt: skip
