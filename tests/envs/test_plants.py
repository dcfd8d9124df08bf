"""Every planted bug of Pong and CartPole that docs/adequacy.md lists is seen by the module of level 1 that it names.

Those of the robots are in robots/test_twins.py. A bug is loaded beside the rules as they are, so all share a process.
"""

import functools
import re
import sys
from pathlib import Path

import jax
import numpy as np
import pytest

from overclock.env import registry
from overclock.envs.cartpole.twin import twin as cartpole
from overclock.envs.pong.twin import twin as pong
from overclock.errors import MissingError
from overclock.verify.property.compare import compare
from overclock.verify.property.level import LANES, check_properties, modules_of
from overclock.verify.property.module import Cases
from overclock.verify.property.recorded_reference import recorded
from overclock.verify.property.runner import run_batch
from overclock.verify.sides.patched import load_changed, source_of
from overclock.verify.sides.process import ProcessSubject

PAGE = (Path(__file__).parents[2] / "docs" / "adequacy.md").read_text()
ROW = r"^\| (\d+) \| (Pong|CartPole|HalfCheetah|Walker2d|Hopper) \| `([\w-]+)` \|.*\| 1 \| 1: `(\w+)`(?:, 3)? \|$"
ROWS = [(int(number), env.lower(), plant, module) for number, env, plant, module in re.findall(ROW, PAGE, re.MULTILINE)]
TWINS = {"pong": pong, "cartpole": cartpole}
HERE = [row[1:] for row in ROWS if row[1] in TWINS]

pytestmark = pytest.mark.usefixtures("few_optimisations")


@functools.cache
def boundary(env):
    """The cases of every module that finds a bug, without those of play."""
    twin = TWINS[env]()
    names = sorted({module for other, _, module in HERE if other == env})
    with ProcessSubject(recorded(twin.reference, str(twin.modules), 0), LANES, "the reference") as reference:
        reference.reset(np.ones(LANES, np.bool_), np.arange(LANES))
        return {name: Cases(**reference.ask("cases", name=name)) for name in names}


def passes(env, name, plant=None):
    """Whether the rules, with a bug or as they are, pass a module in the strictest precision."""
    twin = TWINS[env]()
    try:
        if twin.prepare is not None:
            registry.load(twin.prepare)()
    except MissingError as error:
        pytest.skip(str(error))
    rules, params = registry.make(twin.name)
    if plant is not None:
        patch = twin.plants[plant]
        changed = load_changed(patch.module, patch.apply(source_of(patch.module)[0]), as_name=f"{patch.module}_changed")
        del sys.modules[changed.__name__]
        rules = getattr(changed, type(rules).__name__)()
        params = rules.default_params()
    (module,) = (module for module in modules_of(twin) if module.name == name)
    cases = boundary(env)[name]
    with jax.enable_x64(twin.strictest == "float64"):
        outputs = run_batch(module.performance, rules, params, cases.inputs, len(cases))
    return compare(module, cases, outputs, twin.strictest).passed


@pytest.mark.parametrize(("env", "plant", "module"), HERE)
def test_a_planted_bug_is_seen_by_its_module(env, plant, module):
    assert not passes(env, module, plant)


@pytest.mark.parametrize(("env", "module"), sorted({(env, module) for env, _, module in HERE}))
def test_without_a_bug_these_modules_pass(env, module):
    assert passes(env, module)


def test_every_bug_of_the_page_can_be_planted():
    assert [number for number, *_ in ROWS] == [*range(13, 41)]
    for _, env, plant, module in ROWS:
        twin = registry.load(f"overclock.envs.{env}.twin:twin")()
        assert plant in twin.plants
        assert module in [one.name for one in modules_of(twin)]


@pytest.mark.long
@pytest.mark.parametrize(("env", "plant", "module"), [row[1:] for row in ROWS])
def test_verify_fails_at_level_1(env, plant, module):
    """The whole level, as the command runs it."""
    level = check_properties(registry.load(f"overclock.envs.{env}.twin:twin")().planted(plant), timeout=1200)
    wrong = [one.name for one in level.modules if not all(found.passed for found in one.comparisons)]
    assert level.verdict == "fail"
    assert module in wrong
