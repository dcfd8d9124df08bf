"""Commands that use environments: list, play, record, train, bench, demo, doctor."""
