"""Commands see no secrets and nothing that steers them."""

import pytest

from whet.agent.tools.surroundings import cleaned, safe_path

KEPT = {"LANG": "C.UTF-8", "CC": "gcc", "JAVA_HOME": "/opt/java", "VIRTUAL_ENV": "/x/.venv", "PYTHONPATH": "src"}


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("OPENAI_API_KEY", "x"),
        ("GITHUB_TOKEN", "x"),
        ("DB_PASSWORD", "x"),
        ("STRIPE_KEY", "x"),
        ("INNOCENT", "ghp_" + "a1B2c3D4e5F6" * 3),
        ("DATABASE_URL", "postgres://user:hunter22hunter@host/name"),
        ("WHET_DATABASE_URL", "postgres://host/name"),
        ("BASH_ENV", "/x"),
        ("LD_PRELOAD", "/x.so"),
        ("GIT_SSH_COMMAND", "evil"),
        ("SSH_AUTH_SOCK", "/run/agent"),
        ("BASH_FUNC_ls%%", "() { evil; }"),
        ("NODE_OPTIONS", "--require /evil.js"),
    ],
)
def test_secrets_and_what_steers_are_withheld(name: str, value: str) -> None:
    found = cleaned({**KEPT, name: value}, session="s", temporary="/tmp")
    assert value not in [each for key, each in found.items() if key != "PATH"]
    assert KEPT.items() <= found.items()


def test_a_person_can_let_a_variable_through() -> None:
    found = cleaned({"NPM_TOKEN": "abc"}, session="s", temporary="/tmp", kept=("NPM_TOKEN",))
    assert found["NPM_TOKEN"] == "abc"


def test_commands_know_that_an_agent_runs_them() -> None:
    assert cleaned({"WHET_RUN": ""}, session="s", temporary="/t")["WHET_RUN"] == "s"


def test_programs_are_not_looked_for_in_the_working_folder() -> None:
    assert safe_path(".:/usr/bin::bin:/bin") == "/usr/bin:/bin"
    assert safe_path("").startswith("/usr/local")
