"""Told and not followed: where the agent broke a rule that it had been told."""

from collections.abc import Iterator

from whet.trouble.course import SessionCourse, Stretch
from whet.trouble.values import TroubleEnding, TroubleKind


def not_followed(course: SessionCourse) -> Iterator[Stretch]:
    """The calls of each message at which a rule was broken."""
    for broken in course.breaks:
        if course.begin <= broken.message < len(course.messages):
            asked = course.moves_within(broken.message, broken.message)
            last = max((move.answered for move in asked), default=broken.message)
            first = max(course.begin, broken.message - 1)
            yield Stretch(TroubleKind.TOLD, first, last, "rule", broken.rule, TroubleEnding.LEFT)
