"""PyBoy, the reference emulator, behind the interfaces of this package.

As a console to compare with, as a game, as a Gymnasium environment, as a verify Subject, and as a batch for benchmarks.
"""
