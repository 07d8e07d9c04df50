"""A team on one Postgres schema: one owns it, the members have roles of their own and may write rows, all of them."""

import contextlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import psycopg

from postgres_server import fresh_schema
from whet.store.home import Home
from whet.store.opening import opened
from whet.work.given import given_orders

OWNER, ALICE, MALLORY = "whet", "alice", "mallory"
RIGHTS = (
    "GRANT USAGE ON SCHEMA {schema} TO {role}",
    "GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA {schema} TO {role}",
    "GRANT USAGE ON ALL SEQUENCES IN SCHEMA {schema} TO {role}",
)


class Team(NamedTuple):
    """The schema of a team, and the addresses under which its members reach it."""

    schema: str
    address: str

    @property
    def engine(self) -> str:
        return f"{self.schema}_engine"

    def url(self, role: str) -> str:
        return self.address.replace(f"user={OWNER}", f"user={role}")

    def home(self, folder: Path, role: str) -> Home:
        return Home(folder, self.url(role))

    def rows(self, role: str) -> "psycopg.Connection[Any]":
        """A connection of that member's own, for whatever rows they like to write."""
        return psycopg.connect(self.url(role), autocommit=True)


@contextlib.contextmanager
def team(server: str, name: str, folder: Path) -> Iterator[Team]:
    """A team whose owner has made the tables, the engine's too, and admitted two members to their rows."""
    with fresh_schema(server, name) as address:
        made = Team(name, address)
        owner = Home(folder, address)
        with opened(owner), given_orders(owner):
            pass
        with made.rows(OWNER) as connection:
            for role in (ALICE, MALLORY):
                make_role(connection, role)
                admit(connection, role, made.schema, made.engine)
        try:
            yield made
        finally:
            with made.rows(OWNER) as connection:
                connection.execute(f"DROP SCHEMA {made.engine} CASCADE".encode())


def make_role(connection: "psycopg.Connection[Any]", role: str) -> None:
    if not connection.execute("SELECT 1 FROM pg_roles WHERE rolname = %s", (role,)).fetchone():
        connection.execute(f"CREATE ROLE {role} LOGIN".encode())


def admit(connection: "psycopg.Connection[Any]", role: str, *schemas: str) -> None:
    for schema in schemas:
        for right in RIGHTS:
            connection.execute(right.format(schema=schema, role=role).encode())
