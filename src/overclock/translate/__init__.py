"""The built-in translator: small, self-contained Python environments become readable JAX (or Rust), with no model.

It never decides whether its output is right: the output goes through the same judge as any agent's work.
"""
