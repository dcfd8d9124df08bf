"""Frozen dataclasses that JAX understands: the shape every state, draw and parameter set has.

Subclassing `Struct` is all it takes::

    class State(Struct):
        position: Float[Array, ""]
        name: str = static(default="cart")     # part of the tree's structure, not a leaf
"""

import dataclasses
from typing import Any, Self, dataclass_transform

import jax


def static(**kwargs: Any) -> Any:
    """A field that is part of the structure (hashable, decides compilation) and not an array leaf."""
    return dataclasses.field(metadata={"static": True}, **kwargs)


@dataclass_transform(frozen_default=True, eq_default=False, field_specifiers=(static, dataclasses.field))
class Struct:
    """Base of all pytree records. Equality is identity, because comparing arrays has no single truth value."""

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        dataclasses.dataclass(frozen=True, eq=False)(cls)
        fields = dataclasses.fields(cls)  # pyright: ignore[reportArgumentType]
        jax.tree_util.register_dataclass(
            cls,
            data_fields=[f.name for f in fields if not f.metadata.get("static", False)],
            meta_fields=[f.name for f in fields if f.metadata.get("static", False)],
        )

    def replace(self, **changes: Any) -> Self:
        """A copy with some fields changed."""
        return dataclasses.replace(self, **changes)  # pyright: ignore[reportArgumentType]
