"""How each agent is started without a person, for an errand and for a question, and what its output says."""

import contextlib
import tomllib
from pathlib import Path
from types import MappingProxyType
from typing import Any

import msgspec

from whet.agents import executor
from whet.agents.executor import ProgramLaunch, ProgramResult, ProgramSaid, ReadingLaunch, ReadingTask, Validity, ending
from whet.agents.formats import content
from whet.sessions.transcripts import Usage
from whet.text import fields, toml

CLAUDE_TOOLS = "Bash,Read,Edit,Write,MultiEdit,Glob,Grep,LS,NotebookEdit,TodoWrite,Task,Skill"
CLAUDE_QUIET = {"CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1", "DISABLE_AUTOUPDATER": "1"}
# Of its own, which the case sets: what was done until then counts.
CLAUDE_LIMITS = ("error_max_turns", "error_max_budget_usd")

# Each gives its model a tool, or reads what the person added to it; one that a version does not know, it ignores.
CODEX_OFF = (
    "shell_tool", "unified_exec", "view_image", "multi_agent", "goals", "apps", "plugins", "remote_plugin", "hooks",
    "skill_search", "tool_suggest", "image_generation", "sleep_tool", "browser_use", "computer_use",
)  # fmt: skip

GEMINI_NO_LOGIN = 41  # the exit code by which it says that nobody is logged in
GEMINI_DENY_ALL = '[[rule]]\ntoolName = "*"\ndecision = "deny"\npriority = 999\n'
GEMINI_SILENT = """{
  "tools": {"core": ["none"]},
  "hooksConfig": {"enabled": false},
  "skills": {"enabled": false},
  "context": {"fileName": ["none.md"]},
  "general": {"enableAutoUpdate": false}
}
"""

OPENCODE_FOLDERS = ("data", "config", "cache", "state")
OPENCODE_READS = "whet-reader"
OPENCODE_LOGIN = "opencode/auth.json"
OPENCODE_QUIET = {"OPENCODE_DISABLE_AUTOUPDATE": "1"}


def _option(flag: str, value: object) -> tuple[str, ...]:
    """An option with its value; nothing where there is none."""
    return () if value in ("", None) else (flag, f"{value:.2f}" if isinstance(value, float) else str(value))


def _report_in(output: str) -> dict[str, Any]:
    """The object that a program reports: all it prints, the last of a list, or behind what it prints for people."""
    for text in (output.strip(), output[output.find("{") :]):
        with contextlib.suppress(msgspec.DecodeError, RecursionError):
            value = msgspec.json.decode(text)
            found = value if isinstance(value, list) else [value]
            return next((each for each in reversed(found) if isinstance(each, dict)), {})
    return {}


def _launch_claude(errand: executor.ProgramTask, program: str) -> ProgramLaunch:
    """The settings of the person and of their projects stay out: only those of the workspace count."""
    words = (
        program, "-p", "--output-format", "json", "--permission-mode", "dontAsk",
        "--allowedTools", CLAUDE_TOOLS, "--setting-sources", "project", "--strict-mcp-config",
        *_option("--model", errand.model), *_option("--max-budget-usd", errand.dollars),
        *_option("--max-turns", errand.turns), "--", errand.task,
    )  # fmt: skip
    return ProgramLaunch(words, {"CLAUDE_CONFIG_DIR": str(errand.config), **CLAUDE_QUIET})


def _ask_claude(errand: ReadingTask, program: str) -> ReadingLaunch:
    """Without tools, without a record, and without what the person's settings add; their login and model stay."""
    words = (
        program, "-p", "--tools", "", "--no-session-persistence", "--safe-mode", "--strict-mcp-config",
        "--disable-slash-commands", "--output-format", "json", "--system-prompt", errand.system,
        *_option("--model", errand.model), *_option("--max-budget-usd", errand.dollars),
    )  # fmt: skip
    return ReadingLaunch(words, CLAUDE_QUIET)


def _said_by_claude(left: ProgramResult) -> ProgramSaid:
    result = _report_in(left.output)
    used = fields.mapping(result, "usage")
    cache = (f"cache_{name}_input_tokens" for name in ("read", "creation"))
    cost = result.get("total_cost_usd")
    usage = content.used(used, "input_tokens", "output_tokens", *cache, is_apart=True, cost=cost) or Usage()
    models = sorted(fields.mapping(result, "modelUsage"))  # one for small tasks may be among them
    said = fields.text(result, "result")
    return ProgramSaid(*_claude_ending(result, said, left), usage, said, models[0] if models else "")


def _claude_ending(result: dict[str, Any], said: str, left: ProgramResult) -> tuple[Validity, str]:
    denials = fields.objects(result, "permission_denials")
    if denials:
        names = sorted({fields.text(denial, "tool_name") or "a tool" for denial in denials})
        return Validity.DENIED, f"it was not allowed to use {', '.join(names)}"
    status = fields.whole(result, "api_error_status")
    if status in (401, 403):
        return Validity.NO_LOGIN, said[: executor.WHY_CHARACTERS] or "it is not logged in"
    if status in (402, 429, 529):
        return Validity.LIMITED, said[: executor.WHY_CHARACTERS] or f"the service answered {status}"
    if not result:
        return ending(left, has_failed=bool(left.exit_code))
    has_failed = bool(result.get("is_error")) and fields.text(result, "subtype") not in CLAUDE_LIMITS
    return ending(left, said, has_failed=has_failed)


CLAUDE = executor.Executor(
    "claude",
    _launch_claude,
    ("projects", "*.jsonl"),
    _said_by_claude,
    variables=("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "ANTHROPIC_BASE_URL", "CLAUDE_CODE_OAUTH_TOKEN"),
    endpoints=("https://api.anthropic.com", "https://console.anthropic.com", "https://platform.claude.com"),
)
CLAUDE_READER = executor.ProgramReader(
    "claude", _ask_claude, _said_by_claude, ("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN")
)


def _launch_codex(errand: executor.ProgramTask, program: str) -> ProgramLaunch:
    """Its own sandbox is left off, for ours is around it: two of them cannot be nested."""
    model = ("-c", f"model={errand.model}") if errand.model else ()
    words = (
        program, "exec", "--json", "--skip-git-repo-check", "-C", str(errand.workspace), "-s", "danger-full-access",
        *model, "--", errand.task,
    )  # fmt: skip
    return ProgramLaunch(words, {"CODEX_HOME": str(errand.config)})


def _ask_codex(errand: ReadingTask, program: str) -> ReadingLaunch:
    """Without tools, servers and a record; the person's login, provider and model stay."""
    words = [program, "exec", "--json", "--ephemeral", "--ignore-rules"]
    words += ["-s", "read-only", "--skip-git-repo-check", "-C", str(errand.folder)]
    settings = [f"features.{name}=false" for name in CODEX_OFF]
    settings += ['web_search="disabled"', "project_doc_max_bytes=0", "skills.include_instructions=false"]
    settings += [f"mcp_servers.{toml.key_of(name)}.enabled=false" for name in _codex_servers(errand)]
    settings += ["notify=[]", f"developer_instructions={toml.encoded(errand.system)}"]
    settings += [f"model={toml.encoded(errand.model)}"] if errand.model else []
    for each in settings:
        words += ["-c", each]
    return ReadingLaunch((*words, "-"))


def _codex_servers(errand: ReadingTask) -> tuple[str, ...]:
    """The MCP servers of the person's settings; where these cannot be read, the program says so itself."""
    environment = errand.environment
    home = Path(environment.get("CODEX_HOME") or Path(environment.get("HOME") or "~", ".codex")).expanduser()
    try:
        return tuple(fields.mapping(tomllib.loads((home / "config.toml").read_text(encoding="utf-8")), "mcp_servers"))
    except (OSError, ValueError):
        return ()


def _said_by_codex(left: ProgramResult) -> ProgramSaid:
    events = executor.events_of(left.output)
    used = next((fields.mapping(event, "usage") for event in reversed(events) if "usage" in event), {})
    usage = Usage(*(fields.whole(used, f"{name}_tokens") for name in ("input", "output", "cached_input")))
    turns = [kind for event in events if (kind := fields.text(event, "type")).startswith("turn.")]
    told = [fields.text(event, "message") or fields.text(fields.mapping(event, "error"), "message") for event in events
            if fields.text(event, "type") in ("error", "turn.failed")]  # fmt: skip
    # A connection that broke off and came back is told of as an error too.
    has_failed = bool(left.exit_code) or turns[-1:] != ["turn.completed"]
    validity, why = ending(left, told[-1] if told else "", has_failed=has_failed)
    if has_failed:
        validity = executor.refusal_in(" ".join(told)) or Validity.CRASHED
    items = [fields.mapping(event, "item") for event in events if fields.text(event, "type") == "item.completed"]
    said = [fields.text(item, "text") for item in items if fields.text(item, "type") == "agent_message"]
    return ProgramSaid(validity, why, usage, said[-1] if said else "")


CODEX = executor.Executor(
    "codex",
    _launch_codex,
    ("sessions", "*.jsonl"),
    _said_by_codex,
    variables=("OPENAI_API_KEY", "OPENAI_BASE_URL", "CODEX_API_KEY"),
    endpoints=("https://api.openai.com", "https://chatgpt.com", "https://auth.openai.com"),
)
CODEX_READER = executor.ProgramReader("codex", _ask_codex, _said_by_codex, ("OPENAI_API_KEY", "CODEX_API_KEY"))


def _launch_gemini(errand: executor.ProgramTask, program: str) -> ProgramLaunch:
    words = (program, "--output-format", "json", "--approval-mode", "yolo", "--skip-trust")
    task = (*_option("-m", errand.model), f"--prompt={errand.task}")
    return ProgramLaunch((*words, *task), {"GEMINI_CLI_HOME": str(errand.config)})


def _ask_gemini(errand: ReadingTask, program: str) -> ReadingLaunch:
    """Without tools, extensions and hooks. It keeps a record, which the mark in the prompt names."""
    folder = errand.folder
    words = (
        program, "--output-format", "json", "--skip-trust", "--approval-mode", "plan", "-e", "none",
        "--allowed-mcp-server-names", "none", "--policy", str(folder / "deny.toml"), *_option("-m", errand.model),
    )  # fmt: skip
    variables = {"GEMINI_SYSTEM_MD": str(folder / "system.md"), "GEMINI_CLI_TRUST_WORKSPACE": "true"}
    files = {"deny.toml": GEMINI_DENY_ALL, "system.md": errand.system, ".gemini/settings.json": GEMINI_SILENT}
    return ReadingLaunch(words, variables, files)


def _said_by_gemini(left: ProgramResult) -> ProgramSaid:
    result = _report_in(left.output)
    error = fields.mapping(result or _report_in(left.errors), "error")
    validity, why = ending(left, fields.text(error, "message"), has_failed=bool(error or left.exit_code))
    if left.exit_code == GEMINI_NO_LOGIN:
        validity = Validity.NO_LOGIN
    models = fields.mapping(fields.mapping(result, "stats"), "models")
    counts = [fields.mapping(fields.mapping(models, name), "tokens") for name in models]
    usage = Usage(
        input=sum(fields.whole(each, "prompt") for each in counts),
        output=sum(fields.whole(each, "candidates") + fields.whole(each, "thoughts") for each in counts),
        cached=sum(fields.whole(each, "cached") for each in counts),
    )
    return ProgramSaid(
        validity, why, usage if counts else None, fields.text(result, "response"), next(iter(models), "")
    )


# What it keeps lies in .gemini in its home folder.
GEMINI = executor.Executor(
    "gemini",
    _launch_gemini,
    (".gemini/tmp", "session-*"),
    _said_by_gemini,
    variables=(
        "GEMINI_API_KEY", "GOOGLE_API_KEY", "GOOGLE_GEMINI_BASE_URL", "GOOGLE_GENAI_USE_VERTEXAI",
        "GOOGLE_CLOUD_PROJECT", "GOOGLE_CLOUD_LOCATION",
    ),
    endpoints=(
        "https://generativelanguage.googleapis.com", "https://aiplatform.googleapis.com",
        "https://oauth2.googleapis.com", "https://cloudcode-pa.googleapis.com",
    ),
    places=MappingProxyType(
        dict.fromkeys(("settings.json", "oauth_creds.json", "google_accounts.json"), ".gemini")
    ),
)  # fmt: skip
GEMINI_READER = executor.ProgramReader("gemini", _ask_gemini, _said_by_gemini, ("GEMINI_API_KEY", "GOOGLE_API_KEY"))


def _launch_opencode(errand: executor.ProgramTask, program: str) -> ProgramLaunch:
    words = (program, "run", "--format", "json", *_option("-m", errand.model), "--", errand.task)
    folders = {f"XDG_{name.upper()}_HOME": str(errand.config / name) for name in OPENCODE_FOLDERS}
    return ProgramLaunch(words, {**folders, **OPENCODE_QUIET})


def _ask_opencode(errand: ReadingTask, program: str) -> ReadingLaunch:
    """Without tools and plugins; its record goes with its folder, to which the person's login is linked."""
    words = (program, "run", "--format", "json", "--pure", "--title", "whet", "--agent", OPENCODE_READS)
    silent = {"mode": "primary", "prompt": errand.system, "tools": {"*": False}, "permission": {"*": "deny"}}
    settings = {"share": "disabled", "autoupdate": False, "snapshot": False, "agent": {OPENCODE_READS: silent}}
    environment = errand.environment
    data = Path(environment.get("XDG_DATA_HOME") or Path(environment.get("HOME") or "~", ".local", "share"))
    configured = {"OPENCODE_CONFIG_CONTENT": msgspec.json.encode(settings).decode(), **OPENCODE_QUIET}
    return ReadingLaunch(
        (*words, *_option("-m", errand.model)),
        {"XDG_DATA_HOME": str(errand.folder), **configured},
        links={OPENCODE_LOGIN: data.expanduser() / OPENCODE_LOGIN},
    )


def _said_by_opencode(left: ProgramResult) -> ProgramSaid:
    events = executor.events_of(left.output)
    told = [str(event.get("error", "")) for event in events if fields.text(event, "type") == "error"]
    validity, why = ending(left, told[-1] if told else "", has_failed=bool(told or left.exit_code))
    parts = [fields.mapping(event, "part") for event in events]
    counts = [fields.mapping(part, "tokens") for part in parts]
    cached = sum(fields.whole(fields.mapping(each, "cache"), "read") for each in counts)
    read, written = (sum(fields.whole(each, name) for each in counts) for name in ("input", "output"))
    said = "".join(fields.text(part, "text") for event, part in zip(events, parts, strict=True)
                   if fields.text(event, "type") == "text")  # fmt: skip
    return ProgramSaid(validity, why, Usage(input=read + cached, output=written, cached=cached), said)


# All that it keeps lies where the XDG variables point.
OPENCODE = executor.Executor(
    "opencode",
    _launch_opencode,
    ("data/opencode", "*.db"),
    _said_by_opencode,
    variables=("ANTHROPIC_API_KEY", "OPENAI_API_KEY", "GEMINI_API_KEY", "OPENROUTER_API_KEY", "OPENCODE_API_KEY"),
    endpoints=(
        "https://api.anthropic.com", "https://api.openai.com", "https://generativelanguage.googleapis.com",
        "https://openrouter.ai", "https://opencode.ai", "https://models.dev",
    ),
    places=MappingProxyType(
        {
            "opencode.json": "config/opencode", "opencode.jsonc": "config/opencode", "auth.json": "data/opencode",
        }
    ),
)  # fmt: skip
OPENCODE_READER = executor.ProgramReader("opencode", _ask_opencode, _said_by_opencode, OPENCODE.variables)


def _launch_hermes(errand: executor.ProgramTask, program: str) -> ProgramLaunch:
    """Not by `-z`, which is shorter: it reads no examples, and ends well also where its model refused to answer."""
    words = (
        program, "chat", "--quiet", "--yolo", *_option("-m", errand.model), *_option("--max-turns", errand.turns),
        f"--query={errand.task}",
    )  # fmt: skip
    examples = {"HERMES_PREFILL_MESSAGES_FILE": str(errand.prefill)} if errand.examples else {}
    return ProgramLaunch(words, {"HERMES_HOME": str(errand.config), **examples})


def _said_by_hermes(left: ProgramResult) -> ProgramSaid:
    return ProgramSaid(*ending(left, left.output.strip(), has_failed=bool(left.exit_code)))


# Its skills are the person's, in its own home, and none of a project's: rules and templates can be tried on it.
HERMES = executor.Executor(
    "hermes",
    _launch_hermes,
    ("", "state.db"),
    _said_by_hermes,
    variables=("OPENROUTER_API_KEY", "ANTHROPIC_API_KEY", "OPENAI_API_KEY", "OPENAI_BASE_URL", "NOUS_API_KEY"),
    endpoints=(
        "https://openrouter.ai", "https://api.anthropic.com", "https://api.openai.com",
        "https://inference-api.nousresearch.com",
    ),
    begins_warm=True,
)  # fmt: skip
