"""Static checks of a Rust candidate's source: `check_rust_source(folder, contract)` is a list of what is wrong.

Like the checks for JAX they refuse more than is harmful: of the standard library only what computes is allowed, of
macros and attributes only known ones. The compiler forbids `unsafe` once more, and the sandbox isolates what passes.
"""

from pathlib import Path

from overclock.recipe.contract.file import ContractFile
from overclock.recipe.judging.hygiene.finding import Finding, Limits
from overclock.recipe.judging.hygiene.reading import README, read_texts, too_many_literals
from overclock.recipe.judging.rust.build import MAIN
from overclock.recipe.judging.rust.contract_source import FILE, contract_source
from overclock.recipe.judging.rust.text_rules import check_tokens, literal_bytes
from overclock.recipe.judging.rust.tokens import NotRustError, Token, tokens

DEFAULT = Limits()
MISSING_MAIN = "main"  # the rule about the file that comes last
BELONGS = f"Rust files in src/ and {README} (no Cargo.toml, no build script, no other crates)"
DECLARED = ("pub", "mod", "contract", ";")


def check_rust_source(folder: Path, contract: ContractFile, limits: Limits = DEFAULT) -> list[Finding]:
    """All findings in the files of a folder, sorted by file and line."""
    texts, findings = read_texts(folder, limits, lambda file: file.startswith("src/") and file.endswith(".rs"), BELONGS)
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
    findings += too_many_literals({file: literal_bytes(found) for file, found in sources.items()}, limits)
    return sorted({*findings, *_check_main(sources, texts)})


def _check_main(sources: dict[str, list[Token]], texts: dict[str, str]) -> list[Finding]:
    if MAIN not in texts:
        return [Finding("", 0, MISSING_MAIN, f"There is no {MAIN}; it must define `pub struct Env` with its rules.")]
    names = [token.text for token in sources.get(MAIN, [])]
    if MAIN in sources and not any(tuple(names[i : i + 4]) == DECLARED for i in range(len(names))):
        return [Finding(MAIN, 0, MISSING_MAIN, f"{MAIN} must have the line `pub mod contract;`.")]
    return []
