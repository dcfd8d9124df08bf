"""From a failure to a repro: the shortest episode that shows a divergence, its files, and replaying it."""
