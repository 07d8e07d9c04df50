"""What one shell did not find is not missing where another session ran it."""

import pytest

from conversations import Turn, call, conversation, shell, user
from whet.failures.view import gather
from whet.lessons.contrasts import missing_program
from whet.lessons.presence import present_in

NO_DAEMON = "Cannot connect to the Docker daemon at unix:///var/run/docker.sock. Is the docker daemon running?"


def present(*turns: Turn) -> tuple[str, ...]:
    return present_in(gather(conversation(user("Go"), *turns)))


def test_what_a_call_that_worked_ran_is_there() -> None:
    assert present(shell("cd app && podlet ps | head", "web")) == ("cd", "head", "podlet")
    assert present(shell("/opt/podlet/bin/podlet ps", "web")) == ("podlet",)


def test_what_another_machine_ran_is_there_for_the_project() -> None:
    found = present(shell('ssh deploy@example.org "cd /srv && podlet ps"', "web"))
    assert {"ssh", "podlet"} <= {*found}
    assert "podlet" in present(shell("ssh deploy@example.org podlet ps", "web"))


def test_a_program_whose_daemon_was_not_started_is_there() -> None:
    assert present(shell("docker ps", NO_DAEMON, error=True)) == ("docker",)


@pytest.mark.parametrize(
    ("command", "answer"),
    [
        ("podlet ps; echo done", "zsh: command not found: podlet\ndone"),
        ("podlet ps 2>/dev/null | head", ""),
        ("podlet ps || true", "none"),
    ],
)
def test_a_call_that_hides_what_it_did_not_find_shows_nothing(command: str, answer: str) -> None:
    assert "podlet" not in present(shell(command, answer))


def test_a_skill_that_was_found_is_there() -> None:
    assert present(call("Skill", {"skill": "tidy"}, "Launching skill: tidy")) == ("skill tidy",)


@pytest.mark.parametrize(
    ("command", "error", "program"),
    [
        ("podlet ps", "zsh: command not found: podlet", "podlet"),
        ("docker ps", NO_DAEMON, ""),
        ("ssh h podlet ps", "bash: line 1: podlet: command not found", ""),
        ("ssh h << EOF cd /srv && podlet ps EOF", "bash: line 1: podlet: command not found", ""),
        ("docker exec web podlet ps", "bash: podlet: command not found", ""),
        ("docker exec web podlet ps", "zsh: command not found: docker", "docker"),
    ],
)
def test_only_what_this_projects_own_shell_did_not_find_is_missing(command: str, error: str, program: str) -> None:
    assert missing_program(command, error) == program


def test_a_line_without_a_program_names_nothing() -> None:
    assert "" not in present(shell("A=1", "ok"), shell("bash -c ''", "ok"), shell("ssh host ''", "ok"))
