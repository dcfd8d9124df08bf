"""Finds the installed distribution of a reference, its version, and the licence it states."""

import dataclasses
import importlib.metadata
from collections.abc import Mapping
from pathlib import Path

from overclock.errors import UsageError
from overclock.recipe.project.project import Project

LONGEST_NAME = 80  # some distributions put the whole text where the name of a licence belongs
CLASSIFIER = "License :: "
NOTICES = ("LICENSE", "LICENCE", "COPYING", "NOTICE")  # how files begin that most licences want to be passed on


@dataclasses.dataclass(frozen=True)
class Origin:
    """A reference and its distribution; None where it comes from a folder, or where nothing says so."""

    source: str
    cls: str
    distribution: str | None = None
    version: str | None = None
    licence: str | None = None
    notices: Mapping[str, bytes] = dataclasses.field(default_factory=dict)  # its licence files, by name

    @property
    def module(self) -> str:
        """The module that holds the class."""
        return self.cls.partition(":")[0]

    @property
    def requirement(self) -> str | None:
        """What pip has to install to get this very reference; None where that is not known."""
        return None if self.distribution is None else f"{self.distribution}=={self.version}"


def origin_of(project: Project) -> Origin:
    """The origin of a project's reference; a file is known by its name, not by where it lies here."""
    reference = project.reference
    file, mark, cls = reference.source.partition(":")
    source = f"{Path(file).name}{mark}{cls}" if reference.path else reference.source
    plain = Origin(source, reference.cls)
    top = plain.module.partition(".")[0]
    brought_by = [] if reference.path else importlib.metadata.packages_distributions().get(top, [])
    if not brought_by:
        return plain
    found = importlib.metadata.distribution(brought_by[0])
    return dataclasses.replace(
        plain,
        distribution=found.name,
        version=found.version,
        licence=licence_of(found.metadata),
        notices=_notices(found),
    )


def require_same(origin: Origin, judged_with: Mapping[str, str] | None) -> None:
    """Refuse an original of another version than the one that the result was judged by."""
    before = (judged_with or {}).get(origin.distribution or "")
    if before is not None and before != origin.version:
        raise UsageError(
            f"The result was judged beside {origin.distribution} {before}, and {origin.version} is installed; install "
            f"that version, or bring the translation up to date with `overclock update`."
        )


def licence_of(metadata: importlib.metadata.PackageMetadata) -> str | None:
    """The name of a licence as the distribution states it, in the newer way or in the older ones."""
    stated = [*(metadata.get_all("License-Expression") or []), *(metadata.get_all("License") or [])]
    for text in stated:
        if text.strip() and len(text) <= LONGEST_NAME and "\n" not in text.strip():
            return text.strip()
    classifiers = [one for one in metadata.get_all("Classifier") or [] if one.startswith(CLASSIFIER)]
    return classifiers[0].rpartition(" :: ")[2] if classifiers else None


def _notices(found: importlib.metadata.Distribution) -> dict[str, bytes]:
    """The licence files that lie with a distribution's metadata."""
    named = [path for path in found.files or () if path.name.upper().startswith(NOTICES)]
    places = {path.name: Path(str(path.locate())) for path in named if path.parts[0].endswith(".dist-info")}
    return {name: place.read_bytes() for name, place in places.items() if place.is_file()}
