"""Level 1: each function of the performance side against input/output pairs recorded from the reference."""
