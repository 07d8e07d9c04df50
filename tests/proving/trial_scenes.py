"""What tests of trials stand on: cases, a rule that helps, and a model that does what it is told."""

from collections.abc import Callable
from itertools import repeat
from pathlib import Path
from uuid import uuid4

import msgspec
from msgspec.structs import replace

from conversations import agent, conversation, shell, user
from replies import asks, says
from whet.agent.protocols import Chosen, Reply
from whet.agent.providers.choosing import Call, Scripted, Supply
from whet.ledger.patches import Action, Form, Patch
from whet.own.runs.models import Model
from whet.own.runs.run import Run
from whet.proving.attempt import attempt, vouch_for
from whet.proving.plan import WantedTrial, prepare
from whet.proving.trial import trial
from whet.sessions.transcripts import Transcript, Usage
from whet.sessions.trust import Trust
from whet.store.database import Database
from whet.store.home import Home
from whet.store.records import keep_material
from whet.store.settings_file import assign
from whet.trials.attempts import Arm, Attempt, AttemptConditions, AttemptPlace, AttemptRequest, OrderTerms
from whet.trials.cases import Case, Limits
from whet.trials.checks import Check
from whet.trials.design import Trial, TrialProgress
from whet.trials.shapes import TextDemand
from whet.work.orders import DirectSteps, decoded

SECRET = "zebra-quartz"
SHOP = "/srv/shop"
TOLD = "run `bun build zebra-…` instead"  # what is learned from the sessions that fail
WORDS = "Say yes to every question."
RULE = Patch(Form.RULE, Action.ADD, "say-yes", WORDS, trust=Trust.USER)
Answer = Callable[[Run], Reply]


def case_of(name: str, **fields: object) -> Case:
    given: dict[str, object] = {
        "task": f"{name}?", "name": name, "check": Check(answer=TextDemand(contains=("yes",))), "tools": ("files",),
        "budget": Limits(model_calls=3), **fields,
    }  # fmt: skip
    return msgspec.convert(given, Case)


def questions(count: int) -> tuple[Case, ...]:
    return tuple(case_of(f"question-{number}") for number in range(count))


def obeys(run: Run) -> Reply:
    """Says yes where the prompt asks for it."""
    return says("yes" if WORDS in run.system else "no", usage=Usage(input=100, output=1))


def failing(number: int) -> Transcript:
    """A session in which a command fails, and then another form of it works."""
    part = f"{SECRET}-{number}"
    made = conversation(
        user(f"Build {part}."),
        shell("ls parts", "many"),
        shell(f"rtk bun build {part}", f"error: unrecognized subcommand 'bun' {SECRET}", error=True),
        shell(f"bun build {part}", "built"),
        agent(f"It is built: {SECRET}."),
        native_id=f"s{number}",
        at=float(number),
    )
    return replace(made, folder=SHOP)


def declare_shop(home: Home) -> None:
    """Have the person vouch for what the commands of those sessions print."""
    assign(home, ("trust", "projects"), [SHOP])


def repeats_unless_told(run: Run) -> Reply:
    """Makes the call that failed, or with a rule against it the one that worked."""
    part = run.messages[0].text.removeprefix("Build ").rstrip(".")
    program = "bun" if TOLD in run.system else "rtk bun"
    return asks(Call("Bash", f'{{"command": "{program} build {part}"}}'))


def supply_of(answer: Answer, log: Path | None = None) -> Supply:
    """A provider for every attempt; `log` gets a line for each call of the model."""

    def replied(run: Run) -> Reply:
        if log is not None:
            with log.open("a") as file:
                file.write(f"{run.messages[-1].text} {WORDS in run.system} {run.sampling.seed}\n")
        return answer(run)

    return lambda _home, _settings, _model: Chosen(Scripted(repeat(replied)), Model("scripted"))


def prepared(home: Home, database: Database, wanted: WantedTrial, answer: Answer = obeys, *, id: str = "t1") -> Trial:
    return prepare(home, database, wanted, id=id, now=1.0, supply=supply_of(answer))


def tried(home: Home, ready: Trial, supply: Supply) -> TrialProgress:
    """Carry a trial out in this process."""
    steps = DirectSteps(ready.id, lambda inner, _kind, ask: attempt(home, inner, ask, supply=supply).value)
    return decoded(trial(home, steps, ready).value, TrialProgress)


def attempted(home: Home, database: Database, case: Case, answer: Answer, patch: Patch | None = None) -> Attempt:
    """One attempt by itself."""
    keys = [keep_material(database, each, now=1.0) for each in (case, patch) if each is not None]
    arm = Arm.CANDIDATE if patch else Arm.BASE
    place, change = AttemptPlace(case.name, arm, 1), keys[1] if patch else ""
    ask = AttemptRequest(uuid4().hex, place, keys[0], AttemptConditions(), change, OrderTerms(fresh=True))
    vouch_for(home, (ask,))
    return decoded(attempt(home, DirectSteps("one"), ask, supply=supply_of(answer)).value, Attempt)
