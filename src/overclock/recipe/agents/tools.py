"""The tools of a model that is called by its API: four file tools that cannot leave the work folder, and a check.

A path is relative (or starts with the folder itself), has no `..`, passes through no symbolic link and does not touch
`.git` (its hooks and settings make programs run). Whatever goes wrong is told to the model in a sentence, so that it
can try again.
"""

import os
import stat
from collections.abc import Callable, Iterator
from pathlib import Path, PurePosixPath
from typing import Any, NamedTuple

from overclock.recipe.gateway.dialects.fields import Json

READ_LIMIT = 200_000  # characters of one answer; longer files are read in parts
WRITE_LIMIT = 2_000_000  # characters of one file
LISTED = 1000  # files


class ToolDescription(NamedTuple):
    """A tool as it is offered to a model: what it does, and the JSON schema of its arguments."""

    text: str
    schema: Json


class ToolError(Exception):
    """The tool was used wrongly; the sentence goes back to the model."""


class WorkFolder:
    """The files of one folder, and nothing else."""

    def __init__(self, folder: Path) -> None:
        self.root = folder.resolve()

    def place(self, path: str) -> Path:
        """The absolute path for a path of the model; ToolError if it leaves the folder or passes a link."""
        inside = path.removeprefix(f"{self.root}/")  # models like to write the whole path
        parts = PurePosixPath(inside).parts
        if not parts or "\0" in path or inside.startswith("/") or ".." in parts or "\\" in path:
            raise ToolError(f"'{path}' is not a path inside the work folder; write it like 'folder/file.py'.")
        if any(part.lower() == ".git" for part in parts):
            raise ToolError(f"'{path}' belongs to git and cannot be touched.")
        place = self.root
        try:
            for part in parts:
                place = place / part
                if stat.S_ISLNK(os.lstat(place).st_mode):
                    raise ToolError(f"'{path}' passes through a symbolic link, which is not allowed.")
        except FileNotFoundError:  # nothing below it exists either
            return self.root.joinpath(*parts)
        except (OSError, ValueError):
            raise ToolError(f"'{path}' is not a path inside the work folder; write it like 'folder/file.py'.") from None
        return place

    def read(self, path: str) -> str:
        """The text of a file; ToolError if there is none that can be read."""
        place = self.place(path)
        try:
            # Not following and not blocking: the file might have become a link or a pipe since it was looked at.
            with os.fdopen(os.open(place, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK), "rb") as file:
                if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
                    raise ToolError(f"'{path}' is not a file.")
                return file.read().decode("utf-8")
        except FileNotFoundError:
            raise ToolError(f"There is no file '{path}'; list_files shows what there is.") from None
        except UnicodeDecodeError:
            raise ToolError(f"'{path}' is not text.") from None
        except OSError as error:
            raise ToolError(f"'{path}' cannot be read: {error.strerror}.") from None

    def write(self, path: str, content: str) -> None:
        """Create or replace a file; folders are made as needed."""
        if len(content) > WRITE_LIMIT:
            raise ToolError(f"A file may have {WRITE_LIMIT} characters, '{path}' would have {len(content)}.")
        place = self.place(path)
        try:
            encoded = content.encode("utf-8")
            place.parent.mkdir(parents=True, exist_ok=True)
            if place.exists() and not place.is_file():
                raise ToolError(f"'{path}' is not a file.")
            flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW
            with os.fdopen(os.open(place, flags, 0o644), "wb") as file:
                file.write(encoded)
        except UnicodeEncodeError:
            raise ToolError(f"The content for '{path}' is not text.") from None
        except OSError as error:
            raise ToolError(f"'{path}' cannot be written: {error.strerror}.") from None

    def remove(self, path: str) -> None:
        """Delete a file if it exists; ToolError if that fails."""
        try:
            self.place(path).unlink(missing_ok=True)
        except OSError as error:
            raise ToolError(f"'{path}' cannot be removed: {error.strerror}.") from None

    def files(self) -> Iterator[str]:
        """The paths of all regular files, sorted; `.git` and symbolic links are left out."""
        for folder, folders, names in os.walk(self.root):
            folders[:] = sorted(name for name in folders if name != ".git")
            for name in sorted(names):
                place = Path(folder, name)
                if name != ".git" and stat.S_ISREG(place.lstat().st_mode):
                    yield place.relative_to(self.root).as_posix()


def _schema(**properties: str) -> Json:
    described = {name: {"type": "string", "description": text} for name, text in properties.items()}
    return {"type": "object", "properties": described, "required": list(properties), "additionalProperties": False}


PATH = "relative to the work folder"
DESCRIPTIONS: dict[str, ToolDescription] = {
    "list_files": ToolDescription("List the files of the work folder.", _schema()),
    "read_file": ToolDescription("Read a text file.", _schema(path=PATH)),
    "write_file": ToolDescription("Create or replace a text file.", _schema(path=PATH, content="the whole content")),
    "replace_text": ToolDescription(
        "Replace a text that occurs exactly once in a file.",
        _schema(path=PATH, old="the text as it is now, with enough around it to be unique", new="the text instead"),
    ),
    "check": ToolDescription("Run the checks on the files as they are now and get the first failure.", _schema()),
}


class Tools:
    """The tools of one task; `check` is offered where the caller gave one."""

    def __init__(self, folder: Path, check: Callable[[], str] | None = None) -> None:
        self.folder, self.check = WorkFolder(folder), check

    def descriptions(self) -> dict[str, ToolDescription]:
        return {name: entry for name, entry in DESCRIPTIONS.items() if name != "check" or self.check is not None}

    def call(self, name: str, arguments: Any) -> tuple[str, bool]:
        """What the tool answers, and whether that is an error."""
        try:
            return self._call(name, arguments), False
        except ToolError as error:
            return str(error), True

    def _call(self, name: str, arguments: Any) -> str:
        offered = self.descriptions()
        if name not in offered:
            raise ToolError(f"There is no tool '{name}'; there are {', '.join(offered)}.")
        wanted = offered[name].schema["required"]
        if not isinstance(arguments, dict) or not all(isinstance(arguments.get(key), str) for key in wanted):
            raise ToolError(f"{name} takes a JSON object with the texts: {', '.join(wanted) or 'none'}.")
        given = {key: arguments[key] for key in wanted}
        if name == "check":
            assert self.check is not None
            return self.check()
        return getattr(self, f"_{name}")(**given)

    def _list_files(self) -> str:
        names = list(self.folder.files())
        more = f"\n... and {len(names) - LISTED} more" if len(names) > LISTED else ""
        return "\n".join(names[:LISTED]) + more if names else "The folder is empty."

    def _read_file(self, path: str) -> str:
        text = self.folder.read(path)
        cut = f"\n... cut after {READ_LIMIT} of {len(text)} characters" if len(text) > READ_LIMIT else ""
        return text[:READ_LIMIT] + cut

    def _write_file(self, path: str, content: str) -> str:
        self.folder.write(path, content)
        return f"Wrote {path} ({len(content.splitlines())} lines)."

    def _replace_text(self, path: str, old: str, new: str) -> str:
        text = self.folder.read(path)
        times = text.count(old) if old else 0
        if times != 1:
            raise ToolError(f"The old text occurs {times} times in '{path}'; it has to occur exactly once.")
        self.folder.write(path, text.replace(old, new))
        return f"Replaced it in {path}."
