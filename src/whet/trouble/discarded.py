"""Work thrown away: the agent's own edits that were put back, by git or by hand."""

from collections.abc import Iterator
from itertools import islice

from whet.sessions.shell_lines import Stage, split
from whet.trouble.course import CourseStep, SessionCourse, Stretch
from whet.trouble.edits import is_same_file, plain_path
from whet.trouble.values import TroubleEnding, TroubleKind

ALL = "."
PUT_BACK = "put back"
LOOKED_BACK = 40  # edits among which the one that another turns back is looked for


def discarded(course: SessionCourse) -> Iterator[Stretch]:
    """Each time that edits were put back, from the first of them on."""
    kept: dict[int, CourseStep] = {}  # edits that are neither handed over nor put back
    for move in course.moves[course.changes[0].number :] if course.changes else ():
        if not move.step.worked or not (kept or move.files):
            continue
        if move.hands_over:
            kept.clear()
            continue
        others = _by_others(course, move, kept)
        gone = others or _by_git(course, move, kept) or _by_hand(move, kept)
        if gone:
            yield _stretch(course, gone, move.answered if not others else course.start_of_turn(move.asked), move.number)
            for each in gone:
                del kept[each.number]
        if move.files and (others or not gone):
            kept[move.number] = move


def _stretch(course: SessionCourse, gone: list[CourseStep], last: int, back: int) -> Stretch:
    """From the first edit that was put back; all of it, where nothing else was changed meanwhile."""
    lost = {move.number for move in gone}
    between = [move for move in course.moves[gone[0].number : back + 1] if move.asked < last]
    only = None
    if any(move.files and move.number not in lost for move in between[:-1]):
        counted = (*gone, course.moves[back])
        only = frozenset(at for move in counted for at in range(move.asked, move.answered + 1))
    subject = sorted(gone[0].files)[0]
    return Stretch(TroubleKind.THROWN_AWAY, gone[0].asked, last, subject, PUT_BACK, TroubleEnding.MENDED, only)


def _by_others(course: SessionCourse, move: CourseStep, kept: dict[int, CourseStep]) -> list[CourseStep]:
    """The edits of earlier turns, where one of them could be made once more: somebody had put them back."""
    if not kept or not move.edits:
        return []
    start = course.start_of_turn(move.asked)
    if next(iter(kept.values())).answered >= start or not any(edit.replaces for edit in move.edits):
        return []
    before = [each for each in islice(reversed(kept.values()), LOOKED_BACK) if each.answered < start]
    made = {(edit.path, edit.old) for each in before for edit in each.edits if edit.replaces}
    if not any((edit.path, edit.old) in made for edit in move.edits):
        return []
    return before[::-1]


def _by_git(course: SessionCourse, move: CourseStep, kept: dict[int, CourseStep]) -> list[CourseStep]:
    if not kept or "git" not in move.command:
        return []
    back = {path for stage in split(move.command) if stage.program == "git" for path in _put_back(course, move, stage)}
    if not back:
        return []
    if ALL in back:
        return list(kept.values())
    return [each for each in kept.values() if any(_covers(back, path) for path in each.files)]


def _covers(back: set[str], path: str) -> bool:
    return any(is_same_file(path, each) or f"/{each.rstrip('/')}/" in f"/{path}" for each in back)


def _put_back(course: SessionCourse, move: CourseStep, stage: Stage) -> list[str]:
    """The paths whose changes a git command drops."""
    words = [word for word in stage.words[1:] if word]
    command = next((word for word in words if not word.startswith("-")), "")
    rest = words[words.index(command) + 1 :] if command else []
    plain = [plain_path(word) for word in rest if not word.startswith("-")]
    if command == "checkout":
        return plain_after(rest) if "--" in rest else [path for path in plain if "/" in path or "." in path]
    if command == "restore":
        return [] if "--staged" in rest and "--worktree" not in rest else plain
    if command == "reset":
        return [ALL] if "--hard" in rest else []
    if command == "stash":
        is_put = not plain or plain[0] in ("push", "save")
        return [ALL] if is_put and course.last_unstash < move.number else []
    return []


def plain_after(words: list[str]) -> list[str]:
    return [plain_path(word) for word in words[words.index("--") + 1 :]]


def _by_hand(move: CourseStep, kept: dict[int, CourseStep]) -> list[CourseStep]:
    """The edit that this one turns back exactly."""
    if not kept or not move.edits:
        return []
    first = move.edits[0]
    for earlier in islice(reversed(kept.values()), LOOKED_BACK):
        if earlier.edits and earlier.edits[0].is_undone_by(first) and _is_inverse(earlier, move):
            return [earlier]
    return []


def _is_inverse(earlier: CourseStep, move: CourseStep) -> bool:
    if len(earlier.edits) != len(move.edits):
        return False
    return all(one.is_undone_by(two) for one, two in zip(earlier.edits, move.edits, strict=True))
