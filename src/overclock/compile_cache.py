"""JAX's persistent compile cache, on by default, so that the second start of a program is fast.

Making an environment by its id switches it on, unless the program has set a cache folder itself or
`OVERCLOCK_COMPILE_CACHE=off`. `OVERCLOCK_COMPILE_CACHE=DIR` chooses the folder; otherwise it is
`overclock/jax` under the user's cache folder.
"""

import os
from pathlib import Path

VARIABLE = "OVERCLOCK_COMPILE_CACHE"


def cache_folder() -> Path | None:
    """Where compiled programs are kept, or None when the cache is switched off."""
    setting = os.environ.get(VARIABLE, "").strip()
    if setting.lower() in ("off", "0", "false", "no"):
        return None
    if setting and setting.lower() not in ("on", "1", "true", "yes"):
        return Path(setting).expanduser()
    home = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(home) / "overclock" / "jax"


def enable() -> Path | None:
    """Point JAX at the cache folder unless the user's program already did; returns the folder in use."""
    import jax

    configured = jax.config.values["jax_compilation_cache_dir"]
    if configured:
        return Path(configured)
    folder = cache_folder()
    if folder is None:
        return None
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError:
        return None  # a read-only home costs the speed-up, nothing else
    jax.config.update("jax_compilation_cache_dir", str(folder))
    jax.config.update("jax_persistent_cache_min_compile_time_secs", 0.3)
    return folder
