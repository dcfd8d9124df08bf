"""A verdict of level 1 is the same whatever instructions of the processor XLA, NumPy and the C library may use.

`scripts/processors.py`, part of `make verify`, does this for levels 1 to 3 of every twin.
"""

import dataclasses
import importlib.util
from pathlib import Path

import pytest

pytest.importorskip("gymnasium", reason="the references are Gymnasium's")
pytest.importorskip("coverage", reason="level 1 measures code coverage")

from verify.few_modules import NAMES

from overclock.env import registry
from overclock.verify.property.level import check_recorded, record
from overclock.verify.rollout.actions import uniform

SCRIPT = Path(__file__).parents[3] / "scripts/processors.py"
FOUND = {"PYTHONPATH": str(Path(__file__).parents[2])}


def settings():
    """As the script has them: variables by the name of what they make of this processor."""
    spec = importlib.util.spec_from_file_location("processors", SCRIPT)
    assert spec is not None
    assert spec.loader is not None
    script = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(script)
    return script.settings()


@pytest.mark.parametrize("name", ["halfcheetah", "cartpole"])
def test_functions_agree_under_the_oldest_and_the_newest_instructions(name):
    if name == "halfcheetah":
        pytest.importorskip("mujoco", reason="the reference is MuJoCo")
    known = settings()
    oldest, newest = known.get("all as old as can be", {}), [one for one in known if one.startswith("XLA ")][-1:]
    twin = registry.load(f"overclock.envs.{name}.twin:twin")()
    sides = {"reference": twin.reference.with_environment(**FOUND)}
    twin = dataclasses.replace(twin, modules=f"verify.few_modules:{name.upper()}", **sides)
    recording = record(twin, sources={"uniform": uniform})
    for variables in (oldest, *(known[one] for one in newest)):
        performance = twin.performance.with_environment(**FOUND, **variables)
        level = check_recorded(dataclasses.replace(twin, performance=performance), recording)
        assert level.first_failure is None, (variables, level.first_failure)
        assert len(level.modules) == len(NAMES[name])


def test_there_is_a_setting_for_every_instruction_set_that_this_processor_has():
    known = settings()
    assert known["as it is"] == {}
    for name, variables in known.items():
        assert name == "as it is" or variables, name
    assert len(known) >= 1
