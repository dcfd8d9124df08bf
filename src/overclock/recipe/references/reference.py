"""The reference of a project as a verify Subject: any Gymnasium environment, read as its contract.toml says.

With a codec, state is read and written by it and observations are one flat array; with sites, draws are recorded by
them, from whatever generator they come.
"""

import copy
import functools
import operator
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
from gymnasium.envs.registration import EnvSpec
from gymnasium.wrappers import TimeLimit, TransformObservation

from overclock.env.registry import load
from overclock.recipe.contract.branch_search import layout_of
from overclock.recipe.contract.codec import site_of
from overclock.recipe.contract.file import ContractFile, DrawField, load_contract
from overclock.recipe.references.choosable_reference import ChoosableReference
from overclock.recipe.references.gymnasium_spec import spec_of
from overclock.recipe.references.stored_observations import store_observations
from overclock.recipe.survey.live import paths
from overclock.recording.codec import InstanceCodec
from overclock.recording.observations import flat_space, flatten, unflatten
from overclock.recording.sites.generators import LaneGenerators
from overclock.recording.sites.install import hooked, install
from overclock.recording.sites.recorder import Site, SiteRecorder
from overclock.recording.wrappers import UNLIMITED, wrapped
from overclock.verify.property.calls import note_draw
from overclock.verify.sides.gymnasium_reference import DrawNamer, GymnasiumSubject, PlainBorder
from overclock.verify.sides.subject import Arrays

ID = "overclock/reference-v0"
NO_LIMIT = UNLIMITED  # steps are counted even where nothing ends an episode by time
PLAIN = (type(None), bool, int, float, str)


def reference(num_envs: int, make: dict[str, Any], contract: str) -> GymnasiumSubject:
    """The subject of a project's reference with `num_envs` instances.

    `make` is what `make_env` takes, `contract` the path of a contract.toml.
    """
    known = load_contract(Path(contract))
    spec = registered(**make)
    reader = StateReader(known, spec)
    if known.by_site:
        install()  # for as long as this process lives, which is that of the reference
    begin_anew(spec, known.restart)
    store_observations(_made(spec), known.shapes)
    recorder = site_recorder(known) if known.by_site else None
    subject = ChoosableReference if recorder is not None and recorder.choosable else GymnasiumSubject
    return subject(
        spec,
        num_envs,
        read_state=reader.read,
        write_state=reader.write,
        name_reset_draws=named(known.reset_draws, "A reset"),
        name_step_draws=named(known.step_draws, "A step"),
        recorder=recorder,  # pyright: ignore[reportArgumentType] (choosable ones are site recorders)
        border=PlainBorder() if known.codec is None else FlatBorder(),
        layout=None if known.codec is None else layout_of(known, InstanceCodec(known.shapes)),
        remembered={str(paths.parse(field.read)[0]) for field in known.state if field.read},
    )


def begin_anew(spec: EnvSpec, restart: tuple[str, ...]) -> None:
    """From now on, a reset of the class first gives these attributes the values that a new instance has."""
    if not restart:
        return
    new = _made(spec).unwrapped
    known = {path: copy.deepcopy(operator.attrgetter(path)(new)) for path in restart}
    cls = type(new)
    original = cls.reset

    @functools.wraps(original)
    def reset(self: Any, *args: Any, **keywords: Any) -> Any:
        for path, value in known.items():
            owner, _, name = path.rpartition(".")
            setattr(operator.attrgetter(owner)(self) if owner else self, name, copy.deepcopy(value))
        return original(self, *args, **keywords)

    cls.reset = reset


def site_recorder(contract: ContractFile) -> SiteRecorder:
    """A recorder of a contract's draws by site, which also reports them to recorded calls."""

    def heard(site: Site, record: np.ndarray) -> None:
        note_draw(site.method, (), {}, record, site.name)

    reset, step = ([site_of(draw) for draw in draws] for draws in (contract.reset_draws, contract.step_draws))
    return SiteRecorder(reset, step, heard)


class FlatBorder(PlainBorder):
    """Any observations and actions made of numbers, as one flat array."""

    def shown(self, space: gymnasium.Space[Any], obs: Any) -> np.ndarray:
        return flatten(space, obs)

    def taken(self, space: gymnasium.Space[Any], action: np.ndarray) -> Any:
        return unflatten(space, action)

    def described(self, space: gymnasium.Space[Any]) -> dict[str, Any]:
        flat = flat_space(space)
        if flat.n:
            return {"kind": "discrete", "n": flat.n}
        return {"kind": "box", "low": flat.low, "high": flat.high}


def make_env(flat: bool = False, **make: Any) -> gymnasium.Env:
    """One instance, as level 4 trains on it; `flat`: with observations as one array."""
    env = _made(registered(**make))
    nested = env.observation_space
    if not flat or not isinstance(nested, gymnasium.spaces.Tuple | gymnasium.spaces.Dict):
        return env
    known = flat_space(nested)
    box = gymnasium.spaces.Box(known.low, known.high, known.shape, known.dtype.type)
    return TransformObservation(env, functools.partial(flatten, nested), box)


def _made(spec: EnvSpec) -> gymnasium.Env:
    """An instance with the constants that every instance of the subject has, and with a random seed."""
    lane = LaneGenerators()
    with hooked(), lane.making():
        env = gymnasium.make(spec)
    lane.begin(int(np.random.SeedSequence().generate_state(1)[0]))
    return env


def registered(
    id: str | None = None,
    entry_point: str | None = None,
    arguments: dict[str, Any] | None = None,
    max_steps: int | None = None,
) -> EnvSpec:
    """The Gymnasium spec of an id or of a class, which is registered first; `max_steps` replaces the id's own limit."""
    if id is None:
        assert entry_point is not None
        gymnasium.registry.pop(ID, None)  # of another class, or with another limit
        gymnasium.register(ID, entry_point=load(entry_point))
    spec = spec_of(id or ID, arguments or {}, max_steps)
    spec.max_episode_steps = spec.max_episode_steps or NO_LIMIT
    return spec


class StateReader:
    """Reads and writes the state fields of an instance."""

    def __init__(self, contract: ContractFile, spec: EnvSpec) -> None:
        self._contract, self._spec = contract, spec
        self._codec = None if contract.codec is None else InstanceCodec(contract.shapes)

    @functools.cached_property
    def _fresh(self) -> dict[str, Any]:
        """Plain attributes after a reset: those that are no state must not remember the episode before."""
        some = _made(self._spec)
        some.reset(seed=0)
        bases = {paths.parse(field.read)[0] for field in self._contract.state if field.read}
        return {k: v for k, v in vars(some.unwrapped).items() if isinstance(v, PLAIN) and k not in bases}

    def read(self, env: gymnasium.Env) -> Arrays:
        fields = self._contract.state
        if self._codec is None:
            values = {field.name: np.array(paths.read(env.unwrapped, field.read), field.dtype) for field in fields}
        elif time_limit(env)._elapsed_steps is None:  # never reset: it has no state yet
            values = {field.name: np.zeros(field.shape, field.dtype) for field in fields}
        else:
            found = self._codec.read(env)
            values = {field.name: found[field.name] if field.read else np.array(False) for field in fields}
        return {**values, "steps": np.array(time_limit(env)._elapsed_steps or 0, np.int32)}

    def write(self, env: gymnasium.Env, values: Arrays) -> None:
        if not self._contract.set_state:
            raise NotImplementedError("the contract says that the reference cannot be put into a given state")
        vars(env.unwrapped).update(self._fresh)
        if self._codec is None:
            paths.write(env.unwrapped, {field.read: values[field.name] for field in self._contract.state})
        else:
            self._codec.write(env, values)
        time_limit(env)._elapsed_steps = int(values["steps"])


def named(fields: tuple[DrawField, ...], when: str) -> DrawNamer:
    """A function that gives recorded generator calls the names of the contract's draws."""

    def name(calls: list[tuple[str, Any]]) -> Arrays:
        drawn, known = [method for method, _ in calls], [field.method for field in fields]
        if drawn != known:
            raise ValueError(f"{when} drew {drawn or 'nothing'}; the contract knows {known or 'nothing'}")
        return {field.name: np.asarray(value) for field, (_, value) in zip(fields, calls, strict=True)}

    return name


def time_limit(env: gymnasium.Env) -> TimeLimit:
    """The wrapper that counts an instance's steps."""
    return next(one for one in wrapped(env) if isinstance(one, TimeLimit))
