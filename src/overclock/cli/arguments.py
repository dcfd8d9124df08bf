"""Arguments that several commands share, written once so that they read the same everywhere."""

from pathlib import Path
from typing import Annotated, Literal

import tyro

EnvId = Annotated[str, tyro.conf.Positional, tyro.conf.arg(metavar="ENV")]
File = Annotated[Path, tyro.conf.Positional, tyro.conf.arg(metavar="FILE")]
ProjectFolder = Annotated[Path, tyro.conf.Positional, tyro.conf.arg(metavar="PROJECT")]
Sandbox = Literal["best", "bubblewrap", "landlock", "none"]
