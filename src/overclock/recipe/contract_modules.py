"""Level 1 of a project: the functions of the environment contract, each against calls recorded from the reference.

Made from contract.toml alone, so that a translation can be judged function by function before anybody has written a
test. Loaded in three processes (verifier, reference, performance side); neither side is imported at the top.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from overclock.recipe.contract_file import Closeness, ContractFile, StateField, load_contract
from overclock.recipe.survey import paths
from overclock.verify.calls import Call
from overclock.verify.contract import Precision
from overclock.verify.distribution import REASON as CHANCE
from overclock.verify.module import Case, Module, Output
from overclock.verify.subject import Arrays

BOUNDARY_STATES = 256
WIDER = 1.1  # boundary values reach this far beyond what was seen


def modules(argument: str) -> tuple[Module, ...]:
    """The modules of 'CLASS@CONTRACT': the reference's class ('package.module:Class') and its contract.toml."""
    cls, _, path = argument.partition("@")
    return _modules(cls, load_contract(Path(path)))


def _modules(cls: str, contract: ContractFile) -> tuple[Module, ...]:
    shared = _Shared(contract)
    depth = max((len(paths.parse(field.read)) - 1 for field in contract.state), default=0)
    boundary = shared.boundary if contract.set_state and shared.bounded else None
    found = [
        Module(
            name="spaces",
            reference=(f"{cls}.__init__",),
            case=shared.spaces_case,
            performance=_spaces,
            exercises=(),
            outputs=shared.exact("low", "high", "n"),
            depth=1,  # the spaces are objects
        )
    ]
    if contract.reset_draws:
        found.append(
            Module(
                name="draw",
                reference=(f"{cls}.reset",),
                case=shared.draw_case,
                performance=shared.draw,
                exercises=(),
                outputs=shared.by_chance([field.name for field in contract.reset_draws]),
                boundary=_seeds,
                apply=_apply_seed,
            )
        )
    return (
        *found,
        Module(
            name="reset",
            reference=(f"{cls}.reset",),
            case=shared.reset_case,
            performance=shared.reset,
            exercises=(),
            outputs=shared.outputs([]),
            boundary=_seeds if contract.reset_draws else None,
            apply=_apply_seed if contract.reset_draws else None,
            depth=depth,
        ),
        Module(
            name="transition",
            reference=(f"{cls}.step",),
            case=shared.step_case,
            performance=shared.transition,
            exercises=(),
            outputs=shared.outputs(["reward"], flags=("terminated",)),
            boundary=boundary,
            apply=None if boundary is None else shared.apply_state,
            depth=depth,
        ),
        Module(
            name="observe",
            reference=(f"{cls}.reset", f"{cls}.step"),
            case=shared.observe_case,
            performance=shared.observe,
            exercises=(),
            outputs=shared.outputs(["obs"], state=False),
            boundary=boundary,
            apply=None if boundary is None else shared.apply_state,
            depth=depth,
        ),
    )


class _Shared:
    """What the modules of one contract have in common."""

    def __init__(self, contract: ContractFile) -> None:
        self.contract = contract
        self._readers: dict[str, Any] = {}

    # ---- recorded calls as cases ----

    def spaces_case(self, call: Call) -> Case:
        """Bounds of the observations and number of actions, as far as the spaces have them."""
        box, actions = call.after.get("observation_space", {}), call.after.get("action_space", {})
        return Case({}, {"low": box.get("low", 0), "high": box.get("high", 0), "n": np.int64(actions.get("n", 0))})

    def draw_case(self, call: Call) -> Case:
        """What a seed leads to."""
        seed = call.arguments.get("seed")
        return Case({"seed": np.uint32(0 if seed is None else seed)}, self._draws(call, reset=True))

    def reset_case(self, call: Call) -> Case:
        """The first state, from what was drawn for it."""
        return Case(self._draws(call, reset=True), self._state(call.after))

    def step_case(self, call: Call) -> Case:
        """One whole step."""
        _, reward, terminated, *_ = call.result
        inputs = {**self._state(call.before), "action": self._action(call), **self._draws(call, reset=False)}
        return Case(inputs, {**self._state(call.after), "reward": np.float64(reward), "terminated": bool(terminated)})

    def observe_case(self, call: Call) -> Case:
        """The observation, from the state it shows."""
        return Case(self._state(call.after), {"obs": np.asarray(call.result[0])})

    def _state(self, captured: Mapping[str, Any]) -> Arrays:
        return {f.name: np.asarray(_recorded(captured, f.read), f.dtype) for f in self.contract.state}

    def _draws(self, call: Call, reset: bool) -> Arrays:
        fields = self.contract.reset_draws if reset else self.contract.step_draws
        return {field.name: np.asarray(draw.value) for field, draw in zip(fields, call.draws, strict=True)}

    @staticmethod
    def _action(call: Call) -> np.ndarray:
        (action,) = [value for name, value in call.arguments.items() if name != "self"]
        value = np.asarray(action)
        return value.astype(np.int32) if value.dtype.kind in "biu" else value

    # ---- the performance side, one instance ----

    def draw(self, env: Any, params: Any, inputs: dict[str, Any]) -> dict[str, Any]:
        """The draw of a reset from a seed."""
        from overclock.env import Rng, Section
        from overclock.vector.host import named_leaves

        return named_leaves(env.draw_reset(Rng.of(inputs["seed"][None]).of_section(Section.RESET), params))

    def reset(self, env: Any, params: Any, inputs: dict[str, Any]) -> dict[str, Any]:
        """The first state from a draw."""
        return _named(env.init(_draw_of(env, params, inputs, reset=True), params))

    def transition(self, env: Any, params: Any, inputs: dict[str, Any]) -> dict[str, Any]:
        """One step of the rules."""
        state = _state_of(env, params, inputs)
        draw = _draw_of(env, params, inputs, reset=False)
        after, reward, terminated = env.transition(state, inputs["action"], draw, params)
        return {**_named(after), "reward": reward, "terminated": terminated}

    def observe(self, env: Any, params: Any, inputs: dict[str, Any]) -> dict[str, Any]:
        """The observation of a state."""
        return {"obs": env.observe(_state_of(env, params, inputs), params)}

    # ---- how closely ----

    def exact(self, *names: str) -> dict[Precision, tuple[Output, ...]]:
        """Equal bit for bit."""
        return {precision: tuple(Output(name) for name in names) for precision in self.contract.precisions}

    def by_chance(self, names: list[str]) -> dict[Precision, tuple[Output, ...]]:
        """Samples, whose distributions are compared."""
        outputs = tuple(Output(name, distribution=True, reason=CHANCE) for name in names)
        return dict.fromkeys(self.contract.precisions, outputs)

    def outputs(
        self, names: list[str], flags: tuple[str, ...] = (), state: bool = True
    ) -> dict[Precision, tuple[Output, ...]]:
        """State fields and outputs, as closely as the contract says of one step."""
        found: dict[Precision, tuple[Output, ...]] = {}
        for precision, close in self.contract.precisions.items():
            fields = [_output(f.name, "state", f.exact, close) for f in self.contract.state] if state else []
            fields += [_output(name, name, False, close) for name in names]
            found[precision] = (*fields, *(Output(flag) for flag in flags))
        return found

    # ---- boundary values ----

    @property
    def bounded(self) -> bool:
        """Whether there are floats to put at the boundary of what was seen."""
        return any(not field.exact and field.low is not None for field in self.contract.state)

    def boundary(self) -> Arrays:
        """States whose floats lie at, beyond and between the ends of what was seen, and at zero; a few actions each."""
        generator = np.random.default_rng(0)
        rows = [
            {field.name: _boundary_value(field, generator) for field in self.contract.state}
            for _ in range(BOUNDARY_STATES)
        ]
        stacked = {name: np.stack([row[name] for row in rows]) for name in rows[0]}
        return {**stacked, "choice": generator.integers(0, 2**31, BOUNDARY_STATES)}

    def apply_state(self, instance: Any, inputs: Arrays) -> None:
        """One step of an instance of the reference from a given state, with one of its actions."""
        from overclock.recipe.reference import StateReader

        space, env_id = instance.action_space, instance.spec.id
        space.seed(int(inputs["choice"]))
        if env_id not in self._readers:
            self._readers[env_id] = StateReader(self.contract, env_id, dict(instance.spec.kwargs))
        values = {field.name: inputs[field.name] for field in self.contract.state}
        self._readers[env_id].write(instance, {**values, "steps": np.array(0)})
        instance.step(space.sample())


def _recorded(captured: Any, path: str) -> Any:
    """What a recorded instance has at a path; its objects were recorded as dicts."""
    for step in paths.parse(path):
        captured = captured[step.key if isinstance(step, paths.Item) else step]
    return captured


def _output(name: str, group: str, exact: bool, close: Closeness) -> Output:
    tolerance = 0.0 if exact else close.of(name, group)[0]
    # Boundary values can be far larger than what play shows, and rounding grows with them.
    return Output(name, absolute=tolerance, relative=tolerance, reason=close.reason if tolerance else "")


def _boundary_value(field: StateField, generator: np.random.Generator) -> np.ndarray:
    if field.low is None or field.high is None:
        return np.zeros(field.shape, field.dtype)
    if field.exact:
        return generator.integers(int(field.low), int(field.high) + 1, field.shape).astype(field.dtype)
    middle, half = (field.low + field.high) / 2, (field.high - field.low) / 2
    choices = [0.0, field.low, field.high, middle - WIDER * half, middle + WIDER * half]
    anywhere = generator.uniform(middle - WIDER * half, middle + WIDER * half, field.shape)
    at_edge = generator.choice(choices, field.shape)
    return np.where(generator.random(field.shape) < 0.5, anywhere, at_edge).astype(field.dtype)


def _seeds() -> Arrays:
    return {"seed": np.arange(2048, dtype=np.uint32)}


def _apply_seed(instance: Any, inputs: Arrays) -> None:
    instance.reset(seed=int(inputs["seed"]))


def _spaces(env: Any, params: Any, inputs: dict[str, Any]) -> dict[str, Any]:
    defaults = env.default_params()
    observations, actions = env.observation_space(defaults), env.action_space(defaults)
    low, high = observations.bounds() if hasattr(observations, "bounds") else (0, 0)
    return {"low": low, "high": high, "n": np.int64(getattr(actions, "n", 0))}


def _named(state: Any) -> dict[str, Any]:
    from overclock.vector.host import named_leaves

    return named_leaves(state)


def _state_of(env: Any, params: Any, inputs: dict[str, Any]) -> Any:
    import jax

    from overclock.verify.performance import unflatten

    like = jax.eval_shape(lambda: env.init(_zeros(_draw_like(env, params, reset=True)), params))
    return unflatten(inputs, like)


def _draw_of(env: Any, params: Any, inputs: dict[str, Any], reset: bool) -> Any:
    from overclock.verify.performance import unflatten

    return unflatten(inputs, _draw_like(env, params, reset))


def _draw_like(env: Any, params: Any, reset: bool) -> Any:
    import jax

    from overclock.env import Rng, Section

    rng = Rng.of(0)
    if reset:
        return jax.eval_shape(lambda: env.draw_reset(rng.of_section(Section.RESET), params))
    state = jax.eval_shape(lambda: env.init(env.draw_reset(rng.of_section(Section.RESET), params), params))
    return jax.eval_shape(lambda state: env.draw_step(rng.of_section(Section.STEP), state, params), state)


def _zeros(like: Any) -> Any:
    import jax
    import jax.numpy as jnp

    return jax.tree.map(lambda leaf: jnp.zeros(leaf.shape, leaf.dtype), like)
