"""What a kernel's text is written with."""

from overclock.vector.fused.scalar_words import ELEMENTS
from overclock.vector.fused.writer import Writer


def test_no_loop_has_a_variable_named_like_a_type():
    """Loops were once counted by i1, i2, ...: where the 32nd name was a loop's, no compiler took the kernel."""
    writer, names = Writer(vector=False), set()
    for _ in range(70):
        with writer.counted(2) as name:
            names.add(name)
    assert len(names) == 70
    assert names.isdisjoint(ELEMENTS)
