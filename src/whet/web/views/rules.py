"""Rules and skills: what agents are told, whether it helps, and the way back."""

from collections.abc import Sequence
from typing import NamedTuple

from whet.ledger.entries import CHANGES, Entry, Item, State
from whet.ledger.folding import grounds_of
from whet.ledger.patches import Form
from whet.ledger.traces import Move
from whet.lessons.following import Following, FollowingCount
from whet.lessons.record import Lesson
from whet.text.showing import shown
from whet.text.words import cut, estimate
from whet.trials.design import TrialProgress
from whet.web.charts import ChartBar, ChartPoint, bars, spans
from whet.web.html import Child, Element, h
from whet.web.site import Column, PageLinks, code, empty, moment, number, section, table, when
from whet.web.views.entries import WHO, button, diff, proof_lines, scope_words

FORMS = (Form.RULE, Form.SKILL, Form.NOTE)


def rules(site: PageLinks, state: State, entries: Sequence[Entry]) -> Child:
    """All that is in force, on what grounds, with what each costs in tokens."""
    items = [item for form in FORMS for item in state.of(form)]
    if not items:
        return None

    def text(item: Item) -> Child:
        words = cut(" ".join(shown(item.text).split()), 160)
        return site.link(words, "rule", part=f"{item.form}:{item.name}")

    columns: list[Column[Item]] = [
        Column("text", text),
        Column("form", lambda item: item.form.value),
        Column("for", lambda item: scope_words(site, item.scope)),
        Column("whose words", lambda item: item.trust.label),
        Column("maker", lambda item: shown(item.maker) or "–"),
        Column("since", lambda item: when(item.since) if item.since else "–"),
        Column("grounds", lambda item: grounds_of(item, entries)),
        number("tokens", lambda item: f"{estimate(item.text):,}"),
    ]
    has_makers = len({item.maker for item in items}) > 1
    columns = [each for each in columns if has_makers or each.heading != "maker"]
    return section("What agents are told", table(items, columns, caption="Rules, skills and notes in force"))


class ShownRule(NamedTuple):
    """A rule or skill with all that is known of it; how it fared is None for what is not told as a rule."""

    item: Item | None
    history: Sequence[tuple[Entry, Move]]
    trials: Sequence[TrialProgress] = ()
    live: Sequence[Lesson] = ()
    fared: Following | None = None
    is_counted: bool = True  # how it fared is known of all sessions
    grounds: str = ""  # on which it is active


def rule(site: PageLinks, known: ShownRule) -> Element:
    """One rule or skill: its text, its effect in trials and live, its history with the way back."""
    points = [_trial_point(site, each) for each in known.trials] + [_live_point(site, each) for each in known.live]
    effect: Child = spans(points, title="Effect with its interval; right of the dashed line it helps")
    if not points:
        effect = empty("No trial and no live comparison yet. ", *_way_to_try(known.item))
    told: Child = None
    if known.fared:
        name = known.item.name if known.item else ""
        counted = _fared(site, name, known.fared) if known.is_counted else empty("Reading your sessions …")
        told = section("Is it told, and followed?", counted)
    entries = [_entry(site, known.item, *each) for each in reversed(known.history)]
    return h(
        "div",
        {},
        _standing(site, known.item, known.grounds),
        section("Does it help?", effect),
        told,
        section("History", h("div", {"class": "cards"}, entries)),
    )


def _way_to_try(item: Item | None) -> tuple[Child, ...]:
    """How to find out whether it helps; only a rule can be left out of a trial."""
    if item is None or item.form is not Form.RULE:
        return ()
    return "Try it: ", code(f"whet try --without {shown(item.name)}"), "."


def _standing(site: PageLinks, item: Item | None, grounds: str) -> Element:
    if item is None:
        return h("p", {"class": "careful"}, "It is not active.")
    canary = f"told to {100 * item.share:.0f} % of sessions" if item.canary else "told to every session in its scope"
    cost = f"{estimate(item.text):,} tokens a session"
    where = scope_words(site, item.scope)
    maker = f" · made by {shown(item.maker)}" if item.maker else ""
    place = where if where == "everywhere" else f"for {where}"
    facts = f"{canary} · {grounds} · {place} · trust {item.trust.label}{maker} · {cost}"
    return h("div", {"class": "card"}, h("pre", {"tabindex": "0"}, shown(item.text)), h("p", {"class": "facts"}, facts))


def _fared(site: PageLinks, name: str, fared: Following) -> Element:
    if not fared.looked:
        return empty("No session started since it became active.")
    counts = (
        ("sessions since", fared.looked, FollowingCount.SINCE),
        ("in its situation", fared.came_up, FollowingCount.SITUATION),
        ("told there", fared.told, FollowingCount.TOLD),
        ("told is unknown", fared.unknown, FollowingCount.UNKNOWN),
        ("followed there", fared.followed, FollowingCount.FOLLOWED),
        ("not followed there", fared.not_followed, FollowingCount.NOT_FOLLOWED),
        ("told and not followed", fared.told - fared.told_followed, FollowingCount.TOLD_NOT_FOLLOWED),
        *((("reminded", fared.reminded, FollowingCount.REMINDED),) if fared.reminded else ()),
    )
    rows = [
        ChartBar(words, times, f"{times:,}", _behind(site, name, each) if times else "")
        for words, times, each in counts
    ]
    return bars(rows, title="Sessions since it became active")


def _behind(site: PageLinks, name: str, fared: FollowingCount) -> str:
    """The address of the sessions that a count counts, whatever the filters of the page."""
    return site.everywhere.href("sessions", rule=name, fared=fared.value)


def _trial_point(site: PageLinks, progress: TrialProgress) -> ChartPoint:
    verdict = progress.result.verdict
    words = f"{100 * verdict.effect:+.0f} points, {verdict.ruling}"
    return ChartPoint("trial", verdict.effect, *verdict.interval, words, site.href("trial", part=progress.trial))


def _live_point(site: PageLinks, lesson: Lesson) -> ChartPoint:
    found = lesson.counts.comparison
    return ChartPoint("live sessions", found.effect, *found.interval, f"{found.effect:+.2f} live", site.href("trials"))


def _entry(site: PageLinks, item: Item | None, entry: Entry, move: Move) -> Element:
    is_last = item is not None and entry.number == item.number and entry.step in CHANGES
    undo = button(site, entry, f"/ledger/{entry.number}/revert", "Undo this change", "danger")
    return h(
        "article",
        {"class": "card"},
        h("h3", {}, f"Entry {entry.number}: {entry.step} by {WHO[entry.actor]}, {moment(entry.at)}"),
        proof_lines(site, entry),
        diff(move) if move.before != move.after else None,
        h("div", {"class": "actions"}, undo) if is_last and site.form else None,
    )
