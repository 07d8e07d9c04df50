"""An agent ready to take turns: settings, provider, tools and session put together, the same for every purpose."""

import time
from collections.abc import Callable, Iterator
from pathlib import Path
from threading import Event
from typing import NamedTuple

from msgspec.structs import replace

from whet.agent.assembling import (
    Ask,
    RunRequest,
    assemble_run,
    compacting_for,
    newest,
    perform,
    resume,
    says,
    with_model,
)
from whet.agent.compaction import Said
from whet.agent.protocols import Chosen
from whet.agent.providers.choosing import provider_for
from whet.agent.tools.toolbox import PlainToolbox
from whet.agent.warm_start import AUTO, beginning, chosen, count_use, draw_template, warmed
from whet.errors import WhetError
from whet.own.examples.templates import Need
from whet.own.runs.run import Ended, Run, grown
from whet.sessions.transcripts import Message
from whet.sessions.trust import Trust
from whet.store.database import Database
from whet.store.home import Home
from whet.store.template_files import load as load_template
from whet.telling.context.finding import said_of

Tell = Callable[[str], None]


class SessionRequest(NamedTuple):
    """A session of turns that is asked for: its run, where it begins, and who speaks."""

    run: RunRequest
    resumed: str = ""  # the id of the session that goes on
    latest: bool = False  # go on with the latest session in the folder
    template: str = ""  # to begin a new session with: a name, or auto
    trust: Trust = Trust.USER  # how far the words of its turns are believed: less where nobody knows who gives them


class OpenSession:
    """A session and what it is carried out with. `run` is where the next turn begins."""

    def __init__(
        self, home: Home, database: Database, asked: SessionRequest, *, ask: Ask | None = None, tell: Tell | None = None
    ) -> None:
        self.home = home
        self.news: list[str] = []  # what the person was told at the end of each turn
        self.database = database
        request, place = asked.run, asked.run.place
        settings = request.settings
        self.model = settings.model
        self.folder = (place.folder or Path.cwd()).resolve()
        self._tell = tell
        self._trust = asked.trust
        self._template = asked.template
        self._chosen = request.chosen or provider_for(settings, environment=place.environment, home=home)
        known = self._resumed(asked) if asked.resumed or asked.latest else None
        if known and place.folder is None and Path(known.folder).is_dir():
            self.folder = Path(known.folder)
        place = place._replace(folder=self.folder)
        self._request = request._replace(settings=settings, place=place, chosen=self._chosen, run=known)
        made = assemble_run(home, database, self._request, ask=ask)
        self.run, self._means, box = made.run, made.means, made.means.toolbox
        assert isinstance(box, PlainToolbox)  # a conversation has the tools of this machine
        self._box = box
        said = (said_of(made.situation.project),) if made.situation.project else ()
        self.notes: tuple[str, ...] = (*(made.prompt.warnings if made.prompt else ()), *said, *self._box.notes)

    def turn(
        self, text: str, *, interrupt: Event, material: Message | None = None, before: tuple[Message, ...] = ()
    ) -> Iterator[Said]:
        """Give the agent an order, with what it is to work on, and pass on all that follows.

        `before` is what a program puts in front of the person's own words.
        """
        orders = (*before, *([material] if material else ()), says(text, now=time.time(), trust=self._trust))
        if self._template and not self.run.messages:
            orders = self._warm_up(orders, text)
        yield from self.go_on(*orders, interrupt=interrupt)

    def go_on(self, *orders: Message, interrupt: Event) -> Iterator[Said]:
        """Let the agent go on from where the session stands: after these orders, or where it was left off."""
        self.run = grown(self.run, *orders)
        self._box.attend(orders)
        for said in perform(self.database, self.run, self._means, interrupt=interrupt):
            if isinstance(said, Run):
                self.run = said
            elif isinstance(said, Message):
                self.run = grown(self.run, said)
            if isinstance(said, Ended):
                self._tell_news()
            yield said

    def _tell_news(self) -> None:
        """Tell the person what the turn left for other programs to run, and what was taken aside."""
        for line in self._box.news():
            self.news.append(line)
            if self._tell:
                self._tell(line)

    @property
    def served(self) -> Chosen:
        """The provider that really answers, and what is known of its model."""
        return self._chosen

    def change_model(self, name: str) -> None:
        """Let another model answer from the next turn on; raises WhetError where there is none of that name."""
        settings = replace(self._request.settings, model=name)
        self._chosen = provider_for(settings, environment=self._request.place.environment, home=self.home)
        self._request = self._request._replace(settings=settings, chosen=self._chosen)
        self.model = name
        self.run = with_model(self.run, self._chosen.model, settings.compaction.at)
        compacting = compacting_for(self.home, self.database, self._request, self._chosen, self.run)
        self._means = self._means._replace(provider=self._chosen.provider, compacting=compacting)

    def begin_with(self, template: str) -> None:
        """Begin with the examples of a template; raises WhetError where there is none, or the session has begun."""
        if self.run.messages:
            raise WhetError(
                "The session has already started.", advice="To start a new one from a template: whet chat --warm NAME."
            )
        if template != AUTO:
            load_template(self.home.folder, template)
        self._template = template

    def _warm_up(self, orders: tuple[Message, ...], task: str) -> tuple[Message, ...]:
        now = time.time()
        need = Need(task=task, tools=tuple(sorted(self._box.names)), model=self.model)
        choice = chosen(self.home, self.database, self._template, need, now=now)
        draw = draw_template(self.database, choice, draw_id=self.run.draw_id, model=self.model, now=now)
        if self._tell and (line := beginning(choice, draw, need)):
            self._tell(line)
        if draw is not None and not draw.told:
            return orders
        count_use(self.database, choice, session=self.run.id, now=now)
        return warmed(orders, choice)

    def close(self) -> None:
        self._box.close()
        self._tell_news()

    def _resumed(self, asked: SessionRequest) -> Run:
        settings = asked.run.settings
        run = resume(self.database, asked.resumed or newest(self.database, self.folder), now=time.time())
        run = replace(run, budget=settings.budget)
        return with_model(run, self._chosen.model, settings.compaction.at)
