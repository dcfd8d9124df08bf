"""Walker2d, the twin of Gymnasium's Walker2d-v5."""
