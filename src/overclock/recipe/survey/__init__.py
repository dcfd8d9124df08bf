"""What can be found out about a reference before anybody translates it: its parts, its state, its luck, doubts."""
