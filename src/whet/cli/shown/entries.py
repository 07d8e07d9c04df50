"""Entries of the ledger for people and for programs, the same in every command."""

from collections.abc import Iterable
from typing import Any

from whet.cli.output import moment, plain
from whet.errors import WhetError
from whet.ledger.entries import Entry
from whet.ledger.patches import Form, Patch, Scope
from whet.ledger.traces import Move, difference
from whet.sessions.exports import iso
from whet.text.quoting import visible
from whet.told import skills

COLOURS = {"+": "green", "-": "red", "@": "cyan"}
WORDS_SHOWN = 100
HEADINGS = ("id", "when", "step", "by", "maker", "what", "text")


def entry_record(entry: Entry) -> dict[str, Any]:
    patch = entry.patch
    return {
        "id": entry.number,
        "step": entry.step.value,
        "actor": entry.actor.value,
        "maker": entry.maker or None,
        "at": iso(entry.at),
        "form": patch.form.value,
        "action": patch.action.value,
        "name": patch.name,
        "text": patch.text,
        "scope": {"models": patch.scope.models, "tools": patch.scope.tools, "purposes": patch.scope.purposes},
        "trust": patch.trust.label,
        "reason": patch.reason,
        "proofs": [
            {"session": proof.session, "message": proof.message, "kind": proof.kind, "quote": proof.quote}
            for proof in patch.proofs
        ],
        "patch": patch.id,
        "before": entry.before or None,
        "after": entry.after or None,
        "about": entry.about or None,
        "batch": entry.batch or None,
        "verdict": entry.verdict or None,
        "note": entry.note or None,
    }


def entry_row(entry: Entry) -> tuple[str, ...]:
    """One line of a table; foreign words show what they hide."""
    about = f" {entry.about}" if entry.about else ""
    who = (entry.actor, visible(entry.maker))
    return (str(entry.number), moment(entry.at), f"{entry.step}{about}", *who, *patch_cells(entry.patch))


def patch_cells(patch: Patch) -> tuple[str, str]:
    """What a patch does to what, and the beginning of its words; of a skill, what it is for."""
    text = _description(patch.text) if patch.form is Form.SKILL else patch.text
    words = visible(" ".join(text[: 2 * WORDS_SHOWN].split()))[:WORDS_SHOWN]
    return f"{patch.action} {patch.form} {visible(patch.name)}", words


def entry_lines(entry: Entry, move: Move) -> Iterable[str]:
    """All that is known of an entry: what it changes, as a diff, and where it came from."""
    patch = entry.patch
    who = f"{entry.actor} ({_safe(entry.maker)})" if entry.maker else entry.actor
    yield f"[bold]{entry.number}[/bold]  {entry.step} by {who}, {moment(entry.at)}"
    yield f"{patch.action} {patch.form} {_safe(patch.name)}, trust {patch.trust.label}{_scope(patch.scope)}"
    for label, words in (("why", patch.reason), ("note", entry.note), ("verdict", entry.verdict)):
        if words:
            yield f"{label}: {_safe(words)}"
    for proof in patch.proofs:
        place = "" if proof.message is None else f", message {proof.message}"
        yield f"seen in session {_safe(proof.session)}{place}: {_safe(proof.kind)} “{_safe(proof.quote)}”"
    yield ""
    yield from diff_lines(move)


def diff_lines(move: Move) -> Iterable[str]:
    """The change as coloured lines, with nothing in it that is not shown."""
    lines = difference(move.before, move.after).splitlines()[2:]
    if sum(line.startswith("@@") for line in lines) == 1:
        lines = lines[1:]  # where there is one place only, its number tells nothing
    for line in lines:
        colour = COLOURS.get(line[:1])
        yield f"[{colour}]{_safe(line)}[/{colour}]" if colour else _safe(line)


def _description(text: str) -> str:
    try:
        return skills.read(text).description
    except WhetError:
        return text


def _scope(scope: Scope) -> str:
    parts = [*scope.models, *scope.tools, *scope.purposes]
    return f", for {_safe(', '.join(parts))}" if parts else ""


def _safe(text: str) -> str:
    return plain(visible(text))
