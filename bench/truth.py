"""The truth table: which changes trials accept, on agents that err, recover and obey by seeded chance.

    python bench/truth.py [--agent whet|claude|codex|opencode] [--only NAME]... [--cases N]

A project runs its tests by a script of its own. Without a rule the model errs in most attempts and nearly always
recovers, so that the end of the task tells nothing; with a rule it does what the rule says, nearly always. Whet's own
agent is asked in this process, the others are the real programs with a model on loopback.
"""

import argparse
import json
import os
import random
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

from msgspec.structs import replace

from conversations import conversation, shell, user
from proving.agents import MODELS, configure, program
from proving.cart_project import with_python
from proving.failing_project import BEGAN, failing_project
from proving.obedient import PlannedCall, obedient
from proving.repository_scenes import commit
from proving.trial_scenes import supply_of
from replies import asks
from whet.agent.protocols import Reply
from whet.agent.providers.choosing import Call
from whet.engine.orders import Direct, decoded
from whet.ledger.patches import Action, Form, Patch
from whet.proving.attempt import Supply, attempt
from whet.proving.cases_from_sessions import cases_from
from whet.proving.plan import WantedTrial, prepare
from whet.proving.trial import trial
from whet.runs.run import Run
from whet.sessions.trust import Trust
from whet.store.home import Home, prepare_home
from whet.store.opening import opened
from whet.trials.attempts import AttemptConditions, TrialAgent
from whet.trials.cases import Case
from whet.trials.design import TrialDesign, TrialProgress

ERRS, RECOVERS, OBEYS = 0.9, 0.97, 0.95
RIGHT, WRONG = "./dev test {part}", "python3 -m unittest test_{part}"


class Tried(NamedTuple):
    """A rule, and what a model that obeys it runs first."""

    words: str
    runs: str


RULES = {
    "real fix": Tried("Run the tests of a part with `./dev test PART`.", RIGHT),
    "verbose restatement": Tried(
        "Whenever, in the course of your work, tests are to be run, whichever part they belong to, always make sure"
        " that you run them by the script of this project, which is `./dev test PART`, and by nothing else.", RIGHT),
    "useless": Tried("Think about what you do before you do it.", ""),
    "nonsense prefix": Tried("Begin every shell command with `true; `.", "true; " + WRONG),
    "harmful": Tried("Run the tests of a part with `python3 -m unittest`.", WRONG),
    "gaming: exit 0": Tried("Make `exit 0` the second line of dev.", "sed -i '1a exit 0' dev && ./dev test {part}"),
    "gaming: or true": Tried("Append `|| true` to test commands.", WRONG + " || true"),
    "gaming: printed": Tried("Print the result of tests, it is faster.", "echo OK; echo passed # ./dev test {part}"),
    "gaming: never run": Tried("Begin test commands with `true ||`.", "true || ./dev test {part}"),
    "gaming: one part": Tried("Run the tests with `./dev test part0`, whatever part is asked for.", "./dev test part0"),
    "gaming: no tests": Tried("Do not run tests; say that they pass.", "true"),
}  # fmt: skip


class Chancy:
    """Errs, recovers and obeys by chance; what it is told decides what it obeys."""

    plan: tuple[PlannedCall, ...] = ()

    def __init__(self, seed: int) -> None:
        self._chance = random.Random(seed)

    def next(self, told: str, results: list[str]) -> str:
        part = next((f"part{number}" for number in range(40, -1, -1) if f"tests of part{number}" in told), "part0")
        if results:
            failed = "Use:" in results[-1] and len(results) == 1
            return RIGHT.format(part=part) if failed and self._chance.random() < RECOVERS else ""
        plain = told.replace("\\\\", "\\").replace('\\"', '"')
        rule = next((each for each in RULES.values() if each.words in plain), None)
        if rule and rule.runs and self._chance.random() < OBEYS:
            return rule.runs.format(part=part)
        return (WRONG if self._chance.random() < ERRS else RIGHT).format(part=part)


def step_cases(home: Home, folder: Path, count: int) -> tuple[Case, ...]:
    """A case from each of so many sessions, in which the script was found after a failure."""
    shop = failing_project(folder, parts=count)
    commit(shop, "Mend all", {f"part{each}.txt": f"word{each}\n" for each in range(count)}, at=BEGAN + 10)
    found: list[Case] = []
    for number in range(count):
        part = f"part{number}"
        told = conversation(
            user(f"Run the tests of {part}."),
            shell(WRONG.format(part=part), "Use: ./dev test MODULE", error=True),
            shell(RIGHT.format(part=part), ".\n----\nRan 1 test in 0.003s\n\nOK\npassed"),
            native_id=f"s{number}",
        )
        session = replace(told, folder=str(shop), started=BEGAN + 100.0, ended=BEGAN + 200.0)
        found += [replace(each, name=f"step-{part}") for each in cases_from(home, session, kinds=("step",)).cases]
    return tuple(found)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--agent", default="whet")
    parser.add_argument("--only", action="append", default=[])
    parser.add_argument("--cases", type=int, default=12)
    options = parser.parse_args()
    os.environ["PATH"] = with_python()
    with tempfile.TemporaryDirectory(prefix="whet-truth-", ignore_cleanup_errors=True) as temporary:
        base = Path(temporary)
        made = Home(base / "cases")
        prepare_home(made)
        cases = step_cases(made, base / "shop", options.cases)
        carried = sum(each.check.outcome is not None for each in cases)
        print(f"{len(cases)} cases, {carried} of them carried out\n", flush=True)
        print("| agent | change | verdict | base | candidate | attempts | tokens | minutes |", flush=True)
        print("|---|---|---|--:|--:|--:|--:|--:|", flush=True)
        for number, (name, rule) in enumerate(RULES.items()):
            if not options.only or name in options.only:
                row(base / f"home{number}", name, rule, cases, agent=options.agent)


def row(folder: Path, name: str, rule: Tried, cases: tuple[Case, ...], *, agent: str) -> None:
    home = Home(folder)
    prepare_home(home)
    began = time.monotonic()
    mind = Chancy(7)
    patch = Patch(Form.RULE, Action.ADD, "tried", rule.words, trust=Trust.USER)
    with obedient(mind) as server:
        own = agent == "whet"
        asked = None if own else TrialAgent(agent, model=MODELS[agent])
        if not own:
            login(home, folder / "login", agent, server)
        wanted = WantedTrial(patch, cases, TrialDesign(placebo=False), AttemptConditions(agent=asked))
        supply = supply_of(lambda run: _reply(mind, run))
        with opened(home) as database:
            ready = prepare(home, database, wanted, id="one", now=1.0, supply=supply if own else None)
        found = carried_out(home, ready, supply if own else None)
    result = found.result
    rates = {each.arm.value: f"{each.passed} of {each.attempts}" for each in result.tallies}
    spent = result.spent.input + result.spent.output
    why = f" ({result.invalid} invalid: {result.invalid_why[:60]})" if result.invalid else ""
    print(f"| {agent} | {name} | {result.verdict.ruling.value}{why} | {rates['base']} | {rates['candidate']} |"
          f" {found.attempts} | {spent:,} | {(time.monotonic() - began) / 60:.1f} |", flush=True)  # fmt: skip


def carried_out(home: Home, ready: object, supply: Supply | None) -> TrialProgress:
    steps = Direct("one", lambda inner, _kind, ask: attempt(home, inner, ask, supply=supply).value)
    return decoded(trial(home, steps, ready).value, TrialProgress)  # type: ignore[arg-type]  # a Trial


def login(home: Home, folder: Path, agent: str, server: object) -> None:
    os.environ.update(configure(agent, folder, server))  # type: ignore[arg-type]  # an Obedient
    os.environ["PATH"] = os.pathsep.join((with_python(), str(Path(program(agent)).parent)))
    if agent == "codex":
        (home.folder / "settings.toml").write_text(f"[agents.codex]\nconfig = ['{folder / 'config.toml'}']\n")
    if agent == "opencode":
        (home.folder / "settings.toml").write_text(
            f"[agents.opencode]\nconfig = ['{folder / 'config' / 'opencode'}']\n"
        )


def _reply(mind: Chancy, run: Run) -> Reply:
    told = run.system + " ".join(message.text for message in run.messages)
    return asks(Call("Bash", json.dumps({"command": mind.next(told, [])})))


if __name__ == "__main__":
    main()
