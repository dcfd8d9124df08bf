"""What OpenAI's two dialects share: how a key is sent, and how tokens are counted."""

from overclock.recipe.gateway.dialects.base import Dialect
from overclock.recipe.gateway.dialects.fields import Json, count
from overclock.recipe.gateway.tokens import Tokens


class OpenAI(Dialect):
    """`input_count` and `output_count` name the fields with the tokens of a prompt and of an answer."""

    prefix = "/v1"
    key_header = ("authorization", "Bearer {}")
    input_count: str
    output_count: str

    def tokens(self, usage: Json) -> Tokens:
        return Tokens(
            input=count(usage, self.input_count),
            cached=count(usage, f"{self.input_count}_details", "cached_tokens"),
            cache_write=count(usage, f"{self.input_count}_details", "cache_write_tokens"),
            output=count(usage, self.output_count),
            reasoning=count(usage, f"{self.output_count}_details", "reasoning_tokens"),
        )
