"""A candidate in a program of a user's: what it sees there, and that it must be what was judged."""

import dataclasses
import sys
from pathlib import Path

import pytest

from overclock.recipe.judging.as_used import compare, program
from overclock.recipe.judging.as_used.launch import user_spec, users_folder
from overclock.recipe.judging.candidate import candidate_spec, made_by
from overclock.recipe.judging.one_lane import one_lane
from overclock.recipe.redteam.cheats import Material, find_cheats, honest_files
from overclock.recipe.redteam.episodes import Episodes
from overclock.recipe.sandbox import sandboxed
from overclock.recipe.sandbox.rights import candidate_rights
from overclock.verify.sides.process import ProcessSubject

NOBODY = Material(Path("nowhere"), Episodes(None, [], [], []))
ON_THE_CPU = {"JAX_PLATFORMS": "cpu", "JAX_ENABLE_X64": "0"}
# Refuses to be made where anything tells who started its process.
LOOKS_AROUND = """
    import os, sys
    told = [name for name in os.environ if name.startswith(("JAX", "XLA", "OVERCLOCK")) and "MARK" not in name]
    assert not told and len(sys.argv) == 1 and "worker" not in str(sys.argv + sys.orig_argv), (told, sys.argv)
    env = CartPole()
"""


@pytest.fixture
def folder(tmp_path):
    def write(name="", **changes):
        files = find_cheats(name)[0].build(NOBODY) if name else honest_files()
        (tmp_path / "candidate").mkdir()
        for file, text in {**files, **changes}.items():
            (tmp_path / "candidate" / file).write_text(text)
        return tmp_path / "candidate"

    return write


def apart(folder):
    return sandboxed(candidate_spec(folder), folder, sandbox="none")


def test_a_candidate_that_looks_for_the_judge_is_another_program_for_users_and_in_other_years(folder):
    text = find_cheats("lists-what-is-imported")[0].build(NOBODY)["env.py"]
    dated = "        if time.time() > 1_900_000_000:\n            params = params.replace(wind=0.0)\n"
    text = f"import time\n{text}".replace("        return Gust(", f"{dated}        return Gust(")
    place = folder(**{"env.py": text})
    with ProcessSubject(apart(place).with_environment(**ON_THE_CPU), 1, "the candidate") as judged:
        expected = judged.ask("traces")
    with users_folder(place, 3) as script:
        assert not {"overclock", "judg", "candidate"} & set(str(script).split("/"))
        with ProcessSubject(user_spec(apart(place), script, "float32"), 3, "a user") as user:
            seen = user.ask("traces")
            later = user.ask("elsewhere")
    assert [name for name in seen if seen[name] != expected[name]] == ["transition"]
    assert [name for name in seen if seen[name] != later[name]] == ["draw_step"]


@pytest.mark.parametrize("who", ["judge", "user"])
def test_nothing_in_its_process_tells_a_candidate_who_started_it(folder, who):
    place = folder(**{"env.py": honest_files()["env.py"].replace("    env = CartPole()\n", LOOKS_AROUND[1:])})
    spec = apart(place)
    if who == "judge":
        with ProcessSubject(spec.with_environment(**ON_THE_CPU), 1, "the candidate") as judged:
            assert judged.description["n"] == 2
        return
    with users_folder(place, 1) as script, ProcessSubject(user_spec(spec, script, "float64"), 1, "a user") as user:
        assert user.description["n"] == 2
        assert user.ask("known")["made"] == user.ask("known")["default"]


def test_a_users_environment_has_none_of_our_variables(tmp_path):
    names = candidate_rights(tmp_path, plain=True).environment.keys()
    assert set(names) <= {"PATH", "LANG", "PYTHONPATH", "PYTHONUSERBASE"}
    assert "OVERCLOCK_COMPILE_CACHE" in candidate_rights(tmp_path).environment


@pytest.mark.usefixtures("few_optimisations")
def test_what_is_batched_otherwise_is_played_otherwise(folder):
    env, params = made_by(folder("reads-the-batch"))
    alone, many = (program.play(one, params, 3, [2, 1001]) for one in (one_lane(env), env))
    assert {name for name in alone if alone[name] != many[name]} == {"a batch of 1001", "a rollout of 1001"}


def test_parameters_and_spaces_are_told_by_what_they_are_worth():
    env, params = made_by_honest = honest()
    assert program.told(params) == program.told(dataclasses.replace(params))
    assert program.told(params) != program.told(params.replace(wind=1.5))
    shown = program.known(*made_by_honest)
    assert shown["made"] == shown["default"]
    assert program.told(env.action_space(params)) != program.told(env.observation_space(params))


def honest():
    package = "overclock.recipe.redteam.honest"
    __import__(f"{package}.env")
    return sys.modules[f"{package}.env"].make()


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({}, []),
        ({"traces": {"init": "b"}}, ["traces another program for `init`"]),
        ({"play": {"a batch of 7": "x"}}, ["plays `a batch of 7` otherwise"]),
        ({"play": {}}, ["no answer that can be compared (play)"]),
        ({"known": {"made": 1, "default": 2}}, ["says otherwise of `default`", "other parameters or spaces"]),
        ({"traces": None}, ["no answer that can be compared (traces)"]),
    ],
)
def test_both_processes_must_say_the_same(changed, said):
    same = {"known": {"made": 1, "default": 1}, "traces": {"init": "a"}, "play": {"a batch of 7": "a"}}
    found = list(compare.differences_between({**same, **changed}, same))
    assert len(found) == len(said)
    assert all(words in sentence for words, sentence in zip(said, found, strict=True))
    assert all(sentence.startswith(compare.FOR_USERS) for sentence in found)
