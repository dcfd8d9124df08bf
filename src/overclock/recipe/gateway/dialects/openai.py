"""What OpenAI's two dialects share: how a key is sent, and how tokens are counted."""

from collections.abc import Collection

from overclock.recipe.gateway.dialects.base import Dialect
from overclock.recipe.gateway.dialects.fields import Json, count
from overclock.recipe.gateway.tokens import Tokens


class OpenAI(Dialect):
    """`input_count` and `output_count` name the fields with the tokens of a prompt and of an answer."""

    prefix = "/v1"
    key_header = ("authorization", "Bearer {}")
    input_count: str
    output_count: str

    @property
    def counts(self) -> Collection[str]:
        details, written = f"{self.input_count}_details", f"{self.output_count}_details"
        return {
            *(self.input_count, self.output_count, "total_tokens"),
            # DeepSeek's and others' names for what is cached and what is not: parts of the prompt.
            *("prompt_cache_hit_tokens", "prompt_cache_miss_tokens", "cached_tokens"),
            *(f"{details}.{part}_tokens" for part in ("cached", "cache_write", "text")),
            *(f"{written}.{part}_tokens" for part in ("reasoning", "text", "accepted_prediction")),
            f"{written}.rejected_prediction_tokens",
        }

    def tells_output(self, usage: Json) -> bool:
        return self.output_count in usage

    def tokens(self, usage: Json) -> Tokens:
        return Tokens(
            input=count(usage, self.input_count),
            cached=count(usage, f"{self.input_count}_details", "cached_tokens"),
            cache_write=count(usage, f"{self.input_count}_details", "cache_write_tokens"),
            output=count(usage, self.output_count),
            reasoning=count(usage, f"{self.output_count}_details", "reasoning_tokens"),
        )
