"""The file tools of a model cannot leave the work folder, by any way."""

import os

import pytest

from overclock.recipe.agents.tools import LISTED, READ_LIMIT, WRITE_LIMIT, ToolError, Tools, WorkFolder


@pytest.fixture
def outside(tmp_path):
    secret = tmp_path / "secret.txt"
    secret.write_text("secret")
    return secret


@pytest.fixture
def folder(tmp_path, outside):
    root = tmp_path / "work"
    (root / "inside").mkdir(parents=True)
    (root / "link.txt").symlink_to(outside)
    (root / "up").symlink_to(tmp_path)
    (root / "loop").symlink_to(root / "loop")
    (root / ".git").mkdir()
    (root / ".git/config").write_text("[core]")
    return WorkFolder(root)


@pytest.mark.parametrize(
    "path",
    [
        "../secret.txt", "/etc/passwd", "inside/../../secret.txt", "link.txt", "up/secret.txt", "loop", "loop/x", "",
        ".", "a\0b", ".git/config", ".git/hooks/pre-commit", ".GIT/config", "inside/.git/config", "..\\secret.txt",
        "x" * 5000, "\ud800.py",
    ],
)  # fmt: skip
def test_no_path_leads_outside(folder, outside, path):
    before = sorted(os.walk(folder.root))
    for use in (folder.read, lambda p: folder.write(p, "mine"), folder.remove):
        with pytest.raises(ToolError):
            use(path)
    assert outside.read_text() == "secret"
    assert (folder.root / ".git/config").read_text() == "[core]"
    assert sorted(os.walk(folder.root)) == before


def test_files_inside_are_read_written_and_removed(folder):
    folder.write("inside/deep/er/a.py", "ä = 1\r\n")
    assert folder.read("inside/deep/er/a.py") == "ä = 1\r\n"
    for same in ("./inside/deep/er/a.py", f"{folder.root}/inside/deep/er/a.py"):
        assert folder.read(same) == "ä = 1\r\n"
    for other in (
        f"{folder.root}/../secret.txt",
        f"{folder.root}/link.txt",
        f"{folder.root}-x/a.py",
        f"{folder.root}//etc",
    ):
        with pytest.raises(ToolError):
            folder.write(other, "mine")
    assert list(folder.files()) == ["inside/deep/er/a.py"]  # neither git's files nor links
    folder.remove("inside/deep/er/a.py")
    assert list(folder.files()) == []


def test_what_is_not_a_text_file_is_said_so_and_does_not_block(folder):
    os.mkfifo(folder.root / "pipe")
    (folder.root / "image").write_bytes(b"\xff\xfe\x00")
    for path in ("pipe", "image", "inside", "gone"):
        with pytest.raises(ToolError):
            folder.read(path)
    for path in ("pipe", "inside", "image/below"):
        with pytest.raises(ToolError):
            folder.write(path, "x")


def test_answers_and_files_have_limits(folder):
    tools = Tools(folder.root)
    (folder.root / "long").write_text("x" * (READ_LIMIT + 5))
    answer, wrong = tools.call("read_file", {"path": "long"})
    assert not wrong
    assert answer.endswith(f"cut after {READ_LIMIT} of {READ_LIMIT + 5} characters")
    answer, wrong = tools.call("write_file", {"path": "big", "content": "x" * (WRITE_LIMIT + 1)})
    assert wrong
    assert not (folder.root / "big").exists()
    for number in range(LISTED + 1):
        (folder.root / "inside" / f"{number}").touch()
    assert "... and 2 more" in tools.call("list_files", {})[0]
