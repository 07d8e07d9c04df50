"""No text becomes markup, and every picture is whole."""

from html.parser import HTMLParser

import pytest
from hypothesis import given
from hypothesis import strategies as st

from whet.web.charts import ChartBar, ChartPoint, bars, over_time, spans, strip
from whet.web.html import Element, h, mapped, render, words_of


class _Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.tags: list[str] = []
        self.text = ""
        self.values: list[str | None] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.values += [value for _, value in attrs]

    def handle_data(self, data: str) -> None:
        self.text += data


@given(st.text(), st.text())
def test_no_text_becomes_markup(text: str, label: str) -> None:
    made = render(h("p", {"title": label}, text, h("b", text)))
    reader = _Reader()
    reader.feed(made)
    reader.close()
    assert reader.tags == ["p", "b"]
    assert len(reader.values) == 1


@pytest.mark.parametrize("href", ["javascript:alert(1)", "//evil.example", "https://evil.example", "/\\evil", "data:x"])
def test_a_link_leads_to_this_page_only(href: str) -> None:
    with pytest.raises(ValueError, match="this page only"):
        h("a", {"href": href}, "x")


@pytest.mark.parametrize(
    ("tag", "attributes"), [("script", {}), ("p", {"onclick": "x"}), ("p", {"style": "x"}), ("a b", {})]
)
def test_scripts_and_styles_cannot_be_made(tag: str, attributes: dict[str, str]) -> None:
    with pytest.raises(ValueError, match="not for views"):
        h(tag, attributes)


def test_every_text_of_a_tree_can_be_changed() -> None:
    tree = h("p", {"title": "secret", "class": "secret"}, "secret", h("b", {"aria-label": "secret"}, "a secret"))
    changed = mapped(tree, lambda text: text.replace("secret", "•"))
    assert words_of(changed) == "• a •"
    assert render(changed).count("secret") == 1  # the class, which is ours


@given(st.lists(st.floats(0, 1), max_size=30), st.lists(st.floats(0, 1e9), max_size=10))
def test_every_picture_is_whole_and_says_what_it_shows(values: list[float], sizes: list[float]) -> None:
    points = [ChartPoint(str(n), value, 0, 1, f"point {n}", "/sessions") for n, value in enumerate(values)]
    rows = [ChartBar(f"bar {n}", size, f"size {n}") for n, size in enumerate(sizes)]
    drawn: list[Element] = [
        over_time(points, title="t"),
        bars(rows, title="t"),
        spans(points, title="t"),
        strip([("ok", point.words, "#m1") for point in points], title="t"),
    ]
    for each in drawn:
        text = render(each)
        assert "nan" not in text
        assert "<figcaption>t</figcaption>" in text
    assert all(f"size {n}" in render(drawn[1]) for n in range(len(sizes)))


def test_a_bar_that_leads_somewhere_is_a_link_with_its_name_and_its_number() -> None:
    drawn = render(bars([ChartBar("Bash", 1.0, "1 of 3", "/sessions"), ChartBar("Edit", 0.0, "0 of 3")], title="Calls"))
    assert drawn.count("<a ") == 1
    assert '<a href="/sessions"><span class="name">Bash</span> <span class="figure">1 of 3</span>' in drawn
