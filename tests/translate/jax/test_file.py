"""The generated file is one that a person would keep: the source's names, words and functions, laid out as by ruff."""

import ast
import itertools
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("gymnasium", reason="the environments here are Gymnasium's")

import gymnasium
import jax
import jax.numpy as jnp
from translate.agree import agree, loaded
from translate.traps.base import Trap

from overclock.translate.compiler import Compiler
from overclock.translate.ir.nodes import Type, Var
from overclock.translate.jax.file import print_jax
from overclock.translate.jax.line_breaking import wrapped
from overclock.translate.jax.lines import Line, Nested, mark, named
from overclock.translate.jax.names import condition_name
from overclock.translate.profile import look

WIDTH = 120
KNOWN = ("CartPole-v1", "FrozenLake-v1", "Blackjack-v1")


class Bouncer(Trap):
    """Two balls in a box, one of them pushed; the floor is uneven."""

    def __init__(self):
        super().__init__()
        self.wall = 6
        self.heights = np.array([3, 1, 4, 1, 5, 9, 2, 6])

    def begin(self):
        self.a, self.b = int(self.np_random.integers(7)), 2
        self.speed, self.last = -1, 0

    def bounced(self, place, step):
        target = place + step
        if target < 0:
            target = -target
        elif target > self.wall:
            target = 2 * self.wall - target
        return target

    def rolled_down(self, place):
        moves = 0
        while self.heights[place] > 2 and moves < 3:
            place = (place + 1) % 8
            moves += 1
        return place

    def play(self, action):
        if action == 1:
            self.speed = -self.speed
        turned, self.last = self.last != action, action
        self.a = self.bounced(self.a, self.speed)
        self.b = self.bounced(self.b, 2 * self.speed)
        if self.a == self.b:
            self.a = self.rolled_down(self.a)
            self.b = self.rolled_down(self.b)
        return float([0, 2, 4, 6, 8, 1, 3][self.a - self.b] + turned)


@pytest.fixture(scope="module")
def text():
    return print_jax(Compiler(Bouncer, "Bouncer", look(Bouncer, episodes=6, steps=16)).program())


def made(name):
    make = lambda: gymnasium.make(name)  # noqa: E731
    return print_jax(Compiler(make, name, look(make, episodes=3, steps=20)).program())


def test_what_is_written_plays_as_the_reference_does(tmp_path):
    agree(Bouncer, tmp_path)


def test_a_state_has_the_same_dtypes_after_every_step_whatever_the_action_comes_in(text, tmp_path):
    env, params = loaded(text, tmp_path).make()
    _, before = env.reset(jax.random.key(0), params)
    after = env.step_env(jax.random.key(1), before, jnp.int8(1), params)[1]
    kinds = [[(leaf.dtype, leaf.weak_type) for leaf in jax.tree.leaves(state)] for state in (before, after)]
    assert kinds[0] == kinds[1]


def test_a_function_of_the_source_is_one_of_the_file_and_is_called_as_often(text):
    assert text.count("def bounced(") == text.count("def rolled_down(") == 1
    assert text.count("= bounced(") == text.count("= rolled_down(") == 2
    assert "bounced_2" not in text


def test_loops_of_a_function_turn_only_where_the_branch_around_its_call_is_taken(text):
    assert "when=a_is_b)" in text
    assert "return when & " in text


def test_numbers_and_tables_of_the_instance_have_their_names(text):
    assert "\nWALL = 6\n" in text
    assert "\nHEIGHTS = np.array([3, 1, 4, 1, 5, 9, 2, 6], np.int64)\n" in text
    assert "> WALL" in text


def test_conditions_are_called_after_their_words_which_stand_above(text):
    lines = [line.strip() for line in text.splitlines()]
    at = next(k for k, line in enumerate(lines) if line.startswith("action_is_1 ="))
    assert lines[at - 1] == "# if action == 1:"
    assert "# elif target > self.wall:" in lines


def test_a_place_before_the_first_counts_from_the_end_as_in_the_source(text):
    assert "< 0, " not in text.split("def transition")[1]


def test_no_comment_stands_before_nothing(text):
    lines = [line.strip() for line in text.splitlines()]
    for one, other in itertools.pairwise(lines):
        assert not (one == "# else:" and (other.startswith("return") or other == "# else:"))


def test_attributes_of_a_known_environment_are_constants():
    text = made("CartPole-v1")
    for line in ("GRAVITY = 9.8", "TAU = 0.02", "FORCE_MAG = 10.0", "X_THRESHOLD = 2.4"):
        assert f"\n{line}\n" in text
    assert "-FORCE_MAG" in text
    assert "x = x + TAU * x_dot" in text


@pytest.mark.parametrize("name", [*KNOWN, "own"])
def test_ruff_has_nothing_to_say(name, tmp_path, text):
    ruff = shutil.which("ruff") or shutil.which("ruff", path=str(Path(sys.executable).parent))
    if ruff is None:
        pytest.skip("ruff is not installed: pip install 'overclock[lint]'")
    file = tmp_path / "env.py"
    file.write_text(text if name == "own" else made(name))
    # F722: jaxtyping's shapes are strings that are no Python.
    rules = ["--isolated", "--line-length", str(WIDTH), str(file)]
    for command in (["check", "--select", "E,F,W,I,UP,B", "--ignore", "F722"], ["format", "--diff"]):
        done = subprocess.run([ruff, *command, *rules], cwd=tmp_path, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout


# ---- the parts ----


def test_a_name_is_given_again_when_its_former_value_is_not_read_any_more():
    first, second, third = (Var(Type("int64"), "pos") for _ in range(3))
    lines = [
        Line(f"{mark(first)} = state.pos", (first,)),
        Line(f"{mark(second)} = {mark(first)} + 1", (second,)),
        Line(f"{mark(third)} = {mark(second)} * 2", (third,)),
        Line(f"return {mark(second)} - {mark(third)}"),
    ]
    found = named(lines, {}, lambda var: var.hint, (), 0)
    assert found == ["pos = state.pos", "pos = pos + 1", "pos_2 = pos * 2", "return pos - pos_2"]


def test_a_function_inside_keeps_the_name_of_what_it_reads_outside():
    outer, other, inner, out = (Var(Type("int64"), "x") for _ in range(4))
    lines = [
        Line(f"{mark(outer)} = 1", (outer,)),
        Line(f"{mark(other)} = 2", (other,)),
        Nested("def turn(carried):", [Line(f"{mark(inner)} = {mark(outer)}", (inner,)), Line(f"return {mark(inner)}")]),
        Line(f"{mark(out)} = call(turn)", (out,)),
        Line(f"return {mark(out)}"),
    ]
    found = [line for line in named(lines, {}, lambda var: var.hint, (), 0) if line]
    assert found == [
        "x = 1",
        "x_2 = 2",
        "def turn(carried):",
        "    x_2 = x",
        "    return x_2",
        "x = call(turn)",
        "return x",
    ]


@pytest.mark.parametrize(
    ("source", "name"),
    [
        ("self.ball_dir == 0", "ball_dir_is_0"),
        ("new_x < 0 or new_x > 9", "new_x_below_0_or_new_x_above_9"),
        ("not self.strike", "not_strike"),
        ("action", "if_action"),
        ("self.a_very_long_name[self.another_long_name] == self.yet_another", ""),
    ],
)
def test_a_condition_gets_a_name_or_none(source, name):
    assert condition_name(source) == name


@pytest.mark.parametrize(
    "line",
    [
        f"x = jnp.where({'a' * 40}, {'b' * 40}, {'c' * 60})",
        f"x = ({'a' * 40} == {'b' * 40}) | ({'c' * 40} & {'d' * 40})",
        "return " + ", ".join(f"name_{at}" for at in range(30)),
        ", ".join(f"name_{at}" for at in range(30)) + " = carried",
        "x = call(" + ", ".join(f"[{at}, {at}]" for at in range(40)) + ")",
    ],
)
def test_a_long_line_is_broken_and_says_the_same(line):
    lines = wrapped(line)
    assert max(map(len, lines)) <= WIDTH
    assert ast.dump(ast.parse("\n".join(lines))) == ast.dump(ast.parse(line))
