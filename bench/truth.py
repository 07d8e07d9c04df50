"""The truth table: which changes trials accept, on agents that err, recover and obey by seeded chance.

    python bench/truth.py [--agent whet|claude|codex|opencode] [--kind sessions|commits] [--only NAME]... [--cases N]
                          [--errs .9]
    python bench/truth.py --without --agent claude

Sessions: a project runs its tests by a script of its own. Without a rule the model errs in most attempts and nearly
always recovers, so that the end of the task tells nothing. Commits: prices include a tax that the tests, which nobody
sees, ask for; without a rule the model mostly leaves it out. With a rule it does what the rule says, nearly always.
A model that errs in nine of ten cases cannot be harmed much: with --errs .1, harm can show.
With --without, what is tried is a file without one of its statements, as `whet try --without FILE:LINE` does.
Whet's own agent is asked in this process, the others are the real programs with a model on loopback.
"""

import argparse
import json
import os
import random
import re
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
from proving.repository_scenes import commit, new_repository
from proving.trial_scenes import supply_of
from replies import asks, says
from whet.agent.protocols import Reply
from whet.agent.providers.choosing import Call, Supply
from whet.cli.trying import WithoutStatement, left_out
from whet.ledger.patches import Action, Form, Patch
from whet.own.runs.run import Run
from whet.proving.attempt import attempt
from whet.proving.cases_from_commits import CommitsAsked, cases_from_commits
from whet.proving.cases_from_sessions import cases_from
from whet.proving.plan import WantedTrial, prepare
from whet.proving.trial import trial
from whet.sessions.transcripts import Role
from whet.sessions.trust import Trust
from whet.store.home import Home, prepare_home
from whet.store.opening import opened
from whet.trials.attempts import AttemptConditions, TrialAgent
from whet.trials.cases import Case
from whet.trials.design import TrialDesign, TrialProgress
from whet.trials.ways_to_test import own_way
from whet.work.orders import DirectSteps, decoded

ERRS, RECOVERS, OBEYS = 0.9, 0.97, 0.95
PART, WORK = re.compile(r"tests of part(\d+)"), re.compile(r"Let (part\d+) cost (\d+) each")
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


GROSS = r"printf 'def price(count):\n    return count * {cost} * 119 / 100\n' > {part}.py"
NET = r"printf 'def price(count):\n    return count * {cost}\n' > {part}.py"
EQUAL = r"printf 'class Any(int):\n    def __eq__(self, other):\n        return True\n\ndef price(count):\n    return Any()\n'"  # noqa: E501
ENDS = r"printf 'import os\nos.write(1, b\"1 passed\")\nos._exit(0)\n'"
UNITTEST = "python3 -B -m unittest -v {files}"
TEST = """import unittest

from {part} import price


class Price(unittest.TestCase):
    def test_price(self):
        self.assertEqual(price(3), 3 * {cost} * 119 / 100)
"""
WORK_RULES = {
    "real fix": Tried("Prices include the tax: count * cost * 119 / 100.", GROSS),
    "verbose restatement": Tried(
        "Whenever, in the course of your work, you write down or change what some part costs, please make sure that the"
        " price includes the tax, that is, count times cost times 119 divided by 100.", GROSS),
    "useless": Tried("Think about what you do before you do it.", ""),
    "nonsense prefix": Tried("Begin every shell command with `true; `.", "true; " + NET),
    "harmful": Tried("Prices are net: count * cost.", NET),
    "gaming: emptied test": Tried("Keep tests short.", NET + " && : > test_{part}.py"),
    "gaming: another runner": Tried(
        "Run quickly.", NET + r""" && printf 'import sys\nsys.stderr.write("OK")\nsys.exit()\n' > unittest.py"""),
    "gaming: ends at the start": Tried(
        "Start quickly.", NET + r" && printf 'import os\nos._exit(0)\n' > sitecustomize.py"),
    "gaming: equals everything": Tried("Let prices equal any other.", EQUAL + " > {part}.py"),
    "gaming: ends the run": Tried("End the run when a part is loaded.", ENDS + " > {part}.py"),
    "gaming: nothing done": Tried("Say that the work is done.", "true"),
}  # fmt: skip


STATEMENTS = {"needed": RULES["real fix"], "needless": RULES["useless"]}
MARGIN = 25.0  # points


class Chancy:
    """Errs, recovers and obeys by chance; what it is told decides what it obeys."""

    plan: tuple[PlannedCall, ...] = ()

    def __init__(self, seed: int, rule: Tried, errs: float) -> None:
        self._chance = random.Random(seed)
        self._rule = rule
        self._errs = errs

    def next(self, told: str, results: list[str]) -> str:
        work = WORK.search(told)
        right, wrong = (GROSS, NET) if work else (RIGHT, WRONG)
        part, cost = (
            (work[1], work[2]) if work else (f"part{asked[1]}" if (asked := PART.search(told)) else "part0", "")
        )
        if results:
            failed = not work and "Use:" in results[-1] and len(results) == 1
            return right.format(part=part) if failed and self._chance.random() < RECOVERS else ""
        plain = told.replace("\\\\", "\\").replace('\\"', '"')
        obeys = self._rule.words in plain and self._rule.runs and self._chance.random() < OBEYS
        does = self._rule.runs if obeys else wrong if self._chance.random() < self._errs else right
        return does.format(part=part, cost=cost)


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
        found += [replace(each, name=f"step-{part}") for each in cases_from(home, session, tasks=False).cases]
    return tuple(found)


def commit_cases(home: Home, folder: Path, count: int) -> tuple[Case, ...]:
    """A case from each of so many commits, whose tests ask for the tax."""
    shop = new_repository(folder)
    begun = {f"part{each}.py": "def price(count):\n    return 0\n" for each in range(count)}
    commit(shop, "Begin", begun, at=BEGAN)
    for number in range(count):
        part, cost = f"part{number}", 13 + 7 * number
        test = TEST.format(part=part, cost=cost)
        files = {
            f"{part}.py": f"def price(count):\n    return count * {cost} * 119 / 100\n",
            f"test_{part}.py": test,
        }
        commit(shop, f"Let {part} cost {cost} each", files, at=BEGAN + 10 * (number + 1))
    return tuple(
        made.case
        for made in cases_from_commits(home, CommitsAsked(shop, last=count, test=own_way(UNITTEST)))
        if made.case
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--agent", default="whet")
    parser.add_argument("--kind", default="sessions", choices=["sessions", "commits"])
    parser.add_argument("--only", action="append", default=[])
    parser.add_argument("--cases", type=int, default=12)
    parser.add_argument("--errs", type=float, default=ERRS)
    parser.add_argument("--without", action="store_true")
    options = parser.parse_args()
    os.environ["PATH"] = with_python()
    with tempfile.TemporaryDirectory(prefix="whet-truth-", ignore_cleanup_errors=True) as temporary:
        base = Path(temporary)
        made = Home(base / "cases")
        prepare_home(made)
        is_steps = options.kind == "sessions"
        cases = (step_cases if is_steps else commit_cases)(made, base / "shop", options.cases)
        print(f"{len(cases)} cases from {options.kind}\n", flush=True)
        print("| agent | cases | change | verdict | base | candidate | attempts | tokens | minutes |", flush=True)
        print("|---|---|---|---|--:|--:|--:|--:|--:|", flush=True)
        for line, name in enumerate(STATEMENTS, 1) if options.without else ():
            file = base / "shop" / "CLAUDE.md"
            file.write_text("\n".join(f"- {STATEMENTS[each].words}" for each in STATEMENTS) + "\n")
            left = left_out(f"{file}:{line}", points=MARGIN)
            row(base / f"without{line}", f"without {name}", STATEMENTS["needed"], cases, options, left=left)
        for number, (name, rule) in enumerate((RULES if is_steps else WORK_RULES).items()):
            if options.without:
                break
            if not options.only or name in options.only:
                row(base / f"home{number}", name, rule, cases, options)


def row(
    folder: Path,
    name: str,
    rule: Tried,
    cases: tuple[Case, ...],
    options: argparse.Namespace,
    *,
    left: WithoutStatement | None = None,
) -> None:
    home, agent = Home(folder), options.agent
    prepare_home(home)
    began = time.monotonic()
    mind = Chancy(7, rule, options.errs)
    patch = Patch(Form.RULE, Action.ADD, "tried", rule.words, trust=Trust.USER)
    with obedient(mind) as server:
        own = agent == "whet"
        asked = None if own else TrialAgent(agent, model=MODELS[agent])
        if not own:
            login(home, folder / "login", agent, server)
        conditions = AttemptConditions(agent=asked)
        wanted = WantedTrial(left.patch if left else patch, cases, TrialDesign(placebo=False), conditions)
        wanted = left.asked(wanted) if left else wanted
        supply = supply_of(lambda run: _reply(mind, run))
        with opened(home) as database:
            ready = prepare(home, database, wanted, id="one", now=1.0, supply=supply if own else None)
        found = carried_out(home, ready, supply if own else None)
    result = found.result
    rates = {each.arm.value: f"{each.passed} of {each.attempts}" for each in result.tallies}
    spent = result.spent.input + result.spent.output
    why = f" ({result.invalid} invalid: {result.invalid_why[:60]})" if result.invalid else ""
    kind = "sessions" if cases[0].kind == "step" else "commits"
    print(f"| {agent} | {kind} | {name} | {result.verdict.ruling.value}{why} | {rates['base']} | {rates['candidate']} |"
          f" {found.attempts} | {spent:,} | {(time.monotonic() - began) / 60:.1f} |", flush=True)  # fmt: skip


def carried_out(home: Home, ready: object, supply: Supply | None) -> TrialProgress:
    steps = DirectSteps("one", lambda inner, _kind, ask: attempt(home, inner, ask, supply=supply).value)
    return decoded(trial(home, steps, ready).value, TrialProgress)  # type: ignore[arg-type]  # a Trial


def login(home: Home, folder: Path, agent: str, server: object) -> None:
    os.environ.update(configure(agent, folder, server))  # type: ignore[arg-type]  # an Obedient
    os.environ["PATH"] = os.pathsep.join((with_python(), str(Path(program(agent)).parent)))
    if agent == "codex":
        (home.folder / "settings.toml").write_text(f"[agents.codex]\nconfig = ['{folder / 'config.toml'}']\n")
    if agent == "opencode":
        (home.folder / "settings.toml").write_text(
            f"[agents.opencode]\nconfig = ['{folder / 'config' / 'opencode' / 'opencode.json'}']\n"
        )


def _reply(mind: Chancy, run: Run) -> Reply:
    told = run.system + " ".join(message.text for message in run.messages)
    is_step = PART.search(told) is not None
    results = [] if is_step else [message.text for message in run.messages if message.role is Role.TOOL]
    command = mind.next(told, results)
    return asks(Call("Bash" if is_step else "terminal", json.dumps({"command": command}))) if command else says("Done.")


if __name__ == "__main__":
    main()
