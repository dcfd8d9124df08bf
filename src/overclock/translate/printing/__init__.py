"""What the JAX and the Rust printer share: walks over a program, line breaking, draws, file headers."""
