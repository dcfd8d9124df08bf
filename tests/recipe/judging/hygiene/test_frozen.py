"""A frozen candidate stays what it is; a seal tells what was touched."""

import os

import pytest

from overclock.errors import UsageError
from overclock.recipe.judging.hygiene import Frozen, Seal, freeze, unchanged, unpack
from overclock.recipe.judging.hygiene.frozen import remove, tree_hash


def test_the_hash_depends_on_paths_and_contents_and_on_nothing_else(candidate, tmp_path):
    folder = candidate(rules__deep="x = 1")
    frozen = freeze(folder)
    assert set(frozen.files) == {"env.py", "physics.py", "records.py", "rules/deep.py"}
    os.utime(folder / "env.py", (0, 0))
    (folder / "__pycache__").mkdir()
    (folder / "__pycache__" / "env.pyc").write_bytes(b"1")
    assert freeze(folder) == frozen
    (folder / "env.py").rename(folder / "other.py")
    assert freeze(folder).hash != frozen.hash


def test_neighbours_cannot_trade_bytes():
    assert tree_hash({"a": b"bc"}) != tree_hash({"ab": b"c"})
    assert tree_hash({"a": b"1", "b": b""}) != tree_hash({"a": b"", "b": b"1"})


def test_what_is_unpacked_is_read_only_and_the_same(candidate, tmp_path):
    frozen = freeze(candidate(rules__deep="x = 1"))
    place = tmp_path / "unpacked"
    unpack(frozen, place)
    assert freeze(place) == frozen
    assert unchanged(frozen, place)
    modes = {path.stat().st_mode & 0o222 for path in (place, *place.rglob("*"))}
    assert modes == {0}
    remove(place)
    assert not place.exists()


@pytest.mark.parametrize("change", ["edit", "add", "delete", "link"])
def test_every_change_is_noticed(candidate, tmp_path, change):
    folder = candidate()
    frozen, seal = freeze(folder), Seal.of(folder)
    assert seal.broken() == []
    file = folder / ("more.py" if change == "add" else "env.py")
    text = None if change == "add" else file.read_text()
    if change in ("delete", "link"):
        file.unlink()
    if change == "link":  # to a file with the same text
        (tmp_path / "same.py").write_text(text)
        file.symlink_to(tmp_path / "same.py")
    elif change != "delete":
        file.write_text("x = 1")
    assert not unchanged(frozen, folder)
    assert seal.broken() == [file.name]


def test_a_seal_also_sees_compiled_files_which_would_run_in_place_of_tests(candidate):
    folder = candidate()
    frozen, seal = freeze(folder), Seal.of(folder)
    (folder / "__pycache__").mkdir()
    (folder / "__pycache__" / "env.cpython-311.pyc").write_bytes(b"1")
    assert seal.broken() == ["__pycache__/env.cpython-311.pyc"]
    assert unchanged(frozen, folder)


def test_a_folder_that_is_gone_has_changed(candidate):
    folder = candidate()
    frozen, seal = freeze(folder), Seal.of(folder)
    remove(folder)
    assert not unchanged(frozen, folder)
    assert len(seal.broken()) == 3


def test_links_are_not_frozen(candidate, tmp_path):
    folder = candidate()
    (folder / "link.py").symlink_to(tmp_path)
    with pytest.raises(UsageError, match="not a plain file"):
        freeze(folder)


def test_bad_wishes_are_refused(candidate, tmp_path):
    frozen = freeze(candidate())
    with pytest.raises(UsageError, match="exists already"):
        unpack(frozen, tmp_path)
    with pytest.raises(UsageError, match="do not have its hash"):
        unpack(Frozen("0", frozen.files), tmp_path / "new")
    outside = {"../x.py": b""}
    with pytest.raises(UsageError, match=r"cannot contain '\.\./x.py'"):
        unpack(Frozen(tree_hash(outside), outside), tmp_path / "new")
    assert not (tmp_path / "new").exists()
    for call in (freeze, Seal.of):
        with pytest.raises(UsageError, match="not a folder"):
            call(tmp_path / "nowhere")
