"""Does a translation do what its reference does? Every leaf of the state, observation, reward and end, step by step.

    agree(MyEnv)        # an UnsupportedError where it is refused, an AssertionError where it is wrong

The reference plays some episodes and its draws are recorded. The translation then takes every step from the reference's
own state (teacher-forced: a wrong step shows where it is made), and plays the episodes by itself (free-running: what a
step leaves behind must be enough for the next). Both run as a batch, compiled and in float64.
"""

import copy
import dataclasses
import functools
import importlib.util
import itertools
import operator
from pathlib import Path
from types import ModuleType

import jax
import numpy as np
from quick_compile import quickest

from overclock.recipe.judging.hygiene import check_source
from overclock.recording import observations
from overclock.recording.codec import InstanceCodec
from overclock.recording.sites.call_sites import file_of
from overclock.recording.sites.install import hooked
from overclock.recording.sites.recorder import Site, SiteRecorder, tupled
from overclock.translate.compiler import Compiler
from overclock.translate.jax.file import print_jax
from overclock.translate.profile import Profile, look

EPISODES, STEPS = 4, 8
_numbers = itertools.count()


@dataclasses.dataclass
class Moment:
    """The reference after a reset or a step: what it was given, and what it showed."""

    draws: dict
    state: dict
    obs: np.ndarray
    action: object = None
    reward: float = 0.0
    terminated: bool = False


class Translation:
    """A translated environment, ready to run."""

    def __init__(self, make, folder: Path, name: str = "Translated", profile: Profile | None = None) -> None:
        """Translate; a short look at the reference is enough for small ones."""
        self.program = Compiler(make, name, profile or look(make, episodes=6, steps=2 * STEPS)).program()
        self.text = print_jax(self.program)
        admitted(self.text, folder)
        self._module = loaded(self.text, folder)
        self._env, self._params = self._module.make()
        self.codec = InstanceCodec(self.program.shapes)
        self.init = jax.jit(jax.vmap(self._init), compiler_options=quickest())
        self.step = jax.jit(jax.vmap(self._step), compiler_options=quickest())

    def _init(self, _, draws):
        state = self._env.init(self._struct("ResetDraw", draws), self._params)
        return state, self._env.observe(state, self._params)

    def _step(self, state, action, draws):
        state, reward, terminated = self._env.transition(state, action, self._struct("StepDraw", draws), self._params)
        return state, reward, terminated, self._env.observe(state, self._params)

    def _struct(self, ending, fields):
        found = [cls for name, cls in vars(self._module).items() if name.endswith(ending)]
        return found[0](**fields) if found else ()

    def state(self, leaves, obs):
        """The state of several moments, as the translation holds it."""
        extra = {}
        if self.program.overflow:
            extra["overflow"] = np.zeros(len(obs), bool)
        if self.program.stored_observation:
            extra["observation"] = np.asarray(obs, self.program.step.results["observation"].type.dtype)
        if not leaves and not extra:
            extra["nothing"] = np.zeros(len(obs), bool)
        return self._struct("State", {**leaves, **extra})

    @property
    def sites(self):
        """The draws of resets and of steps."""
        return [site(one) for one in self.program.reset.sites], [site(one) for one in self.program.step.sites]


def admitted(text: str, folder: Path) -> None:
    """What the translator writes is a candidate like any other: the static scan finds nothing in it."""
    place = folder / f"candidate_{next(_numbers)}"
    place.mkdir()
    (place / "env.py").write_text(text)
    found = check_source(place)
    assert not found, found


def loaded(text: str, folder: Path) -> ModuleType:
    """A program as a module."""
    path = folder / f"translated_{next(_numbers)}.py"
    path.write_text(text)
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def site(drawn) -> Site:
    """A site of the program as the recorder knows it."""
    arguments = tuple((name, tupled(np.asarray(value).tolist())) for name, value in drawn.arguments.items())
    place = file_of(drawn.module, drawn.filename), drawn.line, drawn.column
    return Site(
        drawn.name, *place, drawn.method, drawn.form, drawn.shape, drawn.count, arguments, drawn.source, drawn.dtype
    )


def played(make, translation: Translation, episodes: int, steps: int) -> list[list[Moment]]:
    """Episodes of the reference, each as long as it lasts and at most so many steps."""
    with hooked():
        recorder = SiteRecorder(*translation.sites)
        with recorder.making():
            env = make()
        env.action_space.seed(0)
        new = {path: copy.deepcopy(operator.attrgetter(path)(env.unwrapped)) for path in translation.program.restart}
        return [_episode(env, new, translation.codec, recorder, seed, steps) for seed in range(episodes)]


def _episode(env, new, codec, recorder, seed, steps):
    for path, value in new.items():  # what a reset leaves as it was is what a new instance has, by contract
        *outer, name = path.split(".")
        setattr(functools.reduce(getattr, outer, env.unwrapped), name, copy.deepcopy(value))
    with recorder.recording(seed=seed) as draws:
        obs, _ = env.reset(seed=seed)
    moments = [Moment(draws, codec.read(env), observations.flatten(env.observation_space, obs))]
    while len(moments) <= steps and not moments[-1].terminated:
        action = observations.unflatten(env.action_space, np.asarray(env.action_space.sample()))
        with recorder.recording() as draws:
            obs, reward, terminated, _, _ = env.step(action)
        shown = observations.flatten(env.observation_space, obs)
        moments.append(Moment(draws, codec.read(env), shown, action, float(reward), bool(terminated)))
    return moments


def agree(
    make,
    folder: Path,
    episodes: int = EPISODES,
    steps: int = STEPS,
    tolerance: float = 0.0,
    profile: Profile | None = None,
) -> Translation:
    """Translate and compare. `tolerance` is absolute, for floats that go through other libraries or another order."""
    with jax.enable_x64(True):
        translation = Translation(make, folder, profile=profile)
        rollouts = played(make, translation, episodes, steps)
        starts = jax.device_get(translation.init(np.arange(episodes), _stacked([one[0].draws for one in rollouts])))
        for lane, rollout in enumerate(rollouts):
            _compare(f"reset {lane}", translation, rollout[0], starts[0], starts[1], lane, tolerance)
        _teacher_forced(translation, rollouts, tolerance)
        _free_running(translation, rollouts, starts[0], tolerance)
    return translation


def _teacher_forced(translation, rollouts, tolerance):
    steps = [enumerate(itertools.pairwise(one), 1) for one in rollouts]
    pairs = [(lane, at, *pair) for lane, one in enumerate(steps) for at, pair in one]
    size = len(rollouts)
    for begin in range(0, len(pairs), size):
        rows = pairs[begin : begin + size]
        rows += rows[-1:] * (size - len(rows))  # the batch keeps its size, so that it is compiled once
        before = translation.state(_stacked([row[2].state for row in rows]), np.stack([row[2].obs for row in rows]))
        _compare_rows(translation, "from the reference's state", before, rows, tolerance)


def _free_running(translation, rollouts, state, tolerance):
    for at in range(1, max(map(len, rollouts))):
        # An episode that is over repeats its last step; nobody looks at it any more.
        rows = [(lane, at, None, one[min(at, len(one) - 1)]) for lane, one in enumerate(rollouts)]
        over = {lane for lane, one in enumerate(rollouts) if at >= len(one)}
        state = _compare_rows(translation, "on its own", state, rows, tolerance, over)


def _compare_rows(translation, mode, before, rows, tolerance, over=frozenset()):
    actions = np.stack([np.asarray(row[3].action) for row in rows])
    draws = _stacked([row[3].draws for row in rows])
    state, reward, terminated, obs = jax.device_get(translation.step(before, actions, draws))
    for lane, (episode, at, _, after) in enumerate(rows):
        if episode not in over:
            where = f"episode {episode}, step {at} {mode}"
            _compare(where, translation, after, state, obs, lane, tolerance)
            # Rewards are float32 by contract.
            rounding = 2 * np.spacing(np.abs(np.float32(after.reward)))
            same(f"{where}: reward", after.reward, reward[lane], max(tolerance, rounding))
            same(f"{where}: terminated", after.terminated, terminated[lane], 0.0)
    return state


def _compare(where, translation, moment, state, obs, lane, tolerance):
    if translation.program.overflow:
        assert not state.overflow[lane], f"{where}: the translation itself says that it has no room left"
    for leaf in translation.program.state:
        same(f"{where}: {leaf.name}", moment.state[leaf.name], getattr(state, leaf.name)[lane], tolerance)
    shown, wanted = moment.obs, observations.flat_space(translation.program.observation_space).dtype
    if shown.dtype.kind == wanted.kind == "f":
        # Observations have the dtype of their space, by contract; some references return wider floats.
        assert obs.dtype == wanted, f"{where}: the observation is {obs.dtype}, its space {wanted}"
        shown = shown.astype(wanted)
    same(f"{where}: observation", shown, obs[lane], tolerance)


def same(what: str, expected, found, tolerance: float) -> None:
    """Equal in shape and in every number, up to the tolerance; two NaN are equal."""
    expected, found = np.asarray(expected), np.asarray(found)
    assert expected.shape == found.shape, f"{what} has the shape {found.shape}, the reference {expected.shape}"
    exact = expected.dtype.kind in "biu" and found.dtype.kind in "biu"
    close = expected == found
    if not exact and not np.all(close):  # most are equal, and told so ten times as fast
        close = np.isclose(expected, found, rtol=0.0, atol=tolerance, equal_nan=True)
    assert np.all(close), f"{what} is {found.tolist()}, the reference has {expected.tolist()}"


def _stacked(records):
    return {name: np.stack([record[name] for record in records]) for name in records[0]}
