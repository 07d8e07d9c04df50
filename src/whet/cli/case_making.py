"""Cases made of what is there: commits, a session, the sessions that show a lesson; and where they are kept."""

import os
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import click
from rich.table import Table

from whet.cli.analysed import lesson_named
from whet.cli.options import json_command, own_store
from whet.cli.output import counted_bar, give, next_lines, plain, table
from whet.errors import WhetError
from whet.improving.lessons_to_try import cases_of_session
from whet.proving.cases_from_commits import (
    TRIED,
    CommitsAsked,
    LeftOut,
    MadeOfCommit,
    cases_from_commits,
    chosen_commits,
    sessions_way,
)
from whet.proving.cases_from_sessions import cases_from
from whet.proving.repositories import root_of
from whet.shipped.guidance.cases import example
from whet.store.case_files import FOLDER, keep_case, keep_text
from whet.store.home import find_home, prepare_home
from whet.store.listing import find
from whet.store.sessions import is_believed, load
from whet.text.words import many
from whet.trials.cases import Case
from whet.trials.ways_to_test import own_way

folder_option = click.option(
    "--folder",
    type=click.Path(path_type=Path, file_okay=False),
    help="Folder with the cases. Default: the home folder's.",
)


def cases_folder(folder: Path | None) -> Path:
    """Where cases are kept, made where it is not there yet."""
    if folder is not None:
        folder.mkdir(parents=True, exist_ok=True)
        return folder.absolute()
    home = find_home(os.environ)
    prepare_home(home)
    return home.folder / FOLDER


@json_command("add", epilog="Example: whet cases add . --last 30")
@click.argument("source", default=".", metavar="[REPO|ID]")
@click.option("--new", "name", default="", metavar="NAME", help="Only write a commented example case to edit.")
@click.option("--lesson", default="", metavar="ID", help="The lesson whose sessions are meant.")
@click.option(
    "--last",
    type=click.IntRange(1, 10_000),
    default=20,
    show_default=True,
    help="How many commits or sessions.",
)
@click.option(
    "--commit", "named", multiple=True, metavar="REV", help="A commit to use instead of the last. Repeatable."
)
@click.option("--test", default="", metavar="COMMAND",
              help="How to run tests; {files} stands for the test files. Default: detected.")  # fmt: skip
@click.option("--install", is_flag=True,
              help="Install what lock files name, in the sandbox, with the network; tests run offline.")  # fmt: skip
@click.option("--setup", multiple=True, metavar="COMMAND", help="Run in each workspace before the agent. Repeatable.")
@click.option("--env", "variables", multiple=True, metavar="NAME=VALUE", help="Variable for its commands. Repeatable.")
@folder_option
@click.option("--dry-run", is_flag=True, help="Show which cases can be created, without saving them.")
def add_cases(
    source: str,
    name: str,
    lesson: str,
    last: int,
    named: tuple[str, ...],
    test: str,
    install: bool,
    setup: tuple[str, ...],
    variables: tuple[str, ...],
    folder: Path | None,
    dry_run: bool,
) -> int:
    """Create cases of what is there; what cannot be made is listed with the reason. Exit code 1 if none is kept.

    Of a repository's commits that change code and tests: the state before the commit, its message as the task, and as
    the check its tests, which the agent does not see. Each is run in the sandbox, and kept if its tests fail before the
    commit and pass after it.

    Of a session, by its ID: the step where a call failed and another worked later, and the whole task, with the
    repository as it was when the session began, and the tests of the commit that came of it or the last check that
    passed; without the repository, the files on record.

    Of each of the latest sessions that show a lesson, with --lesson: the conversation up to the call that failed, and
    the demand that the next call does what the one did that worked. A trial leaves out those of the sessions that the
    change was made from.
    """
    if name:
        path = keep_text(cases_folder(folder), name, example())
        told = f"Wrote {plain(path)}. Edit it, then: whet cases run {plain(name)}"
        return give({"case": name, "path": str(path)}, (told,))
    if lesson:
        return _of_lesson(lesson, last, folder)
    if not Path(source).exists() and "/" not in source:
        return _of_session(source, folder, dry_run=dry_run)
    asked = CommitsAsked(
        root_of(Path(source).absolute()),
        last=last,
        named=named,
        test=own_way(test) if test else None,
        installs=_installs() if install else None,
        setup=setup,
        environment=tuple(_variable(text) for text in variables),
    )
    return _of_commits(asked, None if dry_run else cases_folder(folder))


def _of_lesson(lesson: str, last: int, folder: Path | None) -> int:
    kept: dict[str, str] = {}
    left_out: Counter[str] = Counter()
    with own_store() as (home, database):
        found = lesson_named(home, database, lesson)
        latest = found.evidence.session_ids[-last:]
        with counted_bar("Making cases", len(latest)) as done:
            for number, id in enumerate(latest, 1):
                made = cases_of_session(home, database, found, id, kinds=("step",))
                kept |= {case.name: str(keep_case(cases_folder(folder), case)) for case in made.cases}
                left_out.update(made.left_out)
                done(number, len(latest))
    told = f"{many(len(kept), 'case')} from {many(len(latest), 'session')}: {plain(', '.join(kept)) or 'none'}."
    why = (f"[dim]{count:,} left out: {plain(reason)}.[/]" for reason, count in left_out.most_common())
    then = next_lines("`whet try --rule TEXT --cases NAME` tests a rule on them.") if kept else ()
    return give({"cases": kept, "left_out": dict(left_out)}, (told, *why, *then), code=int(not kept))


def _of_session(session: str, folder: Path | None, *, dry_run: bool) -> int:
    with own_store() as (home, database):
        found = find(database, session)
        made = cases_from(home, load(database, found), is_believed=is_believed(database, found))
    kept = {case.name: "" if dry_run else str(keep_case(cases_folder(folder), case)) for case in made.cases}
    why = (f"[dim]{plain(reason[:1].upper() + reason[1:])}.[/]" for reason in made.left_out)
    return give({"cases": kept, "left_out": made.left_out}, (*_kept_lines(kept), *why), code=int(not kept))


def _of_commits(asked: CommitsAsked, target: Path | None) -> int:
    """Cases of commits, kept in the folder; without one, only shown."""
    home = find_home(os.environ)
    made: list[MadeOfCommit] = []
    most = len(chosen_commits(asked))
    with counted_bar("Trying commits", most) as done:
        for each in cases_from_commits(home, asked, known=lambda: sessions_way(home, asked.repository)):
            made.append(each)
            done(len(made), most)
    kept = {each.case.name: _keep(target, each.case) for each in made if each.case is not None}
    reasons = Counter(each.left_out for each in made if each.left_out is not None)
    commits = [
        {"commit": each.commit.id, "case": each.case and each.case.name, "left_out": each.left_out, "said": each.said}
        for each in made
    ]
    record = {"cases": kept, "left_out": {why.value: count for why, count in reasons.items()}, "commits": commits}
    return give(record, _commit_lines(made, kept, reasons), code=int(not kept))


def _installs() -> Path:
    """Where dependencies are kept: beside the home, which no command may look into."""
    cache = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    return Path(cache, "whet", "dependencies").absolute()


def _variable(text: str) -> tuple[str, str]:
    name, separator, value = text.partition("=")
    if not separator or not name.isidentifier():
        raise WhetError(f"{text} is not a variable.", advice="Give it as NAME=VALUE.")
    return name, value


def _keep(target: Path | None, case: Case) -> str:
    if target is None:
        return ""
    standing = target / f"{case.name}.toml"
    return str(standing if standing.exists() else keep_case(target, case))


def _kept_lines(kept: dict[str, str]) -> Iterator[str]:
    yield from (f"{plain(name)}: {plain(path or 'can be made')}" for name, path in kept.items())


def _commit_lines(made: list[MadeOfCommit], kept: dict[str, str], reasons: Counter[LeftOut]) -> Iterator[str | Table]:
    yield from _kept_lines(kept)
    for why, count in reasons.most_common():
        if why not in TRIED:
            yield f"[dim]{many(count, 'commit')} left out: {why.value}.[/]"
    tried = [each for each in made if each.left_out in TRIED]
    if tried:
        rows = [(each.commit.id[:8], each.commit.message.partition("\n")[0][:40], each.reason) for each in tried]
        yield table(("commit", "message", "left out, because"), rows)
    if kept:
        counted = f"{many(len(kept), 'case')} of {many(len(made), 'commit')}"
        yield f"{counted}. To see how often they pass now: whet cases run tag:commits"
    else:
        yield "No case. Try --test COMMAND (how tests run), --setup COMMAND (what they need) or a larger --last."
