"""What operators mean for abstract values: arithmetic, comparison, truth, and the protocols behind them.

Length, iteration, equality and membership are here as well, because operators and built-in functions share them.
"""
