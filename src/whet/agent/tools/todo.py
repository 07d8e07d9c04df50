"""The plan: steps of the task, kept in the session itself, where a resumed one finds them again."""

from typing import Annotated

from msgspec import Meta

from whet.agent.tools.situation import Given, Occasion, TodoStep
from whet.sessions.trust import Trust

MARKS = {"open": "[ ]", "doing": "[>]", "done": "[x]", "dropped": "[-]"}


def todo(
    occasion: Occasion,
    *,
    steps: Annotated[tuple[TodoStep, ...], Meta(max_length=50, description="the whole plan; leave out to see it")] = (),
) -> Given:
    """Keep the plan of the task: give all of its steps each time."""
    workplace = occasion.workplace
    if steps:
        workplace.plan = steps
    lines = [f"{MARKS[step.status]} {step.text}" for step in workplace.plan]
    left = sum(step.status in ("open", "doing") for step in workplace.plan)
    text = "\n".join([*lines, f"{left} of {len(lines)} steps left."]) if lines else "There is no plan yet."
    return Given(text, trust=min(Trust.AGENT, workplace.lineage.lowest))
