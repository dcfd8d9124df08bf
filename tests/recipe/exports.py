"""A run of a small project as an accepted translation leaves it behind; nobody has translated or judged anything."""

import json
import shutil
import tomllib

from recipe.projects import playable_project

from overclock.env import registry
from overclock.recipe.judging.hygiene.frozen import Frozen, tree_hash
from overclock.recipe.judging.judged_by import store_rules
from overclock.recipe.judging.verdict import HELD_OUT, Verdict
from overclock.recipe.loop.translate import about
from overclock.recipe.runs.run import Run
from overclock.recipe.runs.writing import write_candidate, write_verdict

POND = """
import gymnasium


class Pond(gymnasium.Env):
    def __init__(self):
        self.observation_space, self.action_space = gymnasium.spaces.Discrete(9), gymnasium.spaces.Discrete(2)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.x = 0
        return self.x, {}

    def step(self, action):
        self.x += int(action)
        return self.x, 1.0, self.x > 7, False, {}
"""
RULES = """
def moved(x, action):
    return x + action


def over(x):
    return x > 7
"""
ENVIRONMENT = '''"""Pond."""

import dataclasses

import jax.numpy as jnp
from jaxtyping import Array, Int

from overclock.env import Discrete, Environment, Params, Struct
{rules}

class PondParams(Params):
    max_steps: int | None = 20


class PondState(Struct):
    x: Int[Array, ""]


@dataclasses.dataclass(frozen=True)
class Pond(Environment[PondState, PondParams]):
    def default_params(self):
        return PondParams()

    def observation_space(self, params):
        return Discrete(9)

    def action_space(self, params):
        return Discrete(2)

    def draw_reset(self, rng, params):
        return ()

    def init(self, draw, params):
        return PondState(x=jnp.asarray(0, int))

    def transition(self, state, action, draw, params):
        x = moved(state.x, action)
        return PondState(x=x.astype(int)), jnp.float32(1.0), over(x)

    def observe(self, state, params):
        return state.x.astype(jnp.int32)


def make():
    return Pond(), Pond().default_params()
'''
ONE = {"env.py": ENVIRONMENT.format(rules=RULES)}
TWO = {"env.py": ENVIRONMENT.format(rules="from steps import moved, over\n"), "steps.py": RULES}
SCENARIO = {
    "schema": "overclock.scenario/1", "name": "still", "why": "nothing moves", "setup": {"seed": 1},
    "steps": [{"action": 0, "expect": {"reward": 1.0}}],
}  # fmt: skip


def accepted_run(folder, files=ONE, verdicts=((0, "pass"), (1, "pass"), (3, "pass"), (HELD_OUT, "pass")), **ending):
    """A project in `folder` and its run 'first'; returns the project."""
    project = playable_project(folder)
    (folder / "pond.py").write_text(POND)
    (project.scenarios / "still.json").write_text(json.dumps(SCENARIO))
    frozen = {path: text.encode() for path, text in files.items()}
    frozen = Frozen(tree_hash(frozen), frozen)
    with Run.create(folder / "runs" / "first", about(project)) as run:
        shutil.copytree(project.scenarios, run.folder / "scenarios")
        rules = store_rules(run.journal, project, run.folder / "scenarios")
        run.journal.append(
            "run started", project="pond", reference=project.reference.source, target="jax", agent="scripted",
            budget_dollars=None, levels=[1, 3], limits={}, versions={"python": "3.11"}, rules=rules,
        )  # fmt: skip
        write_candidate(run.journal, frozen, None)
        run.restore(frozen.hash)
        for level, verdict in verdicts:
            write_verdict(run.journal, frozen.hash, Verdict(level, verdict, 1, 1), rules=rules)
        run.journal.append("run ended", **{"outcome": "done", "sentence": "pond holds.", **ending})
    return project


def installed(package, site):
    """What `pip install` does with an exported folder, without building a wheel; returns where it was put."""
    settings = tomllib.loads((package / "pyproject.toml").read_text())
    name = settings["project"]["name"]
    shutil.copytree(package / "src" / name, site / name)
    about = site / f"{name}-{settings['project']['version']}.dist-info"
    about.mkdir()
    (about / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: {settings['project']['version']}\n")
    rows = settings["project"]["entry-points"][registry.GROUP]
    lines = [f"[{registry.GROUP}]", *(f"{key} = {value}" for key, value in rows.items())]
    (about / "entry_points.txt").write_text("\n".join(lines) + "\n")
    return site
