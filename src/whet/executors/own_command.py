"""An agent of the person's own as an executor: a command from the settings, and whatever record it leaves."""

import shlex
from collections.abc import Mapping
from typing import NamedTuple

from whet.errors import WhetError
from whet.executors.errands import Carried, Errand, Left, ProgramLaunch, Validity
from whet.executors.records import newest_transcript, refusal_in, without_record
from whet.runs.settings import AgentSettings
from whet.sessions.transcripts import Message, Role, Text, Transcript, Usage
from whet.sessions.trust import Trust
from whet.sessions.usage import total

TASK, MODEL = "{task}", "{model}"


class OwnCommand(NamedTuple):
    """Where it leaves no record that an importer knows, what it printed is its answer."""

    settings: AgentSettings
    target: str = ""
    variables: tuple[str, ...] = ()
    begins_warm: bool = False
    places: Mapping[str, str] = {}

    @property
    def name(self) -> str:
        return self.settings.name

    @property
    def program(self) -> str:
        return self._words[0]

    @property
    def instructions(self) -> str:
        return self.settings.instructions

    @property
    def skills(self) -> str:
        return self.settings.skills

    @property
    def _words(self) -> list[str]:
        try:
            words = shlex.split(self.settings.command)
        except ValueError:
            words = []
        if not words or not any(TASK in word for word in words[1:]):
            raise WhetError(
                f"The command of the agent {self.name} has no place for the task.",
                advice=f"Such as: whet config set agents.{self.name}.command 'my-agent --quiet {TASK}'.",
            )
        return words

    def launch(self, errand: Errand, program: str) -> ProgramLaunch:
        words = (word.replace(MODEL, errand.model).replace(TASK, errand.task) for word in self._words[1:])
        return ProgramLaunch((program, *words), {})

    def carried(self, errand: Errand, left: Left) -> Carried:
        if left.exit_code:
            said = left.errors.strip() or left.output.strip() or f"it ended with {left.exit_code}"
            return without_record(left)._replace(validity=refusal_in(said) or Validity.CRASHED)
        transcript = newest_transcript(errand.config, "*") or self._spoken(errand, left)
        usage = transcript.usage or total(message.usage for message in transcript.messages) or Usage()
        validity = Validity.TIMED_OUT if left.exit_code is None else Validity.VALID
        return Carried(transcript, usage, validity, "", transcript.version, transcript.model, left.seconds)

    def _spoken(self, errand: Errand, left: Left) -> Transcript:
        said = (
            Message(Role.USER, (Text(errand.task),), Trust.USER),
            Message(Role.AGENT, (Text(left.output.strip()),), Trust.AGENT),
        )
        return Transcript(self.name, errand.workspace.parent.name, said, folder=str(errand.workspace))
