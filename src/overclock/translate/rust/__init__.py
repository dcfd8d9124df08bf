"""From the intermediate representation to a Rust candidate (`src/lib.rs`)."""
