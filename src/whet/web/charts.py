"""Pictures made from values by pure functions. Each says in words what it shows.

They have no width of their own: across, places are shares of the whole, so that type keeps its size on any screen.
"""

import math
from collections.abc import Callable, Sequence
from typing import NamedTuple

from whet.web.html import Child, Element, h

LEFT, RIGHT, TOP, BOTTOM = 7.0, 2.0, 16, 26  # percent across, pixels down
MOST_TICKS = 4
ROUND = (1, 2, 2.5, 5, 10)
SHORT = 4  # letters of a label that have room below any place


class ChartPoint(NamedTuple):
    """One value over the picture's base line, with its interval, and the address of what is behind it."""

    label: str
    value: float
    low: float
    high: float
    words: str
    href: str = ""
    follows: bool = True  # directly on the one before it; no line is drawn over a gap


class ChartBar(NamedTuple):
    """One bar with its name and its size, in words too."""

    label: str
    size: float
    words: str
    href: str = ""


class ChartMark(NamedTuple):
    """A moment between the points of a picture, with what happened there."""

    place: float
    words: str
    href: str = ""


def over_time(
    points: Sequence[ChartPoint],
    *,
    title: str,
    marks: Sequence[ChartMark] = (),
    least: float = 0,
    most: float = 1,
    goal: float | None = None,
) -> Element:
    """Values in their order with intervals, marks where something changed, and a line at a value that decides."""
    height, room = 240, 240 - TOP - BOTTOM
    step = _step((most - least) / 4)
    high = least + step * max(math.ceil((most - least) / step), 1)

    def x(place: float) -> str:
        return _across(place, len(points))

    def y(value: float) -> float:
        return round(TOP + room * (high - min(max(value, least), high)) / (high - least), 1)

    drawn: list[Child] = [_grid(least, high, step, y)]
    if goal is not None:
        drawn.append(_line("goal", "0", "100%", y(goal), y(goal)))
        drawn.append(_words("100%", y(goal) - 5, f"decides at {goal:.3g}", "end"))
    for mark in marks:
        line = _line("mark", x(mark.place), x(mark.place), TOP, height - BOTTOM)
        drawn.append(_linked(mark.href, mark.words, line, _dot(x(mark.place), TOP, 4, "mark")))
    for place, point in enumerate(points[1:], start=1):
        if point.follows:
            drawn.append(_line("walk", x(place - 1), x(place), y(points[place - 1].value), y(point.value)))
    for place, point in enumerate(points):
        bar = _line("spread", x(place), x(place), y(point.low), y(point.high))
        drawn.append(_linked(point.href, point.words, bar, _dot(x(place), y(point.value), 5, "point")))
    drawn.append(_ticks([point.label for point in points], height - 8))
    picture = h("svg", {"height": height, "role": "group", "aria-label": title}, drawn)
    return h("figure", h("figcaption", title), picture)


def bars(given: Sequence[ChartBar], *, title: str) -> Element:
    """Horizontal bars, each below its name and its number."""
    longest = max((bar.size for bar in given), default=0) or 1

    def drawn(bar: ChartBar) -> tuple[Element, Element]:
        width = max(100 * bar.size / longest, 0.3 if bar.size else 0.0)
        return _box("rail", "100%"), _box("bar", f"{width:.2f}%")

    return _rows([_row(bar.label, bar.words, bar.href, 8, *drawn(bar)) for bar in given], title)


def spans(points: Sequence[ChartPoint], *, title: str) -> Element:
    """Effects from -1 to 1 with their intervals, one below the other, with zero marked."""

    def x(value: float) -> str:
        return f"{50 + 49 * min(max(value, -1), 1):.2f}%"

    def drawn(point: ChartPoint) -> tuple[Element, ...]:
        return (
            _line("rail", "0", "100%", 9, 9),
            _line("zero", x(0), x(0), 0, 18),
            _line("spread", x(point.low), x(point.high), 9, 9),
            _dot(x(point.value), 9, 5, "point"),
        )

    return _rows([_row(point.label, point.words, point.href, 18, *drawn(point)) for point in points], title)


def strip(pieces: Sequence[tuple[str, str, str]], *, title: str) -> Element:
    """A row of small boxes, one a step: its class, its words, its address."""
    items = [
        h("li", h(f"a.{name}", {"href": href, "aria-label": words, "title": words}))
        if href
        else h("li", h(f"span.{name}", {"title": words}))
        for name, words, href in pieces
    ]
    return h("figure", h("figcaption", title), h("ol.strip", {"aria-label": title}, items))


def _rows(rows: Sequence[Element], title: str) -> Element:
    return h("figure", h("figcaption", title), h("ul.bars", rows))


def _row(label: str, words: str, href: str, height: int, *drawn: Element) -> Element:
    """A name and a number above their picture; all of it leads to what is behind it."""
    picture = h("svg", {"height": height, "aria-hidden": "true"}, drawn)
    inside = (h("span.name", label), " ", h("span.figure", words), picture)
    return h("li", h("a", {"href": href}, *inside) if href else h("div", *inside))


def _across(place: float, number: int) -> str:
    return f"{LEFT + (100 - LEFT - RIGHT) * (place + 0.5) / max(number, 1):.2f}%"


def _step(size: float) -> float:
    """The round number at or above a size, so that the lines of a picture stand at numbers that people use."""
    if size <= 0:
        return 1.0
    power = 10.0 ** math.floor(math.log10(size))
    return next(each * power for each in ROUND if each * power >= size * (1 - 1e-9))


def _grid(least: float, high: float, step: float, y: Callable[[float], float]) -> list[Child]:
    lines: list[Child] = []
    for place in range(round((high - least) / step) + 1):
        value = least + step * place
        shown = f"{100 * value:.0f} %" if (least, high) == (0, 1) else f"{value:.3g}"
        lines.append(_line("grid", "0", "100%", y(value), y(value)))
        lines.append(_words("0", y(value) - 4, shown, "start", "axis"))
    return lines


def _ticks(labels: Sequence[str], y: float) -> list[Child]:
    """Labels below the places, as many as have room; the last place has one, for it is what people ask for."""
    every, last = max(1, -(-len(labels) // MOST_TICKS)), len(labels) - 1
    drawn: list[Child] = []
    for place in range(last, -1, -every):
        if place == last > 2 * MOST_TICKS and len(labels[place]) > SHORT:  # its middle is too near to the edge
            drawn.append(_words("100%", y, labels[place], "end", "axis"))
        else:
            drawn.append(_words(_across(place, len(labels)), y, labels[place], "middle", "axis"))
    return drawn


def _linked(href: str, words: str, *shapes: Child) -> Element:
    """Shapes that say what they are, and lead to what is behind them."""
    if not href:
        return h("g", h("title", words), *shapes)
    return h("a", {"href": href, "aria-label": words}, h("title", words), *shapes)


def _line(name: str, x1: str, x2: str, y1: float, y2: float) -> Element:
    return h(f"line.{name}", {"x1": x1, "x2": x2, "y1": y1, "y2": y2})


def _box(name: str, width: str) -> Element:
    return h(f"rect.{name}", {"width": width, "height": 8, "rx": 1})


def _dot(x: str, y: float, size: int, name: str) -> Element:
    return h(f"circle.{name}", {"cx": x, "cy": y, "r": size})


def _words(x: str, y: float, text: str, anchor: str, name: str = "") -> Element:
    return h(f"text.{name}", {"x": x, "y": round(y, 1), "text-anchor": anchor}, text)
