"""What a person reads in the report."""

import json
from pathlib import Path

import pytest

from command import Whet


def timed_out(number: int) -> str:
    """A session whose command ran out of time, as an agent records it."""
    call = {"id": "c1", "type": "function", "function": {"name": "Bash", "arguments": '{"command": "make all"}'}}
    return json.dumps(
        {
            "messages": [
                {"role": "user", "content": f"Build part {number}."},
                {"role": "assistant", "content": None, "tool_calls": [call]},
                {"role": "tool", "tool_call_id": "c1", "content": "Error: Command timed out after 120 seconds"},
                {"role": "assistant", "content": "I could not build it."},
            ]
        }
    )


@pytest.fixture
def builds(whet: Whet, tmp_path: Path) -> None:
    for number in range(4):
        (tmp_path / f"{number}.json").write_text(timed_out(number))
    assert whet("import", *(f"{number}.json" for number in range(4))).code == 0


@pytest.mark.usefixtures("builds")
def test_a_call_whose_time_ran_out_is_listed_once(whet: Whet) -> None:
    shown = whet("report", "--temporary").out
    assert shown.count("Command timed out after 120 seconds") == 1
    lessons = whet("report", "--temporary", "--json").json["lessons"]
    assert [each["tool"] for each in lessons if each["tool"]] == ["Bash"]


@pytest.mark.usefixtures("builds")
def test_kinds_of_failure_are_named_in_words(whet: Whet) -> None:
    [line] = [line for line in whet("report", "--temporary").out.splitlines() if line.startswith("Seen in sessions:")]
    assert "timeout 4" in line
    assert "_" not in line
