"""A role that lacks a right is told which one and how to get it; the password of an address is told to nobody."""

from pathlib import Path
from typing import Any

import psycopg
import pytest

from command import Done, runner
from team import ALICE, MALLORY, OWNER, Team, make_role
from whet.errors import WhetError
from whet.store.home import Home
from whet.store.opening import connect, opened

SECRET = "s3cretsauce"
COMMANDS = (
    ("sessions",),
    ("rules", "add", "brief", "Answer briefly."),
    ("worker", "list"),
    ("worker", "--until-idle"),
)
WRITING = (COMMANDS[1], COMMANDS[3])
BACKGROUND = COMMANDS[2:]


def ran(shop: Team, tmp_path: Path, role: str, *arguments: str) -> Done:
    person = tmp_path / "person"
    person.mkdir(exist_ok=True)
    return runner(tmp_path / role, person)(*arguments, variables={"WHET_DATABASE_URL": shop.url(role)})


def change(connection: "psycopg.Connection[Any]", statement: str) -> None:
    connection.execute(statement.encode())


def test_a_member_with_rights_on_rows_can_do_everything(shop: Team, tmp_path: Path) -> None:
    for command in COMMANDS:
        done = ran(shop, tmp_path, ALICE, *command)
        assert (done.code, done.err) == (0, ""), command


def test_a_role_without_a_right_gets_a_clear_error_and_the_command_that_gives_it(shop: Team, tmp_path: Path) -> None:
    use = f"GRANT USAGE ON SCHEMA {shop.schema}, {shop.engine} TO"
    of_all = f"ON ALL TABLES IN SCHEMA {shop.schema}"
    given = {
        "no_rows": (use,),
        "no_writing": (use, f"GRANT SELECT {of_all}, {shop.engine} TO"),
        "no_engine": (
            f"GRANT USAGE ON SCHEMA {shop.schema} TO",
            f"GRANT SELECT, INSERT, UPDATE, DELETE {of_all} TO",
        ),
    }
    failing = {"nothing": COMMANDS, "no_rows": COMMANDS, "no_writing": WRITING, "no_engine": BACKGROUND}
    with shop.rows(OWNER) as rows:
        for role in failing:
            make_role(rows, role)
            for statement in given.get(role, ()):
                change(rows, f"{statement} {role}")
    for role, commands in failing.items():
        for command in COMMANDS:
            done = ran(shop, tmp_path, role, *command)
            assert "Traceback" not in done.err, (role, command)
            assert bool(done.code) is (command in commands), (role, command)
            if done.code:
                assert f"The database role {role} lacks a right in the schema" in done.err, command
                assert "GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA" in done.err, command


@pytest.mark.parametrize(
    "url",
    [
        f"postgresql://alice:{SECRET}@127.0.0.1:1/none",
        f"postgresql://alice:{SECRET}%zz@127.0.0.1:1/none",
        f"postgresql://alice:{SECRET}@{SECRET}@127.0.0.1:1/none",
        f"postgresql://alice:a/{SECRET}@127.0.0.1:1/none",
        f"postgresql://alice:{SECRET}@127.0.0.1:port/none",
        f"postgresql://alice@127.0.0.1:1/none?password={SECRET}&nonsense={SECRET}",
        f"postgresql://alice:{SECRET}@[127.0.0.1/none",
        f"postgres://alice:{SECRET}@127.0.0.1:1/none?connect_timeout={SECRET}",
        f"mysql://alice:{SECRET}@127.0.0.1:1/none",
    ],
)
def test_no_password_is_ever_printed(tmp_path: Path, url: str) -> None:
    with pytest.raises(WhetError) as caught:
        connect(Home(tmp_path / "home", url))
    assert SECRET not in f"{caught.value.message} {caught.value.advice}"
    done = runner(tmp_path / "home", tmp_path)("worker", "list", variables={"WHET_DATABASE_URL": url})
    assert done.code == 1
    assert SECRET not in done.out + done.err
    assert "Traceback" not in done.err


def test_names_that_need_quotes_are_quoted(shop: Team, tmp_path: Path) -> None:
    with shop.rows(OWNER) as rows:
        make_role(rows, '"Bob Tables"')
    home = Home(tmp_path / "bob", shop.url("Bob%20Tables"))
    with pytest.raises(WhetError) as caught, opened(home):
        pass
    assert 'TO "Bob Tables"' in caught.value.advice
    assert MALLORY not in caught.value.advice
