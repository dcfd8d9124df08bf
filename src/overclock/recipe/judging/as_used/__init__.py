"""An accepted candidate once more, as its users load and play it: in a program of their own, beside the reference.

`program` is that program, `launch` starts it in a candidate's sandbox, `compare` asks it and judges what it answers.
"""
