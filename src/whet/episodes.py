"""Episodes: what one request took, from the person's words over the calls to the agent's answer."""

from bisect import bisect_left
from itertools import groupby
from typing import NamedTuple

from whet.evidence import Evidence, Step
from whet.lineage import is_persons
from whet.transcripts import Role, Transcript


class Episode(NamedTuple):
    """The steps for one request: its message, if a person asked at all, and that of the answer, if there is one."""

    asked: int | None
    steps: tuple[Step, ...]
    answer: int | None


def episodes(evidence: Evidence) -> tuple[Episode, ...]:
    """The steps of a session in order, by the request that each was for."""
    transcript = evidence.transcript
    requests = [
        index for index, message in enumerate(transcript.messages) if message.role is Role.USER and is_persons(message)
    ]
    ends = dict(zip([None, *requests], [*requests, len(transcript.messages)], strict=True))

    def asked_for(step: Step) -> int | None:
        earlier = bisect_left(requests, step.exchange.asked)
        return requests[earlier - 1] if earlier else None

    found = ((asked, tuple(steps)) for asked, steps in groupby(evidence.steps, key=asked_for))
    return tuple(Episode(asked, steps, _answer(transcript, steps[-1], ends[asked])) for asked, steps in found)


def _answer(transcript: Transcript, last: Step, end: int) -> int | None:
    """The last that the agent said before the next request, if it is after all calls and calls nothing more."""
    for index in range(end - 1, last.message, -1):
        message = transcript.messages[index]
        if message.role is Role.AGENT:
            return index if message.text.strip() and not message.calls else None
    return None
