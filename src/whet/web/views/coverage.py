"""Coverage: what Whet does not see, or sees little of."""

from collections import defaultdict
from collections.abc import Sequence
from typing import NamedTuple

from whet.store.forgotten import LeftOutFile
from whet.store.session_facts import SessionFact
from whet.text.showing import shown
from whet.text.words import many
from whet.web.groups import TELLING_LITTLE
from whet.web.html import Child, Element, h
from whet.web.site import Column, PageLinks, code, number, section, table

MOST_PATHS = 50


class Covered(NamedTuple):
    """How many sessions are stored, the facts of those that are analysed, and what imports left out."""

    stored: int
    everything: Sequence[SessionFact]
    left_out: Sequence[LeftOutFile] = ()
    untimed: int = 0  # sessions without times on record


class ReasonUncounted(NamedTuple):
    """Why sessions count in no number, or tell little, and how many do."""

    words: str
    number: Child


class LeftOutGroup(NamedTuple):
    """Files of one agent that were left out for one reason."""

    agent: str
    reason: str
    files: Sequence[LeftOutFile]

    @property
    def times(self) -> int:
        return sum(each.number for each in self.files)


def coverage(site: PageLinks, seen: Covered) -> Child:
    """Sessions that no number counts, and what imports left out, by reason; nothing where there is none."""
    site = site.everywhere
    counts = [(group.words, sum(map(group.holds, seen.everything)), {"group": group.name}) for group in TELLING_LITTLE]
    untimed = "without times on record, whose lost minutes are not known"
    reasons = [
        ReasonUncounted(words, site.counted(times, **narrowed))
        for words, times, narrowed in (*counts, (untimed, seen.untimed, {"untimed": "1"}))
        if times
    ]
    if later := seen.stored - len(seen.everything):
        reasons.append(ReasonUncounted("not analysed yet", f"{later:,}"))
    if not reasons and not seen.left_out:
        return None
    columns: list[Column[ReasonUncounted]] = [
        Column("sessions that count in no number, or tell little", lambda each: each.words),
        number("number", lambda each: each.number),
    ]
    by_reason = table(reasons, columns, caption="By reason") if reasons else None
    return section("What Whet does not see", by_reason, *_left_out(seen.left_out))


def _left_out(found: Sequence[LeftOutFile]) -> list[Child]:
    if not found:
        return []
    files: dict[tuple[str, str], list[LeftOutFile]] = defaultdict(list)
    for each in found:
        files[each.source or "unknown", each.reason].append(each)
    groups = sorted((LeftOutGroup(*key, each) for key, each in files.items()), key=lambda each: -each.times)
    columns: list[Column[LeftOutGroup]] = [
        Column("agent", lambda each: each.agent),
        Column("reason", lambda each: shown(each.reason)),
        Column("files", lambda each: _paths(each.files)),
        number("times", lambda each: f"{each.times:,}"),
    ]
    again = "As of the last time that each file was read. After you have changed one, run "
    return [
        table(groups, columns, caption=f"{many(len({each.path for each in found}), 'file')} left out"),
        h("p", {"class": "soft"}, again, code("whet import PATH"), "."),
    ]


def _paths(files: Sequence[LeftOutFile]) -> Element:
    items = [
        h("li", {}, code(shown(each.path)), f", line {each.line:,}" if each.line else "") for each in files[:MOST_PATHS]
    ]
    rest = len(files) - len(items)
    more = h("li", {}, f"and {rest:,} more") if rest else None
    return h("details", {}, h("summary", {}, many(len(files), "file")), h("ul", {"class": "paths"}, items, more))
