"""The programs in examples/ and the lines in the README do what they say, run as a person runs them."""

import json
import re
import subprocess
import sys
from pathlib import Path

from agent.loopback import JSON, Play, playing
from command import environment
from whet.shipped.guidance.warm import words

ROOT = Path(__file__).parents[1]
CALL = {"id": "call_1", "type": "function", "function": {"name": "get_order", "arguments": '{"order_id":"T-50112"}'}}
ANSWER = {
    "id": "chatcmpl-1",
    "object": "chat.completion",
    "created": 1,
    "model": "some-model",
    "choices": [
        {
            "index": 0,
            "finish_reason": "tool_calls",
            "message": {"role": "assistant", "content": None, "tool_calls": [CALL]},
        }
    ],
}


def run(*arguments: str, home: Path, variables: dict[str, str] | None = None) -> str:
    """What a program prints, run from the folder of the project."""
    done = subprocess.run(
        [sys.executable, *arguments],
        env={**environment(home, home), **(variables or {})},
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_a_folder_of_sessions_is_scored(tmp_path: Path) -> None:
    lines = run("examples/score_sessions.py", home=tmp_path).splitlines()
    assert re.fullmatch(r"\d\d sessions; 0 files or lines could not be read", lines[0])
    scores = [float(line[:4]) for line in lines[1:6]]
    assert scores == sorted(scores, reverse=True)
    counts = [int(line[:3]) for line in lines[6:]]
    assert counts == sorted(counts, reverse=True)
    assert "slip" in lines[6]


def test_the_notebook_is_one() -> None:
    cells = re.split(r"^# %%", (ROOT / "examples" / "score_sessions.py").read_text(), flags=re.MULTILINE)
    assert cells[0] == ""
    assert [cell.startswith(" [markdown]") for cell in cells[1:]] == [True, False] * ((len(cells) - 1) // 2)


def test_an_experiment_is_judged_at_the_end_and_on_the_way(tmp_path: Path) -> None:
    whole, early = run("examples/judge_experiment.py", home=tmp_path).splitlines()
    assert whole.startswith("accept after 40 cases: +32 points")
    assert early.startswith("accept after ")
    assert int(early.split()[2]) < 40


def test_an_experiment_without_enough_cases_says_so(tmp_path: Path) -> None:
    (tmp_path / "few.csv").write_text("case,arm,passed\na,old,0\na,new,1\nb,old,1\nb,new,1\n")
    lines = run("examples/judge_experiment.py", str(tmp_path / "few.csv"), home=tmp_path).splitlines()
    assert lines[0].startswith("undecided after 2 cases")
    assert lines[1] == "More cases are needed."


def test_the_openai_client_sends_the_examples_before_the_conversation(tmp_path: Path) -> None:
    with playing(Play((json.dumps(ANSWER).encode(),), headers=JSON, framing="length")) as server:
        variables = {"OPENAI_BASE_URL": server.base_url, "OPENAI_API_KEY": "none", "NO_PROXY": "127.0.0.1"}
        said = run("examples/warm_start_openai.py", home=tmp_path, variables=variables)
        [request] = server.requests
    assert said.endswith('get_order {"order_id":"T-50112"}\n')
    messages = request.json["messages"]
    assert [message["role"] for message in messages[:4]] == ["system", "user", "assistant", "tool"]
    assert messages[1]["content"].startswith(words().opening.partition("{body}")[0])
    assert messages[-1] == {
        "role": "user",
        "content": "Please send my order T-50112 to Ringstr. 4, 04109 Leipzig.",
    }
    shown = {call["function"]["name"] for message in messages for call in message.get("tool_calls", ())}
    assert shown == {tool["function"]["name"] for tool in request.json["tools"]}


def test_the_lines_in_the_readme_run(tmp_path: Path) -> None:
    [lines] = re.findall(r"```python\n(.*?)```", (ROOT / "README.md").read_text(), re.DOTALL)
    assert run("-c", lines, home=tmp_path).endswith("[] ()\n")
