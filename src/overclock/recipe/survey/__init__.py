"""What can be found out about a reference before a translation: its modules, its state, its draws, its obstacles."""
