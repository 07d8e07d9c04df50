"""A passage of somebody's file changed in place: found by its words, once, and nothing else of the file is touched.

Texts here keep their line endings. A passage holds as many lines around the change as make it the only one.
"""

from typing import NamedTuple

from whet.ledger.patches import digest

MARK = "\ufeff"
CONTEXT = 2


class PassagePlace(NamedTuple):
    """Where a passage was when it was written down, and of how many lines it is before and after the change."""

    path: str
    line: int
    before: int
    after: int


class PassageChange(NamedTuple):
    """A change of some lines of a file, with those around them."""

    line: int
    before: str
    after: str

    def name(self, path: str) -> str:
        """The name of the change in the ledger."""
        return f"{path}#{self.line}-{len(lines_of(self.before))}-{len(lines_of(self.after))}"


def passage_place(name: str) -> PassagePlace:
    """What the name of a change says."""
    path, _, rest = name.rpartition("#")
    line, before, after = (int(part) for part in rest.split("-"))
    return PassagePlace(path, line, before, after)


def lines_of(text: str) -> list[str]:
    """The lines of a text with their endings; only a line feed ends one, as for whoever counts them."""
    lines = text.split("\n")
    return [f"{line}\n" for line in lines[:-1]] + ([lines[-1]] if lines[-1] else [])


def passage(text: str, first: int, last: int, new: list[str]) -> PassageChange | None:
    """The change of the lines from `first` to `last`, counted from one; None where it leaves nothing to be found by."""
    lines = lines_of(text.removeprefix(MARK))
    changed = [*lines[: first - 1], *new, *lines[last:]]
    context = CONTEXT
    while True:
        start, end = max(first - 1 - context, 0), min(last + context, len(lines))
        before, after = "".join(lines[start:end]), "".join(changed[start : end + len(changed) - len(lines)])
        if after.strip() and _is_once(lines, before) and _is_once(changed, after):
            return PassageChange(start + 1, before, after)
        if start == 0 and end == len(lines):
            return None
        context *= 2


def find_passage(text: str, place: PassagePlace, wanted: str) -> str | None:
    """The one passage of the file with this digest, before or after its change; None where there is none, or two."""
    lines = lines_of(text.removeprefix(MARK))
    found: list[str] = []
    for number in {place.before, place.after}:
        for start in range(len(lines) - number + 1):
            candidate = "".join(lines[start : start + number])
            if digest(candidate) == wanted:
                found.append(candidate)
    return found[0] if len(found) == 1 else None


def replace_passage(text: str, before: str, after: str) -> str | None:
    """The file with one passage in the place of another; None where it is not there, or there twice."""
    mark, lines = MARK if text.startswith(MARK) else "", lines_of(text.removeprefix(MARK))
    places = _places(lines, before)
    if len(places) != 1:
        return None
    number = len(lines_of(before))
    return mark + "".join((*lines[: places[0]], after, *lines[places[0] + number :]))


def _is_once(lines: list[str], passage: str) -> bool:
    return len(_places(lines, passage)) == 1


def _places(lines: list[str], passage: str) -> list[int]:
    wanted = lines_of(passage)
    return [
        start
        for start in range(len(lines) - len(wanted) + 1)
        if lines[start] == wanted[0] and lines[start : start + len(wanted)] == wanted
    ] if wanted else []  # fmt: skip
