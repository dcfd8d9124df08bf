"""The prompts: complete, verbatim where it matters, recognisable, and with an example that really runs."""

import importlib.util
import re
import sys

import pytest

pytest.importorskip("jinja2", reason="prompts need the extra 'report'")

from overclock.env.check import ContractError, check_environment
from overclock.errors import MissingError, UsageError
from overclock.recipe.loop import prompts
from overclock.recipe.loop.prompts import fenced, fingerprint, names, render

SOURCE = 'def step(x):\n    """{{ not a template }} {% nor this %} ```"""\n    return x <= 2.4\n'
MODULE = {"name": "physics", "summary": "one step", "path": "cartpole.py", "language": "Python", "source": SOURCE}
FACTS = {
    "translate": {"module": MODULE, "output": "physics.py", "interface": ["step(x) -> bool"]},
    "repair": {
        "level": 3,
        "failures": [],
        "divergence": {
            "step": 847, "field": "state.theta", "reference": 0.125, "performance": -0.125, "error": 0.25,
            "tolerance": 1e-15, "state": {"theta": 0.0625, "x": 1.5}, "action": 1, "seed": 99,
        },
    },
    "optimise": {"measured": [{"batch": 32, "sps": 1234567.0}], "hardware": "one small CPU"},
    "specification": {"rules": "A player with no cards loses.", "output": "game.py"},
}  # fmt: skip


def prompt(name, target="jax", **more):
    return render(name, task=f"{name}/1", environment="CartPole", target=target, **{**FACTS[name], **more})


def python_blocks(text):
    return re.findall(r"^```python\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize("target", ["jax", "rust"])
@pytest.mark.parametrize("name", FACTS)
def test_every_prompt_begins_with_its_task_and_is_filled(name, target):
    text = prompt(name, target)
    assert text.splitlines()[0] == f"<!-- overclock task: {name}/1 -->"
    prose = re.sub(r"^(`{3,}).*?^\1$", "code", text, flags=re.MULTILINE | re.DOTALL)
    assert not re.search(r"\{\{|\{%|\{#|\n\n\n", prose)
    assert text == prompt(name, target)


def test_a_translation_prompt_has_the_five_parts_and_the_source_verbatim():
    text = prompt("translate", constraints=["No tables."], earlier=[{"name": "reset", "output": "reset.py"}])
    assert "`cartpole.py` (3 lines of Python)" in text
    parts = [
        "## Source module",
        "## Target constraints",
        "## Interface contract",
        "## Reference behaviour",
        "property tests",
    ]
    places = [text.index(part) for part in parts]
    assert places == sorted(places)
    assert SOURCE in text  # braces and fences of the source change nothing
    assert "- No tables." in text
    assert "`reset` in `reset.py`" in text
    assert "- `step(x) -> bool`" in text


@pytest.mark.parametrize("name", ["translate", "optimise"])
def test_the_checklist_is_that_of_the_target(name):
    jax, rust = prompt(name, "jax"), prompt(name, "rust")
    assert "jnp.where" in jax
    assert "mul_add" not in jax
    assert "mul_add" in rust
    assert "jnp.where" not in rust


def test_a_repair_prompt_has_the_facts_of_the_divergence():
    text = prompt("repair", tried=["a sign"], iteration=2, iterations=50, failures=["obs differs too"])
    for fact in (
        "failed at step 847", "`state.theta` = -0.125 (yours) vs 0.125 (reference)", "error 0.25, tolerance 1e-15",
        "theta = 0.0625", "x = 1.5", "Action taken at step 847: 1", "seed 99", "Attempt 2 of 50", "- a sign",
        "- obs differs too",
    ):  # fmt: skip
        assert fact in text


def test_a_repair_prompt_of_level_1_needs_no_episode():
    facts = {"level": 1, "failures": ["dynamics: case 3, x_dot = 0.1, expected -0.1"]}
    text = render("repair", task="r", environment="CartPole", target="jax", **facts)
    assert "level 1 failed" in text
    assert "x_dot = 0.1, expected -0.1" in text
    assert "step" not in text.split("## What to do")[0]


def test_tests_of_functions_are_asked_for_first_and_tests_between_modules_once_all_are_there():
    functions, between = "level 1 property tests", "level 2 interaction tests"
    assert functions in prompt("translate", last=False)
    assert between not in prompt("translate", last=False)
    assert between in prompt("translate", last=True)
    assert between not in prompt("repair", level=1)
    assert all(said in prompt("repair", level=level) for level in (2, 3, 4) for said in (functions, between))


def test_an_optimisation_prompt_measures_at_five_batches():
    text = prompt("optimise", profile="matmul 90 %", attempts=["int8 state: 1.1x"])
    assert "32, 128, 512, 2048, 8192" in text
    assert "| 32 | 1,234,567 |" in text
    assert "matmul 90 %" in text
    assert "int8 state: 1.1x" in text


def test_the_example_of_the_contract_runs_and_meets_the_contract(tmp_path, monkeypatch):
    (example,) = [block for block in python_blocks(prompt("translate")) if "class Corridor(" in block]
    path = tmp_path / "corridor_example.py"
    path.write_text(example)
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, path.stem, module)
    spec.loader.exec_module(module)
    assert check_environment(module.Corridor()) == []

    class Broken(module.Corridor):
        def transition(self, state, action, draw, params):
            state, reward, terminated = super().transition(state, action, draw, params)
            return state, reward.astype(int), terminated

    with pytest.raises(ContractError):
        check_environment(Broken())


def test_the_contract_names_only_what_exists():
    """Methods of the listing and of the prose, against the real classes."""
    from overclock import env

    text = (prompts.BUILT_IN / "contract_jax.md.j2").read_text()
    listing = text.split("```")[1]
    methods = set(re.findall(r"^(\w+)\(", listing, re.MULTILINE)) | {"action_space"}
    assert {"init", "transition", "observe", "draw_reset", "draw_step", "action_mask", "info"} <= methods
    assert all(hasattr(env.Environment, name) for name in methods)
    assert all(hasattr(env.Rng, name) for name in re.findall(r"rng\.(\w+)\(", text))
    assert all(hasattr(env.Tape, name) for name in re.findall(r"[tT]ape\.(\w+)\(", text))


def test_a_rust_prompt_shows_the_declarations_of_its_contract():
    declared = "pub struct State {\n    pub position: i64,\n}\n"
    assert declared in prompt("translate", "rust", rust_contract=declared)
    assert "contract.rs` declares" not in prompt("translate", "rust")


def test_a_projects_own_prompt_wins_file_by_file(tmp_path):
    (tmp_path / "checklist_jax.md.j2").write_text("Our own advice for {{ environment }}.")
    (tmp_path / "poem.md.j2").write_text("A poem about {{ subject }}.\n\n{% include 'honesty.md.j2' %}")
    text = render("translate", task="t", overrides=tmp_path, environment="Pong", target="jax", **FACTS["translate"])
    assert "Our own advice for Pong." in text
    assert "jnp.where" not in text.split("## Interface contract")[0]
    assert "class Corridor(" in text  # the others are ours
    poem = render("poem", task="t", overrides=tmp_path, subject="speed")
    assert poem.startswith("<!-- overclock task: t -->\nA poem about speed.\n\n## What is judged")
    assert "Our own advice" not in prompt("translate")
    assert "poem" in names(tmp_path)
    assert "poem" not in names()


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("{{ missing }}", "a fact that was not given: 'missing' is undefined"),
        ("{% if %}", "line 1 is not a Jinja template"),
        ("{% include 'nothing.md.j2' %}", "no prompt 'nothing.md.j2'"),
    ],
)
def test_a_wrong_template_is_one_clear_sentence(tmp_path, content, said):
    (tmp_path / "mine.md.j2").write_text(content)
    with pytest.raises(UsageError, match=said):
        render("mine", task="t", overrides=tmp_path)


def test_wrong_names_are_said():
    with pytest.raises(UsageError, match=r"no prompt 'poem.md.j2'; there are .*translate"):
        render("poem", task="t")
    for task in ("", "two words", "a-->b", "a\nb"):
        with pytest.raises(UsageError, match="one word"):
            render("specification", task=task, environment="E", **FACTS["specification"])


def test_the_fingerprint_tells_prompts_apart():
    assert fingerprint("a") == "ca978112ca1bbdcafac231b39a23dc4da786eff8147c4e72b9807785afee48bb"
    assert fingerprint(prompt("repair")) != fingerprint(prompt("optimise"))


@pytest.mark.parametrize("text", ["plain", "```\ninner\n```\n", "````", ""])
def test_a_fence_ends_after_the_text(text):
    opening, *lines, closing = fenced(text, "text").splitlines()
    assert opening.removesuffix("text") == closing
    assert closing not in lines
    assert "\n".join(lines) == text.rstrip("\n")


def test_without_jinja_the_extra_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "jinja2", None)  # importing it now fails
    with pytest.raises(MissingError, match=r"overclock\[report\]"):
        prompt("repair")
