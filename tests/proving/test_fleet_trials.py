"""A trial over several machines of one member: all attempts are told the same, and a guest fails none."""

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from patience import PATIENCE_SECONDS
from postgres_server import fresh_schema
from proving.trial_scenes import RULE, case_of, obeys, prepared, questions, supply_of
from whet.errors import WhetError
from whet.evidence.verdicts import Ruling
from whet.proving.attempt import attempt, vouch_for
from whet.proving.plan import WantedTrial, order
from whet.store.home import Home, prepare_home
from whet.store.opening import opened
from whet.store.records import keep_material
from whet.trials.attempts import Arm, Attempt, AttemptPlace, AttemptRequest
from whet.trials.cases import Checkout
from whet.trials.design import Trial, TrialDesign, TrialProgress
from whet.work.given import WorkState, given_orders
from whet.work.orders import DirectSteps, Done, Queue, decoded

WORKER = Path(__file__).with_name("fleet_worker.py")
SETTINGS = 'model = "scripted:x"\n'
OTHER_TASTE = f'{SETTINGS}[prompt]\nparts = ["memory"]\n'


@pytest.fixture
def first(postgres_url: str, tmp_path: Path) -> Iterator[Home]:
    """The home that plans the trial, with a note of its own."""
    with fresh_schema(postgres_url, f"fleet_{abs(hash(str(tmp_path)))}") as url:
        yield machine(tmp_path / "first", url, note="The first machine likes tea.", settings=SETTINGS)


@pytest.fixture
def second(first: Home, tmp_path: Path) -> Home:
    """Another home of the same member, with another note."""
    return machine(
        tmp_path / "second", first.database_url, note="The second machine likes coffee.", settings=OTHER_TASTE
    )


def machine(folder: Path, url: str, *, note: str, settings: str) -> Home:
    home = Home(folder, url)
    prepare_home(home)
    (folder / "memory.md").write_text(f"{note}\n")
    if settings:
        (folder / "settings.toml").write_text(settings)
    return home


def planned(home: Home) -> Trial:
    with opened(home) as database:
        return prepared(home, database, WantedTrial(RULE, questions(20), TrialDesign(placebo=False)))


def carried_out(first: Home, second: Home, folder: Path) -> tuple[TrialProgress, list[Done]]:
    """A trial of the first home, with a worker of each; the first answers nothing before the second had its turn."""
    ready = planned(first)
    with given_orders(first) as orders:
        id = orders.submit(order(ready), Queue.TRIALS)
    started = [
        subprocess.Popen(
            [sys.executable, str(WORKER), role, id],
            env={
                **os.environ,
                "WHET_HOME": str(home.folder),
                "WHET_DATABASE_URL": home.database_url,
                "TRIAL_FOLDER": str(folder),
                "PYTHONPATH": str(WORKER.parents[1]),
            },
        )
        for role, home in (("second", second), ("first", first))
    ]
    assert [worker.wait(PATIENCE_SECONDS) for worker in started] == [0, 0]
    with given_orders(first) as orders:
        work = orders.find(id)
        parts = [each.done for each in orders.all() if each.kind == "attempt" and each.done]
    assert work.state is WorkState.DONE, work.error
    assert work.done is not None
    return decoded(work.done.value, TrialProgress), parts


def test_machines_with_other_notes_tell_all_attempts_the_same(first: Home, second: Home, tmp_path: Path) -> None:
    progress, _ = carried_out(first, second, tmp_path)
    told = [line.split() for line in (tmp_path / "told").read_text().splitlines()]
    assert {role for role, *_ in told} == {"first", "second"}, "both took part"
    assert len({(has_rule, prompt) for _, has_rule, prompt in told}) == 2, "one prompt with the rule, one without"
    assert progress.result.verdict.ruling is Ruling.ACCEPT


def test_a_machine_without_settings_fails_no_attempt(first: Home, tmp_path: Path) -> None:
    bare = machine(tmp_path / "bare", first.database_url, note="", settings="")
    progress, parts = carried_out(first, bare, tmp_path)
    assert progress.result.verdict.ruling is Ruling.ACCEPT
    assert progress.result.invalid == 0
    told = [line.split() for line in (tmp_path / "told").read_text().splitlines()]
    assert {role for role, *_ in told} == {"first"}
    assert any("No model is set" in part.put_back for part in parts)


def ordered(home: Home, **fields: object) -> AttemptRequest:
    """An order for one attempt of a trial that this home planned."""
    ready = planned(home)
    with opened(home) as database:
        case = keep_material(database, case_of("question-0", **fields), now=1.0)
    place = AttemptPlace("question-0", Arm.BASE, 1)
    ask = AttemptRequest(ready.id, place, case, ready.conditions, terms=ready.terms)
    vouch_for(home, (ask,))
    return ask


@pytest.mark.parametrize(
    ("settings", "why"),
    [
        ('model = "scripted:x"\n[[unknown', "cannot be read"),
        ('model = "scripted:x"\n[models.scripted]\nsize = "small"\n', ""),
        ('model = "scripted:x"\n[providers.scripted]\nbase_url = "http://127.0.0.1:9"\n', "differs"),
    ],
)
def test_a_guest_carries_out_only_what_it_would_do_as_the_home_that_asks(
    first: Home, second: Home, settings: str, why: str
) -> None:
    (second.folder / "settings.toml").write_text(settings)
    done = attempt(second, DirectSteps("one"), ordered(first), supply=supply_of(obeys))
    assert bool(done.put_back) is bool(why)
    assert re.search(why, done.put_back)


def test_a_case_whose_repository_is_elsewhere_is_put_back_by_a_guest_and_fails_at_home(
    first: Home, second: Home, tmp_path: Path
) -> None:
    ask = ordered(first, repository=Checkout(str(tmp_path / "gone"), "0" * 40, "1" * 40))
    assert "is gone" in attempt(second, DirectSteps("one"), ask, supply=supply_of(obeys)).put_back
    with pytest.raises(WhetError, match="is gone"):
        attempt(first, DirectSteps("one"), ask, supply=supply_of(obeys))


def test_a_guest_allows_no_more_than_its_own_settings(first: Home, second: Home) -> None:
    (first.folder / "settings.toml").write_text(f"{SETTINGS}[sandbox]\nnetwork = true\n")
    assert "differs" in attempt(second, DirectSteps("one"), ordered(first), supply=supply_of(obeys)).put_back
    (second.folder / "settings.toml").write_text(f"{OTHER_TASTE}[sandbox]\nnetwork = true\n")
    done = attempt(second, DirectSteps("one"), ordered(first), supply=supply_of(obeys))
    assert decoded(done.value, Attempt).case == "question-0"
