"""How canaries are shown: a table with the evidence so far, and the same for programs."""

from collections.abc import Iterable, Iterator

import msgspec

from whet.cli.output import console, many, moment, next_step, plain, say, table
from whet.improving.watch import WatchedRule
from whet.text.showing import shown
from whet.trials.canaries import CanaryMove, LiveComparison

HEADINGS = ("entry", "rule", "since", "share", "with", "without", "effect", "help", "harm", "decision")


def show_canaries(canaries: Iterable[WatchedRule]) -> None:
    found = tuple(canaries)
    if not found:
        say("No canaries. To start one, run `whet canary start --rule TEXT`.")
        return
    console().print(table(HEADINGS, [_row(each) for each in found], numbers=HEADINGS[3:9]))
    for line in _notes(found):
        say(line)
    next_step("nothing to do: `whet watch`, or the worker every hour, decides. `whet canary stop NAME` ends one.")


def canary_record(watched: WatchedRule) -> dict[str, object]:
    return {
        **msgspec.to_builtins(watched),
        "decision": watched.comparison.decision.value,
        "told": watched.comparison.told,
        "untold": watched.comparison.untold,
    }


def _row(watched: WatchedRule) -> tuple[object, ...]:
    found = watched.comparison
    return (
        watched.entry,
        watched.name,
        moment(watched.since),
        f"{100 * watched.share:.0f} %",
        *compared(found),
        _evidence(found.evidence_help),
        _evidence(found.evidence_harm),
        found.decision.value,
    )


def _notes(found: tuple[WatchedRule, ...]) -> Iterator[str]:
    by_score = tuple(each for each in found if not each.endpoint)
    if by_score:
        alpha = by_score[0].comparison.alpha
        yield (
            "[dim]Mean loss of sessions with and without the rule: 1 for one that ends in failure, else the share"
            " of its time that bought nothing"
            f" ({many(_sessions(by_score), 'session')}). Decided at evidence {1 / alpha:.0f}; error rate at most"
            f" {100 * alpha:g} % per side.[/]"
        )
    for each in found:
        if each.endpoint:
            yield from _endpoint_notes(each)
        if each.why:
            yield f"[bold]Entry {each.decided or each.entry}[/]: {plain(shown(each.why))}."


def _endpoint_notes(watched: WatchedRule) -> Iterator[str]:
    found = watched.comparison
    seen = found.told + found.untold
    next_look = f" Next look after {watched.next_look}." if watched.next_look else ""
    yield (
        f"[dim]{plain(watched.name)}: share of sessions in its situation ({seen} of {watched.sessions}) with its own"
        f" failure, as a detector sees it: {watched.endpoint}.{next_look}[/]"
    )
    for guard in watched.guards:
        if guard.stops:
            means = f"{_mean(guard.told)} with it, {_mean(guard.untold)} without"
            yield f"[yellow]{plain(watched.name)}: {guard.name} {means}.[/]"
    if watched.held_by and found.decision is CanaryMove.WAIT:
        yield f"[yellow]{plain(watched.name)} is not promoted: worse with it: {plain(watched.held_by)}.[/]"


def _mean(value: float | None) -> str:
    return f"{value:.2f}" if value is not None else "–"


def _sessions(found: tuple[WatchedRule, ...]) -> int:
    return sum(each.sessions for each in found)


def compared(found: LiveComparison) -> tuple[str, str, str]:
    """How sessions went with it and without it, and the effect with its interval."""
    low, high = found.interval
    effect = f"{found.effect:+.2f} ({low:+.2f} to {high:+.2f})"
    return _loss(found.loss_told, found.told), _loss(found.loss_untold, found.untold), effect


def _loss(loss: float | None, number: int) -> str:
    """A mean loss, and of how many."""
    return f"{loss:.2f} ({number})" if loss is not None else "–"


def _evidence(value: float) -> str:
    return f"{value:.2g}" if value < 1000 else "> 1000"
