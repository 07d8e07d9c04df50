"""Entries of the ledger, for people and for programs, the same in every command."""

import contextlib
from collections.abc import Callable, Iterable
from typing import Any

import msgspec
from msgspec.structs import asdict, replace

from whet.cli.output import cautions, fields, labelled, moment, plain, reviewed
from whet.cli.shown.trials import result_lines
from whet.errors import WhetError
from whet.ledger.entries import Entry
from whet.ledger.folding import Move, difference
from whet.ledger.patches import Form, Patch, Scope
from whet.lessons.waiting_words import unquoted, who_made
from whet.own.told import skills
from whet.sessions.exports import iso
from whet.store.rows import decoded_or_none
from whet.text.showing import shown
from whet.trials.design import TrialProgress

COLOURS = {"+": "green", "-": "red", "@": "cyan"}
WORDS_SHOWN = 100
EXAMPLE = "example, for tiny models: "


def entry_record(entry: Entry) -> dict[str, Any]:
    patch = entry.patch
    return {
        "id": entry.number,
        **fields(entry, "step", "actor"),
        "maker": entry.maker or None,
        "at": iso(entry.at),
        **fields(patch, "form", "action", "name", "text"),
        "example": patch.example or None,
        "scope": scope_record(patch.scope),
        "trust": patch.trust.label,
        "reason": patch.reason,
        "origin": msgspec.to_builtins(patch.origin),
        "proofs": [fields(proof, "session", "message", "kind", "quote") for proof in patch.proofs],
        "patch": patch.id,
        **{name: getattr(entry, name) or None for name in ("before", "after", "about", "batch", "verdict", "note")},
    }


def scope_record(scope: Scope) -> dict[str, Any]:
    return {**asdict(scope), "project": scope.project or None}


def scope_words(scope: Scope, named: Callable[[str], str]) -> str:
    """Where a rule holds, in words, with its project as people read it; empty for everywhere."""
    return ", ".join(replace(scope, project=named(scope.project)).words)


def patch_cells(patch: Patch) -> tuple[str, str]:
    """What a patch does to what, and the beginning of its words; of a skill, what it is for."""
    text = patch.text
    if patch.form is Form.SKILL:
        with contextlib.suppress(WhetError):  # what cannot be read says itself as much as there is to say
            text = skills.read(text).description
    words = " ".join(shown(text[: 2 * WORDS_SHOWN]).split())[:WORDS_SHOWN]
    return f"{patch.action} {patch.form} {shown(patch.name)}", words


def entry_lines(entry: Entry, move: Move, named: Callable[[str], str]) -> Iterable[str]:
    """All that is known of an entry: what it changes, as a diff, and where it came from."""
    patch, scope = entry.patch, scope_words(entry.patch.scope, named)
    yield f"[bold]{entry.number}[/bold]  {entry.step} by {plain(shown(who_made(entry)))}, {moment(entry.at)}"
    where = f"{patch.name}, trust {patch.trust.label}{f', for {scope}' if scope else ''}"
    yield from labelled(f"{patch.action} {patch.form} ", where)
    for label, words in ((EXAMPLE, patch.example), ("why: ", patch.reason), ("note: ", entry.note)):
        if words:
            yield from labelled(label, words)
    if entry.verdict:  # words that are no trial's record are shown as they are
        tried = decoded_or_none(entry.verdict.encode(), TrialProgress)
        lines = result_lines(replace(tried, entry=entry.number)) if tried else labelled("verdict: ", entry.verdict)
        yield from lines
    for proof in patch.proofs:
        place = "" if proof.message is None else f", message {proof.message}"
        quote = f" “{proof.quote}”" if proof.quote else ""
        yield from labelled("seen in ", f"session {proof.session}{place}: {proof.kind}{quote}")
    if unsaid := unquoted(patch):
        yield from labelled("in no quote: ", f"{', '.join(unsaid)} (the words of whoever wrote it)")
    yield ""
    if move.after and move.before == move.after:  # only where or when it is told changes
        yield from labelled("the same words: ", move.after or "")
    yield from diff_lines(difference(move.before, move.after))
    yield from cautions(move.after or "")


def diff_lines(diff: str) -> Iterable[str]:
    """A unified diff without its head as coloured lines, with nothing in it that is not shown."""
    lines = diff.split("\n")[2:]
    if sum(line.startswith("@@") for line in lines) == 1:
        lines = lines[1:]  # where there is one place only, its number tells nothing
    for line in lines:
        yield from reviewed(line, style=COLOURS.get(line[:1], ""))
