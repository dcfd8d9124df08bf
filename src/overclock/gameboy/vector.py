"""A Game Boy game as a `HostVector`: `overclock_native.VecGameBoy` with a description's rewards, ends and seeds.

    GameBoyVector(64, rom="red.gb", description="pokemon_red.toml")

The consoles run in Rust; what their RAM means is read here, with a few NumPy operations per step for the whole batch.
"""

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np

from overclock.env.autoreset import Autoreset
from overclock.env.rng import SITES_PER_SECTION, Rng, Section, mix
from overclock.errors import UsageError
from overclock.gameboy.game import Game, load_game
from overclock.vector.host import HostStep, checked_mask, whole_seeds
from overclock.vector.native import extension, usage_errors

OWN_LIMIT = "own"  # as `max_steps`: what the description says
AUTORESETS = ("same_step", "next_step", "off")
CONSOLE, STEPS, K0, K1, COUNTER, ENDED = (
    "lanes.rules.console", "lanes.steps", "rng.k0", "rng.k1", "rng.counter", "ended"
)  # fmt: skip
STEP_LIMIT = 1 << 31  # steps are counted in int32


class GameBoyVector:
    """`num_envs` consoles with one ROM. Arrays it returns are reused by the next call.

    Without a `rom`, the class's own game is played (`GameBoyMaze`, `GameBoyPaddle`). `batch` is the `VecGameBoy`
    below: hooks, RAM and single states are reached through it. Seeds decide what is written to the RAM address that
    the description names; a game without one begins every episode alike.
    """

    game: ClassVar[str | None] = None
    num_players = 1

    def __init__(
        self,
        num_envs: int,
        autoreset: Autoreset = "same_step",
        seed: int | None = None,
        rom: str | None = None,
        description: str | None = None,
        symbols: str | None = None,
        observation: str | None = None,
        max_steps: int | str | None = OWN_LIMIT,
        model: str = "auto",
        compat: str = "pyboy",
        sound: bool = False,
        threads: int | None = None,
    ) -> None:
        if autoreset not in AUTORESETS:
            raise UsageError(f"autoreset must be 'same_step', 'next_step' or 'off', got {autoreset!r}.")
        self.loaded = load_game(self.game, rom, description, symbols, observation, model)
        self.max_steps = checked_limit(max_steps, self.loaded)
        self.batch = make_batch(self.loaded, num_envs, compat, sound, threads)
        self.num_envs, self.autoreset = int(num_envs), autoreset
        self.observation_space, self.action_space = self.loaded.observation_space, self.loaded.action_space
        entropy = int(np.random.SeedSequence().generate_state(1)[0]) if seed is None else seed
        streams = Rng.of(entropy).lanes(self.num_envs)
        self._k0, self._k1, self._counter = (np.array(part) for part in (streams.k0, streams.k1, streams.counter))
        self._hooks: dict[tuple[int, int], str] = {}
        self._steps = np.zeros(self.num_envs, np.int32)
        self._ended = np.zeros(self.num_envs, np.bool_)
        obs, ram = self.batch.tick(0)
        self._pictures, self._final_pictures = obs.copy(), obs.copy()
        self._ram = ram.copy()
        self._values = np.zeros((self.num_envs, len(self.loaded.readings.names)), np.int64)
        self._begin(np.ones(self.num_envs, np.bool_))
        self._counter += np.uint32(1)

    def reset(
        self, seeds: Sequence[int | None] | None = None, mask: np.ndarray | None = None, draws: np.ndarray | None = None
    ) -> np.ndarray:
        """As `HostVector.reset`; `draws` are the episodes' seeds in RAM, instead of those of the streams."""
        mask = checked_mask(mask, self.num_envs)
        if seeds is not None:
            k0, k1 = seed_keys(whole_seeds(seeds, self.num_envs))
            given = mask & np.array([seed is not None for seed in seeds])
            self._k0[given], self._k1[given], self._counter[given] = k0[given], k1[given], 0
        self._begin(mask, draws)
        self._counter[mask] += np.uint32(1)
        self._ended &= ~mask
        return self._observed(self._pictures, self._values)

    def step(self, actions: Any, draws: np.ndarray | None = None, step_draws: None = None) -> HostStep:
        """As `HostVector.step`; `draws` as in `reset`, for the episodes that begin in it."""
        chosen = self._chosen(actions)
        restarted = self._ended.copy() if self.autoreset == "next_step" else np.zeros(self.num_envs, np.bool_)
        stepped = ~restarted
        with usage_errors():
            self.batch.step(
                self.loaded.buttons[chosen],
                mask=None if stepped.all() else stepped,
                out={"obs": self._pictures, "ram": self._ram},
            )
        readings = self.loaded.readings
        values = readings.values(self._ram)
        reward = readings.rewards(self._values, values)
        self._values = values
        self._steps += 1
        terminated = readings.terminated(values)
        truncated = np.zeros_like(terminated) if self.max_steps is None else self._steps >= self.max_steps
        if restarted.any():
            self._begin(restarted, draws)
            reward[restarted] = 0
            terminated &= stepped
            truncated &= stepped
        over = terminated | truncated
        final = self._observed(self._pictures, self._values)
        info = dict(zip(readings.names, self._values.T.astype(np.int32), strict=True))
        obs = final
        if self.autoreset == "same_step":
            if over.any():
                np.copyto(self._final_pictures, self._pictures)
                final = self._observed(self._final_pictures, self._values)
                self._begin(over, draws)
                obs = self._observed(self._pictures, self._values)
        elif self.autoreset == "next_step":
            self._ended = over
        else:
            self._ended |= over
        self._counter += np.uint32(1)
        return HostStep(obs, reward, terminated, truncated, final, info)

    def action_mask(self) -> np.ndarray | None:
        """As `HostVector.action_mask`: every action is always legal."""
        return None

    def picture(self, lane: int) -> np.ndarray:
        """The screen of one lane as uint8[144, 160, 3]."""
        with usage_errors():
            return self.batch.screen(lane)

    def hook(self, place: str) -> None:
        """Count from now on how often each lane comes to a symbol, or to a bank and address such as '01:4000'."""
        try:
            bank, _, address = str(self.loaded.symbols.get(place, place)).partition(":")
            where = int(bank, 16), int(address, 16)
        except (ValueError, TypeError):
            raise UsageError(
                f"A hook is a symbol (symbols='path.sym' brings them) or a bank and address, '01:4000'; got {place!r}."
            ) from None
        with usage_errors():
            self.batch.hook(*where)
        self._hooks.setdefault(where, place)

    def hook_counts(self) -> dict[str, np.ndarray]:
        """uint64[n] per hook: how often each lane came there, over all its episodes."""
        return dict(zip(self._hooks.values(), self.batch.hook_counts().T, strict=True))

    def get_state(self) -> dict[str, np.ndarray]:
        """As `HostVector.get_state`; `lanes.rules.console` holds everything inside the consoles."""
        return {
            CONSOLE: self.batch.states(), STEPS: self._steps.copy(), K0: self._k0.copy(), K1: self._k1.copy(),
            COUNTER: self._counter.copy(), ENDED: self._ended.copy(),
        }  # fmt: skip

    def set_state(self, state: dict[str, np.ndarray]) -> None:
        own = {STEPS: self._steps, K0: self._k0, K1: self._k1, COUNTER: self._counter, ENDED: self._ended}
        odd = sorted({CONSOLE, *own} ^ set(state))
        if odd:
            raise UsageError(f"The saved state does not fit this environment: it differs in {', '.join(odd)}.")
        for name, array in own.items():
            if state[name].shape != array.shape or state[name].dtype != array.dtype:
                raise UsageError(f"The saved state does not fit: {name} must be {array.dtype} of shape {array.shape}.")
        with usage_errors():
            self.batch.set_states(np.ascontiguousarray(state[CONSOLE]))
        for name, array in own.items():
            array[:] = state[name]
        self._look()

    def clone(self, source: int, target: int) -> None:
        """Make lane `target` what lane `source` is, random stream included."""
        with usage_errors():
            self.batch.clone(source, target)
        for array in (self._steps, self._k0, self._k1, self._counter, self._ended):
            array[target] = array[source]
        self._look()

    def _begin(self, mask: np.ndarray, draws: np.ndarray | None = None) -> None:
        """New episodes in some lanes, without moving on in their streams."""
        reset, addresses = self.loaded.description.reset, self.loaded.seed_addresses
        seeds = self.loaded.draw(self._k0, self._k1, self._counter) if draws is None else self._checked_draws(draws)
        with usage_errors():
            self.batch.reset(
                mask,
                addresses or None,
                self.loaded.seed_bytes(seeds) if addresses else None,
                reset.settle_frames,
                out={"obs": self._pictures, "ram": self._ram},
            )
        self._values = self.loaded.readings.values(self._ram)
        self._steps[mask] = 0

    def _look(self) -> None:
        """Read the outputs of the lanes without running them."""
        self.batch.tick(0, out={"obs": self._pictures, "ram": self._ram})
        self._values = self.loaded.readings.values(self._ram)

    def _observed(self, pictures: np.ndarray, values: np.ndarray) -> np.ndarray:
        return self.loaded.readings.observed(values) if self.loaded.description.observation == "ram" else pictures

    def _chosen(self, actions: Any) -> np.ndarray:
        chosen, count = np.asarray(actions), len(self.loaded.buttons)
        if chosen.shape != (self.num_envs,) or chosen.dtype.kind not in "iu":
            raise UsageError(f"Actions must be {self.num_envs} whole numbers, got {chosen.dtype} {chosen.shape}.")
        if chosen.size and not 0 <= chosen.min() <= chosen.max() < count:
            raise UsageError(f"Actions must be 0 to {count - 1}, got {chosen.min()} to {chosen.max()}.")
        return chosen

    def _checked_draws(self, draws: np.ndarray) -> np.ndarray:
        seeds, most = np.asarray(draws), self.loaded.seeds
        if seeds.shape != (self.num_envs,) or seeds.dtype.kind not in "iu":
            raise UsageError(f"draws must be {self.num_envs} whole numbers, got {seeds.dtype} {seeds.shape}.")
        if most and not 1 <= seeds.min() <= seeds.max() <= most:
            raise UsageError(f"draws must be 1 to {most}, got {seeds.min()} to {seeds.max()}.")
        return seeds


class GameBoyMaze(GameBoyVector):
    """A batch of the maze game that comes with Overclock."""

    game = "maze"


class GameBoyPaddle(GameBoyVector):
    """A batch of the paddle game that comes with Overclock."""

    game = "paddle"


def seed_keys(seeds: Sequence[int]) -> tuple[np.ndarray, np.ndarray]:
    """The keys of `Rng.of(seed)` for many seeds, without a device."""
    k0 = k1 = np.zeros(len(seeds), np.uint32)
    for position in range(2):
        word = np.array([seed >> 32 * position & 0xFFFFFFFF for seed in seeds], np.uint32)
        first, second = (np.uint32(int(Section.SEED) * SITES_PER_SECTION + 2 * position + half) for half in (0, 1))
        k0, k1 = mix(k0, k1, word, first), mix(k0, k1, word, second)
    return k0, k1


def make_batch(game: Game, num_envs: int, compat: str, sound: bool, threads: int | None) -> Any:
    """The consoles of a game, at the place where its episodes begin."""
    description = game.description
    with usage_errors():
        batch = extension().VecGameBoy(
            game.rom, num_envs, description.actions.frames, description.actions.press, description.observation,
            game.readings.addresses, model="cgb" if game.cgb else "dmg", compat=compat, sound=sound, boot=game.boot,
            boot_frames=description.reset.boot_frames, threads=threads,
        )  # fmt: skip
        if game.start is not None:
            batch.set_start(game.start)
    return batch


def checked_limit(max_steps: int | str | None, game: Game) -> int | None:
    """A time limit as it was asked for: a number, none, or the description's own."""
    if max_steps == OWN_LIMIT:
        return game.description.max_steps
    if max_steps is None or (isinstance(max_steps, int | np.integer) and 1 <= max_steps < STEP_LIMIT):
        return None if max_steps is None else int(max_steps)
    raise UsageError(f"max_steps must be a positive whole number, None or '{OWN_LIMIT}', got {max_steps!r}.")
