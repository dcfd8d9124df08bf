"""Contracts with a codec and with sites: read as written, refused where their parts do not fit together."""

import dataclasses

import pytest
from recipe import blackjack

from overclock.errors import UsageError
from overclock.recipe.contract.codec import codec_fields, draw_field, site_of
from overclock.recipe.contract.file import ContractFile, DrawField, StateField, load_contract, write_contract
from overclock.recording.shapes import Many, Maybe, Number
from overclock.recording.sites.recorder import Site

CONTRACT = blackjack.contract()


def written(contract, folder):
    write_contract(contract, folder)
    return load_contract(folder / "contract.toml")


def test_a_contract_is_read_as_it_was_written(tmp_path):
    assert written(CONTRACT, tmp_path) == CONTRACT
    assert (tmp_path / "state.json").is_file()


def test_the_verifier_compares_every_leaf_and_the_flag_of_the_performance_side():
    names = {field.name for field in CONTRACT.contracts()["float64"].fields}
    assert {"state.player", "state.player_length", "state.dealer", "state.dealer_length", "state.overflow"} <= names


def test_ranges_are_kept_for_plain_numbers_only():
    shapes = {"x": Number("float64", True), "y": Maybe(Number("float64", True)), "z": Many(Number("float64"), 2)}
    ranges = dict.fromkeys(("x", "y", "z", "z_length"), (0.0, 1.0))
    assert {field.name: field.low for field in codec_fields(shapes, ranges)} == {
        "x": 0.0, "y_present": None, "y": None, "z_length": None, "z": None,
    }  # fmt: skip


def test_a_draw_is_its_site():
    site = Site("x", "a/b.py", 3, 4, "choice", "index", (2,), 3, (("n", 4), ("p", (0.5, 0.5))), "random", "int64")
    draw = draw_field(site)
    assert (draw.shape, draw.site) == ((3, 2), "a/b.py:3:4")
    assert site_of(draw) == site


def changed(**changes):
    return dataclasses.replace(CONTRACT, **changes)


CARD = CONTRACT.step_draws[0]


@pytest.mark.parametrize(
    ("contract", "says"),
    [
        (changed(state=CONTRACT.state[1:]), "'player_length'"),
        (changed(state=(*CONTRACT.state, StateField("more", "more", "int64"))), "'more'"),
        (changed(state=(*CONTRACT.state, StateField("odd", "", "bool"))), "'odd' does not say where"),
        (changed(state=(dataclasses.replace(CONTRACT.state[0], dtype="int8"), *CONTRACT.state[1:])), "'player_length'"),
        (changed(codec="../state.json"), "not the name of a file beside it"),
        (changed(step_draws=(*CONTRACT.step_draws, DrawField("random_0", "random"))), "others have none"),
        (changed(step_draws=(CARD, dataclasses.replace(CARD, name="other"))), "blackjack.py:19:15"),
        (changed(step_draws=(dataclasses.replace(CARD, name="player"),)), "'player', as a state field"),
        (changed(step_draws=(dataclasses.replace(CARD, name="action"),)), "'action'"),
        (changed(step_draws=(dataclasses.replace(CARD, site="blackjack.py"),)), "file:line:column"),
        (changed(step_draws=(dataclasses.replace(CARD, form="guess"),)), "'guess'"),
        (changed(step_draws=(dataclasses.replace(CARD, shape=()),)), "does not begin with 12"),
        (changed(step_draws=(dataclasses.replace(CARD, arguments="n=open('x')"),)), "no list of names"),
    ],
)  # fmt: skip
def test_what_does_not_fit_is_said(tmp_path, contract, says):
    folder = tmp_path / "inner"
    with pytest.raises(UsageError, match="is not usable") as error:
        written(contract, folder)
    assert says in str(error.value)


def test_a_missing_or_broken_codec_is_said(tmp_path):
    write_contract(CONTRACT, tmp_path)
    (tmp_path / "state.json").write_text("{}")
    with pytest.raises(UsageError, match="no codec"):
        load_contract(tmp_path / "contract.toml")
    (tmp_path / "state.json").unlink()
    with pytest.raises(UsageError, match=r"'state.json' cannot be read"):
        load_contract(tmp_path / "contract.toml")


def test_a_contract_without_these_keys_says_nothing_of_them(tmp_path):
    plain = ContractFile(
        (StateField("x", "x", "float64"),), (DrawField("random_0", "random"),), precisions=CONTRACT.precisions
    )
    assert written(plain, tmp_path) == plain
    text = (tmp_path / "contract.toml").read_text()
    assert not plain.by_site
    assert not [word for word in ("codec", "site", "form", "count", "source") if f"{word} = " in text]
