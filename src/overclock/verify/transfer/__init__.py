"""Level 4: policies trained on either side, evaluated on both, and compared by equivalence tests."""
