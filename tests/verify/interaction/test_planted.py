"""Every planted bug of the vector layer is seen by level 2 of `verify`, and the page says by which check."""

import dataclasses
import re
from pathlib import Path

import pytest
from verify.interaction.planted import ANOTHER_ADVANCE, BUGS, SAVED, planted

from overclock.env import registry
from overclock.verify.interaction.level import check_interactions
from overclock.verify.interaction.metamorphic import SelfChecks
from overclock.verify.interaction.metamorphic_rules import VECTOR_RULES
from overclock.verify.sides.subject import SubjectSpec

pytestmark = pytest.mark.usefixtures("few_optimisations")
ALL = [*BUGS, ANOTHER_ADVANCE]
PAGE = (Path(__file__).parents[3] / "docs" / "adequacy.md").read_text()


def checks():
    return SelfChecks(*registry.make("cartpole-v1"))


@pytest.mark.parametrize("bug", ALL, ids=lambda bug: f"{bug.number}-{bug.patch.module.rpartition('.')[2]}")
def test_a_planted_bug_is_seen_by_its_check(bug):
    with planted(bug):
        found = checks().run(bug.seen_by)
    assert not found.passed
    assert found.worst_field


def test_without_a_bug_all_of_these_checks_pass():
    sound = checks()
    found = [sound.run(name) for name in (*VECTOR_RULES, SAVED)]
    assert [check.name for check in found if not check.passed] == []
    looked = {check.name: check.compared for check in found if check.name != SAVED}
    assert looked == {name: rule.compared for name, rule in VECTOR_RULES.items()}


def test_the_page_lists_every_bug_with_the_check_that_sees_it():
    rows = re.findall(r"^\| (\d+) \| [^|]+ \| [^|]+ \| 2 \| 2: `([^`]+)` \|$", PAGE, re.MULTILINE)
    assert [(int(number), check) for number, check in rows] == [(bug.number, bug.seen_by) for bug in BUGS]


@pytest.mark.long
@pytest.mark.parametrize("bug", ALL, ids=lambda bug: f"{bug.number}-{bug.patch.module.rpartition('.')[2]}")
def test_verify_fails_at_level_2(bug):
    """The whole level, with the bug in the worker process of the performance side."""
    pytest.importorskip("gymnasium", reason="the reference of CartPole is Gymnasium's")
    from overclock.envs.cartpole.twin import twin

    sound = twin()
    options = {"bug_number": bug.number, "another": bug is ANOTHER_ADVANCE, "env_id": "cartpole-v1"}
    wrong = dataclasses.replace(
        sound,
        contracts={"float32": sound.contracts["float32"]},
        performance=SubjectSpec("verify.interaction.planted:subject", tuple(options.items())),
    )
    result = check_interactions(wrong)
    assert result.verdict == "fail"
    assert bug.seen_by in [check.name for check in result.metamorphic if not check.passed]
