"""The rules of hygiene for a Rust candidate in words, for prompts (hygiene/rulebook.py has those for JAX)."""

from overclock.recipe.judging.hygiene.finding import Limits
from overclock.recipe.judging.hygiene.reading import README
from overclock.recipe.judging.hygiene.rulebook import quoted
from overclock.recipe.judging.rust.text_rules import (
    ADDRESSES,
    ATTRIBUTES,
    DERIVABLE,
    MACROS,
    MODULES,
    REMEMBERING,
    UNORDERED,
)


def rust_rulebook(limits: Limits) -> dict[str, str]:
    """What a candidate's source may not do, by the name of the rule."""
    return {
        "import": f"Of `std`, `core` and `alloc` nothing but {quoted(MODULES)}, written with the module as in "
        "`std::cmp::max`; no `extern`, no other crates.",
        "hidden-state": f"Nothing is remembered between calls: no `static mut`, nothing of {quoted(REMEMBERING)}.",
        "order": f"No {quoted(UNORDERED)}: their order differs from run to run; use BTreeMap, BTreeSet or arrays.",
        "unsafe": f"No `unsafe`, no raw pointers, no {quoted(ADDRESSES)}.",
        "macro": f"No macros of your own, and of others only {quoted(f'{name}!' for name in MACROS)}.",
        "attribute": f"No attributes but {quoted(ATTRIBUTES)}; `cfg` asks for `test` only, `derive` for nothing but "
        f"{quoted(DERIVABLE)}.",
        "main": "src/lib.rs defines `pub struct Env` and has the line `pub mod contract;`.",
        "contract": "contract.rs stays as it is.",
        "constants": f"All literals together have at most {limits.constant_bytes >> 10} KiB: rules are computed, not "
        "looked up.",
        "file-type": f"Only Rust files in src/ and {README}: no Cargo.toml, no build script, no links.",
        "size": f"At most {limits.files} files, {limits.file_bytes >> 10} KiB each and {limits.total_bytes >> 10} KiB "
        "together.",
        "syntax": "UTF-8, with every text and comment closed.",
    }
