"""A file that we write anew keeps what a person wrote into it."""

import tomllib

import pytest

from overclock.recipe.contract.toml_text import merged, rewrite, toml_value

OURS = """\
set_state = true  # whether the reference can be put into a given state

# State: where the reference keeps it.
[[state]]
name = "x"
dtype = "float64"

[[state]]
name = "y"
dtype = "int64"

[float64]
reason = "rounding"

[float64.per_step]
state = 1e-6
"""
THEIRS = OURS.replace('"x"', '"x"  # metres').replace("1e-6", "0.000001  # agreed with Ada").replace("[[", "# z\n[[", 1)


def test_a_file_whose_values_stay_the_same_stays_the_same_byte_for_byte():
    assert merged(THEIRS, OURS) == THEIRS


def test_a_changed_value_leaves_all_comments_where_they_were():
    assert merged(THEIRS, OURS.replace("1e-6", "2e-6").replace("int64", "int32")) == THEIRS.replace(
        "0.000001", "2e-6"
    ).replace("int64", "int32")


@pytest.mark.parametrize(
    ("part", "instead"),
    [
        ("set_state = true", 'set_state = false\ncodec = "state.json"'),
        ('[[state]]\nname = "y"\ndtype = "int64"\n', ""),
        ('name = "y"', 'name = "z"\nshape = [2, 3]'),
        ("[[state]]", '[[state]]\nname = "first"\n\n[[state]]'),
        ("[float64.per_step]\nstate = 1e-6\n", '[float32]\nreason = "it is shorter"\n'),
    ],
)
def test_what_is_added_removed_or_moved_has_the_new_values(part, instead):
    assert part in OURS
    new = OURS.replace(part, instead, 1)
    text = merged(THEIRS, new)
    assert tomllib.loads(text) == tomllib.loads(new)
    assert "# metres" in text


def test_a_key_that_is_added_on_top_does_not_come_between_a_table_and_its_comment():
    new = OURS.replace("given state\n", 'given state\ncodec = "state.json"\n')
    assert merged(THEIRS, new) == THEIRS.replace("given state\n", 'given state\ncodec = "state.json"\n', 1)


COMMENTED = """\
# The file.

# Where it is.
[[state]]
name = "x"

# How fast it goes.
[[state]]
name = "v"
shape = [
  [1],
  [2],
]  # per axis

# Why.
[float64]
reason = "rounding"
"""
SPEED = COMMENTED[COMMENTED.index("# How") : COMMENTED.index("# Why")]
PLACE = COMMENTED[COMMENTED.index("# Where") : COMMENTED.index("# How")]


def test_a_row_that_is_removed_takes_its_comment_and_no_other_with_it():
    for row in (SPEED, PLACE):
        left = COMMENTED.replace(row, "")
        assert merged(COMMENTED, "\n".join(line for line in left.splitlines() if line[:1] != "#")) == left


def test_rows_that_change_places_take_their_comments_along():
    new = COMMENTED.replace(PLACE, "").replace(SPEED, SPEED + PLACE)
    assert merged(COMMENTED, "\n".join(line for line in new.splitlines() if line[:1] != "#")) == new


def test_tables_of_rows_and_dotted_names_keep_their_comments():
    old = '[[a.b]]\nname = "x"  # one\n\n# of x\n[a.b.c]\nk = 1\n\n[[a.b]]\n\n# of the second\n[a.b.c]\nk = 2  # two\n'
    assert merged(old, old.replace("k = 2", "k = 3")) == old.replace("k = 2", "k = 3")


def test_a_file_is_rewritten_in_place(tmp_path):
    path = tmp_path / "contract.toml"
    path.write_text(THEIRS)
    rewrite(path, OURS.replace("true", "false"))
    assert path.read_text() == THEIRS.replace("true", "false")


@pytest.mark.parametrize(
    "value", [True, 1, 1e-300, float("inf"), 'a "quoted"\n\\ text\x7f ü', (), (1.5, "x"), {"a b": {"c": [1, 2]}}]
)
def test_a_value_is_read_as_it_was_written(value):
    read = tomllib.loads(f"value = {toml_value(value)}")["value"]
    assert read == (list(value) if isinstance(value, tuple) else value)
    assert "\n" not in toml_value(value)
