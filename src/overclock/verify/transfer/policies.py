"""The policies of level 4: trained in workers on either side, kept at several strengths, acting here.

The workers train at the same time, each on its own core where there are two, so their seconds can be compared. Where
there are more, the reference's seeds are dealt out to several workers.
"""

import dataclasses
import functools
import threading
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, UInt32

from overclock.cores import cores
from overclock.env.rng import Rng, Section
from overclock.progress import Progress
from overclock.train.networks.agent import Agent, AgentParams
from overclock.train.policy import space_from_json
from overclock.train.ppo import PPOConfig, make_agent
from overclock.vector.host import unflatten_state
from overclock.verify.contract import Twin
from overclock.verify.sides.crew import Crew
from overclock.verify.sides.process import CouldNotVerifyError
from overclock.verify.sides.subject import Arrays, SubjectSpec
from overclock.verify.transfer.plan import TransferPlan
from overclock.verify.transfer.result import Curve
from overclock.verify.transfer.training import performance_trainer, reference_trainer

Side = Literal["performance", "reference"]
CHUNKS = 64  # reports of progress per training run; each has to come before a side is taken for dead
CURVE_POINTS = 128  # more cannot be told apart on a page
BAND = (10.0, 90.0)  # percentiles over the seeds


@dataclasses.dataclass(frozen=True)
class PolicyName:
    """Which policy: where and from which seed it was trained, and how far."""

    side: Side
    strength: str
    seed: int


@dataclasses.dataclass(frozen=True, eq=False)
class Trained:
    """What one side's training left."""

    agent: Agent
    policies: Mapping[PolicyName, Arrays]
    curve: Curve


@dataclasses.dataclass(frozen=True, eq=False)
class _Share:
    """What one worker trained: some seeds of a side."""

    side: Side
    about: Mapping[str, Any]
    policies: Mapping[PolicyName, Arrays]
    returns: np.ndarray  # (updates, seeds)
    seconds: np.ndarray  # of every update


def train_sides(
    twin: Twin,
    plan: TransferPlan,
    wanted: Mapping[Side, Sequence[str]],
    seeds: Sequence[int],
    crew: Crew,
    progress: Progress,
) -> dict[Side, Trained]:
    """Train `seeds` to the wanted strengths of every side, the sides at the same time."""
    specs = {"performance": lambda: performance_trainer(twin, plan), "reference": lambda: reference_trainer(plan)}
    spare = cores() - len(wanted) + 1
    tasks: list[Callable[[], _Share]] = []
    for side, strengths in wanted.items():
        hands = _dealt(seeds, spare if side == "reference" else 1)
        tasks += [
            functools.partial(_train, side, specs[side](), plan, strengths, hand, crew, told)
            for hand, told in zip(hands, _summed(progress, len(hands)), strict=True)
        ]
    trained = crew.together(tasks, len(tasks))
    return {side: _joined([share for share in trained if share.side == side], plan) for side in wanted}


def _dealt(seeds: Sequence[int], workers: int) -> list[np.ndarray]:
    """The seeds in so many parts, or one each; in their order."""
    return np.array_split(np.array(seeds, np.int64), max(1, min(workers, len(seeds))))


def _summed(progress: Progress, workers: int) -> list[Progress]:
    """One `progress` for each of several workers that do one thing together, each in its own thread."""
    done, counting = [0] * workers, threading.Lock()

    def tell(worker: int, what: str, count: int, total: int) -> None:
        with counting:
            done[worker] = count
            progress(what, sum(done), total * workers)

    return [functools.partial(tell, worker) for worker in range(workers)]


def _joined(shares: Sequence[_Share], plan: TransferPlan) -> Trained:
    """One side's training from what its workers did. They ran together, so an update took as long as the slowest."""
    about = shares[0].about
    policies = {name: weights for share in shares for name, weights in share.policies.items()}
    curve = _curve(
        np.concatenate([share.returns for share in shares], axis=1),
        np.max([share.seconds for share in shares], axis=0),
        int(about["steps_per_update"]),
    )
    observations, actions = (space_from_json(about[name]) for name in ("observation_space", "action_space"))
    return Trained(make_agent(observations, actions, PPOConfig(**plan.training)), policies, curve)


def _train(
    side: Side,
    spec: SubjectSpec,
    plan: TransferPlan,
    strengths: Sequence[str],
    seeds: np.ndarray,
    crew: Crew,
    progress: Progress,
) -> _Share:
    title = f"training on the {side}"
    with crew.subject(spec, 1, title) as worker:
        about = worker.description
        updates = int(about["updates"])
        stops = {name: round(share * updates) for name, share in plan.strengths if name in strengths}
        policies: dict[PolicyName, Arrays] = {}
        parts: list[dict[str, np.ndarray]] = []

        def keep(done: int) -> None:
            for strength in (name for name, stop in stops.items() if stop == done):
                weights = worker.ask("weights")
                for row, seed in enumerate(seeds.tolist()):
                    policies[PolicyName(side, strength, seed)] = {name: leaf[row] for name, leaf in weights.items()}

        progress(title, 0, updates)
        worker.ask("begin", seeds=seeds)
        done, last = 0, max(stops.values())
        keep(0)
        while done < last:
            ahead = min(stop for stop in (*stops.values(), done + max(1, updates // CHUNKS), last) if stop > done)
            parts.append(worker.ask("advance", updates=ahead - done))
            done = ahead
            keep(done)
            progress(title, done, updates)
    returns = np.concatenate([np.zeros((0, len(seeds))), *(part["return"] for part in parts)])
    seconds = np.concatenate([np.zeros(0), *(part["seconds"] for part in parts)])
    return _Share(side, about, policies, returns, seconds)


def _curve(returns: np.ndarray, seconds: np.ndarray, steps_per_update: int) -> Curve:
    """Return against environment steps and against seconds, as mean and band over the seeds, and seed by seed."""
    if not len(returns):
        return Curve(steps=[], seconds=[], mean=[], low=[], high=[], band=list(BAND))
    for update in range(1, len(returns)):  # an update without a finished episode shows the one before
        returns[update] = np.where(np.isnan(returns[update]), returns[update - 1], returns[update])
    seconds = np.cumsum(seconds)
    shown = np.unique(np.linspace(0, len(returns) - 1, min(len(returns), CURVE_POINTS)).round().astype(int))
    rows = [row[np.isfinite(row)] for row in returns[shown]]
    return Curve(
        steps=((shown + 1) * steps_per_update).tolist(),
        seconds=[round(float(value), 4) for value in seconds[shown]],
        mean=[round(float(row.mean()), 4) if row.size else None for row in rows],
        low=[round(float(np.percentile(row, BAND[0])), 4) if row.size else None for row in rows],
        high=[round(float(np.percentile(row, BAND[1])), 4) if row.size else None for row in rows],
        band=list(BAND),
        seeds=[
            [round(float(value), 4) if np.isfinite(value) else None for value in column] for column in returns[shown].T
        ],
    )


class Players:
    """Many policies of one kind, each lane played by one of them. Actions are sampled, as they were in training.

    The noise of an action depends on the episode's seed and on the step, nothing else: both sides meet the same luck.
    """

    def __init__(self, agent: Agent, policies: Mapping[PolicyName, Arrays]) -> None:
        self.names = list(policies)
        self._agent = agent
        like = jax.eval_shape(agent.init, jax.random.key(0))
        try:
            trees = [unflatten_state(dict(weights), like) for weights in policies.values()]
        except ValueError as error:
            raise CouldNotVerifyError(
                f"could not verify: policies trained on one side do not fit the other side's spaces ({error})"
            ) from error
        self._stack: AgentParams = jax.tree.map(lambda *leaves: jnp.stack(leaves), *trees)

    def first_memory(self, lanes: int) -> Any:
        """What lanes remember before their first step."""
        return self._agent.first_memory(lanes)

    def act(
        self, policies: np.ndarray, memory: Any, obs: Any, steps: np.ndarray, seeds: np.ndarray, mask: Any
    ) -> tuple[Any, np.ndarray]:
        """(memory, actions) of all lanes; lane i is played by the policy at `policies[i]`."""
        words = np.stack([seeds & 0xFFFFFFFF, seeds >> 32], axis=-1).astype(np.uint32)
        with jax.default_device(jax.local_devices(backend="cpu")[0]):
            memory, actions = _act(
                self._agent, self._stack, policies.astype(np.int32), memory, obs, steps.astype(np.uint32), words, mask
            )
        return memory, np.asarray(actions)


@functools.partial(jax.jit, static_argnames="agent")
def _act(
    agent: Agent,
    stack: AgentParams,
    policies: Any,
    memory: Any,
    obs: Any,
    steps: UInt32[Array, " n"],
    words: UInt32[Array, "n 2"],
    mask: Any,
) -> tuple[Any, Any]:
    def lane(policy: Any, memory: Any, obs: Any, step: Any, word: Any, mask: Any) -> tuple[Any, Any]:
        params = jax.tree.map(lambda leaf: leaf[policy], stack)
        rng = Rng.of(word).replace(counter=step).of_section(Section.ACTION)
        alone = jax.tree.map(lambda leaf: leaf[None], (memory, obs, step == 0, mask, rng))
        return jax.tree.map(lambda leaf: leaf[0], agent.act(params, *alone))

    return jax.vmap(lane)(policies, memory, obs, steps, words, mask)
