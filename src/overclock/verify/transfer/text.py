"""What level 4 found, in a verdict and a few sentences."""

from typing import Any


def conclude(result: dict[str, Any], quick: bool) -> tuple[str, str]:
    """(verdict, summary).

    A reference that differs from itself takes every verdict away. A planted bug that was not seen takes `pass` away:
    what was not found may have been missed, but what was found was there.
    """
    groups, controls = result["groups"], result["controls"]
    for group in controls["a_a"]["groups"]:
        if group["verdict"] == "different":
            return "could not verify", (
                f"could not verify: the reference differs from itself ({title(group)}: {group['sentence']}), so "
                "differences between the sides mean nothing; is it random in a way its seed does not decide?"
            )
    different = [group for group in groups if group["verdict"] == "different"]
    unclear = [group for group in groups if group["verdict"] == "inconclusive"]
    if different:
        worst = max(different, key=lambda group: abs(group["tost"]["difference"]) / group["margin"])
        return "fail", _joined(
            f"different: {title(worst)}, {worst['reference']['mean']:.4g} on the reference and "
            f"{worst['performance']['mean']:.4g} on the performance side ({worst['sentence']})",
            *_remarks(result, quick),
        )
    if unclear:
        needed = [group["n_needed"] for group in unclear]
        number = f"about {max(needed)} policies per group would decide" if all(needed) else "no number would decide"
        which = "; ".join(f"{title(group)}: {group['sentence']}" for group in unclear)
        return "inconclusive", _joined(
            f"inconclusive after {max(group['policies'] for group in groups)} policies per group: {which}; {number}",
            *_remarks(result, quick),
        )
    planted = controls["planted"]
    if not planted["seen"]:
        known = "plan more seeds, more episodes or smaller margins"
        remedy = "what was judged is not what was played" if planted["synthetic"] else known
        missed = f"the planted bug '{planted['bug']}' was not seen, so equal returns mean nothing"
        return "could not verify", f"could not verify: {missed}; {remedy}."
    worst = max(groups, key=lambda group: max(abs(end) for end in group["tost"]["interval"]) / group["margin"])
    return "pass", _joined(
        f"equivalent: {len(groups)} groups of {min(group['policies'] for group in groups)} policies or more score the "
        f"same on both sides, {groups[0]['episodes']} episodes each; closest to its margin: {title(worst)} "
        f"({worst['sentence']})",
        *_remarks(result, quick),
    )


def title(group: dict[str, Any]) -> str:
    """A group in words."""
    if group["trained_on"] == "nothing":
        return f"{group['strength']} policies"
    side = "reference" if group["trained_on"] == "reference" else "performance side"
    return f"{group['strength']} policies from the {side}"


def _remarks(result: dict[str, Any], quick: bool) -> list[str]:
    """What a reader must know to weigh the verdict."""
    remarks = []
    if quick:
        remarks.append("this was a quick run, with too few policies and episodes to rely on")
    if "reference" not in result["trained_on"]:
        remarks.append("the reference cannot be trained on, so every policy comes from the performance side")
    elsewhere = [title(group) for group in result["groups"] if group["visited"]["verdict"] == "different"]
    if elsewhere:
        remarks.append(f"visited states differ for {', '.join(elsewhere)}: look at levels 1 to 3")
    planted = result["controls"]["planted"]
    if not planted["seen"]:
        remarks.append(f"the planted bug '{planted['bug']}' was not seen either")
    elif planted["synthetic"]:
        remarks.append("no bug is known that could be planted, so the control was a made-up difference of rewards")
    unseen = result["controls"]["unseen"]
    if unseen is not None and not unseen["seen"]:
        states = ", though visited states show it" if unseen["states_differ"] else ""
        remarks.append(f"returns hide errors: the bug '{unseen['bug']}' was not seen by transfer{states}")
    return remarks


def _joined(*sentences: str) -> str:
    return " ".join(
        f"{sentence[0].upper() if i else sentence[0]}{sentence[1:]}." for i, sentence in enumerate(sentences)
    )
