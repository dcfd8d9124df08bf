"""Does a verdict depend on the processor? Levels 1 to 3 of the twins under the instruction sets that this machine has.

    .venv/bin/python scripts/processors.py                      # every twin and some translated environments
    .venv/bin/python scripts/processors.py halfcheetah --level 1
    .venv/bin/python scripts/processors.py --list

Compilers fuse products and sums where the processor can, and sum in vectors as wide as it has. So a tolerance that was
read off one machine may fail on another one. Here XLA, NumPy (the references) and the C library (sines and exponentials
of Python's references and of MuJoCo) are kept from using what this processor has, which makes it an older one, apart
and together. Environments that the built-in translator makes are translated once, as this machine is, and judged under
each of them: a contract is derived on one processor and used on another. Exit code 1: some verdict was no pass.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

from overclock.env import registry
from overclock.processor import RESTRICTIONS, processor

XLA = {"SSE4_2": "sse4_2", "AVX": "avx", "AVX2": "avx2", "AVX512": "avx512f"}  # its name -> the processor's
NEWEST_FIRST = ("X86_V4", "X86_V3", "AVX512_SKX", "AVX512F", "AVX2", "FMA3", "AVX")  # of NumPy's, by any version of it
PLAIN_C_LIBRARY = "glibc.cpu.hwcaps=-AVX512F,-AVX2,-FMA,-FMA4"
MORE = ("overclock.envs.pong.twin:continuous",)  # beside the registered ones
TRANSLATED = ("Pendulum-v1", "MountainCarContinuous-v0", "Acrobot-v1")
TWIN = '''"""A translated environment for `overclock verify FOLDER`; what restricts the processor reaches both sides."""

import dataclasses
import os
from pathlib import Path

from overclock.processor import RESTRICTIONS
from overclock.recipe.project.project import load_project
from overclock.recipe.project.twin import project_twin


def twin():
    made = project_twin(load_project(Path({project!r})), Path({candidate!r}), sandbox="none")
    kept = {{name: os.environ[name] for name in RESTRICTIONS if name in os.environ}}
    return dataclasses.replace(
        made, performance=made.performance.with_environment(**kept), reference=made.reference.with_environment(**kept)
    )
'''


def settings() -> dict[str, dict[str, str]]:
    """Variables by the name of what they make of this processor; the first is the processor as it is."""
    has = set(processor().instructions)
    found: dict[str, dict[str, str]] = {"as it is": {}}
    widths = [name for name, flag in XLA.items() if flag in has]
    found |= {f"XLA {name}": {"XLA_FLAGS": f"--xla_cpu_max_isa={name}"} for name in widths}
    for off in _numpy_without():
        found[f"NumPy without {off.split()[-1]} and above"] = {"NPY_DISABLE_CPU_FEATURES": off}
    if "fma" in has and sys.platform == "linux":
        found["C library without FMA"] = {"GLIBC_TUNABLES": PLAIN_C_LIBRARY}
        oldest = {"NPY_DISABLE_CPU_FEATURES": _numpy_without()[-1]} if _numpy_without() else {}
        plain = {"GLIBC_TUNABLES": PLAIN_C_LIBRARY, **oldest}
        found["all as old as can be"] = {"XLA_FLAGS": f"--xla_cpu_max_isa={widths[0]}", **plain}
        found[f"XLA {widths[-1]}, the rest as old as can be"] = {
            "XLA_FLAGS": f"--xla_cpu_max_isa={widths[-1]}",
            **plain,
        }
    return found


def _numpy_without() -> list[str]:
    """What NumPy can be kept from, more and more of it: 'AVX512_ICL X86_V4', 'AVX512_ICL X86_V4 X86_V3'."""
    asked = "from numpy._core._multiarray_umath import __cpu_dispatch__ as d, __cpu_features__ as f; "
    asked += "print(*(name for name in d if f.get(name)))"
    used = subprocess.run([sys.executable, "-c", asked], capture_output=True, text=True, check=True).stdout.split()
    found, off = [], [name for name in used if name not in NEWEST_FIRST]
    for name in (one for one in NEWEST_FIRST if one in used):
        off.append(name)
        found.append(" ".join(off))
    return found


def translated(name: str, folder: Path) -> str:
    """Translate an environment here; returns the folder of a twin of it."""
    place = folder / name.lower()
    place.mkdir(parents=True)
    _run(["translate", name, "--sandbox", "none", "--agent-sandbox", "none"], {}, place)
    (project,) = (path.parent for path in place.glob("*/overclock.toml"))
    report = json.loads(_run(["report", str(project), "--json"], {}, place).stdout)
    candidate = place / "candidate"
    for file, text in report["final"]["files"].items():
        path = candidate / file
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    (place / "twin.py").write_text(TWIN.format(project=str(project), candidate=str(candidate)))
    return str(place)


def judged(target: str, variables: Mapping[str, str], words: Sequence[str], folder: Path) -> tuple[str, str]:
    """A verdict, and what is to be known of it: how long it took, or where the sides part."""
    began = time.monotonic()
    done = _run(["verify", target, *words, "--json", "--output", str(folder)], variables, folder.parent, check=False)
    took = f"{time.monotonic() - began:.0f} s"
    try:
        report = json.loads(done.stdout)
    except json.JSONDecodeError:
        return "could not verify", done.stderr.strip()[-300:]
    if report["verdict"] == "could not verify" and "reason" in report:
        return report["verdict"], report["reason"]
    if report["verdict"] == "pass":
        close = [one for one in report["margins"] or [] if one["margin"] is not None and not one["name"].count(" ")]
        least = min(close, key=lambda one: one["margin"], default=None)
        said = (
            "" if least is None else f"; closest: {least['name']} in {least['precision']}, {least['margin']:.2g} times"
        )
        return "pass", took + said
    from overclock.results import decode
    from overclock.verify.result import VerifyReport
    from overclock.verify.text import level_text

    wrong = [level for level in decode(VerifyReport, report).levels if level.verdict not in ("pass", "not run")]
    return report["verdict"], "; ".join(level_text(level) for level in wrong)


def _run(
    words: list[str], variables: Mapping[str, str], folder: Path, check: bool = True
) -> "subprocess.CompletedProcess":
    kept = {name: value for name, value in os.environ.items() if name not in RESTRICTIONS}
    return subprocess.run(
        [sys.executable, "-m", "overclock", *words], env={**kept, **variables}, cwd=folder, capture_output=True,
        text=True, check=check,
    )  # fmt: skip


def say(sentence: object) -> None:
    """Print a line at once."""
    print(sentence, flush=True)  # noqa: T201


def main() -> int:
    """Run what the command line asks for and print a row for each; returns the exit code."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("targets", nargs="*", help="twins as `overclock verify` takes them; by default all")
    parser.add_argument("--level", type=int, default=3, help="levels 1 to this one (3)")
    parser.add_argument("--episodes", type=int, default=10, help="episodes per comparison of level 3 (10)")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--timeout", type=float, default=600.0)
    parser.add_argument("--translated", nargs="*", default=None, metavar="ENV", help="environments to translate first")
    parser.add_argument("--only", nargs="*", metavar="TEXT", help="settings whose name contains one of these texts")
    parser.add_argument("--list", action="store_true", help="only list the settings of this machine")
    chosen = parser.parse_args()
    everything = settings()
    wanted = {
        name: variables
        for name, variables in everything.items()
        if not chosen.only or any(text in name for text in chosen.only)
    }
    say(processor())
    if chosen.list:
        for name, variables in everything.items():
            say(f"{name}: {' '.join(f'{key}={value!r}' for key, value in variables.items()) or 'nothing set'}")
        return 0
    translations = chosen.translated if chosen.translated is not None else () if chosen.targets else TRANSLATED
    targets = chosen.targets or (
        () if chosen.translated else [spec.id for spec in registry.list_envs() if spec.twin is not None] + [*MORE]
    )
    failed = 0
    with tempfile.TemporaryDirectory(prefix="overclock-processors-") as place:
        names = {target: target for target in targets}
        names |= {translated(name, Path(place)): f"{name}, translated" for name in translations}
        words = ["--level", str(chosen.level), "--episodes", str(chosen.episodes), "--seed", str(chosen.seed)]
        words += ["--timeout", str(chosen.timeout)]
        for target, name in names.items():
            for setting, variables in wanted.items():
                verdict, said = judged(target, variables, words, Path(place) / "page")
                failed += verdict != "pass"
                say(f"{name} | {setting} | {verdict} | {said}")
    say(f"{failed} of {len(names) * len(wanted)} did not pass" if failed else f"all {len(names) * len(wanted)} pass")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
