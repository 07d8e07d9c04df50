"""Changes to what agents are told, shown so that a person can decide on them: nothing hidden, nothing forged."""

from collections.abc import Mapping, Sequence
from itertools import groupby
from types import MappingProxyType

import msgspec
from msgspec.structs import replace

from whet.ledger.entries import Actor, Entry, Step
from whet.ledger.patch_faults import LIMITS
from whet.ledger.patches import Action, Form, Patch, Scope
from whet.ledger.traces import Move, difference
from whet.lessons.record import Lesson
from whet.text.showing import shown, size_of, warnings
from whet.text.words import cut, many
from whet.trials.design import TrialProgress
from whet.web.html import Child, Element, h
from whet.web.site import PageLinks, moment, section

NOBODY: Mapping[str, str] = MappingProxyType({})
COMMA = ", "
BEST_LETTERS, QUOTE_LETTERS = 160, 280
HEADINGS = {Action.ADD: "New", Action.CHANGE: "Changed", Action.REMOVE: "Removed"}
WHO = {Actor.PERSON: "you", Actor.POLICY: "whet try", Actor.WATCH: "whet live look", Actor.AGENT: "an agent"}


def waiting(site: PageLinks, found: Sequence[Lesson], agents: Mapping[str, str] = NOBODY) -> Child:
    """What waits for a decision, each with its exact text, its origin and its proof; `agents` by their sessions."""
    if not found:
        return None
    about: Child = None
    if not site.form and not site.is_file:
        about = h("p", {"class": "careful"}, "This page only shows. To decide, start `whet page` in your own terminal.")
    groups = [
        section(
            f"Waiting for your decision: {shown(site.projects.short(name))}",
            h("div", {"class": "cards"}, [_card(site, each, agents) for each in members]),
        )
        for name, members in groupby(found, key=lambda each: each.project or each.group)
    ]
    return h("div", {}, about, groups)


def _card(site: PageLinks, lesson: Lesson, agents: Mapping[str, str]) -> Element:
    """First what would be told and where, then why, then whose words they are and how they were tried."""
    patch, after = lesson.patch, lesson.move.after
    name = "" if patch.form is Form.RULE else f" {shown(patch.name)}"  # a rule is known by its words
    return h(
        "article",
        {"class": "card", "aria-label": f"change {lesson.proposal.number}"},
        h("h3", {}, f"{HEADINGS[patch.action]} {patch.form}{name}"),
        diff(lesson.move),
        [
            h("p", {"class": "careful"}, f"Careful: {shown(each)}")
            for each in warnings(f"{after or ''} {patch.example}")
        ],
        h("p", {}, f"Example, for tiny models: {shown(patch.example)}") if patch.example else None,
        h("p", {}, _told_where(site, lesson, agents)),
        h("p", {}, "Why: ", shown(lesson.origin.why.rstrip(".")), _best(site, patch)) if lesson.origin.why else None,
        h("p", {"class": "facts"}, *_origin(site, lesson)),
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


def _origin(site: PageLinks, lesson: Lesson) -> list[Child]:
    """Whose words these are, how they were tried, who proposes them, and until when."""
    entry, patch = lesson.proposal, lesson.patch
    is_others = entry.step is Step.SUGGESTED  # another member has it, and it does not expire
    until = (
        "active for them; here only if you approve it"
        if is_others
        else f"expires {moment(entry.at + LIMITS.pending_seconds)}"
    )
    who = shown(entry.maker) if is_others and entry.maker else WHO[entry.actor]
    note = f" · {shown(entry.note)}" if entry.note else ""
    return [
        f"Words: {lesson.whose} · Trial: ",
        _trial(site, lesson),
        f" · proposed by {who} as {patch.form} {shown(patch.name)} (entry {entry.number}){note} · {until}",
    ]


def _best(site: PageLinks, patch: Patch) -> Child:
    """The first quote of the evidence, which is the best."""
    if not patch.proofs:
        return None
    proof = patch.proofs[0]
    return ": “", site.session(proof.session, _flat(proof.quote, BEST_LETTERS), message=proof.message), "”"


def _flat(quote: str, letters: int) -> str:
    return cut(" ".join(shown(quote).split()), letters)


def _trial(site: PageLinks, lesson: Lesson) -> Child:
    words, tried = shown(lesson.verdict), lesson.standing.judged
    if tried is None or not tried.verdict:
        return words
    return site.link(words, "trial", part=msgspec.json.decode(tried.verdict, type=TrialProgress).trial)


def proof_lines(site: PageLinks, entry: Entry) -> list[Child]:
    """Why a change was made: its reason, its verdict, and where each piece of evidence stands."""
    reason = entry.patch.reason
    return [
        h("p", {}, "Why: ", shown(reason)) if reason else None,
        h("p", {}, "Note: ", shown(entry.note)) if entry.note else None,
        _evidence(site, entry.patch),
    ]


def _evidence(site: PageLinks, patch: Patch) -> Child:
    """Every quote with its place, folded."""
    if not patch.proofs:
        return None
    items = [
        h(
            "li",
            {},
            site.session(proof.session, f"session {proof.session[:8]}", message=proof.message),
            f" {proof.kind}: “{_flat(proof.quote, QUOTE_LETTERS)}”",
        )
        for proof in patch.proofs
    ]
    return h("details", {}, h("summary", {}, many(len(items), "piece"), " of evidence"), h("ul", {}, items))


def diff(move: Move) -> Element:
    """What a change does, line by line, with hidden characters shown."""
    lines = difference(move.before, move.after).split("\n")[2:]
    if sum(line.startswith("@@") for line in lines) == 1:
        lines = lines[1:]
    names = {"+": "add", "-": "gone"}
    spans = [h("span", {"class": names.get(line[:1])}, shown(line) or " ") for line in lines]
    return h("pre", {"class": "diff", "tabindex": "0", "aria-label": "the change"}, spans)


def _actions(site: PageLinks, entry: Entry) -> Element:
    text = entry.patch.text
    editable = h(
        "details",
        {},
        h("summary", {}, "Edit the text"),
        h(
            "form",
            {"method": "post", "action": f"{site.base}/waiting/{entry.number}/edit"},
            _marks(site, entry),
            h("label", {}, "Your text", h("textarea", {"name": "text", "rows": 6, "required": True}, f"\n{text}")),
            h("button", {"type": "submit", "class": "main"}, "Apply my text instead"),
        ),
    )
    return h(
        "div",
        {"class": "actions"},
        button(site, entry, f"/waiting/{entry.number}/approve", "Approve exactly this", "main"),
        button(site, entry, f"/waiting/{entry.number}/refuse", "Refuse", "danger"),
        button(site, entry, f"/waiting/{entry.number}/never", "Never propose it again", "danger"),
        editable if entry.after else None,
    )


def button(site: PageLinks, entry: Entry, action: str, words: str, name: str = "") -> Element:
    """A form of one button that changes something about an entry, as it was shown."""
    return h(
        "form",
        {"method": "post", "action": f"{site.base}{action}"},
        _marks(site, entry),
        h("button", {"type": "submit", "class": name or None, "aria-label": f"{words} ({entry.number})"}, words),
    )


def _marks(site: PageLinks, entry: Entry) -> list[Child]:
    """That the form is ours, and what the person saw when they sent it."""
    return [
        h("input", {"type": "hidden", "name": "form", "value": site.form}),
        h("input", {"type": "hidden", "name": "patch", "value": entry.patch.id}),
    ]


def scope_words(site: PageLinks, scope: Scope) -> str:
    """Where a rule holds."""
    return shown(", ".join(replace(scope, project=site.projects.whole(scope.project)).words)) or "everywhere"
