"""How templates in measurement are shown: a table with the evidence so far, and the same for programs."""

from collections.abc import Sequence

import msgspec

from whet.cli.output import console, moment, plain, say, table
from whet.cli.shown.canaries import compared
from whet.improving.template_watch import Measured
from whet.text.showing import shown
from whet.trials.live_templates import ALPHA, LEAST_EFFECT

HEADINGS = ("template", "model", "since", "share", "with", "without", "effect", "verdict")


def show_measured(templates: Sequence[Measured]) -> None:
    """Nothing where no session has drawn for a template."""
    if not templates:
        return
    console().print(table(HEADINGS, [_row(each) for each in templates], numbers=HEADINGS[3:7]))
    say(
        "[dim]Mean loss of sessions with and without the template: 1 for one that ends in failure, else the share of"
        " its time that bought nothing. A template that saves less than"
        f" {LEAST_EFFECT:g} is retired; error rate at most {100 * ALPHA:g} %.[/]"
    )
    for why in dict.fromkeys((each.decided, each.why) for each in templates if each.why):
        entry, words = why
        say(f"[bold]{f'Entry {entry}' if entry else 'Note'}[/]: {plain(shown(words))}.")


def measured_record(measured: Measured) -> dict[str, object]:
    return {
        **msgspec.to_builtins(measured),
        "told": measured.comparison.told,
        "untold": measured.comparison.untold,
    }


def _row(measured: Measured) -> tuple[object, ...]:
    found = measured.comparison
    return (
        measured.name,
        measured.model,
        moment(measured.since),
        f"{100 * measured.share:.0f} %",
        *compared(found),
        measured.judgement.value,
    )
