"""What evidence teaches, from candidate to change: written by a model or a pattern, tried, and asked about once."""

from pathlib import Path
from threading import Event

import pytest
from msgspec.structs import replace

from agent.loopback import playing, streamed
from agent.providers.vendor_streams import openai_answer
from conversations import agent, call, conversation, shell, user
from proving.trial_scenes import supply_of
from replies import says
from whet.agent.protocols import Chosen, Reply
from whet.agent.providers.choosing import provider_for
from whet.changes.apply import apply
from whet.engine.steps import Direct, decoded
from whet.improving.improve import improve
from whet.improving.lessons_to_try import NO_WORDS
from whet.improving.writer import WriterMeans, write_from_evidence
from whet.ledger.entries import Actor, Step
from whet.ledger.origins import PatchWriter
from whet.ledger.patches import Action, Form, Patch, Proof, Scope, digest
from whet.lessons.candidates import candidates
from whet.lessons.finding import pieces_of_session
from whet.lessons.record import Lesson
from whet.proving.attempt import Supply, attempt
from whet.runs.run import Run
from whet.runs.settings import Endpoint, Settings
from whet.sessions.transcripts import Transcript
from whet.sessions.trust import Trust
from whet.store.adding import prepare
from whet.store.database import Database
from whet.store.home import Home
from whet.store.ledger import ledger_of
from whet.store.sessions import Provenance, keep
from whet.store.settings_changes import assign
from whet.trials.design import TrialDesign
from whet.trials.improvements import Became, ImproveReport, ImproveRequest, LessonOutcome, Way, way_of, why_of

ASK = ImproveRequest(model="scripted", design=TrialDesign(placebo=False), most=1)
PATTERN = "In this project run `bun install`; `rtk bun …` fails: unrecognized subcommand 'bun'"
EMBEDDED = pytest.mark.parametrize("home", ["sqlite"], indirect=True)  # what does not depend on the database
WRITTEN = "Call `bun` itself, without `rtk`: that wrapper has no such subcommand."


def learning(number: int, folder: str = "/home/noor/shop") -> Transcript:
    """A session in which the wrapper fails and the program itself works."""
    failed = shell("rtk bun install", "error: unrecognized subcommand 'bun'", error=True)
    turns = (user(f"Install part {number}"), failed, shell("bun install", "Done"), agent("Done."))
    return replace(conversation(*turns, native_id=f"s{number}", at=float(number)), folder=folder)


def kept(database: Database, *transcripts: Transcript) -> None:
    for number, transcript in enumerate(transcripts, 1):
        keep(database, prepare(transcript), Provenance("", float(number), float(number)))


def writes(answer: str, seen: list[Run] | None = None) -> Supply:
    """A model that writes this instruction, and in trials does nothing of use."""

    def reply(run: Run) -> Reply:
        if "standing instruction" not in run.system:
            return says("I do not know.")
        if seen is not None:
            seen.append(run)
        return says(answer)

    return supply_of(reply)


def improved(home: Home, supply: Supply, ask: ImproveRequest = ASK) -> LessonOutcome:
    steps = Direct("night", lambda inner, _kind, ask: attempt(home, inner, ask, supply=supply).value)
    report = decoded(improve(home, steps, ask, supply=supply).value, ImproveReport)
    [outcome] = [each for each in report.outcomes if way_of(each.lesson) is Way.EVIDENCE]
    return outcome


def planned(home: Home) -> ImproveReport:
    done = improve(home, Direct("dry"), replace(ASK, most=5, dry_run=True), supply=writes(WRITTEN))
    return decoded(done.value, ImproveReport)


def planned_outcomes(home: Home) -> list[LessonOutcome]:
    return [each for each in planned(home).outcomes if way_of(each.lesson) is Way.EVIDENCE]


def test_a_model_writes_from_marked_evidence_and_without_tools(home: Home, database: Database) -> None:
    kept(database, learning(1), learning(2))
    seen: list[Run] = []
    outcome = improved(home, writes(WRITTEN, seen))
    assert (outcome.lesson.patch.text, outcome.lesson.patch.trust) == (WRITTEN, Trust.TOOL)
    assert outcome.lesson.patch.scope.project == "/home/noor/shop"
    [run] = seen
    assert run.shown == ()
    order = run.messages[0].text
    assert order.count("evidence from sessions") == 1
    assert "rtk bun install" in order.split(" ends]", maxsplit=1)[0]
    assert run.messages[0].trust is Trust.TOOL


def test_where_a_model_writes_a_platitude_the_pattern_speaks(home: Home, database: Database) -> None:
    kept(database, learning(1), learning(2))
    outcome = improved(home, writes("Always read error messages with care."))
    assert outcome.lesson.patch.text == PATTERN


def test_a_small_model_writes_nothing_over_the_patterns_words(home: Home, database: Database) -> None:
    kept(database, learning(1), learning(2))
    seen: list[Run] = []
    supply = writes(WRITTEN, seen)

    def small(home: Home, settings: Settings, model: str) -> Chosen:
        chosen = supply(home, settings, model)
        return chosen._replace(model=replace(chosen.model, size="small"))

    outcome = improved(home, small)
    assert (outcome.lesson.patch.text, seen) == (PATTERN, [])


def test_what_a_tool_said_is_tried_and_then_waits_with_what_is_known_of_it(home: Home, database: Database) -> None:
    kept(database, learning(1), learning(2))
    outcome = improved(home, writes(WRITTEN))
    assert outcome.became is Became.WAITS
    [entry] = ledger_of(home, database).state().pending
    assert entry.patch.text == WRITTEN
    assert entry.patch.origin.untried
    assert entry.patch.origin.writer is PatchWriter.MODEL
    settled = improve(home, Direct("next night"), ASK, supply=writes("Call `bun` alone."))
    assert [
        each for each in decoded(settled.value, ImproveReport).outcomes if way_of(each.lesson) is Way.EVIDENCE
    ] == []


def test_without_a_model_it_waits_as_not_tried(home: Home, database: Database) -> None:
    kept(database, learning(1), learning(2))
    outcome = improved(home, writes(WRITTEN), replace(ASK, model=""))
    assert outcome.became is Became.WAITS
    [entry] = ledger_of(home, database).state().pending
    assert entry.patch.text == PATTERN
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
    assert outcome.lesson.patch.text == PATTERN.replace("In this project run", "Run")
    assert why_of(outcome.lesson) == "what worked after a failure in 6 sessions of 3 projects"
    assert len({proof.session for proof in outcome.lesson.patch.proofs}) == 6


def ruled(home: Home, database: Database, text: str, *sessions: str) -> str:
    """A rule of the shop in force, with the sessions that speak for it."""
    name = f"rule-{digest(text)[:6]}"
    proofs = tuple(Proof(session) for session in sessions)
    patch = Patch(Form.RULE, Action.ADD, name, text, Scope(project="/home/noor/shop"), trust=Trust.AGENT, proofs=proofs)
    apply(home, database, patch, actor=Actor.POLICY, now=1.0)
    return name


@EMBEDDED
def test_the_catalogue_is_silent_where_the_sessions_say_what_works(home: Home, database: Database) -> None:
    kept(database, *(learning(number) for number in range(1, 13)))
    report = planned(home)
    assert report.lessons > 0
    assert {way_of(each.lesson) for each in report.outcomes} == {Way.EVIDENCE}


@EMBEDDED
def test_a_lesson_that_a_rule_in_force_says_already_counts_there(home: Home, database: Database) -> None:
    name = ruled(home, database, PATTERN.replace(" run ", " please run "), "x")
    kept(database, learning(1), learning(2))
    [outcome] = planned_outcomes(home)
    assert outcome.became is Became.REFUSED
    assert outcome.why == f"the rule {name} says the same; 2 sessions count there"


@EMBEDDED
def test_in_a_full_project_the_weakest_rule_is_proposed_to_leave_for_a_better_one(
    home: Home, database: Database
) -> None:
    assign(home, ("rules", "per_project"), 2)
    weak = ruled(home, database, "Name branches after their ticket.", "x")
    ruled(home, database, "Keep the change log in order of time.", "x", "y", "z")
    kept(database, learning(1), learning(2))
    improved(home, writes(WRITTEN), replace(ASK, model=""))
    added, leaving = ledger_of(home, database).state().pending
    assert added.patch.text == PATTERN
    assert (leaving.patch.name, leaving.patch.action) == (weak, Action.REMOVE)


@EMBEDDED
def test_in_a_full_project_weaker_evidence_adds_nothing(home: Home, database: Database) -> None:
    assign(home, ("rules", "per_project"), 1)
    ruled(home, database, "Name branches after their ticket.", "x", "y", "z")
    kept(database, learning(1), learning(2))
    [outcome] = planned_outcomes(home)
    assert outcome.became is Became.REFUSED
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
def test_a_model_behind_http_writes_from_the_evidence_and_is_offered_no_tools(home: Home, database: Database) -> None:
    [found] = candidates(pieces_of_session(learning(1)), {})
    with playing(streamed(openai_answer({"content": WRITTEN}))) as server:
        settings = Settings(model="mine:m", providers=(Endpoint("mine", "openai", server.base_url),))
        means = WriterMeans(home, database, provider_for(settings, environment={}, home=home), Event())
        made = write_from_evidence(means, Lesson("", "/home/noor/shop", "", "", "", NO_WORDS, found)).lesson
    assert (made.rule, made.trust) == (WRITTEN, Trust.TOOL)
    [request] = server.requests
    sent = request.body.decode()
    assert "unrecognized subcommand" in sent
    assert "begins: evidence from sessions" in sent
    assert '"tools"' not in sent


@EMBEDDED
def test_no_model_is_asked_about_errors_that_explain_themselves(home: Home, database: Database) -> None:
    stale = call(
        "Edit", {"file_path": "/a.py"}, "File has not been read yet. Read it first before writing.", error=True
    )
    kept(database, *(conversation(user("Go"), stale, native_id=f"e{each}", at=float(each)) for each in range(1, 4)))
    assert planned_outcomes(home) == []
