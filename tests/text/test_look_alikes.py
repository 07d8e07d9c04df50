"""Look-alikes are found within words; what people really write is not taken for one."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from many_texts import DECEPTIVE, REAL_TEXTS
from whet.text.showing import look_alikes, warnings

ORDINARY = (
    "Используй pytest, а не unittest.",
    "Δt is 3 μs, λx.x, πr², σ = 0.1 and 2 kΩ at 5 µA.",
    "API를 사용하고 Tシャツ와 Python版을 씁니다.",
    "使用ＡＢＣ（全角）",
    "الAPI جاهزة",
    "Azərbaycan, Ɛwe, naïve café, Þór, İstanbul ışık",
    "1º andar, 2ª vez, ﬁne",
    "https://example.com/a:b",
    "3:00〜4:00／５",
    "Наука и α-частицы",
    "Reject below α = 0.05 by χ², and report τ and ρ.",
)


@pytest.mark.parametrize("text", [*REAL_TEXTS.values(), *ORDINARY])
def test_what_people_write_is_no_look_alike(text: str) -> None:
    assert look_alikes(text) == ()
    assert warnings(text) == ()


@pytest.mark.parametrize(("text", "character"), DECEPTIVE.items())
def test_a_letter_that_passes_for_another_is_found(text: str, character: str) -> None:
    assert character in {one.character for one in look_alikes(text)}
    assert any(f"U+{ord(character):04X}" in warning for warning in warnings(text))


def test_a_warning_names_the_word_and_every_letter_once() -> None:
    (warning,) = warnings("Use p\u0430yp\u0430l, p\u0430yp\u0430l.")
    assert warning == "“p\u0430yp\u0430l” is not what it seems: it contains U+0430 CYRILLIC SMALL LETTER A."


@given(st.text(st.characters()))
def test_each_look_alike_stands_where_it_is_said_to_be(text: str) -> None:
    assert all(text[one.place] == one.character for one in look_alikes(text))
