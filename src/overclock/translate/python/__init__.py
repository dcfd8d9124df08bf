"""Abstract interpretation of Python: what statements, operators, built-ins and NumPy mean for unknown values."""
