"""The closed loop of a run: tasks for agents, verdicts of the judge, repairs, optimisation, and the prompts.

`translate.py` starts a run; `loop.py` has its phases.
"""
