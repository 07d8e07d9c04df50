"""Changes to what agents are told, shown so that a person can decide on them: nothing hidden, nothing forged."""

import re
from collections.abc import Sequence
from itertools import groupby

import msgspec

from whet.ledger.entries import Actor, Entry, Step
from whet.ledger.patch_faults import LIMITS
from whet.ledger.patches import Scope
from whet.ledger.traces import Move, difference
from whet.ledger.waiting import WHOSE, WaitingChange
from whet.text.look_alikes import warnings
from whet.text.showing import shown
from whet.trials.design import TrialProgress
from whet.web.html import Child, Element, h
from whet.web.site import Site, code, empty, many, moment, section, short_name

SESSIONS = re.compile(r"\b\d[\d,]* (?:of \d[\d,]* )?sessions?\b")
WHO = {Actor.PERSON: "you", Actor.POLICY: "whet improve", Actor.WATCH: "whet watch", Actor.AGENT: "an agent"}


def waiting(site: Site, found: Sequence[WaitingChange]) -> Element:
    """What waits for a decision, each with its exact text, its origin and its proof."""
    if not found:
        return h(
            "div",
            {},
            empty(
                "Nothing needs your approval. ",
                code("whet improve"),
                " looks for what your sessions teach and proposes it.",
            ),
        )
    about: Child = None
    if not site.form and not site.is_file:
        about = h("p", {"class": "careful"}, "This page only shows. To decide, start `whet page` in your own terminal.")
    groups = [
        section(shown(short_name(name)), h("div", {"class": "cards"}, [_card(site, change) for change in members]))
        for name, members in groupby(found, key=lambda change: change.group)
    ]
    return h("div", {}, about, groups)


def _card(site: Site, change: WaitingChange) -> Element:
    entry, move = change.entry, change.move
    patch = entry.patch
    is_others = entry.step is Step.SUGGESTED  # another member has it, and it does not expire
    until = (
        " · active for them; here only if you approve it"
        if is_others
        else f" · expires {moment(entry.at + LIMITS.pending_seconds)}"
    )
    who = shown(entry.maker) if is_others and entry.maker else WHO[entry.actor]
    return h(
        "article",
        {"class": "card", "aria-label": f"change {entry.number}"},
        h("h3", {}, f"{entry.number}. {patch.action} {patch.form} {shown(patch.name)}"),
        h("p", {"class": "facts"}, f"proposed by {who}{_scope(patch.scope)}{until}"),
        h("p", {}, f"Words: {WHOSE[patch.trust]} (trust {patch.trust.label}). Trial: ", _trial(site, change)),
        proof_lines(site, entry),
        diff(move),
        h("p", {}, f"Example, for tiny models: {shown(patch.example)}") if patch.example else None,
        [
            h("p", {"class": "careful"}, f"Careful: {shown(each)}")
            for each in warnings(f"{move.after or ''} {patch.example}")
        ],
        h("p", {"class": "soft"}, f"{size_of(move.after or '')}. This exact text would reach your agents."),
        _actions(site, entry) if site.form else None,
    )


def _trial(site: Site, change: WaitingChange) -> Child:
    words, tried = shown(change.verdict), change.tried
    if tried is None or not tried.verdict:
        return words
    return site.link(words, "trial", part=msgspec.json.decode(tried.verdict, type=TrialProgress).trial)


def proof_lines(site: Site, entry: Entry) -> list[Child]:
    """Why a change was made: its reason, its verdict, and where each piece of evidence stands."""
    patch = entry.patch
    lines: list[Child] = []
    if patch.reason:
        lines.append(h("p", {}, "Why: ", *_linked(site, entry)))
    if entry.note:
        lines.append(h("p", {}, "Note: ", shown(entry.note)))
    if patch.proofs:
        items = [
            h(
                "li",
                {},
                site.session(proof.session, f"session {proof.session[:8]}", message=proof.message),
                f" {proof.kind}: “{shown(proof.quote)}”",
            )
            for proof in patch.proofs
        ]
        lines.append(h("details", {}, h("summary", {}, many(len(items), "piece"), " of evidence"), h("ul", {}, items)))
    return lines


def _linked(site: Site, entry: Entry) -> list[Child]:
    """The reason of a change, with its number of sessions leading to them."""
    reason = shown(entry.patch.reason)
    found = SESSIONS.search(reason) if entry.patch.proofs else None
    if not found:
        return [reason]
    link = site.everywhere.link(found[0], "sessions", change=str(entry.number))
    return [reason[: found.start()], link, reason[found.end() :]]


def diff(move: Move) -> Element:
    """What a change does, line by line, with hidden characters shown."""
    lines = difference(move.before, move.after).split("\n")[2:]
    if sum(line.startswith("@@") for line in lines) == 1:
        lines = lines[1:]
    names = {"+": "add", "-": "gone"}
    spans = [h("span", {"class": names.get(line[:1])}, shown(line) or " ") for line in lines]
    return h("pre", {"class": "diff", "tabindex": "0", "aria-label": "the change"}, spans)


def size_of(text: str) -> str:
    lines = text.count("\n") + 1
    return f"{many(lines, 'line')}, {len(text):,} characters"


def _actions(site: Site, entry: Entry) -> Element:
    text = entry.patch.text
    editable = h(
        "details",
        {},
        h("summary", {}, "Edit"),
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
        {},
        h(
            "div",
            {"class": "actions"},
            button(site, entry, f"/waiting/{entry.number}/approve", "Approve exactly this", "main"),
            button(site, entry, f"/waiting/{entry.number}/refuse", "Refuse", "danger"),
            button(site, entry, f"/waiting/{entry.number}/never", "Never", "danger"),
        ),
        editable if entry.after else None,
    )


def button(site: Site, entry: Entry, action: str, words: str, name: str = "") -> Element:
    """A form of one button that changes something about an entry, as it was shown."""
    return h(
        "form",
        {"method": "post", "action": f"{site.base}{action}"},
        _marks(site, entry),
        h("button", {"type": "submit", "class": name or None, "aria-label": f"{words} ({entry.number})"}, words),
    )


def _marks(site: Site, entry: Entry) -> list[Child]:
    """That the form is ours, and what the person saw when they sent it."""
    return [
        h("input", {"type": "hidden", "name": "form", "value": site.form}),
        h("input", {"type": "hidden", "name": "patch", "value": entry.patch.id}),
    ]


def _scope(scope: Scope) -> str:
    return f" · for {shown(', '.join(scope.words))}" if scope.words else ""


def scope_words(scope: Scope) -> str:
    return _scope(scope).removeprefix(" · for ") or "everywhere"
