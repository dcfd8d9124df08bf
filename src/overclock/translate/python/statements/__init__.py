"""What statements mean: one function per class of Python's syntax tree, registered in `RULES` of its file.

`interpreter.py` puts the tables together.
"""
