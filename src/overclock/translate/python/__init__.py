"""What Python and NumPy mean: an abstract interpreter that runs functions of the reference on abstract values.

One `Machine` (machine.py) is handed to plain functions in tables, one function per construct of the language.
"""
