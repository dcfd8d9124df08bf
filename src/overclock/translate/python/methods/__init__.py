"""What methods of built-in types and arrays mean: one file and one table per kind of receiver.

`list.pop` is `list_pop` in lists.py. `receivers.py` tells the kinds of receivers apart.
"""
