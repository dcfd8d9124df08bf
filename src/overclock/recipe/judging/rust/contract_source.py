"""Writes contract.rs: a project's contract.toml as Rust, so that a candidate and our interface agree on layouts.

The state has exactly the contract's fields, and every call of the rules gets it from outside: there is no place where
a candidate could remember anything else.
"""

import re
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from overclock.errors import UsageError
from overclock.recipe.contract.file import ContractFile, DrawField, StateField
from overclock.translate.rust.syntax import IMPOSSIBLE, KINDS, field_name, rust_type

HERE = Path(__file__).parent
FILE = "src/contract.rs"
# Methods of NumPy's generator that give whole numbers; all others are taken as float64, which holds either.
WHOLE = frozenset(
    {
        "integers", "permutation", "permuted", "shuffle", "binomial", "geometric", "hypergeometric", "logseries",
        "multinomial", "multivariate_hypergeometric", "negative_binomial", "poisson", "zipf",
    }
)  # fmt: skip
HEAD = """\
//! Made from contract.toml. Leave it as it is: the judge builds with a copy of its own.
#![allow(dead_code, unused_variables)]
#![forbid(unsafe_code)]

pub use rng::{Rng, Section};
"""
SAID = {
    "State": "Everything that is remembered between two steps.",
    "ResetDraw": "The random numbers of one reset.",
    "StepDraw": "The random numbers of one step.",
}


def state_dtype(contract: ContractFile) -> np.dtype:
    """The NumPy dtype of one state as it is passed to the library."""
    return np.dtype([(field.name, np.dtype(field.dtype), field.shape) for field in contract.state])


def draw_dtype(draws: Sequence[DrawField]) -> np.dtype:
    """The NumPy dtype of the draws of one reset or step as they are passed to the library."""
    return np.dtype([(draw.name, np.dtype(_draw_kind(draw)), draw.shape) for draw in draws])


def declarations(contract: ContractFile) -> str:
    """The part of contract.rs that a translator has to know: the structs and the trait."""
    structs = [_struct(name, rows) for name, rows in _rows(contract).items()]
    trait = (HERE / "rules.rs").read_text(encoding="utf-8")
    for mark, draws, name in (
        ("@RESET_DEFAULT@", contract.reset_draws, "ResetDraw"),
        ("@STEP_DEFAULT@", contract.step_draws, "StepDraw"),
    ):
        trait = trait.replace(mark, ";" if draws else f" {{\n        {name} {{}}\n    }}")
    return "\n".join([*structs, trait])


def contract_source(contract: ContractFile) -> str:
    """The text of contract.rs for this contract."""
    packed, rng = ((HERE / name).read_text(encoding="utf-8") for name in ("packed.rs", "rng.rs"))
    calls = [
        f"packed!({name} {{ {', '.join(f'{field}: {kind}' for field, kind, _ in rows)} }});"
        for name, rows in _rows(contract).items()
    ]
    return "\n".join([HEAD, declarations(contract), packed, *calls, "", "pub mod rng {", rng + "}\n"])


def _rows(contract: ContractFile) -> dict[str, list[tuple[str, str, str]]]:
    """(name, type, remark) of the fields of every struct."""
    return {
        "State": [
            (_name(field), rust_type(_kind(field.name, field.dtype), field.shape), f"the reference's `{field.read}`")
            for field in contract.state
        ],
        **{
            name: [
                (_name(d), rust_type(_draw_kind(d), d.shape), f"as `{d.method}({d.arguments})` draws it") for d in draws
            ]
            for name, draws in (("ResetDraw", contract.reset_draws), ("StepDraw", contract.step_draws))
        },
    }


def _struct(name: str, rows: Sequence[tuple[str, str, str]]) -> str:
    fields = "".join(f"    pub {field}: {kind}, // {' '.join(remark.split())}\n" for field, kind, remark in rows)
    body = f" {{\n{fields}}}" if rows else " {}"
    return f"/// {SAID[name]}\n#[derive(Clone, Copy, Debug, PartialEq)]\npub struct {name}{body}\n"


def _name(field: StateField | DrawField) -> str:
    if not re.fullmatch(r"[A-Za-z_]\w*", field.name, re.ASCII) or field.name in IMPOSSIBLE:
        raise UsageError(f"'{field.name}' cannot be a name in Rust; rename it in contract.toml.")
    return field_name(field.name)


def _kind(name: str, dtype: str) -> str:
    known = str(np.dtype(dtype))
    if known not in KINDS:
        raise UsageError(f"'{name}' is of the type {dtype}, which Rust does not have; choose JAX, or change it.")
    return known


def _draw_kind(draw: DrawField) -> str:
    """The dtype that a draw's site names; without one, that of its method."""
    if draw.dtype is not None:
        return _kind(draw.name, draw.dtype)
    return "int64" if draw.method in WHOLE else "float64"
