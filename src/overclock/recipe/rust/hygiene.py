"""A Rust candidate's source, read without compiling it: `check_rust_source(folder, contract)` is what is wrong with it.

The first fence. Like the one for JAX it refuses more than is harmful: of the standard library only what computes, of
macros and attributes only known ones. The compiler forbids `unsafe` once more, and the sandbox does the rest.
"""

from pathlib import Path

from overclock.errors import UsageError
from overclock.recipe.contract_file import ContractFile
from overclock.recipe.hygiene.finding import Finding, Limits
from overclock.recipe.hygiene.listing import entries, named
from overclock.recipe.rust.build import MAIN
from overclock.recipe.rust.contract_source import FILE, contract_source
from overclock.recipe.rust.text_rules import check_tokens, literal_bytes
from overclock.recipe.rust.tokens import NotRustError, Token, tokens

README = "README.md"
DEFAULT = Limits()
MISSING_MAIN = "main"  # the rule about the file that comes last
DECLARED = ("pub", "mod", "contract", ";")


def check_rust_source(folder: Path, contract: ContractFile, limits: Limits = DEFAULT) -> list[Finding]:
    """Everything that is wrong with the files of a folder, in order of files and lines."""
    if not folder.is_dir():
        raise UsageError(f"'{folder}' is not a folder, so there is no candidate to look at.")
    texts, findings = _read(folder, limits)
    if texts.pop(FILE, contract_source(contract)) != contract_source(contract):
        sentence = "This file is made from the contract and was changed; put it back as it was, or remove it."
        findings.append(Finding(FILE, 0, "contract", sentence))
    sources: dict[str, list[Token]] = {}
    for file, text in texts.items():
        try:
            sources[file] = tokens(text)
        except NotRustError as error:
            findings.append(Finding(file, int(str(error)), "syntax", "A text or comment that begins here has no end."))
    for file, found in sources.items():
        findings += check_tokens(file, found)
    return sorted({*findings, *_check_main(sources, texts), *_check_literals(sources, limits)})


def _read(folder: Path, limits: Limits) -> tuple[dict[str, str], list[Finding]]:
    """The text of every Rust file that may be looked at, and what is wrong with the files as such."""
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
        elif file.startswith("src/") and path.suffix == ".rs":
            try:
                texts[file] = path.read_text(encoding="utf-8")
            except UnicodeDecodeError:
                findings.append(Finding(file, 0, "syntax", "The file is not UTF-8 text."))
        elif file != README:
            sentence = (
                f"Only Rust files in src/ and {README} belong into a candidate (no Cargo.toml, no build script, no "
                "other crates); remove this one."
            )
            findings.append(Finding(file, 0, "file-type", sentence))
    if total > limits.total_bytes:
        findings.append(Finding("", 0, "size", f"All files have {total} bytes, {limits.total_bytes} are allowed."))
    if count > limits.files:
        findings.append(Finding("", 0, "size", f"There are {count} files, {limits.files} are allowed."))
    return texts, findings


def _check_main(sources: dict[str, list[Token]], texts: dict[str, str]) -> list[Finding]:
    if MAIN not in texts:
        return [Finding("", 0, MISSING_MAIN, f"There is no {MAIN}; it must define `pub struct Env` with its rules.")]
    names = [token.text for token in sources.get(MAIN, [])]
    if MAIN in sources and not any(tuple(names[i : i + 4]) == DECLARED for i in range(len(names))):
        return [Finding(MAIN, 0, MISSING_MAIN, f"{MAIN} must have the line `pub mod contract;`.")]
    return []


def _check_literals(sources: dict[str, list[Token]], limits: Limits) -> list[Finding]:
    """All literals together stay within the budget; the file with most of them is named."""
    sizes = {file: literal_bytes(found) for file, found in sources.items()}
    total = sum(sizes.values())
    if total <= limits.constant_bytes:
        return []
    largest = max(sizes, key=lambda file: sizes[file])
    sentence = (
        f"The candidate's literals are {total} bytes, {limits.constant_bytes} are allowed (most are here, "
        f"{sizes[largest]}); rules are computed, not looked up."
    )
    return [Finding(largest, 0, "constants", sentence)]
