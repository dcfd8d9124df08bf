"""HalfCheetah, the twin of Gymnasium's HalfCheetah-v5."""
