"""How far a verdict reaches: branches of a reference's rules, which comparisons took them, and the search for the rest.

comparisons.py lists the comparisons in a reference's source with their constants.
"""
