"""The reference's archive: found on an index's page, refused if it is another, one sentence where it cannot be had."""

import hashlib
import io
import tarfile

import pytest

from overclock.envs.pong import library, obtain
from overclock.errors import MissingError
from overclock.verify.twins import find_twin

PAGE = """<!DOCTYPE html><html><body>
<a href="../../files/pufferlib-3.0.0a1.tar.gz#sha256=aa">pufferlib-3.0.0a1.tar.gz</a>
<a href="../../files/pufferlib-3.0.0.tar.gz#sha256=bb" data-requires-python="&gt;=3.9">pufferlib-3.0.0.tar.gz</a>
</body></html>"""


@pytest.fixture
def nothing_kept(monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.delenv(obtain.VARIABLE, raising=False)
    return tmp_path


def packed(**files):
    """An archive of the pinned one's form."""
    archive = io.BytesIO()
    with tarfile.open(fileobj=archive, mode="w:gz") as tar:
        for name, content in files.items():
            entry = tarfile.TarInfo(f"{obtain.FOLDER}/{name.replace('_', '.')}")
            entry.size = len(content)
            tar.addfile(entry, io.BytesIO(content))
    return archive.getvalue()


def test_the_link_is_that_of_the_very_version_without_its_fragment():
    found = obtain.link_in(PAGE, "https://index.example/simple/pufferlib/")
    assert found == "https://index.example/files/pufferlib-3.0.0.tar.gz"


def test_a_page_without_the_archive_is_said_to_have_none():
    with pytest.raises(LookupError, match="does not list it"):
        obtain.link_in("<a href='x'>pufferlib-2.0.0.tar.gz</a>", "https://index.example/simple/pufferlib/")


def test_another_archive_is_refused(nothing_kept, monkeypatch, tmp_path):
    copy = tmp_path / "other.tar.gz"
    copy.write_bytes(packed(pong_h=b"int x;", pong_py=b"x = 1"))
    monkeypatch.setenv(obtain.VARIABLE, str(copy))
    with pytest.raises(MissingError, match=r"SHA-256 differs.*set OVERCLOCK_PUFFERLIB"):
        obtain.source_folder()
    assert not obtain.cache_folder().exists()


def test_a_given_archive_is_unpacked_once_and_repaired(nothing_kept, monkeypatch, tmp_path):
    contents = {"pong.h": b"int x;", "pong.py": b"x = 1"}
    archive = packed(pong_h=contents["pong.h"], pong_py=contents["pong.py"], binding_c=b"not wanted")
    copy = tmp_path / "copy.tar.gz"
    copy.write_bytes(archive)
    monkeypatch.setenv(obtain.VARIABLE, str(copy))
    monkeypatch.setattr(obtain, "ARCHIVE_SHA256", hashlib.sha256(archive).hexdigest())
    hashes = {name: hashlib.sha256(content).hexdigest() for name, content in contents.items()}
    monkeypatch.setattr(obtain, "FILES", hashes)
    folder = obtain.source_folder()
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == contents
    (folder / "pong.h").write_bytes(b"int y;")
    assert (obtain.source_folder() / "pong.h").read_bytes() == b"int x;"


def test_an_index_that_cannot_be_reached_is_one_sentence_with_the_remedy(nothing_kept, monkeypatch):
    monkeypatch.setenv("PIP_INDEX_URL", "http://127.0.0.1:9/simple")
    with pytest.raises(MissingError) as raised:
        obtain.source_folder()
    assert "pip is configured with" in str(raised.value)
    assert "set OVERCLOCK_PUFFERLIB to its path" in str(raised.value)
    assert "\n" not in str(raised.value)


def test_a_password_of_the_index_is_not_shown(nothing_kept, monkeypatch):
    monkeypatch.setenv("PIP_INDEX_URL", "http://somebody:secret@127.0.0.1:9/simple")
    with pytest.raises(MissingError) as raised:
        obtain.source_folder()
    assert "secret" not in str(raised.value)


def test_without_a_compiler_the_sentence_says_what_to_install(monkeypatch, tmp_path):
    monkeypatch.setattr(library, "source_folder", lambda: tmp_path)
    monkeypatch.setenv("CC", "no-such-compiler")
    library.compiled.cache_clear()
    with pytest.raises(MissingError, match=r"\$CC names 'no-such-compiler', which is not there; install gcc"):
        library.compiled("harness", ())


def test_a_compiler_that_fails_is_named(monkeypatch, tmp_path):
    monkeypatch.setattr(library, "source_folder", lambda: tmp_path)  # pong.h is not there
    monkeypatch.setattr(library, "cache_folder", lambda: tmp_path)
    library.compiled.cache_clear()
    with pytest.raises(MissingError, match=r"^Pong's reference cannot be compiled .*pong.h"):
        library.compiled("harness", ("-O0",))
    assert not list(tmp_path.iterdir())


def test_a_damaged_library_is_compiled_again(nothing_kept, monkeypatch, tmp_path):
    (tmp_path / "c").mkdir()
    (tmp_path / "c" / "adds.c").write_text('__attribute__((visibility("default"))) int one(void) { return 1; }')
    monkeypatch.setattr(library, "source_folder", lambda: tmp_path)
    monkeypatch.setattr(library, "cache_folder", lambda: tmp_path)
    monkeypatch.setattr(library.importlib.resources, "files", lambda package: tmp_path)
    library.compiled.cache_clear()
    assert library.compiled("adds", ()).one() == 1
    (kept,) = tmp_path.glob("adds-*.so")
    kept.unlink()  # this process has it in memory
    kept.write_bytes(b"garbage")
    library.compiled.cache_clear()
    assert library.compiled("adds", ()).one() == 1


def test_verifying_without_the_reference_is_the_same_sentence(nothing_kept, monkeypatch):
    monkeypatch.setenv("PIP_INDEX_URL", "http://127.0.0.1:9/simple")
    library.compiled.cache_clear()
    with pytest.raises(MissingError, match=r"could not be read from the package index.*set OVERCLOCK_PUFFERLIB"):
        find_twin("pong")
