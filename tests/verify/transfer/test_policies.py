"""How seeds are dealt out to training workers, with workers that only count."""

import contextlib
from types import SimpleNamespace

import jax
import numpy as np
import pytest

from overclock.env.spaces import Box, Discrete
from overclock.train.policy import space_to_json
from overclock.verify.transfer import policies as transfer_policies
from overclock.verify.transfer.plan import TransferPlan
from overclock.verify.transfer.policies import PolicyName, train_sides

UPDATES = 4
PLAN = TransferPlan(training={"hidden": (4,)}, strengths=(("random", 0.0), ("trained", 1.0)))


ABOUT = {
    "updates": UPDATES, "steps_per_update": 10,
    "observation_space": space_to_json(Box(-1.0, 1.0, (4,))), "action_space": space_to_json(Discrete(2)),
}  # fmt: skip


class Worker:
    """Weights are the seeds plus the updates done; the worker with the highest seed is the slowest."""

    description = property(lambda self: ABOUT)

    def ask(self, call, seeds=None, updates=0):
        if call == "begin":
            self.seeds, self.done = seeds, 0
        elif call == "advance":
            self.done += updates
            returns = np.tile(self.seeds.astype(float), (updates, 1))
            return {"return": returns, "seconds": np.full(updates, float(self.seeds.max()))}
        return {"weights": self.seeds + self.done / 10}


class Crew:
    """Runs tasks one after the other and remembers who worked."""

    def __init__(self):
        self.workers = []

    @contextlib.contextmanager
    def subject(self, spec, lanes, name):
        self.workers.append((name, Worker()))
        yield self.workers[-1][1]

    def together(self, tasks, threads):
        assert threads == len(tasks)  # sides that wait for each other could not be compared by their seconds
        return [task() for task in tasks]


@pytest.fixture
def trained(monkeypatch):
    spec = SimpleNamespace()
    monkeypatch.setattr(transfer_policies, "performance_trainer", lambda twin, plan: spec)
    monkeypatch.setattr(transfer_policies, "reference_trainer", lambda plan: spec)

    def train(cores, sides=("performance", "reference")):
        monkeypatch.setattr(transfer_policies, "cores", lambda: cores)
        crew, told = Crew(), []
        found = train_sides(
            None,
            PLAN,
            {side: ["random", "trained"] for side in sides},
            range(1, 6),
            crew,
            lambda *one: told.append(one),
        )
        return found, crew, told

    return train


@pytest.mark.parametrize(
    ("cores", "hands"),
    [(1, [[1, 2, 3, 4, 5]]), (2, [[1, 2, 3, 4, 5]]), (4, [[1, 2], [3, 4], [5]]), (64, [[1], [2], [3], [4], [5]])],
)
def test_spare_cores_take_seeds_of_the_reference(trained, cores, hands):
    _, crew, _ = trained(cores)
    seeds = {"performance": [], "reference": []}
    for name, worker in crew.workers:
        seeds[name.split()[-1]].append(worker.seeds.tolist())
    assert seeds == {"performance": [[1, 2, 3, 4, 5]], "reference": hands}


def test_a_side_alone_has_all_cores(trained):
    assert len(trained(2, sides=("reference",))[1].workers) == 2


@pytest.mark.parametrize("cores", [1, 4, 64])
def test_what_is_learnt_does_not_depend_on_who_trains(trained, cores):
    found = trained(cores)[0]["reference"]
    assert set(found.policies) == {
        PolicyName("reference", strength, seed) for strength in ("random", "trained") for seed in range(1, 6)
    }
    for name, weights in found.policies.items():
        assert weights["weights"] == name.seed + (UPDATES / 10 if name.strength == "trained" else 0)
    assert found.curve.seeds == [[float(seed)] * UPDATES for seed in range(1, 6)]
    assert found.curve.seconds == [5.0, 10.0, 15.0, 20.0]  # of the slowest
    jax.eval_shape(found.agent.init, jax.random.key(0))


def test_progress_of_several_workers_is_one_count(trained):
    told = [(done, total) for what, done, total in trained(4)[2] if what == "training on the reference"]
    assert {total for _, total in told} == {3 * UPDATES}
    assert [done for done, _ in told] == sorted(done for done, _ in told)
    assert told[-1] == (3 * UPDATES, 3 * UPDATES)
