"""A reference and the Rust that it became, side by side: every step from the reference's own state."""

import dataclasses
from pathlib import Path

import numpy as np

from overclock.recipe.agents.builtin_agent import contract_of_program
from overclock.recipe.contract.codec import site_of
from overclock.recipe.contract.file import load_contract, write_contract
from overclock.recipe.judging.rust.hygiene import check_rust_source
from overclock.recipe.judging.rust.library import Library, load_library, rows
from overclock.recording import observations
from overclock.recording.codec import InstanceCodec
from overclock.recording.sites.install import hooked
from overclock.recording.sites.recorder import SiteRecorder
from overclock.translate.compiler import Compiler
from overclock.translate.profile import look
from overclock.translate.program import Program
from overclock.translate.rust.file import print_rust


@dataclasses.dataclass
class Step:
    """One step of the reference: before, what it was given, after."""

    before: dict
    action: object
    draws: dict
    after: dict
    obs: np.ndarray
    reward: float
    terminated: bool
    mask: np.ndarray | None


class Candidate:
    """A reference, its program, and the program compiled."""

    def __init__(self, make, folder: Path, root: Path) -> None:
        self.make = make
        self.program: Program = Compiler(make, "Env", look(make, episodes=8, steps=40)).program()
        self.text = print_rust(self.program)
        (folder / "candidate" / "src").mkdir(parents=True)
        (folder / "candidate" / "src" / "lib.rs").write_text(self.text)
        write_contract(contract_of_program(self.program), folder)
        self.contract = load_contract(folder / "contract.toml")
        self.findings = check_rust_source(folder / "candidate", self.contract)
        self.library: Library = load_library(str(folder / "candidate"), str(folder / "contract.toml"), str(root))

    def played(self, count: int) -> tuple[list[Step], list[Step]]:
        """Resets and steps of the reference."""
        codec, resets, steps = InstanceCodec(self.program.shapes), [], []
        with hooked():
            recorder = SiteRecorder(
                *([site_of(one) for one in draws] for draws in (self.contract.reset_draws, self.contract.step_draws))
            )
            with recorder.making():
                env = self.make()
            env.action_space.seed(0)
            over = True
            while len(steps) < count:
                if over:
                    with recorder.recording(seed=len(resets)) as draws:
                        obs, info = env.reset(seed=len(resets))
                    state = self._leaves(codec, env)
                    shown = observations.flatten(env.observation_space, obs)
                    resets.append(Step({}, None, draws, state, shown, 0.0, False, info.get("action_mask")))
                action = observations.unflatten(env.action_space, np.asarray(env.action_space.sample()))
                with recorder.recording() as draws:
                    obs, reward, terminated, truncated, info = env.step(action)
                after = self._leaves(codec, env)
                shown = observations.flatten(env.observation_space, obs)
                mask = info.get("action_mask")
                steps.append(Step(state, action, draws, after, shown, float(reward), bool(terminated), mask))
                state, over = after, terminated or truncated or len(steps) % 50 == 0
        return resets, steps

    def _leaves(self, codec, env) -> dict:
        found = {name: np.array(value) for name, value in codec.read(env.unwrapped).items()}
        return {**found, "overflow": np.array(False)} if self.program.overflow else found

    def rows(self, records: list[dict], dtype: np.dtype) -> np.ndarray:
        named = {name: np.stack([one[name] for one in records]) for name in dtype.names or ()}
        return rows(named, dtype, len(records), "the value")

    def compare(self, count: int = 300, state: float = 0.0, obs: float = 0.0, reward: float = 0.0) -> list[Step]:
        """Every leaf, observation, mask, reward and end of every step and reset; the tolerances are absolute."""
        resets, steps = self.played(count)
        library = self.library
        first = library.init(self.rows([one.draws for one in resets], library.reset_dtype))
        before = self.rows([one.before for one in steps], library.state_dtype)
        draws = self.rows([one.draws for one in steps], library.step_dtype)
        after, rewards, ends = library.transition(before, np.stack([np.asarray(one.action) for one in steps]), draws)
        prefixes = InstanceCodec(self.program.shapes).prefixes
        survive = {prefixes[path] for path in self.program.restart}  # which a reset of the reference leaves as it was
        for name in library.state_dtype.names or ():
            if name not in survive:
                same(f"{name} of a reset", [one.after[name] for one in resets], first[name], state)
            same(f"{name} of a step", [one.after[name] for one in steps], after[name], state)
        for moments in (resets, steps):
            states = self.rows([one.after for one in moments], library.state_dtype)
            same("the observation", [one.obs for one in moments], library.observe(states), obs)
            told = [np.asarray(one.mask, bool) for one in moments if one.mask is not None]
            assert library.masked == bool(told)
            if library.masked:
                same("the mask", told, library.action_mask(states), 0.0)
        same("the reward", [one.reward for one in steps], rewards, reward)
        same("the end", [one.terminated for one in steps], ends, 0.0)
        return steps


def same(what, expected, found, tolerance):
    expected = np.stack([np.asarray(one) for one in expected])
    assert (expected.dtype, expected.shape) == (found.dtype, found.shape), what
    close = np.isclose(expected, found, rtol=0.0, atol=tolerance, equal_nan=True)
    wrong = np.argwhere(~close)
    assert close.all(), (
        f"{what} {wrong[0]}: {found[tuple(wrong[0])]!r}, the reference has {expected[tuple(wrong[0])]!r}"
    )
