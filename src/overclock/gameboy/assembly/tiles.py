"""Pictures as text: a row of eight pixels `..12.3..` becomes the two bytes that the Game Boy draws it from."""

from overclock.gameboy.assembly.errors import AssemblyError

SHADES = {".": 0, "0": 0, "1": 1, "2": 2, "3": 3}
WIDTH = 8


def row_bytes(pixels: str) -> bytes:
    """The low bits of the eight pixels, then the high bits; the leftmost pixel is the highest bit."""
    if len(pixels) != WIDTH or any(pixel not in SHADES for pixel in pixels):
        raise AssemblyError(f"a row of pixels is {WIDTH} of the characters . 0 1 2 3, not {pixels!r}.")
    shades = [SHADES[pixel] for pixel in pixels]
    low = sum((shade & 1) << (WIDTH - 1 - x) for x, shade in enumerate(shades))
    high = sum((shade >> 1) << (WIDTH - 1 - x) for x, shade in enumerate(shades))
    return bytes([low, high])
