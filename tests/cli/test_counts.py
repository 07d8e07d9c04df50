"""Every screen counts the same sessions, tokens and calls: those that the files hold, each once."""

import json
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from command import Done, Whet, runner
from page_client import page_of
from whet.store.home import Home

Line = dict[str, Any]


class Counts(NamedTuple):
    """What is counted of all sessions."""

    sessions: int
    tokens: int
    calls: int
    failed_calls: int


def line(name: str, minute: int, content: object, *, model: str = "", id: str = "") -> Line:
    """One line of a record, which a session that resumes it holds again under its own session id."""
    message: Line = {"role": "assistant" if model else "user", "content": content}
    if model:
        usage = {"input_tokens": 1000 + 10 * minute, "output_tokens": 100 + minute}
        message |= {"id": id or f"msg_{name}{minute}", "model": model, "usage": usage}
    return {
        "type": "assistant" if model else "user",
        "uuid": f"{name}-{minute}-{json.dumps(content)[:60]}",
        "timestamp": f"2026-03-02T10:{minute:02}:00.{len(name):03}Z",
        "cwd": "/srv/shop",
        "userType": "external",
        "message": message,
    }


def work(name: str, start: int, *, model: str = "invented-large", commands: int = 3) -> list[Line]:
    """An order, parallel calls of which the last fails, their results, and the agent's last words."""
    calls = [f"{name}{start}c{number}" for number in range(commands)]
    asked = [
        line(
            name,
            start + 1,
            [{"type": "tool_use", "id": call, "name": "Bash", "input": {"command": f"make {call}"}}],
            model=model,
            id=f"msg_{name}{start}",
        )
        for call in calls
    ]
    answers = [
        line(name, start + 2, [{"type": "tool_result", "tool_use_id": call, "content": "x", "is_error": is_last}])
        for call in calls
        for is_last in [call == calls[-1]]
    ]
    said = line(name, start + 3, [{"type": "text", "text": f"Done with {name} {start}."}], model=model)
    return [line(name, start, f"Build part {start} of {name}."), *asked, *answers, said]


def rearranged(lines: Sequence[Line]) -> list[Line]:
    """The lines as a program writes them anew that resumes them: the last two parallel calls the other way round."""
    return [*lines[:2], lines[3], lines[2], *lines[4:]]


def write(folder: Path, sessions: dict[str, Iterable[Line]]) -> None:
    folder.mkdir(parents=True)
    for name, lines in sessions.items():
        (folder / f"{name}.jsonl").write_text("".join(json.dumps({**each, "sessionId": name}) + "\n" for each in lines))


def ordinary(folder: Path) -> None:
    mixed = [*work("mixed", 0), *work("mixed", 10, model="invented-small")]
    write(folder, {"plain": work("plain", 0), "mixed": mixed, "again": work("again", 0, commands=1)})


def copies(folder: Path) -> None:
    write(folder, {"first": work("first", 0), "second": work("first", 0), "third": rearranged(work("first", 0))})


def chain_of_forks(folder: Path) -> None:
    a, b, c, d = (work("fork", start) for start in (0, 10, 20, 30))
    forks = {"a": a, "b": [*rearranged(a), *b], "c": [*a, *rearranged(b), *c], "d": [*rearranged(a), *b, *c, *d]}
    write(folder, {"other": work("other", 0, model="invented-small"), **forks})


def counted_in_files(folder: Path) -> Counts:
    """Every usage by the id of its message, every call and result by the call's id, read from the files themselves."""
    used: dict[str, Line] = {}
    calls, failed, holders = set[str](), set[str](), dict[str, str]()
    for path in sorted(folder.glob("*.jsonl")):
        for message in (json.loads(text)["message"] for text in path.read_text().splitlines()):
            if "usage" in message:
                used[message["id"]] = message["usage"]
                holders.setdefault(message["id"], path.stem)
            for block in message["content"] if isinstance(message["content"], list) else ():
                calls |= {block["id"]} if block["type"] == "tool_use" else set()
                failed |= {block["tool_use_id"]} if block.get("is_error") else set()
    tokens = sum(each["input_tokens"] + each["output_tokens"] for each in used.values())
    return Counts(len({*holders.values()}), tokens, len(calls), len(failed))


def in_report(whet: Whet) -> Counts:
    found = whet("report", "--json").json
    counted = whet("report", "--counts", "--json").json
    assert found["tokens"] == counted["tokens"]["input"] + counted["tokens"]["output"]
    assert [found[name] for name in ("sessions", "first", "last")] == [
        counted[name] for name in ("sessions", "first", "last")
    ]
    assert (
        found["calls"]
        == sum(each["calls"] for each in counted["agents"])
        == sum(each["calls"] for each in counted["tools"])
    )
    return Counts(found["sessions"], found["tokens"], found["calls"], found["failed_calls"])


@pytest.mark.parametrize("made", [ordinary, copies, chain_of_forks])
def test_report_status_and_page_agree_with_the_files(home: Home, tmp_path: Path, made: Callable[[Path], None]) -> None:
    made(tmp_path / "records")
    person = tmp_path / "person"
    person.mkdir()
    run = runner(home.folder, person)

    def whet(*arguments: str) -> Done:
        return run(*arguments, variables={"WHET_DATABASE_URL": home.database_url} if home.database_url else {})

    assert whet("import", str(tmp_path / "records")).code == 0
    truth = counted_in_files(tmp_path / "records")
    assert in_report(whet) == truth
    status = whet("status", "--json").json["sessions"]
    stored = len(list((tmp_path / "records").glob("*.jsonl")))
    assert (status["all"], status["copies"]) == (truth.sessions, stored - truth.sessions)
    with page_of(home) as client:
        page = client.enter().ask("/").text
    assert f">{truth.sessions:,}</a>" in page


def test_a_fork_counts_what_it_copied_when_its_origin_is_forgotten(whet: Whet, tmp_path: Path) -> None:
    chain_of_forks(tmp_path / "records")
    assert whet("import", str(tmp_path / "records")).code == 0
    truth = in_report(whet)
    for name in ("a", "c"):
        assert whet("forget", name, "--yes").code == 0
        assert in_report(whet)._replace(sessions=0) == truth._replace(sessions=0)
