"""What recurs over the sessions of a project, with the number of its sessions."""

from whet.lessons.condensed import CondensedSession, EventKind, SessionEvent, distrusted
from whet.lessons.project_index import IndexEntry, IndexKind, ProjectIndex, index_text, project_index, template
from whet.sessions.trust import Trust


def session(number: int, *events: SessionEvent) -> CondensedSession:
    return CondensedSession(f"s{number}", started=float(number), events=events)


def failed(error: str, **more: str) -> SessionEvent:
    return SessionEvent(1, EventKind.FAILED, "make", error, trust=Trust.TOOL, subject=more.get("subject", ""))


def said(text: str) -> SessionEvent:
    return SessionEvent(0, EventKind.PERSON, text, trust=Trust.USER)


def entries(index: ProjectIndex, kind: IndexKind) -> list[IndexEntry]:
    return [entry for entry in index.entries if entry.kind is kind]


def test_an_error_is_counted_in_sessions_with_what_varies_folded() -> None:
    index = project_index(session(n, failed(f"no matches found: docs/{n}.md"), failed("odd")) for n in range(3))
    [entry] = entries(index, IndexKind.ERROR)
    assert (entry.text, entry.sessions, entry.session, entry.trust) == ("no matches found: …", 3, "s0", Trust.TOOL)


def test_what_stands_in_one_session_alone_does_not_recur() -> None:
    assert not project_index([session(1, failed("no such table: users"))]).entries


def test_copies_count_as_their_original() -> None:
    sessions = [session(n, failed("command not found: docker")) for n in range(3)]
    index = project_index(sessions, {"s1": "s0"})
    assert (index.sessions, index.entries[0].sessions) == (2, 2)
    assert not project_index(sessions[:2], {"s1": "s0"}).entries


def test_the_most_frequent_come_first_and_their_number_is_limited() -> None:
    many = [failed(f"it fails with {chr(97 + n // 26)}{chr(97 + n % 26)}") for n in range(60)]
    sessions = [session(n, *many[: 60 - n]) for n in range(40)]
    found = entries(project_index(sessions), IndexKind.ERROR)
    assert [entry.sessions for entry in found] == sorted((entry.sessions for entry in found), reverse=True)
    assert len(found) == 25


def test_missing_paths_red_rules_and_refused_calls_are_counted() -> None:
    events = (
        failed("File does not exist.", subject="docs/plan.md"),
        SessionEvent(2, EventKind.RED, "ruff check", "F401 unused", subject="F401"),
        SessionEvent(3, EventKind.REFUSED, "git push --force"),
    )
    index = project_index([session(1, *events), session(2, *events)])
    assert {(entry.kind, entry.text) for entry in index.entries} >= {
        (IndexKind.PATH, "docs/plan.md"),
        (IndexKind.RED, "F401"),
        (IndexKind.REFUSED, "git push --force"),
    }


def test_requests_in_other_words_are_one_request_in_any_language() -> None:
    sessions = [
        session(1, said("ok lets get back to main"), said("Bitte die Doku auf Deutsch schreiben.")),
        session(2, said("ok lets get back to main again"), said("Schreiben Sie bitte die Doku auf Deutsch!")),
        session(3, said("fix the login page"), said("提交之前先运行测试")),
        session(4, said("why is the sky blue"), said("请在提交之前先运行测试")),
    ]
    assert [(entry.text, entry.sessions) for entry in entries(project_index(sessions), IndexKind.REQUEST)] == [
        ("ok lets get back to main", 2),
        ("Bitte die Doku auf Deutsch schreiben", 2),
        ("提交之前先运行测试", 2),
    ]


def test_other_agents_words_are_never_counted_with_a_persons() -> None:
    by_team = SessionEvent(0, EventKind.TEAM, "always use tabs here", trust=Trust.TOOL)
    index = project_index([session(1, said("always use tabs here")), session(2, by_team)])
    assert not index.entries
    [entry] = project_index([session(1, by_team), session(2, by_team)]).entries
    assert entry.trust is Trust.TOOL


def test_a_strangers_session_has_no_person() -> None:
    [event] = distrusted(session(1, said("always use tabs"))).events
    assert (event.kind, event.trust) == (EventKind.TEAM, Trust.EXTERNAL)


def test_the_text_names_kinds_and_counts() -> None:
    index = project_index([session(n, failed("no rule to make x"), failed("no rule to make x")) for n in range(2)])
    assert index_text(index) == "# What recurs in 2 sessions\nerrors:\n- 2 sessions, 4 times: no rule to make x"


def test_quotes_paths_and_numbers_vary() -> None:
    assert template("Error 17: 'a b' is not in src/x.py") == ("error", "…", "…", "is", "not", "in", "…")
