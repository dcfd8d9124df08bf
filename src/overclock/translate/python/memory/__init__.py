"""How arrays, lists and views are laid out in a program, and how parts of them are read and written.

Lists of changing length are kept as arrays with a length (padded.py). Rules for Python's syntax are elsewhere.
"""
