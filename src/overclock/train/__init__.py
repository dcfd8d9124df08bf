"""PPO that learns for the right reasons, on JAX environments and on references; evaluation; saved policies."""

from typing import TYPE_CHECKING

from overclock._lazy import lazy_names

if TYPE_CHECKING:
    from overclock.train.configs import tuned
    from overclock.train.curve import Curve
    from overclock.train.evaluate import Episodes, evaluate_on_host, evaluate_policy
    from overclock.train.host.training import HostRun, train_on_gymnasium, train_on_host
    from overclock.train.loop import Progress, Run, train
    from overclock.train.networks.sizes import parameters, sized
    from overclock.train.policy import Policy, load_policy, save_policy
    from overclock.train.ppo import PPOConfig, Trainer, TrainState, make_train

__all__ = [
    "Curve", "Episodes", "HostRun", "PPOConfig", "Policy", "Progress", "Run", "TrainState", "Trainer",
    "evaluate_on_host", "evaluate_policy", "load_policy", "make_train", "parameters", "save_policy", "sized", "train",
    "train_on_gymnasium", "train_on_host", "tuned",
]  # fmt: skip

__getattr__, __dir__ = lazy_names(
    __name__,
    {
        "tuned": "overclock.train.configs",
        "Curve": "overclock.train.curve",
        **dict.fromkeys(["Episodes", "evaluate_on_host", "evaluate_policy"], "overclock.train.evaluate"),
        **dict.fromkeys(["HostRun", "train_on_gymnasium", "train_on_host"], "overclock.train.host.training"),
        **dict.fromkeys(["Progress", "Run", "train"], "overclock.train.loop"),
        **dict.fromkeys(["Policy", "load_policy", "save_policy"], "overclock.train.policy"),
        **dict.fromkeys(["PPOConfig", "TrainState", "Trainer", "make_train"], "overclock.train.ppo"),
        **dict.fromkeys(["parameters", "sized"], "overclock.train.networks.sizes"),
    },
)
