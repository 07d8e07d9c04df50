"""An agent ready to take turns: settings, provider, tools and session put together, the same for every purpose."""

import os
import time
from collections.abc import Callable, Iterator, Mapping
from datetime import date
from pathlib import Path
from threading import Event
from typing import NamedTuple

from msgspec.structs import replace

from whet.agent.compaction import Compacting, Said
from whet.agent.protocols import Chosen
from whet.agent.providers.choosing import provider_for
from whet.agent.redacting import Secrets
from whet.agent.start import Beginning, Means, new_id, newest, perform, resume, room_of, says, start
from whet.agent.tools.situation import Question, Situation
from whet.agent.tools.toolbox import Box, toolbox
from whet.agent.warm_start import AUTO, beginning, chosen, count_use, drawn, warmed
from whet.context.gathering import Request, prompt_for
from whet.context.machine import environments, this_machine
from whet.errors import WhetError
from whet.examples.choosing import Need
from whet.runs.run import Budget, Run, Sampling, grown
from whet.runs.settings import Settings
from whet.secrets.redactor import secret_values
from whet.sessions.transcripts import Message, Origin, Purpose, Role
from whet.sessions.trust import Trust
from whet.store.database import Database
from whet.store.home import Home
from whet.store.prompts import restore_prompt
from whet.store.template_files import load as load_template
from whet.told.passages import Circumstances
from whet.told.prompt import Prompt, trust_of

CHAT_TOOLS = ("chat",)
RUN_TOOLS = ("unattended",)

Ask = Callable[[Question], bool]
Tell = Callable[[str], None]


class Wish(NamedTuple):
    """What is asked for, over what the settings say."""

    settings: Settings
    folder: Path | None  # where the agent works; None: here, or where the session that goes on was
    interactive: bool  # whether it is a conversation; else nobody reads along
    caller: str = ""  # instructions of the person for this session
    resumed: str = ""  # the id of the session that goes on
    latest: bool = False  # go on with the latest session in the folder
    template: str = ""  # to begin a new session with: a name, or auto
    budget: Budget | None = None
    sampling: Sampling | None = None
    environment: Mapping[str, str] | None = None  # None: the environment of this process
    purpose: Purpose = Purpose.CHAT
    id: str = ""  # of the new session; empty: one that tells when
    platform: str = "cli"


class Talk:
    """A session and what it is carried out with. `run` is where the next turn begins."""

    def __init__(
        self, home: Home, database: Database, wish: Wish, *, ask: Ask | None = None, tell: Tell | None = None
    ) -> None:
        self.home = home
        self._tell = tell
        self.database = database
        self.model = wish.settings.model
        self._wish = wish
        self._environment = os.environ if wish.environment is None else wish.environment
        self.folder = (wish.folder or Path.cwd()).resolve()
        self._chosen = provider_for(wish.settings, environment=self._environment, home=home)
        self._secrets = Secrets(secret_values(self._environment))
        self.run, self._box = self._resumed(ask) if wish.resumed or wish.latest else self._begun(ask)
        prompt = restore_prompt(database, self.run.prompt_key) if self.run.prompt_key else None
        self.notes: tuple[str, ...] = (*(prompt.warnings if prompt else ()), *self._box.notes)
        self._box.attend([_prompt_as_message(prompt), *self.run.messages])

    def turn(
        self, text: str, *, interrupt: Event, material: Message | None = None, before: tuple[Message, ...] = ()
    ) -> Iterator[Said]:
        """Give the agent an order, with what it is to work on, and pass on all that follows.

        `before` is what a program puts in front of the person's own words.
        """
        orders = (*before, *([material] if material else ()), says(text, now=time.time()))
        if self._wish.template and not self.run.messages:
            orders = self._warmed(orders, text)
        yield from self.go_on(*orders, interrupt=interrupt)

    def go_on(self, *orders: Message, interrupt: Event) -> Iterator[Said]:
        """Let the agent go on from where the session stands: after these orders, or where it was left off."""
        self.run = grown(self.run, *orders)
        self._box.attend(orders)
        for said in perform(self.database, self.run, self._means(), interrupt=interrupt):
            if isinstance(said, Run):
                self.run = said
            elif isinstance(said, Message):
                self.run = grown(self.run, said)
            yield said

    @property
    def served(self) -> Chosen:
        """The provider that really answers, and what is known of its model."""
        return self._chosen

    def change_model(self, name: str) -> None:
        """Let another model answer from the next turn on; raises WhetError where there is none of that name."""
        settings = replace(self._wish.settings, model=name)
        self._chosen = provider_for(settings, environment=self._environment, home=self.home)
        self._wish = self._wish._replace(settings=settings)
        self.model = name
        self.run = self._with_model(self.run)

    def begin_with(self, template: str) -> None:
        """Begin with the examples of a template; raises WhetError where there is none, or the session has begun."""
        if self.run.messages:
            raise WhetError("The session has begun already.", advice="A new one can begin warm: whet chat --warm NAME.")
        if template != AUTO:
            load_template(self.home.folder, template)
        self._wish = self._wish._replace(template=template)

    def _warmed(self, orders: tuple[Message, ...], task: str) -> tuple[Message, ...]:
        now = time.time()
        need = Need(task=task, tools=tuple(sorted(self._box.names)), model=self.model)
        choice = chosen(self.home, self.database, self._wish.template, need, now=now)
        is_drawn = self._wish.settings.templates.measured
        draw = drawn(self.database, choice, lot=self.run.lot, model=self.model, now=now) if is_drawn else None
        if self._tell and (line := beginning(choice, draw, need)):
            self._tell(line)
        if draw is not None and not draw.told:
            return orders
        count_use(self.database, choice, session=self.run.id, now=now)
        return warmed(orders, choice).messages

    def close(self) -> None:
        self._box.close()

    def _begun(self, ask: Ask | None) -> tuple[Run, Box]:
        now = time.time()
        wish = self._wish
        identity = wish.id or new_id(now)
        sets = wish.settings.tools or (CHAT_TOOLS if wish.interactive else RUN_TOOLS)
        box = toolbox(self._situation(identity, ask), sets=sets, messages=())
        beginning = Beginning(
            identity,
            self._wanted(tuple(definition.name for definition in box.definitions), lot=identity),
            box.definitions,
            purpose=wish.purpose,
            budget=wish.budget or wish.settings.budget,
            sampling=wish.sampling or wish.settings.sampling,
            compacted_at=wish.settings.compaction.at,
        )
        run = start(self.home, self.database, self._chosen.model, beginning, now=now)
        return replace(run, folder=str(self.folder)), box

    def _resumed(self, ask: Ask | None) -> tuple[Run, Box]:
        wish = self._wish
        wanted = wish.resumed or newest(self.database, self.folder)
        run = resume(self.database, wanted, now=time.time())
        run = replace(run, budget=wish.budget or wish.settings.budget, sampling=wish.sampling or run.sampling)
        if wish.folder is None and Path(run.folder).is_dir():
            self.folder = Path(run.folder)
        names = tuple(definition.name for definition in run.shown)
        box = toolbox(self._situation(run.id, ask), sets=names, messages=run.messages)
        return self._with_model(run), box

    def _with_model(self, run: Run) -> Run:
        model = self._chosen.model
        if run.model == model.name:
            return run
        return replace(run, model=model.name, room=room_of(model, run.sampling, self._wish.settings.compaction.at))

    def _situation(self, identity: str, ask: Ask | None) -> Situation:
        settings = self._wish.settings
        return Situation(
            self.folder,
            self.home,
            identity,
            self._environment,
            ask=ask,
            sandbox=settings.sandbox,
            terminal=settings.terminal,
            servers=settings.servers,
            told=Trust.OPERATOR,  # lowered to what the prompt really holds, once it is built
        )

    def _wanted(self, names: tuple[str, ...], *, lot: str) -> Request:
        setting = Circumstances(
            tools=names,
            model=self._chosen.model.name,
            provider=self._chosen.provider.name,
            purpose="interactive" if self._wish.interactive else "unattended",
            platform=self._wish.platform,
            environments=environments(this_machine(self._environment)),
            size=self._chosen.model.size,
        )
        folder = self.folder if self._wish.settings.context_files else None
        today = date.today()  # noqa: DTZ011 - the person's own day is meant
        return Request(setting, folder, today, caller=self._wish.caller, lot=lot, secrets=self._secrets.known)

    def _rebuilt(self) -> Prompt:
        names = tuple(definition.name for definition in self.run.shown)
        return prompt_for(self.home, self.database, self._wanted(names, lot=self.run.lot), now=time.time())

    def _means(self) -> Means:
        compaction = self._wish.settings.compaction
        compacting = Compacting(
            lambda: new_id(time.time()), self._rebuilt, enabled=compaction.enabled, tail=compaction.tail
        )
        return Means(self._chosen.provider, self._box, compacting, self._secrets)


def _prompt_as_message(prompt: Prompt | None) -> Message:
    """The prompt as one more thing that the session holds: what its agent writes derives from it too."""
    trust = trust_of(prompt) if prompt else Trust.OPERATOR
    return Message(Role.SYSTEM, (), trust, origin=Origin.INSERTED)
