"""An accepted translation becomes a package that stands on its own; nothing else does."""

import dataclasses
import email.message
import json
import os
import subprocess
import sys
import tomllib
from importlib.metadata import version

import pytest
from recipe.exports import ONE, RULES, TWO, accepted_run, installed
from recipe.projects import small_project

pytest.importorskip("gymnasium", reason="references are Gymnasium environments")
pytest.importorskip("jinja2", reason="the report's page needs the extra 'report'")

from level_results import rollouts, walk

from overclock.errors import UsageError
from overclock.recipe.export.accepted import accepted
from overclock.recipe.export.names import names_for
from overclock.recipe.export.origin import Origin, licence_of, origin_of, require_same
from overclock.recipe.export.package import export
from overclock.recipe.export.readme import shown_equal
from overclock.recipe.project.project import format_project

MAKES = """
import jax
import overclock

env, params = overclock.make("NAME")
_, state = env.reset(jax.random.key(0), params)
obs, *_ = env.step_env(jax.random.key(0), state, 1, params)
print(type(env).__name__, params.max_steps, obs, [spec.id for spec in overclock.list_envs() if spec.name == "NAME"])
"""


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A project, what was exported of it, and where that is installed."""
    place = tmp_path_factory.mktemp("export")
    project = accepted_run(place / "pond")
    written = export(place / "out", place / "pond")
    return project, written, installed(written.folder, place / "site")


def run(site, *words, reference=None):
    """Python with an installed package, apart from this process; `reference` is the folder of the original."""
    path = [str(site), *([] if reference is None else [str(reference)]), *filter(None, sys.path)]
    done = subprocess.run(
        [sys.executable, *words], cwd=site, capture_output=True, text=True, timeout=300, check=False,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(path), "JAX_PLATFORMS": "cpu"},
    )  # fmt: skip
    return done.returncode, done.stdout + done.stderr


def test_the_rules_and_what_they_were_judged_by_are_there_byte_for_byte(made):
    project, written, _ = made
    inside = written.folder / "src" / "pond_jax"
    assert (inside / "env.py").read_text() == ONE["env.py"]
    for path in ("contract.toml", "scenarios/still.json"):
        assert (inside / "verification" / path).read_bytes() == (project.folder / path).read_bytes()
    assert json.loads((inside / "verification" / "report.json").read_text())["final"]["candidate"] == written.candidate
    assert "<html" in (inside / "verification" / "report.html").read_text()
    assert (written.id, written.package, written.reference) == ("pond_jax-v0", "pond_jax", "pond.py:Pond")
    assert sorted(written.files) == sorted(
        str(path.relative_to(written.folder)) for path in written.folder.rglob("*") if path.is_file()
    )


def test_nothing_of_this_machine_goes_into_the_world(made):
    project, written, _ = made
    for name in written.files:
        assert str(project.folder.parent).encode() not in (written.folder / name).read_bytes(), name


def test_the_project_file_names_what_is_needed_and_claims_no_licence(made):
    settings = tomllib.loads((made[1].folder / "pyproject.toml").read_text())["project"]
    assert settings["dependencies"][0].startswith("overclock>=")
    assert settings["entry-points"] == {"overclock.environments": {"pond_jax-v0": "pond_jax:SPEC"}}
    assert settings["optional-dependencies"]["test"] == ["pytest>=8"]  # the original is a file, of no distribution
    assert not {"license", "license-files"} & settings.keys()
    said = (made[1].folder / "README.md").read_text()
    assert "The rules here derive from `pond:Pond`, whose licence applies to them." in said
    assert "| level 3 | pass | 1 / 1 |" in said
    assert "Not asked: level 2, level 4" in said


@pytest.mark.long
def test_its_own_tests_pass_once_it_is_installed_beside_the_original_too(made):
    project, written, site = made
    code, said = run(site, "-m", "pytest", "-q", "-rs", str(written.folder / "tests"), reference=project.folder)
    assert (code, "5 passed" in said) == (0, True), said


def test_its_own_tests_say_why_they_are_skipped_without_the_original_and_find_a_wrong_rule(made, tmp_path):
    _, written, _ = made
    site = installed(written.folder, tmp_path / "site")
    rules = site / "pond_jax" / "env.py"
    rules.write_text(rules.read_text().replace("x > 7", "x > 6"))
    code, said = run(site, "-m", "pytest", "-q", "-rs", "-k", "original", str(written.folder / "tests"))
    assert code == 1
    assert "The reference pond:Pond is not here: no module 'pond' can be imported." in said
    assert "2 failed, 1 skipped" in said


@pytest.mark.long
def test_verify_asks_the_original_again(made):
    project, _, site = made
    words = ("-m", "overclock", "verify", "pond_jax", "--only", "1", "--json", "--output", str(site / "report"))
    code, said = run(site, *words, reference=project.folder)
    assert code == 0, said
    report = json.loads(said[said.index('{"schema"') :].splitlines()[0])
    assert [level["verdict"] for level in report["levels"]] == ["pass"]
    assert (report["env"], report["reference"]) == ("pond_jax-v0", "pond.py:Pond")
    code, said = run(site, *words)
    assert (code, "put its folder on PYTHONPATH" in said) == (2, True)


def test_a_translation_of_several_files_keeps_them_as_they_were_judged(tmp_path):
    accepted_run(tmp_path / "pond", TWO)
    written = export(tmp_path / "out", tmp_path / "pond", name="pond-two-v3")
    assert (written.folder / "src" / "pond_two" / "rules" / "steps.py").read_text() == RULES
    site = installed(written.folder, tmp_path / "site")
    code, said = run(site, "-c", MAKES.replace("NAME", "pond-two"))
    assert (code, said.strip()) == (0, "Pond 20 1 ['pond-two-v3']")


def test_a_program_that_differs_from_its_reference_is_not_exported_whatever_its_journal_says(tmp_path):
    accepted_run(tmp_path / "pond", {"env.py": ONE["env.py"].replace("x > 7", "x > 6")})
    with pytest.raises(UsageError, match=r"differs from its reference as it is now \(terminated at step \d+"):
        export(tmp_path / "out", tmp_path / "pond")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["pond"]


def test_parameters_that_only_make_knows_are_refused(tmp_path):
    other = ONE["env.py"].replace("return Pond(), Pond().default_params()", "return Pond(), PondParams(max_steps=20)")
    other = other.replace("        return PondParams()", "        return PondParams(max_steps=19)")
    accepted_run(tmp_path / "pond", {"env.py": other})
    with pytest.raises(UsageError, match=r"other parameters than Pond.default_params\(\)"):
        export(tmp_path / "out", tmp_path / "pond")


# ---- what is refused before anything is played ----


def edited(place, old, new):
    place.write_text(place.read_text().replace(old, new))


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda p: edited(p / "runs/first/candidate/env.py", "> 7", "> 8"), "is not what the judge has accepted"),
        (lambda p: (p / "runs/first/candidate/more.py").write_text("x = 1\n"), "is not what the judge has accepted"),
        (lambda p: edited(p / "contract.toml", 'reason = ""', 'reason = "so"'), "The contract of 'pond'"),
        (lambda p: edited(p / "runs/first/scenarios/still.json", "still", "quiet"), "The scenarios of 'pond' changed"),
        (lambda p: edited(p / "overclock.toml", "max_steps = 20", "max_steps = 21"), "The reference of 'pond' changed"),
        (lambda p: edited(p / "overclock.toml", '"jax"', '"rust"'), "only JAX results can be exported so far"),
    ],
)
def test_what_was_changed_after_the_judge_accepted_it_is_not_exported(tmp_path, change, said):
    accepted_run(tmp_path / "pond")
    change(tmp_path / "pond")
    with pytest.raises(UsageError, match=said):
        export(tmp_path / "out", tmp_path / "pond")
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("verdicts", "said"),
    [
        (((0, "pass"), (1, "pass"), (3, "pass")), "no verdict of held-out"),
        (((0, "pass"), (1, "pass"), (3, "pass"), ("held-out", "pass"), (1, "fail")), "no verdict of level 1"),
        ((), "no verdict of hygiene"),
    ],
)
def test_a_run_that_calls_itself_done_needs_a_verdict_of_every_level(tmp_path, verdicts, said):
    accepted_run(tmp_path / "pond", verdicts=verdicts)
    with pytest.raises(UsageError, match=said):
        accepted(tmp_path / "pond")


def test_a_run_that_is_not_done_has_nothing_to_export(tmp_path, monkeypatch):
    accepted_run(tmp_path / "pond", outcome="stuck", sentence="Level 1 failed.")
    with pytest.raises(UsageError, match=r"No run in '.*pond' is done \(not 'first': `overclock status"):
        accepted(tmp_path / "pond")
    with pytest.raises(UsageError, match=r"The run 'first' ended stuck: Level 1 failed; only a run that is done"):
        accepted(tmp_path / "pond", "first")
    with pytest.raises(UsageError, match=r"has no run 'second'; there are: first"):
        accepted(tmp_path / "pond", "second")
    monkeypatch.chdir(tmp_path / "pond" / "scenarios")
    with pytest.raises(UsageError, match=r"No run in '.*scenarios' is done; `overclock translate` makes one"):
        accepted()


def test_the_newest_run_that_is_done_is_found_from_the_folder_around_its_project(tmp_path, monkeypatch):
    project = accepted_run(tmp_path / "pond")
    monkeypatch.chdir(tmp_path)
    found = accepted()
    assert (found.run.name, found.project.name, found.frozen.files["env.py"].decode()) == (
        "first", "pond", ONE["env.py"]
    )  # fmt: skip
    moved = tmp_path / "elsewhere"
    (tmp_path / "pond").rename(moved)
    text = format_project(
        dataclasses.replace(project, reference=dataclasses.replace(project.reference, path=str(moved)))
    )
    (moved / "overclock.toml").write_text(text)
    assert accepted(run="first").project.folder == moved


def test_the_readme_calls_proven_only_what_was_proven():
    proof = rollouts(exhaustive=walk())
    assert (
        shown_equal(proof, ["float64", "float32"]) == "It is proven equal in float64; in float32 compared by playing."
    )
    assert shown_equal(proof, ["float64"]) == "It is proven equal in float64; the table says for what."
    for played in (None, rollouts(), rollouts(exhaustive=walk(proof=False))):
        assert "not proven equal" in shown_equal(played, ["float64"])


def test_a_folder_with_something_in_it_stays_as_it_is(tmp_path):
    accepted_run(tmp_path / "pond")
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "mine.txt").write_text("mine")
    with pytest.raises(UsageError, match=r"'.*out' is not empty; choose a new folder"):
        export(tmp_path / "out", tmp_path / "pond")
    with pytest.raises(UsageError, match=r"mine.txt' is a file"):
        export(tmp_path / "out" / "mine.txt", tmp_path / "pond")
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["mine.txt"]


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("Fast", "A package cannot be called 'Fast'"),
        ("fast-", "A package cannot be called 'fast-'"),
        ("class", "A package cannot be called 'class'"),
        ("../up", "A package cannot be called"),
        ("cartpole", "There is an environment 'cartpole-v1' already"),
        ("cartpole-v7", "There is an environment 'cartpole-v1' already"),
        ("json", "There is a Python module 'json' already"),
        ("jax", "There is a Python module 'jax' already"),
        ("pond", "There is a Python module 'pond' already"),
    ],
)
def test_a_name_that_nobody_could_use_is_refused(name, said):
    with pytest.raises(UsageError, match=said):
        names_for("lake", name, reserved=("pond",))


def test_a_projects_name_gives_way_to_what_is_there(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    assert names_for("My.Lake", None).id == "my_lake-v0"
    assert names_for("cartpole", None).package == "cartpole_jax"
    assert names_for("pond", None, reserved=("pond",)).id == "pond_jax-v0"
    assert names_for("lake", "fast-lake-v2") == names_for("sea", "fast-lake-v2")


def test_the_licence_is_what_the_distribution_states(tmp_path):
    def stated(**headers):
        message = email.message.Message()
        for name, value in headers.items():
            message[name.replace("_", "-")] = value
        return licence_of(message)

    assert stated(License_Expression="MIT", License="something else") == "MIT"
    assert stated(License="BSD") == "BSD"
    assert stated(License="The whole text\nof a licence", Classifier="License :: OSI Approved :: MIT License") == (
        "MIT License"
    )
    assert stated(Name="x") is None


def test_the_licence_of_an_installed_original_is_passed_on(tmp_path):
    project = small_project(tmp_path)
    reference = dataclasses.replace(project.reference, cls="gymnasium.envs.classic_control.cartpole:CartPoleEnv")
    found = origin_of(dataclasses.replace(project, reference=reference))
    assert (found.distribution, found.requirement) == ("gymnasium", f"gymnasium=={version('gymnasium')}")
    assert "MIT" in found.licence
    assert any(b"Permission is hereby granted" in text for text in found.notices.values())


def test_another_version_of_the_original_than_it_was_judged_by_is_refused():
    now = Origin("gymnasium:CartPole-v1", "gymnasium.x:Y", "gymnasium", "1.3.0", "MIT")
    require_same(now, {"gymnasium": "1.3.0"})
    require_same(now, None)
    with pytest.raises(UsageError, match=r"judged beside gymnasium 1.2.0, and 1.3.0 is installed"):
        require_same(now, {"gymnasium": "1.2.0"})
