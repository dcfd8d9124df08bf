"""The four wire dialects that coding agents speak, each in a file of its own."""

from overclock.recipe.gateway.dialects.anthropic import Anthropic
from overclock.recipe.gateway.dialects.base import Dialect, DialectName, Operation
from overclock.recipe.gateway.dialects.chat import Chat
from overclock.recipe.gateway.dialects.fields import Json
from overclock.recipe.gateway.dialects.gemini import Gemini
from overclock.recipe.gateway.dialects.responses import Responses

DIALECTS: dict[DialectName, Dialect] = {
    dialect.name: dialect for dialect in (Anthropic(), Responses(), Chat(), Gemini())
}


def recognise(path: str) -> tuple[Dialect, Operation] | None:
    """The dialect and operation of a POST to this path (without its query); None if it is none of them."""
    for dialect in DIALECTS.values():
        if operation := dialect.operation(path):
            return dialect, operation
    return None


__all__ = ["DIALECTS", "Dialect", "DialectName", "Json", "recognise"]
