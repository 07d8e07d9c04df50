"""The names of settings and what each does (`*`: a name that the user gives); what none may contain."""

import re
import tomllib
from difflib import SequenceMatcher
from typing import Any, Literal

from whet.errors import WhetError

TEXTS = {
    "model": "The model that answers: provider:name, such as openai:gpt-5.1, or local for the embedded model.",
    "prompt.enforcement": "When to tell the model to act with tools: auto, on, off, or parts of model names.",
    "prompt.platform": "Where answers are shown, for a hint in the prompt: cli, telegram, slack, email, web, api.",
    "prompt.parts": "Parts of the prompt: memory, profile (user.md), context_files (AGENTS.md …), session (its id).",
    "tools": "Tool sets that the agent has; empty for the default sets.",
    "providers.*.kind": "API that it speaks: openai (chat completions), anthropic (messages), local or scripted.",
    "providers.*.base_url": "Address, including the version: http://127.0.0.1:11434/v1.",
    "providers.*.key_variable": "Environment variable that contains the key; never the key itself.",
    "providers.*.timeout_seconds": "Maximum time to wait for the next data.",
    "models.*.family": "Model family, which decides the guidance the model gets: gpt, claude, gemini, qwen …",
    "models.*.window": "Size of the context window, in tokens; models.local.window is for every local model.",
    "models.*.tools": "native if the model accepts tool definitions; text if it writes calls as text.",
    "models.*.size": "small for a model that needs a short prompt, tiny if it needs examples too; otherwise large.",
    "models.*.prices": "Dollars for a million tokens: of input, of output and, if you like, of cached input.",
    "servers.*.command": "Command that starts the MCP server, with its arguments; or the address of a running one.",
    "servers.*.variables": "Names of environment variables to pass to the program.",
    "servers.*.tools": "Tools of the server to use; empty for all.",
    "agents.*.command": "Command that starts an agent of your own for a trial, with {task} for the task.",
    "agents.*.instructions": "File in the workspace from which this agent of your own reads its rules.",
    "agents.*.skills": "Folder in the workspace for its skills; empty for none.",
    "agents.*.model": "Model that the agent uses in trials; empty for its own choice.",
    "agents.*.config": "Files to copy into the agent's config home for a trial, such as its login.",
    "agents.*.variables": "Names of environment variables that the agent gets in a trial, besides its usual ones.",
    "agents.*.readable": "Folders that the agent may read in a trial, besides the system and its own program.",
    "agents.*.endpoints": "Addresses that the agent may reach in a trial, besides those of its model.",
    "budget.model_calls": "Maximum model calls per turn.",
    "budget.tokens": "Maximum tokens per turn, input and output.",
    "budget.dollars": "Maximum cost per turn, if prices are known.",
    "sampling.temperature": "Sampling temperature; at 0 the answers hardly vary.",
    "sampling.output_tokens": "Maximum tokens in one answer.",
    "sandbox.required": "Refuse to run commands if no sandbox works; false runs them unconfined.",
    "sandbox.network": "Let commands in the sandbox use the network.",
    "sandbox.readable": "Folders that the agent may read, besides the working folder, the system and toolchains.",
    "sandbox.writable": "Folders that commands may write to, besides the working folder.",
    "sandbox.variables": "Names of environment variables that commands see besides the usual ones, even secret ones.",
    "review.every": "Review after this many turns without a note, or calls without a change to a skill; 0: never.",
    "review.model": "Model for reviews; empty for the session's own model, whose cache it shares.",
    "reading.reader": "Who reads new sessions for lessons, every night too: an agent, or a model as provider:name.",
    "background.tokens_per_day": "Maximum tokens per day for all background work; 0 stops it.",
    "background.dollars_per_day": "Maximum cost per day for all background work, if prices are known.",
    "compaction.at": "Share of the context window at which to summarise a conversation; 0: never.",
    "local.calls": "Tool calls as text: free; valid (a started call must be valid); always (every reply is a call).",
    "local.template": "File with a chat template to use instead of the model's own.",
    "team.admins": "Database roles whose rules apply here without your approval, in a team on Postgres.",
    "rules.per_project": "Maximum rules per project; for a better one, the weakest is proposed for removal.",
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
    ratios = {known: max(_ratio(form, known), _ratio(last, known.rpartition(".")[2]) - 0.05) for known in TEXTS}
    best = max(ratios, key=lambda known: ratios[known])
    return best if ratios[best] >= 0.6 else ""


def _ratio(one: str, other: str) -> float:
    return SequenceMatcher(None, one, other, autojunk=False).ratio()


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


Part = Literal["memory", "profile", "context_files", "session"]
PARTS: tuple[Part, ...] = ("memory", "profile", "context_files")  # of a prompt, besides what it always holds
