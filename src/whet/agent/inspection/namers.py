"""Namers: the texts of a person's own that make git and other programs run files, each with where its words start."""

import os
import re
from collections.abc import Iterable, Iterator, Mapping

from whet.agent.inspection.reach import Namer, git_variables
from whet.agent.inspection.spots import GIT, HOOKS, PATHS, GitOrder, Spot, Spots, content_of, orders
from whet.agent.inspection.triggers import Care, is_repository_name

SYSTEM_SETTINGS = ("/etc/gitconfig", "/usr/local/etc/gitconfig", "/opt/homebrew/etc/gitconfig")
MOST_INCLUDED = 200
# A line that is not of the two plain forms: a section before it, quotes, escapes.
_LOOSE = re.compile(r"[ \t]*(?:\[[^\]\n]*\])?[ \t]*([A-Za-z][A-Za-z0-9-]*)[ \t]*=[ \t]*(.*)")


def namers(found: Spots, environment: Mapping[str, str], roots: tuple[str, ...]) -> Iterator[Namer]:
    """All texts that name files: git's settings, the person's and each repository's, hooks, and what else is run."""
    trees = worktrees(found)
    yield from of_person(environment, tuple(dict.fromkeys(each for own in trees.values() for each in own)))
    for spot in found.spots.values():
        folder = os.path.dirname(spot.path)
        if spot.loads is not None:
            yield _of_trigger(spot, roots)
        elif spot.orders is not None and spot.program == GIT:
            yield from _of_settings(spot.path, (*trees.get(folder, ()), folder))
        elif spot.care is Care.REFUSED and HOOKS in (os.path.basename(folder), os.path.basename(spot.path)):
            repository = folder if os.path.basename(spot.path) == HOOKS else os.path.dirname(folder)
            bases = (*trees.get(repository, ()), folder)
            text = spot.content.body.decode("latin-1") if spot.content.kind == "file" else ""
            whole = frozenset({spot.path}) if spot.content.kind == "link" else frozenset[str]()
            yield Namer(spot.path, text, GIT, Care.REFUSED, bases, whole=whole)


def of_person(environment: Mapping[str, str], trees: tuple[str, ...]) -> Iterator[Namer]:
    """What the settings of the person and of the machine make git run, in each of these working trees."""
    person = environment.get("HOME") or os.path.expanduser("~")
    config = environment.get("XDG_CONFIG_HOME") or f"{person}/.config"
    own = environment.get("GIT_CONFIG_GLOBAL")
    files = (own,) if own else (f"{config}/git/config", f"{person}/.gitconfig")
    system = environment.get("GIT_CONFIG_SYSTEM")
    for path in (*files, *((system,) if system else SYSTEM_SETTINGS)):
        yield from _of_settings(path, trees)
    said = git_variables(environment)
    if said:
        yield Namer("", said, "git (a variable)", Care.REFUSED, trees, whole=frozenset(said.split("\n")))


def worktrees(found: Spots) -> dict[str, tuple[str, ...]]:
    """The folders that each repository is the history of: the one around it, and those that point into it."""
    pointing = [(spot.leads, os.path.dirname(spot.path)) for spot in found.spots.values() if spot.leads]
    return {
        repository: (
            *((os.path.dirname(repository),) if is_repository_name(os.path.basename(repository)) else ()),
            *(tree for leads, tree in pointing if leads == repository or leads.startswith(f"{repository}/")),
        )
        for repository in found.repositories
    }


def _of_trigger(spot: Spot, roots: tuple[str, ...]) -> Namer:
    assert spot.loads is not None
    bases = [os.path.dirname(spot.path)]
    while bases[-1] not in roots and len(bases[-1]) > 1:
        bases.append(os.path.dirname(bases[-1]))
    whole = frozenset({spot.path}) if spot.content.kind == "link" else frozenset[str]()
    text = spot.content.body.decode("latin-1") if spot.content.kind == "file" else ""
    return Namer(spot.path, text, spot.program, spot.loads, tuple(bases), whole=whole)


def _of_settings(path: str, bases: Iterable[str]) -> Iterator[Namer]:
    """The orders of a file of settings and of those that it includes, each as a text of its own."""
    waiting, seen = [path], set[str]()
    while waiting and len(seen) < MOST_INCLUDED:
        file = waiting.pop()
        content = content_of(os.path.realpath(file))
        if file in seen or content is None or content.kind != "file":
            continue
        seen.add(file)
        folder = os.path.dirname(file)
        for order in map(_plain, orders(content.body.decode("latin-1"))):
            words = frozenset({order.value.lstrip("!"), *order.value.split()[:1]})
            whole = frozenset(filter(None, words)) if order.name in PATHS else frozenset[str]()
            starts = (folder,) if order.name == "path" else (*bases, folder)
            yield Namer(file, order.value, f"git ({order.said})", Care.REFUSED, starts, whole=whole)
            if order.name == "path":
                waiting.append(os.path.normpath(os.path.join(folder, os.path.expanduser(order.value))))


def _plain(order: GitOrder) -> GitOrder:
    """An order with its name and its value told apart as far as that goes, without quotes and escapes."""
    match = None if order.name else _LOOSE.fullmatch(order.value.strip())
    if match is None:
        return order
    return order._replace(name=match[1].lower(), value=match[2].strip().strip('"').replace('\\"', '"'))
