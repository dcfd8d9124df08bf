"""Rust candidates: a crate that is compiled, run and judged in its sandbox.

`contract_source` writes contract.toml as Rust, `build` compiles a candidate with our C interface around it, `subject`
and `modules` are its workers for the levels, `hygiene` checks its text. Names load on first use.
"""

from typing import TYPE_CHECKING

from overclock._lazy import lazy_names

if TYPE_CHECKING:
    from overclock.recipe.judging.rust.builder import builder_spec, compile_candidate
    from overclock.recipe.judging.rust.contract_source import contract_source, declarations
    from overclock.recipe.judging.rust.hygiene import check_rust_source
    from overclock.recipe.judging.rust.subject import rust_spec

__all__ = [
    "builder_spec", "check_rust_source", "compile_candidate", "contract_source", "declarations", "rust_spec",
]  # fmt: skip

MODULES = {
    "builder": ["builder_spec", "compile_candidate"], "contract_source": ["contract_source", "declarations"],
    "hygiene": ["check_rust_source"], "subject": ["rust_spec"],
}  # fmt: skip
__getattr__, __dir__ = lazy_names(__name__, {name: f"{__name__}.{m}" for m, names in MODULES.items() for name in names})
