"""Random draws by their site: the call in the reference's source that makes them.

Hooks on random generators, what is recorded of a draw, and draws that are chosen instead of drawn.
"""
