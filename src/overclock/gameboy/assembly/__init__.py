"""An assembler for the Game Boy, written in Python.

Our games, boot code and test ROMs are text files; this room turns them into bytes and reads and writes `.sym` files.
"""
