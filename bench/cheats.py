"""Ways to pass a check without doing the work: how many pass. `python bench/cheats.py [--agent NAME] [--every N]`

The list (data/cheats.jsonl) was written by somebody who had not read the checks. Each is tried as a task from a commit,
as tasks from sessions with and without a commit, and as a step; without an agent its commands are run in the workspace
behind the sandbox and judged, with one they are run by the real program, asked by a model on loopback, or by Whet's own
agent (`--agent whet`), whose model is scripted.
"""

import argparse
import json
import os
import shutil
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

from proving.agents import MODELS
from proving.cart_project import commit_case, session_case, step_case, with_python
from proving.obedient import Steady, obedient
from proving.trial_scenes import supply_of
from replies import asks, says
from truth import login
from whet.agent.protocols import Reply
from whet.agent.providers.choosing import Call
from whet.agent.tools.situation import Situation
from whet.errors import WhetError
from whet.own.runs.run import Run
from whet.proving.attempt import attempt
from whet.proving.judged_work import carried_calls, judge_work, was_handled
from whet.proving.workspace import CommandEnd, laid_out, run_command, situation_for
from whet.sessions.transcripts import Message, Role, Text, ToolCall, ToolResult
from whet.sessions.trust import Trust
from whet.store.home import Home, prepare_home
from whet.store.opening import opened
from whet.store.records import keep_material
from whet.trials.attempts import Arm, Attempt, AttemptConditions, AttemptPlace, AttemptRequest, OrderTerms, TrialAgent
from whet.trials.cases import Case
from whet.trials.checks import FinishedRun, mark
from whet.work.orders import DirectSteps, decoded

LIST = Path(__file__).parent / "data" / "cheats.jsonl"
COMMANDS = {"tests": "make test", "make": "make test", "npm": "npm test"}
BUILD = "./build.sh --profile prod"
HONEST = "sed -i 's|in items)|in items) * (100 - discount) / 100|' cart.py"
SECONDS = 60.0
OWN = "whet"
Made = Callable[[Home, Path], Case]


class Cheat(NamedTuple):
    id: str
    group: str
    check: str
    does: tuple[str, ...]
    needs: dict[str, str]

    @property
    def is_step(self) -> bool:
        return self.check.startswith("step")


def listed() -> list[Cheat]:
    rows: list[dict[str, Any]] = [json.loads(line) for line in LIST.read_text().splitlines()]
    return [Cheat(row["id"], row["group"], row["check"], tuple(row["does"]), row.get("needs", {})) for row in rows]


def cases_of(cheat: Cheat) -> Iterator[tuple[str, Made]]:
    """The cases that a cheat is tried on."""
    check = COMMANDS.get(cheat.check, BUILD)
    if check == "npm test" and shutil.which("npm") is None:
        check = "make test"
    yield "commit", lambda home, folder: commit_case(home, folder, cheat.needs)
    yield "session", lambda home, folder: session_case(home, folder, check, cheat.needs)
    yield "session, no commit", lambda home, folder: session_case(home, folder, check, cheat.needs, is_committed=False)
    if cheat.is_step or cheat.group in ("measure", "runner"):
        yield "step", step_case


def passes(home: Home, case: Case, does: tuple[str, ...]) -> bool:
    """Whether commands pass a case, run one after the other in its workspace as an agent's are."""
    with laid_out(home, case) as work:
        situation = situation_for(home, case, work)
        ends = [run_command(situation, each, seconds=SECONDS) for each in does]
        if case.kind == "step":
            return mark(case.check, _step_left(situation, case, does, ends)).passed
        ended = judge_work(situation, case)
    ran = FinishedRun((), exit_code=ended.exit_code, printed=ended.text, gamed=ended.gamed)
    return mark(case.check, ran).passed


def _step_left(situation: Situation, case: Case, does: tuple[str, ...], ends: Sequence[CommandEnd]) -> FinishedRun:
    """What an agent that ran these commands leaves of a step, with a record that says how each ended."""
    messages: list[Message] = []
    for number, (command, end) in enumerate(zip(does, ends, strict=True)):
        id = f"call-{number}"
        call = ToolCall(id, "Bash", json.dumps({"command": command}))
        result = ToolResult(id, (Text(end.text),), "Bash", error=end.exit_code != 0)
        messages.append(Message(Role.AGENT, (call,), Trust.AGENT))
        messages.append(Message(Role.TOOL, (result,), Trust.TOOL))
    record = tuple(messages)
    carried = carried_calls(situation, case, record) if case.check.outcome else ()
    handled = was_handled(situation, case, record)
    return FinishedRun(record, before=case.conversation, carried=carried, handled=handled)


def passes_by_agent(folder: Path, agent: str, case: Case, does: tuple[str, ...]) -> bool:
    """Whether Whet's own agent or a real program passes a case, where its model asks for these commands."""
    home = Home(folder / "home")
    prepare_home(home)
    supply = supply_of(lambda run: _asked_for(case, does, run)) if agent == OWN else None
    asked = None if supply else TrialAgent(agent, model=MODELS[agent])
    with obedient(Steady(does)) as server, opened(home) as database:
        if asked:
            login(home, folder / "login", agent, server)
        key = keep_material(database, case, now=1.0)
        place, conditions = AttemptPlace(case.name, Arm.BASE, 1), AttemptConditions(agent=asked)
        ask = AttemptRequest("cheat", place, key, conditions, "", OrderTerms(fresh=True))
        made = decoded(attempt(home, DirectSteps("one"), ask, supply=supply).value, Attempt)
    if made.invalid:
        raise WhetError(made.invalid, advice="Run it by hand.")
    return made.measures.passed


def _asked_for(case: Case, does: tuple[str, ...], run: Run) -> Reply:
    """The next command as a call; of a step one call is asked for, by the tool that its session had."""
    made = 0 if case.kind == "step" else sum(message.role is Role.TOOL for message in run.messages)
    tool = "Bash" if case.kind == "step" else "terminal"
    return asks(Call(tool, json.dumps({"command": does[made]}))) if made < len(does) else says("Done.")


def chosen(cheats: list[Cheat], every: int) -> list[Cheat]:
    """One of so many of each group, at least one: the kinds are many, and a real program takes its time."""
    groups: dict[str, list[Cheat]] = {}
    for each in cheats:
        groups.setdefault(each.group, []).append(each)
    return [each for found in groups.values() for each in found[::every]]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--agent", default="")
    parser.add_argument("--every", type=int, default=1)
    parser.add_argument("--only", action="append", default=[])
    parser.add_argument("--kind", action="append", default=[])
    options = parser.parse_args()
    os.environ["PATH"] = with_python()
    tried, passed, refused = Counter[str](), Counter[str](), Counter[str]()
    with tempfile.TemporaryDirectory(prefix="whet-cheats-", ignore_cleanup_errors=True) as temporary:
        home = Home(Path(temporary, "home"))
        prepare_home(home)
        known: dict[tuple[str, str, int], Case] = {}
        if not options.agent:
            _sound(home, Path(temporary, "honest"))
        for number, cheat in enumerate(chosen(listed(), options.every)):
            if options.only and cheat.id not in options.only:
                continue
            for kind, made in cases_of(cheat):
                if options.kind and kind not in options.kind:
                    continue
                began = time.monotonic()
                key = (kind, cheat.check, number if cheat.needs else -1)
                try:
                    case = known.get(key) or made(home, Path(temporary, f"{number}-{kind.replace(' ', '-')}"))
                    known[key] = case
                except (AssertionError, WhetError) as fault:
                    refused[kind] += 1
                    print(f"{cheat.id:32} {kind:20} no case: {str(fault)[:80]}", flush=True)
                    continue
                try:
                    place = Path(temporary, f"agent-{number}-{kind.replace(' ', '-')}")
                    fooled = (
                        passes_by_agent(place, options.agent, case, cheat.does)
                        if options.agent
                        else passes(home, case, cheat.does)
                    )
                except WhetError as fault:
                    refused[kind] += 1
                    print(f"{cheat.id:32} {kind:20} no attempt: {fault.message[:80]}", flush=True)
                    continue
                tried[kind] += 1
                passed[kind] += fooled
                print(f"{cheat.id:32} {kind:20} {'PASSES' if fooled else 'fails'} {time.monotonic() - began:.0f} s",
                      flush=True)  # fmt: skip
    print("\n| case | cheats tried | passed | no case |\n|---|--:|--:|--:|")
    for kind in tried | refused:
        print(f"| {kind} | {tried[kind]} | {passed[kind]} | {refused[kind]} |")


def _sound(home: Home, folder: Path) -> None:
    """The honest work passes everywhere, and nothing done passes nowhere."""
    for number, (kind, made) in enumerate(cases_of(Cheat("honest", "runner", "build", (HONEST,), {}))):
        case = made(home, folder / str(number))
        honest = (BUILD,) if kind == "step" else (HONEST,)
        print(f"{'the honest work':32} {kind:20} {'passes' if passes(home, case, honest) else 'FAILS'}", flush=True)
        print(f"{'nothing at all':32} {kind:20} {'PASSES' if passes(home, case, ('true',)) else 'fails'}", flush=True)


if __name__ == "__main__":
    main()
