"""Steps from states that play rarely comes to: the search for branches (verify/reach) over the state of a contract.

It runs in the reference's process while level 1 records, and nothing of it is recorded. Then the states that it found
are stepped from once more, and a sample of all others: two programs that agree on states nobody can reach are the more
alike.
"""

import functools
from collections.abc import Iterator

import numpy as np

from overclock.recipe.contract.file import ContractFile
from overclock.recipe.contract.outputs import boundary_value
from overclock.recording import shapes
from overclock.recording.codec import InstanceCodec
from overclock.recording.shapes import leaves
from overclock.verify.reach.mutations import Layout
from overclock.verify.reach.search import Attempt, BranchSearch

CASES = 2048  # recorded steps: those found, and a sample of all that were tried
VARIED = 3  # further choices of action and draws from every found state


def layout_of(contract: ContractFile, codec: InstanceCodec) -> Layout:
    """What a search needs to know about the leaves of a contract's state."""
    groups, lists = list[tuple[str, ...]](), dict[str, tuple[str, ...]]()
    for path, shape in codec.attributes.items():
        name = codec.prefixes[path]
        groups.append(tuple(leaf.name for leaf in leaves(shape, name)))
        lists |= dict(_lists(shape, name))
    return Layout(
        tuple(field.name for field in contract.state if field.name in codec.plain),
        tuple(groups),
        lists,
        {field.name: functools.partial(boundary_value, field)
         for field in contract.state if not field.exact and field.low is not None},
    )  # fmt: skip


def attempts_of(search: BranchSearch, seed: int = 0) -> list[Attempt]:
    """What is recorded of a search: every found state with several choices, those nearest to others, and a sample."""
    generator = np.random.default_rng((seed, 2))
    chosen = [one.attempt for one in search.found]
    for one in search.found:
        again = generator.integers(2**31, size=VARIED).tolist()
        chosen += [Attempt(one.attempt.state, choice, one.attempt.played) for choice in again]
    chosen += search.nearest()
    # Half of the rest from steps in which something rare happened, half from all.
    for some in (search.rare, search.tried):
        left = max(CASES - len(chosen), 0) // (2 if some is search.rare else 1)
        chosen += [some[place] for place in generator.permutation(len(some))[:left]]
    return chosen[:CASES]


def _lists(shape: shapes.Shape, name: str) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Lists that are not in lists: the leaf of their length, and those of their items."""
    if isinstance(shape, shapes.Many):
        yield shapes.below(name, "length"), tuple(leaf.name for leaf in leaves(shape.of, name))
    elif isinstance(shape, shapes.Fixed | shapes.Record):
        for inner, part in shapes.inner_shapes(shape, name):
            yield from _lists(inner, part)
