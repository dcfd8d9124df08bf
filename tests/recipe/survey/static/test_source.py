"""What a user may write for a reference, and the one sentence for what cannot be one."""

from pathlib import Path

import pytest

from overclock.errors import UsageError
from overclock.recipe.survey.static.source import resolve


def names(source) -> list[str]:
    return [path.name for path in source.files]


def test_a_gymnasium_id_brings_its_class_arguments_and_time_limit() -> None:
    lake = resolve("gymnasium:FrozenLake8x8-v1")
    assert (lake.kind, lake.env_id, lake.name) == ("gymnasium", "FrozenLake8x8-v1", "frozen_lake8x8")
    assert (lake.module, lake.class_name) == ("gymnasium.envs.toy_text.frozen_lake", "FrozenLakeEnv")
    assert lake.arguments == {"map_name": "8x8"}
    assert lake.max_steps == 200


def test_only_the_environments_own_files_are_listed() -> None:
    assert names(resolve("gymnasium:FrozenLake-v1")) == ["frozen_lake.py", "utils.py"]
    assert names(resolve("gymnasium:Blackjack-v1")) == ["blackjack.py"]


def test_given_arguments_and_limit_win_over_registered_ones() -> None:
    lake = resolve("gymnasium:FrozenLake-v1", {"map_name": "8x8", "is_slippery": False}, max_steps=7)
    assert lake.arguments == {"map_name": "8x8", "is_slippery": False}
    assert lake.max_steps == 7


def test_a_class_is_found_through_the_package_that_exports_it() -> None:
    pole = resolve("gymnasium.envs.classic_control:CartPoleEnv", {"sutton_barto_reward": True})
    assert (pole.kind, pole.module) == ("class", "gymnasium.envs.classic_control.cartpole")
    assert pole.max_steps is None


def test_a_file_inside_a_package_is_read_with_the_files_it_uses(mine: Path) -> None:
    source = resolve(str(mine))
    assert (source.module, source.class_name, source.folder) == ("minegame.env", "MineEnv", mine.parent.parent)
    # Not picture.py, which only rendering uses, and not __init__.py, which only exports.
    assert names(source) == ["constants.py", "env.py", "lamp.py", "ore.py", "shaft.py"]


def test_a_package_may_export_its_environment_by_a_relative_import(mine: Path, monkeypatch) -> None:
    monkeypatch.syspath_prepend(mine.parent.parent)
    source = resolve("minegame:MineEnv")
    assert (source.module, source.folder) == ("minegame.env", None)
    assert names(source) == names(resolve(str(mine)))


def test_reading_a_file_does_not_run_it(write) -> None:
    file = write(
        "bomb.py",
        """
        raise SystemExit("run")

        class Env:
            def reset(self, seed=None): ...
            def step(self, action): ...
        """,
    )
    assert resolve(str(file)).class_name == "Env"


def test_a_file_with_several_environments_asks_which(write) -> None:
    both = """
        class One:
            def reset(self): ...
            def step(self, action): ...

        class Two(One):
            pass

        class Three:
            def reset(self): ...
            def step(self, action): ...
        """
    file = write("several.py", both)
    with pytest.raises(UsageError, match=r"write several\.py:Three or several\.py:Two"):
        resolve(str(file))
    assert resolve(f"{file}:One").class_name == "One"


def test_a_command_and_a_specification(tmp_path: Path) -> None:
    command = resolve("python -m simulator --quiet")
    assert (command.kind, command.command) == ("command", ("python", "-m", "simulator", "--quiet"))
    (tmp_path / "rules.md").write_text("# Rules\n")
    spec = resolve(str(tmp_path / "rules.md"))
    assert (spec.kind, spec.name, spec.document) == ("specification", "rules", tmp_path / "rules.md")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("gymnasium:NoSuch-v0", "Gymnasium has no environment 'NoSuch-v0'"),
        ("gymnasium:HalfCheetah-v2", "Gymnasium cannot make 'HalfCheetah-v2'"),
        ("no_such_package.env:Env", "no source file for the module 'no_such_package.env'"),
        ("gymnasium.envs.toy_text.taxi:Taxy", "taxi.py has no class 'Taxy'; it has TaxiEnv"),
        ("overclock.errors:UsageError", "is no environment: UsageError has no method reset and no step"),
        ("missing.py", "There is no file 'missing.py'"),
        ("missing.md", "The specification 'missing.md' cannot be read"),
        ("no-such-program --now", "names no reference; a reference is package.module:Class, gymnasium:Id"),
    ],
)
@pytest.mark.filterwarnings("ignore:.*out of date")
def test_what_cannot_be_resolved_is_said_in_one_sentence(text: str, said: str) -> None:
    with pytest.raises(UsageError) as raised:
        resolve(text)
    assert said in str(raised.value)
    assert "\n" not in str(raised.value)


def test_a_file_that_is_not_python(write) -> None:
    with pytest.raises(UsageError, match=r"is not Python: .* in line 1"):
        resolve(str(write("broken.py", "class Env(:\n")))
