"""Changes to what agents are told, shown so that a person can decide on them or undo them: nothing hidden, nothing
forged.
"""

from collections.abc import Mapping, Sequence
from itertools import groupby
from types import MappingProxyType

import msgspec
from msgspec.structs import replace

from whet.improving.watch import live_lessons
from whet.ledger.entries import CHANGES, Entry, Item
from whet.ledger.folding import Move, difference, fold, grounds_of, move_of, seen_from
from whet.ledger.patches import Action, Form, Patch, Scope
from whet.lessons.following import SeenRule
from whet.lessons.record import Lesson
from whet.lessons.waiting_words import waiting_words, who_made
from whet.store.session_facts import state_of_sessions
from whet.telling.targets.known_projects import short_name
from whet.text.showing import shown, size_of, warnings
from whet.text.words import cut, estimate, many
from whet.trials.design import TrialProgress
from whet.web.cache import A_MOMENT_SECONDS, PageRequest
from whet.web.charts import ChartBar, ChartPoint, bars, spans
from whet.web.html import Child, Element, h
from whet.web.layout import FramedView
from whet.web.site import PageLinks, PageView, code, empty, folded, known_by, moment, reading, section
from whet.web.views.sessions import FARED

NOBODY: Mapping[str, str] = MappingProxyType({})
COMMA = ", "
QUOTE_LETTERS = 280
HEADINGS = {Action.ADD: "New", Action.CHANGE: "Changed", Action.REMOVE: "Removed"}
QUIET = ("begun", "abandoned")
RULE = PageView("lessons", "Rule or skill", "Does it help, and is it followed?")


def waiting(site: PageLinks, found: Sequence[Lesson], agents: Mapping[str, str] = NOBODY) -> Child:
    """What waits for a decision, each with its exact text, its origin and its proof; `agents` by their sessions."""
    if not found:
        return None
    about: Child = None
    if not site.form and not site.is_file:
        about = h("p.careful", "This page only shows. To decide, start `whet page` in your own terminal.")
    groups = [
        section(
            f"Waiting for your decision: {shown(site.projects.short(name))}",
            h("div.cards", [_card(site, each, agents) for each in members]),
        )
        for name, members in groupby(found, key=lambda each: each.project or each.group)
    ]
    return h("div", about, groups)


def _card(site: PageLinks, lesson: Lesson, agents: Mapping[str, str]) -> Element:
    """First what would be told and where, then whose words they are, why, and how they were tried."""
    patch, after = lesson.patch, lesson.move.after
    known = waiting_words(lesson, moment=moment)
    name = "" if patch.form is Form.RULE else f" {shown(patch.name)}"  # a rule is known by its words
    return h(
        "article.card",
        {"aria-label": f"change {lesson.proposal.number}"},
        h("h3", f"{HEADINGS[patch.action]} {patch.form}{name}"),
        diff(lesson.move),
        [h("p.careful", f"Careful: {shown(each)}") for each in warnings(f"{after or ''} {patch.example}")],
        h("p", f"Example, for tiny models: {shown(patch.example)}") if patch.example else None,
        h("p", _told_where(site, lesson, agents)),
        [h("p", h("strong", f"{label}: "), shown(words)) for label, words in known],
        _evidence(site, patch),
        _actions(site, lesson.proposal) if site.form else None,
    )


def _told_where(site: PageLinks, lesson: Lesson, agents: Mapping[str, str]) -> str:
    """Who would be told it, and whose sessions it was learned from."""
    patch, after = lesson.patch, lesson.move.after
    only = replace(lesson.scope, project="").words
    place = f"in {shown(site.projects.whole(lesson.project))}" if lesson.project else f"in {lesson.group.lower()}"
    told = f"be told to agents {place}{f', for {shown(COMMA.join(only))}' if only else ''}"
    first = f"It would no longer {told}" if after is None else f"Exactly this text ({size_of(after)}) would {told}"
    from_whom = ", ".join(sorted({agents[each.session] for each in patch.proofs if each.session in agents}))
    return f"{first}.{f' Learned from sessions of {from_whom}.' if from_whom else ''}"


def _evidence(site: PageLinks, patch: Patch) -> Child:
    """Every quote with its place, folded."""
    if not patch.proofs:
        return None
    quotes = ((each, cut(" ".join(shown(each.quote).split()), QUOTE_LETTERS)) for each in patch.proofs)
    items = [
        h(
            "li",
            site.session(each.session, f"session {each.session[:8]}", message=each.message),
            f" {each.kind}: “{said}”",
        )
        for each, said in quotes
    ]
    return folded((many(len(items), "piece"), " of evidence"), h("ul", items))


def diff(move: Move) -> Element:
    """What a change does, line by line, with hidden characters shown."""
    lines = difference(move.before, move.after).split("\n")[2:]
    if sum(line.startswith("@@") for line in lines) == 1:
        lines = lines[1:]
    names = {"+": ".add", "-": ".gone"}
    spans = [h(f"span{names.get(line[:1], '')}", shown(line) or " ") for line in lines]
    return h("pre.diff", {"tabindex": "0", "aria-label": "the change"}, spans)


def _actions(site: PageLinks, entry: Entry) -> Element:
    here = f"/waiting/{entry.number}"
    text = h("textarea", {"name": "text", "rows": 6, "required": True}, f"\n{entry.patch.text}")
    apply = h("button.main", {"type": "submit"}, "Apply my text instead")
    edited = sending(site, entry.patch, f"{here}/edit", h("label", "Your text", text), apply)
    return h(
        "div.actions",
        button(site, entry, f"{here}/approve", "Approve exactly this", "main"),
        button(site, entry, f"{here}/refuse", "Refuse", "danger"),
        button(site, entry, f"{here}/never", "Never propose it again", "danger"),
        folded("Edit the text", edited) if entry.after else None,
    )


def button(site: PageLinks, entry: Entry, action: str, words: str, name: str = "") -> Element:
    """A form of one button that changes something about an entry, as it was shown."""
    named = {"type": "submit", "aria-label": f"{words} ({entry.number})"}
    return sending(site, entry.patch, action, h(f"button.{name}", named, words))


def sending(site: PageLinks, patch: Patch, action: str, *fields: Child) -> Element:
    """A form that says that it is ours, and what the person saw when they sent it."""
    return h(
        "form",
        {"method": "post", "action": f"{site.base}{action}"},
        h("input", {"type": "hidden", "name": "form", "value": site.form}),
        h("input", {"type": "hidden", "name": "patch", "value": patch.id}),
        *fields,
    )


def scope_words(site: PageLinks, scope: Scope) -> str:
    """Where a rule holds."""
    return shown(", ".join(replace(scope, project=site.projects.whole(scope.project)).words)) or "everywhere"


def show_rule(ask: PageRequest) -> FramedView:
    """One rule or skill: its text, its effect in trials and live, its history with the way back."""
    site, entries = ask.site, ask.entries
    form, _, name = ask.part.partition(":")
    item = next((each for each in fold(entries).items if each.form == form and each.name == name), None)
    about = [each for each in entries if each.patch.form == form and each.patch.name == name]
    history = [each for each in about if each.step not in QUIET]
    tried = [msgspec.json.decode(each.verdict, type=TrialProgress) for each in history if each.verdict]
    watched = live_lessons(ask.cache.home, ask.database) if form == Form.RULE else ()
    points = [trial_point(site, each, "trial") for each in tried]
    lives = (each.counts.comparison for each in watched if each.patch.name == name)
    points += [
        ChartPoint("live sessions", one.effect, *one.interval, f"{one.effect:+.2f} live", site.href("trials"))
        for one in lives
    ]
    effect: Child = spans(points, title="Effect with its interval; right of the dashed line it helps")
    if not points:  # only a rule can be left out of a trial
        is_rule = item is not None and item.form is Form.RULE
        way = ("Try it: ", code(f"whet try --without {shown(name)}"), ".") if is_rule else ()
        effect = empty("No trial and no live comparison yet. ", *way)
    told: Child = None
    if item is not None and item.form is Form.RULE:
        seen, is_current = ask.cache.seen(item).get(state_of_sessions(ask.database), patience=A_MOMENT_SECONDS)
        counted = _fared(site, item.name, seen) if is_current else reading()
        told = section("Is it told, and followed?", counted)
    standing = rule_standing(site, item, grounds_of(item, entries) if item else "")
    cards = h("div.cards", [_entry(site, item, entries, each) for each in history[::-1]])
    body = h("div", standing, section("Does it help?", effect), told, section("History", cards))
    text = item.text if item else history[-1].patch.text if history else ""
    return FramedView(RULE, known_by(short_name(name), text), body)


def rule_standing(site: PageLinks, item: Item | None, grounds: str) -> Element:
    """What stands of it now, and on what grounds."""
    if item is None:
        return h("p.careful", "It is not active.")
    canary = f"told to {100 * item.share:.0f} % of sessions" if item.canary else "told to every session in its scope"
    where = scope_words(site, item.scope)
    maker = f" · made by {shown(item.maker)}" if item.maker else ""
    place = where if where == "everywhere" else f"for {where}"
    facts = f"{canary} · {grounds} · {place} · trust {item.trust.label}{maker}"
    return h(
        "div.card",
        h("pre", {"tabindex": "0"}, shown(item.text)),
        h("p.facts", f"{facts} · {estimate(item.text):,} tokens a session"),
    )


def _fared(site: PageLinks, name: str, seen: Sequence[SeenRule]) -> Element:
    if not seen:
        return empty("No session started since it became active.")
    counted = {fared: sum(map(group.holds, seen)) for fared, group in FARED.items()}
    behind = {fared: site.everywhere.href("sessions", rule=name, fared=fared) for fared in counted}
    rows = [ChartBar(FARED[each].words, n, f"{n:,}", behind[each] if n else "") for each, n in counted.items()]
    return bars(rows, title="Sessions since it became active")


def trial_point(site: PageLinks, progress: TrialProgress, name: str) -> ChartPoint:
    """The effect that a trial found, leading to it."""
    verdict = progress.result.verdict
    words = f"{100 * verdict.effect:+.0f} points, {verdict.ruling}"
    return ChartPoint(name, verdict.effect, *verdict.interval, words, site.href("trial", part=progress.trial))


def _entry(site: PageLinks, item: Item | None, entries: Sequence[Entry], entry: Entry) -> Element:
    is_last = item is not None and entry.number == item.number and entry.step in CHANGES
    undo = button(site, entry, f"/ledger/{entry.number}/revert", "Undo this change", "danger")
    before = fold(each for each in entries if each.number < (entry.begun or entry.number))
    move = move_of(seen_from(entry.home, before), entry)
    return h(
        "article.card",
        h("h3", f"Entry {entry.number}: {entry.step} by {shown(who_made(entry))}, {moment(entry.at)}"),
        h("p", "Why: ", shown(entry.patch.reason)) if entry.patch.reason else None,
        h("p", "Note: ", shown(entry.note)) if entry.note else None,
        _evidence(site, entry.patch),
        diff(move) if move.before != move.after else None,
        h("div.actions", undo) if is_last and site.form else None,
    )
