"""What OpenAI's two dialects share: how a key is sent, and how tokens are counted."""

from overclock.recipe.gateway.dialects.base import Dialect
from overclock.recipe.gateway.dialects.fields import Json, count
from overclock.recipe.gateway.tokens import Tokens


class OpenAI(Dialect):
    """`asked` and `answered` are what a dialect calls the tokens of a prompt and of an answer."""

    prefix = "/v1"
    key_header = ("authorization", "Bearer {}")
    asked: str
    answered: str

    def tokens(self, usage: Json) -> Tokens:
        return Tokens(
            input=count(usage, self.asked),
            cached=count(usage, f"{self.asked}_details", "cached_tokens"),
            cache_write=count(usage, f"{self.asked}_details", "cache_write_tokens"),
            output=count(usage, self.answered),
            reasoning=count(usage, f"{self.answered}_details", "reasoning_tokens"),
        )
