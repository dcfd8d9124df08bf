"""The environment of `rules.py` under an id, with a twin of which only the performance side is used."""

import dataclasses
from typing import Any

from verify.mutable import world

from overclock.env import registry
from overclock.verify.contract import Twin
from overclock.verify.sides.jax_subject import JaxSubject

HERE = "verify.borrowing"
SPEC = registry.Spec("heap-v0", f"{HERE}.rules:Heap", reference="tests:Heap", twin=f"{HERE}.world:twin")


def performance(num_envs: int, **options: Any) -> JaxSubject:
    registry._registry.setdefault(SPEC.id, SPEC)
    return JaxSubject(num_envs, SPEC.id, **options)


def twin() -> Twin:
    pile = world.twin()
    side = dataclasses.replace(pile.performance, entry_point=f"{HERE}.world:performance")
    return dataclasses.replace(pile, name=SPEC.id, performance=side)
