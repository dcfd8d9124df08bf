"""A game to be learnt: its ROM, what it means to an agent, and how its episodes begin. Ours, or files of the user's."""

import dataclasses
import functools
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from overclock.env.rng import SITES_PER_SECTION, Rng, Section, mix, scale_word
from overclock.env.spaces import Box, Discrete, Space
from overclock.errors import UsageError
from overclock.gameboy.assembly.symbols import Symbol, read_symbols
from overclock.gameboy.boot import boot_for
from overclock.gameboy.console import BUTTONS
from overclock.gameboy.description import OBSERVATIONS, Description, load_description, parse_description
from overclock.gameboy.games import GAMES, folder, game_program
from overclock.gameboy.given import AnyPath, is_path
from overclock.gameboy.readings import Readings

MODELS = ("auto", "dmg", "cgb")
PICTURES = {"rgb": (144, 160, 3), "gray": (144, 160), "gray_2x2": (72, 80), "packed_2bit": (144, 40)}
COLOR_FLAG = 0x143  # of a ROM's header; bit 7 asks for a Game Boy Color
LARGEST_SEED_BYTES = 3  # a draw has 31 bits
_loaded: dict[tuple[str | None, ...], tuple["Game", dict[str, tuple[str, int, int] | None]]] = {}


@dataclasses.dataclass(frozen=True, eq=False)
class Game:
    """A ROM, its description and how it starts; `observation` may differ from the description's."""

    rom: bytes
    description: Description
    symbols: Mapping[str, Symbol]
    start: bytes | None
    cgb: bool

    @functools.cached_property
    def readings(self) -> Readings:
        return Readings(self.description)

    @property
    def boot(self) -> bytes:
        """The boot code that it starts with."""
        return boot_for(self.cgb)

    @property
    def observation_space(self) -> Space:
        kind = self.description.observation
        if kind == "ram":
            lowest = tuple(self.readings.lowest.tolist())
            return Box(lowest, 1.0, (len(lowest),), np.float32)
        return Box(0, 255, PICTURES[kind], np.uint8)

    @property
    def action_space(self) -> Space:
        """One of the description's sets of buttons."""
        return Discrete(len(self.description.actions.buttons))

    @functools.cached_property
    def buttons(self) -> np.ndarray:
        """uint8 per action: the sum of its buttons' bits."""
        return np.array(
            [sum(1 << BUTTONS.index(name) for name in names) for names in self.description.actions.buttons], np.uint8
        )

    @property
    def seeds(self) -> int:
        """How many different episodes there are: seeds 1 to this number; 0 where nothing is random."""
        size = min(self.description.reset.seed_size, LARGEST_SEED_BYTES)
        return 0 if self.description.reset.seed_address is None else 256**size - 1

    @property
    def seed_addresses(self) -> list[int]:
        """Where a seed is written, the lowest byte first."""
        first, size = self.description.reset.seed_address, self.description.reset.seed_size
        return [] if first is None else list(range(first, first + size))

    def seed_bytes(self, seeds: np.ndarray) -> np.ndarray:
        """uint8[n, size] of n seeds."""
        places = np.arange(self.description.reset.seed_size, dtype=np.uint64) * np.uint64(8)
        return (np.asarray(seeds).astype(np.uint64)[:, None] >> places & np.uint64(0xFF)).astype(np.uint8)

    def draw(self, k0: np.ndarray, k1: np.ndarray, counter: np.ndarray) -> np.ndarray:
        """int32[n]: the seeds of episodes that begin at these events; 0 where nothing is random."""
        if not self.seeds:
            return np.zeros(len(k0), np.int32)
        word = mix(k0, k1, counter, np.uint32(int(Section.RESET) * SITES_PER_SECTION))
        return np.asarray(scale_word(word, self.seeds)) + np.int32(1)

    def drawn(self, rng: Rng) -> Any:
        """The same inside JAX, for one episode."""
        return rng.integers(0, self.seeds) + np.int32(1) if self.seeds else np.int32(0) * rng.integers(0, 1)


def load_game(
    game: str | None = None,
    rom: AnyPath | None = None,
    description: AnyPath | None = None,
    symbols: AnyPath | None = None,
    observation: str | None = None,
    model: str = "auto",
) -> Game:
    """One of ours by name, or `rom` with a `description` (a TOML file); `symbols` is a .sym file for its names.

    The same `Game` every time, as long as its files are the same.
    """
    rom, description, symbols = _path("rom", rom), _path("description", description), _path("symbols", symbols)
    asked = (game, rom, description, symbols, observation, model)
    if model not in MODELS:
        raise UsageError(f"model must be one of {', '.join(MODELS)}, got {model!r}.")
    if observation not in (None, *OBSERVATIONS):
        raise UsageError(f"observation must be one of {', '.join(OBSERVATIONS)}, got {observation!r}.")
    if asked in _loaded:
        found, stamps = _loaded[asked]
        if all(_stamp(file) == stamp for file, stamp in stamps.items()):
            return found
    found, state = _load_game(*asked)
    _loaded[asked] = found, {file: _stamp(file) for file in (rom, description, symbols, state) if file is not None}
    return found


def _path(name: str, file: AnyPath | None) -> str | None:
    """A path as text, which is part of the cache key."""
    if file is not None and not is_path(file):
        raise UsageError(f"{name} must be a path, got {file!r}.")
    return None if file is None else os.fspath(file)


def _stamp(file: str) -> tuple[str, int, int] | None:
    """A stamp that differs if the file has changed or a relative path now names another file."""
    try:
        about = os.stat(file)
    except OSError:
        return None
    return os.path.abspath(file), about.st_mtime_ns, about.st_size


def _load_game(
    game: str | None, rom: str | None, description: str | None, symbols: str | None, observation: str | None, model: str
) -> tuple[Game, str | None]:
    """A game, and the file of the state that it begins with."""
    if rom is None and game not in GAMES:
        raise UsageError(f"Give a ROM with rom='path', or the name of a game of ours: {', '.join(GAMES)}.")
    if rom is not None and description is None:
        raise UsageError("A ROM of your own needs a description of what is rewarded: description='path.toml'.")
    names = {} if symbols is None else read_symbols(symbols)
    if rom is None:
        assert game is not None
        program = game_program(game)
        content, names = program.rom, {**program.symbols, **names}
    else:
        content = _read(rom, "ROM")
    if description is None:
        text = folder().joinpath(f"{game}.toml").read_text(encoding="utf-8")
        found = parse_description(text, names, f"{game}.toml")
    else:
        found = load_description(description, names)
    start = state = None
    if found.reset.state is not None:
        place = Path(found.reset.state)
        state = str(place if place.is_absolute() else Path(description or "").parent / place)
        start = _read(state, "saved state")
    if observation is not None:
        found = _seen_as(found, observation)
    cgb = model == "cgb" or (model == "auto" and len(content) > COLOR_FLAG and content[COLOR_FLAG] >= 0x80)
    return Game(content, found, names, start, cgb), state


def _seen_as(description: Description, observation: str) -> Description:
    """The description with another kind of observation; `ram` shows all values unless some are listed."""
    if observation != "ram":
        observed: tuple[str, ...] = ()
    else:
        observed = description.observed or tuple(description.values)
    return dataclasses.replace(description, observation=observation, observed=observed)


def _read(path: str, what: str) -> bytes:
    try:
        return Path(path).read_bytes()
    except OSError as error:
        raise UsageError(f"The {what} {path} cannot be read: {error.strerror}.") from error
