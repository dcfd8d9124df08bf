"""Rust candidates against Gymnasium's CartPole, through the ordinary machinery of levels 1 to 3, in their sandbox."""

import dataclasses

import numpy as np
import pytest

pytest.importorskip("gymnasium", reason="the reference is Gymnasium's CartPole")

from recipe.rust import crates

from overclock.entry_point import EntryPoint
from overclock.recipe.contract.file import load_contract
from overclock.recipe.contract.modules import modules
from overclock.recipe.judging.rust.subject import rust_spec
from overclock.recipe.sandbox import sandboxed
from overclock.verify.contract import Twin
from overclock.verify.interaction.level import check_interactions
from overclock.verify.interaction.playback import record_scenario
from overclock.verify.property import level as level_1
from overclock.verify.repro.arena import Arena
from overclock.verify.repro.episode import Episode
from overclock.verify.rollout.actions import random_legal
from overclock.verify.rollout.level import check_rollouts
from overclock.verify.rollout.lockstep import compare_rollouts
from overclock.verify.sides.process import CouldNotVerifyError, ProcessSubject
from overclock.verify.sides.subject import SubjectSpec

CARTPOLE = "gymnasium.envs.classic_control.cartpole:CartPoleEnv"
MAKE = {"id": "CartPole-v1", "arguments": {}, "max_steps": 20}  # alternating pushes reach it


@pytest.fixture(scope="module")
def reference(contract):
    return SubjectSpec("overclock.recipe.references.reference:reference", (("make", MAKE), ("contract", str(contract))))


@pytest.fixture
def twin(contract, reference, candidate, toolchain):
    """The twin of a candidate, which runs where it sees neither Gymnasium nor the network."""

    def make(files=crates.FILES) -> Twin:
        limited = {name: text.replace("Some(500)", "Some(20)") for name, text in files.items()}
        folder = candidate(limited)
        return Twin(
            name="cartpole-in-rust",
            reference=reference,
            performance=sandboxed(rust_spec(folder, contract), folder, hidden_packages=("gymnasium",)),
            contracts=load_contract(contract).contracts(),
            modules=EntryPoint.of(modules, cls=CARTPOLE, contract=str(contract)),
            self_checks="overclock.recipe.judging.rust.metamorphic:RULES",
        )

    return make


@pytest.fixture(scope="module")
def recording(contract, reference):
    """What the reference did for level 1."""
    like = Twin("cartpole", reference, reference, load_contract(contract).contracts())
    named = EntryPoint.of(modules, cls=CARTPOLE, contract=str(contract))
    return level_1.record(dataclasses.replace(like, modules=named))


def test_an_honest_translation_passes_levels_1_to_3(twin, recording):
    honest = twin()
    found = level_1.check_recorded(honest, recording)
    assert found.verdict == "pass", found.first_failure
    assert {module.name for module in found.modules} == {
        "spaces", "draw", "draw_later", "draw_known", "reset", "transition", "observe", "time_limit",
    }  # fmt: skip
    assert len(found.gate.exported) == 6
    scenarios = [
        record_scenario(honest, "falls", "steady pushes end the episode", {"seed": 3}, [1] * 10),
        record_scenario(honest, "lasts", "alternating pushes reach the time limit", {"seed": 4}, [0, 1] * 10),
    ]
    assert scenarios[1].steps[-1].expect["truncated"]
    found = check_interactions(honest, scenarios=scenarios)
    assert found.verdict == "pass"
    assert [check.passed for check in found.metamorphic] == [True] * 6
    found, diverging = check_rollouts(honest, None, 8, 0, 120.0, lambda what, done, total: None)
    assert (found.verdict, diverging) == ("pass", None)


def test_level_1_names_the_field_of_a_sign_error(twin, recording):
    found = level_1.check_recorded(twin(crates.SIGN_ERROR), recording)
    first = found.first_failure
    assert (found.verdict, first.module, first.field) == ("fail", "transition", "state")
    velocity = [abs(a - b) for a, b in zip(first.reference, first.performance, strict=True)]
    assert np.argmax(velocity) == 1  # of the cart


def test_updates_in_the_wrong_order_are_found_in_episodes_and_in_an_arena(twin):
    wrong = twin(crates.WRONG_ORDER)
    found = compare_rollouts(wrong, 2, "per_step", "float64", "uniform", random_legal, 0)
    assert not found.passed
    assert found.first_divergence is not None
    assert (found.first_divergence.field, found.first_divergence.step) == ("state.state", 1)
    with Arena(wrong, "float64", lanes=2) as arena:
        assert arena.sets_state
        (finding,) = arena.find([Episode(seed=5, actions=(1, 0))], "per_step")
    assert finding is not None
    assert (finding.field, finding.step) == ("state.state", 1)


def test_a_candidate_that_panics_or_hangs_has_failed(twin):
    lean = {"state": np.array([[0.0, 0.0, 0.2, 0.0]]), "steps": np.zeros(1, np.int32)}
    hanging = crates.changed(crates.PHYSICS, "    let (cos", "    while theta > 0.1 {}\n    let (cos")
    for physics, said in ((crates.panicking(), r"rules panicked: the pole is at 0\.2"), (hanging, "gave no answer")):
        performance = twin({**crates.FILES, "src/physics.rs": physics}).performance
        with ProcessSubject(performance, 1, "the candidate") as subject:
            subject.step(np.zeros(1, np.int32), {})
            subject.set_state(lean)
            subject.timeout = 2.0
            with pytest.raises(CouldNotVerifyError, match=said):
                subject.step(np.zeros(1, np.int32), {})
