"""The twelve bugs of the vector layer that docs/adequacy.md lists, as changes of the source, and ways to plant them.

A bug is planted where code runs already: the functions of a module get the code of the changed source. So what others
imported of the module changes as well.
"""

import contextlib
import dataclasses
import importlib
import inspect
import sys
from collections.abc import Iterator

import jax

from overclock.verify.sides.patched import Patch, load_changed, source_of

SAME, NEXT, OFF = (f"{mode} and a plain loop" for mode in ("same_step", "next_step", "off"))
OPTIMISTIC, POOL, NUMBERS, SAVED = (
    "Optimistic and a plain loop", "Pool and a plain loop", "random numbers", "save and restore",
)  # fmt: skip


@dataclasses.dataclass(frozen=True)
class Bug:
    """One of the list: its number there, what is changed, and the check of level 2 that has to see it."""

    number: int
    patch: Patch
    seen_by: str


def bug(number: int, seen_by: str, module: str, old: str, new: str) -> Bug:
    return Bug(number, Patch(f"overclock.{module}", old, new), seen_by)


ANEW = "(lambda s: s.replace(rng=s.rng.replace(counter=s.rng.counter * 0)))"
BUGS = (
    bug(
        1, SAME, "env.autoreset", "| truncated, after)\n        obs = observe(after)",
        "| truncated, after)\n        obs = final_obs",
    ),
    bug(2, SAME, "env.autoreset", '"final_observation": final_obs}', '"final_observation": obs}'),
    bug(3, NEXT, "env.autoreset", "reward = select(ended, jnp.zeros_like(reward), reward)", "reward = reward"),
    bug(4, OFF, "env.autoreset", "ended = ended | terminated | truncated", "ended = terminated | truncated"),
    bug(
        5, SAME, "vector.vectorize", "return select(mask, fresh, lanes), store",
        "return select(mask, fresh, lanes).replace(steps=lanes.steps), store",
    ),
    bug(6, OPTIMISTIC, "vector.resets", "leaf[jnp.maximum(rank, 0) % budget]", "leaf[0 * rank]"),
    bug(7, POOL, "vector.resets", "store.replace(episodes=episodes,", "store.replace(episodes=store.episodes,"),
    bug(8, SAME, "vector.statistics", "jnp.where(expand(ended, returns), jnp.zeros_like(returns), returns)", "returns"),
    bug(9, NEXT, "vector.statistics", "lengths = state.lengths + ~idle", "lengths = state.lengths + 1"),
    bug(10, NUMBERS, "env.rng", "event = counter * WEYL + k0", "event = (counter & np.uint32(0xFFFF)) * WEYL + k0"),
    bug(
        11, NUMBERS, "env.rng", "lane = jnp.arange(num_lanes, dtype=jnp.uint32)",
        "lane = jnp.minimum(jnp.arange(num_lanes, dtype=jnp.uint32), jnp.uint32(num_lanes - 2))",
    ),
    bug(
        12, SAVED, "vector.snapshot", "    return unflatten_state(arrays, like)",
        f"    return {ANEW}(unflatten_state(arrays, like))",
    ),
)  # fmt: skip
ANOTHER_ADVANCE = bug(
    10, NUMBERS, "env.rng", "self.counter + np.uint32(1)", "(self.counter + np.uint32(1)) & np.uint32(0xFFFF)"
)


@contextlib.contextmanager
def planted(one: Bug) -> Iterator[None]:
    """The bug is there, in this process; nothing that was compiled without it is used."""
    pairs = list(_changed_functions(one.patch))
    assert pairs, "the changed source has the same functions"
    before = [function.__code__ for function, _ in pairs]
    for function, changed in pairs:
        function.__code__ = changed.__code__
    jax.clear_caches()
    try:
        yield
    finally:
        for (function, _), code in zip(pairs, before, strict=True):
            function.__code__ = code
        jax.clear_caches()


def plant(one: Bug) -> None:
    """The bug is there until the process ends."""
    for function, changed in _changed_functions(one.patch):
        function.__code__ = changed.__code__


def _changed_functions(patch: Patch):
    """The functions of a module whose code the patch changes, each with its changed form."""
    module = importlib.import_module(patch.module)
    name = f"{patch.module}_changed"
    changed = load_changed(patch.module, patch.apply(source_of(patch.module)[0]), as_name=name)
    del sys.modules[name]
    before, after = _functions(module, patch.module), _functions(changed, patch.module)
    for path, function in before.items():
        if _said(function.__code__) != _said(after[path].__code__):
            yield function, after[path]


def _functions(owner, module, path=""):
    """Functions and methods that are written in a module, by their path."""
    found = {}
    for name, value in vars(owner).items():
        inner = inspect.unwrap(value.__func__ if isinstance(value, classmethod | staticmethod) else value)
        if inspect.isfunction(inner) and inner.__module__.startswith(module):
            found[f"{path}{name}"] = inner
        elif inspect.isclass(value) and value.__module__.startswith(module):
            found |= _functions(value, module, f"{path}{name}.")
    return found


def _said(code):
    constants = tuple(_said(one) if inspect.iscode(one) else one for one in code.co_consts)
    return code.co_code, code.co_names, constants


def subject(num_envs: int, bug_number: int, another: bool = False, **options):
    """A performance side with a bug, for a worker process."""
    from overclock.verify.sides.jax_subject import JaxSubject

    plant(ANOTHER_ADVANCE if another else BUGS[bug_number - 1])
    return JaxSubject(num_envs, **options)
