"""An import takes what is new, wholly or not at all, and says what became of everything else."""

import json
import os
import signal
from pathlib import Path

import pytest

from samples_of_templates import TEMPLATE
from whet.errors import WhetError
from whet.intake.reading import ReadOrder, by_age, named_files, usual_places
from whet.intake.taking import LARGE_FILE_BYTES, POOL_FROM_BYTES, ImportInterrupted, ImportReport, stamp_of, take
from whet.own.examples.warm_start import as_openai, examples
from whet.shipped.guidance.warm import words
from whet.store.database import Database
from whet.store.home import Home
from whet.store.left_out import LeftOutFile, alike, left_out
from whet.store.listing import Filters, count_sessions, find, list_sessions
from whet.store.sessions import forget


def session(name: str, *words: str, stamp: str = "2026-03-01T10:00:00Z") -> dict[str, object]:
    turns = [{"role": "user", "content": "Hello", "timestamp": stamp}]
    return {
        "id": name,
        "messages": [*turns, *({"role": "assistant", "content": word, "timestamp": stamp} for word in words)],
    }


def write(path: Path, *sessions: dict[str, object]) -> Path:
    path.write_text("".join(json.dumps(each) + "\n" for each in sessions))
    return path


def quiet(_name: str, _size: int) -> None:
    pass


def run(
    database: Database, home: Home, *paths: Path, order: ReadOrder | None = None, dry_run: bool = False
) -> ImportReport:
    return take(database, home, paths, order or ReadOrder(), dry_run=dry_run, progress=quiet)


def test_an_unchanged_file_is_not_read_again(database: Database, home: Home, tmp_path: Path) -> None:
    path = write(tmp_path / "a.jsonl", session("a", "one"), session("b", "two"))
    assert run(database, home, path).imported == 2
    before = path.stat()
    path.write_text("x" * before.st_size)
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
    again = run(database, home, path)
    assert (again.unchanged, again.skipped) == (2, [])


def test_a_file_that_grew_is_read_again(database: Database, home: Home, tmp_path: Path) -> None:
    path = write(tmp_path / "a.jsonl", session("a", "one"))
    run(database, home, path)
    write(path, session("a", "one", "two"), session("b", "new"))
    report = run(database, home, path)
    assert (report.imported, report.updated, report.messages) == (1, 1, 2)  # the two share their greeting


def test_an_id_that_occurs_twice_in_a_file_keeps_the_first_and_reports_the_other(
    database: Database, home: Home, tmp_path: Path
) -> None:
    path = write(tmp_path / "a.jsonl", session("a", "one"), session("a", "else"))
    report = run(database, home, path)
    assert report.imported == 1
    assert "the session id a occurs more than once" in report.skipped[0].reason


def test_a_second_file_with_another_session_of_the_same_id_is_reported(
    database: Database, home: Home, tmp_path: Path
) -> None:
    first = write(tmp_path / "a.jsonl", session("a", "one"))
    second = write(tmp_path / "b.jsonl", session("a", "else"))
    report = run(database, home, first, second)
    assert report.imported == 1
    assert str(first) in report.skipped[0].reason


def test_only_sessions_as_new_as_asked_are_taken_and_the_rest_can_follow(
    database: Database, home: Home, tmp_path: Path
) -> None:
    old = session("old", "one", stamp="2020-01-01T00:00:00Z")
    path = write(tmp_path / "a.jsonl", old, session("new", "two"))
    assert run(database, home, path, order=ReadOrder(since=1.7e9)).imported == 1
    assert run(database, home, path).imported == 1


def test_a_dry_run_says_what_would_come_and_keeps_nothing(database: Database, home: Home, tmp_path: Path) -> None:
    path = write(tmp_path / "a.jsonl", session("a", "one"))
    assert run(database, home, path, dry_run=True).imported == 1
    assert count_sessions(database, Filters()) == 0
    assert run(database, home, path).imported == 1


def test_many_files_are_read_side_by_side_with_the_same_result(database: Database, home: Home, tmp_path: Path) -> None:
    padding = "long words " * 40_000
    count = 2 * POOL_FROM_BYTES // len(padding) // 2
    files = [write(tmp_path / f"{n}.jsonl", session(f"s{n}", padding + str(n))) for n in range(count)]
    broken = tmp_path / "broken.jsonl"
    broken.write_bytes(b"\x00\x01\x02")
    report = run(database, home, *files, broken)
    assert report.imported == count
    assert [skipped.path for skipped in report.skipped] == [str(broken)]


def test_whets_own_database_is_never_opened_as_a_session(database: Database, home: Home) -> None:
    if database.dialect != "sqlite":
        pytest.skip("the embedded database only")
    report = run(database, home, *named_files([str(home.folder)]))
    assert {skipped.reason for skipped in report.skipped} == {"Whet's own database"}


def test_an_unreadable_file_is_reported_with_its_reason(database: Database, home: Home, tmp_path: Path) -> None:
    files = {"empty.jsonl": b"", "binary.db": b"\x00\xff" * 90, "cut.json": b'{"messages": [{"role": "us'}
    for name, body in files.items():
        (tmp_path / name).write_bytes(body)
    report = run(database, home, *(tmp_path / name for name in files))
    assert {Path(skipped.path).name for skipped in report.skipped} == set(files)
    assert report.sessions == 0


def test_reasons_are_kept_until_the_file_is_read_again(database: Database, home: Home, tmp_path: Path) -> None:
    path = write(tmp_path / "a.jsonl", session("a", "one"))
    with path.open("a") as file:
        file.write("{broken at 17\n{broken at 99\n")
    (tmp_path / "b.txt").write_text("nothing")
    run(database, home, path, tmp_path / "b.txt", dry_run=True)
    assert left_out(database) == ()
    report = run(database, home, path, tmp_path / "b.txt")
    broken, other = left_out(database)
    assert broken == LeftOutFile(str(path), alike(report.skipped[0].reason), 2, 2, "openai")
    assert other == LeftOutFile(str(tmp_path / "b.txt"), "not a session of a known format", 1, 0, "openai")
    run(database, home, path)
    assert len(left_out(database)) == 2, "nothing changed"
    write(path, session("a", "one", "two"))
    run(database, home, path)
    assert left_out(database) == (other,)


def test_reasons_of_a_large_file_are_kept_once(database: Database, home: Home, tmp_path: Path) -> None:
    path = write(tmp_path / "a.jsonl", session("1a", "x" * LARGE_FILE_BYTES), session("2b"), session("2b", "y"))
    for _ in range(2):
        run(database, home, path)
        os.utime(path, ns=(0, path.stat().st_mtime_ns + 1))
        assert [each.number for each in left_out(database)] == [1]


def test_a_secret_in_a_reason_is_not_kept_and_a_forgotten_file_leaves_none(
    database: Database, home: Home, tmp_path: Path
) -> None:
    path = write(tmp_path / "a.jsonl", session("hunter2", "one"), session("hunter2", "two"))
    run(database, home, path, order=ReadOrder(secrets=("hunter2",)))
    [kept] = left_out(database)
    assert "more than once" in kept.reason or "second session" in kept.reason
    assert "hunter2" not in kept.reason
    [stored] = list_sessions(database, Filters(), limit=9)
    forget(database, stored.id)
    assert left_out(database) == ()


def test_parents_in_a_circle_do_no_harm(database: Database, home: Home, tmp_path: Path) -> None:
    first = {**session("a", "one"), "parent": "b"}
    second = {**session("b", "two"), "parent": "a"}
    run(database, home, write(tmp_path / "a.jsonl", first, second))
    assert len(list_sessions(database, Filters(), limit=9)) == 2
    assert find(database, "a").native_id == "a"


def test_folders_and_globs_mean_the_files_in_them_oldest_first(tmp_path: Path) -> None:
    (tmp_path / "deep").mkdir()
    (tmp_path / "node_modules").mkdir()
    for age, name in enumerate(("new.jsonl", "deep/old.jsonl", "node_modules/x.jsonl", "state.db-wal")):
        (tmp_path / name).write_text("{}")
        os.utime(tmp_path / name, (1000 - age, 1000 - age))
    assert [path.name for path in named_files([str(tmp_path)])] == ["old.jsonl", "new.jsonl"]
    assert [path.name for path in named_files([str(tmp_path / "*.jsonl")])] == ["new.jsonl"]
    with pytest.raises(WhetError, match="no file"):
        list(named_files([str(tmp_path / "missing.jsonl")]))


@pytest.mark.parametrize(
    ("variable", "record"),
    [
        ("CLAUDE_CONFIG_DIR", "projects/-srv-shop/one.jsonl"),
        ("CODEX_HOME", "sessions/2026/03/02/rollout-one.jsonl"),
        ("HERMES_HOME", "state.db"),
    ],
)
def test_an_agents_home_is_looked_for_where_its_variable_says(variable: str, record: str, tmp_path: Path) -> None:
    path = tmp_path / "elsewhere" / record
    path.parent.mkdir(parents=True)
    path.write_text("{}")
    places = usual_places(tmp_path / "person", {variable: str(tmp_path / "elsewhere")})
    assert [place.files for place in places if place.files] == [(path,)]


def test_usual_places_are_found_beneath_the_persons_folder(tmp_path: Path) -> None:
    rollout = tmp_path / ".codex" / "sessions" / "2026" / "03" / "01" / "rollout-1.jsonl"
    rollout.parent.mkdir(parents=True)
    rollout.write_text("{}")
    found = [place for place in usual_places(tmp_path, {}) if place.files]
    assert [(place.format, place.files) for place in found] == [("codex", (rollout,))]


def test_a_database_whose_log_grew_counts_as_changed(tmp_path: Path) -> None:
    path = tmp_path / "state.db"
    path.write_bytes(b"x")
    before = stamp_of(path)
    Path(f"{path}-wal").write_bytes(b"more")
    assert stamp_of(path) != before


def test_files_come_by_age_without_those_that_are_gone_meanwhile(tmp_path: Path) -> None:
    old, new = tmp_path / "z", tmp_path / "a"
    for path, second in ((old, 1), (new, 2)):
        path.touch()
        os.utime(path, (second, second))
    assert by_age([new, tmp_path / "gone", old]) == [old, new]


def test_examples_that_another_agent_began_with_are_no_part_of_its_session(
    database: Database, home: Home, tmp_path: Path
) -> None:
    begun = as_openai(examples(TEMPLATE, words()))
    (tmp_path / "prefill.json").write_text(json.dumps(begun))
    alone = run(database, home, tmp_path / "prefill.json")
    assert (alone.imported, [each.reason for each in alone.skipped]) == (
        0,
        ["a prefill: examples of a template, not a session"],
    )
    record = session("warm", "Done.")
    assert isinstance(record["messages"], list)
    record["messages"] = [{"role": "system", "content": "Be kind."}, *begun, *record["messages"]]
    assert run(database, home, write(tmp_path / "a.jsonl", record)).imported == 1
    assert find(database, "warm").title == "Hello"
    assert count_sessions(database, Filters(tool="read_file")) == 0


def test_an_interrupted_import_keeps_the_files_that_were_finished(
    home: Home, database: Database, tmp_path: Path
) -> None:
    files = [write(tmp_path / f"{number}.jsonl", session(f"s{number}", "Yes")) for number in range(5)]
    finished: list[str] = []

    def interrupt(name: str, _size: int) -> None:
        finished.append(name)
        if len(finished) == 2:
            os.kill(os.getpid(), signal.SIGINT)

    with pytest.raises(ImportInterrupted) as stopped:
        take(database, home, files, ReadOrder(), progress=interrupt)
    assert {path for (path,) in database.query("SELECT path FROM files")} == set(finished)
    assert stopped.value.report.imported == count_sessions(database, Filters()) == 2


def test_a_history_in_a_folder_where_an_agent_worked_is_found(tmp_path: Path) -> None:
    work = tmp_path / "work"
    work.mkdir()
    history = work / ".aider.chat.history.md"
    history.write_text("\n# aider chat started at 2026-03-01 10:00:00\n")
    (work / ".hidden").write_text("x")
    found = [place for place in usual_places(tmp_path, {}, [str(work), "not/absolute", ""]) if place.files]
    assert [(place.format, place.files) for place in found] == [("aider", (history,))]
    assert list(named_files([str(work)])) == [history]


def test_links_that_lead_to_each_other_are_no_file(tmp_path: Path) -> None:
    (tmp_path / "a").symlink_to(tmp_path / "b")
    (tmp_path / "b").symlink_to(tmp_path / "a")
    for named in (tmp_path / "a", tmp_path / "?"):
        with pytest.raises(WhetError, match="There is no file"):
            list(named_files([str(named)]))
