"""Adequacy: mutants of the performance side, and which level of verification kills them (`overclock mutate`)."""
