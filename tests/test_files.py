"""Where results may go is known before any work is done, and files appear whole and in their own place."""

import os
from pathlib import Path

import pytest

from overclock.errors import UsageError
from overclock.files import check_folder, kept, write_whole


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("place", [".", "runs", "runs/deep/er"])
def test_a_folder_that_can_be_written_is_left_as_it_was(here, place):
    check_folder(Path(place))
    assert list(here.iterdir()) == []


@pytest.mark.parametrize("place", ["file", "file/below", "dangling/below", "/dev/null"])
def test_what_is_no_folder_is_refused(here, place):
    (here / "file").write_text("")
    (here / "dangling").symlink_to("nowhere")
    with pytest.raises(UsageError, match="not a folder"):
        check_folder(Path(place))


@pytest.mark.parametrize("place", ["/proc/results", "/proc/self/results/deep", "x" * 300])
@pytest.mark.skipif(not os.path.isdir("/proc/self"), reason="no /proc here")
def test_what_cannot_be_written_is_refused_whoever_asks(place):
    with pytest.raises(UsageError, match=r"Cannot write to .*; choose another place"):
        check_folder(Path(place))


def test_a_folder_without_permission_is_refused(here, monkeypatch):
    def refuse(*_, **__):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("tempfile.NamedTemporaryFile", refuse)  # a superuser's own files are never refused
    with pytest.raises(UsageError, match="Cannot write to 'runs': Permission denied"):
        check_folder(Path("runs"))


def test_a_file_is_written_past_a_link_with_its_temporary_name(here):
    (here / "treasure").write_text("of the user")
    (here / f".result.{os.getpid()}.part").symlink_to(here / "treasure")
    write_whole(here / "result", b"new")
    assert (here / "result").read_bytes() == b"new"
    assert (here / "treasure").read_text() == "of the user"
    assert sorted(path.name for path in here.iterdir()) == ["result", "treasure"]


def test_a_file_of_a_cache_is_made_once_and_again_where_it_was_damaged(here):
    made = []

    def make(path):
        made.append(path)
        path.write_bytes(b"content")

    first = kept(here, "key", ".so", make)
    assert kept(here, "key", ".so", make) == first
    assert len(made) == 1
    first.write_bytes(b"cont")
    assert kept(here, "key", ".so", make) == first
    assert first.read_bytes() == b"content"
    assert list(here.iterdir()) == [first]
    assert kept(here, "other", ".so", make) != first


def test_a_file_that_cannot_be_made_leaves_nothing(here):
    with pytest.raises(ZeroDivisionError):
        kept(here, "key", ".so", lambda path: 1 / 0)
    assert list(here.iterdir()) == []
