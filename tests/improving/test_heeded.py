"""Whether sessions were told a rule, as far as anything tells."""

import msgspec
import pytest
from msgspec.structs import replace

from conversations import conversation, program, shell, user
from whet.improving.heeded import following, key_of
from whet.ledger.entries import Item
from whet.ledger.patches import Form, RuleSituation, Scope
from whet.lessons.following import Following
from whet.own.runs.run import Run
from whet.own.told.prompt import Prompt
from whet.sessions.transcripts import Transcript
from whet.sessions.trust import Trust
from whet.store import sessions
from whet.store.analyses import refresh
from whet.store.canary_counts import Delivery, Telling, keep_delivery, keep_reminders, keep_tellings
from whet.store.database import Database
from whet.store.home import Home
from whet.store.listing import Filters
from whet.store.recording import Recorder
from whet.store.records import keep_prompt
from whet.store.rows import DamagedRow, Provenance, prepare
from whet.store.troubles import session_troubles
from whet.telling.targets.sync import FileTelling, note
from whet.trouble.values import TroubleKind

PLACES = ("/srv/shop.worktrees/tea", "/srv/shop")
BEGUN = 1_790_000_000.0
DAY = "2026-09-21"
RULE = Item(
    Form.RULE,
    "bun",
    "Run bun directly.",
    since=BEGUN - 10,
    number=7,
    situation=RuleSituation("rtk bun i", "unrecognized subcommand", "bun i"),
)


def made(name: str, command: str, *, source: str = "codex", at: float = BEGUN) -> Transcript:
    return conversation(user(f"Hello {name}"), shell(command, "Done"), native_id=name, source=source, at=at)


def keep(database: Database, value: Transcript) -> None:
    sessions.keep(database, prepare(value), Provenance(f"/{value.native_id}", BEGUN, BEGUN))


def fared(home: Home, database: Database, rule: Item = RULE) -> Following:
    return following(home, database, [rule])[rule.name]


def test_what_nobody_wrote_down_is_not_known(home: Home, database: Database) -> None:
    keep(database, made("a", "bun i"))
    keep(database, made("b", "rtk bun i"))
    keep(database, made("c", "ls"))
    found = fared(home, database)
    assert found == Following(looked=3, came_up=2, followed=1)
    assert found.unknown == 2


def test_what_a_session_says_of_a_rule_is_kept_and_found_anew_when_it_grew(home: Home, database: Database) -> None:
    keep(database, made("a", "bun i"))
    keep(database, made("b", "rtk bun i"))
    first = fared(home, database)
    database.execute("UPDATE messages SET body = ?", (b"damaged",))
    assert fared(home, database) == first, "no record is read again"
    with pytest.raises(DamagedRow):
        fared(home, database, replace(RULE, text="Other words."))
    database.execute("DELETE FROM sessions")
    assert database.query("SELECT * FROM derived WHERE kind = 'findings'") == []


def test_a_session_that_grew_is_read_again(home: Home, database: Database) -> None:
    keep(database, made("a", "bun i"))
    assert fared(home, database).followed == 1
    grown = made("a", "bun i")
    keep(database, replace(grown, messages=(*grown.messages, *shell("rtk bun i", "unrecognized", error=True))))
    assert fared(home, database) == Following(looked=1, came_up=1, followed=0)


def test_what_is_kept_of_rules_that_are_gone_goes_with_the_next_look(home: Home, database: Database) -> None:
    keep(database, made("a", "bun i"))
    for words in ("One.", "Two.", "Three."):
        fared(home, database, replace(RULE, text=words))
    [(record,)] = database.query("SELECT record FROM derived WHERE kind = 'findings'")
    assert list(msgspec.json.decode(record)) == [key_of(replace(RULE, text="Three."))]


def test_a_session_that_was_reminded_is_judged_by_what_it_did_then(home: Home, database: Database) -> None:
    wrong, right = shell("rtk bun i", "unrecognized", error=True), shell("bun i", "Done")
    for name, turns in (("better", (*wrong, *right)), ("stubborn", (*wrong, *wrong)), ("unreminded", (*wrong, *right))):
        keep(database, conversation(user(f"Hello {name}"), *turns, native_id=name, source="codex", at=BEGUN))
    keep_reminders(database, [Telling("codex", name, (7,), BEGUN) for name in ("better", "stubborn")])
    found = fared(home, database)
    assert (found.reminded, found.reminded_followed, found.told, found.followed) == (2, 1, 2, 1)


def test_sessions_before_the_rule_are_not_asked(home: Home, database: Database) -> None:
    keep(database, made("a", "bun i", at=BEGUN - 20))
    assert fared(home, database) == Following()


def test_what_was_delivered_of_a_canary_says_who_was_told(home: Home, database: Database) -> None:
    keep(database, made("a", "bun i"))
    keep(database, made("b", "bun i", source="claude-code"))
    for told, agent in ((True, "codex"), (False, "claude-code")):
        keep_delivery(database, Delivery(7, f"/{agent}", DAY, told, (agent,), "", BEGUN - 5))
    assert fared(home, database) == Following(looked=2, came_up=2, told=1, untold=1, followed=2, told_followed=1)


def test_the_prompt_of_an_own_session_says_whether_it_was_told(home: Home, database: Database) -> None:
    for name, text in (("a", f"Rules:\n- {RULE.text}"), ("b", "Rules: none.")):
        key = keep_prompt(database, Prompt(text, "", ""), now=BEGUN)
        messages = made(name, "bun i").messages
        Recorder(database, Run(id=name, model="m", system="", messages=messages, prompt_key=key), now=lambda: BEGUN)
    assert fared(home, database) == Following(looked=2, came_up=2, told=1, untold=1, followed=2, told_followed=1)


def test_a_rule_without_a_situation_is_asked_by_its_words_where_a_person_wrote_it(
    home: Home, database: Database
) -> None:
    keep(database, made("a", "npm ci"))
    plain = replace(RULE, text="Use pnpm instead of npm.", situation=RuleSituation())
    assert fared(home, database, replace(plain, trust=Trust.OPERATOR)) == Following(looked=1, came_up=1)
    assert fared(home, database, plain) == Following(looked=1)


def test_what_a_hook_told_at_the_start_says_who_was_told(home: Home, database: Database) -> None:
    for name in ("told", "other", "silent"):
        keep(database, made(name, "bun i"))
    keep_tellings(database, [Telling("codex", "told", (3, 7), BEGUN), Telling("codex", "other", (), BEGUN)])
    assert fared(home, database) == Following(looked=3, came_up=3, told=1, untold=1, followed=3, told_followed=1)


def test_the_sync_log_says_whose_files_had_the_rule_when_their_session_began(home: Home, database: Database) -> None:
    for name, at in (("early", BEGUN - 9), ("told", BEGUN), ("late", BEGUN + 20)):
        keep(database, made(name, "bun i", at=at))
    keep(database, made("reads-another-file", "bun i", source="claude-code"))
    note(home, FileTelling(BEGUN - 5, "/AGENTS.md", ("codex",), "", (3, 7)))
    note(home, FileTelling(BEGUN + 10, "/AGENTS.md", ("codex",), "", (3,)))
    found = fared(home, database)
    assert found == Following(looked=4, came_up=4, told=1, untold=1, followed=4, told_followed=1)
    assert found.unknown == 2, "before the first note, and of an agent that reads another file"


def test_the_log_of_one_project_says_nothing_of_another(home: Home, database: Database) -> None:
    keep(database, replace(made("a", "bun i"), folder="/home/noor/shop"))
    keep(database, replace(made("b", "bun i"), folder="/home/noor/shopping"))
    note(home, FileTelling(BEGUN - 5, "/home/noor/shop/AGENTS.md", ("codex",), "/home/noor/shop", (7,)))
    assert fared(home, database) == Following(looked=2, came_up=2, told=1, followed=2, told_followed=1)


def test_a_folder_whose_name_only_begins_like_the_projects_was_not_shown_its_file(
    home: Home, database: Database
) -> None:
    keep(database, replace(made("a", "bun i"), folder="/srv/shop/.claude/worktrees/till"))
    keep(database, replace(made("b", "bun i"), folder="/srv/shop-legacy"))
    keep_delivery(database, Delivery(7, "/srv/shop/AGENTS.md", DAY, True, ("codex",), "/srv/shop", BEGUN - 5))
    assert fared(home, database) == Following(looked=2, came_up=2, told=1, followed=2, told_followed=1)


def test_a_file_of_the_persons_choice_is_shown_to_every_other_agent(home: Home, database: Database) -> None:
    """As the watch counts it."""
    keep(database, made("a", "bun i"))
    keep(database, made("b", "bun i", source="whet"))
    keep_delivery(database, Delivery(7, "/srv/RULES.md", DAY, True, ("file",), "", BEGUN - 5))
    assert fared(home, database) == Following(looked=2, came_up=2, told=1, followed=2, told_followed=1)


def test_a_rule_of_a_gone_worktree_still_holds_there_as_its_projects_does(home: Home, database: Database) -> None:
    keep(database, replace(made("a", "bun i"), folder="/srv/shop.worktrees/tea", branch="feat/tea"))
    keep(database, replace(made("b", "bun i"), folder="/srv/shop"))
    counts = {each: fared(home, database, replace(RULE, scope=Scope(project=each))).looked for each in PLACES}
    assert counts == {"/srv/shop.worktrees/tea": 1, "/srv/shop": 2}


def test_a_rule_of_a_folder_holds_in_the_folders_below_it(home: Home, database: Database) -> None:
    for folder in ("/srv/shop", "/srv/shop/till", "/srv/shop-legacy", "/srv"):
        keep(database, replace(made(folder, "bun i"), folder=folder))
    assert fared(home, database, replace(RULE, scope=Scope(project="/srv/shop"))).looked == 2


def test_a_rule_that_was_told_and_broken_is_trouble_of_its_session(home: Home, database: Database) -> None:
    told = replace(made("b", "rtk bun i"), messages=(program(RULE.text), *made("b", "rtk bun i").messages))
    keep(database, told)
    keep(database, made("c", "rtk bun i"))
    refresh(database, progress=lambda _: None)
    assert fared(home, database).told == 1
    assert fared(home, database).told == 1
    found = {each.trouble.session: each.trouble.troubles for each in session_troubles(database, Filters())}
    [broken] = [trouble for troubles in found.values() for trouble in troubles if trouble.kind == TroubleKind.TOLD]
    assert broken.cause == RULE.text
    assert broken in found[told.id]
    assert (broken.first, broken.last, broken.calls) == (1, 3, 1)
