"""Which fields of a JSON object docs/cli.md does not speak of: what is promised to be documented is looked up there."""

import re
from collections.abc import Iterable
from pathlib import Path

PAGE = Path(__file__).parents[2] / "docs" / "cli.md"


def undocumented(command: str, fields: Iterable[str]) -> list[str]:
    """The fields that no table row of a command's section names, as `field`, `.field`, `outer.field` or `field[]`."""
    sections = re.split(r"^## ", PAGE.read_text(encoding="utf-8"), flags=re.MULTILINE)
    (section,) = (text for text in sections if text.startswith(f"{command}\n"))
    rows = "\n".join(line for line in section.splitlines() if line.startswith("|"))
    named = {name.rpartition(".")[2].removesuffix("[]") for name in re.findall(r"`([^`]+)`", rows)}
    return [field for field in fields if field not in named]
