"""What sessions teach, from evidence to change: tried where it can be, and asked about once."""

from pathlib import Path

import pytest
from msgspec.structs import replace

from conversations import agent, call, conversation, shell, user
from proving.trial_scenes import supply_of
from replies import says
from whet.agent.protocols import Reply
from whet.agent.providers.choosing import Supply
from whet.changes.apply import apply
from whet.improving.improve import improve
from whet.ledger.entries import Actor, Step
from whet.ledger.patches import Action, Form, Patch, Proof, Scope, digest
from whet.own.runs.run import Run
from whet.proving.attempt import attempt
from whet.sessions.transcripts import Transcript
from whet.sessions.trust import Trust
from whet.store.database import Database
from whet.store.home import Home
from whet.store.ledger import ledger_of
from whet.store.rows import Provenance, prepare
from whet.store.sessions import keep
from whet.store.settings_file import assign
from whet.trials.design import TrialDesign
from whet.trials.improvements import (
    ImproveReport,
    ImproveRequest,
    LessonOutcome,
    LessonResult,
    WordingOrigin,
    way_of,
)
from whet.work.orders import DirectSteps, decoded

ASK = ImproveRequest(model="scripted", design=TrialDesign(placebo=False), most=1)
RULE = "`rtk bun install` fails here (“unrecognized subcommand 'bun'”); run `bun install` instead."
EMBEDDED = pytest.mark.parametrize("home", ["sqlite"], indirect=True)  # what does not depend on the database


def learning(number: int, folder: str = "/home/noor/shop") -> Transcript:
    """A session in which the wrapper fails and the program itself works."""
    failed = shell("rtk bun install", "error: unrecognized subcommand 'bun'", error=True)
    turns = (user(f"Install part {number}"), failed, shell("bun install", "Done"), agent("Done."))
    return replace(conversation(*turns, native_id=f"s{number}", at=float(number)), folder=folder)


def kept(database: Database, *transcripts: Transcript) -> None:
    for number, transcript in enumerate(transcripts, 1):
        keep(database, prepare(transcript), Provenance("", float(number), float(number)))


def idle(_run: Run) -> Reply:
    """A model that in trials does nothing of use."""
    return says("I do not know.")


def improved(home: Home, ask: ImproveRequest = ASK) -> LessonOutcome:
    supply: Supply = supply_of(idle)
    steps = DirectSteps("night", lambda inner, _kind, ask: attempt(home, inner, ask, supply=supply).value)
    report = decoded(improve(home, steps, ask, supply=supply).value, ImproveReport)
    [outcome] = [each for each in report.outcomes if way_of(each.lesson) is WordingOrigin.EVIDENCE]
    return outcome


def planned(home: Home) -> ImproveReport:
    done = improve(home, DirectSteps("dry"), replace(ASK, most=5, dry_run=True), supply=supply_of(idle))
    return decoded(done.value, ImproveReport)


def planned_outcomes(home: Home) -> list[LessonOutcome]:
    return [each for each in planned(home).outcomes if way_of(each.lesson) is WordingOrigin.EVIDENCE]


def test_what_a_tool_said_is_tried_and_then_waits_with_what_is_known_of_it(home: Home, database: Database) -> None:
    kept(database, learning(1), learning(2))
    outcome = improved(home)
    assert (outcome.became, outcome.lesson.trust) == (LessonResult.WAITS, Trust.TOOL)
    [entry] = ledger_of(home, database).state().pending
    assert entry.patch.text == RULE
    assert entry.patch.scope.project == "/home/noor/shop"
    assert entry.patch.origin.untried
    settled = improve(home, DirectSteps("next night"), ASK, supply=supply_of(idle))
    assert decoded(settled.value, ImproveReport).outcomes == ()


def test_without_a_model_it_waits_as_not_tried(home: Home, database: Database) -> None:
    kept(database, learning(1), learning(2))
    outcome = improved(home, replace(ASK, model=""))
    assert outcome.became is LessonResult.WAITS
    [entry] = ledger_of(home, database).state().pending
    assert entry.patch.text == RULE
    assert entry.patch.reason.endswith("not tried: no model is set")
    assert entry.step is Step.PROPOSED


@EMBEDDED
def test_what_three_projects_show_is_told_everywhere_and_what_two_show_is_not(home: Home, database: Database) -> None:
    kept(
        database,
        *(
            learning(n, folder)
            for n, folder in ((1, "/home/noor/a"), (2, "/home/noor/a"), (3, "/home/noor/b"), (4, "/home/noor/b"))
        ),
    )
    assert {each.lesson.patch.scope.project for each in planned_outcomes(home) if each.lesson.is_worded} == {
        "/home/noor/a",
        "/home/noor/b",
    }
    kept(database, learning(5, "/home/noor/c"), learning(6, "/home/noor/c"))
    [outcome] = planned_outcomes(home)
    assert outcome.lesson.patch.scope.project == ""
    assert outcome.lesson.patch.text == RULE.replace(" here", "")
    assert outcome.lesson.place == "3 projects"
    assert len({proof.session for proof in outcome.lesson.patch.proofs}) == 6


def ruled(home: Home, database: Database, text: str, *sessions: str) -> str:
    """A rule of the shop in force, with the sessions that speak for it."""
    name = f"rule-{digest(text)[:6]}"
    proofs = tuple(Proof(session) for session in sessions)
    patch = Patch(Form.RULE, Action.ADD, name, text, Scope(project="/home/noor/shop"), trust=Trust.AGENT, proofs=proofs)
    apply(home, database, patch, actor=Actor.POLICY, now=1.0)
    return name


@EMBEDDED
def test_a_lesson_that_a_rule_in_force_says_already_counts_there(home: Home, database: Database) -> None:
    name = ruled(home, database, RULE.replace(" run ", " please run "), "x")
    kept(database, learning(1), learning(2))
    [outcome] = planned_outcomes(home)
    assert outcome.became is LessonResult.REFUSED
    assert outcome.why == f"the rule {name} says the same; 2 sessions count there"


@EMBEDDED
def test_in_a_full_project_the_weakest_rule_is_proposed_to_leave_for_a_better_one(
    home: Home, database: Database
) -> None:
    assign(home, ("rules", "per_project"), 2)
    weak = ruled(home, database, "Name branches after their ticket.", "x")
    ruled(home, database, "Keep the change log in order of time.", "x", "y", "z")
    kept(database, learning(1), learning(2))
    improved(home, replace(ASK, model=""))
    added, leaving = ledger_of(home, database).state().pending
    assert added.patch.text == RULE
    assert (leaving.patch.name, leaving.patch.action) == (weak, Action.REMOVE)


@EMBEDDED
def test_in_a_full_project_weaker_evidence_adds_nothing(home: Home, database: Database) -> None:
    assign(home, ("rules", "per_project"), 1)
    ruled(home, database, "Name branches after their ticket.", "x", "y", "z")
    kept(database, learning(1), learning(2))
    [outcome] = planned_outcomes(home)
    assert outcome.became is LessonResult.REFUSED
    assert outcome.why.startswith("the project has as many rules as `rules.per_project` allows (1)")


@EMBEDDED
def test_in_a_declared_project_what_commands_print_is_believed_as_the_agent_is(
    home: Home, database: Database, tmp_path: Path
) -> None:
    shop = tmp_path / "shop"
    shop.mkdir()
    kept(database, learning(1, str(shop)), learning(2, str(shop)))
    assign(home, ("trust", "projects"), [str(shop)])
    [outcome] = planned_outcomes(home)
    assert outcome.lesson.patch.trust is Trust.AGENT


@EMBEDDED
def test_nothing_is_learned_from_how_the_editing_tools_work(home: Home, database: Database) -> None:
    stale = call(
        "Edit", {"file_path": "/a.py"}, "File has not been read yet. Read it first before writing.", error=True
    )
    kept(database, *(conversation(user("Go"), stale, native_id=f"e{each}", at=float(each)) for each in range(1, 4)))
    assert planned_outcomes(home) == []
