"""Where the time of one session went that bought nothing, at the list prices that come with Whet."""

from whet.sessions.transcripts import Transcript
from whet.shipped.kinds import known_troubles
from whet.shipped.prices import list_price
from whet.trouble.finding import find_trouble
from whet.trouble.values import SessionTrouble


def troubles(transcript: Transcript) -> SessionTrouble:
    """Find the stretches of a session that bought nothing, what each cost, and when people stepped in.

    Needs no model and no network. What a stretch cost is an upper bound: some of it may have been worth it.

    >>> import whet
    >>> [session] = whet.read("examples/sessions/codex")
    >>> found = whet.troubles(session)
    >>> [(one.kind, one.first, one.last, one.subject) for one in found.troubles]
    [('slip', 10, 15, 'python'), ('corrected', 13, 16, 'interrupt')]
    >>> found.interventions[0].words
    'Stop repeating it. You wrote /observation, the notes you found say observations.'
    """
    return find_trouble(transcript, price=list_price, kinds=known_troubles())
