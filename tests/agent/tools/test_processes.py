"""Commands as processes: what they see, what is kept of their output, and that nothing outlives them."""

import os
import threading
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from patience import PATIENCE_SECONDS, until
from whet.agent.tools.processes import BoundedOutput, Launch, Process, cleaned, plain, safe_path


def test_what_a_command_leaves_behind_ends_with_it(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    try:
        # What is left behind holds the pipe open and nothing else: its end is the end of the pipe.
        left = f'(echo begun; exec sleep 100000) > "{pipe}" 2>/dev/null &'
        script = f'{left} until [ -s "{tmp_path}/go" ]; do sleep 0.01; done'
        process = Process(Launch(("/bin/sh", "-c", script), (), dict(os.environ), tmp_path), script, limit=1_000)
        until(lambda: _read(reader) == b"begun\n")
        (tmp_path / "go").write_text("go")
        assert process.wait(PATIENCE_SECONDS, threading.Event()) == "done"
        assert process.exit_code == 0
        until(lambda: _read(reader) == b"")
    finally:
        os.close(reader)


def _read(descriptor: int) -> bytes | None:
    """What is in the pipe: None for nothing yet, and no bytes where nobody can write to it any more."""
    try:
        return os.read(descriptor, 100)
    except BlockingIOError:
        return None


@pytest.mark.parametrize(
    ("printed", "left"),
    [
        ("\x1b[31mred\x1b[0m", "red"),
        ("\x1b]0;title\x07text", "text"),
        ("\x1b]8;;http://x\x1b\\link\x1b]8;;\x1b\\", "link"),
        ("\x1b]52;c;ZXZpbA==\x07clipboard", "clipboard"),
        ("\x1b]0;never ended", ""),
        ("\x1bPdevice\x1b\\text", "text"),
        ("10%\r50%\r100%\ndone", "100%\ndone"),
        ("one\r\ntwo\r\n", "one\ntwo\n"),
        ("abc\b\b\bxyz", "xyz"),
        ("a\x00b\x07c\x7f", "abc"),
        ("\u202eevil\u202c", "evil"),
        ("\x9b31mred", "red"),
        ("tab\tstays\n", "tab\tstays\n"),
    ],
)
def test_text_is_left_as_a_terminal_would_show_it(printed: str, left: str) -> None:
    assert plain(printed) == left


@given(st.text(alphabet=st.sampled_from("ab\x1b[]0;m\x07\\\r\n\b\x9b\x00P")))
def test_no_control_is_left(text: str) -> None:
    assert all(character in "\n\t" or character.isprintable() for character in plain(text))


@given(st.lists(st.binary(max_size=50), max_size=40), st.integers(min_value=10, max_value=200))
def test_a_tape_keeps_head_and_tail_and_counts_the_rest(pieces: list[bytes], limit: int) -> None:
    tape = BoundedOutput(limit)
    for piece in pieces:
        tape.add(piece)
    whole = b"".join(pieces)
    taped = tape.take()
    assert len(taped.head) + taped.missing + len(taped.tail) == len(whole)
    assert len(taped.head) + len(taped.tail) <= limit
    assert whole.startswith(taped.head)
    assert whole.endswith(taped.tail)
    assert tape.take() == (b"", b"", 0)


def test_what_is_left_out_is_said() -> None:
    tape = BoundedOutput(100)
    tape.add(b"a" * 1_000)
    assert "[… 900 bytes left out …]" in tape.take().text


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
