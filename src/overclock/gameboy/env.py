"""A Game Boy game as an `Environment`: pure functions whose state is the console's bytes.

JAX hands these bytes to the Rust emulator and gets new ones back, so `vectorize`, `jit` and `scan` work as with any
environment; a step copies each console twice. `GameBoyVector` (what `host_vector` and the adapters use) copies nothing.
"""

import dataclasses
import functools
import threading
from typing import Any, ClassVar

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int, UInt8

from overclock.env.environment import Environment, EnvState, Params
from overclock.env.rng import Rng
from overclock.env.spaces import Space
from overclock.env.struct import Struct
from overclock.gameboy.game import Game, load_game
from overclock.gameboy.vector import make_batch


class GameBoyParams(Params):
    """The parameters of a game: only the description's time limit."""


class ConsoleState(Struct):
    """A console between two steps, its observation and its described values."""

    console: UInt8[Array, " bytes"]
    obs: Any
    values: Int[Array, " values"]


@dataclasses.dataclass(frozen=True)
class GameBoyGame(Environment[ConsoleState, GameBoyParams]):
    """A ROM with a description (TOML), or the class's own game.

    - Observation: as the description says, or `observation`: `rgb` uint8[144, 160, 3], `gray` uint8[144, 160],
      `gray_2x2` uint8[72, 80], `packed_2bit` uint8[144, 40], `ram` float32[values], scaled to 0 ... 1.
    - Action: one of the description's sets of buttons.
    - Reward, termination: changes of values in RAM, and conditions on them.
    - `info`: every value of the description, int32.
    """

    rom: str | None = None
    description: str | None = None
    symbols: str | None = None
    observation: str | None = None
    model: str = "auto"
    compat: str = "pyboy"
    sound: bool = False

    game: ClassVar[str | None] = None

    @property
    def loaded(self) -> Game:
        return load_game(self.game, self.rom, self.description, self.symbols, self.observation, self.model)

    def default_params(self) -> GameBoyParams:
        return GameBoyParams(max_steps=self.loaded.description.max_steps)

    def draw_reset(self, rng: Rng, params: GameBoyParams) -> Int[Array, ""]:
        """The seed that is written into the game's RAM."""
        return self.loaded.drawn(rng)

    def init(self, draw: Int[Array, ""], params: GameBoyParams) -> ConsoleState:
        shapes = _consoles(self).shapes
        return jax.pure_callback(_consoles(self).begin, shapes, draw, vmap_method="broadcast_all")

    def transition(
        self, state: ConsoleState, action: Int[Array, ""], draw: tuple[()], params: GameBoyParams
    ) -> tuple[ConsoleState, Float[Array, ""], Bool[Array, ""]]:
        flags = (jax.ShapeDtypeStruct((), jnp.float32), jax.ShapeDtypeStruct((), jnp.bool_))
        return jax.pure_callback(
            _consoles(self).step,
            (_consoles(self).shapes, *flags),
            state.console,
            state.values,
            action,
            vmap_method="broadcast_all",
        )

    def observe(self, state: ConsoleState, params: GameBoyParams) -> Any:
        return state.obs

    def info(self, state: ConsoleState, params: GameBoyParams) -> dict[str, Int[Array, ""]]:
        return {name: state.values[number] for number, name in enumerate(self.loaded.readings.names)}

    def observation_space(self, params: GameBoyParams) -> Space:
        return self.loaded.observation_space

    def action_space(self, params: GameBoyParams) -> Space:
        return self.loaded.action_space


@dataclasses.dataclass(frozen=True)
class Maze(GameBoyGame):
    """The maze game that comes with Overclock."""

    game: ClassVar[str | None] = "maze"


@dataclasses.dataclass(frozen=True)
class Paddle(GameBoyGame):
    """The paddle game that comes with Overclock."""

    game: ClassVar[str | None] = "paddle"


def render(env: GameBoyGame, state: EnvState, params: GameBoyParams) -> np.ndarray:
    """The screen of a state, RGB."""
    return _consoles(env).picture(np.asarray(state.rules.console))


def _consoles(env: GameBoyGame) -> "_Consoles":
    return _consoles_of(env, env.loaded)


@functools.cache
def _consoles_of(env: GameBoyGame, game: Game) -> "_Consoles":
    return _Consoles(env, game)


class _Consoles:
    """Batches of consoles, one per size; they keep no state from one call to the next."""

    def __init__(self, env: GameBoyGame, game: Game) -> None:
        self.env, self.game = env, game
        self._batches: dict[int, Any] = {}
        self._lock = threading.Lock()
        space: Any = self.game.observation_space
        console: Any = jax.ShapeDtypeStruct((self._batch(1).states().shape[1],), jnp.uint8)
        values: Any = jax.ShapeDtypeStruct((len(self.game.readings.names),), jnp.int32)
        self.shapes = ConsoleState(console, jax.ShapeDtypeStruct(space.shape, space.dtype), values)

    def begin(self, seeds: Any) -> ConsoleState:
        """The first states of episodes."""
        shape = np.shape(seeds)
        seeds, addresses = np.asarray(seeds).reshape(-1), self.game.seed_addresses
        with self._lock:
            batch = self._batch(len(seeds))
            bytes_of_seeds = self.game.seed_bytes(seeds) if addresses else None
            seen, ram = batch.reset(None, addresses or None, bytes_of_seeds, self.game.description.reset.settle_frames)
            return self._state(batch, seen, self.game.readings.values(ram), shape)

    def step(self, consoles: Any, values: Any, actions: Any) -> tuple[ConsoleState, np.ndarray, np.ndarray]:
        """States after a step, rewards, and whose episodes are over."""
        shape, readings = np.shape(actions), self.game.readings
        consoles, before = (np.asarray(part).reshape(-1, np.shape(part)[-1]) for part in (consoles, values))
        with self._lock:
            batch = self._batch(len(consoles))
            batch.set_states(np.ascontiguousarray(consoles))
            # As in XLA, an action outside the space is its nearest one.
            chosen = np.clip(np.asarray(actions).reshape(-1), 0, len(self.game.buttons) - 1)
            seen, ram = batch.step(self.game.buttons[chosen])
            after = readings.values(ram)
            state = self._state(batch, seen, after, shape)
        return state, readings.rewards(before, after).reshape(shape), readings.terminated(after).reshape(shape)

    def picture(self, console: np.ndarray) -> np.ndarray:
        """The screen of one console."""
        with self._lock:
            batch = self._batch(1)
            batch.set_states(np.ascontiguousarray(console[None]))
            return batch.screen(0)

    def _state(self, batch: Any, seen: np.ndarray, values: np.ndarray, shape: tuple[int, ...]) -> ConsoleState:
        obs = self.game.readings.observed(values) if self.game.description.observation == "ram" else seen.copy()
        parts: Any = (batch.states(), obs, values.astype(np.int32))
        return ConsoleState(*(part.reshape(shape + part.shape[1:]) for part in parts))

    def _batch(self, size: int) -> Any:
        if size not in self._batches:
            self._batches[size] = make_batch(self.game, size, self.env.compat, self.env.sound, None)
        return self._batches[size]
