"""A kind of trouble is one row: one of another package is found and told as Whet's own are."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from command import Done, Whet
from whet.trouble.kinds import kind_named

ENTRY = "[whet.troubles]\nbare = whet_bare_tests:BARE\n"
MODULE = '''
"""Runs of pytest by a bare name."""

from collections.abc import Iterator

from whet.trouble.course import SessionCourse, Stretch
from whet.trouble.kinds import ChangeKind, KindOfTrouble


def bare_tests(course: SessionCourse) -> Iterator[Stretch]:
    for move in course.moves:
        if "pytest" in move.step.exchange.call.arguments:
            yield Stretch("bare_tests", move.asked, move.answered, move.step.tool, "pytest without make")


BARE = KindOfTrouble(
    "bare_tests",
    label="runs tests by a bare name",
    sentence="runs the tests by a bare name instead of make",
    change=ChangeKind.RULE,
    detectors=(bare_tests,),
)
'''
LINE = (
    '{{"type":"user","sessionId":"{id}","uuid":"{id}-1","timestamp":"2026-05-0{day}T10:00:00Z","cwd":"/srv/shop",'
    '"message":{{"role":"user","content":"run the tests"}}}}\n'
    '{{"type":"assistant","sessionId":"{id}","uuid":"{id}-2","timestamp":"2026-05-0{day}T10:00:01Z","cwd":"/srv/shop",'
    '"message":{{"role":"assistant","id":"m{day}","model":"claude-opus-4-5","content":[{{"type":"tool_use",'
    '"id":"t{day}","name":"Bash","input":{{"command":"pytest -q"}}}}]}}}}\n'
    '{{"type":"user","sessionId":"{id}","uuid":"{id}-3","timestamp":"2026-05-0{day}T10:00:05Z","cwd":"/srv/shop",'
    '"message":{{"role":"user","content":[{{"type":"tool_result","tool_use_id":"t{day}","content":"3 passed"}}]}}}}\n'
)


@pytest.fixture
def package(tmp_path: Path) -> dict[str, str]:
    """A package with one module, installed for whoever has these variables."""
    folder = tmp_path / "packages"
    (folder / "whet_bare_tests-1.0.dist-info").mkdir(parents=True)
    (folder / "whet_bare_tests-1.0.dist-info" / "entry_points.txt").write_text(ENTRY)
    (folder / "whet_bare_tests.py").write_text(MODULE)
    return {"PYTHONPATH": str(folder)}


@pytest.fixture
def sessions(tmp_path: Path) -> str:
    folder = tmp_path / "sessions"
    folder.mkdir()
    for day in range(1, 5):
        (folder / f"{day}.jsonl").write_text(LINE.format(id=f"shop-{day}", day=day))
    return str(folder)


def python(*arguments: str, variables: dict[str, str]) -> Done:
    kept = {"PATH": os.environ["PATH"], **variables}
    done = subprocess.run([sys.executable, "-c", *arguments], env=kept, capture_output=True, text=True, check=False)
    return Done(done.returncode, done.stdout, done.stderr)


def good(done: Done) -> Done:
    assert (done.code, done.err) == (0, ""), done
    return done


def test_a_kind_that_nobody_knows_is_told_by_its_name() -> None:
    assert kind_named("gone_{astray}").sentence == kind_named("gone_{astray}").label == "gone {astray}"


def test_a_kind_of_another_package_is_shown_everywhere(
    whet: Whet, package: dict[str, str], sessions: str, tmp_path: Path
) -> None:
    good(whet("import", sessions))
    assert "bare" not in good(whet("report")).out  # analysed without the package, and again with it

    report = good(whet("report", variables=package)).out
    assert "runs tests by a bare name 16 s" in report
    assert "runs tests by a bare name: Bash, pytest without make" in report
    shown = good(whet("show", "shop-1", variables=package)).out
    assert "runs tests by a bare name: Bash, pytest without make" in shown

    program = "import sys, whet; print(next(whet.troubles(each) for each in whet.read(sys.argv[1])).troubles[0].kind)"
    assert good(python(program, sessions, variables=package)).out == "bare_tests\n"

    page = tmp_path / "page.html"
    good(whet("page", "--export", str(page), "--texts", variables=package))
    assert "runs tests by a bare name: Bash, pytest without make" in page.read_text()


def test_without_its_package_a_kind_is_gone_and_breaks_nothing(
    whet: Whet, package: dict[str, str], sessions: str
) -> None:
    good(whet("import", sessions))
    good(whet("report", variables=package))
    assert "bare name" not in good(whet("report")).out
