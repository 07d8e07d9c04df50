"""The real programs of other agents, where a machine has them: `make agents` installs pinned ones."""

import json
import os
import shutil
from pathlib import Path

import pytest

from proving.obedient import Obedient
from whet.agents.places import reading
from whet.agents.registry import known

AGENTS = Path(__file__).parents[2] / ".agents"
FOLDERS = (AGENTS / "node_modules" / ".bin", AGENTS / "hermes" / "bin")
MODELS = {"claude": "claude-sonnet-4-5", "codex": "m", "opencode": "loop/m", "gemini": "gemini-2.5-pro", "hermes": "m"}
NAMES = list(MODELS)


def instructions(name: str) -> str:
    """The file in a project that an agent reads."""
    agent = known(name)
    assert agent
    assert agent.files
    file = reading(agent.files, person=Path(), environment={}, project=Path()).file
    return str(file)


def program(name: str) -> str:
    """Where a program is, or a skip with the reason."""
    found = shutil.which(name, path=os.pathsep.join([*map(str, FOLDERS), os.environ.get("PATH", "")]))
    if found is None:
        pytest.skip(f"{name} is not installed: `make agents` installs it")
    return found


def configure(name: str, config: Path, server: Obedient) -> dict[str, str]:
    """A config home that asks the loopback model, and the variables that the program needs besides."""
    config.mkdir(parents=True, exist_ok=True)
    if name == "codex":
        (config / "config.toml").write_text(
            'model = "m"\nmodel_provider = "loop"\n[model_providers.loop]\nname = "loop"\n'
            f'base_url = "{server.url}/v1"\nenv_key = "OPENAI_API_KEY"\nwire_api = "responses"\n'
        )
    if name == "opencode":
        options = {"baseURL": f"{server.url}/v1", "apiKey": "k"}
        provider = {"loop": {"npm": "@ai-sdk/openai-compatible", "options": options, "models": {"m": {}}}}
        folder = config / "config" / "opencode"
        folder.mkdir(parents=True)
        (folder / "opencode.json").write_text(json.dumps({"provider": provider}))
    if name == "gemini":
        folder = config / ".gemini"
        folder.mkdir()
        (folder / "settings.json").write_text('{"security": {"auth": {"selectedType": "gemini-api-key"}}}')
    if name == "hermes":
        (config / "config.yaml").write_text(
            f"model:\n  provider: custom\n  default: m\n  base_url: {server.url}/v1\n  api_key: k\n"
            "  context_length: 64000\n"
        )
    return {
        "GEMINI_API_KEY": "loopback", "GOOGLE_GEMINI_BASE_URL": server.url,
        "PATH": os.environ["PATH"], "ANTHROPIC_BASE_URL": server.url, "ANTHROPIC_API_KEY": "loopback",
        "OPENAI_API_KEY": "loopback",
    }  # fmt: skip
