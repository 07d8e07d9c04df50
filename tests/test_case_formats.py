"""The example package of cases of other programs: read, written, what of them is left out, and its command."""

import os
import subprocess
import sys
import tomllib
from pathlib import Path

import msgspec
import pytest
import yaml

from command import Done, Whet
from proving.repository_scenes import PLAIN, adding, commit, new_repository, test_of
from whet.agent.tools.sandbox import Wall, probe
from whet.proving.judged_work import judge_work
from whet.proving.workspace import laid_out, situation_for
from whet.sessions.transcripts import Message, Role, ToolCall
from whet.sessions.trust import Trust
from whet.store.case_files import load_case
from whet.store.home import Home, prepare_home
from whet.trials.cases import Case, Checkout, Limits
from whet.trials.checks import CallDemand, Check, CommitFiles, FileDemand, FinishedRun, mark
from whet.trials.shapes import CallShape, TextDemand
from whet_case_formats.claude_evals import read_claude_eval, write_claude_eval
from whet_case_formats.exchanged import plain_case_name
from whet_case_formats.harbor_tasks import read_harbor_task, write_harbor_task

EVAL = """
schema_version: "1.0"
name: Slugify It
tags: [text]
context: {scaffold_script: ./scaffold.sh}
execution:
  prompt: Write slugify into slug.py.
  max_turns: 20
  timeout_seconds: 120
  env: {COLOUR: red}
runs: 3
graders:
  - {type: regex, name: says-done, pattern: done, flags: i}
  - {type: regex, name: no-sorry, pattern: sorry, match: not_contains}
  - {type: regex, name: defined, target: {source: file, path: slug.py}, pattern: def slugify}
  - {type: tool_used, name: reads, tool: Read, input_match: '"file_path"\\s*:\\s*"[^"]*slug'}
  - {type: tool_used, name: no-web, tool: WebFetch, min: 0, max: 0}
  - {type: file_exists, name: there, path: slug.py}
  - {type: llm, name: tidy, criteria: The answer is short.}
  - {type: tool_used, name: fired, tool: Skill}
  - {type: tool_order, name: order, before: Read, after: Edit}
  - {type: regex, name: ahead, pattern: '(?=x)y'}
  - {type: regex, name: often, pattern: x, match: 'count:2'}
"""


def said(*calls: ToolCall) -> tuple[Message, ...]:
    return (Message(Role.AGENT, calls, Trust.AGENT),)


def test_an_eval_case_becomes_a_case_and_what_cannot_is_told() -> None:
    name, case, left_out = read_claude_eval("folder", {"case.yaml": EVAL, "scaffold.sh": "touch a\n"})
    assert name == "slugify-it"
    assert case is not None
    assert (case.task, case.setup, case.environment) == (
        "Write slugify into slug.py.",
        ("touch a\n",),
        {"COLOUR": "red"},
    )
    assert case.budget == Limits(model_calls=20, seconds=120.0)
    told = [each.split(":")[0] for each in left_out]
    assert told == ["grader fired", "grader order", "grader ahead", "grader often"]
    read = ToolCall("1", "Read", '{ "file_path": "/w/slug.py" }')
    good = FinishedRun(said(read), "Done.", {"slug.py": "def slugify(): ..."}, rubric=True)
    assert mark(case.check, good).passed
    web = ToolCall("2", "WebFetch", "{}")
    for worse in (
        msgspec.structs.replace(good, answer="Done, sorry."),
        msgspec.structs.replace(good, answer="It is."),
        msgspec.structs.replace(good, files={"slug.py": None}),
        msgspec.structs.replace(good, files={"slug.py": "x"}),
        msgspec.structs.replace(good, messages=said(read, web)),
        msgspec.structs.replace(good, messages=()),
        msgspec.structs.replace(good, rubric=False),
    ):
        assert not mark(case.check, worse).passed


def test_an_eval_case_of_a_prompt_and_graders_in_files_of_their_own() -> None:
    files = {
        "prompt.md": "---\ntags: [a]\nmax_turns: 7\n---\n\nSay hello.\n",
        "graders/hello.md": "---\ntype: regex\nflags: i\n---\nhello\n",
        "graders/kind.md": "---\ntype: llm\n---\nIt is kind.\n",
    }
    _, case, left_out = read_claude_eval("Greet", files)
    assert case is not None
    assert (case.name, case.task, case.tags, case.budget.model_calls) == ("greet", "Say hello.", ("a",), 7)
    assert case.check.answer == TextDemand(all_match=("(?i)hello",))
    assert case.check.rubric == "It is kind."
    assert left_out == ()


def test_an_eval_case_that_cannot_be_carried_out_here_says_why() -> None:
    broken = read_claude_eval("x", {"case.yaml": "execution: ["})
    assert broken.case is None
    assert "cannot be read" in broken.left_out[0]
    history = "execution: {prompt: x}\ncontext: {history_file: h.jsonl}\ngraders: [{type: llm, criteria: x}]"
    assert "recorded conversation" in read_claude_eval("x", {"case.yaml": history}).left_out[0]
    order = "execution: {prompt: x}\ngraders: [{type: tool_order, before: A, after: B}]"
    assert read_claude_eval("x", {"case.yaml": order}).case is None


def test_a_case_is_written_as_an_eval_case_and_read_back_it_demands_the_same() -> None:
    case = Case(
        task="Change the port.",
        check=Check(
            answer=TextDemand(equals="9000 (new)", lacks=("8080",)),
            files={"a/config.ini": FileDemand(contains=("port = 9000",)), "old.ini": FileDemand(absent=True)},
            calls=CallDemand(uses=(CallShape("Read", {"path": "a/config.ini"}),), avoids=(CallShape("Bash"),)),
            rubric="It is short.",
        ),
        name="port",
        files={"a/config.ini": "port = 8080\n"},
    )
    written = write_claude_eval(case)
    assert written.left_out == ()
    assert yaml.safe_load(written.files["case.yaml"])["schema_version"] == "1.0"
    again = read_claude_eval("port", written.files).case
    assert again is not None
    read = ToolCall("1", "Read", '{"path": "a/config.ini"}')
    good = FinishedRun(said(read), "9000 (new)", {"a/config.ini": "port = 9000\n", "old.ini": None}, rubric=True)
    bad = [
        msgspec.structs.replace(good, answer="9000"),
        msgspec.structs.replace(good, messages=said()),
        msgspec.structs.replace(good, messages=said(read, ToolCall("2", "Bash", "{}"))),
        msgspec.structs.replace(good, files={**good.files, "old.ini": ""}),
        msgspec.structs.replace(good, files={**good.files, "a/config.ini": "port = 9000\n8080"}, answer="8080"),
    ]
    for check in (case.check, again.check):
        assert mark(check, good).passed
        assert not any(mark(check, ran).passed for ran in bad)


def test_a_check_by_a_command_has_no_eval_case() -> None:
    assert write_claude_eval(Case(task="x", check=Check(command="true"), name="x")) == (
        {},
        ("no grader runs a command",),
    )


DOCKERFILE = """
FROM ubuntu:24.04
# What is needed.
RUN apt-get update && \\
    apt-get install -y python3
WORKDIR /app
ENV COLOUR=red
COPY data/ ./data/
COPY hello.txt /app/
COPY secret /etc/secret
RUN mkdir out
"""
HARBOR = {
    "task.toml": '[metadata]\ntags = ["a"]\n[verifier]\ntimeout_sec = 30\n[agent]\ntimeout_sec = 60.0\n',
    "instruction.md": "Write 7 to /app/out/number.txt.\n",
    "environment/Dockerfile": DOCKERFILE,
    "environment/data/x.csv": "1\n",
    "environment/hello.txt": "hello\n",
    "tests/test.sh": "python3 /tests/look.py && echo 1 > /logs/verifier/reward.txt\n",
    "tests/look.py": "assert open('/app/out/number.txt').read() == '7'\n",
}


def test_a_harbor_task_becomes_a_case_whose_tests_stay_out_of_sight() -> None:
    name, case, left_out = read_harbor_task("Write-Seven", HARBOR)
    assert name == "write-seven"
    assert case is not None
    assert case.task == "Write 7 to out/number.txt."
    assert case.files == {"data/x.csv": "1\n", "hello.txt": "hello\n"}
    assert (case.setup, case.environment, case.tags) == (("mkdir out",), {"COLOUR": "red"}, ("a",))
    assert (case.check.seconds, case.budget.seconds) == (30.0, 60.0)
    assert case.check.put[".harbor/tests/look.py"] == "assert open('./out/number.txt').read() == '7'\n"
    assert [each.split()[0] for each in left_out] == ["RUN", "COPY"]


def test_a_harbor_task_of_several_steps_or_containers_is_none_of_ours() -> None:
    assert read_harbor_task("x", {**HARBOR, "steps/a/instruction.md": ""}).case is None
    assert read_harbor_task("x", {**HARBOR, "environment/docker-compose.yaml": ""}).case is None
    assert read_harbor_task("x", {**HARBOR, "task.toml": "="}).case is None
    assert read_harbor_task("x", {**HARBOR, "tests/test.sh": "echo {} > /logs/verifier/reward.json"}).case is None
    assert read_harbor_task("x", {"task.toml": "", "instruction.md": "x"}).case is None


def test_a_case_of_a_repository_is_written_as_a_harbor_task() -> None:
    case = Case(
        task="Fix it.",
        check=Check("/repo/.venv/bin/python -m pytest tests/a.py", tests=CommitFiles("a" * 40, ("tests/a.py",))),
        name="fix",
        repository=Checkout("/repo", "b" * 40, "c" * 40),
        setup=("ln -s /repo/node_modules node_modules", "touch built"),
        environment={"PYTHONPATH": "src"},
    )
    files, left_out = write_harbor_task(case, {"a.py": "x"}, {"tests/a.py": "y"})
    assert tomllib.loads(files["task.toml"])["verifier"]["timeout_sec"] == 60.0
    assert files["environment/files/a.py"] == "x"
    assert files["tests/files/tests/a.py"] == "y"
    assert "\npython3 -m pytest tests/a.py\n" in files["tests/test.sh"]
    assert "RUN touch built" in files["environment/Dockerfile"]
    assert left_out == ("setup: ln -s /repo/node_modules node_modules",)


def test_a_check_that_is_no_command_has_no_harbor_task() -> None:
    case = Case(task="x", check=Check(rubric="good"), name="x")
    assert write_harbor_task(case, {}, {}) == ({}, ("its check has no command",))


def test_names_become_names_of_cases() -> None:
    assert plain_case_name("Fix the Port!") == "fix-the-port"
    assert plain_case_name("../..") == "case"


sandboxed = pytest.mark.skipif(probe(os.environ.get("PATH", "")).wall is Wall.NONE, reason="no sandbox here")
PACKAGE = Path(__file__).parents[1] / "examples" / "case_formats"


@pytest.fixture(scope="module")
def package(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder into which it was installed, without a network."""
    folder = tmp_path_factory.mktemp("packages")
    command = ("-m", "pip", "install", "-q", "--no-deps", "--no-build-isolation", "--no-index", "--target")
    subprocess.run([sys.executable, *command, folder, PACKAGE], check=True, capture_output=True)
    return folder


@pytest.fixture
def foreign(whet: Whet, package: Path) -> Whet:
    """Its command, beside the real ones."""

    def run(*arguments: str, stdin: str = "") -> Done:
        return whet("foreign-cases", *arguments, stdin=stdin, variables={"PYTHONPATH": str(package)})

    return run


@sandboxed
def test_a_case_goes_to_harbor_and_comes_back_with_a_check_that_still_tells(
    whet: Whet, foreign: Whet, tmp_path: Path
) -> None:
    repository = new_repository(tmp_path / "calc")
    commit(repository, "Begin", {"calc.py": adding("a - b")})
    commit(
        repository, "Add instead of subtracting", {"calc.py": adding("a + b"), "tests/test_add.py": test_of("add", 5)}
    )
    [name] = whet("cases", "add", str(repository), "--test", PLAIN, "--env", "PYTHONPATH=.", "--json").json["cases"]
    written = foreign("write", name, "--format", "harbor", "--to", f"{tmp_path}/tasks", "--json").json
    assert Path(written["cases"][name], "tests/test.sh").stat().st_mode & 0o111
    back = foreign("read", f"{tmp_path}/tasks", "--format", "harbor", "--folder", f"{tmp_path}/back", "--json")
    case = load_case(tmp_path / "back", name)
    assert back.json["cases"] == {name: f"{tmp_path}/back/{name}.toml"}
    home = Home(tmp_path / "home")
    prepare_home(home)
    codes = []
    for solved in (False, True):
        with laid_out(home, case) as work:
            if solved:
                (work / "calc.py").write_text(adding("a + b"))
            codes.append(judge_work(situation_for(home, case, work), case).exit_code)
    assert codes == [1, 0]


def test_an_eval_suite_is_imported_and_what_is_left_out_is_said(foreign: Whet, tmp_path: Path) -> None:
    folder = tmp_path / "plugin/evals/greet"
    folder.mkdir(parents=True)
    graders = (
        "graders: [{type: regex, name: hello, pattern: hello}, {type: tool_order, name: order, before: A, after: B}]"
    )
    (folder / "case.yaml").write_text(
        f'schema_version: "1.0"\nname: greet\nexecution: {{prompt: Say hello.}}\n{graders}\n'
    )
    done = foreign("read", f"{tmp_path}/plugin", "--format", "claude-eval")
    assert "greet, left out: grader order: there is no such check here." in done.out
    assert "1 case of 1 imported" in done.out
    out = foreign("write", "greet", "--format", "claude-eval", "--to", f"{tmp_path}/out", "--json").json
    assert Path(out["cases"]["greet"], "case.yaml").exists()
    assert foreign("write", "greet", "--format", "harbor", "--to", f"{tmp_path}/h").code == 1
    assert "contains no harbor case" in foreign("read", str(folder), "--format", "harbor").err
