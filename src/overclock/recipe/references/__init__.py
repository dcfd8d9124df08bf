"""The reference side of a project: any Gymnasium environment as a verify Subject, read as its contract says.

Also: draws that can be chosen, observations that are not a function of the state, and references that an agent wrote.
"""
