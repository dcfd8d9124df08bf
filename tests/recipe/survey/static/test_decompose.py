"""The plan: modules in dependency order, cycles kept together, sizes in range, and what is left out with the reason."""

from pathlib import Path

import pytest

from overclock.errors import UsageError
from overclock.recipe.survey.static.decompose import dropped, plan
from overclock.recipe.survey.static.source import resolve


def reasons(source) -> dict[str, str]:
    return {one.function.partition(":")[2]: one.reason for one in dropped(source)}


def test_cartpole_is_one_module_without_its_windows() -> None:
    source = resolve("gymnasium:CartPole-v1")
    (module,) = plan(source)
    assert module.name == "cartpole"
    assert "gymnasium.envs.classic_control.cartpole:CartPoleEnv.step" in module.functions
    assert "gymnasium.envs.classic_control.utils:maybe_parse_reset_bounds" in module.functions
    assert "pygame" not in module.text
    assert reasons(source)["CartPoleEnv.render"] == "rendering"
    assert reasons(source)["CartPoleVectorEnv.step"] == "nothing of the rules uses it"


def test_the_text_is_verbatim_and_its_lines_are_counted() -> None:
    (module,) = plan(resolve("gymnasium:Pendulum-v1"))
    original = Path(module.files[0]).read_text().splitlines()
    start = original.index("    def step(self, u):")
    assert "\n".join(original[start : start + 20]) in module.text
    shown = [line for line in module.text.splitlines() if line.strip()]
    assert module.lines <= len(module.text.splitlines())
    assert {line for line in shown if not line.startswith("# gymnasium/")} <= {
        line for file in module.files for line in Path(file).read_text().splitlines()
    }


def test_functions_that_need_each_other_across_files_share_a_module(mine: Path) -> None:
    modules = plan(resolve(str(mine)), fewest=1, most=20)
    by_function = {name.partition(":")[2]: module.name for module in modules for name in module.functions}
    assert by_function["value"] == by_function["dig"]
    assert by_function["MineEnv.step"] != by_function["dig"]
    assert len(modules) > 2


def test_what_is_needed_comes_first(mine: Path) -> None:
    for most in (10, 20, 500):
        modules = plan(resolve(str(mine)), fewest=1, most=most)
        seen = set[str]()
        for module in modules:
            assert set(module.depends_on) <= seen
            seen.add(module.name)
        assert len(seen) == len(modules)


def test_small_neighbours_are_merged(mine: Path) -> None:
    (module,) = plan(resolve(str(mine)))
    assert module.name == "env"
    assert module.depends_on == ()
    assert len(module.files) == 5


def test_every_function_lands_in_exactly_one_module_or_is_dropped(mine: Path) -> None:
    source = resolve(str(mine))
    planned = [name for module in plan(source, fewest=1, most=10) for name in module.functions]
    assert len(planned) == len(set(planned))
    assert not set(planned) & {one.function for one in dropped(source)}
    assert reasons(source) == {
        "UNUSED": "nothing of the rules uses it",
        "forgotten": "nothing of the rules uses it",
        "Lamp.polish": "nothing of the rules uses it",
        "MineEnv._say": "logging",
        "MineEnv.render": "rendering",
        "MineEnv.close": "closes windows and files",
        "logger": "logging",
        "__main__": "command line",
    }


def long_file(count: int) -> str:
    """A class of `count` methods of ten lines, each calling the one before."""
    body = ["class Env:", "    def reset(self, seed=None):", "        return self.m0(), {}", ""]
    body += ["    def step(self, action):", f"        return self.m{count - 1}(), 0.0, False, False, {{}}", ""]
    for i in range(count):
        body += [f"    def m{i}(self):", *(f"        x{j} = {j}" for j in range(8))]
        body += [f"        return self.m{i - 1}()" if i else "        return 0", ""]
    return "\n".join(body)


def test_a_large_class_is_cut_between_methods(write) -> None:
    source = resolve(str(write("long.py", long_file(120))))
    modules = plan(source)
    assert [100 <= module.lines <= 500 for module in modules] == [True] * 3
    assert sum(module.lines for module in modules) == 1205
    for module in modules:
        compile(module.text, module.name, "exec")  # no method was cut through
        assert "class Env:" in module.text
    assert modules[1].depends_on == (modules[0].name,)


def test_a_cycle_is_never_cut_even_if_it_is_large(write) -> None:
    text = long_file(60).replace("        return 0\n", "        return self.m59()\n")
    modules = plan(resolve(str(write("ring.py", text))))
    together = [module for module in modules if any(".m0" in name for name in module.functions)]
    assert sum(".m" in name for name in together[0].functions) == 60


def test_small_parts_are_not_joined_around_a_large_one_between_them(write) -> None:
    filler = "\n".join(f"        y{i} = {i}" for i in range(455))
    write(
        "middle.py",
        f"import ends\n\n\nclass Middle:\n    def work(self):\n{filler}\n        return ends.Bottom().rest()\n",
    )
    bottom = "class Bottom:\n    def rest(self):\n" + "        z = 0\n" * 20 + "        return 0\n"
    top = "class Env:\n    def reset(self):\n        return 0\n\n    def step(self, a):\n" + "        z = 0\n" * 20
    top += "        return middle.Middle().work()\n"
    file = write("ends.py", f"import middle\n\n\n{bottom}\n\n{top}")
    modules = plan(resolve(str(file)))
    # Bottom and Env share a file, but Middle needs the one and is needed by the other.
    assert len(modules) == 2
    assert all(module.lines <= 500 for module in modules)


def test_one_huge_function_stays_whole(write) -> None:
    body = "\n".join(f"        y{i} = {i}" for i in range(700))
    text = f"class Env:\n    def reset(self):\n        return 0\n\n    def step(self, a):\n{body}\n"
    modules = plan(resolve(str(write("huge.py", text))))
    assert max(module.lines for module in modules) >= 701


def test_the_plan_is_always_the_same(mine: Path) -> None:
    assert plan(resolve(str(mine)), 1, 20) == plan(resolve(str(mine)), 1, 20)


def test_rendering_that_makes_the_observation_is_part_of_the_rules(write) -> None:
    file = write(
        "pixels.py",
        """
        import pygame

        class Env:
            def reset(self, seed=None):
                return self.render_pixels(), {}

            def step(self, action):
                return self.render_pixels(), 0.0, False, False, {}

            def render_pixels(self):
                return pygame.surfarray.pixels3d(self.surface)

            def render_window(self):
                pygame.display.flip()
        """,
    )
    source = resolve(str(file))
    assert "pixels:Env.render_pixels" in plan(source)[0].functions
    assert reasons(source) == {"Env.render_window": "rendering"}


def test_methods_that_a_library_calls_back_are_kept(write) -> None:
    file = write(
        "contacts.py",
        """
        from Box2D.b2 import contactListener

        class Listener(contactListener):
            def BeginContact(self, contact):
                self.touched = True

        class Env:
            def reset(self, seed=None):
                self.listener = Listener()
                return 0, {}

            def step(self, action):
                return 0, 0.0, False, False, {}
        """,
    )
    assert "contacts:Listener.BeginContact" in plan(resolve(str(file)))[0].functions


def test_a_local_variable_is_not_the_global_of_the_same_name(write) -> None:
    file = write(
        "shadow.py",
        """
        best = 3

        class Env:
            def reset(self, seed=None):
                best = 1
                return best, {}

            def step(self, action):
                return 0, 0.0, False, False, {}
        """,
    )
    assert reasons(resolve(str(file))) == {"best": "nothing of the rules uses it"}


def test_a_specification_is_one_module_and_a_command_has_none(tmp_path: Path) -> None:
    (tmp_path / "rules.md").write_text("# Rules\nA game.\n")
    (module,) = plan(resolve(str(tmp_path / "rules.md")))
    assert (module.name, module.lines, module.text) == ("specification", 2, "# Rules\nA game.\n")
    with pytest.raises(UsageError, match="has no Python source to cut into modules"):
        plan(resolve("python simulator.pyc"))
