"""Sums of usage keep what is unknown unknown."""

from overclock.recipe.gateway.usage import Usage, total


def test_the_sum_adds_every_count_and_the_dollars():
    one = Usage(calls=1, input_tokens=10, cached_tokens=4, cache_write_tokens=3, output_tokens=7, reasoning_tokens=2)
    two = Usage(calls=1, input_tokens=1, cached_tokens=1, cache_write_tokens=0, output_tokens=1, dollars=0.5)
    assert total([one, two]) == Usage(2, 11, 5, 3, 8, 2, dollars=0.5)


def test_one_unknown_price_makes_the_sum_unknown():
    assert total([Usage(calls=1, dollars=0.5), Usage(calls=1, dollars=None)]).dollars is None


def test_the_sum_is_as_little_trusted_as_its_parts():
    assert total([Usage(calls=1), Usage(calls=1, basis="self-reported")]).basis == "self-reported"
    assert total([Usage(calls=1), Usage(calls=1)]).basis == "metered"


def test_nothing_sums_to_nothing():
    assert total([]) == Usage()
