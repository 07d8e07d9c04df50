"""The trouble of every session is kept with its analysis: what is read back is what was found, copies apart."""

import ast
from pathlib import Path

import pytest
from msgspec.structs import replace

import whet
from conversations import agent, call, conversation, timed, user
from whet.sessions.transcripts import Purpose, Transcript
from whet.store import analyses, sessions
from whet.store.database import Database
from whet.store.derived import FINDING, LEARNING, TEACHING, code_version
from whet.store.listing import Filters, find
from whet.store.rows import Provenance, prepare
from whet.store.troubles import session_troubles, trouble_of_session
from whet.trouble.values import TroubleKind


def keep(database: Database, *transcripts: Transcript) -> None:
    for each in transcripts:
        sessions.keep(database, prepare(each), Provenance(f"/{each.native_id}", 1.0, 2.0))
    analyses.refresh(database, progress=lambda _: None, processors=1)


def test_what_is_kept_is_what_is_found(database: Database, examples: Path) -> None:
    keep(database, *(each for each in whet.read(str(examples)) if isinstance(each, Transcript)))
    kept = list(session_troubles(database, Filters()))
    assert len(kept) > 10
    assert any(each.trouble.interventions for each in kept)
    for each in kept:
        session = find(database, each.trouble.session)
        whole = trouble_of_session(database, session)
        assert whole is not None
        assert session.base_count or whole == whet.troubles(sessions.load(database, session))
        assert each.trouble == replace(
            whole, interventions=tuple(replace(event, words="") for event in whole.interventions)
        )


def test_a_copy_and_an_attempt_are_not_counted(database: Database) -> None:
    first = work("one")
    keep(database, first, replace(first, native_id="two"), replace(work("try"), purpose=Purpose.TRIAL))
    assert [each.trouble.session for each in session_troubles(database, Filters())] == [first.id]


def test_a_command_that_the_project_checks_with_is_known_in_its_earlier_sessions_too(database: Database) -> None:
    keep(database, work("one"))
    assert kinds(database) == {TroubleKind.SLIP}
    keep(database, replace(work("two"), folder="/home/kim/shop/.claude/worktrees/two"))
    assert kinds(database) == {TroubleKind.RED_CHECK}
    keep(database, replace(work("three"), folder="/home/kim/other"))
    assert kinds(database) == {TroubleKind.RED_CHECK, TroubleKind.SLIP}


def kinds(database: Database) -> set[str]:
    return {one.kind for each in session_troubles(database, Filters()) for one in each.trouble.troubles}


def work(name: str) -> Transcript:
    """A session in which a command of the project's own is red, a file is changed, and it is green."""
    found = conversation(
        user(f"Go on with {name}."),
        call("Edit", {"file_path": "a.py", "old_string": "z", "new_string": "a"}, "The file was updated."),
        call("Bash", {"command": "./dev verify"}, "Exit code 1\n3 wrong", error=True),
        call("Edit", {"file_path": "a.py", "old_string": "a", "new_string": "b"}, "The file was updated."),
        call("Bash", {"command": "./dev verify"}, "fine"),
        agent("Done."),
    )
    return replace(timed(found), native_id=name, folder="/home/kim/shop")


ROOT = Path(whet.__file__).parents[1]
FROM_BEGINNING = ("values", "errors")  # of values themselves, which no package holds


def imported(module: str) -> set[str]:
    """The modules of Whet that one imports, and all that these import."""
    seen, waiting = set[str](), [module]
    while waiting:
        name = waiting.pop()
        path = ROOT.joinpath(*name.split(".")).with_suffix(".py")
        if name in seen or not path.exists():
            continue
        seen.add(name)
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.ImportFrom) and node.module and node.module.startswith("whet."):
                waiting += [node.module, *(f"{node.module}.{each.name}" for each in node.names)]
    return seen


@pytest.mark.parametrize(
    ("module", "packages"),
    [
        ("whet.trouble.outcomes.view", FINDING),
        ("whet.trouble.finding", FINDING),
        ("whet.trouble.checks", FINDING),
        ("whet.lessons.finding", TEACHING),
        ("whet.lessons.claim_evidence", TEACHING),
        ("whet.lessons.following", TEACHING),
        ("whet.lessons.taught_rules", LEARNING),
    ],
)
def test_a_version_covers_all_code_that_decides_what_is_kept(module: str, packages: tuple[str, ...]) -> None:
    used = {name.split(".")[1] for name in imported(module)}
    assert used <= {*packages, *FROM_BEGINNING}


def test_other_code_has_another_version() -> None:
    versions = {code_version(*packages) for packages in (FINDING, TEACHING, LEARNING, (), ("text",))}
    assert len(versions) == 5
    assert code_version("text", "sessions") == code_version("sessions", "text")
