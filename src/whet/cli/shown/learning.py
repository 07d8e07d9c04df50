"""What a run of a reader came to, for people and for programs."""

from collections.abc import Iterator, Mapping

import msgspec

from whet.cli.output import plain
from whet.reading.learn import LearnedProject, LearnReport
from whet.text.words import many, short

PROJECTS_SHOWN = 6


def report_lines(report: LearnReport, named: Mapping[str, str]) -> Iterator[str]:
    """A run in at most ten lines."""
    for each in report.projects[:PROJECTS_SHOWN]:
        yield _line(report.reader, each, named.get(each.project, each.project))
    if len(report.projects) > PROJECTS_SHOWN:
        yield f"{many(len(report.projects) - PROJECTS_SHOWN, 'more project')} read."
    spent = report.spent
    price = "within your plan" if report.is_in_plan else "" if spent.dollars is None else f"${spent.dollars:.2f}"
    tokens = f"{short(spent.input)} tokens in, {short(spent.output)} out"
    yield f"{many(spent.model_calls, 'call')}, {', '.join(filter(None, (tokens, price)))}."
    if report.stopped:
        left = sum(each.left for each in report.projects)
        yield f"[yellow]Ended early: {report.stopped}[/]; {many(left, 'session')} of it are unread."


def report_record(report: LearnReport) -> dict[str, object]:
    """The report for programs."""
    return dict(msgspec.to_builtins(report))


def _line(reader: str, made: LearnedProject, place: str) -> str:
    read = f"{plain(reader)} read {many(made.sessions, 'session')} of {plain(place)}"
    claims = f"{many(made.claims, 'claim')} passed the checks" if made.claims else "nothing new"
    parts = [claims]
    if made.dropped:
        parts.append(f"{many(made.dropped, 'line')} of no use")
    if made.kept or made.refused:
        parts.append(f"of the lessons that they make, the sceptic let {made.kept} stand and dropped {made.refused}")
    return f"{read}: {', '.join(parts)}."
