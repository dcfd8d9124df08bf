"""What level 4 found, in a verdict and a few sentences."""

from collections.abc import Sequence
from typing import Literal

from overclock.verify.transfer.result import ComparedGroup, Controls

Verdict = Literal["pass", "fail", "inconclusive", "could not verify"]


def conclude(
    groups: Sequence[ComparedGroup], controls: Controls, trained_on: Sequence[str], quick: bool
) -> tuple[Verdict, str]:
    """(verdict, summary).

    A reference that differs from itself takes every verdict away. A planted bug that was not seen takes `pass` away:
    what was not found may have been missed, but what was found was there.
    """
    for group in controls.a_a.groups:
        if group.verdict == "different":
            return "could not verify", (
                f"could not verify: the reference differs from itself ({group.title}: {group.sentence}), so "
                "differences between the sides mean nothing; is it random in a way its seed does not decide?"
            )
    different = [group for group in groups if group.verdict == "different"]
    unclear = [group for group in groups if group.verdict == "inconclusive"]
    remarks = _remarks(groups, controls, trained_on, quick)
    if different:
        worst = max(different, key=lambda group: abs(group.tost.difference) / group.margin)
        return "fail", _joined(
            f"different: {worst.title}, {worst.reference.mean:.4g} on the reference and "
            f"{worst.performance.mean:.4g} on the performance side ({worst.sentence})",
            *remarks,
        )
    if unclear:
        needed = [group.n_needed for group in unclear if group.n_needed]
        decides = f"about {max(needed)} policies per group would decide" if len(needed) == len(unclear) else ""
        which = "; ".join(f"{group.title}: {group.sentence}" for group in unclear)
        return "inconclusive", _joined(
            f"inconclusive after {max(group.policies for group in groups)} policies per group: {which}; "
            f"{decides or 'no number would decide'}",
            *remarks,
        )
    planted = controls.planted
    assert planted is not None  # every run has one
    if not planted.seen:
        known = "plan more seeds, more episodes or smaller margins"
        remedy = "what was judged is not what was played" if planted.synthetic else known
        missed = f"the planted bug '{planted.bug}' was not seen, so equal returns mean nothing"
        return "could not verify", f"could not verify: {missed}; {remedy}."
    worst = max(groups, key=lambda group: max(abs(end) for end in group.tost.interval) / group.margin)
    return "pass", _joined(
        f"equivalent: {len(groups)} groups of {min(group.policies for group in groups)} policies or more score the "
        f"same on both sides, {groups[0].episodes} episodes each; closest to its margin: {worst.title} "
        f"({worst.sentence})",
        *remarks,
    )


def _remarks(groups: Sequence[ComparedGroup], controls: Controls, trained_on: Sequence[str], quick: bool) -> list[str]:
    """What a reader must know to weigh the verdict."""
    remarks = []
    if quick:
        remarks.append("this was a quick run, with too few policies and episodes to rely on")
    if "reference" not in trained_on:
        remarks.append("the reference cannot be trained on, so every policy comes from the performance side")
    elsewhere = [group.title for group in groups if group.visited.verdict == "different"]
    if elsewhere:
        remarks.append(f"visited states differ for {', '.join(elsewhere)}: look at levels 1 to 3")
    planted, unseen = controls.planted, controls.unseen
    assert planted is not None
    if not planted.seen:
        remarks.append(f"the planted bug '{planted.bug}' was not seen either")
    elif planted.synthetic:
        remarks.append("no bug is known that could be planted, so the control was a made-up difference of rewards")
    if unseen is not None and not unseen.seen:
        states = ", though visited states show it" if unseen.states_differ else ""
        remarks.append(f"returns hide errors: the bug '{unseen.bug}' was not seen by transfer{states}")
    return remarks


def _joined(*sentences: str) -> str:
    return " ".join(
        f"{sentence[0].upper() if i else sentence[0]}{sentence[1:]}." for i, sentence in enumerate(sentences)
    )
