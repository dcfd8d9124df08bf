"""PufferLib's Pong compiled: a batch of its environments with given serves (`Lanes`), and its own speed (`play`)."""

import ast
import ctypes
import functools
import hashlib
import importlib.resources
import os
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from overclock.c_compiler import CompileError, compile_with, working_c_compiler
from overclock.envs.pong.obtain import cache_folder, source_folder
from overclock.errors import MissingError
from overclock.files import kept

SCENE = ("paddle_yl", "paddle_yr", "ball_x", "ball_y", "ball_vx", "ball_vy")
COUNTS = ("score_l", "score_r", "tick", "n_bounces")
SEEN = ("seen_yl", "seen_yr", "seen_x", "seen_y", "seen_vx", "seen_vy")
STATE = (*SCENE, *COUNTS, *SEEN)

# `Shown` of harness.c.
SHOWN = np.dtype([
    *((name, np.float32) for name in SCENE),
    *((name, np.int32) for name in COUNTS),
    *((name, np.float32) for name in SEEN),
    ("obs", np.float32, 8),
    ("reward", np.float32),
    ("paddle_dir", np.float32),
    ("terminal", np.int32),
])  # fmt: skip

# In the order of constants.h.
CONSTANTS = (
    "width", "height", "paddle_width", "paddle_height", "ball_width", "ball_height", "paddle_speed",
    "ball_initial_speed_x", "ball_initial_speed_y", "ball_max_speed_y", "ball_speed_y_increment", "max_score",
)  # fmt: skip

# Where the processor multiplies and adds in one operation, compilers use it in C that does not ask for it.
EXACT = ("-O2", "-ffp-contract=off")
LINK_TIME = "-flto"
AS_PUFFERLIB = ("-O2", LINK_TIME)

Pointer = ctypes.c_void_p


def prepare() -> None:
    """Fetch and compile the reference, once; raises MissingError with the remedy where that is not possible."""
    compiled("harness", EXACT)


def constants() -> Mapping[str, float]:
    """The defaults of pong.py's class, by name."""
    arguments = _constructor().args
    named = zip(reversed(arguments.args), reversed(arguments.defaults), strict=False)
    values = {argument.arg: ast.literal_eval(default) for argument, default in named}
    return {name: values[name] for name in CONSTANTS}


def space_sizes(continuous: bool) -> Mapping[str, int]:
    """How long pong.py says an observation is; how many actions there are, or numbers in a continuous one."""
    calls = [node for node in ast.walk(_constructor()) if isinstance(node, ast.Call)]
    shapes = [key.value for call in calls for key in call.keywords if key.arg == "shape"]
    (length,) = ast.literal_eval(shapes[0])
    (discrete,) = (call for call in calls if ast.unparse(call.func).endswith("spaces.Discrete"))
    return {"obs": length, "actions": 1 if continuous else ast.literal_eval(discrete.args[0])}


@functools.cache
def _constructor() -> ast.FunctionDef:
    """The syntax tree of `Pong.__init__` in pong.py; the file is not run."""
    tree = ast.parse((source_folder() / "pong.py").read_text(encoding="utf-8"))
    (pong,) = (node for node in tree.body if isinstance(node, ast.ClassDef) and node.name == "Pong")
    (made,) = (node for node in pong.body if isinstance(node, ast.FunctionDef) and node.name == "__init__")
    return made


class Lanes:
    """`count` environments of the reference in one block of memory."""

    def __init__(self, count: int, frameskip: int = 1, continuous: bool = False) -> None:
        self.count, self.frameskip, self.continuous = count, frameskip, continuous
        self._library = compiled("harness", EXACT)
        self._library.lanes_new.restype = Pointer
        block = self._library.lanes_new(count, constants_array(), frameskip, int(continuous))
        if not block:
            raise MemoryError(f"no room for {count} environments of the reference")
        self._block = Pointer(block)

    def __del__(self) -> None:
        if hasattr(self, "_block"):
            self._library.lanes_free(self._block)

    def reset(self, lane: int, serve: int) -> None:
        """`c_reset` of one environment, with the serve bit it draws."""
        self._library.lane_reset(self._block, lane, serve)

    def serve(self, lane: int, serve: int) -> None:
        """`reset_round` of one environment, with the serve bit it draws."""
        self._library.lane_serve(self._block, lane, serve)

    def observe(self, lane: int) -> None:
        """Compute one environment's observation by the C function `compute_observations`."""
        self._library.lane_observe(self._block, lane)

    def step(self, lane: int, action: float, serve: int) -> None:
        """`c_step` of one environment, with the serve bit it may draw; a finished game is left as it ended."""
        self._library.lane_step(self._block, lane, ctypes.c_float(action), serve)

    def step_all(self, actions: np.ndarray, serves: np.ndarray) -> None:
        """As `step`, of every environment, in one call of C."""
        taken = np.ascontiguousarray(actions, np.float32).reshape(self.count)
        drawn = np.ascontiguousarray(serves, np.int32).reshape(self.count)
        self._library.lanes_step(self._block, self.count, at(taken), at(drawn))

    def set_frameskip(self, frameskip: int) -> None:
        """From now on, so many frames per step."""
        self.frameskip = frameskip
        self._library.lanes_frameskip(self._block, self.count, frameskip)

    def get(self) -> np.ndarray:
        """The state and outputs of every environment, as an array of `SHOWN`."""
        shown = np.empty(self.count, SHOWN)
        self._library.lanes_get(self._block, self.count, at(shown))
        return shown

    def set(self, shown: np.ndarray) -> None:
        """Put every environment into a state, given as an array of `SHOWN` (its outputs do not matter)."""
        given = np.ascontiguousarray(shown, SHOWN).reshape(self.count)
        self._library.lanes_set(self._block, self.count, at(given))


def first_serves(seed: int) -> np.ndarray:
    """The serve bits of PufferLib's `vec_reset(seed)` with one environment and of the point that comes after it."""
    serves = np.empty(2, np.int32)
    compiled("harness", EXACT).first_serves(ctypes.c_uint(seed), at(serves))
    return serves


def constants_array() -> Any:
    """The constants in the order of constants.h."""
    return (ctypes.c_float * len(CONSTANTS))(*(constants()[name] for name in CONSTANTS))


def at(array: np.ndarray) -> Pointer:
    """A pointer to an array for C."""
    return Pointer(array.ctypes.data)


@functools.cache
def compiled(name: str, flags: tuple[str, ...]) -> ctypes.CDLL:
    """One of the C files of this package compiled against the reference; kept beside it until something changes."""
    folder = source_folder()
    compiler = working_c_compiler("Pong's reference is written in C")
    with importlib.resources.as_file(importlib.resources.files("overclock.envs.pong") / "c") as ours:
        texts = b"".join(file.read_bytes() for file in sorted(ours.iterdir()) if file.is_file())
        place = os.path.realpath(str(shutil.which(compiler[0])))
        key = hashlib.sha256(repr((texts, flags, place, compiler[1:])).encode()).hexdigest()[:16]
        rest = ["-shared", "-fPIC", "-fvisibility=hidden", f"-I{ours}", f"-I{folder}", str(ours / f"{name}.c"), "-lm"]

        def make(library: Path) -> None:
            try:
                compile_with([*compiler, *flags, *rest], library)
            except CompileError:
                if LINK_TIME not in flags:
                    raise
                # Not every compiler can optimise while linking; with one file there is nothing for it to find.
                compile_with([*compiler, *(flag for flag in flags if flag != LINK_TIME), *rest], library)

        try:
            return ctypes.CDLL(str(kept(cache_folder(), f"{name}-{key}", ".so", make)))
        except CompileError as error:
            raise MissingError(f"Pong's reference cannot be compiled ({error}); name another compiler in CC.") from None
