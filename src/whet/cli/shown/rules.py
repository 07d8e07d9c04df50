"""Rules with what they are for and how they fared, for people and for programs."""

from collections.abc import Iterator, Sequence
from typing import Any

import msgspec

from whet.cli.output import many, moment, plain
from whet.cli.shown.entries import EXAMPLE
from whet.cli.shown.reviewing import labelled, reviewed
from whet.ledger.entries import Item
from whet.ledger.patches import RuleSituation
from whet.lessons.following import Following, situation_of
from whet.sessions.exports import iso
from whet.targets.sync_log import FileStay
from whet.trials.ladder import is_unheeded


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
