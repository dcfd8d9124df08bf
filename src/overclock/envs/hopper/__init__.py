"""Hopper, the twin of Gymnasium's Hopper-v5."""
