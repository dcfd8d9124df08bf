"""Random numbers under verification: where a draw's numbers come from (`origins`), and the generator once more."""
