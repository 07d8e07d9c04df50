"""A program that uses `import whet`, for the type checker: it sees real types, and no name that is not there."""

from pathlib import Path
from typing import Any, assert_type

import whet


def failed_calls(folder: Path) -> dict[str, int]:
    sessions = [each for each in whet.read(folder) if isinstance(each, whet.Transcript)]
    analyses = [whet.analyse(session) for session in sessions]
    assert_type(analyses, list[whet.Analysis])
    assert_type(analyses[0].tools, frozenset[str])
    assert_type(sessions[0].messages, tuple[whet.Message, ...])
    assert_type(whet.redact(sessions[0]), whet.Redacted)
    return {one.session: one.calls["failed"] for one in analyses}


def judge(table: Path) -> str:
    verdict = whet.judge([0.5, -1, 0, 1], growing=True)
    assert_type(verdict, whet.Verdict)
    assert_type(whet.judge(table, base="old").effect, float)
    return verdict.ruling


def begin(folder: Path, messages: list[dict[str, Any]]) -> list[dict[str, Any]]:
    template = whet.mine(whet.read(folder))
    assert_type(template, whet.Template)
    return whet.warm_start(template, messages)


def look(home: Path) -> list[str]:
    with whet.Store(home) as store:
        assert_type(store.sessions(source="codex", since=0.0), list[whet.Session])
        assert_type(store.search("order", limit=3), list[whet.Hit])
        assert_type(store.transcript("3fa9c1"), whet.Transcript)
        assert_type(store.lessons(tool="Bash"), tuple[whet.Lesson, ...])
        store.sessions(sorce="codex")  # type: ignore[call-arg]
        return [rule.text for rule in store.rules()]


def mistake() -> None:
    whet.analyze  # type: ignore[attr-defined]  # noqa: B018
    try:
        whet.judge("nowhere.csv", alpha="0.05")  # type: ignore[arg-type]
    except whet.WhetError as error:
        assert_type(error.advice, str)
