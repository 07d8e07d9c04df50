"""The guidance that ships: every file is read, short, and in its place."""

import re
from pathlib import Path

import pytest

import whet.shipped.guidance
from whet.own.told.passages import Circumstances, PassageSlot, applies, chosen, plain_names
from whet.shipped.guidance import built_in
from whet.text.words import estimate

FOLDER = Path(whet.shipped.guidance.__file__).parent
FRAMES = {
    PassageSlot.SKILLS: "{body}",
    PassageSlot.RULES: "{body}",
    PassageSlot.CALLER: "{body}",
    PassageSlot.REPOSITORY: "{body}",
    PassageSlot.UNREADABLE: "{body}",
    PassageSlot.MEMORY: "{body}",
    PassageSlot.USER: "{body}",
    PassageSlot.EXTERNAL: "{body}",
    PassageSlot.CALLS: "{body}",
    PassageSlot.RESULT: "{body}",
    PassageSlot.DATE: "{date}",
    PassageSlot.MODEL: "{model}",
    PassageSlot.PROVIDER: "{provider}",
    PassageSlot.SESSION: "{session}",
}


def names(setting: Circumstances) -> set[str]:
    return {passage.name for passage in chosen(built_in(), setting)}


def test_every_file_is_a_passage_with_a_name_of_its_own() -> None:
    files = [path.stem for folder in (FOLDER, FOLDER / "hints") for path in folder.glob("*.md")]
    assert sorted(files) == sorted(passage.name for passage in built_in())
    assert len(set(files)) == len(files)


def test_no_passage_is_long_or_has_a_line_too_wide() -> None:
    assert max(estimate(passage.text) for passage in built_in()) <= 150
    assert max(len(line) for passage in built_in() for line in passage.text.splitlines()) <= 120


@pytest.mark.parametrize("slot", FRAMES)
def test_there_is_one_frame_for_each_slot_with_its_place(slot: PassageSlot) -> None:
    (frame,) = [passage for passage in built_in() if passage.slot is slot]
    assert frame.text.count(FRAMES[slot]) == 1


@pytest.mark.parametrize(("size", "name"), [("small", "identity_small"), ("large", "identity")])
def test_there_is_one_default_identity_for_each_size(size: str, name: str) -> None:
    found = [each.name for each in chosen(built_in(), Circumstances(size=size)) if each.slot is PassageSlot.IDENTITY]
    assert found == [name]


def test_a_place_is_one_that_the_prompt_can_fill() -> None:
    known = {"body", "mark", "tool", "date", "weekday", "model", "provider", "session"}
    assert all(set(re.findall(r"\{(\w+)\}", passage.text)) <= known for passage in built_in())


@pytest.mark.parametrize(
    ("tool", "passage"),
    [
        ("memory", "memory"),
        ("save_memory", "memory"),
        ("session_search", "session_search"),
        ("skill_view", "skills"),
        ("skills_list", "skills"),
        ("TodoWrite", "todo"),
        ("update_plan", "todo"),
        ("Bash", "terminal"),
        ("apply_patch", "editing"),
        ("write_file", "editing"),
        ("WebFetch", "web"),
        ("web_search", "web"),
        ("computer_use", "computer_use"),
        ("kanban_complete", "worker"),
        ("finish", "finish"),
    ],
)
def test_a_tool_brings_its_guidance(tool: str, passage: str) -> None:
    with_tool = names(Circumstances(tools=plain_names([tool])))
    assert with_tool - names(Circumstances()) == {passage}


@pytest.mark.parametrize(
    ("model", "passage"),
    [
        ("gemini-3-pro", "gemini"),
        ("gemma-3-27b", "gemini"),
        ("gpt-5", "gpt"),
        ("codex-1", "gpt"),
        ("grok-4", "gpt"),
        ("claude-opus-5", "claude"),
        ("qwen3-235b-a22b", "open_models"),
        ("llama-3.3-70b", "open_models"),
    ],
)
def test_a_family_of_models_brings_its_guidance(model: str, passage: str) -> None:
    assert names(Circumstances(model=model)) - names(Circumstances()) == {passage}


def test_a_small_model_gets_little_to_read() -> None:
    tools = ("edit_file", "finish", "memory", "skill_view", "terminal", "todo", "web_fetch")

    def size(model: str) -> int:
        shown = chosen(built_in(), Circumstances(tools=tools, model=model))
        return sum(estimate(passage.text) for passage in shown if passage.slot is PassageSlot.GUIDANCE)

    assert size("qwen2.5-7b") < 150 < size("qwen2.5-72b")
    assert "small" in names(Circumstances(tools=tools, model="qwen2.5-7b"))


@pytest.mark.parametrize("fact", ["wsl", "termux", "container", "ci", "ssh", "macos", "windows", "root"])
def test_a_fact_about_the_machine_brings_one_hint(fact: str) -> None:
    found = [passage for passage in built_in() if passage.slot is PassageSlot.HINT and passage.environments]
    assert [passage.name for passage in found if applies(passage, Circumstances(environments=(fact,)))] == [fact]


def test_a_provider_that_reports_other_names_is_put_right() -> None:
    assert names(Circumstances(provider="alibaba")) - names(Circumstances()) == {"model_name"}
