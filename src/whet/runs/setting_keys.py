"""The names of settings and what each does, `*` for a name that the user gives; and what no setting may contain."""

import re
import tomllib
from typing import Any

from whet.errors import WhetError

TEXTS = {
    "model": "The model that answers: provider:name, such as openai:gpt-5.1, or local for the embedded model.",
    "prompt.enforcement": "When to tell the model to act with tools: auto, on, off, or parts of model names.",
    "prompt.platform": "Where answers are shown, for a hint in the prompt: cli, telegram, slack, email, web, api.",
    "prompt.memory": "Give new sessions the notes.",
    "prompt.profile": "Give new sessions what you wrote of yourself (user.md).",
    "prompt.session": "State the session's id in the prompt.",
    "prompt.ephemeral": "Text at the end of the system prompt of each request, which is never stored.",
    "context_files": "Read AGENTS.md, CLAUDE.md and similar files in the working folder.",
    "tools": "Tool sets that the agent has; empty for the default sets.",
    "providers.*.kind": "API that it speaks: openai (chat completions), anthropic (messages), local or scripted.",
    "providers.*.base_url": "Address, including the version: http://127.0.0.1:11434/v1.",
    "providers.*.key_variable": "Environment variable that contains the key; never the key itself.",
    "providers.*.timeout_seconds": "Maximum time to wait for the next data.",
    "providers.*.retries": "Maximum retries after a temporary error.",
    "models.*.family": "Model family, which decides the guidance the model gets: gpt, claude, gemini, qwen …",
    "models.*.window": "Size of the context window, in tokens.",
    "models.*.output_tokens": "Maximum tokens in an answer.",
    "models.*.tools": "native if the model accepts tool definitions; text if it writes calls as text.",
    "models.*.size": "small for a model that needs a short prompt, tiny if it needs examples too; otherwise large.",
    "models.*.input_dollars": "Price of a million input tokens.",
    "models.*.output_dollars": "Price of a million output tokens.",
    "models.*.cached_dollars": "Price of a million cached input tokens.",
    "servers.*.command": "Program to start as the MCP server.",
    "servers.*.arguments": "Arguments for that program.",
    "servers.*.url": "Address of a running MCP server, instead of a program.",
    "servers.*.variables": "Names of environment variables to pass to the program.",
    "servers.*.tools": "Tools of the server to use; empty for all.",
    "servers.*.timeout_seconds": "Maximum time for one tool call.",
    "agents.*.command": "Command that starts an agent of your own for a trial, with {task} for the task.",
    "agents.*.instructions": "File in the workspace from which this agent of your own reads its rules.",
    "agents.*.skills": "Folder in the workspace for its skills; empty for none.",
    "agents.*.model": "Model that the agent uses in trials; empty for its own choice.",
    "agents.*.config": "Files to copy into the agent's config home for a trial, such as its login.",
    "agents.*.variables": "Names of environment variables that the agent gets in a trial, besides its usual ones.",
    "agents.*.readable": "Folders that the agent may read in a trial, besides the system and its own program.",
    "agents.*.endpoints": "Addresses that the agent may reach in a trial, besides those of its model.",
    "trials.at_once": "Maximum attempts of another agent that run at the same time.",
    "work.keep_days": "Days for which `whet worker list` lists ended work.",
    "work.keep": "Maximum number of ended orders that `whet worker list` lists.",
    "budget.model_calls": "Maximum model calls per turn.",
    "budget.tokens": "Maximum tokens per turn, input and output.",
    "budget.seconds": "Maximum time per turn.",
    "budget.dollars": "Maximum cost per turn, if prices are known.",
    "sampling.temperature": "Sampling temperature; at 0 the answers hardly vary.",
    "sampling.seed": "Sampling seed, if the provider accepts one.",
    "sampling.output_tokens": "Maximum tokens in one answer.",
    "sandbox.required": "Refuse to run commands if no sandbox works; false runs them unconfined.",
    "sandbox.network": "Let commands in the sandbox use the network.",
    "sandbox.readable": "Folders that the agent may read, besides the working folder, the system and toolchains.",
    "sandbox.writable": "Folders that commands may write to, besides the working folder.",
    "sandbox.variables": "Names of environment variables that commands see besides the usual ones, even secret ones.",
    "terminal.timeout_seconds": "Maximum time for one command.",
    "terminal.output_characters": "Maximum characters of output that the agent sees, from its start and end.",
    "review.enabled": "Review finished turns for notes and skills worth keeping.",
    "review.model": "Model for reviews; empty for the session's own model, whose cache it shares.",
    "review.memory_turns": "Review memory after this many turns without a new note.",
    "review.skill_calls": "Review skills after this many model calls without a change to a skill.",
    "review.model_calls": "Maximum model calls per review.",
    "review.tokens": "Maximum tokens per review.",
    "review.seconds": "Maximum time per review, in seconds.",
    "reading.reader": "Who reads new sessions for lessons, every night too: an agent, or a model as provider:name.",
    "background.tokens_per_day": "Maximum tokens per day for all background work; 0 stops it.",
    "background.dollars_per_day": "Maximum cost per day for all background work, if prices are known.",
    "compaction.enabled": "Summarise conversations that grow too long.",
    "compaction.at": "Share of the context window at which to summarise.",
    "compaction.tail": "Share of the window for the newest messages, which are kept word for word.",
    "local.context_tokens": "Context window of a local model, in tokens; 0 for its maximum, up to 16,384.",
    "local.threads": "Threads for a local model; 0 for one per core.",
    "local.slots": "Conversations to keep in memory at the same time.",
    "local.cache_mib": "Memory for inactive conversations, in MiB.",
    "local.calls": "Tool calls as text: free; valid (a started call must be valid); always (every reply is a call).",
    "local.template": "File with a chat template to use instead of the model's own.",
    "chat.thoughts": "Show the model's thinking dimmed, or hide it.",
    "team.admins": "Database roles whose rules apply here without your approval, in a team on Postgres.",
    "rules.per_project": "Maximum rules per project; for a better one, the weakest is proposed for removal.",
    "templates.measured": "Let --warm auto start some sessions without a template, to measure its worth.",
    "templates.proposed": "Propose templates from sessions that went well: one a day per project, for your approval.",
    "trust.projects": "Folders where the output of files and commands counts as your words; never the web or MCP.",
    "trust.elicitation": "Let MCP clients ask you to approve a rule that their agent proposes.",
    "trust.commands": "Let --yes apply changes to memory, rules, skills and jobs at once without a terminal.",
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
        raise WhetError(f"{key!r} is not the name of a setting.", advice="Examples: model, budget.tokens.")
    return path


def nearest(form: str) -> str:
    """The setting whose key is most like this one, if any is like it at all."""
    last = form.rpartition(".")[2]
    scored = [(max(_likeness(form, known), _likeness(last, known.rpartition(".")[2]) - 0.05), known) for known in TEXTS]
    score, known = max(scored, key=lambda each: each[0])
    return known if score >= 0.6 else ""


def _likeness(one: str, other: str) -> float:
    """How much two names have in common: 1 without the share of letters to change on the way from one to the other."""
    distances = list(range(len(other) + 1))
    for row, letter in enumerate(one, start=1):
        diagonal, distances[0] = distances[0], row
        for column, against in enumerate(other, start=1):
            best = min(diagonal + (letter != against), distances[column] + 1, distances[column - 1] + 1)
            diagonal, distances[column] = distances[column], best
    return 1 - distances[-1] / max(len(one), len(other), 1)


VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,99}")
# What the well-known issuers put at the front of a key. A second scan, of everything, is at `whet config`.
KEY_FORM = re.compile(r"(sk|gsk|xai|rk|pk|ghp|gho|hf|nvapi|pplx|tvly|csk|fw|r8)[-_][A-Za-z0-9_-]{16,}|AIza[\w-]{30,}")
SECRET_NAMES = ("key", "api_key", "apikey", "token", "secret", "password", "auth")
SECRET_ADVICE = (
    "Keep keys in the environment: `export MY_KEY=…`, then `whet config providers.NAME.key_variable MY_KEY`."
)


def refuse_secret(path: tuple[str, ...], value: Any) -> None:
    """Raise WhetError for a secret in a setting, without saying it again."""
    key = dotted(path)
    texts = [each for each in (value if isinstance(value, list) else [value]) if isinstance(each, str)]
    named = path[-1].lower().replace("-", "_") in SECRET_NAMES
    if any(KEY_FORM.search(text) for text in texts) or (named and texts):
        raise WhetError(f"{key} would contain a secret. Settings must not contain secrets.", advice=SECRET_ADVICE)
    if path[-1] in ("key_variable", "variables") and not all(VARIABLE.fullmatch(text) or not text for text in texts):
        raise WhetError(f"{key} must be the name of an environment variable.", advice=SECRET_ADVICE)
    if path[-1] in ("base_url", "url") and any("@" in text.partition("://")[2].partition("/")[0] for text in texts):
        raise WhetError(f"{key} contains a password.", advice=SECRET_ADVICE)
