"""The contract of a new project: what the two sides must agree on, as far as watching the reference tells."""

from collections.abc import Mapping

from gymnasium.spaces import Box

from overclock.errors import UsageError
from overclock.recipe.contract.file import ContractFile, DrawField, StateField
from overclock.recipe.contract.tolerances import Numbers, closeness
from overclock.recipe.survey.live.draws import Draws
from overclock.recipe.survey.live.profile import Profile
from overclock.recipe.survey.static.source import Source
from overclock.recording.codec import prefixes
from overclock.recording.floats import Floats
from overclock.recording.observations import NUMBERS


def contract_of(source: Source, seen: Profile) -> ContractFile:
    """State, draws and tolerances; a reference that no contract can describe is refused."""
    if seen.unrecorded:
        raise UsageError(
            f"The reference draws from {' and '.join(seen.unrecorded)}, which is not recorded; let it draw from "
            "self.np_random, so that its luck can be given to the other side."
        )
    if not isinstance(seen.observation_space, NUMBERS):
        raise UsageError(
            f"The observations of the reference are a {type(seen.observation_space).__name__.lower()}, not one array; "
            "put them into one (gymnasium.wrappers.FlattenObservation shows how), and translate that."
        )
    if seen.truncates_itself:
        raise UsageError(
            "The reference truncates episodes by itself, for a reason that is not in its state; leave that to a time "
            "limit (--max-steps), or let it terminate."
        )
    draws = {}
    for when, drawn in (("reset", seen.reset_draws), ("step", seen.step_draws)):
        draws[when] = _draws(when, drawn)
    _require_whole_state(seen)
    used = [one for one in seen.fields if one.used]
    names = prefixes([one.path for one in used])
    fields = tuple(StateField(names[one.path], one.path, one.dtype, one.shape, one.low, one.high) for one in used)
    if not fields:
        raise UsageError(f"Nothing that changes was found in {source.class_name}, so there is no state to compare.")
    return ContractFile(
        state=fields,
        reset_draws=draws["reset"],
        step_draws=draws["step"],
        set_state=seen.restored.works,
        precisions=closeness(_numbers(seen, names)),
    )


def _require_whole_state(seen: Profile) -> None:
    """Refuse what would be compared without a part of its state: nobody would notice what that part does."""
    missing = [one for one in seen.unrepresented if one.missing]
    if missing:
        raise UsageError(
            f"The state of the reference has a part that no array of one shape holds: {missing[0].sentence} Let it "
            "keep numbers there (a flag for every place instead of a set of places), or try --agent builtin, which "
            "lays such things out by itself."
        )
    if seen.restored.incomplete:
        raise UsageError(
            f"The state of the reference could not be found: {seen.restored.sentence} Let it keep what it needs from "
            "one step to the next in attributes of its own, as numbers."
        )


def _numbers(seen: Profile, names: Mapping[str, str]) -> Numbers:
    floats = [one for one in seen.fields if one.used and one.kind == "float"]
    sizes = {f"state.{one.path}": max(abs(one.low), abs(one.high)) for one in floats}
    shown = str(seen.observation_space.dtype) if isinstance(seen.observation_space, Box) else ""
    largest = max(sizes.values(), default=1.0)
    if shown.startswith("float"):
        sizes["obs"] = max(largest, seen.largest_observation or 0.0)
    if floats or seen.rounded_rewards:
        sizes["reward"] = max(largest, abs(seen.reward_low), abs(seen.reward_high))
    fields = {name: seen.floats.get(name, Floats.of_size(size)) for name, size in sizes.items()}
    return Numbers(
        fields={_field_key(name, names): one for name, one in fields.items()},
        listed=frozenset(_field_key(name, names) for name in fields),
        rounded_rewards=seen.rounded_rewards,
        single_observations=shown == "float32",
        limits={_contract_place(place, names): values for place, values in seen.rounding.limits.items()},
    )


def _field_key(place: str, names: Mapping[str, str]) -> str:
    """'state.player.pos' by the name of its field: 'state.player_pos'; outputs keep their names."""
    path = place.removeprefix("state.")
    return place if path == place else f"state.{names[path]}"


def _contract_place(place: str, names: Mapping[str, str]) -> str:
    """'player.pos[0]' by the name of its field: 'player_pos[0]'."""
    path, bracket, index = place.partition("[")
    return f"{names[path]}{bracket}{index}"


def _draws(when: str, drawn: Draws) -> tuple[DrawField, ...]:
    if not drawn.constant:
        raise UsageError(
            f"A {when} of the reference draws {drawn.fewest} to {drawn.most} random numbers; a contract needs the same "
            "draws every time. Let the reference draw what it may need, or write the contract for a tape by hand."
        )
    return tuple(
        DrawField(f"{call.method}_{number}", call.method, call.call.partition("(")[2].removesuffix(")"), call.shape)
        for number, call in enumerate(drawn.calls)
    )
