"""What the draws of the red team's candidates are made of, as the inspection of a candidate sees it."""

import re
from pathlib import Path

import pytest

from overclock.recipe.judging.candidate import made_by
from overclock.recipe.judging.verdict import HYGIENE
from overclock.recipe.redteam.cheats import Material, honest_files
from overclock.recipe.redteam.own_randomness import OWN_RANDOMNESS
from overclock.verify.randomness.origins import origins_of_draws

SEEN = {
    "wind-of-the-state": "from the state alone",
    "mixes-in-the-state": "mixes the bits",
    "repeats-after-65536": "key or counter",
    "copies-lag-7": "key or counter",
    "few-streams": "key or counter",
    "still-when-late": "key or counter",
    "calm-for-some-keys": "key or counter",
    "winds-of-the-policy": "words of its own section",
}


def origins(folder, files):
    for name, text in files.items():
        (folder / name).write_text(text)
    return origins_of_draws(*made_by(folder))


@pytest.mark.parametrize("cheat", OWN_RANDOMNESS, ids=lambda cheat: cheat.name)
def test_what_a_draw_is_made_of_is_seen(cheat, tmp_path):
    found = origins(tmp_path, cheat.build(Material(Path(), None)))
    assert (cheat.level == HYGIENE) is (cheat.name in SEEN)
    if cheat.name in SEEN:
        ((part, sentence),) = found
        assert part == "draw_step.uniform_0"
        assert re.search(SEEN[cheat.name], sentence)
    else:  # made of the right words, with another distribution: for level 1
        assert found == []


def test_the_honest_candidate_draws_from_the_words(tmp_path):
    assert origins(tmp_path, honest_files()) == []
