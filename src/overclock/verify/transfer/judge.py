"""What level 4 concludes from returns and visited states, one group of policies at a time.

A group is the policies trained on one side to one strength; its unit is the policy. `Returns` holds, for every policy,
its episodes on one side.
"""

import math
from collections.abc import Sequence

import numpy as np

from overclock.verify.statistics import (
    aa_noise,
    compare_visitation,
    default_margin,
    pairs_needed,
    power_paired,
    tost_paired,
    tost_welch,
)
from overclock.verify.transfer.plan import RANDOM, TRAINED, TransferPlan
from overclock.verify.transfer.result import (
    Margins,
    PowerOfTest,
    ReturnsComparison,
    ReturnsOnSide,
    VisitedStates,
    WorstDimension,
)

Returns = np.ndarray  # (policies, episodes)
States = Sequence[Sequence[np.ndarray]]  # policies, episodes, (steps, dimensions)
VISITATION_ALPHA = 0.05  # over all policies together
YARDSTICK_PERMUTATIONS = 99  # only the divergence of the yardstick is used, not its p


def judge_returns(reference: Returns, performance: Returns, margin: float, alpha: float) -> ReturnsComparison:
    """Paired TOST of the per-policy means, which decides; Welch as second opinion; and what n could have shown."""
    on_reference, on_performance = reference.mean(axis=1), performance.mean(axis=1)
    paired = tost_paired(on_performance, on_reference, margin, alpha)
    differences = on_performance - on_reference
    sd = 0.0 if paired.exact else float(differences.std(ddof=1))
    return ReturnsComparison(
        verdict=paired.verdict,
        sentence=str(paired),
        policies=len(differences),
        episodes=reference.shape[1],
        margin=margin,
        reference=_spread(on_reference),
        performance=_spread(on_performance),
        differences=[round(float(value), 6) for value in differences],
        identical_episodes=float((reference == performance).mean()) if reference.shape == performance.shape else 0.0,
        tost=paired,
        welch=tost_welch(on_performance, on_reference, margin, alpha),
        power=_power(len(differences), margin, sd, alpha),
        n_needed=paired.n_needed,
    )


def aa_control(reference: Returns, margin: float, alpha: float) -> ReturnsComparison:
    """The reference against itself: the first half of every policy's episodes against the second half.

    Other seeds, the same implementation; anything but noise is a fault of the evaluation.
    """
    half = reference.shape[1] // 2
    return judge_returns(reference[:, :half], reference[:, half : 2 * half], margin, alpha)


def margins_of(plan: TransferPlan, reference: dict[str, Returns]) -> Margins:
    """The margin of every strength, and where it comes from; `reference` has the reference's returns by strength."""
    names = [name for name, _ in plan.strengths]
    if plan.margins is not None:
        return Margins(by="plan", reason=plan.margin_reason, values={name: plan.margins[name] for name in names})
    trained = reference[TRAINED]
    half = trained.shape[1] // 2
    # Halves differ by more than two whole evaluations would: each has half the episodes.
    noise = aa_noise(trained[:, :half].mean(axis=1), trained[:, half : 2 * half].mean(axis=1)) / math.sqrt(2.0)
    margin = default_margin(trained.mean(axis=1), reference[RANDOM].mean(axis=1), noise)
    return Margins(
        by="rule",
        reason="max(5 % of what there is to learn, twice the A/A noise), from the reference alone",
        values=dict.fromkeys(names, margin.value),
        pieces=margin,
    )


def judge_visits(names: Sequence[str], reference: States, performance: States, family: int, seed: int) -> VisitedStates:
    """Jensen-Shannon divergence of the visited states, policy by policy, each against its own null.

    `family` is how many policies are judged in all; any of them may show a difference, so each must be surer.
    """
    alpha = VISITATION_ALPHA / family
    permutations = math.ceil(1.0 / alpha)  # the fewest with which p can come down to alpha
    found = [
        compare_visitation(ref, perf, names=names, paired=True, alpha=alpha, permutations=permutations, seed=seed)
        for ref, perf in zip(reference, performance, strict=True)
    ]
    worst = min(found, key=lambda one: (one.p, -one.value))
    return VisitedStates(
        verdict="different" if any(one.verdict == "different" for one in found) else "consistent",
        policies_different=sum(one.verdict == "different" for one in found),
        policies=len(found),
        episodes=len(reference[0]),
        alpha_per_policy=alpha,
        mean_bits=float(np.mean([one.value for one in found])),
        null_mean_bits=float(np.mean([one.null_mean for one in found])),
        worst=WorstDimension(
            dimension=worst.worst, bits=worst.value, null_mean=worst.null_mean, null_limit=worst.null_limit, p=worst.p
        ),
    )


def visits_of_reference(names: Sequence[str], reference: States) -> float:
    """A yardstick: the mean divergence, in bits, of two halves of the reference's own episodes.

    Halves have fewer states and other luck, so that this is what a harmless difference looks like, and a little more.
    """
    found = []
    for episodes in reference:
        half = len(episodes) // 2
        first, second = episodes[:half], episodes[half : 2 * half]
        found.append(compare_visitation(first, second, names=names, permutations=YARDSTICK_PERMUTATIONS).value)
    return float(np.mean(found))


def _spread(values: np.ndarray) -> ReturnsOnSide:
    policies = [round(float(value), 6) for value in values]
    return ReturnsOnSide(mean=float(values.mean()), sd=float(values.std(ddof=1)), policies=policies)


def _power(n: int, margin: float, sd: float, alpha: float) -> PowerOfTest:
    """For equal sides with the observed sd: how likely `equivalent` was, and how many policies make it likely."""
    if sd == 0.0:
        return PowerOfTest(sd=0.0, to_show_equivalence=1.0, policies_for_90_percent=2)
    return PowerOfTest(
        sd=sd,
        to_show_equivalence=power_paired(n, margin, sd, 0.0, alpha),
        policies_for_90_percent=pairs_needed(margin, sd, 0.0, alpha),
    )
