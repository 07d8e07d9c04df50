"""Trials at the command line: the options they share, on whom, how they are started, followed and shown."""

import os
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, TypeVar

import click
from msgspec.structs import replace

from whet.agent.assembling import new_id
from whet.agents.places import is_read_by_agents
from whet.agents.registry import agents, canonical
from whet.cli.acting import expect_person, has_terminal
from whet.cli.options import allowance_of, budget_option, model_option, together
from whet.cli.output import give, next_lines, say
from whet.cli.procedures import PROCEDURES, direct, is_watched
from whet.cli.shown.trials import NEXT, plan_lines, plan_record, result_lines, result_record, trial_line
from whet.errors import WhetError
from whet.evidence.verdicts import ALPHA
from whet.improving.auditing import passage_without
from whet.ledger.patches import Action, Form, Patch, PatchOrigin, PatchWriter, digest
from whet.lessons.statements.naming import split_statements
from whet.proving.plan import WantedTrial, expect_worth_it, order, prepare
from whet.proving.trial import trial as carry_out
from whet.sessions.trust import Trust
from whet.store import files
from whet.store.case_files import chosen, folders_of
from whet.store.home import Home, find_home
from whet.store.opening import opened
from whet.store.records import progress_of
from whet.store.settings_file import load
from whet.telling.targets.project_names import repository_root
from whet.trials.attempts import AttemptConditions, TrialAgent
from whet.trials.design import Trial, TrialDesign, TrialProgress
from whet.work.orders import Order, Queue, decoded

if TYPE_CHECKING:
    from whet.work.given import Work

MARGIN_POINTS = 10.0
LOOK_SECONDS = 1.0
QUEUED = "Queued as {id}. To run it: `whet worker`. To see progress: `whet worker list {id}`."
Result = TypeVar("Result")
RUNNABLE = ", ".join(agent.name for agent in agents() if agent.executor)
agent_option = click.option(
    "--agent",
    default="",
    metavar="NAME",
    help=f"Agent that runs the cases: {RUNNABLE}, whet, or a name of agents.NAME.command.",
)
consent_option = click.option("--yes", is_flag=True, help="Start another agent without asking.")


def expect_allowed(agent: str, lines: Iterable[str], *, yes: bool) -> None:
    """Have a person agree to what another agent will spend in their name."""
    expect_person("start another agent in their name")
    if yes:
        return
    if not has_terminal():
        raise WhetError(
            f"Nobody is here to agree to what {agent} will spend.", advice="Run it in a terminal, or give --yes."
        )
    say(*lines, aloud=True)
    click.confirm(f"Start {agent}?", abort=True, err=True)


def other_agent(name: str) -> str:
    """The agent that was asked for, where it is not Whet's own."""
    return "" if name == "whet" else canonical(name)


def at_once(agent: object) -> int:
    """How many attempts may run side by side: a model on this machine has no second one beside it."""
    return 2 if agent else 1


class WithoutStatement(NamedTuple):
    """A statement that a trial leaves out: the change, and the file as all attempts have it before."""

    patch: Patch
    path: str
    text: str
    margin: float

    def asked(self, wanted: WantedTrial) -> WantedTrial:
        """The trial with the file in every case's workspace, without a placebo, and with the margin."""
        cases = tuple(replace(case, files={**case.files, self.path: self.text}) for case in wanted.cases)
        design = replace(wanted.design, placebo=False, margin=self.margin)
        return wanted._replace(cases=cases, design=design)


def is_place(text: str) -> bool:
    """Whether a word names a line of a file."""
    path, colon, line = text.rpartition(":")
    return bool(colon) and line.isdigit() and Path(path).is_file()


def left_out(place: str, *, points: float) -> WithoutStatement:
    """The statement at a line of a file that agents read, as a trial leaves it out."""
    named, _, line = place.rpartition(":")
    real = Path(named).resolve()
    root = repository_root(real.parent) or real.parent
    path = str(real.relative_to(root.resolve()))
    if not is_read_by_agents(str(real)):
        raise WhetError(f"No agent reads {named} by its name.", advice="Name a file such as CLAUDE.md or AGENTS.md.")
    text = files.decoded(files.read(files.at(real)) or b"", real)
    found = next((each for each in split_statements(path, text) if each.line <= int(line) <= each.last), None)
    change = passage_without(found, text) if found else None
    if found is None or change is None:
        raise WhetError(f"No statement stands at line {line} of {named}.", advice="`whet audit --all` lists them.")
    said = f"{found.place}: {found.tokens} tokens"
    origin = PatchOrigin(PatchWriter.PERSON, said=said)
    name, before = change.name(str(real)), digest(change.before)
    patch = Patch(Form.STATEMENT, Action.CHANGE, name, change.after, origin=origin, before=before, trust=Trust.OPERATOR)
    return WithoutStatement(patch, path, text, points / 100)


class TryOptions(NamedTuple):
    """The options as they were given."""

    cases: tuple[str, ...]
    seeds: int
    alpha: float
    budget: tuple[str, ...]
    placebo: bool | None
    model: str
    now: bool
    background: bool
    fresh: bool
    dry_run: bool
    agent: str = ""
    yes: bool = False


trial_options = together(
    click.option(
        "--cases", multiple=True, metavar="WHICH", help="Cases to use: a folder, a file, a name, or tag:WORD."
    ),
    click.option("--seeds", type=click.IntRange(1, 100), default=1, show_default=True, help="Attempts per case."),
    click.option(
        "--alpha",
        type=click.FloatRange(0, 0.5, min_open=True, max_open=True),
        default=ALPHA,
        show_default=True,
        help="Maximum false-accept rate.",
    ),
    budget_option,
    click.option("--placebo/--no-placebo", default=None, help="Add a placebo arm. Default: if the budget allows it."),
    model_option,
    agent_option,
    consent_option,
    click.option("--now", is_flag=True, help="Run in this process; a crash loses the work."),
    click.option("--background", is_flag=True, help="Queue it for `whet worker`; `whet worker list` lists it."),
    click.option("--fresh", is_flag=True, help="Rerun the base arm instead of reusing earlier results."),
    click.option("--dry-run", is_flag=True, help="Show the power and estimated cost of the trial, without running it."),
)


def conduct(
    patch: Patch, given: TryOptions, *, about: int = 0, asked: Callable[[WantedTrial], WantedTrial] | None = None
) -> int:
    """Try a patch and show what came of it: exit code 0 for any verdict. `asked` says what else the trial is to be."""
    home = find_home(os.environ)
    if given.now and given.background:
        raise WhetError("Use only one of --now and --background.", advice="Remove the others.")
    with opened(home) as database:
        wanted = wanted_of(home, patch, given, about=about)
        trial = prepare(home, database, asked(wanted) if asked else wanted, now=time.time())
    agent = trial.conditions.agent
    if agent and not given.dry_run:
        expect_allowed(agent.name, plan_lines(trial), yes=given.yes)
    if given.dry_run:
        return give(plan_record(trial), plan_lines(trial))
    if given.yes or not agent:
        say(*plan_lines(trial))
    expect_worth_it(trial)
    progress = _now(home, trial) if given.now else _queued(home, trial, follow=not given.background)
    if progress is None:
        return 0
    lines = (*result_lines(progress), *next_lines(NEXT[progress.result.verdict.ruling]))
    return give(result_record(trial, progress), lines)


def wanted_of(home: Home, patch: Patch, given: TryOptions, *, about: int = 0) -> WantedTrial:
    sampling = load(home).sampling
    agent = other_agent(given.agent)
    if sampling.temperature == 0 and given.seeds > 1 and not agent:
        raise WhetError(
            "At temperature 0, all seeds give the same answer.",
            advice="Give one seed, or set `whet config sampling.temperature`.",
        )
    design = TrialDesign(given.seeds, given.alpha, given.placebo, allowance_of(given.budget))
    asked = TrialAgent(agent, model=given.model) if agent else None
    conditions = AttemptConditions(given.model, sampling, asked, hidden=folders_of(home.folder, given.cases))
    return WantedTrial(patch, chosen(home.folder, given.cases), design, conditions, given.fresh, about)


def _now(home: Home, trial: Trial) -> TrialProgress:
    with trial_line() as show:
        steps = direct(home, trial.id, at_once=at_once(trial.conditions.agent))
        done = carry_out(home, steps, trial, observe=show)
    return decoded(done.value, TrialProgress)


def _queued(home: Home, trial: Trial, *, follow: bool) -> TrialProgress | None:
    # Work of its own, unless the same is open: what was cancelled or failed is not taken up by its key.
    watched = replace(trial, terms=replace(trial.terms, watched=follow and is_watched(os.environ)))
    wanted = replace(order(watched), key=new_id(time.time()))
    more = None if follow else {"trial": trial.id}
    with trial_line() as show:

        def look(work: "Work") -> None:
            with opened(home) as database:
                own = decoded(work.body, Trial).id  # an open one like it, if there was one
                progress = progress_of(database, own, TrialProgress)
            if progress is not None:
                show(progress)

        return queued(home, wanted, TrialProgress, more=more, at_once=at_once(trial.conditions.agent), look=look)


def queued(
    home: Home,
    wanted: Order,
    kind: type[Result],
    *,
    more: dict[str, str] | None,
    at_once: int,
    look: Callable[["Work"], None] = lambda _: None,
) -> Result | None:
    """What came of work that is given to the engine; this process works on it too. Raises WhetError where it fails.

    Where nobody waits for it, its id is printed, with `more` for programs.
    """
    from whet.work.given import WorkState, given_orders
    from whet.work.worker import launched

    with given_orders(home) as orders:
        id = orders.submit(wanted, Queue.TRIALS)
    if more is not None:
        give({"work": id, **more}, (QUEUED.format(id=id),))
        return None
    queues = [Queue.TRIALS, Queue.ATTEMPTS]
    with (
        launched(home, PROCEDURES, queues=queues, concurrency=max(2, at_once)) as worker,
        given_orders(home) as orders,
    ):
        while (work := orders.find(id)).is_open:
            worker.look_after()
            look(work)
            time.sleep(LOOK_SECONDS)
    if work.state is not WorkState.DONE or work.done is None:
        raise WhetError(f"The work {work.state}: {work.error}", advice=f"To resume it, run `whet worker retry {id}`.")
    return decoded(work.done.value, kind)
