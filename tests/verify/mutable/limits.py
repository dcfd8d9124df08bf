"""A second module of the rules: where a pile is high enough."""

HIGH = 6
