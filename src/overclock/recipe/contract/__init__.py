"""What the two sides of a project must agree on: `contract.toml` and the level-1 modules made from it.

Fields, tolerances, named distributions and thresholds, and how recorded calls of the reference become test cases.
"""
