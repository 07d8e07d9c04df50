"""Changes that wait for a person, as that person and as programs see them."""

from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import Any

from msgspec.structs import replace

from whet.cli.output import many, moment, plain
from whet.cli.shown.entries import BY_WHOM, EXAMPLE, diff_lines, entry_record, scope_words, unquoted
from whet.cli.shown.reviewing import cautions, labelled
from whet.ledger.entries import Entry, Step
from whet.ledger.patch_faults import LIMITS
from whet.ledger.patches import Patch
from whet.ledger.traces import difference
from whet.ledger.waiting import WaitingChange, in_order, last_trial
from whet.sessions.exports import iso
from whet.text.showing import shown

QUOTES_SHOWN = 3
__all__ = ["QUOTES_SHOWN", "WaitingChange", "change_lines", "in_order", "last_trial", "waiting_lines", "waiting_record"]


def waiting_record(change: WaitingChange) -> dict[str, Any]:
    entry, tried = change.entry, change.tried
    until = None if entry.step is Step.SUGGESTED else iso(entry.at + LIMITS.pending_seconds)
    trial = {"entry": tried.number, "ruling": tried.step.value, "note": tried.note or None} if tried else None
    return {**entry_record(entry), "until": until, "project": change.project or None, "tried": trial}


def waiting_lines(changes: Sequence[WaitingChange]) -> Iterator[str]:
    """All that waits, by project, each with its exact text."""
    for group, members in groupby(changes, key=lambda change: change.group):
        yield f"[bold]{plain(shown(group))}[/]"
        for change in members:
            yield from change_lines(change, quotes=QUOTES_SHOWN)


def change_lines(change: WaitingChange, *, quotes: int) -> Iterator[str]:
    """What a person decides on: the exact words, whose they are, the evidence, the verdict."""
    patch = change.entry.patch
    scope = scope_words(replace(change.scope, project=""), str)  # its group names the project
    yield from labelled(f"{change.entry.number}  {patch.action} {patch.form} ", f"{patch.name}{_for(scope)}")
    yield from diff_lines(difference(change.move.before, change.move.after))
    yield from cautions(f"{change.move.after or ''}\n{patch.example}")
    if patch.example:
        yield from labelled(f"   {EXAMPLE}", patch.example)
    yield from labelled("   words: ", f"{change.whose}{_proposer(change.entry)}")
    yield from labelled("   why: ", f"{change.why or 'not said'} · {_counts(patch)}")
    for proof in patch.proofs[:quotes]:
        place = "" if proof.message is None else f" #{proof.message}"
        yield from labelled(f"   {proof.session[:8]}{place} ", f"{proof.kind} “{proof.quote}”")
    if unsaid := unquoted(patch):
        yield from labelled("   in no quote: ", f"{', '.join(unsaid)} (the words of whoever wrote it)")
    if len(patch.proofs) > quotes:
        yield f"   [dim]… and {len(patch.proofs) - quotes} more: whet pending show {change.entry.number}[/]"
    yield from labelled("   trial: ", change.verdict)
    yield f"   [dim]{_until(change.entry)}[/]"
    yield ""


def _for(scope: str) -> str:
    return f", for {scope}" if scope else ""


def _proposer(entry: Entry) -> str:
    return f", proposed by {BY_WHOM[entry.actor]}{f' ({entry.maker})' if entry.maker else ''}"


def _counts(patch: Patch) -> str:
    if not patch.proofs:
        return "no quotes"
    sessions = len({proof.session for proof in patch.proofs})
    return f"{many(len(patch.proofs), 'quote')} from {many(sessions, 'session')}"


def _until(entry: Entry) -> str:
    if entry.step is Step.SUGGESTED:
        return f"active for {plain(shown(entry.maker))}, another member; here only if you approve it"
    return f"expires {moment(entry.at + LIMITS.pending_seconds)}"
