"""The rows of the engine belong to a whole team: none of them is code for another home, and none passes for its own."""

import base64
import json
import os
import pickle
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psycopg
import pytest

from team import ALICE, MALLORY, Team, team
from whet.store.home import Home
from whet.work.given import WorkState, given_orders
from whet.work.orders import Order, Queue
from whet.work.system import FILE, system_of
from work.engine_worker import STEPS
from work.test_engine import WORKER, times, until

SECONDS = 90


class Bomb:
    """What a pickle can be: a command."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> tuple[object, tuple[str]]:
        return os.system, (f"touch {self.path}",)


@pytest.fixture
def shop(postgres_url: str, tmp_path: Path) -> Iterator[Team]:
    with team(postgres_url, f"hostile_{abs(hash(str(tmp_path)))}", tmp_path / "owner") as made:
        yield made


@pytest.fixture
def alice(shop: Team, tmp_path: Path) -> Home:
    return shop.home(tmp_path / "home", ALICE)


def work_off(home: Home) -> None:
    environment = {**os.environ, "WHET_HOME": str(home.folder), "WHET_DATABASE_URL": home.database_url}
    subprocess.run([sys.executable, str(WORKER)], env=environment, timeout=SECONDS, check=True)


def submit(home: Home, folder: Path) -> str:
    with given_orders(home) as orders:
        return orders.submit(Order("tale", "one", str(folder)), Queue.JOBS)


def change(rows: "psycopg.Connection[Any]", shop: Team, statement: str, *values: object) -> None:
    rows.execute(statement.replace("ENGINE", shop.engine).encode(), values)


def test_a_pickle_in_a_row_is_never_loaded(shop: Team, alice: Home, tmp_path: Path) -> None:
    id = submit(alice, tmp_path)
    bomb = base64.b64encode(pickle.dumps(Bomb(tmp_path / "boom"))).decode()
    with shop.rows(MALLORY) as rows:
        change(rows, shop, "UPDATE ENGINE.workflow_input SET inputs = %s", bomb)
        change(rows, shop, "INSERT INTO ENGINE.workflow_output VALUES (%s, %s, %s, 0)", id, bomb, bomb)
        change(rows, shop, "UPDATE ENGINE.workflow_status SET output = %s, serialization = 'py_pickle'", bomb)
        change(
            rows,
            shop,
            "INSERT INTO ENGINE.operation_outputs (workflow_uuid, function_id, function_name, output, serialization,"
            " retention_timestamp) VALUES (%s, 1, 'first', %s, 'py_pickle', 0)",
            id,
            bomb,
        )
    with given_orders(alice) as orders:
        assert [work.id for work in orders.all()] == [id]
        orders.find(id)
    work_off(alice)
    assert until(alice, id, WorkState.FAILED)
    assert not (tmp_path / "boom").exists()


def test_an_order_that_another_wrote_is_not_carried_out_and_says_so(shop: Team, alice: Home, tmp_path: Path) -> None:
    """Under a forged id, as an order of alice's whose body was changed, and as one that mallory's own home sealed."""
    mallory = shop.home(tmp_path / "mallory", MALLORY)
    id = submit(alice, tmp_path / "alices")
    theirs = submit(mallory, tmp_path)
    with shop.rows(MALLORY) as rows:
        change(rows, shop, "UPDATE ENGINE.workflow_status SET queue_name = %s", system_of(alice).queue(Queue.JOBS))
        inputs = json.dumps({"positionalArgs": ["tale", str(tmp_path)], "namedArgs": {}})
        change(rows, shop, "UPDATE ENGINE.workflow_input SET inputs = %s WHERE workflow_uuid = %s", inputs, id)
    work_off(alice)
    for each in (id, theirs):
        assert "was not submitted by this home" in until(alice, each, WorkState.FAILED).error
    assert [times(tmp_path, name) for name in STEPS] == [0, 0, 0]


def test_a_remembered_step_that_another_wrote_is_refused(shop: Team, alice: Home, tmp_path: Path) -> None:
    id = submit(alice, tmp_path)
    with shop.rows(MALLORY) as rows:
        change(
            rows,
            shop,
            "INSERT INTO ENGINE.operation_outputs (workflow_uuid, function_id, function_name, output, serialization,"
            " retention_timestamp) VALUES (%s, 1, 'first', %s, 'portable_json', 0)",
            id,
            json.dumps('{"value":"forged"}'),
        )
    work_off(alice)
    assert "not written by this home" in until(alice, id, WorkState.FAILED).error
    assert times(tmp_path, "second") == 0


def test_rows_of_any_form_leave_the_list_of_work_readable(shop: Team, alice: Home, tmp_path: Path) -> None:
    ids = {submit(alice, tmp_path), submit(shop.home(tmp_path / "mallory", MALLORY), tmp_path / "more")}
    with shop.rows(MALLORY) as rows:
        for inputs in ('"text"', "[]", '{"positionalArgs": [1]}', "no json", '{"positionalArgs": {"a": 1}}'):
            change(rows, shop, "UPDATE ENGINE.workflow_input SET inputs = %s", inputs)
            change(rows, shop, "UPDATE ENGINE.workflow_status SET status = 'SUCCESS'")
            with given_orders(alice) as orders:
                assert {work.id for work in orders.all()} == ids


def test_homes_of_one_member_share_attempts_and_nothing_else(shop: Team, alice: Home, tmp_path: Path) -> None:
    second, mallory = shop.home(tmp_path / "second", ALICE), shop.home(tmp_path / "mallory", MALLORY)
    names = [{queue: system_of(home).queue(queue) for queue in Queue} for home in (alice, second, mallory)]
    shared = [queue for queue in Queue if names[0][queue] == names[1][queue]]
    assert shared == [Queue.ATTEMPTS]
    assert all(names[0][queue] != names[2][queue] for queue in Queue)


def test_the_engines_file_is_its_owners_alone(tmp_path: Path) -> None:
    home = Home(tmp_path / "home")
    old = os.umask(0)
    try:
        with given_orders(home):
            modes = {path.name: path.stat().st_mode & 0o777 for path in home.folder.iterdir()}
    finally:
        os.umask(old)
    assert modes[FILE] == 0o600
    assert set(modes.values()) == {0o600}
    (home.folder / FILE).chmod(0o644)  # as an older Whet left it
    with given_orders(home):
        assert (home.folder / FILE).stat().st_mode & 0o777 == 0o600
