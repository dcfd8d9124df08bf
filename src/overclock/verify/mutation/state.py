"""What a result of `mutate` depends on, as hashes by name: when one of them changes, the result is out of date.

A result speaks of the tests as much as of the mutated sources: the twin with its modules and scenarios, the verifier
and the layers it runs environments with, and the installed packages.
"""

import hashlib
import json
from collections.abc import Collection, Iterable, Mapping
from pathlib import Path
from typing import Any

from overclock.env.registry import Spec
from overclock.verify.mutation import equivalent_mutants
from overclock.verify.sides.patched import source_of
from overclock.versions import versions

READ = (".py", ".json", ".toml")
PACKAGES = ("overclock.env", "overclock.vector", "overclock.verify")
VERSIONS = "versions"


def state_of(spec: Spec, sources: Collection[str]) -> dict[str, str]:
    """By name: every file beside the twin but the mutated `sources` themselves, our packages, the versions.

    Files beside sources that are shared with other environments are kept as one hash per package.
    """
    folder = equivalent_mutants.twin_folder(spec)
    mutated = {Path(source_of(module)[1]) for module in sources}
    beside = [path for path in _files(folder) if path not in mutated]
    return {
        **{path.relative_to(folder.parent).as_posix(): _digest([path], folder) for path in beside},
        **{package: _digest(_files(home), home) for package in PACKAGES for home in [_home(package)]},
        **{
            package: _digest([path for path in _files(home) if path not in mutated], home)
            for package in {module.rpartition(".")[0] for module in sources} - {""}
            for home in [_home(package)]
            if folder != home and folder not in home.parents
        },
        VERSIONS: hashlib.sha256(json.dumps(versions(), sort_keys=True).encode()).hexdigest(),
    }


def changed(before: Mapping[str, str], now: Mapping[str, str]) -> list[str]:
    """The names whose content has changed, that are new, or that are gone."""
    return [name for name in sorted(before.keys() | now.keys()) if before.get(name) != now.get(name)]


def fingerprint(state: Mapping[str, str], sources: Mapping[str, str], settings: Mapping[str, Any]) -> str:
    """One hash of all that decides an outcome; the list of equivalent mutants does not."""
    decisive = {name: known for name, known in state.items() if Path(name).name != equivalent_mutants.FILE}
    content = [decisive, dict(sources), dict(settings)]
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()


def source_digest(module: str) -> str:
    """A hash of a module's source text."""
    return hashlib.sha256(source_of(module)[0].encode()).hexdigest()


def _home(package: str) -> Path:
    return Path(source_of(package)[1]).parent


def _files(folder: Path) -> list[Path]:
    return sorted(path for path in folder.rglob("*") if path.suffix in READ)


def _digest(files: Iterable[Path], folder: Path) -> str:
    digest = hashlib.sha256()
    for file in files:
        digest.update(f"{file.relative_to(folder).as_posix()}\n".encode() + file.read_bytes())
    return digest.hexdigest()
