"""When a passage of guidance applies."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from whet.errors import WhetError
from whet.own.told.passages import (
    Circumstances,
    Passage,
    PassageSlot,
    applies,
    chosen,
    passage_of,
    plain_names,
    size_of,
)
from whet.text.words import filled

SHELL = Passage("shell", "Mind the exit code.", families=("shell",))


def enforced(enforcement: str, model: str = "gpt-5", tools: tuple[str, ...] = ("terminal",)) -> bool:
    passage = Passage("enforcement", "Act.", enforcement=True, models=("gpt", "gemini"))
    return applies(passage, Circumstances(tools=tools, model=model, enforcement=tuple(enforcement.split())))


def test_a_passage_without_conditions_always_applies() -> None:
    assert applies(Passage("any", "Hello."), Circumstances())


def test_a_passage_for_a_tool_applies_when_it_is_shown() -> None:
    passage = Passage("board", "Read the card.", tools=("kanban_*",))
    assert applies(passage, Circumstances(tools=("kanban_show",)))
    assert not applies(passage, Circumstances(tools=("terminal",)))


@pytest.mark.parametrize("tool", ["Bash", "terminal", "run_shell_command", "functions.exec_command"])
def test_a_passage_for_a_family_applies_to_every_agents_name_of_the_tool(tool: str) -> None:
    assert applies(SHELL, Circumstances(tools=plain_names([tool])))


@pytest.mark.parametrize(
    ("passage", "fitting", "other"),
    [
        (
            Passage("p", "x", models=("gemini", "gemma")),
            Circumstances(model="Gemini-3-Pro"),
            Circumstances(model="claude-5"),
        ),
        (
            Passage("p", "x", providers=("alibaba",)),
            Circumstances(provider="Alibaba"),
            Circumstances(provider="openai"),
        ),
        (Passage("p", "x", purposes=("unattended",)), Circumstances(purpose="unattended"), Circumstances()),
        (Passage("p", "x", platforms=("slack",)), Circumstances(platform="slack"), Circumstances(platform="cli")),
        (Passage("p", "x", environments=("wsl",)), Circumstances(environments=("root", "wsl")), Circumstances()),
        (Passage("p", "x", size="small"), Circumstances(model="llama3.2:3b"), Circumstances(model="llama-3.3-70b")),
        (
            Passage("p", "x", size="large"),
            Circumstances(model="llama3.2:3b", size="large"),
            Circumstances(model="llama3.2:3b"),
        ),
    ],
)
def test_each_condition_decides(passage: Passage, fitting: Circumstances, other: Circumstances) -> None:
    assert applies(passage, fitting)
    assert not applies(passage, other)


def test_all_conditions_must_hold() -> None:
    passage = Passage("p", "x", models=("gpt",), environments=("ci",))
    assert applies(passage, Circumstances(model="gpt-5", environments=("ci",)))
    assert not applies(passage, Circumstances(model="gpt-5"))


def test_enforcement_is_automatic_by_model_or_as_the_setting_says() -> None:
    assert enforced("auto")
    assert not enforced("auto", model="claude-5")
    assert enforced("always", model="claude-5")
    assert enforced("on", model="claude-5")
    assert not enforced("never")
    assert not enforced("Off", model="offline-7b"), "no part of a name"
    assert enforced("Claude mistral", model="claude-5")
    assert not enforced("claude mistral", model="gpt-5")


@pytest.mark.parametrize("enforcement", ["auto", "always", "gpt"])
def test_without_tools_there_is_nothing_to_enforce(enforcement: str) -> None:
    assert not enforced(enforcement, tools=())


@pytest.mark.parametrize(
    ("model", "size"),
    [
        ("qwen2.5-7b-instruct", "small"),
        ("llama3.2:3b", "small"),
        ("Qwen3-0.6B", "small"),
        ("gemma-3n-e4b-it", "small"),
        ("phi-4-mini", "small"),
        ("qwen3-30b-a3b", "large"),
        ("mixtral-8x7b", "large"),
        ("gpt-oss-20b", "large"),
        ("gpt-5-mini", "large"),
        ("claude-5", "large"),
        ("", "large"),
    ],
)
def test_the_name_of_a_model_tells_its_size(model: str, size: str) -> None:
    assert size_of(model) == size


@given(st.permutations([Passage(name, name, order=order) for name, order in (("a", 3), ("b", 1), ("c", 1), ("d", 2))]))
def test_passages_stand_in_one_order_however_they_come(passages: list[Passage]) -> None:
    assert [passage.name for passage in chosen(passages, Circumstances())] == ["b", "c", "d", "a"]


def test_a_later_passage_replaces_one_of_the_same_name() -> None:
    own = Passage("shell", "My own words.", families=("shell",))
    assert chosen((SHELL, own), Circumstances(tools=("bash",))) == (own,)


def test_what_fills_a_place_is_not_filled_again() -> None:
    assert filled("{body} {date} {other}", {"body": "{date}", "date": "today"}) == "{date} today {other}"


def test_a_file_becomes_a_passage() -> None:
    source = "---\nslot: hint\norder: 7\nenvironments: wsl, Termux\nsize: small\n---\nMind the drives.\n"
    assert passage_of("hint", source) == Passage(
        "hint", "Mind the drives.", slot=PassageSlot.HINT, order=7, environments=("wsl", "termux"), size="small"
    )


@pytest.mark.parametrize("line", ["model: gpt", "slot: nowhere", "order: first", "size: huge", "enforcement: maybe"])
def test_a_field_that_is_not_understood_is_refused(line: str) -> None:
    with pytest.raises(WhetError, match="The guidance p has"):
        passage_of("p", f"---\n{line}\n---\nText.")


def test_a_passage_without_text_is_refused() -> None:
    with pytest.raises(WhetError, match="no text"):
        passage_of("p", "---\norder: 1\n---\n")
