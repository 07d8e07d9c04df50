"""Which cases can show anything: `whet cases run --screen`."""

from whet.cli.case_making import bar
from whet.cli.output import console, many, print_json, say, table
from whet.store.case_files import folders_of
from whet.store.home import Home
from whet.trials.cases import Case


def screen_cases(
    home: Home,
    found: tuple[Case, ...],
    wanted: tuple[str, ...],
    *,
    times: int,
    model: str,
    temperature: float | None,
    as_json: bool,
) -> int:
    """Run cases without any change, in attempts that no trial counts, and say which always pass."""
    from msgspec.structs import replace

    from whet.proving.screening import screen
    from whet.store.settings_file import load
    from whet.trials.attempts import AttemptConditions

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
