"""A run on disk: its folder and journal, what is read back from them (status, cost, candidates), and its report."""
