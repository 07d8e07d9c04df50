"""whet cases screen: which cases can show anything."""

import os

import click

from whet.cli.case_making import bar
from whet.cli.options import json_option
from whet.cli.output import console, many, print_json, say, table
from whet.errors import WhetError
from whet.store.case_files import chosen, folders_of
from whet.store.home import find_home


@click.command(
    "screen",
    epilog="Example: whet cases screen tag:commits --times 2",
    help="Run cases without any change, in attempts that no trial counts. A case that passes every time cannot show "
    "that a change helps: `whet try` leaves it out, and keeps a few as standing cases that guard against harm.",
)
@click.argument("wanted", nargs=-1, metavar="[WHICH]...")
@click.option("--times", type=click.IntRange(1, 20), default=1, show_default=True, help="Attempts per case.")
@click.option("--model", default="", help="Model to use instead of the one in the settings, as provider:name.")
@click.option("--temperature", type=click.FloatRange(0), help="Sampling temperature.")
@json_option
def screen_command(wanted: tuple[str, ...], times: int, model: str, temperature: float | None, as_json: bool) -> int:
    from msgspec.structs import replace

    from whet.proving.screening import screen
    from whet.store.settings_file import load
    from whet.trials.attempts import AttemptConditions

    home = find_home(os.environ)
    found = chosen(home.folder, wanted)
    if not found:
        raise WhetError("No cases found.", advice="To create some, run `whet cases from-commits`.")
    settings = load(home)
    sampling = settings.sampling if temperature is None else replace(settings.sampling, temperature=temperature)
    conditions = AttemptConditions(model or settings.model, sampling, hidden=folders_of(home.folder, wanted))
    rows: list[tuple[str, int, int]] = []
    with bar("Screening", len(found)) as advance:
        for case, attempts in screen(home, found, conditions, times=times):
            counted = [each for each in attempts if not each.invalid]
            rows.append((case.name, sum(each.measures.passed for each in counted), len(counted)))
            advance()
    always = [name for name, passed, attempts in rows if attempts and passed == attempts]
    if as_json:
        told = [{"case": name, "passed": passed, "attempts": attempts} for name, passed, attempts in rows]
        print_json({"cases": told, "always_pass": always})
        return 0
    console().print(table(("case", "passed"), [(name, f"{passed} of {attempts}") for name, passed, attempts in rows]))
    say(f"{many(len(rows) - len(always), 'case')} can show something; {len(always)} always passed.")
    return 0
