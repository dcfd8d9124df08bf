"""A C compiler that is missing, broken or a liar is one phrase; nothing is compiled with it."""

import pytest

from overclock.c_compiler import ABSENT, CompileError, c_compiler_fault, compile_with, working_c_compiler
from overclock.errors import MissingError

SAYS = "the C compiler '{cc}' does not work (cc {how})"
BROKEN = {  # what a program called cc does -> how it is told
    "exit 1": "ended with exit code 1: it gave no reason",
    "echo 'cannot execute as' >&2\necho '  second line.' >&2\nexit 3": "ended with exit code 3: cannot execute as",
    "echo one >&2; echo 'fatal error: no math.h.' >&2; exit 1": "ended with exit code 1: fatal error: no math.h",
    "exit 0": "ended without an error and without a result",
}


@pytest.fixture
def fake(tmp_path, monkeypatch):
    """A program that is called cc, does what it is told, and is the one to be used."""

    def make(script):
        place = tmp_path / "cc"
        place.write_text(f"#!/bin/sh\n{script}\n")
        place.chmod(0o755)
        monkeypatch.setenv("CC", str(place))
        return place

    return make


@pytest.mark.parametrize(("script", "how"), BROKEN.items(), ids=range(len(BROKEN)))
def test_a_compiler_that_does_not_work_is_told_in_one_line(fake, script, how):
    place = fake(script)
    assert c_compiler_fault() == SAYS.format(cc=place, how=how)
    with pytest.raises(MissingError) as told:
        working_c_compiler("It is written in C")
    assert str(told.value).startswith("It is written in C, and the C compiler '")
    assert str(told.value).endswith("; install gcc or clang, or name yours in the variable CC.")
    assert "\n" not in str(told.value)


def test_what_a_compiler_makes_must_be_something_that_can_be_loaded(fake):
    fake('while [ $# -gt 1 ]; do shift; done\necho garbage > "$1"')
    assert "file too short" in c_compiler_fault() or "invalid ELF header" in c_compiler_fault()


def test_a_variable_that_names_nothing_and_a_machine_without_compilers(monkeypatch, tmp_path):
    monkeypatch.setenv("CC", "/nonexistent -O2")
    assert c_compiler_fault() == "$CC names '/nonexistent', which is not there"
    monkeypatch.delenv("CC")
    monkeypatch.setenv("PATH", str(tmp_path))
    assert c_compiler_fault() == ABSENT
    with pytest.raises(MissingError, match=r"^It is written in C, and there is no C compiler; install gcc or clang"):
        working_c_compiler("It is written in C")


def test_a_program_that_cannot_be_started_is_no_traceback(tmp_path):
    with pytest.raises(CompileError, match=r"^nothing cannot be started: No such file or directory$"):
        compile_with([str(tmp_path / "nothing")], tmp_path / "result")
