"""Cases made of what is there: commits, a session, the sessions that show a lesson; and where they are kept."""

import os
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

import click

from whet.cli.options import json_option
from whet.cli.output import console, counted_bar, give, plain, print_json, say, table
from whet.errors import WhetError
from whet.store.case_files import FOLDER, keep_case, keep_text
from whet.store.home import find_home, prepare_home
from whet.text.words import many

if TYPE_CHECKING:
    from whet.proving.cases_from_commits import CommitsAsked, MadeOfCommit


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


@click.command(
    "add",
    epilog="Example: whet cases add . --last 30",
    help="Create cases of what is there; what cannot be made is listed with the reason. Exit code 1 if none is kept."
    "\n\nOf a repository's commits that change code and tests: the state before the commit, its message as the task, "
    "and as the check its tests, which the agent does not see. Each is run in the sandbox, and kept if its tests fail "
    "before the commit and pass after it."
    "\n\nOf a session, by its ID: the step where a call failed and another worked later, and the whole task, with the "
    "repository as it was when the session began, and the tests of the commit that came of it or the last check that "
    "passed; without the repository, the files on record."
    "\n\nOf each of the latest sessions that show a lesson, with --lesson: the conversation up to the call that "
    "failed, and the demand that the next call does what the one did that worked. A trial leaves out those of the "
    "sessions that the change was made from.",
)
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
@json_option
def add_cases(
    source: str,
    name: str,
    lesson: str,
    folder: Path | None,
    dry_run: bool,
    as_json: bool,
    **given: object,
) -> int:
    path = Path(source)
    if name:
        return _write_example(name, folder, as_json)
    if lesson:
        last = given["last"]
        assert isinstance(last, int)
        return _of_lesson(lesson, last, folder, as_json)
    is_session = not path.exists() and "/" not in source
    if is_session:
        return _of_session(source, folder, dry_run=dry_run, as_json=as_json)
    return _of_commits(path, folder, dry_run=dry_run, as_json=as_json, **given)


def _write_example(name: str, folder: Path | None, as_json: bool) -> int:
    from whet.shipped.guidance.cases import example

    path = keep_text(cases_folder(folder), name, example())
    told = f"Wrote {plain(path)}. Edit it, then: whet cases run {plain(name)}"
    return give({"case": name, "path": str(path)}, (told,), as_json=as_json)


def _of_lesson(lesson: str, last: int, folder: Path | None, as_json: bool) -> int:
    from whet.cli.analysed import lesson_named
    from whet.improving.lessons_to_try import cases_of_session
    from whet.store.opening import opened

    home = find_home(os.environ)
    kept: dict[str, str] = {}
    left_out: Counter[str] = Counter()
    with opened(home) as database:
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
    give({"cases": kept, "left_out": dict(left_out)}, (told, *why), as_json=as_json)
    return 0 if kept else 1


def _of_session(session: str, folder: Path | None, *, dry_run: bool, as_json: bool) -> int:
    from whet.cli.options import own_store
    from whet.proving.cases_from_sessions import cases_from
    from whet.store.listing import find
    from whet.store.sessions import is_believed, load

    with own_store() as (home, database):
        found = find(database, session)
        made = cases_from(home, load(database, found), is_believed=is_believed(database, found))
    paths = {case.name: "" if dry_run else str(keep_case(cases_folder(folder), case)) for case in made.cases}
    lines = (f"{plain(name)}: {plain(path or 'can be made')}" for name, path in paths.items())
    why = (f"[dim]{plain(reason[:1].upper() + reason[1:])}.[/]" for reason in made.left_out)
    give({"cases": paths, "left_out": made.left_out}, (*lines, *why), as_json=as_json)
    return 0 if paths else 1


def _of_commits(repository: Path, folder: Path | None, *, dry_run: bool, as_json: bool, **given: object) -> int:
    from whet.proving.cases_from_commits import cases_from_commits, chosen_commits, sessions_way

    home = find_home(os.environ)
    asked = _asked(repository, **given)
    made: list[MadeOfCommit] = []
    most = len(chosen_commits(asked))
    with counted_bar("Trying commits", most) as done:
        for each in cases_from_commits(home, asked, known=lambda: sessions_way(home, asked.repository)):
            made.append(each)
            done(len(made), most)
    target = None if dry_run else cases_folder(folder)
    kept = {each.case.name: _keep(target, each) for each in made if each.case is not None}
    return _show(made, kept, as_json=as_json)


def _asked(repository: Path, **given: object) -> "CommitsAsked":
    from whet.proving.cases_from_commits import CommitsAsked
    from whet.proving.repositories import root_of
    from whet.trials.ways_to_test import own_way

    named, test = given["named"], given["test"]
    assert isinstance(named, tuple)
    assert isinstance(test, str)
    assert isinstance(given["last"], int)
    return CommitsAsked(
        root_of(repository.absolute()),
        last=given["last"],
        named=named,
        test=own_way(test) if test else None,
        installs=_installs() if given["install"] else None,
        setup=tuple(given["setup"]),  # type: ignore[arg-type]  # click gives a tuple
        environment=tuple(_variable(text) for text in given["variables"]),  # type: ignore[attr-defined]  # the same
    )


def _installs() -> Path:
    """Where dependencies are kept: beside the home, which no command may look into."""
    cache = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    return Path(cache, "whet", "dependencies").absolute()


def _variable(text: str) -> tuple[str, str]:
    name, separator, value = text.partition("=")
    if not separator or not name.isidentifier():
        raise WhetError(f"{text} is not a variable.", advice="Give it as NAME=VALUE.")
    return name, value


def _keep(target: Path | None, made: "MadeOfCommit") -> str:
    assert made.case is not None
    if target is None:
        return ""
    if (target / f"{made.case.name}.toml").exists():
        return str(target / f"{made.case.name}.toml")
    return str(keep_case(target, made.case))


def _show(made: "list[MadeOfCommit]", kept: dict[str, str], *, as_json: bool) -> int:
    from whet.proving.cases_from_commits import TRIED

    reasons = Counter(each.left_out for each in made if each.left_out is not None)
    if as_json:
        told = [
            {"commit": each.commit.id, "case": each.case.name if each.case else None, "left_out": each.left_out,
             "said": each.said}
            for each in made
        ]  # fmt: skip
        print_json({"cases": kept, "left_out": {why.value: count for why, count in reasons.items()}, "commits": told})
        return 0 if kept else 1
    for name, path in kept.items():
        say(f"{plain(name)}: {plain(path or 'can be made')}")
    tried = [each for each in made if each.left_out in TRIED]
    for why, count in reasons.most_common():
        if why not in TRIED:
            say(f"[dim]{many(count, 'commit')} left out: {why.value}.[/]")
    if tried:
        rows = [(each.commit.id[:8], each.commit.message.partition("\n")[0][:40], each.reason) for each in tried]
        console().print(table(("commit", "message", "left out, because"), rows))
    if kept:
        counted = f"{many(len(kept), 'case')} of {many(len(made), 'commit')}"
        say(f"{counted}. To see how often they pass now: whet cases run tag:commits")
    else:
        say("No case. Try --test COMMAND (how tests run), --setup COMMAND (what they need) or a larger --last.")
    return 0 if kept else 1
