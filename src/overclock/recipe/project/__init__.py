"""A project folder: `overclock.toml`, how `overclock new` makes it and `overclock update` follows a changed reference.

`twin.py` builds the verify Twin of a project.
"""
