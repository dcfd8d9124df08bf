"""What the text of a Rust candidate may not contain. Every candidate here is CartPole but for its trick."""

import pytest
from recipe.rust.crates import FILES, HONEST, PHYSICS, changed

from overclock.recipe.contract.file import load_contract
from overclock.recipe.judging.hygiene.finding import Limits
from overclock.recipe.judging.rust.contract_source import contract_source
from overclock.recipe.judging.rust.hygiene import check_rust_source
from overclock.recipe.judging.rust.tokens import NotRustError, tokens


def found(folder, contract, **limits):
    findings = check_rust_source(folder, load_contract(contract), Limits(**limits))
    return {(finding.file, finding.rule) for finding in findings}


def test_the_honest_candidate_is_clean_with_or_without_its_copy_of_the_contract(candidate, contract):
    assert check_rust_source(candidate(), load_contract(contract)) == []
    text = contract_source(load_contract(contract))
    assert check_rust_source(candidate(contract=text), load_contract(contract)) == []


def test_a_changed_contract_is_found(candidate, contract):
    text = contract_source(load_contract(contract)).replace("pub state: [f64; 4]", "pub state: [f64; 5]")
    assert found(candidate(contract=text), contract) == {("src/contract.rs", "contract")}


INSIDE = "let (costheta, sintheta) = (theta.cos(), theta.sin());"
CHEATS = {
    "reads a recorded episode": ('let _ = std::fs::read("/tmp/episode");', "import"),
    "by another spelling": ("let _ = std :: /* quiet */ r#fs::metadata(\"/\");", "import"),
    "by a raw name": ("let _ = ::r#std::net::Ipv4Addr::LOCALHOST;", "import"),
    "from a list": ("use std::{cmp::max, io::Read}; let _ = max(1, 2);", "import"),
    "renames the library": ("use std as s; let _ = s::process::id();", "import"),
    "leaves": ("if theta > 0.2 { std::process::exit(0) }", "import"),
    "asks the clock": ("let _ = core::time::Duration::ZERO;", "import"),
    "counts calls": ("use std::sync::atomic::AtomicU64; static N: AtomicU64 = AtomicU64::new(0);", "hidden-state"),
    "keeps a table": ("static mut SEEN: u64 = 0;", "hidden-state"),
    "remembers per thread": ("thread_local! { static N: u64 = 0 }", "macro"),
    "includes a file": ('let _ = include_bytes!("../../contract.toml");', "macro"),
    "hides which macro": ("macro_rules! include { () => {} }", "macro"),
    "reads a variable": ('let _ = option_env!("HOME");', "macro"),
    "prints": ('println!("hello");', "macro"),
    "transmutes": ("let _ = unsafe { std::mem::transmute::<f64, u64>(theta) };", "unsafe"),
    "calls C": ('extern "C" { fn getpid() -> i32; }', "import"),
    "looks at addresses": ("let _ = &theta as *const f64 as usize;", "unsafe"),
    "iterates in random order": ("let _ = std::collections::HashMap::<u8, u8>::new();", "order"),
    "takes a file from elsewhere": ('#[path = "/tmp/other.rs"] mod other;', "attribute"),
    "differs in tests": ("#[cfg(debug_assertions)] let theta = 0.0;", "attribute"),
    "exports a symbol": ("#[no_mangle] pub fn cos() {}", "attribute"),
}  # fmt: skip


@pytest.mark.parametrize("cheat", CHEATS)
def test_a_trick_is_found_where_it_is(cheat, candidate, contract):
    code, rule = CHEATS[cheat]
    folder = candidate(physics=changed(PHYSICS, INSIDE, f"{code}\n    {INSIDE}"))
    findings = check_rust_source(folder, load_contract(contract))
    line = PHYSICS[: PHYSICS.index(INSIDE)].count("\n") + 1
    assert {(one.file, one.line) for one in findings} == {("src/physics.rs", line)}
    assert rule in {one.rule for one in findings}


@pytest.mark.parametrize(
    "code",
    [
        "// unsafe { std::fs::read(x) }",
        "/* extern /* nested */ std::net */",
        'debug_assert!(theta < 9.0, "std::fs, unsafe {} \\" include!()");',
        'debug_assert!(theta < 9.0, r#"a "quoted" std::process"#);',
        "let unsafe_zone = '\"'; let _ = unsafe_zone != '\\'';",
        "if !(theta > 1e300) { return [x, x_dot, theta, theta_dot].map(|v| v + 0.0 * force); }",
        "enum Cell { Empty } let _ = Cell::Empty; let raw = 1..2; let core = raw.len(); let _ = core;",
        "use std::{cmp::{max, min}, collections::BTreeMap}; let _ = (max(1, min(2, 3)), BTreeMap::<u8, u8>::new());",
    ],
)
def test_what_only_looks_like_a_trick_is_not_one(code, candidate, contract):
    folder = candidate(physics=changed(PHYSICS, INSIDE, f"{code}\n    {INSIDE}"))
    assert check_rust_source(folder, load_contract(contract)) == []


def test_recorded_data_is_over_the_budget(candidate, contract):
    table = ", ".join(str(number / 7) for number in range(2000))
    folder = candidate(table=f"pub const EPISODE: [f64; 2000] = [{table}];", lib=f"mod table;\n{HONEST}")
    assert found(folder, contract, constant_bytes=8 << 10) == {("src/table.rs", "constants")}
    assert found(folder, contract, constant_bytes=64 << 10) == set()


@pytest.mark.parametrize("file", ["build.rs", "Cargo.toml", "src/data.bin", ".cargo/config.toml"])
def test_only_sources_belong_into_a_candidate(file, candidate, contract):
    assert found(candidate({**FILES, file: "x = 1\n"}), contract) == {(file, "file-type")}


def test_a_candidate_has_a_main_file_that_declares_the_contract(candidate, contract, tmp_path):
    private = candidate(lib=changed(HONEST, "pub mod contract;", "mod contract;"))
    assert found(private, contract) == {("src/lib.rs", "main")}
    (tmp_path / "empty").mkdir()
    assert found(tmp_path / "empty", contract) == {("", "main")}


def test_tokens_know_texts_comments_and_lifetimes():
    source = "fn f<'a>(x: &'a str) -> u8 { b'\\'' + 1_000e-3 + 0..4 } /* /* */ */ r##\"x\"#\"## 'l: loop {}"
    read = [(token.kind, token.text) for token in tokens(source)]
    assert {("lifetime", "'a"), ("text", "b'\\''"), ("text", 'r##"x"#"##')} <= set(read)
    assert [text for kind, text in read if kind == "number"] == ["1_000e-3", "0", "4"]
    for unfinished in ('"abc', "/* /* */", 'r#"abc"', 'b"'):
        with pytest.raises(NotRustError, match="2"):
            tokens(f"\n{unfinished}")
