"""whet try, whet live and whet live look, as a person runs them."""

import json
import time
from pathlib import Path

from msgspec.structs import replace

from agent.loopback import playing
from cli.chat.answers import whet_at, words
from command import Whet
from whet.changes.pending import propose
from whet.ledger.entries import Actor
from whet.ledger.patches import Action, Form, Patch, RuleSituation, Scope
from whet.sessions.trust import Trust
from whet.store.home import Home
from whet.store.opening import opened
from whet.telling.targets.project_names import name_of_project

RULE = "Answer every question in a table with two columns."


def failing(number: int) -> str:
    """A conversation in which a command fails and another form of it works."""

    def call(id: str, command: str) -> dict[str, object]:
        function = {"name": "bash", "arguments": json.dumps({"command": command})}
        asked = {"id": id, "type": "function", "function": function}
        return {"role": "assistant", "content": "", "tool_calls": [asked]}

    messages: list[dict[str, object]] = [
        {"role": "user", "content": f"Build part {number}."},
        call("a", f"rtk bun build part{number}"),
        {"role": "tool", "tool_call_id": "a", "content": "error: unrecognized subcommand 'bun'", "is_error": True},
        call("b", f"bun build part{number}"),
        {"role": "tool", "tool_call_id": "b", "content": "built", "is_error": False},
        {"role": "assistant", "content": f"That was part {number}."},
    ]
    return json.dumps({"messages": messages})


def with_failures(whet: Whet, folder: Path) -> None:
    folder.mkdir()
    for number in range(5):
        (folder / f"{number}.json").write_text(failing(number))
    done = whet("import", str(folder))
    assert done.code == 0, done.err


def test_without_a_model_it_says_what_a_person_can_approve_or_try_live(whet: Whet, tmp_path: Path) -> None:
    with_failures(whet, tmp_path / "records")
    planned = whet("try", "--dry-run", "--json").json
    assert "No model is set" in planned["stopped"]
    untold = whet("live", "start", whet("lessons", "--json").json["lessons"][0]["id"])
    assert "No session would be told it" in untold.err
    assert whet("ledger", "--json").json["entries"] == [], "nothing is proposed where nobody would be told"
    done = whet("try", "--now")
    assert done.code == 0, done.err
    assert "needs your approval" in done.out
    assert "whet lessons approve" in done.out
    number = whet("lessons", "--waiting", "--json").json["waiting"][0]["id"]
    refused = whet("live", "start", str(number), "--share", "0.3")
    assert refused.code == 1
    assert "No session would be told it" in refused.err
    assert whet("lessons", "--waiting", "--json").json["waiting"][0]["id"] == number, "it still waits"
    assert whet("sync", "add", "claude-code").code == 0
    started = whet("live", "start", str(number), "--share", "0.3")
    assert started.code == 1
    assert "needs a person's approval" in started.err, "its words are a tool's"


def test_a_dry_run_without_the_key_of_its_model_shows_the_plan_and_what_is_missing(whet: Whet, tmp_path: Path) -> None:
    with_failures(whet, tmp_path / "records")
    assert whet("config", "model", "anthropic:claude-haiku-4-5").code == 0
    planned = whet("try", "--dry-run")
    assert planned.code == 0, planned.err
    assert "ANTHROPIC_API_KEY is not set" in planned.out
    assert whet("try", "--dry-run", "--json").json["outcomes"]
    started = whet("try")
    assert started.code == 1
    assert "ANTHROPIC_API_KEY" in started.err
    assert "whet worker retry" not in started.err, "nothing was queued"


def test_a_canary_is_started_told_watched_and_stopped(tmp_path: Path, person: Path) -> None:
    with playing(*(words("Fine.") for _ in range(4))) as server:
        whet = whet_at(tmp_path / "home", person, server.base_url)
        assert whet("live", "start", "--rule", RULE, "--share", "0.9").code == 0
        for _ in range(4):
            assert whet("run", "Hello.").code == 0
        told = sum(RULE in request.body.decode() for request in server.requests)
    [found] = whet("live", "look", "--settled", "0", "--json").json["live"]
    assert (found["told"], found["untold"]) == (told, 4 - told), "what was sent is what was drawn"
    assert "tried-" in whet("live").out
    stopped = whet("live", "stop", found["name"])
    assert stopped.code == 0, stopped.err
    assert "Nothing is live" in whet("live", "look").out
    assert whet("live", "stop", "nothing").code == 1


def test_a_canary_that_nobody_would_be_told_is_refused_with_what_to_run(whet: Whet, tmp_path: Path) -> None:
    refused = whet("live", "start", "--rule", RULE)
    assert refused.code == 1
    assert "No session would be told it" in refused.err
    assert "`whet setup`" in refused.err
    assert "`whet sync add claude-code`" in refused.err
    assert whet("live", "--json").json["live"] == []
    assert whet("ledger", "--json").json["entries"] == []
    (tmp_path / "shop").mkdir()
    whet("rules", "add", "other", "Use pnpm.", "--project", "shop")  # a rule in force changes nothing
    assert whet("live", "start", "--rule", RULE).code == 1


def test_a_canary_says_who_is_told_and_by_which_way(whet: Whet, person: Path, tmp_path: Path) -> None:
    assert whet("sync", "add", "claude-code").code == 0
    assert whet("sync", "add", "codex").code == 0
    mark = tmp_path / "home" / "hooks" / "agents" / "codex"
    mark.parent.mkdir(parents=True)
    mark.touch()
    started = whet("live", "start", "--rule", RULE)
    assert started.code == 0, started.err
    file = person / ".claude" / "CLAUDE.md"
    said = " ".join(started.out.split())
    readers = f"codex (hook), claude-code ({file}, drawn each day)"
    assert f"is told to 50 % of new sessions of {readers} until it is known" in said
    whet("live", "stop", whet("live", "--json").json["live"][0]["name"])
    told = whet("live", "start", "--rule", RULE, "--json").json["told"]
    assert told == [
        {"agent": "codex", "by": "hook", "file": ""},
        {"agent": "claude-code", "by": "file", "file": str(file)},
    ]


def test_a_canary_can_be_told_to_all(whet: Whet) -> None:
    assert whet("sync", "add", "claude-code").code == 0
    assert whet("live", "start", "--rule", RULE).code == 0
    [canary] = whet("live", "--json").json["live"]
    assert whet("live", "stop", "--keep", canary["name"]).code == 0
    assert [rule["text"] for rule in whet("rules", "--json").json["rules"]] == [RULE]
    assert whet("live", "--json").json["live"] == []


def test_what_cannot_be_is_refused_with_advice(whet: Whet) -> None:
    for arguments in (["live", "start"], ["live", "start", "7"]):
        done = whet(*arguments)
        assert done.code == 1, arguments
        assert done.err.strip(), arguments
    assert whet("sync", "add", "claude-code").code == 0
    foreign = whet("live", "start", "--rule", "Obey.", variables={"CLAUDECODE": "1"})
    assert foreign.code == 1, "an agent's words are told to no session before a person approved them"


def test_a_worker_carries_it_out(whet: Whet, tmp_path: Path) -> None:
    with_failures(whet, tmp_path / "records")
    work = whet("try", "--background", "--json").json["work"]
    done = whet("worker", "--until-idle", "--queue", "trials")
    assert done.code == 0, done.err
    found = whet("worker", "list", work, "--json").json
    assert found["state"] == "done", found
    assert "waits" in found["summary"]


def test_all_waiting_lessons_of_a_project_are_told_to_the_same_sessions(whet: Whet, tmp_path: Path) -> None:
    shop = tmp_path / "shop"
    shop.mkdir()
    assert whet("sync", "add", "claude-code", "--project", str(shop)).code == 0
    scope = Scope(project=name_of_project(str(shop)))
    with opened(Home(tmp_path / "home")) as database:
        for tool in ("bun", "just", "uv", "all"):
            situation = RuleSituation(f"rtk {tool} i", "no such", f"{tool} i") if tool != "all" else RuleSituation()
            rule = Patch(Form.RULE, Action.ADD, f"direct-{tool}", f"Run {tool} directly.", scope=scope)
            rule = replace(rule, trust=Trust.USER, situation=situation)
            propose(Home(tmp_path / "home"), database, rule, actor=Actor.POLICY, now=time.time())
    assert whet("live", "start", "all", folder=tmp_path).code == 1, "another folder's project has none"
    started = whet("live", "start", "all", "--json", folder=shop)
    assert started.code == 0, started.err
    assert len(started.json["bundle"]) == 3, "whether the fourth failed could not be counted"
    shown = whet("live")
    assert "3 lessons told together" in " ".join(shown.out.split())
    assert len({each["together"]["number"] for each in whet("live", "--json").json["live"]}) == 1
    assert whet("ledger", "undo").code == 0
    assert whet("live", "--json").json["live"] == []
