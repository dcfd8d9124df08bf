"""Target advice: which structures speak for JAX, which for Rust, and what the machine adds."""

from overclock.recipe.survey.live.profile import profile
from overclock.recipe.survey.static.source import resolve
from overclock.recipe.survey.static.structure import structure
from overclock.recipe.survey.static.target_advice import Hardware, advise

LAPTOP = Hardware(None, 4)


def test_a_few_numbers_of_fixed_shape_are_for_jax() -> None:
    source = resolve("gymnasium:CartPole-v1")
    advice = advise(source, profile(source, 60), LAPTOP)
    assert advice.target == "jax"
    assert "Its state is 4 numbers of fixed shape." in advice.reasons


def test_growing_lists_and_searching_loops_are_for_rust_unless_there_is_a_gpu() -> None:
    source = resolve("gymnasium:Blackjack-v1")
    found = profile(source, 60)
    advice = advise(source, found, LAPTOP)
    assert advice.target == "rust"
    assert any("player" in reason for reason in advice.reasons)
    on_gpu = advise(source, found, Hardware("H200", 16))
    assert on_gpu.target == "jax"
    assert set(advice.reasons) <= set(on_gpu.against)


EMULATOR = """
    class Env:
        def __init__(self):
            self.memory = bytearray(65536)

        def reset(self, seed=None):
            self.pc = self.a = 0
            return 0, {{}}

        def step(self, action):
            for _ in range(1000):
                self.execute(self.memory[self.pc])
            return 0, 0.0, False, False, {{}}

        def execute(self, opcode):
            if opcode == 0:
                self.pc = (self.pc + 1) & 0xFFFF
{cases}
    """


def test_an_emulator_is_for_rust_even_beside_a_gpu(write) -> None:
    cases = "\n".join(
        f"            elif opcode == {i}:\n                self.a = ((self.a << {i % 8}) ^ opcode) & 0xFF"
        for i in range(1, 40)
    )
    source = resolve(str(write("emulator.py", EMULATOR.format(cases=cases))))
    assert structure(source).byte_level
    assert structure(source).longest_choice == 40
    advice = advise(source, None, Hardware("H200", 16))
    assert advice.target == "rust"
    assert "works on bytes and bits" in advice.reasons[0]


def test_recursion_is_named(mine) -> None:
    assert structure(resolve(str(mine))).recursive == ("value", "dig")


def test_code_that_only_makes_an_environment_does_not_count() -> None:
    found = structure(resolve("gymnasium:FrozenLake-v1"))
    assert found.searching_loops == 0  # `generate_random_map` searches for a way, but only when a map is made
    assert found.bit_operations == 0  # `str | None` is no operation


def test_many_cores_without_a_gpu_speak_for_rust() -> None:
    source = resolve("gymnasium:CartPole-v1")
    assert any("64 cores" in sentence for sentence in advise(source, None, Hardware(None, 64)).against)
