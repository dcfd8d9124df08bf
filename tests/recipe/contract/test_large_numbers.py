"""A reference with one large number: whoever leaves out or spoils the small ones is seen, at every level."""

import numpy as np
import pytest

pytest.importorskip("gymnasium", reason="the references are Gymnasium environments")

from overclock.recipe.agents.builtin_agent import contract_of_program, program_of
from overclock.recipe.contract.file import ContractFile, load_contract, write_contract
from overclock.recipe.contract.outputs import close_to
from overclock.recipe.project.new_contract import contract_of
from overclock.recipe.survey.live.profile import profile
from overclock.recipe.survey.static.source import resolve
from overclock.verify.compare import judge
from overclock.verify.property.compare import errors_of
from overclock.verify.sides.subject import Observed

REFERENCE = """
import gymnasium
import numpy as np


class Miles(gymnasium.Env):
    action_space = gymnasium.spaces.Discrete(2)
    observation_space = gymnasium.spaces.Box(-np.inf, np.inf, (2,), np.float32)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.x = float(self.np_random.uniform(-1, 1))
        self.miles, self.best = 1.7e7, float("inf")
        return self._shown(), {}

    def step(self, action):
        self.x = 0.95 * self.x + (0.1 if action else -0.1)
        self.miles += 0.3 * self.x
        self.best = min(self.best, self.x * self.x)
        return self._shown(), 100.0 * self.x + (1.0 if self.best < 0.01 else 0.0), self.miles > 1.8e7, False, {}

    def _shown(self):
        return np.array([self.x, self.x * self.x], dtype=np.float32)
"""


@pytest.fixture(scope="module", params=["translated", "watched"])
def contract(request, tmp_path_factory) -> ContractFile:
    folder = tmp_path_factory.mktemp(request.param)
    name = f"miles_{folder.name}"  # a process imports a name once
    (folder / f"{name}.py").write_text(REFERENCE)
    if request.param == "translated":
        return contract_of_program(program_of("miles", {"entry_point": f"{name}:Miles"}, str(folder)))
    source = resolve(f"{folder / name}.py:Miles", {}, 50)
    return contract_of(source, profile(source))


def seen(obs, reward):
    lanes = len(obs)
    state = {"x": np.zeros(lanes), "miles": np.full(lanes, 1.7e7), "steps": np.ones(lanes, np.int32)}
    return Observed({"obs": np.array(obs, np.float32), "reward": np.array(reward)}, state, {})


@pytest.mark.parametrize("precision", ["float64", "float32"])
@pytest.mark.parametrize("mode", ["per_step", "free_running"])
def test_neither_a_blind_observation_nor_a_wrong_reward_passes(contract, precision, mode):
    agreed = contract.contracts()[precision]
    right, blind = seen([[0.5, 0.25]], [50.0]), seen([[0.0, 0.0]], [50.0 + 1.0])
    for name in ("obs", "reward"):
        field = next(field for field in agreed.fields if field.name == name)
        found = judge(agreed, field, field.tolerance(mode), right, blind)
        assert found is not None
        assert found.wrong.all(), name
        again = judge(agreed, field, field.tolerance(mode), right, right)
        assert again is not None
        assert not again.wrong.any()


@pytest.mark.parametrize("precision", ["float64", "float32"])
def test_functions_that_are_checked_alone_are_no_looser(contract, precision):
    outputs = {one.name: one for one in close_to(contract, "obs", "reward")[precision]}
    for name, right, wrong in (("obs", [[0.5, 0.25]], [[0.5, 0.2501]]), ("reward", [50.0], [50.1])):
        one = outputs[name]
        _, found = errors_of(np.array(right), np.array(wrong), one.absolute, one.relative, one.whole)
        assert found.all(), name


def test_the_contract_is_written_and_read_back(contract, tmp_path):
    write_contract(contract, tmp_path)
    assert load_contract(tmp_path / "contract.toml") == contract
