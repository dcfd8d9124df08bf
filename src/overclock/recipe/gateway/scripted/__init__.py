"""A model that answers from a script, in every provider's format: for tests of programs that call models.

`model.py` is the backend of a `Gateway`, `script.py` what a script may say, `answers.py` the providers' formats.
"""
