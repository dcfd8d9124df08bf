"""What can be seen of a running reference: the layout of its state, its observations, and its random draws by site.

Used by the built-in translator and by the closed loop; depends on neither.
"""
