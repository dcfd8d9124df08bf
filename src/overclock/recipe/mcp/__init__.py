"""`overclock mcp`: the judge as tools over the Model Context Protocol, for coding-agent sessions.

The server process talks to a judge process (`worker.py`) and records a run.
"""
