"""Signals: single observations of failure in a session."""

from typing import Final

from whet.failures.environment import Cause
from whet.sessions.trust import Trust
from whet.values import Value

# A signal below this is kept and not shown: too many of its sort are none.
SHOWN = 0.5


class Kind:
    """The names of Whet's own kinds of trouble; all else about them is in `failures/kinds.py`."""

    RETRY_LOOP: Final = "retry_loop"
    TOOL_FAILURE: Final = "tool_failure"
    TIMEOUT: Final = "timeout"
    HALLUCINATION: Final = "hallucination"
    CONTEXT_LOSS: Final = "context_loss"
    USER_CORRECTION: Final = "user_correction"
    GAVE_UP: Final = "gave_up"
    BUDGET_SPENT: Final = "budget_spent"


class Signal(Value, frozen=True):
    """One observation: what, where, in which words, who can put it right, and how sure it is.

    `tool` and `fingerprint` say which signals of other sessions are of the same sort; `trust` is that of the quote.

    >>> import whet
    >>> session, _ = whet.read("examples/sessions/openai")
    >>> signal = whet.analyse(session).signals[-1]
    >>> signal.kind, signal.tool, signal.quote
    ('retry_loop', 'get_order', 'order not found: T48213')
    """

    kind: str
    message: int
    quote: str
    cause: Cause
    trust: Trust
    confidence: float
    call_id: str = ""
    tool: str = ""
    fingerprint: str = ""
