"""Every registered environment can be verified at all four levels by a plain `overclock verify ENV`."""

import pytest

from overclock.env import registry
from overclock.errors import MissingError
from overclock.verify.engine import require_described
from overclock.verify.interaction.scenario import load_scenarios
from overclock.verify.twins import find_twin

WITH_A_TWIN = [spec.id for spec in registry.list_envs() if spec.twin is not None]


def test_every_environment_has_a_twin():
    assert [spec.id for spec in registry.list_envs()] == WITH_A_TWIN
    assert len(WITH_A_TWIN) >= 7


@pytest.mark.parametrize("env_id", WITH_A_TWIN)
def test_a_twin_describes_all_levels(env_id):
    try:
        twin = find_twin(env_id).twin
    except MissingError as missing:
        pytest.skip(str(missing))
    require_described(twin, (1, 2, 3, 4))
    assert twin.scenarios is not None
    assert len(load_scenarios(twin.scenarios)) >= 5
