"""The only way from an agent to a model: metered, capped, recorded, answered from a recording, and scripted in tests.

with Gateway(Providers({"anthropic": Upstream("https://api.anthropic.com")}), cap=10.0, recorder=journal) as gateway:
    ...  # run an agent with ANTHROPIC_BASE_URL=gateway.base_url("anthropic")
    gateway.spent()
"""

from typing import TYPE_CHECKING

from overclock._lazy import lazy_names

if TYPE_CHECKING:
    from overclock.recipe.gateway.cassette import Cassette
    from overclock.recipe.gateway.exchange import Exchange, Recorder
    from overclock.recipe.gateway.gateway import Gateway
    from overclock.recipe.gateway.prices import Prices
    from overclock.recipe.gateway.providers import OFFICIAL, Providers, Upstream
    from overclock.recipe.gateway.script import Turn, Use
    from overclock.recipe.gateway.scripted import ScriptedModel
    from overclock.recipe.gateway.tokens import Tokens

__all__ = [
    "OFFICIAL",
    "Cassette",
    "Exchange",
    "Gateway",
    "Prices",
    "Providers",
    "Recorder",
    "ScriptedModel",
    "Tokens",
    "Turn",
    "Upstream",
    "Use",
]

_HERE = "overclock.recipe.gateway"
__getattr__, __dir__ = lazy_names(
    __name__,
    {
        "Cassette": f"{_HERE}.cassette",
        **dict.fromkeys(["Exchange", "Recorder"], f"{_HERE}.exchange"),
        "Gateway": f"{_HERE}.gateway",
        "Prices": f"{_HERE}.prices",
        **dict.fromkeys(["OFFICIAL", "Providers", "Upstream"], f"{_HERE}.providers"),
        **dict.fromkeys(["Turn", "Use"], f"{_HERE}.script"),
        "ScriptedModel": f"{_HERE}.scripted",
        "Tokens": f"{_HERE}.tokens",
    },
)
