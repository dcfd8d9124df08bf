"""What NumPy's functions mean: one function each, registered in `RULES` of its file, or a family with one rule.

`calls.py` puts the tables together.
"""
