"""A working folder among things that an agent must not touch, and the tools of an agent that works there."""

import contextlib
import json
import os
import shutil
import subprocess
import sys
import threading
from pathlib import Path

from whet.agent.inspection.triggers import MOST_FOLDERS
from whet.agent.protocols import Answer
from whet.agent.tools.sandbox import Wall, Walls, probe
from whet.agent.tools.situation import ApprovalQuestion, Situation, Terminal, ToolLimits
from whet.agent.tools.toolbox import PlainToolbox, toolbox
from whet.own.runs.settings import McpServer, Sandbox
from whet.sessions.transcripts import Message, ToolCall
from whet.sessions.trust import Trust
from whet.store.home import Home

SECRET = "sk-live-4f9a8c7b6d5e4f3a2b1c0d9e8f7a6b5c"
KEY = "-----BEGIN PRIVATE KEY-----\nMIIBVQIBADANBgkqhkiG9w0BAQEFAASCAT8wggE7\n"


class Room:
    """Everything lies beneath one folder that is not temporary, so that the private /tmp alone hides nothing."""

    def __init__(self, base: Path, walls: Walls | None = None) -> None:
        self.base = base
        self.work, self.outside, self.person = base / "work", base / "outside", base / "person"
        self.home = Home(base / "home")
        for folder in (self.work, self.outside, self.person / ".ssh", self.home.folder / "skills" / "known"):
            folder.mkdir(parents=True)
        self.victim = self.outside / "victim"
        self.victim.write_text("old\n")
        (self.person / ".bashrc").write_text("old\n")
        (self.person / ".ssh" / "id_rsa").write_text(KEY)
        (self.home.folder / "settings.toml").write_text('model = "local"\n')
        (self.home.folder / "memory.md").write_text("- old\n")
        (self.home.folder / "whet.db").write_text(f"ledger {SECRET}\n")
        (self.home.folder / "skills" / "known" / "helper.sh").write_text("echo helped\n")
        self.environment = {"PATH": os.environ["PATH"], "HOME": str(self.person), "LANG": "C.UTF-8"}
        self.environment["SERVICE_API_KEY"] = SECRET
        self.walls = walls
        self.outsiders: list[subprocess.Popen[bytes]] = []
        self.boxes: list[PlainToolbox] = []

    def box(
        self,
        *,
        sets: tuple[str, ...] = ("all",),
        sandbox: Sandbox | None = None,
        terminal: Terminal | None = None,
        servers: tuple[McpServer, ...] = (),
        messages: tuple[Message, ...] = (),
        person_agrees: bool | None = None,
        person_keeps: bool = False,
        most_folders: int = MOST_FOLDERS,
    ) -> PlainToolbox:
        def ask(question: ApprovalQuestion) -> bool:
            self.asked = question
            return person_keeps if question.keep else bool(person_agrees)

        situation = Situation(
            self.work,
            self.home,
            "session-1",
            self.environment,
            ask=None if person_agrees is None else ask,
            limits=ToolLimits(
                sandbox or Sandbox(required=self.walls != Walls(Wall.NONE)),
                terminal or Terminal(),
                servers,
                self.walls,
                most_folders=most_folders,
            ),
            told=Trust.OPERATOR,
        )
        self.boxes.append(toolbox(situation, sets=sets, messages=messages))
        return self.boxes[-1]

    def outsider(self, *command: str) -> subprocess.Popen[bytes]:
        """A process of the person's, with a secret in its environment, that stands in the outside folder."""
        process = subprocess.Popen(
            command or ("sleep", "1000"), env={**self.environment, "PERSONS_TOKEN": SECRET}, cwd=self.outside
        )
        self.outsiders.append(process)
        return process

    def leave(self) -> None:
        for box in self.boxes:
            box.close()
        for process in self.outsiders:
            process.kill()
            process.wait()
        shutil.rmtree(self.base, ignore_errors=True)


def ask_for(box: PlainToolbox, tool: str, **arguments: object) -> Answer:
    """The answer to one call with everything allowed."""
    call = ToolCall("call-1", tool, json.dumps(arguments))
    return box.answer(call, allowed=box.names, interrupt=threading.Event())


def running(mark: str) -> list[int]:
    """The processes that have this word in their command line."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdecimal():
            with contextlib.suppress(OSError):
                if mark.encode() in (entry / "cmdline").read_bytes():
                    found.append(int(entry.name))
    return found


def walls_here() -> dict[str, Walls]:
    """Each kind of sandbox that works on this machine."""
    found: dict[str, Walls] = {}
    if sys.platform == "linux":
        best = probe(os.environ["PATH"])
        without = probe("/nowhere")
        found = {walls.wall.value: walls for walls in (without, best) if walls.wall is not Wall.NONE}
    return found
