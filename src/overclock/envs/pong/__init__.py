"""Pong, the exact twin of PufferLib 3.0.0's C Pong."""
