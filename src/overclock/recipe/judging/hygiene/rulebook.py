"""What hygiene refuses, told beforehand: a sentence per rule, made from the tables that the checks themselves use.

The prompts show these sentences, so an agent knows every rule before it breaks one.
"""

from collections.abc import Iterable

from overclock.recipe.judging.hygiene.allowed_names import BUILTINS as ALLOWED
from overclock.recipe.judging.hygiene.allowed_names import TRACERS
from overclock.recipe.judging.hygiene.finding import DERIVED, Limits
from overclock.recipe.judging.hygiene.judge import RULES as PURE_FUNCTIONS
from overclock.recipe.judging.hygiene.names import BUILTINS, DUNDER_METHODS, FORMATTERS
from overclock.recipe.judging.hygiene.reading import README
from overclock.recipe.judging.hygiene.vocabulary import CACHES, CALLBACKS, MODULES


def rulebook(limits: Limits) -> dict[str, str]:
    """What a candidate's source may not do, by the name of the rule."""
    return {
        "import": f"Import nothing but {quoted([*MODULES, *limits.imports])} and your own files, at the top of a file; "
        "of these modules only what computes; no `import *`.",
        "module-value": "A module is no value: write `module.function` where it is used, import it in every file that "
        "uses it, and give its name to nothing else.",
        "builtin": f"Of Python's own names only {quoted(ALLOWED)}; no {quoted(BUILTINS)}, and no method "
        f"{quoted(FORMATTERS)}.",
        "attribute": "Of values only what arrays, lists, dictionaries and `overclock.env` have, and what you define: "
        f"nothing that tells how a number is traced or where it lies ({quoted(TRACERS)}), no `device=` or `out=`.",
        "text": "No text is made of values or put together in a function; f-strings stand only in `raise`, `assert`.",
        "class-creation": "Classes are written with `class`: no `type(...)`, no call of `dataclass`, `NamedTuple` or "
        "`Enum`. A type of jaxtyping stands with its shape, a plain text.",
        "dunder": f"No name with two underscores before and after it but the methods {quoted(DUNDER_METHODS)}, not "
        "even in a text; no attribute with an underscore before it that is not yours; nothing of frames, tracebacks or "
        "the interpreter.",
        "callback": f"No way out of the compiled program: no {quoted(CALLBACKS)}, no `jax.debug`.",
        "file": "No array is written to a file or opened as memory.",
        "try": "No `try`: compiled rules cannot raise.",
        "attribute-write": "No attribute is assigned to or deleted, not even on `self`: use `value.replace(...)`.",
        "hidden-state": f"Nothing is remembered between calls: no `global`, no `nonlocal`, no {quoted(CACHES)}, no "
        "containers, arrays or iterators as default values, no iterators in a module, no change of anything that was "
        "there before the call, parameters included: return a new value.",
        "class-state": "No list, dictionary, set or array as an attribute of a class (use tuples), no metaclass.",
        "derived": f"No {quoted(DERIVED)} in an environment's class: the base class derives them.",
        "randomness": f"{quoted(PURE_FUNCTIONS)} make no random numbers; draw them in `draw_reset` and `draw_step`. "
        "A draw is made of the words that `rng` gives for its own section, constants and the state: its range may "
        "depend on the state, but no key, counter or random bit is changed.",
        "make": "env.py defines `make() -> (environment, parameters)`.",
        "constants": f"All literals together have at most {limits.constant_bytes >> 10} KiB: rules are computed, not "
        "looked up.",
        "file-type": f"Only Python files and {README}, no links.",
        "file-name": "No file is called like a module of Python or like one that may be imported.",
        "size": f"At most {limits.files} files, {limits.file_bytes >> 10} KiB each and {limits.total_bytes >> 10} KiB "
        "together.",
        "syntax": "Plain Python in UTF-8, not nested deeply, without `async`, `await`, `yield` and `del`.",
    }


def quoted(names: Iterable[str]) -> str:
    """Names as a prompt shows them."""
    return ", ".join(f"`{name}`" for name in sorted(names))
