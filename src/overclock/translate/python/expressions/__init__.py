"""What expressions mean: one function per class of Python's syntax tree, registered in `RULES` of its file.

Left to right, as Python evaluates them. `interpreter.py` puts the tables together.
"""
