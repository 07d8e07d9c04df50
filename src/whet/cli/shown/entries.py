"""Entries of the ledger and rules for people and for programs, the same in every command."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import msgspec
from msgspec.structs import replace

from whet.cli.output import cautions, labelled, moment, plain, reviewed
from whet.cli.shown.trials import result_lines
from whet.errors import WhetError
from whet.ledger.entries import Actor, Entry, Item
from whet.ledger.origins import PatchWriter
from whet.ledger.patches import Form, Patch, RuleSituation, Scope
from whet.ledger.traces import Move, difference
from whet.lessons.claim_quotes import unquoted_words
from whet.lessons.following import Following, situation_of
from whet.own.told import skills
from whet.sessions.exports import iso
from whet.store.rows import decoded_or_none
from whet.telling.targets.sync_log import FileStay
from whet.text.showing import shown
from whet.text.words import many
from whet.trials.design import TrialProgress
from whet.trials.ladder import is_unheeded

COLOURS = {"+": "green", "-": "red", "@": "cyan"}
UNSAID_SHOWN = 20
WORDS_SHOWN = 100
EXAMPLE = "example, for tiny models: "
BY_WHOM = {
    Actor.PERSON: "a person",
    Actor.POLICY: "Whet itself",
    Actor.WATCH: "Whet's watch",
    Actor.AGENT: "an agent",
}


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
        "example": patch.example or None,
        "scope": scope_record(patch.scope),
        "trust": patch.trust.label,
        "reason": patch.reason,
        "origin": msgspec.to_builtins(patch.origin),
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


def scope_record(scope: Scope) -> dict[str, Any]:
    return {
        "models": scope.models,
        "tools": scope.tools,
        "purposes": scope.purposes,
        "project": scope.project or None,
        "at_start": scope.at_start,
        "at_call": scope.at_call,
    }


def scope_words(scope: Scope, named: Callable[[str], str]) -> str:
    """Where a rule holds, in words, with its project as people read it; empty for everywhere."""
    return ", ".join(replace(scope, project=named(scope.project)).words)


def patch_cells(patch: Patch) -> tuple[str, str]:
    """What a patch does to what, and the beginning of its words; of a skill, what it is for."""
    text = _description(patch.text) if patch.form is Form.SKILL else patch.text
    words = " ".join(shown(text[: 2 * WORDS_SHOWN]).split())[:WORDS_SHOWN]
    return f"{patch.action} {patch.form} {shown(patch.name)}", words


def unquoted(patch: Patch) -> tuple[str, ...]:
    """The words of a rule that a model wrote from quotes, and that stand in none of them."""
    is_derived = patch.origin.writer is PatchWriter.MODEL and patch.form is Form.RULE and patch.proofs
    return unquoted_words(patch.text, (proof.quote for proof in patch.proofs))[:UNSAID_SHOWN] if is_derived else ()


def entry_lines(entry: Entry, move: Move, named: Callable[[str], str]) -> Iterable[str]:
    """All that is known of an entry: what it changes, as a diff, and where it came from."""
    patch = entry.patch
    who = f"{BY_WHOM[entry.actor]} ({plain(shown(entry.maker))})" if entry.maker else BY_WHOM[entry.actor]
    yield f"[bold]{entry.number}[/bold]  {entry.step} by {who}, {moment(entry.at)}"
    where = f"{patch.name}, trust {patch.trust.label}{_scope(scope_words(patch.scope, named))}"
    yield from labelled(f"{patch.action} {patch.form} ", where)
    for label, words in ((EXAMPLE, patch.example), ("why: ", patch.reason), ("note: ", entry.note)):
        if words:
            yield from labelled(label, words)
    yield from _verdict_lines(entry)
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


def _verdict_lines(entry: Entry) -> Iterable[str]:
    """What the trial behind an entry says, as sentences; words that are no trial's record as they are."""
    if not entry.verdict:
        return
    progress = decoded_or_none(entry.verdict.encode(), TrialProgress)
    if progress is None:
        yield from labelled("verdict: ", entry.verdict)
    else:
        yield from result_lines(replace(progress, entry=entry.number))


def diff_lines(diff: str) -> Iterable[str]:
    """A unified diff without its head as coloured lines, with nothing in it that is not shown."""
    lines = diff.split("\n")[2:]
    if sum(line.startswith("@@") for line in lines) == 1:
        lines = lines[1:]  # where there is one place only, its number tells nothing
    for line in lines:
        yield from reviewed(line, style=COLOURS.get(line[:1], ""))


def _description(text: str) -> str:
    try:
        return skills.read(text).description
    except WhetError:
        return text


def _scope(words: str) -> str:
    return f", for {words}" if words else ""


def following_record(rule: Item, fared: Following, stays: Sequence[FileStay]) -> dict[str, Any]:
    situation = situation_of(rule)
    return {
        "files": [{"file": each.file, "since": iso(each.since), "until": iso(each.until)} for each in stays],
        "situation": msgspec.structs.asdict(situation) if situation != RuleSituation() else None,
        "following": {**msgspec.structs.asdict(fared), "told_unknown": fared.unknown},
    }


def rule_lines(rule: Item, where: str, grounds: str, fared: Following, stays: Sequence[FileStay]) -> Iterator[str]:
    since = f"trust {rule.trust.label}, since {moment(rule.since)}, {grounds}"
    yield from labelled(f"[{rule.number}] ", f"{rule.name}{f', for {where}' if where else ''}")
    yield from reviewed(rule.text)
    if rule.example:
        yield from labelled(f"   {EXAMPLE}", rule.example)
    yield f"   [dim]{plain(since)}[/]"
    situation = situation_of(rule)
    for label, words in (("goes wrong: ", situation.call), ("with: ", situation.error), ("works: ", situation.fix)):
        if words:
            yield from labelled(f"   {label}", words)
    for stay in stays:
        until = f" until {moment(stay.until)}" if stay.until is not None else ""
        yield f"   [dim]in {plain(stay.file)} since {moment(stay.since)}{until}[/]"
    yield f"   {following_sentence(fared) if situation != RuleSituation() else 'no situation on record'}"
    if is_unheeded(rule, fared):
        yield "   [yellow]Told and mostly not followed. To have the next step proposed, run `whet try`.[/]"
    yield ""


def following_sentence(fared: Following) -> str:
    """How a rule fared, in a line."""
    if not fared.came_up:
        return f"situation in none of {many(fared.looked, 'session')} since"
    unknown = f" (unknown in {fared.unknown})" if fared.unknown else ""
    return (
        f"situation in {fared.came_up} of {many(fared.looked, 'session')} since, told in {fared.told}{unknown},"
        f" followed in {fared.followed}{f' ({fared.told_followed} of those told)' if fared.told else ''}"
        f"{_reminded(fared)}"
    )


def _reminded(fared: Following) -> str:
    return f", reminded in {fared.reminded} ({fared.reminded_followed} followed it then)" if fared.reminded else ""
