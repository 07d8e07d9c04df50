"""Templates: a few real exchanges that worked, kept so that a session can begin in stride; and which fits a task.

They are chosen by what was measured where there is anything, else by likeness, and honestly about it.
"""

import hashlib
import re
from collections.abc import Iterable, Iterator, Mapping
from itertools import groupby
from operator import itemgetter
from typing import Literal, NamedTuple

import msgspec

from whet.errors import WhetError
from whet.ledger.patches import NAMES, Action, Form, Patch, Proof
from whet.sessions.activity import Activity
from whet.sessions.tool_families import arguments_of
from whet.sessions.transcripts import ToolCall
from whet.sessions.trust import Trust
from whet.text import words
from whet.text.likeness import sense
from whet.text.words import many, plain_name
from whet.values import Value

KEY_BYTES = 6
MOST_EXAMPLES = 100
ARGUMENT_CHARACTERS = 1_200  # longer ones show little and cost much
MOST_TAGS = 12
DESCRIPTION_CHARACTERS = 300
ADDENDUM_CHARACTERS = 2_000
# What both vendors accept as the name of a function.
TOOL_NAME = re.compile(r"[A-Za-z0-9_-]{1,64}")
TAG = re.compile(r"[a-z0-9](?:[a-z0-9-]{0,30}[a-z0-9])?")
ADVICE = "Its name is lower-case words with hyphens; each example has tool, arguments (a JSON object as text), result."
FRESH_SECONDS = 90 * 24 * 3600.0  # what was measured longer ago says nothing about the models and tools of today
LEAST_FIT = 2.0  # one word that a task shares with an example says nothing: there is much to read and to write
# Of the sessions that `auto` chose a template for, how many begin with it. The others tell what it is worth.
SHARES: Mapping[str, float] = {"measured": 0.9, "fit": 0.5}
Made = Literal["mined", "imported"]


class Example(Value, frozen=True):
    """One exchange that worked. `arguments` is a JSON object as text; without an intent a neutral hint stands there.

    `is_whole` says that the calls shown for its request are all that it took. `session` and `message` say where it was
    seen, `evidence` why it counts as having worked.
    """

    tool: str
    arguments: str
    result: str
    intent: str = ""
    session: str = ""
    message: int | None = None
    evidence: str = ""
    is_whole: bool = False

    @property
    def tokens(self) -> int:
        """About what it costs in a request."""
        return sum(words.estimate(text) for text in (self.tool, self.arguments, self.result, self.intent))


class Template(Value, frozen=True):
    """Examples of one kind of work under a name. What it was used for and what it is worth is kept elsewhere.

    >>> import whet
    >>> template = whet.mine(whet.read("examples/sessions/openai"), "support")
    >>> len(template.examples), template.examples[0].tool, template.examples[0].arguments
    (3, 'get_order', '{"order_id":"T-48390"}')
    """

    name: str
    examples: tuple[Example, ...]
    activity: Activity = Activity.MIXED
    description: str = ""
    tags: tuple[str, ...] = ()
    made: Made = "mined"
    created: float | None = None
    addendum: str = ""  # what an imported one adds to the prompt; it is told before the first example

    @property
    def key(self) -> str:
        """The hash of what sessions are shown: equal keys begin sessions with equal bytes."""
        shown = msgspec.json.encode(self.examples) + self.addendum.encode()
        return hashlib.blake2b(shown, digest_size=KEY_BYTES).hexdigest()

    @property
    def requests(self) -> tuple[tuple[Example, ...], ...]:
        """The examples by their request: all calls that one took are together, and each other example stands alone."""
        keys = ((each.session, each.intent) if each.is_whole else number for number, each in enumerate(self.examples))
        groups = groupby(zip(keys, self.examples, strict=True), key=itemgetter(0))
        return tuple(tuple(example for _, example in group) for _, group in groups)

    @property
    def sessions(self) -> tuple[str, ...]:
        """The sessions that its examples come from, each once."""
        return tuple(dict.fromkeys(example.session for example in self.examples if example.session))

    @property
    def tools(self) -> tuple[str, ...]:
        return tuple(sorted({example.tool for example in self.examples}))

    @property
    def tokens(self) -> int:
        """About what its examples cost in each request, without the words around them."""
        return sum(example.tokens for example in self.examples) + words.estimate(self.addendum)


def name_fault(name: str) -> str:
    """What is wrong with the name of a template; nothing when it is one."""
    if NAMES[Form.TEMPLATE].fullmatch(name):
        return ""
    return f"{name[:80]!r} is not a valid template name"


def check(template: Template) -> Template:
    """The template itself; raises WhetError where it is none."""
    found = "; ".join(filter(None, _faults(template)))
    if found:
        raise WhetError(f"The template {template.name[:80]} is not valid: {found}.", advice=ADVICE)
    return template


def _faults(template: Template) -> Iterator[str]:
    """Everything that keeps a template from being one."""
    yield name_fault(template.name)
    if not 1 <= len(template.examples) <= MOST_EXAMPLES:
        yield f"it has {len(template.examples)} examples; 1 to {MOST_EXAMPLES} are possible, 5 to 10 are good"
    if len(template.tags) > MOST_TAGS:
        yield f"it has more than {MOST_TAGS} tags"
    for number, each in enumerate(template.examples, start=1):
        if not TOOL_NAME.fullmatch(each.tool):
            yield f"example {number} names no tool that a model could call"
        elif not arguments_of(ToolCall("", each.tool, each.arguments)) and each.arguments.split() != ["{}"]:
            yield f"the arguments of example {number} are no JSON object"
    yield from (f"{tag[:40]!r} is not a valid tag" for tag in template.tags if not TAG.fullmatch(tag))
    if len(template.addendum) > ADDENDUM_CHARACTERS:
        yield "its addendum is too long"


def written(template: Template) -> str:
    """The template as its file holds it."""
    return msgspec.json.format(msgspec.json.encode(template), indent=2).decode() + "\n"


def read(text: str, *, name: str) -> Template:
    """A template from the text of its file; raises WhetError for what is none, or bears another name."""
    try:
        template = msgspec.json.decode(text, type=Template)
    except (msgspec.MsgspecError, RecursionError) as error:
        raise WhetError(f"The template {name} cannot be read: {error}.", advice=ADVICE) from error
    if template.name != name:
        raise WhetError(f"The file of the template {name} names it {template.name[:80]!r}.", advice="Rename one.")
    return check(template)


def as_change(template: Template) -> Patch:
    """What is tried when a template is: a session that begins with its examples.

    It names the sessions that they come from, whose own cases cannot judge it.
    """
    proofs = tuple(Proof(session) for session in template.sessions)
    return Patch(Form.TEMPLATE, Action.ADD, template.name, written(template), trust=Trust.AGENT, proofs=proofs)


def described(examples: Iterable[Example]) -> str:
    """What a template shows, in a sentence of facts alone: no word of a session stands in it."""
    shown = list(examples)
    sessions = {example.session for example in shown}
    names = sorted({example.tool for example in shown})
    said = f"{many(len(shown), 'example')} of {', '.join(names)} from {many(len(sessions), 'session')}"
    return said[:DESCRIPTION_CHARACTERS]


class TemplateEffect(Value, frozen=True):
    """What a trial or the canaries measured of a template: the effect of its examples with its interval."""

    key: str  # of the template: another set of examples has another worth
    effect: float
    low: float
    high: float
    cases: int
    at: float
    model: str = ""  # empty where the measure is not of one model
    source: str = "trial"
    worthless: bool = False  # live sessions say that it harms, or is not worth its tokens
    counted: int = 0  # live sessions with this model until then

    @property
    def rank(self) -> tuple[float, float]:
        return (self.low, self.effect)

    @property
    def words(self) -> str:
        of_model = f", {self.model}" if self.model else ""
        interval = f"{self.effect:+.2f}, from {self.low:+.2f} to {self.high:+.2f}"
        return f"measured effect over {self.cases} cases: {interval} ({self.source}{of_model})"


class Need(Value, frozen=True):
    """What a session is about. Empty fields ask for nothing; `tools` are those that the session has."""

    task: str = ""
    activity: Activity | None = None
    tags: tuple[str, ...] = ()
    tools: tuple[str, ...] = ()
    model: str = ""


class Choice(NamedTuple):
    """A template or none, by what it was chosen, and why in a sentence."""

    template: Template | None
    by: Literal["measured", "fit", "name", "none"]
    reason: str


def choose(templates: Iterable[Template], worths: Iterable[TemplateEffect], need: Need, *, now: float) -> Choice:
    """Of those that fit, the one measured to help most, else the one that fits best. Use counts for nothing."""
    known = [worth for worth in worths if now - worth.at <= FRESH_SECONDS and worth.model in ("", need.model)]
    harmful = {worth.key for worth in known if worth.high < 0 or worth.worthless}
    helpful = {worth.key: worth for worth in sorted(known, key=lambda one: one.rank) if worth.low > 0}
    usable = [(fit(template, need), template) for template in templates if _is_usable(template, need)]
    # What helped with other work may do nothing for this: it has to fit before its worth counts.
    fitting = [(score, template) for score, template in usable if score >= LEAST_FIT and template.key not in harmful]
    measured = [one for _, one in fitting if one.key in helpful]
    if measured:
        best = max(measured, key=lambda one: (helpful[one.key].rank, one.name))
        return Choice(best, "measured", helpful[best.key].words)
    if fitting:
        best = max(fitting, key=lambda pair: (pair[0], pair[1].name))[1]
        return Choice(best, "fit", "it fits the task; its effect has not been measured")
    if usable and harmful:
        return Choice(None, "none", "the templates that fit were measured to harm, or to help too little")
    what = "fits the task" if usable else "matches its tools, activity and tags"
    return Choice(None, "none", f"no template {what}")


def standing(
    worths: Iterable[TemplateEffect], templates: Iterable[Template], overruled: Mapping[str, float]
) -> tuple[TemplateEffect, ...]:
    """What was measured, without what a person has overruled: a template that was retired, and is there again by name.

    It is measured anew.
    """
    since = {template.key: overruled[template.name] for template in templates if template.name in overruled}
    return tuple(worth for worth in worths if not (worth.worthless and worth.at <= since.get(worth.key, -1.0)))


def fit(template: Template, need: Need) -> float:
    """How well a template fits: two points for the activity and each tag, one for each word shared with the task."""
    shown = " ".join((template.name.replace("-", " "), template.description, *(e.intent for e in template.examples)))
    shared = sense(need.task).words & sense(shown).words
    return float(2 * (need.activity is template.activity) + 2 * len(need.tags) + min(len(shared), 5))


def missing_tools(template: Template, need: Need) -> tuple[str, ...]:
    """The tools that a template shows and the session has not, where it is known which it has."""
    had = {plain_name(tool) for tool in need.tools}
    return tuple(tool for tool in template.tools if had and plain_name(tool) not in had)


def _is_usable(template: Template, need: Need) -> bool:
    """Whether the session has all of its tools: an example of a tool that is not there would teach a failing call."""
    return (
        set(need.tags) <= set(template.tags)
        and (need.activity is None or template.activity in (need.activity, Activity.MIXED))
        and not missing_tools(template, need)
    )
