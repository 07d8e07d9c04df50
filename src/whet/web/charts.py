"""Pictures made from values by pure functions. Each says in words what it shows.

They have no width of their own: across, places are shares of the whole, so that type keeps its size on any screen.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from whet.web.html import Attribute, Child, Element, h

ROW_HEIGHT = 36
LEFT, RIGHT, TOP, BOTTOM = 7.0, 2.0, 16, 26  # percent across, pixels down
COLOURS = 6
MOST_TICKS = 4
ROUND = (1, 2, 2.5, 5, 10)
MOST_LETTERS = 42  # of a label and the number beside it, that have room on a narrow screen
WIDE_LETTERS = 110  # and on a wide one
SHORT = 4  # letters of a label that have room below any place
CELL_WIDTH = 74  # percent of its place that a column takes


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
    """One bar, in pieces that are named and stand on each other."""

    label: str
    pieces: tuple[tuple[str, float], ...]
    words: str
    href: str = ""

    @property
    def total(self) -> float:
        return sum(size for _, size in self.pieces)


class ChartMark(NamedTuple):
    """A moment between the points of a picture, with what happened there."""

    place: float
    words: str
    href: str = ""


class ChartCell(NamedTuple):
    """One cell of a grid: what stands in it, the name of its colour, its words and its address."""

    label: str
    name: str
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
    return _figure(title, height, drawn)


def columns(given: Sequence[ChartBar], *, title: str, show: Callable[[float], str]) -> Element:
    """Columns in their order on the places of `over_time`, so that both can stand below each other."""
    height = 150
    names = list(dict.fromkeys(name for bar in given for name, _ in bar.pieces))
    most, room = max((bar.total for bar in given), default=0), height - TOP - BOTTOM
    step = _step(most / 2)
    high = step * max(math.ceil(most / step), 1)
    width = round((100 - LEFT - RIGHT) / max(len(given), 1) * CELL_WIDTH / 100, 2)
    drawn: list[Child] = []
    for value in _marks_of(0, high, step):
        y = TOP + room * (1 - value / high)
        drawn.append(_line("grid", "0", "100%", y, y))
        drawn.append(_words("0", y - 4, show(value), "start", "axis"))
    for place, bar in enumerate(given):
        left = LEFT + (100 - LEFT - RIGHT) * (place + 0.5) / len(given) - width / 2
        shapes: list[Child] = []
        top = float(height - BOTTOM)
        for name, size in bar.pieces:
            tall = max(round(room * size / high, 1), 1.0 if size else 0.0)
            top -= tall
            shapes.append(_box(f"c{names.index(name) % COLOURS}", f"{left:.2f}%", top, f"{width}%", tall))
        drawn.append(_linked(bar.href if bar.total else "", bar.words, *shapes))
    drawn.append(_ticks([bar.label for bar in given], height - 8))
    legend = _legend(names, {name: place % COLOURS for place, name in enumerate(names)}) if len(names) > 1 else None
    return _figure(title, height, drawn, legend)


def bars(given: Sequence[ChartBar], *, title: str, colours: Mapping[str, int] | None = None) -> Element:
    """Horizontal bars, each below its name and its number; pieces of one name have one colour."""
    names = list(dict.fromkeys(name for bar in given for name, _ in bar.pieces))
    chosen = colours or {name: place % COLOURS for place, name in enumerate(names)}
    longest = max((bar.total for bar in given), default=0) or 1
    drawn: list[Child] = []
    for place, bar in enumerate(given):
        top, at = place * ROW_HEIGHT, 0.0
        shapes: list[Child] = [_label(top + 14, bar.label, bar.words)]
        shapes.append(_words("100%", top + 14, bar.words, "end", "figure"))
        shapes.append(_box("rail", "0", top + 20, "100%", 8))
        for name, size in bar.pieces:
            width = round(min(max(100 * size / longest, 0.3 if size else 0.0), 100 - at), 2)
            shapes.append(_box(f"c{chosen.get(name, 0)}", f"{at:.2f}%", top + 20, f"{width}%", 8))
            at += width
        words = f"{bar.label}: {bar.words}"
        drawn.append(h("a" if bar.href else "g", {"href": bar.href or None}, h("title", {}, words), *shapes))
    legend = _legend(names, chosen) if len(names) > 1 and colours is None else None
    return _figure(title, len(given) * ROW_HEIGHT, drawn, legend)


def grid(
    rows: Sequence[tuple[str, str]], headings: Sequence[str], cells: Mapping[tuple[str, str], ChartCell], *, title: str
) -> Element:
    """A table of coloured cells: rows with their keys and names, and a cell for each key and heading."""
    head = h("tr", {}, h("td", {}), [h("th", {"scope": "col"}, name) for name in headings])
    body = [
        h("tr", {}, h("th", {"scope": "row"}, name), [_cell(cells.get((key, heading))) for heading in headings])
        for key, name in rows
    ]
    whole = h("table", {"class": "grid"}, h("thead", {}, head), h("tbody", {}, body))
    scroll = h("div", {"class": "scroll", "tabindex": "0", "role": "region", "aria-label": title}, whole)
    return h("figure", {}, h("figcaption", {}, title), scroll)


def strip(pieces: Sequence[tuple[str, str, str]], *, title: str) -> Element:
    """A row of small boxes, one a step: its class, its words, its address."""
    items = [
        h("li", {}, h("a", {"class": name, "href": href, "aria-label": words, "title": words}))
        if href
        else h("li", {}, h("span", {"class": name, "title": words}))
        for name, words, href in pieces
    ]
    return h("figure", {}, h("figcaption", {}, title), h("ol", {"class": "strip", "aria-label": title}, items))


def spans(points: Sequence[ChartPoint], *, title: str, low: float = -1, high: float = 1) -> Element:
    """Effects with their intervals, one below the other, on one scale with zero marked."""
    size, height = (high - low) or 1, 44 * len(points)

    def x(value: float) -> str:
        return f"{1 + 98 * (min(max(value, low), high) - low) / size:.2f}%"

    drawn: list[Child] = []
    for place, point in enumerate(points):
        y = 44 * place
        line = _line("spread", x(point.low), x(point.high), y + 29, y + 29)
        shapes: list[Child] = [
            _label(y + 14, point.label, point.words),
            _words("100%", y + 14, point.words, "end", "figure"),
            _line("rail", "0", "100%", y + 29, y + 29),
            _line("zero", x(0), x(0), y + 20, y + 38),
            line,
            _dot(x(point.value), y + 29, 5, "point"),
        ]
        drawn.append(h("a", {"href": point.href}, *shapes) if point.href else h("g", {}, *shapes))
    return _figure(title, height, drawn)


def _cell(cell: ChartCell | None) -> Element:
    if cell is None:
        return h("td", {"class": "void"})
    inside: Child = cell.label
    if cell.href:
        inside = h("a", {"href": cell.href, "aria-label": cell.words, "title": cell.words}, cell.label)
    return h("td", {"class": cell.name, "title": None if cell.href else cell.words}, inside)


def _figure(title: str, height: float, drawn: Sequence[Child], legend: Child = None) -> Element:
    picture = h("svg", {"height": height, "role": "group", "aria-label": title}, drawn)
    return h("figure", {}, h("figcaption", {}, title), legend, picture)


def _across(place: float, number: int) -> str:
    return f"{LEFT + (100 - LEFT - RIGHT) * (place + 0.5) / max(number, 1):.2f}%"


def _step(size: float) -> float:
    """The round number at or above a size, so that the lines of a picture stand at numbers that people use."""
    if size <= 0:
        return 1.0
    power = 10.0 ** math.floor(math.log10(size))
    return next(each * power for each in ROUND if each * power >= size * (1 - 1e-9))


def _marks_of(least: float, high: float, step: float) -> list[float]:
    return [least + step * place for place in range(round((high - least) / step) + 1)]


def _grid(least: float, high: float, step: float, y: Callable[[float], float]) -> list[Child]:
    lines: list[Child] = []
    for value in _marks_of(least, high, step):
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
        return h("g", {}, h("title", {}, words), *shapes)
    return h("a", {"href": href, "aria-label": words}, h("title", {}, words), *shapes)


def _line(name: str, x1: str, x2: str, y1: float, y2: float) -> Element:
    return h("line", {"class": name, "x1": x1, "x2": x2, "y1": y1, "y2": y2})


def _box(name: str, x: str, y: float, width: str, height: float) -> Element:
    return h("rect", {"class": name, "x": x, "y": y, "width": width, "height": height, "rx": 1})


def _dot(x: str, y: float, size: int, name: str) -> Element:
    return h("circle", {"class": name, "cx": x, "cy": y, "r": size})


def _words(x: str, y: float, text: str, anchor: str, name: str = "") -> Element:
    place: dict[str, Attribute] = {"x": x, "y": round(y, 1), "text-anchor": anchor, "class": name or None}
    return h("text", place, text)


def _legend(names: Sequence[str], colours: Mapping[str, int]) -> Element:
    items = [h("li", {"class": f"key k{colours.get(name, 0)}"}, name or "unknown") for name in names]
    return h("ul", {"class": "legend"}, items)


def _label(y: float, label: str, number: str) -> Child:
    """A label beside its number, on wide screens with more of its letters."""
    wide, narrow = _beside(label, number, WIDE_LETTERS), _beside(label, number, MOST_LETTERS)
    if wide == narrow:
        return _words("0", y, narrow, "start")
    return [_words("0", y, wide, "start", "wide"), _words("0", y, narrow, "start", "narrow")]


def _beside(label: str, number: str, letters: int) -> str:
    """A label that leaves room for the number on its line: of a long one, its beginning and its end."""
    most = letters - len(number)
    rest = max(most // 2, 1)
    return label if len(label) <= most else f"{label[: most - rest - 1]}…{label[-rest:]}"
