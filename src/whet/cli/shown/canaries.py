"""How canaries are shown: a table with the evidence so far, and the same for programs."""

from collections.abc import Iterable, Iterator

import msgspec

from whet.cli.output import console, many, moment, plain, say, table
from whet.improving.watch import WatchedRule
from whet.text.showing import shown
from whet.trials.canaries import LiveComparison

HEADINGS = ("entry", "rule", "since", "share", "with", "without", "effect", "help", "harm", "decision")


def show_canaries(canaries: Iterable[WatchedRule]) -> None:
    found = tuple(canaries)
    if not found:
        say("No canaries. To start one, run `whet canary start --rule TEXT`.")
        return
    console().print(table(HEADINGS, [_row(each) for each in found], numbers=HEADINGS[3:9]))
    for line in _notes(found):
        say(line)


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
    alpha = found[0].comparison.alpha
    yield (
        f"[dim]Mean failure score, 0 to 1, of sessions with and without the rule ({many(_sessions(found), 'session')})."
        f" Decided at evidence {1 / alpha:.0f}; error rate at most {100 * alpha:g} % per side.[/]"
    )
    for each in found:
        if each.why:
            yield f"[bold]Entry {each.decided or each.entry}[/]: {plain(shown(each.why))}."


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
