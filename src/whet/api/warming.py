"""Warm starts for other programs: examples mined from sessions, put before the messages of a request."""

from collections.abc import Iterable, Sequence

from whet.agents.formats.source import Skipped
from whet.errors import WhetError
from whet.own.examples import mining
from whet.own.examples.mining import WantedTemplate
from whet.own.examples.templates import Template, check, described
from whet.own.examples.warm_start import ChatMessage, warm_openai
from whet.secrets.redactor import redact
from whet.sessions.transcripts import Transcript
from whet.shipped.guidance.warm import words


def mine(transcripts: Iterable[Transcript | Skipped], name: str = "mined", *, went_well: bool = False) -> Template:
    """Make a template: calls that worked, from sessions that went well, without text from tools and without secrets.

    With `went_well` you confirm that the sessions went well, if their records do not show it. What `read` skipped is
    ignored. Raises `WhetError` if the sessions contain no usable example.

    >>> import whet
    >>> template = whet.mine(whet.read("examples/sessions/openai"), "support")
    >>> template.tools
    ('check_address', 'get_order', 'set_address')
    """
    wanted = WantedTemplate(fewest=1, is_vouched=went_well)
    sessions = (redact(each).transcript for each in transcripts if isinstance(each, Transcript))
    mined = mining.mine(sessions, wanted)
    if not mined.examples:
        raise WhetError(
            f"The sessions hold no example to begin with ({mined.seen:,} read).",
            advice=mined.passed_over or "Give sessions in which calls worked.",
        )
    return check(Template(name, mined.examples, mined.activity, described(mined.examples)))


def warm_start(template: Template, messages: Sequence[ChatMessage]) -> list[ChatMessage]:
    """Put a template's examples before a conversation, as OpenAI chat messages.

    They go after the system messages and before the first other message, and are marked as examples. Your own messages
    stay unchanged; existing examples are replaced. The examples cost about `template.tokens` per request.

    >>> import whet
    >>> template = whet.mine(whet.read("examples/sessions/openai"), "support")
    >>> own = [{"role": "system", "content": "Be kind."}, {"role": "user", "content": "Where is T-48213?"}]
    >>> messages = whet.warm_start(template, own)
    >>> [message["role"] for message in messages][:4], messages[-1] == own[-1]
    (['system', 'user', 'assistant', 'tool'], True)
    """
    return warm_openai(template, words(), messages)
