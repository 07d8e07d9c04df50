"""Views say what the commands say, from a real store, and lead to what is behind each number."""

import html
import json
import re
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from command import Whet, runner
from page_client import PageClient, page_of
from page_store import RULE, filled_home
from patience import until
from samples_of_templates import TEMPLATE
from whet.changes.apply import apply, try_out
from whet.evidence.coin_looks import LOOKS
from whet.evidence.verdicts import judge
from whet.intake.reading import ReadOrder
from whet.intake.taking import take
from whet.ledger.entries import Actor, Item, State
from whet.ledger.patches import Action, Form, Patch
from whet.lessons.record import LessonStage, Standing, lesson_of_change
from whet.lessons.rungs import LiveCounts
from whet.sessions.transcripts import Message, Role, Text, Transcript
from whet.sessions.trust import Trust
from whet.shipped.kinds import known_troubles, label_of
from whet.store.attempts import attempts_of, keep_attempt, reuse
from whet.store.canary_counts import CountedUnit, count
from whet.store.home import Home
from whet.store.listing import COUNTED, Filters, list_sessions
from whet.store.opening import opened
from whet.store.recording import record_use
from whet.store.records import keep_progress
from whet.store.rows import Provenance, prepare
from whet.store.session_facts import state_of_sessions
from whet.store.sessions import keep
from whet.store.troubles import StoredTrouble, session_troubles
from whet.telling.targets.known_projects import short_name, told_apart
from whet.trials.attempts import Arm, Attempt, Measures
from whet.trials.canaries import Observation, compare
from whet.trials.design import Trial, TrialCases, TrialDesign, TrialProgress, TrialResult, TrialStop
from whet.trials.judging import judged as judge_attempts
from whet.trouble.kinds import kind_named
from whet.trouble.overview import (
    agent_time,
    duration,
    lost_words,
    overview,
    sort_words,
    stepped_in_words,
    untimed_words,
)
from whet.trouble.rollups import by_agent, by_kind, costs, dearest, groups
from whet.web.html import h, render, words_of
from whet.web.pages import PAGES
from whet.web.site import MESSAGES_SHOWN, VIEWS, PageLinks
from whet.web.views.entries import rule_standing
from whet.web.views.lessons import rules
from whet.web.views.trials import ShownTrial, live, trial


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory) -> Home:
    return filled_home(tmp_path_factory.mktemp("page"))


@pytest.fixture(scope="module")
def page(filled: Home) -> Iterator[PageClient]:
    with page_of(filled) as client:
        yield client.enter()


@pytest.fixture(scope="module")
def stored(filled: Home) -> list[StoredTrouble]:
    """The trouble of every session that counts."""
    with opened(filled) as database:
        return list(session_troubles(database, COUNTED))


def kept_in(home: Home, folders: dict[str, str], *, words: Sequence[str] = ("Run it.",)) -> list[str]:
    """Sessions that ran in these folders, by name: their ids, in which a person said these words."""
    said = tuple(Message(Role.USER, (Text(each),), Trust.USER) for each in words)
    with opened(home) as database:
        for name, folder in folders.items():
            transcript = Transcript("codex", name, said, folder=folder)
            keep(database, prepare(transcript), Provenance(f"/{name}", 1.0, 2.0))
        return [each.id for each in list_sessions(database, Filters(), limit=len(folders))]


def words(page: str) -> str:
    """The text of a page as a person reads it."""
    body = page[page.index("<main") :]
    return " ".join(html.unescape(re.sub(r"<[^>]+>", " ", body)).split())


def spaceless(text: str) -> str:
    return "".join(text.split())


def test_every_view_is_in_the_navigation_and_answers(page: PageClient) -> None:
    paths = {path for path, _ in PAGES}
    for view in VIEWS:
        path = "/" if view.name == "overview" else f"/{view.name}"
        assert path in paths
        answer = page.ask(path)
        assert answer.status == 200
        assert f"<h1>{html.escape(view.title)}</h1>" in answer.text
        assert 'aria-current="page"' in answer.text


def test_the_overview_begins_as_the_report_does(page: PageClient, filled: Home, stored: list[StoredTrouble]) -> None:
    said, found = words(page.ask("/").text), overview([each.trouble for each in stored])
    printed = " ".join(runner(filled.folder, filled.folder.parent)("report").out.split())
    for line in (lost_words(found, label_of), untimed_words(found), stepped_in_words(found)):
        assert line in said
        assert line in printed
    assert f"{found.total.sessions} sessions, {agent_time(found.total.agent_seconds)}" in said
    assert said.count("is an upper bound") == 1
    for group in groups([each.trouble for each in stored], by_agent):
        assert f"{group.name} {group.sessions} " in said


def test_page_and_report_leave_out_the_same_sessions(tmp_path: Path) -> None:
    home = Home(tmp_path / "home")
    kept_in(home, {"a": "/srv/shop", "b": "/tmp/try", "c": "/tmp/try"})
    whet = runner(home.folder, tmp_path)
    said = whet("report").out
    assert "1 session" in said
    assert "2 sessions in temporary folders are left out (--temporary)." in said
    assert "3 sessions" in whet("report", "--temporary").out
    assert "left out" not in whet("report", "--temporary").out
    assert "2 sessions" in whet("report", "--folder", "/tmp/try").out
    with page_of(home) as client:
        inside = client.enter()
        assert "1 session" in words(inside.ask("/").text)
        assert "3 sessions" in words(inside.ask("/?temporary=1").text)
        assert "Temporary folders (2 sessions)" in words(inside.ask("/").text)
        assert "2 sessions in temporary folders are left out." in words(inside.ask("/?agent=codex").text)
        assert "left out" not in words(inside.ask("/?agent=pi").text + inside.ask("/?temporary=1").text)


def test_where_all_sessions_are_temporary_the_page_offers_to_show_them(tmp_path: Path) -> None:
    home = Home(tmp_path / "home")
    kept_in(home, {"b": "/tmp/try"})
    said = runner(home.folder, tmp_path)("report").out
    assert "No sessions match. 1 session in temporary folders is left out" in said
    with page_of(home) as client:
        inside = client.enter()
        until(lambda: "No sessions but 1 session in temporary folders. Show them" in words(inside.ask("/").text))
        for path in ("/", "/trouble", "/work", "/sessions", "/?agent=codex"):
            [link] = re.findall(r'<a href="([^"]*)">Show them</a>', inside.ask(path).text)
            assert "Show them" not in words(inside.ask(html.unescape(link)).text)


@pytest.mark.parametrize("path", ["/", "/trouble", "/work", "/sessions"])
def test_filters_that_let_nothing_through_can_be_cleared(page: PageClient, path: str) -> None:
    text = page.ask(f"{path}?agent=nobody").text
    assert "No session matches. Clear the filters" in words(text)
    [link] = re.findall(r'<a href="([^"]*)">Clear the filters</a>', text)
    assert link == f"{page.base}{path}"


def test_a_number_that_has_become_nothing_leads_to_all_sessions(page: PageClient) -> None:
    said = words(page.ask("/sessions?week=1999-W01&agent=hermes").text)
    assert "No session matches: none of 1999-W01. Show all sessions" in said


def test_bars_open_the_stretches_behind_them_and_each_its_session(
    page: PageClient, stored: list[StoredTrouble]
) -> None:
    text = page.ask("/").text
    for cost in costs([each.trouble for each in stored], by_kind):
        assert f"{label_of(cost.name)} {duration(cost.seconds)} ·" in words(text)
        behind = page.ask(f"/trouble?kind={cost.name}").text
        stretches = "1 stretch" if cost.troubles == 1 else f"{cost.troubles} stretches"
        assert f"{stretches} of {label_of(cost.name)} in" in words(behind)
        assert kind_named(cost.name, known_troubles()).remedy in words(behind)
        assert len(re.findall(r'<td><a href="[^"]*/session/\w+#m\d+', behind)) == cost.troubles
    causes = re.findall(r'<a href="([^"]*/trouble\?kind=\w+&amp;subject=[^"]*)"', text)
    assert causes
    for link in causes:
        assert re.search(r"<caption>\d+ stretch", page.ask(html.unescape(link)).text), link
    assert "No stretch of red checks in 1999-W01" in words(page.ask("/trouble?kind=red_check&week=1999-W01").text)


def test_each_number_leads_to_its_sessions(page: PageClient, stored: list[StoredTrouble]) -> None:
    stepped = sum(bool(each.trouble.interventions) for each in stored)
    assert listed(page, "/sessions?stepped=1") == stepped
    assert listed(page, "/sessions?untimed=1") == sum(not each.trouble.is_timed for each in stored)
    links = set(re.findall(r'href="(/[^"#]*)', page.ask("/").text + page.ask("/trouble").text))
    assert len(links) > 20
    for link in links:
        assert page.ask(html.unescape(link)).status == 200, link


def test_sessions_are_sorted_by_what_their_headings_name(page: PageClient, stored: list[StoredTrouble]) -> None:
    dearest = max((each.trouble for each in stored), key=lambda each: each.lost_seconds)
    most = max((each.trouble for each in stored), key=lambda each: len(each.interventions))
    for sort, first in (("lost", dearest.lost_seconds), ("stepped", len(most.interventions))):
        found = re.findall(r"/session/(\w+)", page.ask(f"/sessions?sort={sort}").text)
        top = next(each.trouble for each in stored if each.trouble.session == found[0])
        assert first == (top.lost_seconds if sort == "lost" else len(top.interventions))
    headings = re.findall(r'<th[^>]*><a href="([^"]*)"', page.ask("/sessions?agent=hermes").text)
    assert len(headings) == 4, "the one that it is sorted by needs no link"
    assert all("agent=hermes" in link and "sort=" in link for link in headings)


def counted_links(text: str) -> list[tuple[str, int]]:
    """The links whose words are a number of sessions, with that number."""
    found = re.findall(r'<a href="(/[^"#]*/sessions[^"#]*)"[^>]*>([\d,]+)(?: sessions?)?</a>', text)
    return [(html.unescape(link), int(number.replace(",", ""))) for link, number in found]


def listed(page: PageClient, link: str) -> int:
    """How many sessions a list has."""
    found = re.search(r"<caption>([\d,]+) sessions?\b", page.ask(link).text)
    return int(found[1].replace(",", "")) if found else 0


@pytest.mark.parametrize("view", ["/", "/lessons", "/work", "/work?agent=codex", "/?agent=claude-code"])
def test_a_number_of_sessions_leads_to_as_many(page: PageClient, filled: Home, view: str) -> None:
    with opened(filled) as database:
        page.server.cache.lessons.wait(state_of_sessions(database))
    links = counted_links(page.ask(view).text)
    assert links or "agent=" in view
    for link, number in links:
        assert listed(page, link) == number, link


@pytest.mark.parametrize("view", ["/sessions", "/sessions?agent=hermes"])
def test_each_number_of_the_coverage_leads_to_its_sessions(page: PageClient, view: str) -> None:
    found = re.findall(r'<td class="number"><a href="([^"]*)">([\d,]+)</a>', page.ask(view).text)
    assert len(found) in (3, 4), "what is nothing leads nowhere; a checkout below /tmp has temporary folders too"
    for link, number in found:
        assert listed(page, html.unescape(link)) == int(number)


def test_live_leads_to_exactly_the_sessions_that_were_counted(home: Home) -> None:
    rule = Patch(Form.RULE, Action.ADD, "calm", "Stop after two failures.", trust=Trust.OPERATOR)
    ids = kept_in(home, dict.fromkeys("abcde", ""))
    with opened(home) as database:
        entry = try_out(home, database, rule, actor=Actor.PERSON, now=1.0).number
        losses = ((True, 0.9), (True, 0.1), (False, 0.7))
        units = [CountedUnit(id, told, loss, 1, ids=(id,)) for id, (told, loss) in zip(ids, losses, strict=False)]
        count(database, entry, [*units, CountedUnit("day", False, 0.2, 2, ids=tuple(ids[3:]))], now=1.0)
    with page_of(home) as client:
        inside = client.enter()
        until(lambda: listed(inside, "/sessions") == 5)
        text = inside.ask("/trials").text
        found = re.findall(r'mean of <a href="([^"]*)"', text)
        assert [listed(inside, html.unescape(link)) for link in found] == [2, 3]


def test_a_trial_leads_to_its_sessions(home: Home) -> None:
    first, second, _ = kept_in(home, dict.fromkeys("abc", ""))
    with opened(home) as database:
        record_use(database, TEMPLATE.key, session=first, now=1.0)
        for arm, id in ((Arm.BASE, first), (Arm.CANDIDATE, second)):
            keep_attempt(database, id, Attempt("case", arm, 0, Measures(passed=True), id, trial="t-1"), now=1.0)
    with page_of(home) as client:
        inside = client.enter()
        until(lambda: listed(inside, "/sessions?trial=t-1") == 2)
        assert listed(inside, "/sessions?trial=t-1&arm=base") == 1
        assert listed(inside, f"/sessions?template={TEMPLATE.key}") == 1
        assert listed(inside, "/sessions?trial=none") == 0


def test_live_says_what_is_awaited_before_the_first_look() -> None:
    def said(endpoint: str, sessions: int) -> str:
        found = compare([Observation(n % 2 == 0, 0.9) for n in range(sessions)])
        counts = LiveCounts(1.0, 0.5, sessions, found, endpoint=endpoint, next_look=LOOKS[0])
        patch = Patch(Form.RULE, Action.ADD, "calm", "Stop.")
        lesson = lesson_of_change(patch, standing=Standing(LessonStage.LIVE, 3, counts=counts))
        return words_of(h("div", live(PageLinks(), lesson)))

    assert f"0 of {LOOKS[0]} sessions in its situation so far. The first look comes after {LOOKS[0]}." in said(
        "detector", 0
    )
    assert f"7 of {LOOKS[0]} sessions in its situation so far." in said("detector", 7)
    assert "no session was counted yet. A session counts an hour after its last message" in said("", 0)
    assert "evidence of help" not in said("", 0), "numbers of nothing say nothing"
    assert "Too early" not in said("", 7)


def test_filters_stay_in_the_address(page: PageClient, stored: list[StoredTrouble]) -> None:
    text = page.ask("/?agent=hermes").text
    assert "2 sessions" in words(text)
    links = re.findall(r'href="(/[^"]*)"', text)
    assert all("agent=hermes" in link or "/static/" in link for link in links)
    assert '<option value="hermes" selected="selected"' in text
    assert f"{len(stored)} sessions" in words(page.ask("/?agent=").text)
    assert "No session matches" in words(page.ask("/sessions?agent=nobody").text)


def test_a_session_marks_its_stretches_and_opens_at_the_dearest(page: PageClient, stored: list[StoredTrouble]) -> None:
    for trouble in dearest((each.trouble for each in stored), 5):
        text = page.ask(f"/session/{trouble.session}").text
        assert trouble.dearest is not None
        assert f'id="m{trouble.dearest.first}"' in text
        listed = words(text).partition("how it ended")[2].partition("#")[2]
        assert listed.startswith(f"{trouble.dearest.first} to #{trouble.dearest.last} ")
        assert f"{len(trouble.interventions)} times somebody stepped in" in words(text)
        for one in trouble.troubles:
            assert f"#{one.first} to #{one.last}" in words(text)
            assert "in a stretch that bought nothing" in words(text)
            assert f"▼ {sort_words(one, label_of(one.kind))}" in words(text)
        assert f"/session/{trouble.session}#m{trouble.dearest.first}" in page.ask("/").text
    assert page.ask("/session/nothing-like-it").status == 404


def test_a_late_message_of_a_long_session_is_on_the_page_that_its_link_opens(home: Home) -> None:
    [id] = kept_in(home, {"long": ""}, words=[f"Step {number}." for number in range(2 * MESSAGES_SHOWN + 1)])
    link = render(h("p", PageLinks().session(id, "there", message=MESSAGES_SHOWN + 7)))
    [path, anchor] = re.findall(r'href="([^"#]*)#([^"]*)"', link)[0]
    with page_of(home) as client:
        inside = client.enter()
        text = inside.ask(html.unescape(path)).text
        assert f'id="{anchor}"' in text
        assert "Earlier messages" in words(text)
        assert "Later messages" in words(text)
        assert "Earlier messages" not in words(inside.ask(f"/session/{id}").text)


def test_lessons_appear_once_they_are_read(page: PageClient, filled: Home) -> None:
    with opened(filled) as database:
        learned = page.server.cache.lessons.wait(state_of_sessions(database))
    said = words(page.ask("/lessons").text)
    printed = json.loads(runner(filled.folder, filled.folder.parent)("lessons", "--json").out)
    assert {each["id"] for each in printed["lessons"]} == {each.id for each in learned.lessons}
    assert printed["sessions"] == learned.sessions
    assert learned.lessons
    for each in learned.lessons:
        assert spaceless(each.rule.replace("`", "")) in spaceless(said)


def test_what_needs_approval_says_whose_words_it_is_and_how_it_was_tried(page: PageClient) -> None:
    said = words(page.ask("/lessons").text)
    assert "Every project" in said
    assert "a tool's output (trust tool)" in said
    assert "trial: not tried" in said
    assert "retry_loop: “order not found: T48213”" in said


def test_projects_of_every_machine_are_known_by_their_last_folder() -> None:
    assert short_name("D:\\work\\tea-shop") == "tea-shop"
    assert short_name("/srv/shop") == "shop"
    assert told_apart(["D:\\a\\shop", "/srv/shop"]) == {"D:\\a\\shop": "a/shop", "/srv/shop": "srv/shop"}


def test_a_rule_shows_its_effect_and_the_way_back(page: PageClient) -> None:
    text = page.ask("/rule/rule%3Atidy").text
    assert "Remove unused imports." in text
    assert "+75 points" in text
    assert "/revert" in text
    assert "told to 50 % of sessions" in words(page.ask("/rule/rule%3Acalm").text)


def told(*items: Item) -> str:
    """What the page says that agents are told."""
    return words_of(h("div", rules(PageLinks(), State(items=items), ())))


def test_rules_of_several_members_name_their_maker() -> None:
    own = Item(Form.RULE, "tidy", "Remove unused imports.", maker="alice")
    admins = Item(Form.RULE, "brief", "Answer briefly.", maker="kim")
    assert "kim" in told(own, admins)
    assert "alice" not in told(own), "where all are one's own, nobody asks"
    assert "made by kim" in words_of(rule_standing(PageLinks(), admins, ""))


def test_a_rule_that_nobody_tried_says_so() -> None:
    own = Item(Form.RULE, "tidy", "Remove unused imports.")
    assert "on your word, not tried" in told(own)
    assert "on your word, not tried" in words_of(rule_standing(PageLinks(), own, "on your word, not tried"))


def test_a_rule_that_was_never_compared_names_the_command_to_try_it(home: Home) -> None:
    skill = "---\nname: release\ndescription: How to release. Use it before a release.\n---\n\nRead the log first.\n"
    with opened(home) as database:
        apply(home, database, RULE, actor=Actor.PERSON, now=1.0)
        patch = Patch(Form.SKILL, Action.ADD, "release", skill, trust=Trust.OPERATOR)
        apply(home, database, patch, actor=Actor.PERSON, now=1.0)
    with page_of(home) as client:
        inside = client.enter()
        assert "whet try --without tidy" in words(inside.ask("/rule/rule%3Atidy").text)
        assert "Try it" not in words(inside.ask("/rule/skill%3Arelease").text), "only rules can be left out of a trial"


def test_the_chart_of_a_trial_ends_at_the_number_of_its_verdict() -> None:
    cases = tuple(f"c{n}" for n in range(12))
    made = [
        Attempt(case, arm, seed, Measures(passed=arm is Arm.CANDIDATE or n == 0))
        for n, case in enumerate(cases)
        for arm in (Arm.BASE, Arm.CANDIDATE)
        for seed in (1, 2)
    ]
    planned = Trial("t-3", TrialCases(cases), TrialDesign(2, 0.001))
    for attempts in (made[:24], made):
        result = judge_attempts(planned, attempts)
        found = ShownTrial(TrialProgress("t-3", result, len(attempts), 48), "rule tidy", 1.0)
        text = render(trial(PageLinks(), found, attempts))
        said = re.search(r"Evidence of help ([^,]*), of harm", text)
        points = re.findall(r"after (\d+) cases?: ([^;]*); 1000 decides", text)
        assert said is not None
        assert points[-1][1] == said[1]


def test_a_trial_shows_its_evidence_each_attempt_and_the_placebo(page: PageClient) -> None:
    assert "rule tidy" in words(page.ask("/trials").text)
    said = words(page.ask("/trial/t-1").text)
    for expected in ("Undecided", "+75 points", "case-3 · seed 1", "Placebo effect", "after 4 cases"):
        assert expected in said
    assert page.ask("/trial/none").status == 404


def test_a_trial_is_watched_from_its_first_attempt_on(home: Home) -> None:
    begun = TrialProgress("t-9", TrialResult(judge([]), TrialStop.OPEN), 0, 8, what="rule tidy")
    with page_of(home) as client:
        inside = client.enter()
        with opened(home) as database:
            keep_progress(database, "t-9", begun, now=time.time())
        text = inside.ask("/trials").text
        assert 'data-live="3"' in text
        assert "rule tidy undecided" in words(text)
        with opened(home) as database:
            made = Attempt("case", Arm.BASE, 1, Measures(passed=True), trial="t-9")
            keep_attempt(database, "a", made, now=1.0)
        said = inside.ask("/trial/t-9").text
        assert 'data-live="3"' in said
        assert "1 of 8 attempts" in words(said)
        assert "case · seed 1" in words(said)


def test_lessons_are_being_read_until_all_sessions_are_analysed(home: Home) -> None:
    kept_in(home, {"a": "/srv/shop"})
    with page_of(home) as client:
        inside = client.enter()

        def is_reading() -> bool:
            text = inside.ask("/lessons").text
            if "being analysed" in text:
                assert "Reading your sessions" in text
            return "Reading your sessions" in text

        until(lambda: not is_reading())
        assert "data-live" not in inside.ask("/lessons").text


def test_honesty_counts_placebos_and_what_is_left(page: PageClient) -> None:
    said = words(page.ask("/trials").text)
    assert "0 of 1 placebos that would have been accepted" in said
    assert "0 of 1 trials accepted" in said
    assert "19 % of the error budget is spent, 81 % is left" in said
    assert "With both arms the same, at most 4.5 %" in said


def test_a_trial_shows_attempts_of_earlier_trials_too(home: Home) -> None:
    made = Attempt("case-a", Arm.BASE, 1, Measures(passed=True), "s1", trial="t-1")
    with opened(home) as database:
        reuse(database, made, case="case-a", seed=1, trial="t-2", now=1.0)
        [used] = attempts_of(database, "t-2")
    tried = ShownTrial(TrialProgress("t-2", TrialResult(judge([]), TrialStop.OPEN), 1, 2), "rule tidy", 1.0)
    said = render(trial(PageLinks(), tried, [used]))
    assert 'title="from an earlier trial">passed ↺' in said
    assert "↺ was made in an earlier trial" in said


def test_live_shows_the_effect_with_its_interval(page: PageClient) -> None:
    said = words(page.ask("/trials").text)
    assert "+0.60 effect on" in said
    assert "evidence of help" in said
    assert "0.20 mean of 15 with it 0.80 mean of 15 without" in said


def test_coverage_says_what_was_left_out_by_agent_and_reason(home: Home, tmp_path: Path) -> None:
    folder = tmp_path / "records"
    folder.mkdir()
    turns = [{"role": "user", "content": "Hello"}, {"role": "assistant", "content": "Hi"}]
    (folder / "a.jsonl").write_text(json.dumps({"id": "a", "messages": turns}) + "\n{broken\n{broken too\n")
    (folder / "b.txt").write_text("nothing")
    with opened(home) as database:
        paths = (folder / "a.jsonl", folder / "b.txt")
        take(database, home, paths, ReadOrder(), progress=lambda _name, _size: None)
    with page_of(home) as client:
        said_there = words(client.enter().ask("/sessions").text)
    assert "files left out, openai: not a session of a known format" in said_there


def test_sessions_that_are_added_later_are_counted_by_themselves(home: Home) -> None:
    with page_of(home) as client:
        inside = client.enter()
        assert "No sessions yet" in words(inside.ask("/").text)
        kept_in(home, {"a": ""})
        until(lambda: "1 session" in words(inside.ask("/").text))
        until(lambda: "being analysed" not in inside.ask("/").text)


def test_an_empty_store_says_what_to_do(home: Home) -> None:
    with page_of(home) as client:
        inside = client.enter()
        for view in VIEWS:
            path = "/" if view.name == "overview" else f"/{view.name}"
            said = words(inside.ask(path).text)
            assert re.search(r"whet \w+|Reading your sessions", said), path


def test_an_exported_file_needs_nothing_else_and_holds_no_home(whet: Whet, tmp_path: Path, examples: Path) -> None:
    assert whet("import", str(examples)).code == 0
    counted = whet("report", "--json").json["sessions"]
    file = tmp_path / "page.html"
    assert whet("page", "--export", str(file)).code == 0
    text = file.read_text()
    assert "<script" not in text
    assert not re.findall(r'(?:href|src|action)="(?!#)', text)
    assert "/home/" not in text
    for id in re.findall(r'href="#([^"]*)"', text):
        assert f'id="{id}"' in text
    assert f"{counted} sessions" in words(text)


def test_an_exported_file_holds_texts_of_sessions_only_where_that_is_asked_for(whet: Whet, tmp_path: Path) -> None:
    kiosk = Path(__file__).parents[2] / "examples" / "kiosk" / "build.py"
    subprocess.run([sys.executable, str(kiosk), str(tmp_path)], check=True)
    for path in (tmp_path / "sessions").rglob("*.jsonl"):
        path.write_text(path.read_text().replace(str(tmp_path / "kiosk"), "/home/noor/kiosk"))
    assert whet("import", str(tmp_path / "sessions")).code == 0
    titles = {each["title"] for each in whet("sessions", "--all", "--json", "--limit", "100").json["sessions"]}
    without, with_texts = tmp_path / "without.html", tmp_path / "with.html"
    assert whet("page", "--export", str(without)).code == 0
    assert whet("page", "--export", str(with_texts), "--texts").code == 0
    assert any(title in html.unescape(with_texts.read_text()) for title in titles)
    assert "blockquote" in with_texts.read_text()
    assert not [title for title in titles if title in html.unescape(without.read_text())]
    assert "“" not in without.read_text()
    assert "left out of this file" in without.read_text()
