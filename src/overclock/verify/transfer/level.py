"""Level 4, transfer: do policies trained on either side do equally well on both?

Policies of several strengths are trained on both sides and evaluated on both with the same randomness. What decides is
a paired TOST per group of policies, with margins fixed beforehand; two controls say whether the evaluation can be
believed. Returns hide many errors, so this level can refute a twin but never replaces levels 1 to 3.
"""

import dataclasses
import time
from collections.abc import Sequence

from overclock.env.registry import load
from overclock.errors import UsageError
from overclock.progress import Progress, silent
from overclock.results import extended
from overclock.verify.contract import Twin
from overclock.verify.transfer.games import SYNTHETIC, Games, Group, Record
from overclock.verify.transfer.judge import (
    Returns,
    aa_control,
    judge_returns,
    judge_visits,
    margins_of,
    visits_of_reference,
)
from overclock.verify.transfer.plan import RANDOM, TransferPlan
from overclock.verify.transfer.result import (
    BugControl,
    ComparedGroup,
    Controls,
    GroupWithBug,
    Margins,
    ReturnsAlone,
    ReturnsComparison,
    SelfComparedGroup,
    SelfControl,
    TransferLevel,
    VisitedStates,
)
from overclock.verify.transfer.text import conclude


def check_transfer(
    twin: Twin,
    plan: TransferPlan | None = None,
    *,
    seed: int = 0,
    quick: bool = False,
    timeout: float = 120.0,
    progress: Progress = silent,
) -> TransferLevel:
    """Run level 4. The plan is fixed, and `progress` hears its fingerprint, before anything runs.

    `quick` shrinks the plan to something a test can run; the result says so.
    """
    twin = twin.learnt_as or twin
    if plan is None:
        plan = TransferPlan() if twin.transfer is None else load(twin.transfer)
        assert isinstance(plan, TransferPlan)
    if plan.precision not in twin.contracts:  # people train in float32, but not every twin has a contract for it
        plan = dataclasses.replace(plan, precision=twin.strictest)
    plan = plan.quick() if quick else plan
    for bug in (plan.planted, plan.unseen):
        if bug is not None and bug not in twin.plants:
            raise UsageError(f"The transfer plan of {twin.name} plants '{bug}', which is none of the twin's bugs.")
    registered = plan.registered(twin.name, seed)
    progress(f"plan {registered.sha256[:12]}", 1, 1)

    games = Games(twin, plan, seed, timeout, progress)
    judged, margins = _look_by_look(games, _bugs(plan))
    started = time.perf_counter()
    groups = [
        extended(
            ComparedGroup,
            judged[group].comparison,
            **_named(group),
            look=judged[group].look,
            visited=_visits(games, games.performance, group, yardstick=True),
        )
        for group in games.groups
    ]
    controls, trained_on = _controls(games, margins), list[str](games.sides)
    verdict, summary = conclude(groups, controls, trained_on, quick)
    return TransferLevel(
        verdict=verdict,
        summary=summary,
        quick=quick,
        plan=registered,
        groups=groups,
        controls=controls,
        margins=margins,
        alpha=plan.alpha,
        trained_on=trained_on,
        curves=dict(games.curves),
        seconds={**games.seconds, "judging": round(time.perf_counter() - started, 2)},
    )


def returns_alone(
    twin: Twin, *, seed: int = 0, timeout: float = 120.0, progress: Progress = silent
) -> ReturnsAlone | None:
    """What a comparison of returns and nothing else says: untrained policies on both sides, with the same luck.

    For the report on a twin that a lower level refuted: many ports were never compared in any other way. None where
    the twin's plan states no margin for untrained policies.
    """
    twin = twin.learnt_as or twin
    plan = None if twin.transfer is None else load(twin.transfer)
    if plan is None or plan.margins is None or RANDOM not in plan.margins:
        return None
    plan = dataclasses.replace(
        plan, strengths=((RANDOM, 0.0),), margins={RANDOM: plan.margins[RANDOM]}, looks=1, planted=None, unseen=None
    )
    games = Games(twin, plan, seed, timeout, progress)
    judged, _ = _look_by_look(games, [])
    found = judged[games.groups[0]].comparison
    reference, performance = found.reference.mean, found.performance.mean
    says = {
        "equivalent": "calls the two equivalent",
        "different": "calls the two different, too",
        "inconclusive": "cannot decide",
    }
    return ReturnsAlone(
        verdict=found.verdict,
        reference=reference,
        performance=performance,
        margin=found.margin,
        policies=found.policies,
        episodes=found.episodes,
        sentence=(
            f"A comparison of mean returns with a margin of {found.margin:g} {says[found.verdict]}: untrained "
            f"policies score {reference:.2f} on the reference and {performance:.2f} on the performance side "
            f"({found.sentence})."
        ),
    )


@dataclasses.dataclass(frozen=True)
class _Judged:
    comparison: ReturnsComparison
    look: int


def _look_by_look(games: Games, bugs: Sequence[str]) -> tuple[dict[Group, _Judged], Margins]:
    """Add policies to the groups that are still open, as often as the plan allows; also fixes the margins.

    Known bugs are far beyond the margins, so the first look's policies see them; one that is made up of margins has to
    be looked for as closely as the sides are compared.
    """
    plan, alpha = games.plan, games.plan.alpha
    margins: Margins | None = None
    judged: dict[Group, _Judged] = {}
    still_open = games.groups
    for look in range(1, plan.looks + 1):
        players = games.train(still_open, look)
        games.play_reference(players)
        if margins is None:  # before the performance side has played a single episode
            margins = margins_of(plan, _by_strength(games))
        planted = [bug for bug in bugs if look == 1 or bug == SYNTHETIC]
        games.play_performance(players, planted, margins.values)
        for group in still_open:
            judged[group] = _Judged(_judge(games, games.performance, group, margins, alpha), look)
        still_open = [group for group in still_open if judged[group].comparison.verdict == "inconclusive"]
        if not still_open:
            break
    assert margins is not None  # a plan has at least one look
    return judged, margins


def _controls(games: Games, margins: Margins) -> Controls:
    """Whether the reference differs from itself, and whether bugs are seen: known ones, or one that is made up."""
    plan, alpha = games.plan, games.plan.alpha
    itself = []
    for group in games.groups:
        found = aa_control(games.returns(games.reference, group), margins.values[group[1]], alpha)
        equivalent = found.verdict == "equivalent"
        itself.append(extended(SelfComparedGroup, found, **_named(group), equivalent=equivalent))
    return Controls(
        a_a=SelfControl(
            passed=all(one.verdict != "different" for one in itself),
            equivalent=all(one.equivalent for one in itself),
            groups=itself,
        ),
        unseen=None if plan.unseen is None else _control(games, plan.unseen, margins, alpha),
        planted=_control(games, plan.planted or SYNTHETIC, margins, alpha),
    )


def _control(games: Games, bug: str, margins: Margins, alpha: float) -> BugControl:
    """A bug in the control groups. A known one is seen where one group shows it; a made-up one is in all of them."""
    record, synthetic = games.bugs[bug], bug == SYNTHETIC
    groups = [
        extended(
            GroupWithBug,
            _judge(games, record, group, margins, alpha),
            **_named(group),
            visited=None if synthetic else _visits(games, record, group),  # only rewards are made up
        )
        for group in games.control_groups
    ]
    verdicts = [group.verdict for group in groups]
    seen = (all if synthetic else any)(verdict == "different" for verdict in verdicts)
    return BugControl(
        bug=bug,
        synthetic=synthetic,
        seen=seen,
        result="seen by transfer" if seen else "not seen by transfer",
        verdict="different" if seen else "inconclusive" if "inconclusive" in verdicts else "equivalent",
        states_differ=any(group.visited.verdict == "different" for group in groups if group.visited is not None),
        groups=groups,
    )


def _judge(games: Games, record: Record, group: Group, margins: Margins, alpha: float) -> ReturnsComparison:
    """One group on a performance side against the same policies on the reference."""
    names = [name for name in record if games.group_of(name) == group]
    reference = {name: games.reference[name] for name in names}
    margin = margins.values[group[1]]
    return judge_returns(games.returns(reference, group), games.returns(record, group), margin, alpha)


def _visits(games: Games, record: Record, group: Group, yardstick: bool = False) -> VisitedStates:
    names = games.dimensions()
    reference = games.states({name: games.reference[name] for name in record}, group)
    found = judge_visits(names, reference, games.states(record, group), family=len(record), seed=games.seed)
    if not yardstick:
        return found
    return dataclasses.replace(found, reference_against_itself_bits=visits_of_reference(names, reference))


def _by_strength(games: Games) -> dict[str, Returns]:
    return {
        strength: games.returns(games.reference, *(group for group in games.groups if group[1] == strength))
        for strength, _ in games.plan.strengths
    }


def _bugs(plan: TransferPlan) -> list[str]:
    return [bug for bug in (plan.planted or SYNTHETIC, plan.unseen) if bug is not None]


def _named(group: Group) -> dict[str, str]:
    return {"trained_on": group[0], "strength": group[1]}
