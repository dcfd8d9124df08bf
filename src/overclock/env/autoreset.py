"""Auto-reset, written once: when an episode that ended starts anew, and what a step returns around a restart.

| mode | an ended episode | `obs` of the step that ends it | `ended` afterwards |
|---|---|---|---|
| `same_step` | restarts in the step that ends it | the first of its next episode | as it was |
| `next_step` | restarts in the next step, which earns 0 and ends nothing, whatever the action | the last | True |
| `off` | runs on under the rules until somebody restarts it | the last | True |

In every mode `info`, and `info["final_observation"]`, belong to the state that the rules produced at this step.
"""

from collections.abc import Callable
from typing import Any, Literal

import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool

Autoreset = Literal["same_step", "next_step", "off"]
Step = tuple[Any, Any, Bool[Array, "*n"], Bool[Array, "*n"]]
"""(running, reward, terminated, truncated): what the rules make of one step, without any restart."""


def step_with_autoreset(
    autoreset: Autoreset,
    running: Any,
    ended: Any,
    *,
    play: Callable[[Any], Step],
    restart: Callable[[Any, Any], Any],
    observe: Callable[[Any], Any],
    info: Callable[[Any], dict[str, Any]],
    branch: bool = False,
) -> tuple[Any, Any, Any, Any, Any, Any, dict[str, Any]]:
    """One step of what is `running`: (obs, running, ended, reward, terminated, truncated, info).

    `running` is one environment or a batch, whatever the four functions take; `ended` flags episodes that are over and
    not restarted. `restart(mask, running)` returns it with the episodes in the mask begun anew.

    With `branch`, the step is that of one lane and a restart is a branch that only an ended episode takes: `restart`
    may ignore its mask. Without it, restarts are computed for every lane and selected, which is what XLA vectorises.
    """
    if autoreset == "next_step" and branch:
        _, *rest = jax.eval_shape(play, running)

        def restarted() -> Any:
            return restart(ended, running), *(jnp.zeros(leaf.shape, leaf.dtype) for leaf in rest)

        after, reward, terminated, truncated = jax.lax.cond(ended, restarted, lambda: play(running))
    else:
        after, reward, terminated, truncated = play(running)
        if autoreset == "next_step":
            after = restart(ended, after)
            reward = select(ended, jnp.zeros_like(reward), reward)
            terminated, truncated = terminated & ~ended, truncated & ~ended
    final_obs = obs = observe(after)
    facts = info(after)
    if autoreset == "next_step":
        ended = terminated | truncated
    elif autoreset == "off":
        ended = ended | terminated | truncated
    elif branch:

        def anew() -> Any:
            fresh = restart(True, after)
            return fresh, observe(fresh)

        after, obs = jax.lax.cond(terminated | truncated, anew, lambda: (after, final_obs))
    else:
        after = restart(terminated | truncated, after)
        obs = observe(after)
    return obs, after, ended, reward, terminated, truncated, {**facts, "final_observation": final_obs}


def select(condition: Bool[Array, "*n"], if_true: Any, if_false: Any) -> Any:
    """`where` over two trees of one structure: one condition for all, or one for each lane (their first axis)."""
    return jax.tree.map(lambda a, b: jnp.where(expand(condition, a), a, b), if_true, if_false)


def expand(mask: Bool[Array, "*n"], like: Any) -> Bool[Array, "..."]:
    """A lane's flag with as many axes as an array whose first axis are the lanes; a single flag as it is."""
    return mask.reshape(mask.shape + (1,) * (like.ndim - 1)) if mask.ndim else mask
