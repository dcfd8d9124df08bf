"""What calls mean: functions of the source, built-in functions, `math`, classes, copies.

`calling.py` tells the kinds of things that can be called apart; `builtins.py` and others have one function for each.
"""
