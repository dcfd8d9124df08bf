"""PPO on environments outside JAX: a Gymnasium reference or a Rust batch."""
