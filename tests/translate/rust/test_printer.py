"""Programs printed as Rust: compiled, and taken step by step from the reference's own state."""

import importlib.util

import numpy as np
import pytest

pytest.importorskip("gymnasium", reason="the references are Gymnasium environments")

import gymnasium
from translate.rust_candidate import Candidate
from translate.rust_worlds import Boards, Luck, Numbers, Spread, breakout

from overclock.env import Rng, Section
from overclock.errors import MissingError
from overclock.recipe.judging.rust.metamorphic import RULES, check
from overclock.recipe.judging.rust.toolchain import sysroot
from overclock.recording.errors import UnsupportedError
from overclock.translate.compiler import Compiler
from overclock.translate.profile import look
from overclock.translate.rust.file import print_rust
from overclock.translate.rust.line_breaking import wrapped
from overclock.translate.rust.syntax import literal

pytestmark = pytest.mark.filterwarnings("ignore:overflow encountered:RuntimeWarning")


@pytest.fixture(scope="module")
def root():
    try:
        return sysroot()
    except MissingError as error:
        pytest.skip(str(error))


@pytest.fixture(scope="module")
def candidate(root, tmp_path_factory):
    """Candidates by their makers, each compiled once."""
    made = {}

    def of(make) -> Candidate:
        if make not in made:
            reference = make if callable(make) else lambda: gymnasium.make(make)
            made[make] = Candidate(reference, tmp_path_factory.mktemp("rust"), root)
        return made[make]

    return of


@pytest.mark.parametrize(
    ("name", "tolerances"),
    [
        # NumPy has sines of its own, one ulp away from those of the C library.
        ("CartPole-v1", {"state": 1e-15}),
        ("MountainCar-v0", {}),
        # The reference itself keeps this state sometimes in float32; pow(x, 2) of the C library is not always x * x.
        ("MountainCarContinuous-v0", {"state": 6e-8, "reward": 1e-16}),
        # A sine as before; u**2 is powf(u, 2) in float32, whose last digit is worth up to 5e-10 of 0.001 * u**2.
        ("Pendulum-v1", {"state": 1e-14, "obs": 6e-8, "reward": 5e-10}),
        ("Acrobot-v1", {"state": 1e-14, "obs": 6e-8}),
        ("FrozenLake-v1", {}),
    ],
)
def test_steps_are_those_of_the_reference(candidate, name, tolerances):
    found = candidate(name)
    assert found.findings == []
    found.compare(**tolerances)


def test_a_game_with_a_board_is_equal_bit_for_bit(candidate):
    if importlib.util.find_spec("minatar") is None:
        pytest.skip("MinAtar is not installed")
    found = candidate(breakout)
    steps = found.compare(600)
    assert sum(one.terminated for one in steps) > 10
    assert "if let (Some(" in found.text  # writes to the board are guarded
    assert "let mut brick_map" not in found.text  # and made in the state's own memory


@pytest.mark.parametrize("make", [Numbers, Boards, Luck])
def test_pythons_rules_hold(candidate, make):
    # exp, hypot and atan2 of NumPy's libraries and of the C library; products of matrices have no fixed order.
    steps = candidate(make).compare(state=1e-13)
    assert len({one.action for one in steps}) == make.action_space.n


@pytest.mark.parametrize("make", ["FrozenLake-v1", Numbers, Boards])
def test_nothing_panics_whatever_the_state(candidate, make):
    library = candidate(make).library
    generator = np.random.default_rng(0)
    states = np.zeros(512, library.state_dtype)
    for name in library.state_dtype.names:
        info = np.iinfo(np.int64)
        if states[name].dtype.kind in "iu":
            choices = np.array([info.min, info.max, -1, 0, 3, 10**6]).astype(states[name].dtype)
        else:
            choices = np.array([np.nan, 0.0, -1e300, 7.5]).astype(states[name].dtype)
        states[name] = generator.choice(choices, states[name].shape)
    draws = np.zeros(512, library.step_dtype)
    for action in (info.min, -1, 0, 10**6, info.max):
        library.transition(states, np.full(512, action), draws)
    library.observe(states)


def test_production_draws_are_those_of_the_generator(candidate):
    found = candidate(Luck)
    assert all(check(found.library, name)["passed"] for name in RULES)
    seeds = np.arange(4000)
    drawn = found.library.draw_reset(found.library.streams(seeds))
    names = {site.method: site.name for site in found.program.reset.sites}
    height, kind = drawn[names["normal"]], drawn[names["choice"]]
    assert abs(height.mean() - 5.0) < 0.15
    assert abs(height.std() - 2.0) < 0.1
    np.testing.assert_allclose(np.bincount(kind) / len(kind), [0.5, 0.3, 0.2], atol=0.03)
    orders = drawn[names["permutation"]]
    np.testing.assert_array_equal(np.sort(orders, axis=1), np.tile(np.arange(5), (len(seeds), 1)))
    np.testing.assert_allclose(orders.mean(axis=0), 2.0, atol=0.1)
    # As on the JAX side, behind one site for the height, one for the kind and five for the order.
    low, high = np.array([-1.0, 2.0]), np.array([1.0, 4.0])
    rng = Rng.of(3).of_section(Section.RESET)
    words = [[int(np.asarray(rng.words(7, (2,), half))[at]) for half in (0, 1)] for at in range(2)]
    unit = np.array([((first >> 5) * 2.0**26 + (second >> 6)) * 2.0**-53 for first, second in words])
    np.testing.assert_array_equal(drawn[names["uniform"]][3], (unit - 0.5) * (high - low) + (high + low) * 0.5)


def test_what_the_printer_does_not_have_is_refused_by_name():
    program = Compiler(Spread, "Spread", look(Spread, episodes=2, steps=8)).program()
    with pytest.raises(UnsupportedError, match="no 'std'"):
        print_rust(program)


def test_numbers_are_read_back_as_they_were():
    for value, dtype, text in [
        (0.1, "float64", "0.1"), (1e-05, "float64", "1e-05"), (0.1, "float32", "0.1"), (-3, "int8", "-3"),
        (np.inf, "float64", "f64::INFINITY"), (-np.inf, "float32", "-f32::INFINITY"), (True, "bool", "true"),
    ]:  # fmt: skip
        assert literal(value, dtype).text == text


def test_long_lines_are_broken_without_changing_them():
    sums = "let total = " + " + ".join(f"price[{at}] * amount({at}, other)" for at in range(8)) + ";"
    pairs = "    let (" + ", ".join(f"name_{at}" for at in range(30)) + ") = if ready {"
    for line in (sums, pairs):
        lines = wrapped(line)
        assert max(map(len, lines)) <= 110
        assert "".join(lines).replace(" ", "").replace(",)", ")") == line.replace(" ", "")
