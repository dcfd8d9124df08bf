"""Whole rollouts as one kernel: the rules, written once in JAX, compiled to C for processors and CUDA for GPUs."""

from overclock._lazy import lazy_names
from overclock.backends import Backend
from overclock.vector.fused.batch import LanePolicy, fused_rollout, kernel_step
from overclock.vector.fused.scan import lane_map, lane_scan
from overclock.vector.fused.support import device, fastest_backend, refuse_strategies, require_kernel
from overclock.vector.fused.values import UnsupportedError

__all__ = [
    "Backend",
    "LanePolicy",
    "UnsupportedError",
    "device",
    "fastest_backend",
    "fused_rollout",
    "kernel_step",
    "lane_map",
    "lane_scan",
    "refuse_strategies",
    "require_kernel",
]  # fmt: skip

_SUPPORT = "overclock.vector.fused.support"
__getattr__, __dir__ = lazy_names(
    __name__, {"resolved": f"{_SUPPORT}:fastest_backend", "works_here": f"{_SUPPORT}:require_kernel"}
)
