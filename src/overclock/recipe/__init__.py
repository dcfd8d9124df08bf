"""The closed loop: an agent translates, the verifier judges, failures go back, the budget holds."""
