"""The rules of the static check of a Rust file, applied token by token."""

from collections.abc import Iterator, Sequence

from overclock.recipe.judging.hygiene.finding import Finding
from overclock.recipe.judging.rust.tokens import Token

PURE = "rules compute their results from their inputs alone"
RAW = "Raw pointers are not allowed; use references and indices."
NUMBER_BYTES = 8


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


ROOTS = _words("std core alloc")
# What of the standard library computes, without files, clocks, threads, memory of its own or addresses.
MODULES = _words(
    "array borrow char clone cmp collections convert default f32 f64 fmt i8 i16 i32 i64 i128 isize iter marker mem num "
    "ops option result slice str string u8 u16 u32 u64 u128 usize vec"
)
# None of its own either: a macro called `include` would hide which one is meant.
MACROS = _words(
    "assert assert_eq assert_ne debug_assert debug_assert_eq debug_assert_ne matches panic unimplemented unreachable "
    "vec"
)
ATTRIBUTES = _words(
    "allow cfg cold default deny derive doc expect forbid ignore inline must_use non_exhaustive repr rustfmt "
    "should_panic test warn"
)
DERIVABLE = _words("Clone Copy Debug Default Eq Hash Ord PartialEq PartialOrd")
REMEMBERING = _words("cell rc sync thread")  # what changes behind a shared reference lives there
UNORDERED = _words("HashMap HashSet RandomState")
ADDRESSES = _words("as_ptr as_mut_ptr addr_of addr_of_mut leak into_raw from_raw transmute")
# Words after which `!(` is a negation and no macro.
KEYWORDS = _words("as box break else if in let loop match move mut ref return static where while yield")
KNOWN = MACROS | KEYWORDS


def check_tokens(file: str, found: Sequence[Token]) -> list[Finding]:
    """All findings in the tokens of one file."""
    findings = []
    for index, token in enumerate(found):
        for rule, sentence in _wrong(found, index):
            findings.append(Finding(file, token.line, rule, sentence))
    return findings


def literal_bytes(found: Sequence[Token]) -> int:
    """The size of all literals: texts by their bytes, numbers by 8 or what they need, texts in attributes too."""
    texts = sum(len(token.text.encode()) for token in found if token.kind == "text")
    return texts + sum(max(NUMBER_BYTES, len(token.text) // 2) for token in found if token.kind == "number")


def _wrong(found: Sequence[Token], at: int) -> Iterator[tuple[str, str]]:
    token, before, after = found[at], _text(found, at - 1), _text(found, at + 1)
    name = token.text
    if token.kind == "sign":
        if name == "*" and after in ("const", "mut"):
            yield "unsafe", RAW
        if name == "#" and (after == "[" or (after == "!" and _text(found, at + 2) == "[")):
            yield from _attribute(found, at + (2 if after == "[" else 3))
        return
    if token.kind != "name":
        return
    if name == "unsafe":
        yield "unsafe", "`unsafe` is not allowed; the compiler refuses it, too."
    if name == "raw" and after in ("const", "mut"):
        yield "unsafe", RAW
    if name == "extern":
        yield "import", f"`extern` leads out of the candidate; {PURE}, with std alone."
    if name == "static" and after == "mut":
        yield "hidden-state", f"`static mut` remembers earlier calls; {PURE}."
    if name in UNORDERED:
        yield "order", f"`{name}` has another order in every run; use BTreeMap, BTreeSet or an array."
    if name in ADDRESSES and (before in (".", "::") or after == "!"):
        yield "unsafe", f"`{name}` leads to addresses, which differ from run to run; use references and indices."
    if name in ROOTS and _is_root(name, before, after):
        yield from _library(found, at)
    if name == "macro_rules":
        yield "macro", "A candidate has no macros of its own; write a function."
    elif after == "!" and _text(found, at + 2) in ("(", "[", "{") and name not in KNOWN:
        yield "macro", f"The macro `{name}!` is not among what a candidate may use: {PURE}."


def _is_root(name: str, before: str, after: str) -> bool:
    """Whether a name stands for a library: `std` always, the others where a path goes on or is renamed."""
    return name == "std" or after in ("::", "as") or before in ("use", "::")


def _library(found: Sequence[Token], at: int) -> Iterator[tuple[str, str]]:
    """`std::` must be followed by a module that is known, or by a list of such modules."""
    if _text(found, at + 1) != "::":
        yield "import", f"`{found[at].text}` must be followed by the module that is meant, as in `std::cmp::max`."
        return
    firsts = [at + 2]
    if _text(found, at + 2) == "{":
        firsts = list(_firsts(found, at + 2))
    for first in firsts:
        module = _text(found, first)
        if module in REMEMBERING:
            yield "hidden-state", f"`{found[at].text}::{module}` can remember earlier calls; {PURE}."
        elif module not in MODULES:
            yield "import", f"`{found[at].text}::{module}` is not among what a candidate may use: {PURE}."


def _firsts(found: Sequence[Token], opening: int) -> Iterator[int]:
    """Where the parts of `{a::b, c::{d, e}}` begin, at its outermost level."""
    depth, at, begins = 0, opening, False
    while at < len(found):
        text = found[at].text
        if begins and text != "}":
            yield at
        begins = False
        if text == "{":
            depth += 1
            begins = depth == 1
        elif text == "}":
            depth -= 1
            if depth == 0:
                return
        elif text == "," and depth == 1:
            begins = True
        at += 1


def _attribute(found: Sequence[Token], at: int) -> Iterator[tuple[str, str]]:
    """`at` is the name of an attribute."""
    name = _text(found, at)
    if name not in ATTRIBUTES:
        yield "attribute", f"The attribute `{name}` is not among what a candidate may use."
    inner = _inside(found, at + 1)
    if name == "cfg" and inner != ["test"]:
        yield "attribute", "`cfg` may ask for `test` only: what is judged is what runs elsewhere."
    if name == "derive" and (odd := [one for one in inner if one not in DERIVABLE and one != ","]):
        yield "attribute", f"`derive({odd[0]})` is not among what a candidate may use."


def _inside(found: Sequence[Token], opening: int) -> list[str]:
    """The tokens between a parenthesis and the one that closes it."""
    depth, inner = 0, []
    for token in found[opening:]:
        depth += (token.text == "(") - (token.text == ")")
        if depth == 0:
            break
        inner.append(token.text)
    return inner[1:]


def _text(found: Sequence[Token], at: int) -> str:
    """A token's text; a literal is no name, whatever it says."""
    if not 0 <= at < len(found) or found[at].kind == "text":
        return ""
    return found[at].text
