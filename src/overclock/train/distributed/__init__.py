"""Training on several devices and several hosts."""
