"""Reads a candidate's files as text, in any language, and checks which files there are and how large they are."""

from collections.abc import Callable, Mapping
from pathlib import Path

from overclock.errors import UsageError
from overclock.recipe.judging.hygiene.finding import Finding, Limits
from overclock.recipe.judging.hygiene.listing import entries, named

README = "README.md"


def read_texts(
    folder: Path, limits: Limits, is_source: Callable[[str], bool], belongs: str
) -> tuple[dict[str, str], list[Finding]]:
    """The text of every source file, and what is wrong with the files as such; `belongs` names what may be there."""
    if not folder.is_dir():
        raise UsageError(f"'{folder}' is not a folder, so there is no candidate to look at.")
    texts: dict[str, str] = {}
    findings: list[Finding] = []
    total = count = 0
    for path in entries(folder):
        file = named(folder, path)
        if path.is_symlink() or not path.is_file():
            findings.append(Finding(file, 0, "file-type", "Links and special files are not allowed; use plain files."))
            continue
        size, count = path.stat().st_size, count + 1
        total += size
        if size > limits.file_bytes:
            sentence = f"The file has {size} bytes, {limits.file_bytes} are allowed; split it or compute its data."
            findings.append(Finding(file, 0, "size", sentence))
        elif is_source(file):
            try:
                texts[file] = path.read_text(encoding="utf-8")
            except UnicodeDecodeError:
                findings.append(Finding(file, 0, "syntax", "The file is not UTF-8 text."))
        elif file != README:
            findings.append(Finding(file, 0, "file-type", f"Only {belongs} belong into a candidate; remove this one."))
    if total > limits.total_bytes:
        findings.append(Finding("", 0, "size", f"All files have {total} bytes, {limits.total_bytes} are allowed."))
    if count > limits.files:
        findings.append(Finding("", 0, "size", f"There are {count} files, {limits.files} are allowed."))
    return texts, findings


def too_many_literals(sizes: Mapping[str, int], limits: Limits) -> list[Finding]:
    """All literals together stay within the budget; the file with most of them is named."""
    total = sum(sizes.values())
    if total <= limits.constant_bytes:
        return []
    largest = max(sizes, key=lambda file: sizes[file])
    sentence = (
        f"The candidate's literals are {total} bytes, {limits.constant_bytes} are allowed (most are here, "
        f"{sizes[largest]}); rules are computed, not looked up."
    )
    return [Finding(largest, 0, "constants", sentence)]
