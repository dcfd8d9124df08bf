"""Old names of modules and public things stay importable: packages, repros and tests of earlier versions use them."""

import importlib
import subprocess
import sys

import pytest

from overclock._moved import MOVED

RENAMED = {
    "overclock.recipe.redteam": {"Caught": "Outcome", "Court": "Judges", "open_court": "prepare_judges"},
    "overclock.vector.fused": {"resolved": "fastest_backend", "works_here": "require_kernel"},
}


@pytest.mark.parametrize("old", MOVED)
def test_an_old_module_is_the_new_one(old):
    pytest.importorskip("flax", reason="some of them train")
    assert importlib.import_module(old) is importlib.import_module(MOVED[old])


def test_what_lies_in_a_moved_package_is_there_once():
    import overclock.recipe.hygiene.frozen as old

    import overclock.recipe.judging.hygiene.frozen as new

    assert old is new


def test_an_old_name_works_in_a_new_process_and_leaves_the_new_one_as_it_is():
    script = (
        "from overclock.verify.subject import SubjectSpec; from overclock.env.kernel import Environment; "
        "import overclock.verify.sides.subject as new; assert new.SubjectSpec is SubjectSpec; "
        "assert new.__spec__.name == 'overclock.verify.sides.subject'"
    )
    subprocess.run([sys.executable, "-c", script], check=True)


@pytest.mark.parametrize("package", RENAMED)
def test_an_old_public_name_is_the_new_one(package):
    module = importlib.import_module(package)
    for old, new in RENAMED[package].items():
        assert getattr(module, old) is getattr(module, new)
