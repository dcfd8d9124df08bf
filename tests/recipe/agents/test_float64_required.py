"""What float32 cannot reproduce is translated for float64 alone, and says so wherever a user meets it."""

import importlib.util

import jax
import pytest

pytest.importorskip("gymnasium", reason="the references are Gymnasium environments")

from recording import float_clocks

from overclock.errors import UsageError
from overclock.recipe.agents.builtin_agent import contract_of_program, program_of
from overclock.recipe.contract.file import load_contract, write_contract
from overclock.translate.jax.file import print_jax


def translated(name):
    return program_of(name.lower(), {"entry_point": f"{float_clocks.__name__}:{name}", "max_steps": 200})


@pytest.fixture(scope="module")
def program():
    return translated("Up")


def test_the_contract_states_it_and_has_no_float32(program, tmp_path):
    contract = contract_of_program(program)
    assert list(contract.precisions) == ["float64"]
    assert contract.x64.startswith("in float32 ")
    write_contract(contract, tmp_path)
    assert load_contract(tmp_path / "contract.toml").x64 == contract.x64
    assert "judged and used in float64 alone" in (tmp_path / "contract.toml").read_text()


def test_a_contract_that_requires_float64_and_has_float32_is_refused(program, tmp_path):
    write_contract(contract_of_program(program), tmp_path)
    path = tmp_path / "contract.toml"
    path.write_text(path.read_text() + "\n[float32]\n")
    with pytest.raises(UsageError, match="says why float64 is required"):
        load_contract(path)


def test_the_program_refuses_float32_and_plays_as_long_as_the_reference_in_float64(program, tmp_path):
    text = print_jax(program)
    assert "It needs float64 (JAX_ENABLE_X64=1): in float32 " in text
    path = tmp_path / "translated_clock.py"
    path.write_text(text)
    spec = importlib.util.spec_from_file_location("translated_clock", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    with jax.enable_x64(False), pytest.raises(UsageError, match=r"needs float64 \(in float32 .* JAX_ENABLE_X64=1"):
        module.make()
    with jax.enable_x64(True):
        env, params = module.make()
        key = jax.random.key(0)
        _, state = env.reset(key, params)
        ends = []
        for _ in range(30):
            _, state, _, terminated, _, _ = env.step_env(key, state, 0, params)
            ends.append(bool(terminated))
    assert ends == [False] * 29 + [True]


def test_what_float32_reproduces_keeps_both_precisions():
    program = translated("Between")
    contract = contract_of_program(program)
    assert (list(contract.precisions), contract.x64) == (["float64", "float32"], "")
    assert "require_float64" not in print_jax(program)
