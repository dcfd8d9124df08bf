"""The inspection inside a worker: what it sees of candidates that misbehave while they run."""

import sys
import time

import pytest

from overclock.env import check
from overclock.recipe.judging.hygiene import Finding, Limits, dynamic, judge_inspection
from overclock.recipe.judging.hygiene.tampering import snapshot, tampered
from overclock.recipe.redteam.cheats import honest_files

pytestmark = pytest.mark.usefixtures("few_optimisations")

HONEST = honest_files()
MOVE = "        after = move(state, action, draw.uniform_0, params)\n"


def edited(file, old, new):
    assert HONEST[file].count(old) == 1
    return {file.removesuffix(".py"): HONEST[file].replace(old, new)}


@pytest.fixture
def inspected(candidate, monkeypatch):
    """The findings against a changed candidate; the contract's own checks, which take longest, are tested elsewhere."""
    monkeypatch.setattr(check, "CHECKS", ())

    def inspect(**changes) -> list[Finding]:
        return judge_inspection(dynamic.Inspector(1, str(candidate(**changes)), batches=(3,)).inspect(), Limits())

    return inspect


def rules(findings) -> set[str]:
    return {finding.rule for finding in findings}


def test_a_breach_of_the_contract_is_passed_on(inspected, monkeypatch):
    monkeypatch.setattr(check, "CHECKS", (check.outputs_have_fixed_types,))
    (finding,) = inspected(**edited("env.py", "jnp.float32(1.0)", "jnp.int32(1)"))
    assert (finding.rule, finding.sentence) == ("contract", "reward is int32[], expected float32[].")


def test_a_program_that_changes_after_many_traces_is_seen(inspected):
    lazy = f"        SEEN.append(1)\n        params = params.replace(gravity=9.8 + len(SEEN) // 30)\n{MOVE}"
    assert "hidden-state" in rules(inspected(env="SEEN = []\n" + edited("env.py", MOVE, lazy)["env"]))


def test_what_is_kept_out_of_sight_is_seen_before_it_is_used(inspected):
    text = "SEEN = [0]\nNOTE = SEEN.append\n" + edited("env.py", MOVE, f"        NOTE(1)\n{MOVE}")["env"]
    findings = inspected(env=text)
    assert {(one.rule, "after the rules have run" in one.sentence) for one in findings} == {("hidden-state", True)}


def test_data_in_a_program_and_values_that_are_no_numbers_are_seen(inspected):
    odd = f"{MOVE}        after = after.replace(x=after.x + jnp.asarray(TABLE)[action] + jnp.sqrt(-1.0 - after.x**2))\n"
    text = "import numpy as np\nTABLE = np.zeros(100_000)\n" + edited("env.py", MOVE, odd)["env"]
    assert rules(inspected(env=text)) == {"constants", "nan"}


def test_code_that_knows_whether_it_is_compiled_is_seen(inspected):
    peek = "isinstance(state.x, jax.core.Tracer)"
    changes = edited("env.py", MOVE, f"{MOVE}        after = after if {peek} else after.replace(x=after.x + 1)\n")
    assert rules(inspected(env=f"import jax\n{changes['env']}")) == {"eager"}


def test_a_callback_ends_the_inspection_early_and_a_replaced_method_is_seen_all_the_same(inspected):
    text = edited("env.py", MOVE, f"{MOVE}        jax.debug.print('{{}}', after.x)\n")["env"]
    later = "def begin(self, draw, params):\n    return super(CartPole, self).begin(draw, params)\n\n\n"
    text = text.replace("def make() ", f"{later}CartPole.begin = begin\n\n\ndef make() ")
    findings = inspected(env=f"import jax\n{text}")
    assert rules(findings) == {"callback", "derived"}
    assert any("`transition`" in finding.sentence for finding in findings)


def test_a_candidate_that_cannot_be_imported_is_a_finding(inspected):
    (finding,) = inspected(env="1 / 0")
    assert finding.rule == "import"
    assert "ZeroDivisionError" in finding.sentence


def test_replaced_functions_and_methods_are_seen(monkeypatch):
    before = snapshot()
    assert tampered(before) == []
    monkeypatch.setattr(time, "perf_counter", lambda: 0.0)
    monkeypatch.setattr(dynamic.Inspector, "clock", lambda self: [0.0] * 3)
    monkeypatch.delattr(sys.modules["overclock.verify.compare"], "judge")
    assert tampered(before) == [
        "overclock.recipe.judging.hygiene.dynamic.Inspector.clock", "overclock.verify.compare.judge",
        "time.perf_counter",
    ]  # fmt: skip
