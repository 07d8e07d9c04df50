"""Commands see no secrets and nothing that steers them."""

import pytest

from whet.agent.tools.processes import cleaned, safe_path

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
        ("MY_OWN_THING", "whatever it is"),
        ("KUBECONFIG", "/home/me/.kube/config"),
        ("http_proxy", "http://proxy:3128"),
        ("HTTPS_PROXY", "http://proxy:3128"),
    ],
)
def test_secrets_and_what_steers_are_withheld(name: str, value: str) -> None:
    found = cleaned({**KEPT, name: value}, session="s", temporary="/tmp")
    assert value not in [each for key, each in found.items() if key != "PATH"]
    assert KEPT.items() <= found.items()


def test_a_person_can_let_a_variable_through() -> None:
    variables = {"NPM_TOKEN": "abc", "MY_OWN_THING": "x"}
    found = cleaned(variables, session="s", temporary="/tmp", kept=tuple(variables))
    assert variables.items() <= found.items()


def test_a_proxy_is_known_where_there_is_a_network_and_never_its_password() -> None:
    variables = {"https_proxy": "http://proxy:3128", "HTTP_PROXY": "http://me:hunter22hunter@proxy:3128"}
    found = cleaned(variables, session="s", temporary="/tmp", network=True)
    assert found["https_proxy"] == "http://proxy:3128"
    assert "HTTP_PROXY" not in found


@pytest.mark.parametrize("name", ["LC_ALL", "TZ", "GOPATH", "CARGO_HOME", "NODE_PATH", "PKG_CONFIG_PATH", "USER"])
def test_what_programs_need_is_passed_on(name: str) -> None:
    assert cleaned({name: "x"}, session="s", temporary="/tmp")[name] == "x"


def test_commands_know_that_an_agent_runs_them() -> None:
    assert cleaned({"WHET_RUN": ""}, session="s", temporary="/t")["WHET_RUN"] == "s"


def test_programs_are_not_looked_for_in_the_working_folder() -> None:
    assert safe_path(".:/usr/bin::bin:/bin") == "/usr/bin:/bin"
    assert safe_path("").startswith("/usr/local")
