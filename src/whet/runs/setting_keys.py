"""The names of settings and what each is for, `*` for a name that the person gives; and what no setting may hold."""

import re
import tomllib
from typing import Any

from whet.errors import WhetError

TEXTS = {
    "model": "The model that answers: provider:name, such as openai:gpt-5.1, or local for the embedded one.",
    "context_files": "Whether AGENTS.md, CLAUDE.md and their like in the working folder are read.",
    "tools": "Sets of tools that the agent has; empty for the usual ones.",
    "providers.*.kind": "What it speaks: openai (chat completions), anthropic (messages), local or scripted.",
    "providers.*.base_url": "Its address, up to and with the version: http://127.0.0.1:11434/v1.",
    "providers.*.key_variable": "The environment variable that holds its key; never the key itself.",
    "providers.*.timeout_seconds": "How long to wait while nothing comes.",
    "providers.*.retries": "How often a request that failed in passing is tried again.",
    "models.*.family": "Whose model it is, which chooses the guidance it gets: gpt, claude, gemini, qwen …",
    "models.*.window": "How many tokens fit into its context.",
    "models.*.output_tokens": "How many tokens it can answer with.",
    "models.*.tools": "native if it takes tool definitions, text if calls are written as text.",
    "models.*.size": "small for a model that needs a short prompt, else large.",
    "models.*.input_dollars": "Price of a million tokens that it reads.",
    "models.*.output_dollars": "Price of a million tokens that it writes.",
    "models.*.cached_dollars": "Price of a million tokens that it reads from its cache.",
    "servers.*.command": "The program that is the MCP server.",
    "servers.*.arguments": "The arguments of that program.",
    "servers.*.url": "The address of an MCP server that runs already, instead of a program.",
    "servers.*.variables": "Environment variables that the program is given, by name.",
    "servers.*.tools": "Only these of its tools; empty for all.",
    "servers.*.timeout_seconds": "How long one of its tools may take.",
    "budget.model_calls": "How many model calls a turn may take.",
    "budget.tokens": "How many tokens, read and written, a turn may take.",
    "budget.seconds": "How long a turn may take.",
    "budget.dollars": "How much a turn may cost, where prices are known.",
    "sampling.temperature": "How freely the model chooses its words: 0 for nearly the same each time.",
    "sampling.seed": "The seed of its choices, where the provider takes one.",
    "sampling.output_tokens": "How many tokens one answer may have.",
    "sandbox.required": "Whether there is no terminal where no sandbox works; false lets commands run unconfined.",
    "sandbox.network": "Whether commands in the sandbox reach the network.",
    "sandbox.writable": "Folders besides the working folder that commands may write to.",
    "sandbox.variables": "Environment variables that commands see besides the usual ones, by name, also secret ones.",
    "terminal.timeout_seconds": "How long a command may run.",
    "terminal.output_characters": "How much of its output the agent sees, beginning and end.",
    "review.enabled": "Whether a finished turn is reviewed for notes and skills worth keeping.",
    "review.model": "The model that reviews; empty for the one of the session, whose cache it shares.",
    "review.memory_turns": "After how many turns without a new note memory is reviewed.",
    "review.skill_calls": "After how many model calls without a change to a skill the skills are reviewed.",
    "review.model_calls": "How many model calls a review may take.",
    "review.tokens": "How many tokens a review may take.",
    "review.seconds": "How many seconds a review may take.",
    "compaction.enabled": "Whether a conversation that grows too long is summarised.",
    "compaction.at": "At which share of the context window that happens.",
    "compaction.tail": "Which share of the window the newest messages keep word for word.",
    "local.context_tokens": "How much a model on this machine reads at once; 0 for all it can, up to 16,384.",
    "local.threads": "How many threads it computes with; 0 for one a core.",
    "local.slots": "How many conversations it keeps ready side by side.",
    "local.cache_mib": "Memory for conversations that are put aside, in MiB.",
    "local.calls": "Calls in text: free; valid (a call that begins is a valid one); always (every reply is a call).",
    "local.template": "A file with a chat template in place of the model's own.",
    "chat.thoughts": "Whether the model's thinking is shown dim or hidden.",
    "team.admins": "Database roles whose rules count here without your approval, in a team on Postgres.",
    "templates.measured": "Whether --warm auto begins some sessions cold, to measure what a template is worth.",
    "trust.projects": "Folders in which what the repository and commands print counts as yours; never the web or MCP.",
    "trust.commands": "Whether memory, rules, skills and jobs with --yes apply at once where there is no terminal.",
}
_TABLES_BY_NAME = frozenset(key.partition(".*.")[0] for key in TEXTS if ".*." in key)


def dotted(path: tuple[str, ...]) -> str:
    """A key as people write it; a name that is not plain stands in quotes."""
    return ".".join(name if re.fullmatch(r"[A-Za-z0-9_*-]+", name) else f'"{name}"' for name in path)


def path_of(key: str) -> tuple[str, ...]:
    """The names in a key as people type it; the name of a provider, model or server may hold dots and slashes."""
    first, _, rest = key.partition(".")
    if first in _TABLES_BY_NAME and "." in rest and '"' not in key:
        name, _, field = rest.rpartition(".")
        return (first, name, field)
    path: tuple[str, ...] = ()
    try:
        node: Any = tomllib.loads(f"{key} = 0")
    except tomllib.TOMLDecodeError:
        node = None
    while isinstance(node, dict) and len(node) == 1:
        [(name, node)] = node.items()
        path = (*path, name)
    if node != 0:
        raise WhetError(f"{key!r} is not the key of a setting.", advice="Such as model, or budget.tokens.")
    return path


VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,99}")
# What the well-known issuers put at the front of a key. A second scan, of everything, is at `whet config set`.
KEY_FORM = re.compile(r"(sk|gsk|xai|rk|pk|ghp|gho|hf|nvapi|pplx|tvly|csk|fw|r8)[-_][A-Za-z0-9_-]{16,}|AIza[\w-]{30,}")
SECRET_NAMES = ("key", "api_key", "apikey", "token", "secret", "password", "auth")
SECRET_ADVICE = (
    "Keys stay in the environment: `export MY_KEY=…`, then `whet config set providers.NAME.key_variable MY_KEY`."
)


def refuse_secret(path: tuple[str, ...], value: Any) -> None:
    """Raise WhetError for a secret in a setting, without saying it again."""
    key = dotted(path)
    texts = [each for each in (value if isinstance(value, list) else [value]) if isinstance(each, str)]
    named = path[-1].lower().replace("-", "_") in SECRET_NAMES
    if any(KEY_FORM.search(text) for text in texts) or (named and texts):
        raise WhetError(f"{key} would hold a secret, and settings hold none.", advice=SECRET_ADVICE)
    if path[-1] in ("key_variable", "variables") and not all(VARIABLE.fullmatch(text) or not text for text in texts):
        raise WhetError(f"{key} must be the name of an environment variable.", advice=SECRET_ADVICE)
    if path[-1] in ("base_url", "url") and any("@" in text.partition("://")[2].partition("/")[0] for text in texts):
        raise WhetError(f"{key} contains a password.", advice=SECRET_ADVICE)
