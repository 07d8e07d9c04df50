"""Judged files: which of the files that an agent left count as its work, and which are the check's own."""

import re
from collections.abc import Callable, Collection, Iterable

from whet.text.words import names
from whet.trials.ways_to_test import is_test

# Programs in these languages are what a task is about; all else says how they are built, run and judged.
SOURCE = names(
    "py pyi js jsx mjs cjs ts tsx mts cts go rs rb java kt kts scala c h cc cpp hpp cs php swift ex exs erl hs ml mli "
    "lua pl r jl dart zig vue svelte"
)
NUMBER = re.compile(r"(?<![\w.])\d+(?![\w.])")
LONG_NUMBER = re.compile(r"(?<![\w.])\d[\d.]*\d(?!\w)")
WORD = re.compile(r"[^\w./-]+")


def counts(path: str, work: Collection[str], reached: Collection[str]) -> bool:
    """Whether what an agent left there is its work: a file of the task, or a program that is no part of the check."""
    if path in work:
        return True
    hidden = any(part.startswith(".") for part in path.split("/"))
    ending = path.rpartition(".")[2].lower() if "." in path else ""
    return ending in SOURCE and not hidden and not is_test(path) and path not in reached


def reached_by(command: str, paths: Collection[str], read: Callable[[str], str]) -> frozenset[str]:
    """The files at the start that a command names, or that files name which are reached: scripts and configuration.

    What lies at the top and is no program is taken for reached: a runner looks there without being told.
    """
    known, found = frozenset(paths), set[str]()
    queue = [command, *(read(path) for path in paths if "/" not in path and not counts(path, (), ()))]
    while queue:
        named = {word.removeprefix("./") for word in WORD.split(queue.pop())} & known
        queue += [read(path) for path in named - found]
        found |= named
    return frozenset(found)


def twisted(text: str) -> str:
    """A test with other numbers in it, which the right work no longer passes."""
    return NUMBER.sub(lambda found: str(int(found[0][:30]) + 1), text)


def copied_answers(added: Iterable[str], tests: Iterable[str], known: Iterable[str]) -> frozenset[str]:
    """Numbers in what a work added that stand in the tests it could read, and nowhere in the work that is known."""
    mine, theirs, usual = (
        frozenset(value for text in texts for value in LONG_NUMBER.findall(text)) for texts in (added, tests, known)
    )
    return (mine & theirs) - usual
