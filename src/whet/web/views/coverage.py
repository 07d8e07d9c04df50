"""Coverage: what Whet does not see, or sees little of."""

from collections import defaultdict
from collections.abc import Callable, Sequence
from typing import NamedTuple

from whet.store.forgotten import LeftOutFile
from whet.store.session_facts import SessionFact
from whet.text.showing import shown
from whet.text.words import many
from whet.web.groups import TELLING_LITTLE
from whet.web.html import Child, Element, h
from whet.web.site import Site, code, section, table

MOST_PROJECTS = 25
MOST_PATHS = 50


class Covered(NamedTuple):
    """How many sessions are stored, the facts of those that are analysed, and what imports left out."""

    stored: int
    everything: Sequence[SessionFact]
    left_out: Sequence[LeftOutFile] = ()
    untimed: int = 0  # sessions without times on record


def coverage(site: Site, seen: Covered, project: Callable[[str], str]) -> Element:
    """Sessions that no number counts, and what imports left out, by reason."""
    everything, stored = seen.everything, seen.stored
    if not stored and not seen.left_out:
        return h("div", {})
    site = site.everywhere
    reasons: list[tuple[Child, Child]] = [("not analysed yet", f"{stored - len(everything):,}")]
    for group in TELLING_LITTLE:
        number = sum(map(group.holds, everything))
        reasons.append((group.words, site.counted(number, group=group.name)))
    untimed = "without times on record, whose lost minutes are not known"
    reasons.append((untimed, site.counted(seen.untimed, untimed="1")))
    return section(
        "What Whet does not see",
        table(("sessions that count in no number, or tell little", "number"), reasons, caption="By reason", numbers=1),
        *_left_out(site, seen.left_out, project),
    )


def _left_out(site: Site, found: Sequence[LeftOutFile], project: Callable[[str], str]) -> list[Child]:
    if not found:
        return [h("p", {}, "All that was imported could be read.")]
    groups: dict[tuple[str, str, str], list[LeftOutFile]] = defaultdict(list)
    for each in found:
        groups[each.source, project(each.folder) if each.folder else "", each.reason].append(each)
    ordered = sorted(groups.items(), key=lambda item: (-_times(item[1]), item[0]))
    rows = (
        (
            source or "unknown",
            site.projects.short(name) if name else "unknown",
            shown(reason),
            _paths(files),
            f"{_times(files):,}",
        )
        for (source, name, reason), files in ordered
    )
    headings = ("agent", "project", "reason", "files", "times")
    about = "As of the last time that each file was read; agent and project are those of the sessions beside it. Run "
    return [
        table(headings, rows, caption=many(len({each.path for each in found}), "file"), numbers=1),
        h("p", {"class": "soft"}, about, code("whet import PATH"), " after you have changed a file."),
    ]


def _paths(files: Sequence[LeftOutFile]) -> Element:
    items = [
        h("li", {}, code(shown(each.path)), f", line {each.line:,}" if each.line else "") for each in files[:MOST_PATHS]
    ]
    rest = len(files) - len(items)
    more = h("li", {}, f"and {rest:,} more") if rest else None
    return h("details", {}, h("summary", {}, many(len(files), "file")), h("ul", {"class": "paths"}, items, more))


def _times(files: Sequence[LeftOutFile]) -> int:
    return sum(each.number for each in files)
