"""The server itself: its tools, resources and prompts, over stdio or HTTP on this machine."""

import contextlib
import hmac
from collections.abc import Callable
from typing import Annotated, TypeVar

from whet.errors import WhetError
from whet.mcp import lessons, sessions, standing
from whet.net.listening import LEAVE_SECONDS, LOOPBACK, leave_quietly, listen
from whet.shipped import guidance
from whet.shipped.extras import how_to_add
from whet.store.home import Home
from whet.store.settings_file import load

try:
    import uvicorn
    from mcp.server.elicitation import ElicitationResult
    from mcp.server.mcpserver import Context, MCPServer
    from mcp.server.mcpserver.exceptions import ToolError
    from mcp.server.mcpserver.resolve import Elicit, Resolve
    from mcp.server.mcpserver.resources import FunctionResource
    from mcp.types import ToolAnnotations
    from pydantic import BaseModel, Field
    from starlette.responses import JSONResponse
    from starlette.types import ASGIApp, Receive, Scope, Send
except ModuleNotFoundError as missing:
    raise WhetError("The MCP server needs the extra `mcp`.", advice=f"Run `{how_to_add('mcp')}`.") from missing


class BearerGate:
    """Lets requests through that carry the token; others get 401 and reach nothing."""

    def __init__(self, app: ASGIApp, token: str) -> None:
        self._app = app
        self._wanted = f"Bearer {token}".encode()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            given = dict(scope["headers"]).get(b"authorization", b"")
            if not hmac.compare_digest(given, self._wanted):
                refusal = JSONResponse({"error": "unauthorized"}, 401, {"www-authenticate": "Bearer"})
                await refusal(scope, receive, send)
                return
        await self._app(scope, receive, send)


def serve(server: MCPServer[None], *, port: int, token: str) -> None:
    """Answer at http://127.0.0.1:PORT/mcp until interrupted."""
    app = BearerGate(server.streamable_http_app(host=LOOPBACK), token)
    config = uvicorn.Config(app, log_level="warning", timeout_graceful_shutdown=LEAVE_SECONDS)
    leave_quietly()
    advice = "Choose another: `whet mcp --http PORT`."
    with listen(port, advice=advice) as listening, contextlib.suppress(KeyboardInterrupt):
        uvicorn.Server(config).run(sockets=[listening])


READS = ToolAnnotations(read_only_hint=True, destructive_hint=False, idempotent_hint=True, open_world_hint=False)
PROPOSES = ToolAnnotations(read_only_hint=False, destructive_hint=False, idempotent_hint=True, open_world_hint=False)

RESOURCES = (
    ("rules", "Rules in force", standing.rules),
    ("trials", "Verdicts", standing.trials),
    ("sessions", "Newest sessions", standing.sessions),
)
Answer = TypeVar("Answer")
Folder = Annotated[str, Field(description="A folder of the project, such as the working folder; empty for all.")]


class PersonsAnswer(BaseModel):
    """What the person says to a proposed rule."""

    approve: bool = Field(description="Put exactly this rule in force")


def server_of(home: Home, *, version: str, folder: str) -> MCPServer[None]:
    """A server for one home; `folder` is where it was started, which hosts make the project's."""
    # A mistake of the client is answered in words; the library would also print where it was noticed, call by call.
    server: MCPServer[None] = MCPServer(
        "whet", title="Whet", version=version, instructions=guidance.text("serving/instructions"), log_level="CRITICAL"
    )
    _add_tools(server, home, folder)
    _add_reading(server, home, folder)
    _add_standing(server, home, folder)
    return server


def _add_tools(server: MCPServer[None], home: Home, folder: str) -> None:
    @server.tool(title="What is known for a task", annotations=READS)
    def lessons_for_task(
        task: Annotated[str, Field(description="The task in a sentence; it ranks the lessons.")] = "",
        project: Folder = "",
    ) -> lessons.TaskAnswer:
        """The rules in force for a project, and what its sessions teach."""
        return _answer(lambda: lessons.for_task(home, task=task, folder=project or folder))

    @server.tool(title="Search sessions", annotations=READS)
    def search_sessions(
        query: Annotated[str, Field(description='All words must occur: words, "a phrase", begin*, -without.')],
        project: Folder = "",
        limit: Annotated[int, Field(ge=1, le=50)] = sessions.HITS_SHOWN,
    ) -> list[sessions.HitAnswer]:
        """Find messages of earlier sessions, of any agent, the best first."""
        return _answer(lambda: sessions.find_messages(home, query=query, folder=project, limit=limit))

    @server.tool(title="Show a session", annotations=READS)
    def show_session(
        session: Annotated[str, Field(description="The id, or the beginning of it.")],
        start: Annotated[int, Field(ge=0, description="The first message to show.")] = 0,
        count: Annotated[int, Field(ge=1, le=100)] = sessions.MESSAGES_SHOWN,
    ) -> sessions.SessionAnswer:
        """Some messages of one session, with its calls and their results, and the stretches that bought nothing."""
        return _answer(lambda: sessions.show(home, session=session, start=start, count=count))

    @server.tool(title="Where the time went", annotations=READS)
    def trouble(project: Folder = "") -> sessions.TroubleAnswer:
        """What of the agents' time bought nothing in a project's sessions: by kind, by cause, the dearest sessions."""
        return _answer(lambda: sessions.of_project(home, folder=project))

    @server.tool(title="Why a rule is there", annotations=READS)
    def rule_evidence(rule: Annotated[str, Field(description="The rule's name.")]) -> lessons.EvidenceAnswer:
        """Where a rule comes from: quotes, verdict, and what was decided about it."""
        return _answer(lambda: lessons.why(home, rule=rule))

    asked: set[str] = set()  # the ids of the changes that the person was asked about, as they saw them

    def decide(
        context: Context[None], text: str, reason: str, project: str = "", session: str = ""
    ) -> PersonsAnswer | Elicit[PersonsAnswer]:
        """The person's word, asked for where they allowed that in the settings and the client can ask."""
        capabilities = context.client_capabilities
        can_ask = capabilities is not None and capabilities.elicitation is not None
        if not can_ask or not load(home).trust.elicitation:
            return PersonsAnswer(approve=False)
        given = lessons.Proposal(text, reason, project or folder, session)
        patch = _answer(lambda: lessons.drafted(given))
        asked.add(patch.id)
        return Elicit(lessons.question_to_person(patch), PersonsAnswer)

    @server.tool(title="Propose a rule", annotations=PROPOSES)
    def propose(
        text: Annotated[str, Field(description="One short, specific instruction, with the reason if it needs one.")],
        reason: Annotated[str, Field(description="What happened that calls for it.")],
        decision: Annotated[ElicitationResult[PersonsAnswer], Resolve(decide)],
        project: Folder = "",
        session: Annotated[str, Field(description="The id of the session that shows it, if known.")] = "",
    ) -> lessons.ProposalAnswer:
        """Propose a rule for a project. It waits for the person, who alone can approve it."""
        given = lessons.Proposal(text, reason, project or folder, session)
        made = _answer(lambda: lessons.suggest(home, given))
        approved = decision.action == "accept" and decision.data.approve
        return _answer(lambda: lessons.put_in_force(home, made, asked)) if approved else made


def _add_reading(server: MCPServer[None], home: Home, folder: str) -> None:
    @server.tool(title="The next sessions to learn from", annotations=READS)
    def next_pass(project: Folder = "") -> lessons.PassAnswer:
        """Sessions of a project that nobody has read yet, in short form, to learn from when the person asks."""
        return _answer(lambda: lessons.next_pass(home, project or folder))

    @server.tool(title="Claim lessons", annotations=PROPOSES)
    def claim(
        pass_id: Annotated[str, Field(description="Of the pass that was read.")],
        lines: Annotated[str, Field(description="JSON lines, as how_to_answer says.")],
        project: Folder = "",
        final: Annotated[bool, Field(description="Keep what can be used, and drop the rest.")] = False,
    ) -> lessons.ClaimsAnswer:
        """Say what the sessions of a pass teach. It is checked, and not in force before the person says yes."""
        return _answer(lambda: lessons.claim(home, project or folder, pass_id, lines, final=final))

    @server.prompt(title="Learn from sessions")
    def learn() -> str:
        """Read the sessions of this project that nobody has read, and claim lessons."""
        return guidance.text("serving/learn")


def _add_standing(server: MCPServer[None], home: Home, folder: str) -> None:
    @server.tool(title="What the files for agents say wrongly", annotations=READS)
    def audit(project: Folder = "") -> standing.AuditAnswer:
        """Statements of CLAUDE.md, AGENTS.md and skills that are wrong, cause failures, are not followed or doubled."""
        return _answer(lambda: standing.audit(home, folder=project or folder))

    @server.tool(title="Status", annotations=READS)
    def status() -> standing.StatusAnswer:
        """How many sessions and rules there are, what is on trial and what waits for the person."""
        return _answer(lambda: standing.status(home))

    for name, title, act in RESOURCES:

        def listed(list_: Callable[[Home], str] = act) -> str:
            return list_(home)

        server.add_resource(
            FunctionResource(uri=f"whet://{name}", name=name, title=title, mime_type="text/markdown", fn=listed)
        )

    @server.prompt(title="Review a session")
    def review(session: str) -> str:
        """Look back on one session for what should be done otherwise next time."""
        return guidance.text("serving/review", session=session)


def _answer(ask: Callable[[], Answer]) -> Answer:
    """An answer; a mistake of the caller comes back as words, with what to do."""
    try:
        return ask()
    except WhetError as error:
        raise ToolError(f"{error} {error.advice}".strip()) from error
