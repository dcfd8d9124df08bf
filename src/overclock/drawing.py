"""Flat pictures with smooth edges, and the colours that environments share: what their renderers draw with."""

import functools
import math
from typing import Any

import numpy as np
from PIL import Image, ImageDraw, ImageFont

Colour = tuple[int, int, int]
Place = tuple[float, float]
"""x and y in pixels, counted from the upper left."""

SUPERSAMPLING = 3  # drawn this many times larger and averaged down: smooth edges

SKY: Colour = (246, 248, 251)
GROUND: Colour = (226, 231, 238)
TRACK: Colour = (70, 80, 95)
DARK: Colour = (38, 50, 70)
GREY: Colour = (96, 108, 128)
SAND: Colour = (202, 152, 101)
LILAC: Colour = (129, 132, 203)


class Canvas:
    """A picture to draw on, in pixels of what it becomes; fractions of them count."""

    def __init__(self, width: int, height: int, colour: Colour = SKY) -> None:
        self._picture = Image.new("RGB", (width * SUPERSAMPLING, height * SUPERSAMPLING), colour)
        self._draw = ImageDraw.Draw(self._picture)

    def box(self, left: float, top: float, right: float, bottom: float, colour: Colour, rounding: float = 0) -> None:
        """A rectangle, its corners rounded by a radius."""
        self._draw.rounded_rectangle(_large(left, top, right, bottom), rounding * SUPERSAMPLING, colour)

    def disc(self, centre: Place, radius: float, colour: Colour) -> None:
        """Draw a full circle around a point."""
        x, y = centre
        self._draw.ellipse(_large(x - radius, y - radius, x + radius, y + radius), colour)

    def rod(self, one: Place, other: Place, radius: float, colour: Colour) -> None:
        """A line between two points, thick and with round ends."""
        along = (other[0] - one[0], other[1] - one[1])
        length = math.hypot(*along)
        if length > 0:
            across = (-along[1] * radius / length, along[0] * radius / length)
            corners = ((one, 1), (other, 1), (other, -1), (one, -1))
            self._draw.polygon(_large(*(p[i] + side * across[i] for p, side in corners for i in (0, 1))), colour)
        for point in (one, other):
            self.disc(point, radius, colour)

    def text(self, place: Place, words: str, size: int, colour: Colour) -> None:
        """Words, the middle of their upper edge at a place."""
        x, y = _large(*place)
        self._draw.text((x, y), words, colour, _font(size), anchor="ma")

    def pixels(self) -> np.ndarray:
        """The picture, `uint8[height, width, 3]`."""
        return np.asarray(self._picture.reduce(SUPERSAMPLING))


def _large(*numbers: float) -> list[float]:
    """Pixels of the picture, in pixels of the large drawing."""
    return [number * SUPERSAMPLING for number in numbers]


@functools.cache
def _font(size: int) -> Any:
    return ImageFont.load_default(size * SUPERSAMPLING)
