"""A user's program: it loads a candidate from a folder, and resets, steps, vectorizes and rolls it out.

It is copied and run under another name, and imports nothing of the judge: a candidate that looks around sees what it
sees at its users'. It is told what to play as in `overclock.verify.sides.wire`.
"""

import base64
import datetime
import hashlib
import importlib
import itertools
import json
import os
import struct
import sys
import time
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

import overclock
from overclock.env import Box, Discrete, EnvState, MultiDiscrete, Rng, Section, select
from overclock.vector.fused import Backend, lane_map, require_kernel
from overclock.vector.host import flatten_state
from overclock.vector.rollout import rollout

STEPS = 6  # of each way to play


def told(value: Any) -> Any:
    """A parameter, a space or an environment as plain values that are equal for equal ones."""
    if hasattr(value, "__dataclass_fields__"):
        fields = {name: told(getattr(value, name)) for name in value.__dataclass_fields__}
        return [type(value).__name__, fields]
    if isinstance(value, dict | list | tuple):
        parts = sorted(value.items()) if isinstance(value, dict) else value
        return [told(part) for part in parts]
    if not isinstance(value, int | float | np.ndarray | np.generic | jax.Array):
        return str(value)
    array = np.asarray(value)  # Python's numbers and arrays of any width, by what they are worth
    exact = array.astype(np.float64 if array.dtype.kind == "f" else np.int64)
    return [list(array.shape), hashlib.sha256(exact.tobytes()).hexdigest()]


def known(env: Any, params: Any) -> dict[str, Any]:
    """What an environment says of itself: with the parameters of `make()`, and with those that users get."""
    default = env.default_params()
    shown = {"made": params, "default": default}
    return {
        name: {
            "parameters": told(given),
            "observation_space": told(env.observation_space(given)),
            "action_space": told(env.action_space(given)),
        }
        for name, given in shown.items()
    }


def play(env: Any, params: Any, seed: int, batches: list[int]) -> dict[str, Any]:
    """A digest of everything that is seen in each way to play: lane by lane, and in batches."""
    key = jax.random.key(seed)
    obs, state = env.reset(key, params)
    seen: list[Any] = [obs, state]
    for number in range(STEPS):
        key, own = jax.random.fold_in(key, number), Rng.of(key).of_section(Section.ACTION)
        mask = env.action_mask(state.rules, params)
        space = env.action_space(params)
        action = space.sample(own, 0, mask) if env.num_players == 1 else jnp.zeros(env.num_players, jnp.int32)
        seen.append(env.step(key, state, action, params))
        state = seen[-1][1]
    found = {"reset and step": digest_of(seen)}
    for batch in batches:
        venv = overclock.vectorize(env, batch, backend="xla")
        obs, state = venv.reset(key, params)
        many = jax.jit(lambda state, params, venv=venv: rollout(venv, state, STEPS, params=params))
        after, kept = many(state, params)
        found[f"a batch of {batch}"] = digest_of([obs, state, venv.step(state, venv.sample_actions(state), params)])
        found[f"a rollout of {batch}"] = digest_of([after, kept])
    return found


def digest_of(values: Any) -> str:
    """A hash that is equal for equal arrays."""
    total = hashlib.sha256()
    for name, array in sorted(flatten_state(values).items()):
        total.update(f"{name} {array.dtype}{array.shape}".encode() + array.tobytes())
    return total.hexdigest()


def traces(env: Any, params: Any, digest: Any) -> dict[str, str]:
    """The digest of every rule's program for one lane."""
    rng = Rng.of(0)
    begin, go = rng.of_section(Section.RESET), rng.of_section(Section.STEP)
    first = jax.eval_shape(lambda: env.draw_reset(begin, params))
    rules = jax.eval_shape(lambda draw: env.init(draw, params), first)
    draw = jax.eval_shape(lambda state: env.draw_step(go, state, params), rules)
    action = jax.eval_shape(lambda: env.action_space(params).sample(rng))
    if env.num_players > 1:
        action = jax.ShapeDtypeStruct((env.num_players, *action.shape), action.dtype)
    programs = {
        "draw_reset": (lambda rng: env.draw_reset(rng, params), begin),
        "init": (lambda draw: env.init(draw, params), first),
        "draw_step": (lambda rng, state: env.draw_step(rng, state, params), go, rules),
        "transition": (lambda state, action, draw: env.transition(state, action, draw, params), rules, action, draw),
        "observe": (lambda state: env.observe(state, params), rules),
        "action_mask": (lambda state: env.action_mask(state, params), rules),
        "info": (lambda state: env.info(state, params), rules),
    }
    return {name: digest(jax.make_jaxpr(rule)(*given)) for name, (rule, *given) in programs.items()}


class Program:
    """A batch of a candidate that is played beside a reference, from given draws."""

    def __init__(self, env: Any, params: Any, num_envs: int) -> None:
        self.env, self.params, self.num_envs = env, params, num_envs
        rng = Rng.of(0).lanes(num_envs)
        self.reset_like = jax.eval_shape(jax.vmap(lambda r: env.draw_reset(r, params)), rng)
        self.lanes: Any = jax.jit(jax.vmap(lambda r: env.reset_state(r, params)))(rng)
        self.step_like = jax.eval_shape(jax.vmap(lambda r, s: env.draw_step(r, s, params)), rng, self.lanes.rules)
        self._compile("xla")

    def _compile(self, backend: Backend) -> None:
        self.jit_reset = jax.jit(lambda *given: lane_map(self._reset, *given, backend=backend))
        self.jit_step = jax.jit(lambda *given: lane_map(self._step, *given, backend=backend))

    def describe(self) -> dict[str, Any]:
        space = self.env.action_space(self.params)
        more: dict[str, Any] = {"calls": ["known", "play", "traces", "elsewhere", "compile"]}
        more |= {"players": self.env.num_players} if self.env.num_players > 1 else {}
        if isinstance(space, Discrete):
            return {"kind": "discrete", "n": space.n, **more}
        if isinstance(space, MultiDiscrete):
            high = np.asarray(space.nvec, space.dtype) - 1
            return {"kind": "box", "low": np.zeros_like(high), "high": high, **more}
        assert isinstance(space, Box)
        low, high = space.bounds()
        return {"kind": "box", "low": low, "high": high, **more}

    def compile(self) -> bool:
        """From now on the rules are a C kernel, where that is offered."""
        try:
            require_kernel(self.env, "c")
        except Exception:
            return False
        self._compile("c")
        return True

    def reset(self, mask: Any, seeds: Any, draws: dict[str, Any]) -> dict[str, Any]:
        self.lanes, outputs = self.jit_reset(mask, shaped(draws, self.reset_like), self.lanes)
        return self._observed(outputs, draws)

    def step(self, actions: Any, draws: dict[str, Any]) -> dict[str, Any]:
        self.lanes, outputs = self.jit_step(self.lanes, jnp.asarray(actions), shaped(draws, self.step_like))
        return self._observed(outputs, draws)

    def set_state(self, state: dict[str, Any]) -> None:
        self.lanes = EnvState(rules=shaped(state, self.lanes.rules), steps=jnp.asarray(state["steps"], jnp.int32))

    def known(self) -> dict[str, Any]:
        return known(self.env, self.params)

    def play(self, seed: int, batches: list[int]) -> dict[str, Any]:
        return play(self.env, self.params, seed, batches)

    def traces(self) -> dict[str, str]:
        return traces(self.env, self.params, globals()["digest"])  # of hygiene/programs.py, which is copied as well

    def elsewhere(self) -> dict[str, str]:
        """As `traces`, of the candidate imported once more, in another year and on another device, so it is told."""
        package, _, _ = type(self.env).__module__.partition(".")
        for name in [name for name in sys.modules if name == package or name.startswith(f"{package}.")]:
            del sys.modules[name]
        pretend()
        env, params = load(package)
        return traces(env, params, globals()["digest"])

    def _reset(self, chosen: Any, draw: Any, lane: Any) -> Any:
        lane = select(chosen, self.env.begin(draw, self.params), lane)
        return lane, self._seen(lane)

    def _step(self, lane: Any, action: Any, draw: Any) -> Any:
        lane, reward, terminated, truncated = self.env.advance(lane, action, draw, self.params)
        return lane, {**self._seen(lane), "reward": reward, "terminated": terminated, "truncated": truncated}

    def _seen(self, lane: Any) -> dict[str, Any]:
        mask = self.env.action_mask(lane.rules, self.params)
        return {"obs": self.env.observe(lane.rules, self.params), **({} if mask is None else {"action_mask": mask})}

    def _observed(self, outputs: Any, draws: dict[str, Any]) -> dict[str, Any]:
        state = {**flatten_state(self.lanes.rules), "steps": np.asarray(self.lanes.steps)}
        return {"outputs": {name: np.asarray(one) for name, one in outputs.items()}, "state": state, "draws": draws}


def shaped(arrays: dict[str, Any], like: Any) -> Any:
    """Named arrays in the structure and the types of `like`."""
    paths, tree = jax.tree_util.tree_flatten_with_path(like)
    leaves = [
        jnp.asarray(arrays[jax.tree_util.keystr(path, simple=True, separator=".")], leaf.dtype) for path, leaf in paths
    ]
    return jax.tree.unflatten(tree, leaves)


def pretend() -> None:
    """From now on clocks and devices say something else, each time they are asked."""

    class Device:
        """An accelerator that is not there."""

        id, process_index, platform, device_kind = 0, 0, "gpu", "NVIDIA H200"

    class Later(datetime.datetime):
        """The time some years later."""

        @classmethod
        def now(cls, tz: Any = None) -> Any:
            return datetime.datetime.fromtimestamp(time.time(), tz)

        @classmethod
        def today(cls) -> Any:
            return cls.now()

    class Day(datetime.date):
        """The day of that time."""

        @classmethod
        def today(cls) -> Any:
            return Later.now().date()

    def later(clock: Any, years: float) -> Any:
        """A clock that is years ahead, and hours between two readings."""
        kind, asked = type(clock()), itertools.count()
        unit = 10**9 if kind is int else 1
        return lambda: clock() + kind((years * 365 * 24 + next(asked) * 7) * 3600 * unit)

    for name in ("time", "time_ns", "monotonic", "monotonic_ns", "perf_counter", "perf_counter_ns", "process_time"):
        setattr(time, name, later(getattr(time, name), 20.0 if name.startswith("time") else 0.0))
    for name in ("gmtime", "localtime"):
        read = getattr(time, name)
        setattr(time, name, lambda seconds=None, read=read: read(time.time() if seconds is None else seconds))
    datetime.datetime, datetime.date = Later, Day
    jax.default_backend = lambda: "gpu"
    jax.devices = jax.local_devices = lambda *_, **__: [Device()]
    jax.device_count = jax.local_device_count = lambda *_: 8


def load(package: str) -> Any:
    """The candidate as a user has it: its folder is a package, and its files find each other by either name."""
    sys.path.insert(1, str(Path(__file__).parent / package))
    return importlib.import_module(f"{package}.env").make()


def main(package: str, num_envs: int) -> None:
    """Answer requests until nobody asks any more."""
    requests, replies = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    jax.local_devices()
    for name in ("JAX_PLATFORMS", "JAX_ENABLE_X64"):  # a user on a machine without an accelerator needs neither
        os.environ.pop(name, None)
    os.dup2(2, 1)  # whatever is printed goes to stderr, never between two messages
    program = None
    while len(header := requests.read(4)) == 4:
        request = unpacked(json.loads(requests.read(*struct.unpack("<I", header))))
        try:
            program = program or Program(*load(package), num_envs)
            answer = {"ok": getattr(program, request.pop("call"))(**request)}
        except Exception as error:
            answer = {"error": f"{type(error).__name__}: {error}"}
        body = json.dumps(packed(answer)).encode()
        replies.write(struct.pack("<I", len(body)) + body)
        replies.flush()


def packed(value: Any) -> Any:
    """A value in which arrays are JSON objects."""
    if isinstance(value, np.ndarray):
        text = base64.b64encode(np.ascontiguousarray(value).tobytes()).decode()
        return {"dtype": value.dtype.str, "shape": list(value.shape), "base64": text}
    return {str(key): packed(one) for key, one in value.items()} if isinstance(value, dict) else value


def unpacked(value: Any) -> Any:
    """A value in which such objects are arrays again."""
    if isinstance(value, dict):
        if value.keys() == {"dtype", "shape", "base64"}:
            flat = np.frombuffer(base64.b64decode(value["base64"]), np.dtype(value["dtype"]))
            return flat.reshape(value["shape"]).copy()
        return {key: unpacked(one) for key, one in value.items()}
    return value
