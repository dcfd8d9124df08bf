"""Recording an environment as an animation: GIF, WebP or animated PNG, written whole or not at all."""

import dataclasses
import io
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, Literal, get_args

import numpy as np
from PIL import Image

from overclock.env import registry
from overclock.errors import UsageError
from overclock.files import write_whole
from overclock.progress import Progress, silent

SCHEMA = "overclock.record/1"
FORMATS = {".gif": "GIF", ".webp": "WEBP", ".png": "PNG"}
GIF_COLOURS = 128  # enough for flat drawings with smooth edges; half the bits of a full palette
WEBP_QUALITY = 80
GIF_TICK_MS = 10  # a GIF counts in hundredths of a second
GIF_MAX_FPS = 50.0  # viewers slow down frames shorter than two ticks
MAX_FPS = 1000.0

PolicyName = Literal["random", "controller", "still"]


@dataclasses.dataclass(frozen=True)
class RecordReport:
    """What was written, and from which request."""

    schema: Literal["overclock.record/1"]
    env: str
    options: dict[str, Any]
    path: str
    bytes: int
    width: int
    height: int
    fps: float
    frames: int
    steps: int
    episodes: int
    policy: PolicyName
    seed: int
    renderer: str | None


def record(
    env_id: str,
    path: str | Path,
    steps: int = 200,
    policy: PolicyName = "random",
    seed: int = 0,
    fps: float | None = None,
    width: int = 400,
    force: bool = False,
    progress: Progress = silent,
    options: Mapping[str, Any] | None = None,
    renderer: str | None = None,
) -> RecordReport:
    """Play `steps` steps and write them as an animation; the same arguments give the same file.

    `policy` is `random`, `controller` (the environment's scripted player) or `still` (the action zero, always);
    `options` are the environment's static ones; `renderer` is one of its others, by name; `fps` is its own where none
    is given.
    """
    path = Path(path)
    fps = registry.spec(env_id).fps if fps is None else fps
    entry = _check(env_id, path, steps, policy, fps, width, force, renderer)
    env, params = registry.make(entry.id, **(options or {}))
    duration_ms = 1000.0 / fps
    if path.suffix.lower() == ".gif":
        duration_ms = round(duration_ms / GIF_TICK_MS) * GIF_TICK_MS
    frames, episodes = [], 1
    for frame, ended in _play(env, params, entry, renderer, steps, policy, seed, progress):
        picture = Image.fromarray(frame)
        height = max(1, round(picture.height * width / picture.width))
        frames.append(picture.resize((width, height), Image.Resampling.LANCZOS))
        episodes += ended
    _write(frames, path, FORMATS[path.suffix.lower()], duration_ms)
    return RecordReport(
        schema=SCHEMA,
        env=entry.id,
        options=dict(options or {}),
        path=str(path),
        bytes=path.stat().st_size,
        width=frames[0].width,
        height=frames[0].height,
        fps=1000.0 / duration_ms,
        frames=len(frames),
        steps=steps,
        episodes=episodes,
        policy=policy,
        seed=seed,
        renderer=renderer,
    )


def _check(
    env_id: str, path: Path, steps: int, policy: str, fps: float, width: int, force: bool, renderer: str | None
) -> registry.Spec:
    """Everything that can be wrong with the request, before any work is done."""
    entry = registry.spec(env_id)
    suffix = path.suffix.lower()
    others = [name for name, _ in entry.renderers]
    fastest = GIF_MAX_FPS if suffix == ".gif" else MAX_FPS
    problems = {
        f"{entry.id} has no renderer, so it cannot be recorded.": entry.renderer is None,
        f"{entry.id} has no renderer '{renderer}'; besides its own it has {', '.join(others) or 'none'}.": renderer
        not in (None, *others),
        f"No policy is called '{policy}'; there are {', '.join(get_args(PolicyName))}.": policy
        not in get_args(PolicyName),
        f"{entry.id} has no scripted controller; use --policy random.": policy == "controller" and not entry.controller,
        f"Cannot write '{path}': the name must end in {', '.join(FORMATS)}.": suffix not in FORMATS,
        f"'{path}' exists already; --force replaces it.": path.exists() and not force,
        f"'{path}' is a folder.": path.is_dir(),
        f"The folder '{path.parent}' does not exist; create it first.": not path.parent.is_dir(),
        f"--steps must be at least 1, got {steps}.": steps < 1,
        f"--fps must be above 0 and at most {fastest:g} for {suffix} files, got {fps:g}.": not 0 < fps <= fastest,
        f"--width must lie between 16 and 4096 pixels, got {width}.": not 16 <= width <= 4096,
    }
    for sentence, wrong in problems.items():
        if wrong:
            raise UsageError(sentence)
    return entry


def _play(
    env: Any,
    params: Any,
    entry: registry.Spec,
    renderer: str | None,
    steps: int,
    policy: PolicyName,
    seed: int,
    progress: Progress,
) -> Iterator[tuple[np.ndarray, bool]]:
    """Frames, and whether each begins another episode; both the last of one and the first of the next are shown."""
    import jax

    from overclock.env.rng import Rng, Section

    assert entry.renderer is not None
    render = registry.load(entry.renderer if renderer is None else dict(entry.renderers)[renderer])
    choose = _policy(entry, policy, env, params)
    rng = Rng.of(seed)
    obs, state = env.reset(rng, params)
    yield render(env, state, params), False
    ended = False
    for step in range(steps):
        progress("Recording", step, steps)
        if ended:
            rng = rng.advance()
            obs, state = env.reset(rng, params)
            yield render(env, state, params), True
        action = choose(rng.of_section(Section.ACTION), obs, state)
        obs, state, _, terminated, truncated, _ = env.step_env(rng, state, action, params)
        rng = rng.advance()
        ended = bool(terminated) or bool(truncated)
        yield render(env, jax.device_get(state), params), False


def _policy(entry: registry.Spec, name: PolicyName, env: Any, params: Any) -> Callable[[Any, Any, Any], Any]:
    """A function (rng, obs, state) -> action."""
    import jax

    from overclock.env.spaces import structure
    from overclock.vector.vectorize import random_policy, vectorize

    like = structure(env.action_space(params), (env.num_players,) if env.num_players > 1 else ())
    if name == "controller":
        assert entry.controller is not None
        controller = registry.load(entry.controller)

        def controlled(rng: Any, obs: Any, state: Any) -> Any:
            action = controller(jax.device_get(obs))
            if jax.tree.map(np.shape, action) != jax.tree.map(np.shape, like):
                raise UsageError(
                    f"The scripted controller of {entry.id} does not play with these options; use --policy random."
                )
            return action

        return controlled
    if name == "still":
        zeros = jax.tree.map(lambda leaf: np.zeros(leaf.shape, leaf.dtype), like)
        return lambda rng, obs, state: zeros
    batch = vectorize(env, 1)

    @jax.jit
    def sample(rng: Any, obs: Any, state: Any) -> Any:
        mask = env.action_mask(state.rules, params)
        rng, mask = jax.tree.map(lambda leaf: leaf[None], (rng, mask))
        return jax.tree.map(lambda leaf: leaf[0], random_policy(batch, rng, obs, mask, params))

    return sample


def _write(frames: list[Image.Image], path: Path, kind: str, duration_ms: float) -> None:
    """Encode in memory, then write whole."""
    if kind == "GIF":
        frames = _one_palette(frames)
    options = {"quality": WEBP_QUALITY} if kind == "WEBP" else {"optimize": True}
    content = io.BytesIO()
    frames[0].save(content, kind, save_all=True, append_images=frames[1:], duration=duration_ms, loop=0, **options)
    write_whole(path, content.getvalue())


def _one_palette(frames: list[Image.Image]) -> list[Image.Image]:
    """All frames in the colours of a few of them: one table in the file, and frames differ only where things move."""
    sample = frames[:: max(1, len(frames) // 8)]
    strip = Image.new("RGB", (frames[0].width, frames[0].height * len(sample)))
    for row, frame in enumerate(sample):
        strip.paste(frame, (0, row * frame.height))
    palette = strip.quantize(GIF_COLOURS)
    return [frame.quantize(palette=palette, dither=Image.Dither.NONE) for frame in frames]
