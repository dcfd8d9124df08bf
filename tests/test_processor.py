"""A result names the processor that it was computed on, what of it was left out, and the programs that computed it."""

import json

import pytest

from overclock import c_compiler, processor
from overclock.results import encode
from overclock.versions import C_COMPILER, versions

INTEL = """processor\t: 0
model name\t: Intel(R) Xeon(R) Processor @ 2.60GHz
flags\t\t: fpu sse sse2 sse4_2 avx fma avx2 avx512f avx512bw
processor\t: 1
model name\t: another
flags\t\t: fpu
"""
ARM = "processor\t: 0\nBogoMIPS\t: 50.00\nFeatures\t: fp asimd asimdhp sve crc32\n"


@pytest.fixture(autouse=True)
def unrestricted(monkeypatch):
    for name in processor.RESTRICTIONS:
        monkeypatch.delenv(name, raising=False)
    processor._described.cache_clear()
    yield
    processor._described.cache_clear()


def test_the_first_processor_is_named_with_the_instructions_that_decide_rounding():
    assert processor.described(INTEL) == (
        "Intel(R) Xeon(R) Processor @ 2.60GHz", ("sse4_2", "avx", "fma", "avx2", "avx512f")
    )  # fmt: skip
    assert processor.described(ARM) == (None, ("asimd", "asimdhp", "sve"))


def test_without_such_a_file_the_system_is_asked(monkeypatch, tmp_path):
    monkeypatch.setattr(processor, "FACTS", tmp_path / "none")
    monkeypatch.setattr(processor.platform, "processor", lambda: "")
    monkeypatch.setattr(processor.platform, "machine", lambda: "arm64")
    assert encode(processor.processor()) == {"model": "arm64", "instructions": []}
    assert str(processor.processor()) == "arm64"


def test_variables_that_keep_programs_from_instructions_are_named(monkeypatch, tmp_path):
    (tmp_path / "cpuinfo").write_text(INTEL)
    monkeypatch.setattr(processor, "FACTS", tmp_path / "cpuinfo")
    monkeypatch.setenv("XLA_FLAGS", "--xla_cpu_max_isa=AVX2")
    found = processor.processor()
    assert found.restricted_by == {"XLA_FLAGS": "--xla_cpu_max_isa=AVX2"}
    assert str(found).endswith("(sse4_2, avx, fma, avx2, avx512f), XLA_FLAGS=--xla_cpu_max_isa=AVX2")


def test_packages_of_references_have_their_versions():
    pytest.importorskip("mujoco")
    assert {"mujoco", "gymnasium", "numpy", "jax"} <= versions().keys()


def test_the_c_compiler_is_named_where_it_was_used(monkeypatch):
    monkeypatch.setattr(c_compiler, "_version", lambda words: f"{words[0]} 12")
    monkeypatch.setenv("CC", "mycc")
    assert C_COMPILER not in versions()
    assert versions(c_compiler=True)[C_COMPILER] == "mycc 12"


def test_a_c_compiler_that_does_not_answer_has_no_version(monkeypatch):
    monkeypatch.setenv("CC", "no-such-compiler")
    assert C_COMPILER not in versions(c_compiler=True)


def test_a_twin_knows_when_c_is_compiled():
    from overclock.envs.cartpole.twin import twin as cartpole
    from overclock.envs.pong.twin import jax_rust, rust
    from overclock.envs.pong.twin import twin as pong

    assert not cartpole().compiled_from_c((1, 2, 3))
    assert cartpole().compiled_from_c((4,))  # training may step by a kernel
    assert cartpole().on("c").compiled_from_c((1,))
    assert pong().compiled_from_c((1,))
    assert rust().compiled_from_c((1,))
    assert not jax_rust().compiled_from_c((1,))


def test_a_report_is_read_back_with_its_processor():
    from overclock.results import decode

    found = processor.processor()
    assert decode(processor.Processor, json.loads(json.dumps(encode(found)))) == found
