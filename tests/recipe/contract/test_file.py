"""contract.toml: what is written is read back, and what is wrong is said in one sentence."""

import dataclasses

import pytest

from overclock.errors import UsageError
from overclock.recipe.contract.file import (
    Closeness,
    ContractFile,
    DrawField,
    StateField,
    format_contract,
    load_contract,
)  # fmt: skip
from overclock.recording.room import Room
from overclock.verify.tolerance import Tolerance

PARTS = Tolerance((1e-9, 3e-7), 1.5e-14, (False, True))
CLOSE = Closeness({"state": 1e-12, "obs": 1e-7}, {"state": 1e-9, "x": 1e-6, "reward": PARTS}, "another 'sin'", 100)
CONTRACT = ContractFile(
    state=(StateField("x", "state[0]", "float64", (), -1.5, 2.0), StateField("hands", 'hands["me"]', "int8", (2, 3))),
    reset_draws=(DrawField("uniform_0", "uniform", "low=-1, high=1", (4,)),),
    step_draws=(DrawField("random_0", "random"),),
    set_state=False,
    rooms=(Room("body", 31, "there are 6 x 5 cells"), Room("box.items", 40, "as given", True)),
    precisions={"float64": CLOSE, "float32": Closeness()},
)


def written(tmp_path, text):
    path = tmp_path / "contract.toml"
    path.write_text(text)
    return path


def test_a_contract_is_read_as_it_was_written(tmp_path):
    assert load_contract(written(tmp_path, format_contract(CONTRACT))) == CONTRACT


def test_a_tolerance_is_a_number_or_a_table_of_its_parts(tmp_path):
    text = format_contract(CONTRACT)
    assert "x = 1e-06" in text or "x = 1e-6" in text
    assert "reward = {absolute = [1e-09, 3e-07], relative = 1.5e-14, whole = [false, true]}" in text
    fields = {field.name: field for field in load_contract(written(tmp_path, text)).contracts()["float64"].fields}
    assert fields["reward"].tolerance("free_running") == PARTS
    assert fields["state.x"].tolerance("free_running") == Tolerance(1e-6)


def test_the_verifier_gets_every_field_with_its_tolerance():
    contracts = CONTRACT.contracts()
    assert set(contracts) == {"float64", "float32"}
    fields = {field.name: field for field in contracts["float64"].fields}
    assert (fields["state.x"].per_step, fields["state.x"].free_running) == (1e-12, 1e-6)  # its own number first
    assert (fields["obs"].per_step, fields["reward"].per_step) == (1e-7, 0.0)
    assert fields["state.hands"].per_step == 0.0  # whole numbers are equal, whatever the group says
    assert {"terminated", "truncated", "state.steps"} <= set(fields)
    assert (contracts["float64"].free_running_steps, contracts["float32"].free_running_steps) == (100, None)
    assert contracts["float32"].exact


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (lambda text: text.replace("overclock.contract/1", "overclock.contract/9"), "schema"),
        (lambda text: text + "\n[float16]\n", "unknown part 'float16'"),
        (lambda text: text.replace('reason = "another \'sin\'"', 'reason = ""'), "needs a reason"),
        (lambda text: text.replace("state = 1e-12", "state = -1.0"), "not negative"),
        (lambda text: text.replace("state = 1e-12", "state = {absolut = 1.0}"), "write a number"),
        (lambda text: text.replace("state = 1e-12", 'state = {absolute = "1"}'), "absolute = 1"),
        (lambda text: text.replace("state = 1e-12", "state = {relative = [1.0]}"), "relative = "),
        (lambda text: text.replace("state = 1e-12", "state = {relative = 1.0, whole = 1}"), "whole = 1"),
        (lambda text: text.replace("state = 1e-12", "state = {relative = inf}"), "finite"),
        (lambda text: text.replace('read = "state[0]"', 'reads = "state[0]"'), "reads"),
        (lambda text: text[: text.index("[float64]")], "neither"),
        (lambda text: "this is no TOML", "not usable"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_said(tmp_path, change, says):
    text = format_contract(CONTRACT)
    assert change(text) != text
    with pytest.raises(UsageError, match="is not usable") as error:
        load_contract(written(tmp_path, change(text)))
    assert says in str(error.value)


def test_a_missing_contract_is_said(tmp_path):
    with pytest.raises(UsageError, match="cannot be read"):
        load_contract(tmp_path / "contract.toml")


def test_texts_with_quotes_survive(tmp_path):
    odd = dataclasses.replace(CONTRACT, step_draws=(DrawField("a", "choice", 'p="x\\y", é'),))
    assert load_contract(written(tmp_path, format_contract(odd))) == odd
