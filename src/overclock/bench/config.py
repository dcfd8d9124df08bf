"""What a benchmark is asked to do. Free of JAX, so that `overclock bench --help` is quick and errors come early."""

import dataclasses
import difflib
import importlib.util
import os
import shlex
from pathlib import Path
from typing import Any, Literal

from overclock.env import registry
from overclock.errors import MissingError, UsageError

LEAST_REPEATS = 5  # fewer show no spread
# Peer -> (package, the extra that installs it).
PEERS = {
    "gymnasium": ("gymnasium", "gymnasium"), "gymnax": ("gymnax", "peers"), "envpool": ("envpool", "envpool"),
    "mujoco": ("mujoco", "physics"), "mjx": ("mujoco.mjx", "physics"), "brax": ("brax", "physics"),
    "warp": ("warp", "warp"), "pyboy-threads": ("pyboy", "gameboy"), "pyboy-processes": ("pyboy", "gameboy"),
}  # fmt: skip
PYBOY_THREADS, PYBOY_PROCESSES = PYBOYS = ("pyboy-threads", "pyboy-processes")  # in throughput and in training
PUFFERLIB = "pufferlib"  # a peer that is no package here: its C is obtained and compiled (envs/pong/obtain.py)
PUREJAXRL = "purejaxrl"  # a peer in training (bench/purejaxrl.py)
# The names of our own rows: under XLA, on kernels of C and of CUDA, Rust stepped from Python and playing by itself;
# and training in bf16.
XLA, C, CUDA, NATIVE, NATIVE_PLAY = "overclock", "overclock-c", "overclock-cuda", "overclock-native", "overclock-rust"
BF16 = "overclock-bf16"
OURS = (XLA, C, CUDA, NATIVE, NATIVE_PLAY, BF16)
# What each measurement does not look at: to ask for it would change nothing.
UNUSED = {
    "throughput": ("sizes",),
    "breakdown": ("peers", "steps", "min_seconds", "unroll", "warmup", "store", "resets", "seed"),
    "training": ("steps", "unroll", "store", "resets", "sizes"),
    "compare-resets": ("peers", "options", "resets", "sizes"),
}
PLOT_FORMATS = (".png", ".svg", ".pdf")


@dataclasses.dataclass
class BenchConfig:
    """One benchmark: which environment, at which batches, how it is timed, beside which peers."""

    env: str = "cartpole"
    """Id of the environment, for example cartpole."""
    batch: tuple[int, ...] = (1, 64, 1024, 16384, 65536)
    """Numbers of environments that step together; each is measured."""
    peers: str = ""
    """Other implementations to measure in the same run, separated by commas: gymnasium, gymnax, envpool, pufferlib,
    mujoco, mjx, warp (MuJoCo's on NVIDIA GPUs), brax, pyboy-threads, pyboy-processes; with --training: purejaxrl, or
    those of PyBoy."""
    options: tuple[str, ...] = ()
    """Static options of the environment, frameskip=8 for example; peers get them, too, where they have them."""
    device: Literal["auto", "cpu", "gpu"] = "auto"
    """Where JAX runs; auto takes the GPU if there is one."""
    steps: int | None = None
    """Steps per timed call; unset: as many as make a call last --min-seconds."""
    min_seconds: float | None = None
    """How long a timed call lasts, at least, when --steps is unset; unset: 0.2 on a CPU, 0.5 on a GPU."""
    unroll: int | None = None
    """Steps per iteration of the compiled loop, for us and for JAX peers; unset: 1 on a CPU; 16 on a GPU (less for
    rules of more than 256 operations), 1 from 524,288 lanes."""
    repeats: int = 7
    """Timed calls per implementation, at least 5; they are interleaved, so that drift hits everybody."""
    warmup: int = 2
    """Untimed calls before them."""
    store: bool = False
    """Write every step's observations, actions, rewards and flags to memory, as a learner needs them."""
    resets: str = "fresh"
    """Where our fresh episodes come from: fresh, optimistic:RATIO or pool:SIZE."""
    seed: int = 0
    """Seed of the first states and of the random actions."""
    sizes: tuple[float, ...] = (2.0, 20.0, 200.0)
    """Millions of parameters of the networks whose training is broken down."""
    plot: Path | None = None
    """Draw steps per second against batch (or the parts of an iteration) into this .png, .svg or .pdf file."""
    output: Path | None = None
    """Write the JSON report into this file."""

    def peer_names(self) -> list[str]:
        """The peers, without spaces, repetitions and empty entries."""
        return list(dict.fromkeys(name for name in (part.strip() for part in self.peers.split(",")) if name))

    def static(self) -> dict[str, Any]:
        """The environment's static options by name, as `--options` gives them."""
        return registry.parse_options(self.options)

    def validate(self) -> None:
        """Refuse, in one sentence, what cannot be measured, before any time is spent."""
        registry.spec(self.env)
        if not self.batch:
            raise UsageError("Name at least one batch size, for example --batch 1024.")
        for name in ("batch", "steps", "unroll", "warmup"):
            given = getattr(self, name)
            for number in given if isinstance(given, tuple) else (given,):
                if number is not None and number < 1:
                    raise UsageError(f"--{name} takes positive whole numbers, got {number}.")
        if self.repeats < LEAST_REPEATS:
            raise UsageError(f"A spread needs at least {LEAST_REPEATS} repeats, got {self.repeats}; raise --repeats.")
        if self.min_seconds is not None and not self.min_seconds > 0:
            raise UsageError(f"--min-seconds must be positive, got {self.min_seconds}.")
        if self.options:
            registry.make(self.env, **self.static())
        if not self.sizes or not all(size > 0 for size in self.sizes):
            raise UsageError(f"--sizes takes millions of parameters, 2 20 200 for example, got {self.sizes}.")
        self._validate_resets()
        self._validate_peers()
        self._validate_files()

    def refuse_unused(self, measurement: str) -> None:
        """Refuse options that do not enter a measurement."""
        usual = {field.name: field.default for field in dataclasses.fields(BenchConfig)}
        for name in UNUSED[measurement]:
            if getattr(self, name) != usual[name]:
                alone = "add --breakdown, or leave it out"
                remedy = alone if measurement == "throughput" else f"leave it out with --{measurement}"
                raise UsageError(f"--{name.replace('_', '-')} changes nothing in this measurement; {remedy}.")

    def _validate_resets(self) -> None:
        name, number = split_resets(self.resets)
        if name != "fresh" and registry.spec(self.env).rules_in_rust:
            raise UsageError("--resets changes nothing where the rules are in Rust; leave it out.")
        if name == "optimistic" and number > min(self.batch):
            raise UsageError(
                f"--resets {self.resets} needs at least {number} lanes, but --batch has {min(self.batch)}; "
                "use a smaller ratio or leave that batch out."
            )

    def _validate_peers(self) -> None:
        for name in self.peer_names():
            if name == PUFFERLIB:
                continue
            if name == PUREJAXRL:
                raise UsageError(f"{PUREJAXRL} is a peer in training; add --training, or leave it out of --peers.")
            if name not in PEERS:
                names = (*PEERS, PUFFERLIB)
                close = difflib.get_close_matches(name, names, n=1)
                hint = f"did you mean '{close[0]}'?" if close else f"there are {', '.join(names)}."
                raise UsageError(f"No peer is called '{name}'; {hint}")
            require(*PEERS[name], f"The peer {name}")

    def _validate_files(self) -> None:
        if self.plot is not None:
            if self.plot.suffix.lower() not in PLOT_FORMATS:
                raise UsageError(f"A plot is one of {', '.join(PLOT_FORMATS)}, got '{self.plot}'.")
            require("matplotlib", "report", "Plotting with matplotlib")
        for path in (self.plot, self.output):
            if path is None:
                continue
            if path.is_dir():
                raise UsageError(f"'{path}' is a folder; name a file in it.")
            # Asked now, since a measurement that cannot be written in the end is lost.
            nearest = next(folder for folder in path.absolute().parents if folder.exists())
            if not (nearest.is_dir() and os.access(nearest, os.W_OK)):
                raise UsageError(f"'{path}' cannot be written, because '{nearest}' does not allow it.")

    def command(self) -> str:
        """The command line that repeats this benchmark; where its results were written is left out."""
        words = ["overclock", "bench", self.env]
        for field in dataclasses.fields(BenchConfig):
            given = getattr(self, field.name)
            if field.name in ("env", "plot", "output") or given == field.default:
                continue
            words.append(f"--{field.name.replace('_', '-')}")
            if given is not True:
                words += [str(entry) for entry in given] if isinstance(given, tuple) else [str(given)]
        return shlex.join(words)


def split_resets(text: str) -> tuple[str, int]:
    """'fresh', 'optimistic:16' or 'pool:1024' as a name and a number (0 where there is none)."""
    name, _, number = text.partition(":")
    if (name, number) == ("fresh", ""):
        return name, 0
    if name in ("optimistic", "pool") and number.isascii() and number.isdigit() and int(number) > 0:
        return name, int(number)
    raise UsageError(f"--resets takes fresh, optimistic:RATIO or pool:SIZE (pool:1024, say), got '{text}'.")


def require(package: str, extra: str, what: str) -> None:
    """Refuse when a package is not there, without importing it."""
    whole = package.partition(".")[0]
    if importlib.util.find_spec(whole) is None or importlib.util.find_spec(package) is None:
        raise MissingError(f"{what} is not installed; install it with `pip install 'overclock[{extra}]'`.")
