"""What is said of how whole episodes come out: what was seen, and what to do where float32 is not enough."""

from overclock.verify.rollout.outcome_result import OutcomeResult

REMEDY = (
    "keep a clock that adds a constant as a whole number of steps (recover it by rounding t / step, and decide by it), "
    "a sum in two floats, or require float64 (in a project: x64 = 'the reason' at the head of contract.toml in place "
    "of [float32])"
)


def sentence_of(result: OutcomeResult, most: int) -> str:
    """The result in one sentence, or in three where it is a failure."""
    played = f"{result.episodes:,} episodes to their end in {result.precision}"
    if not result.differing:
        if result.verdict == "pass":
            return f"{played}: flags, lengths and rewards are those of the unrounded reference"
        return f"{played}: {_returns(result)}"
    differ = f"{played}: {result.differing:,} {'differs' if result.differing == 1 else 'differ'} from the reference"
    if result.verdict == "pass":
        return f"{differ} ({_directions(result)}), where rounding decides"
    first = result.first
    assert first is not None
    where = (
        f"{first.field} is {first.performance} after step {first.step} of the episode with seed {first.episode_seed}, "
        f"the reference says {first.reference}"
    )
    if result.unexplained and not first.explained:
        return f"{differ} ({_directions(result)}); {where}, and so do its copies that are rounded after every step"
    why = f"at most {most:,} may" if result.differing > most else "rounding goes both ways"
    said = f"{differ} ({_directions(result)}), {why}; {where}"
    return f"{said}. The reference lies within rounding of a threshold there: {REMEDY}"


def _directions(result: OutcomeResult) -> str:
    counts = {
        "too early": result.earlier, "too late": result.later, "with less reward": result.less,
        "with more reward": result.more,
    }  # fmt: skip
    said = [f"{count:,} {how}" for how, count in counts.items() if count]
    return ", ".join(said) or "another value"


def _returns(result: OutcomeResult) -> str:
    above, below = result.returns_above, result.returns_below
    return f"of the returns that drift apart {below:,} are too low and {above:,} too high, more than chance explains"
