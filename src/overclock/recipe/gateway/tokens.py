"""What one call used, in tokens, as finely as its price needs it."""

import dataclasses

from overclock.recipe.gateway.usage import Usage


@dataclasses.dataclass(frozen=True)
class Tokens:
    """Tokens of one call; `input` is the whole prompt, `output` includes the thoughts."""

    input: int = 0
    cached: int = 0  # of the input: read from the provider's cache
    cache_write: int = 0  # of the input: written to the provider's cache
    cache_write_hour: int = 0  # of cache_write: kept for an hour instead of minutes, which costs more
    output: int = 0
    reasoning: int = 0  # of the output

    def usage(self, dollars: float | None) -> Usage:
        """One metered call of this size."""
        return Usage(
            calls=1,
            input_tokens=self.input,
            cached_tokens=self.cached,
            cache_write_tokens=self.cache_write,
            output_tokens=self.output,
            reasoning_tokens=self.reasoning,
            dollars=dollars,
        )
