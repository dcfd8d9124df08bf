"""How far a verdict reaches: branches of a reference's rules, which comparisons took them, and the search for the rest.

ledger.py adds up which outcomes of the branches some comparison took; watcher.py sees them in the reference's process,
in the files that rule_files.py finds. comparisons.py lists the comparisons in a reference's source with their
constants. search.py looks for states from which a step takes a missing branch: nearest.py and distance.py say how near
it came, mutations.py changes states a little.
"""
