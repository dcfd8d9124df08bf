"""From the intermediate representation to a readable JAX file."""
