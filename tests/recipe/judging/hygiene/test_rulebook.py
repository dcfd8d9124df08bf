"""Whatever hygiene refuses is told beforehand: the prompts show every rule that is checked, and no other."""

import dataclasses
import re
from pathlib import Path

import pytest

pytest.importorskip("jinja2", reason="prompts need the extra 'report'")

from recipe.scripted_run import small_project

from overclock.recipe.judging import hygiene, rust
from overclock.recipe.judging.hygiene import Limits, check_source
from overclock.recipe.judging.hygiene.allowed_names import BUILTINS as ALLOWED
from overclock.recipe.judging.hygiene.names import BUILTINS
from overclock.recipe.judging.hygiene.rulebook import rulebook
from overclock.recipe.judging.rust.rulebook import rust_rulebook
from overclock.recipe.judging.verdict import failure
from overclock.recipe.loop.briefing import Briefing

# Where a rule's name stands: the third argument of a finding, the second of the visitors' `add`, first of a pair.
NAMED = re.compile(
    r'Finding\([^"]*?, "([a-z-]+)"|Finding\("", 0, "([a-z-]+)"|(?:add|finding)\(\w+, "([a-z-]+)"'
    r'|(?:return|yield) \(?"([a-z-]+)", |else \("([a-z-]+)", '
)


def checked_rules(package, *files):
    texts = [(package / f"{file}.py").read_text() for file in files]
    return {name for text in texts for found in NAMED.findall(text) for name in found if name}


def folder_of(package):
    return Path(package.__file__).parent


def test_every_rule_about_the_source_is_told_and_no_other():
    files = ("grammar", "names", "vocabulary", "state", "shape", "static", "reading")
    assert checked_rules(folder_of(hygiene), *files) | {"randomness"} == set(rulebook(Limits()))


def test_every_rule_about_rust_is_told_and_no_other():
    found = checked_rules(folder_of(rust), "text_rules", "hygiene") | checked_rules(folder_of(hygiene), "reading")
    assert found | {"main"} == set(rust_rulebook(Limits()))


@pytest.mark.parametrize(
    ("line", "rule", "told"),
    [
        ("try:\n    pass\nfinally:\n    pass", "try", "No `try`"),
        ("x = getattr(1, 'real')", "builtin", "`getattr`"),
        ("def f(self):\n    self.x = 1", "attribute-write", "No attribute is assigned to"),
        ("from overclock.env import Environment\nclass A(Environment):\n    def step(self): ...", "derived", "`step`"),
        ("import os", "import", "Import nothing but"),
        ("x = print", "builtin", "`isinstance`"),
        ("def f(x):\n    return x.batch_dim", "attribute", "`batch_dim`"),
        ("def f(x):\n    return f'{x}'", "text", "f-strings"),
        ("A = type('A', (), {})", "class-creation", "`class`"),
        ("def f():\n    yield 1", "syntax", "`yield`"),
    ],
)
def test_a_refusal_names_a_rule_of_the_book(tmp_path, line, rule, told):
    (tmp_path / "env.py").write_text(f"{line}\ndef make(): ...\n")
    assert {finding.rule for finding in check_source(tmp_path)} == {rule}
    assert told in rulebook(Limits())[rule]


@pytest.mark.parametrize("target", ["jax", "rust"])
def test_every_prompt_of_a_run_shows_the_book(tmp_path, target):
    project = dataclasses.replace(small_project(tmp_path / "pond", constant_kib=7), target=target)
    briefing, (module,) = Briefing(project, project.scenarios), project.modules
    prompts = [
        briefing.translate("t", module), briefing.repair("t", failure(1, ["off by one"]), 1, (1, 2), ()),
        briefing.optimise("t", {}, []),
    ]  # fmt: skip
    book = rulebook(project.hygiene) if target == "jax" else rust_rulebook(project.hygiene)
    assert "7 KiB" in book["constants"]
    for prompt in prompts:
        assert all(f"- {rule}: {sentence}\n" in prompt for rule, sentence in book.items())
    if target == "jax":
        assert all(f"`{name}`" in prompts[0] for name in (*BUILTINS, *ALLOWED))
