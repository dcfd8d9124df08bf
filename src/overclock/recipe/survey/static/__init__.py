"""What can be found out about a reference by reading its source, without running it.

Its files and definitions, which of them are rules, dependency order, modules, obstacles, and advice on the target.
"""
