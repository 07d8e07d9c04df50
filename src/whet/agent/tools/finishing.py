"""How the agent says that its work is over."""

from typing import Annotated

from msgspec import Meta

from whet.agent.tools.situation import Given, Occasion
from whet.runs.run import WorkReport, WorkStatus


def finish(
    occasion: Occasion,
    *,
    status: WorkStatus,
    report: Annotated[str, Meta(description="what was done and checked, or what stands in the way")] = "",
) -> Given:
    """End the work. `nothing_to_report` where there is nothing that a person needs to read."""
    trust = occasion.workplace.lineage.trust_of(report)
    return Given("The work is ended.", trust=trust, report=WorkReport(status, report))
