"""What a frozen candidate has to pass: hygiene, levels 1 to 4, held-out episodes, and speed.

`judge.py` runs the checks; `hygiene/` inspects candidates, `rust/` judges candidates that are written in Rust.
"""
