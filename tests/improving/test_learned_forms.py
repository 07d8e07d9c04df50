"""The form follows the content: a procedure becomes a skill, what a person says of themselves becomes a note."""

import pytest
from msgspec.structs import replace

from conversations import Turn, agent, conversation, shell, user
from proving.trial_scenes import questions, supply_of
from replies import says
from whet.changes.apply import apply
from whet.changes.pending import approve, refuse
from whet.engine.steps import Direct, decoded
from whet.evidence.verdicts import Ruling
from whet.improving.improve import improve
from whet.improving.taught import taught_by_projects
from whet.ledger.entries import Actor
from whet.ledger.patches import Action, Form, Patch
from whet.proving.attempt import attempt
from whet.sessions.transcripts import Transcript
from whet.sessions.trust import Trust
from whet.store.adding import prepare
from whet.store.case_files import keep_case
from whet.store.database import Database
from whet.store.home import Home
from whet.store.ledger import ledger_of
from whet.store.listing import Filters
from whet.store.recording import SOURCE
from whet.store.sessions import Provenance, keep
from whet.store.skill_files import read_text
from whet.told.skills import compose
from whet.trials.design import TrialDesign
from whet.trials.improvements import Became, ImproveReport, ImproveRequest, LessonOutcome, Way, way_of

EMBEDDED = pytest.mark.parametrize("home", ["sqlite"], indirect=True)  # what does not depend on the database
RELEASE = ("npm version patch", "npm run docs:publish", "npm publish --access public", "git push --follow-tags")
NAME = "shop-npm-publish"
WISH = "I always want to see the plan before anything is changed"


def releasing(number: int, *commands: str) -> Transcript:
    turns: tuple[Turn, ...] = (
        user("Release it"),
        *(shell(each, "done") for each in commands or RELEASE),
        agent("Done."),
    )
    return replace(conversation(*turns, native_id=f"s{number}", at=float(number)), folder="/home/noor/shop")


def wishing(source: str) -> Transcript:
    turns = (user("Fix it"), agent("Done."), user(f"{WISH}."), agent("Noted."))
    return replace(conversation(*turns, native_id="wish", at=1.0, source=source), folder="/home/noor/shop")


def kept(database: Database, *transcripts: Transcript) -> None:
    for number, transcript in enumerate(transcripts, 1):
        keep(database, prepare(transcript), Provenance("", float(number), float(number)))


def outcomes(home: Home) -> list[LessonOutcome]:
    report = decoded(improve(home, Direct("night"), ImproveRequest(most=9)).value, ImproveReport)
    return [each for each in report.outcomes if way_of(each.lesson) is Way.EVIDENCE]


def approve_it(home: Home, database: Database) -> None:
    [entry] = ledger_of(home, database).state().pending
    approve(home, database, entry.number, actor=Actor.PERSON, now=entry.at)


def with_skill(home: Home, database: Database, name: str, description: str, body: str) -> None:
    text = compose(name, description, body)
    apply(home, database, Patch(Form.SKILL, Action.ADD, name, text, trust=Trust.USER), actor=Actor.PERSON, now=1.0)


def test_a_procedure_waits_as_a_skill_and_is_one_when_it_is_approved(home: Home, database: Database) -> None:
    kept(database, *(releasing(number) for number in range(3)))
    [outcome] = outcomes(home)
    assert outcome.became is Became.WAITS
    assert "canary" not in outcome.why
    [entry] = ledger_of(home, database).state().pending
    assert (entry.patch.form, entry.patch.name, entry.patch.trust) == (Form.SKILL, NAME, Trust.TOOL)
    assert len(entry.patch.proofs) == 3
    approve(home, database, entry.number, actor=Actor.PERSON, now=entry.at)
    text = read_text(home.folder, NAME)
    assert text is not None
    assert "1. `npm version patch`\n2. `npm run docs:publish`\n" in text
    assert outcomes(home) == []


@EMBEDDED
def test_a_refused_procedure_is_not_proposed_again_when_more_sessions_show_it(home: Home, database: Database) -> None:
    kept(database, *(releasing(number) for number in range(3)))
    outcomes(home)
    [entry] = ledger_of(home, database).state().pending
    refuse(home, database, entry.number, actor=Actor.PERSON, now=entry.at)
    kept(database, *(releasing(number) for number in range(3, 6)))
    assert outcomes(home) == []


@EMBEDDED
def test_a_skill_for_the_same_task_takes_the_steps_in(home: Home, database: Database) -> None:
    with_skill(home, database, "packages", "How packages go out", "`npm version minor`, then `npm publish`.")
    kept(database, *(releasing(number) for number in range(3)))
    [outcome] = outcomes(home)
    patch = outcome.lesson.patch
    assert patch is not None
    assert (patch.form, patch.action, patch.name) == (Form.SKILL, Action.CHANGE, "packages")
    assert "`npm version minor`, then `npm publish`." in patch.text
    assert "3. `npm publish --access public`" in patch.text
    approve_it(home, database)
    [again] = outcomes(home)
    assert again.became is Became.REFUSED
    assert again.why == "the skill packages says the same; 3 sessions count there"


@EMBEDDED
def test_a_procedure_that_the_project_tells_in_its_files_is_not_proposed(home: Home, database: Database) -> None:
    folder = home.folder / "shop"
    folder.mkdir()
    (folder / "AGENTS.md").write_text("Release: npm version, npm run docs:publish, npm publish, then push.\n")
    kept(database, *(replace(releasing(number), folder=str(folder)) for number in range(3)))
    [project] = taught_by_projects(database, Filters())
    [lesson] = [each for each in project.lessons if each.patch.form is Form.SKILL]
    assert lesson.checks.stands_in.endswith("AGENTS.md")
    assert not lesson.is_proposable


@EMBEDDED
def test_what_a_person_says_of_themselves_to_whets_own_agent_is_a_note(home: Home, database: Database) -> None:
    kept(database, wishing(SOURCE))
    [outcome] = outcomes(home)
    patch = outcome.lesson.patch
    assert patch is not None
    assert (patch.form, patch.text, patch.trust, patch.scope.project) == (Form.NOTE, WISH, Trust.USER, "")
    approve_it(home, database)
    assert WISH in (home.folder / "user.md").read_text()
    assert outcomes(home) == []


@EMBEDDED
def test_said_to_another_agent_it_is_a_rule_of_the_project(home: Home, database: Database) -> None:
    kept(database, wishing("claude-code"))
    [outcome] = outcomes(home)
    assert (outcome.lesson.patch.form, outcome.lesson.patch.scope.project) == (Form.RULE, "/home/noor/shop")


@EMBEDDED
def test_a_note_that_the_person_wrote_already_is_not_proposed(home: Home, database: Database) -> None:
    (home.folder / "user.md").write_text(f"- {WISH}\n")
    kept(database, wishing(SOURCE))
    [outcome] = outcomes(home)
    assert outcome.became is Became.REFUSED
    assert outcome.why.endswith("says the same; 1 session count there")


@EMBEDDED
def test_a_dry_run_says_where_a_note_and_a_skill_would_go(home: Home, database: Database) -> None:
    kept(database, wishing(SOURCE), *(releasing(number) for number in range(3)))
    dry = improve(home, Direct("dry"), ImproveRequest(most=9, dry_run=True))
    report = decoded(dry.value, ImproveReport)
    places = {each.lesson.patch.form: each.goes_to for each in report.outcomes if each.lesson.is_worded}
    assert places[Form.NOTE] == ("user.md in Whet's own memory",)
    assert places[Form.SKILL] == (f"skills/{NAME} in Whet's home",)


def failing(number: int) -> Transcript:
    """A session in which the tests are first run in a way that this project refuses."""
    failed = shell(f"python -m pytest test_m{number}.py", "Use: ./dev test MODULE", error=True)
    turns = (user(f"Test m{number}"), failed, shell(f"./dev test m{number}", "1 passed"), agent("Done."))
    return replace(conversation(*turns, native_id=f"f{number}", at=float(number)), folder="/home/noor/shop")


@EMBEDDED
def test_a_rule_of_a_convention_has_an_example_of_the_sessions_that_wrote_it(home: Home, database: Database) -> None:
    kept(database, *(failing(number) for number in range(1, 9)))
    [outcome] = outcomes(home)
    patch = outcome.lesson.patch
    assert patch is not None
    assert patch.text == "In this project run tests with `./dev test MODULE`."
    assert patch.example == "`python -m pytest test_m1.py` fails, `./dev test m1` works."
    assert patch.trust is Trust.TOOL
    approve_it(home, database)
    [rule] = ledger_of(home, database).state().rules
    assert rule.example == patch.example


def improved_with(home: Home, words: str) -> LessonOutcome:
    """What becomes of the one idea where a model does what is asked as soon as it is told these words."""
    for case in questions(24):
        keep_case(home.folder / "cases", case)
    supply = supply_of(lambda run: says("yes" if words in run.system else "no"))
    steps = Direct("night", lambda inner, _kind, ask: attempt(home, inner, ask, supply=supply).value)
    cases = tuple(case.name for case in questions(24))
    ask = ImproveRequest(model="scripted", design=TrialDesign(placebo=False), most=1, cases=cases)
    report = decoded(improve(home, steps, ask, supply=supply).value, ImproveReport)
    [outcome] = [each for each in report.outcomes if way_of(each.lesson) is Way.EVIDENCE]
    return outcome


@EMBEDDED
def test_a_note_that_is_proved_is_kept(home: Home, database: Database) -> None:
    kept(database, wishing(SOURCE))
    outcome = improved_with(home, WISH)
    assert outcome.verdict is not None
    assert (outcome.verdict.ruling, outcome.became) == (Ruling.ACCEPT, Became.KEPT)
    assert WISH in (home.folder / "user.md").read_text()


@EMBEDDED
def test_a_skill_that_is_proved_waits_for_a_person_with_its_verdict(home: Home, database: Database) -> None:
    kept(database, *(releasing(number) for number in range(3)))
    outcome = improved_with(home, NAME)
    assert outcome.verdict is not None
    assert (outcome.verdict.ruling, outcome.became) == (Ruling.ACCEPT, Became.WAITS)
    [entry] = ledger_of(home, database).state().pending
    assert entry.patch.origin.trial
    assert read_text(home.folder, NAME) is None
