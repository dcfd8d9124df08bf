"""Studies of the loop and the judge: comparing agents, contamination control, fault localisation, planted mutants.

`known_environments.py` runs the built-in translator over its gallery (`overclock translate --all-known`).
"""
