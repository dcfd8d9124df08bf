"""Control flow of the abstract interpretation: branches that are joined, loops to their fixed point.

Nothing here knows Python's syntax; statements and expressions call it.
"""
