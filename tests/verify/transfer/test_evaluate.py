"""Policies at play: every episode gets its own luck back, lanes are filled at once, odd answers are refused."""

import contextlib
import dataclasses
import threading

import numpy as np
import pytest
from verify import drifting

from overclock.verify.sides.crew import Crew
from overclock.verify.sides.process import CouldNotVerifyError
from overclock.verify.sides.subject import Observed, SubjectSpec
from overclock.verify.transfer.evaluate import Job, Table, play


class Walk:
    """An episode of `seed % 7 + 1` steps; a step pays what it draws. Replays what it is given, else draws itself."""

    def __init__(self, num_envs, fault=""):
        self.num_envs, self.fault = num_envs, fault
        self.description = {"kind": "discrete", "n": 2}
        self.luck = [np.random.default_rng(0)] * num_envs
        self.place, self.length, self.start = np.zeros(num_envs), np.ones(num_envs), np.zeros(num_envs)
        self.steps_taken = 0

    def reset(self, mask, seeds, draws=None):
        for lane in np.flatnonzero(mask):
            self.luck[lane] = np.random.default_rng(seeds[lane])
            drawn = self.luck[lane].normal() if draws is None else draws["start"][lane]
            self.start[lane], self.place[lane], self.length[lane] = drawn, 0, seeds[lane] % 7 + 1
        return self.seen({"start": self.start.copy()})

    def step(self, actions, draws=None):
        self.steps_taken += 1
        pay = np.array([luck.normal() for luck in self.luck]) if draws is None else draws["pay"]
        self.place = self.place + 1
        longer = 2 if self.fault == "late" else 0
        ended = self.place >= self.length + longer
        reward = pay * np.nan if self.fault == "nan" else pay[:1] if self.fault == "shape" else pay
        return self.seen({"pay": pay}, reward=reward, terminated=ended, truncated=np.zeros_like(ended))

    def seen(self, draws, **outputs):
        outputs["obs"] = np.stack([self.start, self.place], axis=1)
        if self.fault == "mask":
            outputs["action_mask"] = np.ones((self.num_envs, 2), np.bool_)
        return Observed(outputs, {"place": self.place.copy(), "steps": self.place.copy()}, draws)


class Straight:
    """Always the same action."""

    def first_memory(self, lanes):
        return ()

    def act(self, policies, memory, obs, steps, seeds, mask):
        return memory, np.zeros(len(policies))


class Here(Crew):
    """Subjects in this process."""

    @contextlib.contextmanager
    def subject(self, spec, lanes, name):
        self.last = Walk(lanes, dict(spec.options).get("fault", ""))
        yield self.last


def run(jobs, fault="", processes=1, limit=100):
    crew, table = Here(1.0), Table(SubjectSpec("", (("fault", fault),)), "the walk", ("place",), limit)
    finished = []
    played = play(crew, table, Straight(), jobs, processes, finished.append)
    return played, sum(finished), crew


JOBS = [Job(policy=0, seed=seed, keep_states=seed % 2 == 0) for seed in range(100, 145)]


@pytest.mark.parametrize("processes", [1, 2])
def test_every_job_is_played_once_and_given_back_its_own_luck(processes):
    played, finished, _ = run(JOBS, processes=processes)
    assert finished == len(JOBS)
    assert [episode.length for episode in played] == [job.seed % 7 + 1 for job in JOBS]
    for job, episode in zip(JOBS, played, strict=True):
        luck = np.random.default_rng(job.seed)
        assert episode.draws.reset["start"] == luck.normal()
        assert episode.total == pytest.approx(sum(luck.normal() for _ in range(episode.length)))
        assert (episode.states is not None) == job.keep_states
        if job.keep_states:
            np.testing.assert_array_equal(episode.states[:, 0], np.arange(episode.length + 1))

    again = [dataclasses.replace(job, draws=episode.draws) for job, episode in zip(JOBS, played, strict=True)]
    replayed, _, _ = run(again[::-1])
    for before, after in zip(played, replayed[::-1], strict=True):
        assert (after.total, after.draws.reset) == (before.total, before.draws.reset)


def test_something_extra_is_paid_once_in_every_episode_and_changes_nothing_else():
    played, _, _ = run(JOBS)
    more = [dataclasses.replace(job, extra=100.0 + job.seed) for job in JOBS]
    paid, _, _ = run(more, processes=2)
    for job, plain, rich in zip(more, played, paid, strict=True):
        assert rich.total == pytest.approx(plain.total + job.extra)
        assert (rich.length, rich.draws.reset) == (plain.length, plain.draws.reset)


def test_lanes_take_the_next_job_at_once():
    _, _, crew = run(JOBS)
    steps, lanes = sum(job.seed % 7 + 1 for job in JOBS), 32
    assert crew.last.num_envs == lanes
    assert crew.last.steps_taken <= steps / lanes + 7


def test_an_episode_that_outlives_its_recording_meets_the_same_luck_again():
    played, _, _ = run(JOBS)
    again = [dataclasses.replace(job, draws=episode.draws) for job, episode in zip(JOBS, played, strict=True)]
    late, _, _ = run(again, fault="late")
    pays = [float(step["pay"]) for step in played[3].draws.steps]
    assert late[3].length == played[3].length + 2
    assert late[3].total == pytest.approx(sum(pays) + pays[0] + pays[1])


def test_endless_episodes_are_cut_off():
    played, _, _ = run(JOBS, limit=3)
    assert [episode.length for episode in played] == [min(3, job.seed % 7 + 1) for job in JOBS]


@pytest.mark.parametrize(("fault", "says"), [("nan", "not finite"), ("shape", r"`reward` of shape \(1,\)")])
def test_odd_answers_give_no_verdict(fault, says):
    with pytest.raises(CouldNotVerifyError, match=f"could not verify: the walk .*{says}"):
        run(JOBS, fault=fault)


def test_masks_on_one_side_only_give_no_verdict():
    played, _, _ = run(JOBS)
    again = [dataclasses.replace(job, draws=episode.draws) for job, episode in zip(JOBS, played, strict=True)]
    with pytest.raises(CouldNotVerifyError, match="says which actions are legal and the reference does not"):
        run(again, fault="mask")


def test_when_one_process_fails_the_others_end_at_once():
    """The other one hangs; were it not stopped, it would end with a sentence of its own after the timeout."""
    crew, ends, about_to_hang = Crew(timeout=90.0), [], threading.Event()

    def drive(fault):
        options = (("fault", fault), ("pid_file", "/dev/null"))
        spec = SubjectSpec("verify.subjects:CountingSubject", options, drifting.ENVIRONMENT)
        try:
            with crew.subject(spec, 2, fault) as subject:
                for _ in range(2):
                    subject.step(np.zeros(2, np.int32))
                if fault == "hang":
                    about_to_hang.set()
                about_to_hang.wait()
                subject.step(np.zeros(2, np.int32))
        except Exception as error:
            ends.append((fault, str(error)))
            raise

    with pytest.raises(CouldNotVerifyError, match="could not verify: raise: `step` raised ArithmeticError"):
        crew.together([lambda: drive("hang"), lambda: drive("raise")], threads=2)
    assert sorted(fault for fault, _ in ends) == ["hang", "raise"]
    assert "gave no answer" not in dict(ends)["hang"]
