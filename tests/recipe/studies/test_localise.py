"""Which lines a report leaves under suspicion, and that the planted mistake is always among them."""

import dataclasses

import pytest
from schema_checks import as_json, require_valid

pytest.importorskip("coverage", reason="level 1 measures code coverage")

from verify.mutable.world import SPEC

from overclock.env import registry
from overclock.errors import UsageError
from overclock.recipe.studies.localise import VIEWS, Suspicion, _against, _summary, localise
from overclock.recipe.studies.localise_code import Runs, code_of, every
from overclock.recipe.studies.localise_facts import Fact
from overclock.recipe.studies.localise_result import Narrowed
from overclock.results import encode
from overclock.verify.mutation.mutants import mutants_of
from overclock.verify.mutation.mutate import sources_of
from overclock.verify.sides.patched import source_of


@dataclasses.dataclass(frozen=True)
class Place:
    """An environment's code with its traced runs; `text` gives the text of suspected lines."""

    code: object
    runs: Runs
    sources: dict

    def text(self, run, *outputs):
        lines = self.code.suspects(run, outputs or None)
        return "\n".join(self.sources[module][number - 1] for module, number in sorted(lines))


@pytest.fixture(scope="module")
def cartpole():
    spec = registry.spec("cartpole")
    sources = sources_of(spec)
    env, params = registry.make(spec.id)
    files = {source_of(module)[1]: module for module in sources}
    code = code_of(mutants_of(sources), type(params))
    return Place(code, Runs(env, params, files, 0), {m: source_of(m)[0].splitlines() for m in sources})


def test_a_field_suspects_what_it_was_computed_from(cartpole):
    step = cartpole.runs.step
    position, velocity = cartpole.text(step, "state.x"), cartpole.text(step, "state.x_dot")
    assert "x=state.x + params.tau" in position
    assert "tau: float" in position
    for elsewhere in ("gravity: float", "costheta = ", "x_dot=state.x_dot", "x_threshold", "jnp.stack"):
        assert elsewhere not in position, elsewhere
    for part in ("gravity: float", "costheta = ", "xacc = ", "x_dot=state.x_dot", "self.accelerations("):
        assert part in velocity, part
    assert "state.x > params.x_threshold" not in velocity
    assert "state.x > params.x_threshold" in cartpole.text(step, "terminated")
    assert "max_steps" in cartpole.text(step, "truncated")
    assert "max_steps" not in cartpole.text(step, "terminated")


def test_lines_that_ran_and_computed_nothing_are_never_cleared(cartpole):
    for field in ("state.x", "reward", "truncated"):
        assert "return xacc, thetaacc" in cartpole.text(cartpole.runs.step, field)
    # It computes the reward, and hands the state on beside it.
    assert "return after, self.reward(" in cartpole.text(cartpole.runs.step, "state.x")


def test_code_that_did_not_run_is_cleared(cartpole):
    anything = cartpole.text(cartpole.runs.step)
    assert "rng.uniform" not in anything
    assert "jnp.where(terminated, -1.0, 0.0)" not in anything, "an option that is off"
    assert "sutton_barto_reward: bool" in anything, "which the line that reads it may have wrong"
    assert "self.accelerations" not in cartpole.text(cartpole.runs.reset)


def test_an_episode_that_nobody_synchronises_suspects_earlier_steps(cartpole):
    steps, reset = cartpole.runs.over_steps("state.x")
    assert steps == {"state.x", "state.x_dot", "state.theta", "state.theta_dot"}
    assert steps <= reset
    assert cartpole.runs.over_steps("truncated")[0] == {"truncated", "state.steps"}


def test_how_a_fact_was_compared_decides_how_far_back_its_cause_may_lie(cartpole):
    suspicion = object.__new__(Suspicion)
    suspicion.code, suspicion._runs = cartpole.code, cartpole.runs

    def left(step, mode):
        lines = suspicion.of(Fact("episodes", "uniform", "state.x", step, mode))
        return "\n".join(cartpole.sources[module][number - 1] for module, number in sorted(lines))

    assert "costheta = " not in left(3, "per_step")
    assert "costheta = " in left(3, "free_running"), "a difference of the velocity may have added up"
    assert "params.tau" not in left(0, "free_running"), "no step was taken yet"


def test_parameters_made_inside_are_all_suspected(cartpole):
    from overclock.verify.property.level import modules_of
    from overclock.verify.property.module import Cases
    from overclock.verify.twins import find_twin

    modules = {module.name: module for module in modules_of(find_twin("cartpole").twin)}
    constants = cartpole.runs.module(modules["constants"], Cases({}, {}, 1, 0, 1))
    assert constants.params_built
    assert "gravity: float" in cartpole.text(constants, "tau")
    assert "costheta" not in cartpole.text(constants, "tau")


def test_one_mistake_lies_where_all_facts_point():
    a, b, c = (("m", number) for number in (1, 2, 3))
    assert every([frozenset({a, b}), frozenset({b, c})], frozenset({a})) == {b}
    assert every([], frozenset({a, b, c})) == {a, b, c}


def test_summaries_count_only_what_a_view_noticed():
    def view(lines, facts=1, has_line=True):
        fact = Fact("module", "step", "state.x")
        return Narrowed(1, [fact] * facts, None, lines, lines / 10, 1, has_line, has_function=True)

    rows = [
        {"full hierarchy": view(2), "level 3": view(4, has_line=False)},
        {"full hierarchy": view(4), "level 3": view(4, facts=3)},
        {"full hierarchy": view(6)},
        {},
    ]
    full, third = _summary("full hierarchy", rows), _summary("level 3", rows)
    assert (full.noticed, full.lines_median, full.share_median, full.has_line) == (3, 4, 0.4, 1.0)
    assert (third.noticed, third.has_line, third.facts_mean) == (2, 0.5, 2.0)
    assert encode(_summary("level 2", rows)) == {"knows": VIEWS["level 2"], "noticed": 0}
    pair = _against("level 3", rows)
    assert (pair.mutants, pair.hierarchy_leaves_fewer, pair.the_same) == (2, 1, 1)


@pytest.mark.long
def test_the_mistake_is_among_the_suspects(monkeypatch, capsys):
    """A pile that grows: every mutant that a level notices, except those of the draws, which no level replays."""
    if SPEC.id not in registry._registry:
        monkeypatch.setitem(registry._registry, SPEC.id, SPEC)
    report = localise(SPEC.id, sample_size=8, episodes=8, jobs=1)
    require_valid(as_json(report), "overclock.localise/1")
    assert report.mutants == 8
    assert report.views.keys() == VIEWS.keys()
    for mutant in report.each:
        for name, view in mutant.views.items():
            assert view.has_line, (name, mutant.before, mutant.after)
            assert view.has_function
            assert 0 < view.lines <= report.lines
    assert report.views["full hierarchy"].noticed >= 5
    alone, verdict = report.views["level 3"], report.views["level 3, verdict only"]
    assert alone.share_mean is not None
    assert verdict.share_mean is not None
    assert alone.share_mean < verdict.share_mean <= 1.0

    from overclock.cli.verification.localise import show

    show(report)
    assert "full hierarchy" in capsys.readouterr().out


def test_numbers_are_checked_first():
    with pytest.raises(UsageError, match="sample must be at least 1, got 0"):
        localise("cartpole", sample_size=0)
