"""What works on this machine. Everything that could hang or crash (drivers, compilers) is asked in another process.

Only checks of the group "core" decide whether Overclock works at all.
"""

import ctypes.util
import dataclasses
import importlib.metadata
import json
import os
import platform
import shutil
import subprocess
import sys
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Literal

SCHEMA = "overclock.doctor/1"
Status = Literal["ok", "missing", "broken"]
SYMBOLS: Mapping[Status, str] = {"ok": "✓", "missing": "·", "broken": "✗"}
TOOL_TIMEOUT_S = 20.0
JAX_TIMEOUT_S = 120.0  # the first use of a GPU can take most of a minute

OLDEST_PYTHON = (3, 11)
CORE_PACKAGES = ("jax", "jaxlib", "numpy", "jaxtyping", "tyro", "rich", "pillow", "safetensors", "psutil", "tomlkit")
EXTRAS = {  # extra -> (what it is for, its packages)
    "gymnasium": ("the Gymnasium adapter and references", ("gymnasium",)),
    "report": ("plots, report pages and coverage", ("matplotlib", "scipy", "jinja2", "coverage")),
    "train": ("training", ("flax", "optax")),
    "agents": ("the closed loop with a model (`overclock translate`)", ("httpx", "jinja2")),
    "mcp": ("`overclock mcp`", ("mcp",)),
    "pettingzoo": ("the PettingZoo adapter", ("pettingzoo",)),
    "peers": ("`overclock bench --peers gymnax`", ("gymnax", "six")),
    "envpool": ("`overclock bench --peers envpool`", ("envpool",)),
}
RUST, NODE = "install Rust from https://rustup.rs", "install Node 20 or newer from https://nodejs.org"
TOOLS = {  # name -> (programs, any of which will do; what it is for; how to get it)
    "nvcc": (("nvcc",), "building CUDA sources ahead of time", "install the CUDA toolkit"),
    "rustc": (("rustc",), "building overclock-native from source", RUST),
    "cargo": (("cargo",), "building overclock-native from source", RUST),
    "Node": (("node",), "references written in JavaScript", NODE),
    "npm": (("npm",), "references written in JavaScript", NODE),
    "git": (("git",), "working on Overclock itself", "install git"),
    "make": (("make",), "the project's `make` targets", "install make"),
}
AGENTS = ("claude", "codex", "gemini", "qwen", "opencode")

JAX_PROBE = """
import json, jax, jax.numpy as jnp
devices = [{"platform": d.platform, "kind": d.device_kind} for d in jax.devices()]
assert float(jnp.ones(3).sum()) == 3.0
print(json.dumps({"backend": jax.default_backend(), "devices": devices, "x64": bool(jax.config.jax_enable_x64)}))
"""
NATIVE_PROBE = "import overclock_native as native; print(native.__version__)"
# CLONE_NEWUSER through the C library: not every machine has the `unshare` program, nor Python < 3.12 os.unshare.
SANDBOXES = ("bubblewrap", "landlock")


@dataclasses.dataclass(frozen=True)
class Check:
    """One thing that may work here: what was found, what it is needed for, and how to get it."""

    group: str
    name: str
    status: Status
    found: str
    needed_for: str
    remedy: str

    @property
    def line(self) -> str:
        """What was found, or what is lacking, what for, and how to get it."""
        if self.status == "ok":
            return self.found
        return f"{self.found or 'not found'}; needed for {self.needed_for}: {self.remedy}"


@dataclasses.dataclass
class JaxFacts:
    """What JAX says of itself in another process; None where it does not start."""

    backend: str | None = None
    devices: list[dict[str, str]] = dataclasses.field(default_factory=list)
    x64: bool | None = None


@dataclasses.dataclass(frozen=True)
class DoctorReport:
    """The whole picture; `ok` where all checks of the group "core" are."""

    schema: Literal["overclock.doctor/1"]
    ok: bool
    platform: str
    jax: JaxFacts
    checks: list[Check]


def examine() -> DoctorReport:
    """Ask everything and return the whole picture; never raises."""
    import overclock

    facts = JaxFacts()
    questions: list[tuple[str, str, Callable[[str, str], Check]]] = [
        ("core", "Python", _python),
        ("core", "overclock", partial(_result, "ok", overclock.__version__)),
        *(("core", name, partial(_package, "everything", "pip install overclock")) for name in CORE_PACKAGES),
        ("core", "JAX devices", partial(_jax, facts)),
        ("speed", "compile cache", _compile_cache),
        ("speed", "overclock_native", _native),
        ("speed", "NVRTC", _nvrtc),
        ("tools", "C compiler", _c_compiler),
        *(("tools", name, partial(_tool, *about)) for name, about in TOOLS.items()),
        *(("sandbox", name, _sandbox) for name in SANDBOXES),
        ("agents", "coding agents", _agents),
    ]
    for extra, (purpose, packages) in EXTRAS.items():
        remedy = f"pip install 'overclock[{extra}]'"
        questions += [(f"extra {extra}", name, partial(_package, purpose, remedy)) for name in packages]
    with ThreadPoolExecutor(max_workers=4) as pool:  # most of the time goes into waiting for other programs
        checks = list(pool.map(_answer, questions))
    ok = all(check.status == "ok" for check in checks if check.group == "core")
    return DoctorReport(schema=SCHEMA, ok=ok, platform=platform.platform(), jax=facts, checks=checks)


def _answer(question: tuple[str, str, Callable[[str, str], Check]]) -> Check:
    """One check, whatever happens while asking."""
    group, name, ask = question
    try:
        return ask(group, name)
    except Exception as error:
        found = f"the check itself failed ({type(error).__name__}: {error})"
        return _result("broken", found, group, name, "the complete picture", "report this to the Overclock developers")


def _result(status: Status, found: str, group: str, name: str, needed_for: str = "", remedy: str = "") -> Check:
    return Check(group, name, status, found, needed_for, remedy)


def ask(command: list[str], timeout: float = TOOL_TIMEOUT_S, **environment: str) -> tuple[bool, str]:
    """Whether a command succeeds in time, and its output (or the last line of its complaint)."""
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, errors="replace", timeout=timeout,
            stdin=subprocess.DEVNULL, env=os.environ | environment, check=False,
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        return False, f"no answer within {timeout:g} s"
    except OSError as error:
        return False, error.strerror or str(error)
    if done.returncode == 0:
        return True, done.stdout.strip()
    complaint = done.stderr.strip().splitlines() or [f"exit code {done.returncode}"]
    return False, complaint[-1]


def _python(group: str, name: str) -> Check:
    status = "ok" if sys.version_info[:2] >= OLDEST_PYTHON else "broken"
    return _result(status, platform.python_version(), group, name, "everything", "use Python 3.11 or newer")


def _package(needed_for: str, remedy: str, group: str, name: str) -> Check:
    try:
        return _result("ok", importlib.metadata.version(name), group, name, needed_for, remedy)
    except importlib.metadata.PackageNotFoundError:
        return _result("missing", "", group, name, needed_for, remedy)


def _jax(facts: JaxFacts, group: str, name: str) -> Check:
    """The devices JAX offers, found by computing something on the default one."""
    works, answer = ask([sys.executable, "-c", JAX_PROBE], JAX_TIMEOUT_S)
    if not works:
        on_cpu, _ = ask([sys.executable, "-c", JAX_PROBE], JAX_TIMEOUT_S, JAX_PLATFORMS="cpu")
        remedy = "repair the driver, or set JAX_PLATFORMS=cpu, which works" if on_cpu else "reinstall jax and jaxlib"
        return _result("broken", answer, group, name, "running environments", remedy)
    vars(facts).update(json.loads(answer.splitlines()[-1]))
    kinds = [device["kind"] for device in facts.devices]
    found = ", ".join(f"{kinds.count(kind)} x {kind}" for kind in dict.fromkeys(kinds))
    found += f" (backend {facts.backend}, x64 {'on' if facts.x64 else 'off'})"
    if facts.backend == "cpu" and Path("/dev/nvidia0").exists():
        found += "; the NVIDIA GPU of this machine is not used: pip install 'overclock[cuda]'"
    return _result("ok", found, group, name, "running environments")


def _compile_cache(group: str, name: str) -> Check:
    from overclock.compile_cache import VARIABLE, cache_folder

    folder = cache_folder()
    if folder is None:
        return _result("ok", f"switched off by {VARIABLE}", group, name)
    existing = next(parent for parent in (folder, *folder.parents) if parent.exists())
    if existing.is_dir() and os.access(existing, os.W_OK):
        return _result("ok", str(folder), group, name)
    remedy = f"set {VARIABLE} to a folder that can be written"
    return _result("broken", f"{folder} cannot be written", group, name, "a fast second start", remedy)


def _native(group: str, name: str) -> Check:
    purpose, remedy = "environments written in Rust", "`make native` in a clone, with a Rust toolchain"
    try:
        importlib.metadata.version("overclock-native")
    except importlib.metadata.PackageNotFoundError:
        return _result("missing", "", group, name, purpose, remedy)
    works, answer = ask([sys.executable, "-c", NATIVE_PROBE])
    return _result("ok" if works else "broken", answer, group, name, purpose, remedy)


def _nvrtc(group: str, name: str) -> Check:
    found = ctypes.util.find_library("nvrtc")
    for package in ("nvidia-cuda-nvrtc", "nvidia-cuda-nvrtc-cu13", "nvidia-cuda-nvrtc-cu12"):
        if found is None and _package("", "", "", package).status == "ok":
            found = f"{package} {importlib.metadata.version(package)}"
    purpose, remedy = "CUDA kernels on an NVIDIA GPU", "pip install 'overclock[cuda]'"
    return _result("ok" if found else "missing", found or "", group, name, purpose, remedy)


def _c_compiler(group: str, name: str) -> Check:
    """The compiler that kernels and references are made with, found out by compiling something."""
    from overclock.c_compiler import ABSENT, REMEDY, c_compiler, c_compiler_fault

    purpose, fault, words = "C kernels and references in C", c_compiler_fault(), c_compiler()
    if words is None or fault == ABSENT:
        return _result("missing", "", group, name, purpose, REMEDY)
    if fault:
        return _result("broken", fault, group, name, purpose, REMEDY)
    return _tool((words[0],), purpose, REMEDY, group, name)


def _tool(programs: tuple[str, ...], needed_for: str, remedy: str, group: str, name: str) -> Check:
    path = next(filter(None, map(shutil.which, programs)), None)
    if path is None:
        return _result("missing", "", group, name, needed_for, remedy)
    works, answer = ask([path, "--version"])
    lines = answer.splitlines() or [path]
    # nvcc puts its version on a later line; everything else on the first.
    text = next((line for line in lines if "release" in line), lines[0])
    return _result("ok" if works else "broken", text.strip(), group, name, needed_for, remedy)


def _sandbox(group: str, name: str) -> Check:
    from overclock.recipe.sandbox import probe

    (one,) = [finding for finding in probe() if finding.name == name]
    status = "ok" if one.works else "missing"
    return _result(status, one.found, group, name, "running translated code and agents apart", one.remedy)


def _agents(group: str, name: str) -> Check:
    found = ", ".join(agent for agent in AGENTS if shutil.which(agent))
    remedy = f"install one of {', '.join(AGENTS)}"
    return _result(
        "ok" if found else "missing", found, group, name, "`overclock translate` with a coding agent", remedy
    )
