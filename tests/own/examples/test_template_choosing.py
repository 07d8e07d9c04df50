"""Which template is chosen, and whether it is honest about why."""

import pytest
from msgspec.structs import replace

from samples_of_templates import LOOK, RUN, TEMPLATE
from whet.own.examples.templates import FRESH_SECONDS, Choice, Need, Template, TemplateEffect, choose, standing
from whet.sessions.activity import Activity

NOW = 1_800_000_000.0
BAKING = Template("bread-baking", (replace(LOOK, intent="Weigh the flour."),), Activity.FILE, tags=("kitchen",))
EVERY = (TEMPLATE, BAKING)
HELPS = TemplateEffect(BAKING.key, effect=0.3, low=0.1, high=0.5, cases=40, at=NOW)


def chosen(*worths: TemplateEffect, templates: tuple[Template, ...] = EVERY, **need: object) -> Choice:
    return choose(templates, worths, Need(**need), now=NOW)  # type: ignore[arg-type] # fields by name


def test_measured_help_goes_before_fit() -> None:
    choice = chosen(HELPS, task="Look at the garden plan, then weigh the flour.")
    assert (choice.template, choice.by) == (BAKING, "measured")
    assert "40 cases" in choice.reason
    assert "+0.30" in choice.reason


def test_of_two_that_help_the_surer_one_is_taken() -> None:
    wide = TemplateEffect(TEMPLATE.key, effect=0.6, low=0.02, high=0.9, cases=5, at=NOW)
    assert chosen(wide, HELPS, task="Weigh flour at the garden work.").template is BAKING


def test_what_helped_with_other_work_is_not_taken_for_this() -> None:
    assert chosen(HELPS, task="Look at the garden plan.").template is TEMPLATE


@pytest.mark.parametrize(
    "worth",
    [
        replace(HELPS, low=-0.1),
        replace(HELPS, at=NOW - FRESH_SECONDS - 1),
        replace(HELPS, model="another-model"),
        replace(HELPS, key="0" * 12),
    ],
)
def test_what_is_undecided_old_or_of_another_model_is_not_called_measured(worth: TemplateEffect) -> None:
    choice = chosen(worth, task="Look at the garden plan.", model="some-model")
    assert (choice.template, choice.by) == (TEMPLATE, "fit")
    assert "not been measured" in choice.reason


def test_what_was_measured_to_harm_is_not_taken_even_where_it_fits() -> None:
    harm = TemplateEffect(TEMPLATE.key, effect=-0.3, low=-0.5, high=-0.1, cases=40, at=NOW)
    choice = chosen(harm, templates=(TEMPLATE,), task="Look at the garden plan.")
    assert (choice.template, choice.by, choice.reason) == (
        None,
        "none",
        "the templates that fit were measured to harm, or to help too little",
    )


def test_fit_is_by_words_activity_and_tags() -> None:
    assert chosen(task="Weigh flour for rolls").template is BAKING
    assert chosen(activity=Activity.CODE).template is TEMPLATE
    assert chosen(tags=("kitchen",)).template is BAKING
    assert chosen(task="Weigh flour", activity=Activity.CODE).template is TEMPLATE


def test_none_is_an_answer() -> None:
    assert chosen(task="Translate a poem").template is None
    assert chosen(task="Weigh my chances").template is None
    assert chosen(tags=("unheard-of",)).template is None
    assert choose((), (), Need(), now=NOW).by == "none"


def test_a_template_of_tools_that_the_session_has_not_is_left() -> None:
    assert chosen(task="Look at the garden plan.", tools=("terminal",)).template is None
    assert chosen(task="Look at the garden plan.", tools=("Terminal", "read_file", "edit")).template is TEMPLATE


def test_use_counts_for_nothing() -> None:
    twin = Template("a-twin", (LOOK, RUN), Activity.CODE)
    assert chosen(templates=(TEMPLATE, twin), activity=Activity.CODE, task="garden").template is TEMPLATE


def test_what_live_sessions_call_worthless_is_not_shielded_by_an_earlier_trial() -> None:
    tried = TemplateEffect(TEMPLATE.key, effect=0.3, low=0.1, high=0.5, cases=40, at=NOW - 100, model="m")
    idle = replace(tried, effect=0.0, low=-0.06, high=0.09, at=NOW, source="canary", worthless=True)
    task = "Look at the garden plan."
    assert chosen(tried, idle, templates=(TEMPLATE,), task=task, model="m").template is None
    assert chosen(tried, idle, templates=(TEMPLATE,), task=task, model="another").by == "fit"
    assert chosen(idle, templates=(TEMPLATE,), task=task, model="another").template is TEMPLATE


def test_a_verdict_that_a_person_overruled_no_longer_stands_and_a_later_one_does() -> None:
    first = TemplateEffect(
        TEMPLATE.key, effect=-0.3, low=-0.5, high=-0.1, cases=40, at=NOW, source="canary", worthless=True
    )
    later, other = replace(first, at=NOW + 2), replace(first, key=BAKING.key)
    helped = replace(first, low=0.1, high=0.5, worthless=False)
    assert standing((first, later, other, helped), EVERY, {"garden-work": NOW + 1}) == (later, other, helped)
    assert standing((first,), EVERY, {}) == (first,)
