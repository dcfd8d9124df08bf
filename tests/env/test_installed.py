"""Other packages bring environments by an entry point; a broken one is one sentence, and hurts nobody else."""

import json
import subprocess
import sys

import pytest

import overclock
from overclock import cli
from overclock.env import registry
from overclock.errors import UnknownEnvironmentError, UsageError

SPEC = 'from overclock.env.registry import Spec\n\nSPEC = Spec("{id}", "{entry_point}", summary="from afar")\n'


@pytest.fixture
def install(tmp_path, monkeypatch):
    """Put a package and its metadata where Python finds them, as pip does."""
    monkeypatch.syspath_prepend(str(tmp_path))

    def put(env_id, text, package):
        (tmp_path / f"{package}.py").write_text(text)
        about = tmp_path / f"{package}-1.0.dist-info"
        about.mkdir()
        (about / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {package}\nVersion: 1.0\n")
        (about / "entry_points.txt").write_text(f"[{registry.GROUP}]\n{env_id} = {package}:SPEC\n")

    yield put
    for name in ("afar_good", "afar_bad", "afar_make"):
        sys.modules.pop(name, None)


def test_an_installed_environment_is_made_and_listed_like_any_other(install):
    install("afar-v2", SPEC.format(id="afar-v2", entry_point="probes:Countdown"), "afar_good")
    assert overclock.spec("afar").id == registry.full_id("afar-v2") == "afar-v2"
    assert "afar-v2" in [spec.id for spec in overclock.list_envs()]
    env, _ = overclock.make("afar", shortest=9)
    assert env.shortest == 9
    with pytest.raises(UnknownEnvironmentError, match="did you mean 'afar'"):
        overclock.make("afarr")


def test_an_entry_point_may_be_a_function_that_makes_it(install):
    text = (
        "import probes\n\n\ndef make():\n    env = probes.Countdown(shortest=7)\n    return env, env.default_params()\n"
    )
    install("afar-v0", SPEC.format(id="afar-v0", entry_point="afar_make:make") + text, "afar_make")
    env, params = overclock.make("afar")
    assert (env.shortest, params.pace) == (7, 1)
    with pytest.raises(UsageError, match=r"afar-v0 has no option 'shortest' \(it has none\)"):
        overclock.make("afar", shortest=9)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("import a_module_that_is_gone\n", "ModuleNotFoundError: No module named 'a_module_that_is_gone'"),
        ("SPEC = 3\n", "TypeError: it is no overclock.Spec of that id"),
        (SPEC.format(id="cartpole-v1", entry_point="a:B"), "TypeError: it is no overclock.Spec of that id"),
    ],
)
def test_a_broken_package_is_one_sentence_and_the_others_stay(install, text, said):
    install("afar-v0", text, "afar_bad")
    heard = []
    assert "cartpole-v1" in [spec.id for spec in overclock.list_envs(heard.append)]
    assert overclock.spec("cartpole").id == "cartpole-v1"
    with pytest.raises(UsageError) as caught:
        overclock.make("afar-v0")
    assert heard == [str(caught.value)]
    assert said in heard[0]
    assert "install 'afar_bad' again, or remove it." in heard[0]


def test_the_list_leaves_a_broken_package_out_and_says_so(install, capsys):
    install("afar-v0", "import a_module_that_is_gone\n", "afar_bad")
    assert cli.main(["list", "--json"]) == 0
    told = capsys.readouterr()
    assert "cartpole-v1" in [row["id"] for row in json.loads(told.out)["environments"]]
    assert told.err.startswith("left out: 'afar-v0' comes with another package")
    assert told.err.count("\n") == 1


def test_rules_that_cannot_be_imported_are_one_sentence_too(install):
    install("afar-v0", SPEC.format(id="afar-v0", entry_point="nowhere.env:Afar"), "afar_bad")
    assert overclock.spec("afar").summary == "from afar"
    with pytest.raises(UsageError, match=r"'nowhere.env:Afar' cannot be loaded \(ModuleNotFoundError"):
        overclock.make("afar")


def test_nobody_takes_a_name_that_is_registered_here(install):
    install("cartpole-v9", SPEC.format(id="cartpole-v9", entry_point="probes:Countdown"), "afar_good")
    assert overclock.spec("cartpole").id == "cartpole-v1"
    assert "cartpole-v9" not in registry.known_ids()


def test_our_own_names_need_no_look_at_what_is_installed():
    code = "import sys, overclock; overclock.spec('cartpole'); print('importlib.metadata' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True)
    assert done.stdout.strip() == "False"
