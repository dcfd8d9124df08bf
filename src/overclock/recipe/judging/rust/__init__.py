"""Rust candidates: what `recipe` has for JAX ones, for a crate that is compiled in its sandbox.

`contract_source` writes contract.toml as Rust, `build` compiles a candidate with our C border around it, `subject` and
`modules` are its workers for the levels, `hygiene` reads its text. Names load on first use.
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

__getattr__, __dir__ = lazy_names(
    __name__,
    {
        **dict.fromkeys(["builder_spec", "compile_candidate"], "overclock.recipe.judging.rust.builder"),
        **dict.fromkeys(["contract_source", "declarations"], "overclock.recipe.judging.rust.contract_source"),
        "check_rust_source": "overclock.recipe.judging.rust.hygiene",
        "rust_spec": "overclock.recipe.judging.rust.subject",
    },
)
