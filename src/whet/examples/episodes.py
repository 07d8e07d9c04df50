"""Episodes: what one request took, from the person's words over the calls to the agent's answer."""

from bisect import bisect_left
from itertools import groupby
from typing import NamedTuple

from whet.failures.view import JudgedCall, SessionView
from whet.sessions.lineage import is_persons
from whet.sessions.transcripts import Role, Transcript


class Episode(NamedTuple):
    """The steps for one request: its message, if a person asked at all, and whether it was brought to an answer."""

    asked: int | None
    steps: tuple[JudgedCall, ...]
    is_answered: bool


def episodes(evidence: SessionView) -> tuple[Episode, ...]:
    """The steps of a session in order, by the request that each was for."""
    transcript = evidence.transcript
    requests = [
        index for index, message in enumerate(transcript.messages) if message.role is Role.USER and is_persons(message)
    ]
    ends = dict(zip([None, *requests], [*requests, len(transcript.messages)], strict=True))

    def asked_for(step: JudgedCall) -> int | None:
        earlier = bisect_left(requests, step.exchange.asked)
        return requests[earlier - 1] if earlier else None

    found = ((asked, tuple(steps)) for asked, steps in groupby(evidence.steps, key=asked_for))
    return tuple(Episode(asked, steps, _is_answered(transcript, steps[-1], ends[asked])) for asked, steps in found)


def _is_answered(transcript: Transcript, last: JudgedCall, end: int) -> bool:
    """Whether the agent's last message before the next request comes after all calls, and has words and no call."""
    said = [each for each in transcript.messages[last.message + 1 : end] if each.role is Role.AGENT]
    return bool(said and said[-1].text.strip() and not said[-1].calls)
