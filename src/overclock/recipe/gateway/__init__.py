"""The only way from an agent to a model: metered, capped, recorded, and answered from a recording.

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
    from overclock.recipe.gateway.scripted.model import ScriptedModel
    from overclock.recipe.gateway.scripted.script import Turn, Use
    from overclock.recipe.gateway.tokens import Tokens

__all__ = [
    "OFFICIAL", "Cassette", "Exchange", "Gateway", "Prices", "Providers", "Recorder", "ScriptedModel", "Tokens",
    "Turn", "Upstream", "Use",
]  # fmt: skip

MODULES = {
    "cassette": ["Cassette"], "exchange": ["Exchange", "Recorder"], "gateway": ["Gateway"], "prices": ["Prices"],
    "providers": ["OFFICIAL", "Providers", "Upstream"], "tokens": ["Tokens"],
    "scripted.model": ["ScriptedModel"], "scripted.script": ["Turn", "Use"],
}  # fmt: skip
__getattr__, __dir__ = lazy_names(__name__, {name: f"{__name__}.{m}" for m, names in MODULES.items() for name in names})
