"""Other engines with the planar environments: MJX, MuJoCo Warp, Brax and MuJoCo's own threads.

They step without ever restarting an episode, which costs them nothing and so favours them; ours restart.
"""

import importlib.metadata
from typing import Any

import numpy as np

from overclock.bench import machine
from overclock.bench.program import Outputs
from overclock.bench.runners import HostRunner, Identity, JaxRunner, Runner
from overclock.env import registry
from overclock.errors import MissingError
from overclock.planar.environment import PlanarEnvironment
from overclock.planar.original import file_of, mujoco

BRAX = {"halfcheetah-v5": "halfcheetah", "walker2d-v5": "walker2d", "hopper-v5": "hopper"}
BACKENDS = ("generalized", "spring", "positional")
PROGRAM_STEPS = 4  # of peers that step slowly and compile for minutes: no pilot finds out how many
OTHER_PHYSICS = "one solver iteration, no implicit damping: other physics, 0.07 rad off after one step (docs/planar.md)"


def reference_model(env_id: str) -> Any:
    """Gymnasium's model, compiled by MuJoCo."""
    return mujoco().MjModel.from_xml_path(str(file_of(_environment(env_id).original)))


def mjx_runners(env_id: str, batch: int, platform: str, seed: int, store: bool) -> list[Runner]:
    """MJX with the model's own options, and "tuned" as its users and Brax do for speed."""
    exact, tuned = reference_model(env_id), reference_model(env_id)
    tuned.opt.iterations, tuned.opt.ls_iterations = 1, 4
    tuned.opt.disableflags |= mujoco().mjtDisableBit.mjDSBL_EULERDAMP
    version = importlib.metadata.version("mujoco-mjx")
    return [
        _mjx_runner(exact, Identity("mjx", version, batch, platform, "off"), env_id, seed, store),
        _mjx_runner(tuned, Identity("mjx-tuned", version, batch, platform, "off", OTHER_PHYSICS), env_id, seed, store),
    ]


def warp_runners(env_id: str, batch: int, platform: str, seed: int, store: bool) -> list[Runner]:
    """MuJoCo Warp, through MJX: NVIDIA's GPUs only. It gets room for as many contacts as there can be."""
    if platform != "gpu":
        raise MissingError("MuJoCo Warp is for NVIDIA GPUs; leave it out of --peers or use --device gpu.")
    versions = f"{importlib.metadata.version('mujoco-mjx')}, warp {importlib.metadata.version('warp-lang')}"
    identity = Identity("mujoco-warp", versions, batch, platform, "off")
    model = reference_model(env_id)
    return [_mjx_runner(model, identity, env_id, seed, store, "warp", **room_for_contacts(model, batch))]


def room_for_contacts(model: Any, batch: int) -> dict[str, int]:
    """What MuJoCo Warp must be told: the most contacts of the batch and rows of constraints of one robot."""
    points = 2 * (model.ngeom - 1)  # of capsules on the floor
    return {"naconmax": batch * points, "njmax": 4 * points + model.njnt}


def _mjx_runner(
    model: Any, identity: Identity, env_id: str, seed: int, store: bool, impl: str = "jax", **room: Any
) -> JaxRunner:
    import jax
    import jax.numpy as jnp
    from mujoco import mjx

    on_device, substeps, batch = mjx.put_model(model, impl=impl), _environment(env_id).frame_skip, identity.batch

    def start() -> Any:
        data, key = mjx.make_data(model, impl=impl, **room), jax.random.key(seed)
        noise = jax.random.uniform(key, (batch, model.nq), minval=-0.1, maxval=0.1)
        return key, jax.vmap(lambda one: data.replace(qpos=data.qpos + one))(noise)

    def control_step(data: Any, action: Any) -> tuple[Any, Any]:
        after = jax.lax.fori_loop(0, substeps, lambda _, now: mjx.step(on_device, now), data.replace(ctrl=action))
        return after, (after.qpos[0] - data.qpos[0]) / (substeps * model.opt.timestep) - 0.1 * jnp.sum(action**2)

    def step(carry: Any) -> tuple[Any, Outputs]:
        key, data = carry
        key, for_action = jax.random.split(key)
        action = jax.random.uniform(for_action, (batch, model.nu), minval=-1.0, maxval=1.0)
        data, reward = jax.vmap(control_step)(data, action)
        obs, never = jnp.concatenate([data.qpos[:, 1:], data.qvel], axis=1), jnp.zeros(batch, jnp.bool_)
        return (key, data), Outputs(obs, action, reward, never, never)

    return JaxRunner(identity, start, step, 1, store, PROGRAM_STEPS)


def brax_runners(env_id: str, batch: int, platform: str, seed: int, store: bool) -> list[Runner]:
    """Brax's environment of the same name on its three engines; its model and time steps are its own."""
    return [_brax_runner(env_id, backend, batch, platform, seed, store) for backend in BACKENDS]


def _brax_runner(env_id: str, backend: str, batch: int, platform: str, seed: int, store: bool) -> JaxRunner:
    import jax
    import jax.numpy as jnp
    from brax import envs

    env = envs.get_environment(BRAX[env_id], backend=backend)
    reset = jax.jit(jax.vmap(env.reset))  # operation by operation it takes minutes
    note = "a model and rewards of its own"
    identity = Identity(f"brax-{backend}", importlib.metadata.version("brax"), batch, platform, "off", note)

    def start() -> Any:
        key, first = jax.random.split(jax.random.key(seed))
        return key, reset(jax.random.split(first, batch))

    def step(carry: Any) -> tuple[Any, Outputs]:
        key, state = carry
        key, for_action = jax.random.split(key)
        action = jax.random.uniform(for_action, (batch, env.action_size), minval=-1.0, maxval=1.0)
        state = jax.vmap(env.step)(state, action)
        ended = state.done > 0
        return (key, state), Outputs(state.obs, action, state.reward, ended, jnp.zeros_like(ended))

    return JaxRunner(identity, start, step, 1, store, PROGRAM_STEPS)


class RolloutBatch:
    """`mujoco.rollout` on all cores: physics alone, a control step of every lane per call."""

    def __init__(self, env_id: str, batch: int, seed: int) -> None:
        from mujoco import rollout

        package = mujoco()
        self._model, self._substeps, self._seed = reference_model(env_id), _environment(env_id).frame_skip, seed
        threads = machine.cores()
        self._data = [package.MjData(self._model) for _ in range(threads)]
        self._rollout = rollout.Rollout(nthread=threads)
        size = package.mj_stateSize(self._model, package.mjtState.mjSTATE_FULLPHYSICS)
        self._states = np.empty((batch, self._substeps, size))
        self._first = np.zeros((batch, size))

    def reset(self) -> None:
        noise = np.random.default_rng(self._seed).uniform(-0.1, 0.1, (len(self._first), self._model.nq))
        self._first[:] = 0
        self._first[:, 1 : 1 + self._model.nq] = self._model.qpos0 + noise  # after the time

    def step(self, actions: np.ndarray) -> tuple[Any, np.ndarray, np.ndarray, np.ndarray]:
        control = np.repeat(actions[:, None].astype(np.float64), self._substeps, axis=1)
        self._rollout.rollout(self._model, self._data, self._first, control, state=self._states, skip_checks=False)
        travelled = self._states[:, -1, 1] - self._first[:, 1]
        self._first[:] = self._states[:, -1]
        never = np.zeros(len(actions), np.bool_)
        return self._first[:, 2:], travelled, never, never


def mujoco_runner(env_id: str, batch: int, actions: np.ndarray, seed: int, store: bool) -> HostRunner:
    """MuJoCo's own engine in C: `mujoco.rollout` on all cores."""
    note = f"mujoco.rollout on {machine.cores()} threads, physics alone"
    identity = Identity("mujoco", importlib.metadata.version("mujoco"), batch, "cpu", "off", note)
    return HostRunner(identity, RolloutBatch(env_id, batch, seed), actions, store)


def _environment(env_id: str) -> PlanarEnvironment[Any]:
    env, _ = registry.make(env_id)
    assert isinstance(env, PlanarEnvironment)
    return env
