"""Pictures as SVG, made from values by pure functions. Each says in words what it shows."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple

from whet.web.html import Attribute, Child, Element, h

WIDTH = 720
BAR_HEIGHT = 26
LABEL_WIDTH = 190
LEFT, RIGHT, TOP, BOTTOM = 46, 12, 14, 34
COLOURS = 6
MOST_TICKS = 8
MOST_LABEL = 23  # letters of a label, so that it fits beside the picture in the larger type of narrow screens too
LETTER = 8  # how wide one is there


class ChartPoint(NamedTuple):
    """One value over the picture's base line, with its interval, and the address of what is behind it."""

    label: str
    value: float
    low: float
    high: float
    words: str
    href: str = ""


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
    height = 230
    high, room = most if most > least else least + 1, height - TOP - BOTTOM
    step = (WIDTH - LEFT - RIGHT) / max(len(points), 1)

    def x(place: float) -> float:
        return round(LEFT + step * (place + 0.5), 1)

    def y(value: float) -> float:
        return round(TOP + room * (high - min(max(value, least), high)) / (high - least), 1)

    drawn: list[Child] = [_grid(least, high, y)]
    if goal is not None:
        drawn.append(h("line", {"class": "goal", "x1": LEFT, "x2": WIDTH - RIGHT, "y1": y(goal), "y2": y(goal)}))
        drawn.append(_words(WIDTH - RIGHT, y(goal) - 5, f"decides at {goal:.3g}", "end"))
    for mark in marks:
        line = h("line", {"class": "mark", "x1": x(mark.place), "x2": x(mark.place), "y1": TOP, "y2": height - BOTTOM})
        drawn.append(_linked(mark.href, mark.words, line, _dot(x(mark.place), TOP, 4, "mark")))
    path = " ".join(f"{'L' if place else 'M'}{x(place)} {y(point.value)}" for place, point in enumerate(points))
    drawn.append(h("path", {"class": "walk", "d": path}))
    every = max(1, -(-len(points) // MOST_TICKS))
    for place, point in enumerate(points):
        bar = h("line", {"class": "spread", "x1": x(place), "x2": x(place), "y1": y(point.low), "y2": y(point.high)})
        drawn.append(_linked(point.href, point.words, bar, _dot(x(place), y(point.value), 5, "point")))
        if place % every == 0:
            drawn.append(_words(x(place), height - 12, point.label, "middle"))
    return _figure(title, height, drawn)


def bars(given: Sequence[ChartBar], *, title: str, colours: Mapping[str, int] | None = None) -> Element:
    """Horizontal bars, each with its number; pieces of one name have one colour."""
    names = list(dict.fromkeys(name for bar in given for name, _ in bar.pieces))
    chosen = colours or {name: place % COLOURS for place, name in enumerate(names)}
    longest = max((bar.total for bar in given), default=0) or 1
    room = WIDTH - LABEL_WIDTH - _beside(bar.words for bar in given)
    drawn: list[Child] = []
    for place, bar in enumerate(given):
        top, at = place * BAR_HEIGHT + 4, float(LABEL_WIDTH)
        shapes: list[Child] = [_words(LABEL_WIDTH - 8, top + 14, _cut(bar.label, MOST_LABEL), "end")]
        for name, size in bar.pieces:
            width = max(round(room * size / longest, 1), 1.0 if size else 0.0)
            shape: dict[str, Attribute] = {
                "class": f"c{chosen.get(name, 0)}",
                "x": round(at, 1),
                "y": top,
                "width": width,
                "height": 18,
            }
            shapes.append(h("rect", shape))
            at += width
        shapes.append(_words(at + 6, top + 14, bar.words, "start"))
        words = f"{bar.label}: {bar.words}"
        drawn.append(h("a", {"href": bar.href}, *shapes) if bar.href else h("g", {}, h("title", {}, words), *shapes))
    legend = _legend(names, chosen) if len(names) > 1 and colours is None else None
    return _figure(title, len(given) * BAR_HEIGHT + 8, drawn, legend)


def heat(
    rows: Sequence[str], columns: Sequence[str], cells: Mapping[tuple[str, str], ChartPoint], *, title: str
) -> Element:
    """A cell for each row and column, darker for more; each says its number."""
    most = max((cell.value for cell in cells.values()), default=0) or 1
    width, top, left = max((WIDTH - LABEL_WIDTH) / max(len(columns), 1), 1), 28, LABEL_WIDTH
    drawn: list[Child] = [
        _words(left + width * (place + 0.5), 18, _cut(name, max(int(width / LETTER), 4)), "middle")
        for place, name in enumerate(columns)
    ]
    for row, name in enumerate(rows):
        y = top + row * 30
        drawn.append(_words(left - 8, y + 19, _cut(name, MOST_LABEL), "end"))
        for place, column in enumerate(columns):
            cell = cells.get((name, column))
            if cell is None:
                continue
            grade = min(int(4 * cell.value / most), 4) if cell.value else 0
            box: dict[str, Attribute] = {
                "class": f"heat h{grade}",
                "x": round(left + width * place + 1, 1),
                "y": y,
                "height": 28,
            }
            shape = h("rect", {**box, "width": round(width - 2, 1)})
            number = _words(left + width * (place + 0.5), y + 19, cell.label, "middle", f"on{grade}")
            drawn.append(_linked(cell.href, cell.words, shape, number))
    return _figure(title, top + 30 * len(rows) + 4, drawn)


def strip(pieces: Sequence[tuple[str, str, str]], *, title: str) -> Element:
    """A row of small boxes, one a step: its class, its words, its address."""
    per_row = 36
    drawn: list[Child] = []
    for place, (name, words, href) in enumerate(pieces):
        x, y = (place % per_row) * 19.8 + 2, (place // per_row) * 24 + 2
        drawn.append(
            _linked(href, words, h("rect", {"class": name, "x": x, "y": y, "width": 17, "height": 20, "rx": 3}))
        )
    return _figure(title, -(-len(pieces) // per_row) * 24 + 4, drawn)


def spans(points: Sequence[ChartPoint], *, title: str, low: float = -1, high: float = 1) -> Element:
    """Effects with their intervals, one below the other, on one scale with zero marked."""
    beside = _beside(point.words for point in points)
    room = WIDTH - LABEL_WIDTH - beside
    size = (high - low) or 1

    def x(value: float) -> float:
        return round(LABEL_WIDTH + room * (min(max(value, low), high) - low) / size, 1)

    height = 30 * len(points) + 8
    drawn: list[Child] = [h("line", {"class": "zero", "x1": x(0), "x2": x(0), "y1": 0, "y2": height})]
    for place, point in enumerate(points):
        y = 30 * place + 18
        line = h("line", {"class": "spread", "x1": x(point.low), "x2": x(point.high), "y1": y, "y2": y})
        drawn.append(_words(LABEL_WIDTH - 8, y + 4, _cut(point.label, MOST_LABEL), "end"))
        drawn.append(_linked(point.href, point.words, line, _dot(x(point.value), y, 5, "point")))
        drawn.append(_words(WIDTH - beside + 10, y + 4, point.words, "start"))
    return _figure(title, height, drawn)


def _beside(words: Iterable[str]) -> int:
    """The room on the right that the longest of the words needs."""
    return 20 + LETTER * max(map(len, words), default=0)


def _figure(title: str, height: float, drawn: Sequence[Child], legend: Child = None) -> Element:
    picture = h("svg", {"viewBox": f"0 0 {WIDTH} {height:g}", "role": "group", "aria-label": title}, drawn)
    return h("figure", {}, h("figcaption", {}, title), legend, h("div", {"class": "picture"}, picture))


def _grid(least: float, high: float, y: Callable[[float], float]) -> list[Child]:
    lines: list[Child] = []
    for part in (0, 0.25, 0.5, 0.75, 1):
        value = least + (high - least) * part
        lines.append(h("line", {"class": "grid", "x1": LEFT, "x2": WIDTH - RIGHT, "y1": y(value), "y2": y(value)}))
        lines.append(
            _words(LEFT - 6, y(value) + 4, f"{value:.0%}" if (least, high) == (0, 1) else f"{value:.3g}", "end")
        )
    return lines


def _linked(href: str, words: str, *shapes: Child) -> Element:
    """Shapes that say what they are, and lead to what is behind them."""
    if not href:
        return h("g", {}, h("title", {}, words), *shapes)
    return h("a", {"href": href, "aria-label": words}, h("title", {}, words), *shapes)


def _dot(x: float, y: float, size: int, name: str) -> Element:
    return h("circle", {"class": name, "cx": x, "cy": y, "r": size})


def _words(x: float, y: float, text: str, anchor: str, name: str = "") -> Element:
    place: dict[str, Attribute] = {"x": round(x, 1), "y": round(y, 1), "text-anchor": anchor, "class": name or None}
    return h("text", place, text)


def _legend(names: Sequence[str], colours: Mapping[str, int]) -> Element:
    items = [h("li", {"class": f"key k{colours.get(name, 0)}"}, name or "unknown") for name in names]
    return h("ul", {"class": "legend"}, items)


def _cut(text: str, most: int) -> str:
    return text if len(text) <= most else f"{text[: most - 1]}…"
